/** Limits of TTLs that only the server knows: the first report names them, later plans know them. */
import { expect, test } from 'vitest'
import { CLOUD } from '../../src/providers/cloud/cloud-config.ts'
import { createMemory, type FaultChoice } from '../../src/providers/memory/memory-provider.ts'
import { RFC2136_CAPABILITIES } from '../../src/providers/rfc2136/capabilities.ts'
import { openScene } from '../cli/scene.ts'
import { expectEnd } from '../support/cli.ts'

const APPLY = ['apply', '--yes', '--allow', 'updates']
const PLAN = ['plan', '--detailed-exitcode']

/** Stores TTL 3600 in place of longer ones, of the records that match. */
const limiting =
  (pattern = /./): FaultChoice =>
  ({ kind }, memory) => {
    for (const line of kind === 'read' ? (memory.zone('example.com') ?? []) : []) {
      const [owner, ttl, ...rest] = line.split(' ')
      if (Number(ttl) > 3600 && pattern.test(line)) memory.change('example.com', [owner, 3600, ...rest].join(' '))
    }
    return null
  }

const definition = (ttl: string, more = ''): Record<string, string> => ({
  'zones/example.com.yaml': `domain: example.com
records:
  www: {type: A, ttl: ${ttl}, value: 192.0.2.1}
  mail: {type: A, ttl: ${ttl}, value: 192.0.2.2}
  short: {type: A, ttl: 5m, value: 192.0.2.4}
${more}`,
})

const open = (fault: FaultChoice) =>
  openScene({ capabilities: RFC2136_CAPABILITIES, zones: { 'example.com': '' }, files: definition('1d'), fault })

test('the first report names the stored TTL, and later plans are empty until the definition or the limit changes', async () => {
  const scene = open(limiting())
  expectEnd(await scene.run(...APPLY), 0, {
    err: /warning\[apply-altered\] .*stores TTL 3600, not 86400, for mail\.example\.com\. A and www\.example\.com\. A/,
  })
  expect(await scene.run(...PLAN)).toMatchObject({ status: 0, stderr: expect.stringContaining('notice[ttl-rounded]') })
  expect((await scene.run('verify', '--no-dns')).status).toBe(0)

  // Another TTL is tried.
  scene.write(definition('2h'))
  expect((await scene.run(...PLAN)).status).toBe(2)
  expect(await scene.run(...APPLY)).toMatchObject({ status: 0, stderr: expect.stringContaining('TTL 3600, not 7200') })
  expect((await scene.run(...PLAN)).status).toBe(0)

  // A new record shows that the limit is gone.
  scene.memory.use(undefined)
  scene.write(definition('2h', '  new: {type: A, ttl: 2h, value: 192.0.2.5}\n'))
  expect((await scene.run(...APPLY)).status).toBe(0)
  expect((await scene.run(...APPLY)).status).toBe(0)
  expect(scene.memory.zone('example.com')?.filter((line) => line.includes(' 7200 ')).length).toBe(3)
  expect((await scene.run(...PLAN)).status).toBe(0)
})

test('a rollback knows them, so that they are not the changes of another client', async () => {
  const scene = open(limiting())
  expect((await scene.run(...APPLY)).status).toBe(0)
  const back = ['rollback', '--last', '--yes', '--allow', 'deletes', '--allow', 'empty-zone']
  const { status, stderr } = await scene.run(...back)
  expect([status, stderr, scene.memory.zone('example.com')]).toEqual([0, expect.not.stringContaining('rollback-conflict'), []])

  // What has another TTL than the target stores was changed since.
  expect((await scene.run(...APPLY)).status).toBe(0)
  scene.memory.change('example.com', 'www 1200 A 192.0.2.1')
  expectEnd(await scene.run(...back), 4, { err: 'www.example.com. A was changed by the run, and again since' })
})

test('a snapshot has the stored TTLs, too', async () => {
  const scene = open(limiting())
  expect((await scene.run(...APPLY)).status).toBe(0)
  expect((await scene.run('snapshot', '--out', 'live.json')).status).toBe(0)
  expect((await scene.run(...PLAN, '--snapshot', 'live.json')).status).toBe(0)
})

test('a copy is made once, though its target stores other TTLs', async () => {
  const own = createMemory({ capabilities: RFC2136_CAPABILITIES, zones: { 'example.com': '' }, fault: limiting() })
  const entry = `{type: cloud, base_url: 'http://127.0.0.1:9/v4', token: 'env:ZONEWRIGHT_TOKEN'}`
  const scene = openScene({
    capabilities: RFC2136_CAPABILITIES,
    zones: { 'example.com': 'www 86400 A 192.0.2.1' },
    files: { 'zonewright.yaml': `providers: {cloud: ${entry}, own: ${entry.replace('/v4', '/own/v4')}}\n` },
    types: { own: own.as(CLOUD) },
  })
  const copy = ['copy', 'example.com', '--from', 'cloud', '--to', 'own', '--yes']
  expectEnd(await scene.run(...copy), 0, { err: 'stores TTL 3600, not 86400' })
  expectEnd(await scene.run(...copy), 0, { out: 'No changes' })
})

test('a TTL that only some of the sent records have is the work of another client', async () => {
  const scene = open(limiting(/^www/))
  expect(await scene.run(...APPLY)).toMatchObject({ status: 1, stderr: expect.stringContaining('error[apply-unconfirmed]') })
  expect((await scene.run(...PLAN)).status).toBe(2)
})

test.each(['"x"', 'null', '[5]', '[[60]]'])('a journal that has %s as stored TTLs is reported', async (ttls) => {
  const scene = open(limiting())
  await scene.run(...APPLY)
  const [path, text] = Object.entries(scene.files()).find(([, one]) => one.includes('"ttls"')) as [string, string]
  scene.write({ [path]: text.replace(/"ttls":\s*\[\s*\[[^\]]*\]\s*\]/, `"ttls":${ttls}`) })
  expect(await scene.run('plan')).toMatchObject({ stderr: expect.stringContaining('has a fence without a number, a run and a time') })
})
