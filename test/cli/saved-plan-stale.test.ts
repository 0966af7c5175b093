import { PassThrough } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { runCli } from '../../src/cli/program.ts'
import { noSecrets } from '../../src/definition/config/secret-guard.ts'
import { type Client, connect } from '../service/harness.ts'
import { planSchemaErrors } from '../support/plan-schema.ts'
import type { Script } from './recording-proxy.ts'
import { TOKEN, withoutToken, ZONE } from './scene.ts'
import { openServiceScene, type ServiceScene } from './service-scene.ts'

const CHANGED = ZONE.replace('192.0.2.2', '192.0.2.7')

/** Two live zones, both changed in their definitions, and another client. */
async function plannedScene(
  script: Script = () => null,
): Promise<{ scene: ServiceScene; client: Client; id: number; records: Record<string, number> }> {
  const other = (text: string): string => text.replaceAll('example.com', 'example.net')
  const scene = await openServiceScene({ script, files: { 'zones/example.com.yaml': ZONE, 'zones/example.net.yaml': other(ZONE) } })
  expect((await scene.run('apply', '--yes')).status).toBe(0)
  scene.write({ 'zones/example.com.yaml': CHANGED, 'zones/example.net.yaml': other(CHANGED) })
  expect((await scene.run('plan', '--out', 'plan.json')).status).toBe(0)
  const { client, close } = connect(scene.service.baseUrl, TOKEN)
  onTestFinished(close)
  const { data } = await client.ok('GET', '/domains', undefined, { 'x-filter': '{"domain":"example.com"}' })
  const { id } = data[0]
  const listed = await client.ok('GET', `/domains/${id}/records`)
  return {
    scene,
    client,
    id,
    records: Object.fromEntries(listed.data.map((record: { name: string; id: number }) => [record.name, record.id])),
  }
}

interface Move {
  readonly client: Client
  readonly path: string
  readonly records: Readonly<Record<string, number>>
}

