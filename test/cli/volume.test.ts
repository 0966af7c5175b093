import { expect, test } from 'vitest'
import { expectEnd } from '../support/cli.ts'
import { openLiveScene, openScene } from './scene.ts'

const RECORDS = 1100

const DEFINITION = `domain: example.com
soa_email: hostmaster@example.com
default_ttl: 600
records:
${Array.from({ length: RECORDS }, (_, index) => `  h${index}: {type: A, value: 192.0.2.1}\n`).join('')}`

const NOTICE = 'notice[ttl-rounded] 1,100 record sets: cloud rounds TTL 600 down to 300; default_ttl at zones/example.com.yaml:3:14\n'

test('1,100 record sets with a TTL that the target rounds are one line; JSON and --verbose have them all', { tags: ['long'] }, async () => {
  const scene = openScene({ files: { 'zones/example.com.yaml': DEFINITION } })
  const plan = await scene.run('plan')
  expect(plan.stderr).toBe(`${NOTICE}1,100 notices. --verbose lists all.\n`)
  const github = await scene.run('plan', '--format', 'github')
  expect(github.stderr).toBe('')
  expect(github.stdout.match(/^::notice /gm)).toHaveLength(1)
  expect(JSON.parse((await scene.run('plan', '--format', 'json')).stdout).zones[0].diagnostics).toHaveLength(RECORDS)
  for (const format of ['markdown', 'html']) {
    expect((await scene.run('plan', '--format', format)).stdout.split('ttl-rounded')).toHaveLength(2)
  }
  expect((await scene.run('plan', '--verbose')).stderr.match(/ttl-rounded/g)).toHaveLength(RECORDS)

  expect((await scene.run('apply', '--yes')).status).toBe(0)
  const again = await scene.run('plan')
  expect(again).toMatchObject({ status: 0, stdout: 'No changes. 1 zone matches.\n' })
  expect(again.stderr).toBe(plan.stderr)
})

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
