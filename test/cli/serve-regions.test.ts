import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startProgram } from '../support/built-program.ts'
import { cli } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

const SERVE = ['serve', '--listen', '127.0.0.1:0', '--dns', 'none']

test('serve uses the given resolvers, image folder and URL', async () => {
  const folder = temporaryDirectory()
  writeFileSync(join(folder, 'resolvers.yaml'), 'eu-west: {ipv4: [192.0.2.53]}\n')
  const args = [...SERVE, '--region-resolvers', 'resolvers.yaml', '--image-data', 'disks', '--public-url', 'https://dns.example.net']
  const run = await startProgram(args, { cwd: folder, env: { ZONEWRIGHT_BOOTSTRAP_TOKEN: 'bootstrap' } })
  onTestFinished(() => run.kill('SIGKILL'))
  await run.until('listening')
  const { http } = JSON.parse(run.stdout())
  const resolversOf = async (region: string) =>
    ((await (await fetch(`${http}/regions/${region}`)).json()) as { resolvers: { ipv4: string; ipv6: string } }).resolvers
  expect(await resolversOf('eu-west')).toEqual({ ipv4: '192.0.2.53', ipv6: '' })
  expect((await resolversOf('us-east')).ipv4.split(',')).toHaveLength(10)
  expect(existsSync(join(folder, 'disks'))).toBe(true)
  const headers = { authorization: 'Bearer bootstrap', 'content-type': 'application/json' }
  const body = JSON.stringify({ label: 'image', region: 'eu-west' })
  const begun = await (await fetch(`${http}/images/upload`, { method: 'POST', headers, body })).json()
  expect((begun as { upload_to: string }).upload_to).toMatch(/^https:\/\/dns\.example\.net\/uploads\//)
})

test.each<[string, string | null, string[], RegExp]>([
  ['a missing file', null, [], /^error\[file-unreadable\] resolvers\.yaml does not exist\n$/],
  ['an invalid file', 'nowhere: {}', [], /^resolvers\.yaml:1:1: error\[resolvers-invalid\] there is no region "nowhere"\n/],
  ['a URL that is none', '{}', ['--public-url', 'dns.example.net'], /"dns\.example\.net" is not a service URL/],
])('serve does not start with %s', async (_name, text, more, message) => {
  const folder = temporaryDirectory()
  if (text !== null) writeFileSync(join(folder, 'resolvers.yaml'), text)
  const { status, stdout, stderr } = await cli([...SERVE, '--region-resolvers', 'resolvers.yaml', ...more], { cwd: folder })
  expect([status, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(message)
})