test.each<[string, (move: Move) => Promise<unknown>, RegExp]>([
  [
    'a new record',
    ({ client, path }) => client.ok('POST', `${path}/records`, { type: 'TXT', name: 'theirs', target: 'x' }),
    /: 1 record added \(plan again.*\n(?:.*\n)*notice\[plan-stale\] example\.com\. at cloud: added theirs\.example\.com\. default TXT "x"\n/,
  ],
  [
    'a deleted record',
    ({ client, path, records }) => client.ok('DELETE', `${path}/records/${records['www']}`),
    /: 1 record removed .*\n.*: removed www\.example\.com\. default CNAME example\.com\.\n/,
  ],
  [
    'a record with another address',
    ({ client, path, records }) => client.ok('PUT', `${path}/records/${records['mail']}`, { target: '192.0.2.99' }),
    /: 1 record changed .*\n.*: changed mail\.example\.com\. 3600 A 192\.0\.2\.2 to mail\.example\.com\. 3600 A 192\.0\.2\.99\n/,
  ],
  [
    'a record with another TTL',
    ({ client, path, records }) => client.ok('PUT', `${path}/records/${records['mail']}`, { ttl_sec: 300 }),
    /: changed mail\.example\.com\. 3600 A 192\.0\.2\.2 to mail\.example\.com\. 300 A 192\.0\.2\.2\n/,
  ],
  [
    'a record that was deleted and created again',
    async ({ client, path, records }) => {
      await client.ok('DELETE', `${path}/records/${records['mail']}`)
      await client.ok('POST', `${path}/records`, { type: 'A', name: 'mail', target: '192.0.2.2', ttl_sec: 3600 })
    },
    /: replaced mail\.example\.com\. 3600 A 192\.0\.2\.2 by an equal one/,
  ],
  [
    'another setting',
    ({ client, path }) => client.ok('PUT', path, { description: 'mine \u001b[31m' }),
    /: 1 setting changed .*\n.*: description is "mine \\u001b\[31m", and was ""\n/,
  ],
  ['a deleted zone', ({ client, path }) => client.ok('DELETE', path), /: it no longer exists; it had 3 records/],
  [
    'a zone that was deleted and created again',
    async ({ client, path }) => {
      await client.ok('DELETE', path)
      await client.ok('POST', '/domains', { domain: 'example.com', type: 'master', soa_email: 'hostmaster@example.com' })
    },
    /: it was deleted and created again: its identifier is \d+, and was \d+, 3 records removed/,
  ],
])('%s: changes no zone of the plan', async (_, move, expected) => {
  const { scene, client, id, records } = await plannedScene()
  await move({ client, path: `/domains/${id}`, records })
  const before = scene.proxy.mutations().length
  const { status, stderr } = await scene.run('apply', 'plan.json', '--yes')
  expect(stderr).toMatch(/^error\[plan-stale\] example\.com\. at cloud has changed since the plan was made/m)
  expect(stderr).toMatch(expected)
  expect(stderr).not.toContain('example.net')
  expect(stderr).toMatch(/Nothing was applied\.\n$/)
  expect(status).toBe(3)
  expect(scene.proxy.mutations()).toHaveLength(before)
})

test('lists the first of many differences', async () => {
  const { scene, client, id } = await plannedScene()
  for (let index = 0; index < 25; index += 1)
    await client.ok('POST', `/domains/${id}/records`, { type: 'A', name: `n${index}`, target: '192.0.2.1' })
  const { stderr } = await scene.run('apply', 'plan.json', '--yes')
  expect(stderr).toContain('25 records added; the first 20 differences are shown')
  expect(stderr.match(/notice\[plan-stale\]/g)).toHaveLength(20)
  const quiet = await scene.run('apply', 'plan.json', '--yes', '--quiet')
  expect(quiet).toMatchObject({ status: 3, stderr: expect.not.stringContaining('notice') })
})

test('a zone without planned changes may change', async () => {
  const { scene, client, id } = await plannedScene()
  scene.write({ 'zones/example.com.yaml': ZONE })
  expect((await scene.run('plan', '--out', 'plan.json')).status).toBe(0)
  await client.ok('POST', `/domains/${id}/records`, { type: 'TXT', name: 'theirs', target: 'x' })
  const { status, stdout } = await scene.run('apply', 'plan.json', '--yes')
  expect(status).toBe(0)
  expect(stdout).toContain('Applied: 0 created, 1 updated, 0 deleted in 1 zone')
})

/** Runs the program on a terminal that confirms after `seconds`; `meanwhile` runs before that. */
async function onTerminal(scene: ServiceScene, args: readonly string[], seconds: number, meanwhile: () => Promise<unknown>) {
  const written = { stdout: '', stderr: '' }
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stdin })
  const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 200 })
  let clock = Date.now()
  let asked = false
  stderr.on('data', (chunk) => {
    written.stderr += chunk
    if (asked || !written.stderr.includes('[y/N]')) return
    asked = true
    void meanwhile().then(() => {
      clock += seconds * 1000
      stdin.write('yes\n')
    })
  })
  const stdout = { write: (text: string) => (written.stdout += text) }
  const env = { ZONEWRIGHT_TOKEN: TOKEN, NO_COLOR: '1' }
  const status = await runCli(args, { stdout, stderr, stdin, env, cwd: scene.folder, now: () => new Date(clock), secrets: noSecrets() })
  return withoutToken({ status, ...written })
}

test.each([
  ['definitions', ['apply']],
  ['a saved plan', ['apply', 'plan.json']],
])('%s: reads the zones again after a late confirmation', async (_, args) => {
  const { scene, client, id } = await plannedScene()
  const before = scene.proxy.mutations().length
  const theirs = () => client.ok('POST', `/domains/${id}/records`, { type: 'TXT', name: 'theirs', target: 'x' })
  const { status, stderr } = await onTerminal(scene, args, 31, theirs)
  expect(stderr).toContain('example.com. at cloud has changed since it was read for this plan: 1 record added')
  expect(stderr).toContain('added theirs.example.com. default TXT "x"')
  expect(stderr).toContain('Nothing was applied.')
  expect(status).toBe(3)
  expect(scene.proxy.mutations()).toHaveLength(before)
})

test.each([
  [31, 2],
  [29, 0],
])('applies an unchanged zone after %i seconds, with %i more reads of zones', async (seconds, reads) => {
  const { scene } = await plannedScene()
  let read = 0
  const count = async (): Promise<void> => {
    read = scene.proxy.requests.length
  }
  const { status } = await onTerminal(scene, ['apply', 'plan.json'], seconds, count)
  expect(status).toBe(0)
  const after = scene.proxy.requests.slice(read)
  const first = after.findIndex(({ method }) => method !== 'GET')
  expect(after.slice(0, first).filter(({ path }) => path.includes('/records'))).toHaveLength(reads)
})

