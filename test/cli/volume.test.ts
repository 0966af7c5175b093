import { expect, test } from 'vitest'
import { expectEnd } from '../support/cli.ts'
import { openLiveScene } from './scene.ts'

test('a plan without changes prints at most ten lines, whatever there is to say', async () => {
  const zone = (index: number): string => `domain: z${index}.example
soa_email: hostmaster@example.com
records:
  '': [{type: NS, value: ns.example.net.}]
  a: {type: A, ttl: ${400 + index}, value: 192.0.2.1}
  b: {type: A, ttl: ${4000 + index}, value: 192.0.2.1}
  c_d: {type: A, value: 192.0.2.1}
`
  const files = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`zones/z${index}.example.yaml`, zone(index)]))
  const scene = await openLiveScene({ files })
  const { stdout, stderr } = expectEnd(await scene.run('plan'), 0)
  expect((stdout + stderr).trimEnd().split('\n').length).toBeLessThanOrEqual(10)
  expect(stderr).toContain('--verbose lists all.\n')
  expect((await scene.run('plan', '--verbose')).stderr.match(/ttl-rounded/g)).toHaveLength(24)
})