const theirs = (client: Client, id: number) => client.ok('POST', `/domains/${id}/records`, { type: 'TXT', name: 'theirs', target: 'x' })

test('--partial applies the zones that have not changed, and lists the others', async () => {
  const { scene, client, id } = await plannedScene()
  await theirs(client, id)
  const held = await scene.run('apply', 'plan.json', '--yes', '--format', 'json')
  expect(held.status).toBe(3)
  expect(JSON.parse(held.stdout).zones.map(({ refused }: { refused?: string }) => refused)).toEqual(['moved', undefined])

  const { status, stdout, stderr } = await scene.run('apply', 'plan.json', '--yes', '--partial')
  expect(status).toBe(3)
  expect(stderr).toMatch(/^error\[plan-stale\] example\.com\. at cloud has changed since the plan was made .*: 1 record added/m)
  expect(stdout).toContain('the zone has changed since the plan was made')
  expect(stdout).toMatch(/^1 error\. Applied in part: 1 skipped; 0 created, 1 updated, 0 deleted in 1 zone \(1 call\)$/m)
  expect(stderr).toMatch(/^Not applied: 1 zone that has changed .*: example\.com\. at cloud\. Plan it again\.$/m)
  const pending = await scene.run('plan', '--format', 'json')
  expect(JSON.parse(pending.stdout).zones.map(({ changes }: { changes: unknown[] }) => changes.length)).toEqual([2, 0])
  const history = await scene.run('history', '--format', 'json')
  expect(JSON.parse(history.stdout).runs[0]).toMatchObject({ status: 3, zones: [{ zone: 'example.net.' }] })
})

test('--partial changes nothing if every zone has changed, and once more if the plan was applied', async () => {
  const { scene, client, id } = await plannedScene()
  await theirs(client, id)
  expect((await scene.run('apply', 'plan.json', '--yes', '--partial')).status).toBe(3)
  const before = scene.proxy.mutations().length
  const again = await scene.run('apply', 'plan.json', '--yes', '--partial', '--format', 'json')
  expect(again.status).toBe(3)
  expect(again.stderr).toContain('Nothing was applied.')
  const document = JSON.parse(again.stdout)
  expect(planSchemaErrors(document)).toEqual([])
  expect(document.zones.map(({ refused }: { refused?: string }) => refused)).toEqual(['moved', 'moved'])
  expect(document.zones[0].changes[0].outcome).toEqual({ state: 'skipped', because: 'the zone has changed since the plan was made' })
  expect(scene.proxy.mutations()).toHaveLength(before)
})

test('--partial applies the others if a zone cannot be read', async () => {
  let broken = ''
  const { scene, id } = await plannedScene(({ path }) => (broken !== '' && path.includes(broken) ? { status: 403, body: '{}' } : null))
  broken = `/domains/${id}/records`
  expect((await scene.run('apply', 'plan.json', '--yes')).status).toBe(1)
  const { status, stdout } = await scene.run('apply', 'plan.json', '--yes', '--partial', '--format', 'json')
  expect(status).toBe(4)
  const document = JSON.parse(stdout)
  expect(planSchemaErrors(document)).toEqual([])
  expect(document.zones.map(({ refused }: { refused?: string }) => refused)).toEqual(['unread', undefined])
  expect(document.summary).toMatchObject({ applied: 1, skipped: 1 })
})

test('--partial leaves out a zone that changes while it asks', async () => {
  const { scene, client, id } = await plannedScene()
  const { status, stdout, stderr } = await onTerminal(scene, ['apply', 'plan.json', '--partial'], 31, () => theirs(client, id))
  expect(stderr).toContain('Make 2 calls in 2 zones?')
  expect(stdout).toContain('1 updated, 0 deleted in 1 zone')
  expect(status).toBe(3)
})

test('--partial needs a plan file', async () => {
  const { scene } = await plannedScene()
  const before = scene.proxy.mutations().length
  const { status, stderr } = await scene.run('apply', '--yes', '--partial')
  expect(stderr).toContain('error[usage] --partial is for saved plans only')
  expect(status).toBe(1)
  expect(scene.proxy.mutations()).toHaveLength(before)
})
