import { existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fingerprint } from '../../src/plan/plan.ts'
import { put, resealed } from '../stored/plans/saved-text.ts'
import { expectEnd } from '../support/cli.ts'
import { openLiveScene, openScene, type Scene, TOKEN, ZONE, zoneFiles } from './scene.ts'

const CHANGED = ZONE.replace('192.0.2.2', '192.0.2.7').replace("www: {type: CNAME, value: '@'}", 'new: {type: AAAA, value: "2001:db8::1"}')
const textOf = ({ folder }: Scene, file = 'plan.json'): string => readFileSync(join(folder, file), 'utf8')

/** A live zone, a changed definition, and its saved plan on another machine without definitions. */
async function savedScene({ env = {}, definition = CHANGED }: { env?: Readonly<Record<string, string>>; definition?: string } = {}) {
  const scene = await openLiveScene()
  scene.write({ 'zones/example.com.yaml': definition })
  const planned = await scene.runWith(env, 'plan', '--out', 'plan.json')
  const text = existsSync(join(scene.folder, 'plan.json')) ? textOf(scene) : ''
  return { scene, planned, text, there: scene.elsewhere({ 'plan.json': text }) }
}

test('is applied exactly once on another machine without definitions', async () => {
  const { scene, planned, text, there } = await savedScene()
  expect(planned).toMatchObject({ status: 0, stderr: 'Saved the plan to plan.json. To apply it: zonewright apply plan.json\n' })
  expect(text).not.toContain(TOKEN)
  const before = scene.memory.writes().length

  expectEnd(await there.run('apply', 'plan.json', '--yes'), 0, { err: '', out: 'Applied: ' })
  expect(scene.memory.writes().slice(before).sort()).toEqual([
    'create new.example.com. AAAA 2001:db8::1',
    'delete www.example.com. CNAME',
    'update mail.example.com. A 192.0.2.7',
  ])
  expect((await scene.run('plan', '--detailed-exitcode')).status).toBe(0)

  expectEnd(await there.run('apply', 'plan.json', '--yes'), 3, {
    err: [/^error\[plan-stale\] example\.com\. at cloud has changed .*already is as planned/m, /^Nothing was applied\.$/m],
  })
  expect(scene.memory.writes()).toHaveLength(before + 3)
})

test('creates a new zone, and deletes one if the plan allowed it', async () => {
  const scene = openScene()
  expect((await scene.run('plan', '--out', 'plan.json')).status).toBe(0)
  const create = scene.elsewhere({ 'plan.json': textOf(scene) })
  expect(await create.run('apply', 'plan.json', '--yes')).toMatchObject({ status: 0, stderr: '' })
  expect((await scene.run('plan', '--detailed-exitcode')).status).toBe(0)

  scene.write({ 'zones/example.com.yaml': 'domain: example.com\nabsent: true\nrecords: {}\n' })
  const refused = await scene.run('plan', '--out', 'plan.json')
  const loose = await scene.run('plan', '--out', 'allowed.json', '--allow', 'delete-zone')
  expect([refused.status, loose.status]).toEqual([3, 0])
  const there = scene.elsewhere({ 'refused.json': textOf(scene), 'allowed.json': textOf(scene, 'allowed.json') })
  const before = scene.memory.writes().length
  const notAllowed = await there.run('apply', 'refused.json', '--yes', '--allow', 'delete-zone')
  expect(notAllowed).toMatchObject({ status: 3, stderr: expect.stringContaining('warning[usage] --allow has no effect on a saved plan') })
  expect(scene.memory.writes()).toHaveLength(before)
  expect(await there.run('apply', 'allowed.json', '--yes')).toMatchObject({ status: 0, stderr: '' })
  expect(scene.memory.writes().slice(before)).toEqual(['delete example.com.'])
})

test('a plan without changes sends no request', async () => {
  const { scene, there } = await savedScene({ definition: ZONE })
  const requests = scene.memory.requests.length
  expect(await there.run('apply', 'plan.json')).toMatchObject({ status: 0, stderr: '' })
  expect(scene.memory.requests).toHaveLength(requests)
})

test('the JSON outcome has the format of a plan', async () => {
  const { scene, there } = await savedScene()
  const applied = JSON.parse((await there.run('apply', 'plan.json', '--yes', '--format', 'json')).stdout)
  const states = applied.zones[0].changes.map(({ outcome }: { outcome: { state: string } }) => outcome.state)
  expect(states).toEqual(['applied', 'applied', 'applied'])
  const stale = expectEnd(await there.run('apply', 'plan.json', '--yes', '--format', 'json'), 3)
  const [zone] = JSON.parse(stale.stdout).zones
  expect(zone.diagnostics.map(({ code }: { code: string }) => code)).toContain('plan-stale')
  expect(zone.changes[0].outcome).toEqual({ state: 'skipped', because: 'the zone has changed since the plan was made' })
  // An outcome cannot be applied as a plan.
  const report = scene.elsewhere({ 'report.json': JSON.stringify(applied) })
  expect((await report.run('apply', 'report.json', '--yes')).stderr).toContain('error[plan-file-invalid]')
})

test.each<[string, (text: string) => string, string]>([
  ['a changed byte', (text) => text.replace('192.0.2.7', '192.0.2.8'), 'plan-file-changed'],
  ['a truncated file', (text) => text.slice(0, -20), 'plan-file-invalid'],
  ['a newer version', (text) => resealed(text, put('version', 3)), 'plan-file-version'],
  ['another base URL', (text) => resealed(text, put('targets.0.address', 'https://dns.example.net/v4')), 'plan-file-target'],
  ['another type of provider', (text) => resealed(text, put('targets.0.type', 'zonefile')), 'plan-file-target'],
  ['an unknown provider', (text) => resealed(text.replaceAll('"cloud"', '"lab"'), put('tool', 'x')), 'provider-unknown'],
])('%s is refused before any request', async (_, spoil, code) => {
  const { scene, text } = await savedScene()
  const requests = scene.memory.requests.length
  const { status, stderr } = await scene.elsewhere({ 'plan.json': spoil(text) }).run('apply', 'plan.json', '--yes')
  expect(stderr).toContain(`error[${code}]`)
  expect(status).toBe(1)
  expect(scene.memory.requests).toHaveLength(requests)
})

test('refuses a forged plan with the consistent IDs of another zone', async () => {
  const scene = await openLiveScene({ files: zoneFiles(['example.com', 'example.net']) })
  scene.write(zoneFiles(['example.com', 'example.net'], CHANGED))
  for (const zone of ['example.com', 'example.net']) expect((await scene.run('plan', zone, '--out', `${zone}.json`)).status).toBe(0)
  const [other] = JSON.parse(textOf(scene, 'example.net.json')).zones
  const forged = resealed(textOf(scene, 'example.com.json'), (document) => {
    const [zone] = document.zones
    const ids = new Map(zone.state.records.map(([id]: [number], at: number) => [id, other.state.records[at][0]]))
    zone.state.id = other.state.id
    for (const record of zone.state.records) record[0] = ids.get(record[0])
    for (const change of zone.changes) if (change.id !== null) change.id = ids.get(change.id)
    const records = zone.state.records.map(([id, name, type, ttl, data]: unknown[]) => ({ id, name, type, ttl, data }))
    zone.fingerprint = fingerprint({ name: zone.zone, id: zone.state.id, settings: zone.state.settings, records })
  })
  const before = scene.memory.writes().length
  const { status, stderr } = await scene.elsewhere({ 'plan.json': forged }).run('apply', 'plan.json', '--yes')
  expect(stderr).toContain('it was deleted and created again')
  expect(status).toBe(3)
  expect(scene.memory.writes()).toHaveLength(before)
})

test('signatures: valid, invalid, missing, not checked', async () => {
  const { scene, text, planned } = await savedScene({ env: { ZONEWRIGHT_PLAN_KEY: 'f00dfeedcafe' } })
  expect(planned.stderr).toContain('Saved the plan to plan.json (signed)')
  expect(text + planned.stdout + planned.stderr).not.toContain('f00dfeedcafe')
  const there = scene.elsewhere({ 'plan.json': text, 'unsigned.json': resealed(text, put('signature', undefined)) })
  const codesOf = async (file: string, key: string): Promise<string> => {
    const { status, stderr } = await there.runWith({ ZONEWRIGHT_PLAN_KEY: key }, 'apply', file)
    return `${status} ${/(?:error|notice)\[plan-file-signature\]|error\[not-confirmed\]/.exec(stderr)?.[0]}`
  }
  expect(await codesOf('plan.json', 'f00dfeedcafe')).toBe('1 error[not-confirmed]')
  for (const [file, key] of [['plan.json', 'other'] as const, ['plan.json', ''] as const, ['unsigned.json', 'f00dfeedcafe'] as const])
    expect(await codesOf(file, key)).toBe('1 error[plan-file-signature]')
  const unchecked = await there.run('apply', 'plan.json', '--yes')
  expect(unchecked.status).toBe(0)
  expect(unchecked.stderr).toContain('plan.json is signed, and the signature was not checked: ZONEWRIGHT_PLAN_KEY is not set')
})

test('warns of an empty key and does not sign', async () => {
  const { planned, text } = await savedScene({ env: { ZONEWRIGHT_PLAN_KEY: '' } })
  expect(planned).toMatchObject({ status: 0, stderr: expect.stringContaining('warning[plan-file-signature]') })
  expect(JSON.parse(text).signature).toBeUndefined()
})

test('refuses a file with a hundred megabytes immediately', async () => {
  const scene = openScene({ files: { 'plan.json': '{' } })
  truncateSync(join(scene.folder, 'plan.json'), 100_000_000)
  const { status, stderr } = await scene.run('apply', 'plan.json', '--yes')
  expect(stderr).toMatch(/^error\[plan-file-invalid\] the plan file plan\.json has 100000000 octets; a saved plan has at most/)
  expect(status).toBe(1)
})

test.each<[string, readonly string[], string]>([
  ['a missing path', ['./plan.json'], 'error[plan-file-invalid] the plan file ./plan.json does not exist'],
  ['a missing file name', ['plan.json'], 'error[plan-file-invalid] the plan file plan.json does not exist'],
  ['two files', ['./a.json', './b.json'], 'error[usage] apply takes only one plan file'],
  [
    'a file and a zone',
    ['./a.json', 'example.com'],
    'error[usage] apply takes either one plan file or zones, not both: ./a.json is a plan file',
  ],
  ['a file and a target', ['./a.json', '--target', 'cloud'], 'error[usage] --target cannot be used with a saved plan'],
  ['a zone name with a slash', ['0/25.2.0.192.in-addr.arpa'], 'error[zone-unknown]'],
])('%s', async (_, args, expected) => {
  const scene = openScene()
  expect(await scene.run('apply', '--yes', ...args)).toMatchObject({ status: 1, stderr: expect.stringContaining(expected) })
  expect(scene.memory.requests).toEqual([])
})

test('prefers the zone to a zone file with its name, and refuses a plan with its name', async () => {
  const { scene, text } = await savedScene()
  scene.write({ 'example.com': 'www A 192.0.2.1\n' })
  expect((await scene.run('apply', 'example.com')).stderr).toContain('error[not-confirmed]')
  scene.write({ 'example.com': text })
  const { status, stderr } = await scene.run('apply', 'example.com', '--yes')
  expect(stderr).toContain('error[usage] example.com is a saved plan and also the zone example.com. (a plan file is named by a path')
  expect(status).toBe(1)
  expect((await scene.run('apply', 'example.com.')).stderr).toContain('error[not-confirmed]')
  expect((await scene.run('apply', './example.com', '--yes')).status).toBe(0)
})

test('is not written for a plan with errors, over another file, or into a missing folder', async () => {
  const { scene, planned } = await savedScene({ definition: ZONE.replace(/\{type: CNAME.*/, '{type: HINFO, value: {cpu: a, os: b}}') })
  expect(planned).toMatchObject({ status: 1, stderr: expect.stringContaining('plan.json was not written: the plan has errors.') })
  const failsWith = async (text: string, out: string): Promise<void> =>
    expect(await scene.run('plan', '--out', out)).toMatchObject({ status: 1, stderr: expect.stringContaining(text) })
  scene.write({ 'zones/example.com.yaml': 'domain: example.com\nrecords: 1\n' })
  await failsWith('plan.json was not written.', 'plan.json')
  expect(existsSync(join(scene.folder, 'plan.json'))).toBe(false)

  const others = { 'zones/example.com.yaml': CHANGED, 'package.json': '{"name": "dns"}' }
  scene.write(others)
  for (const file of Object.keys(others)) await failsWith(`error[file-exists] ${file}`, file)
  expect(scene.files()).toMatchObject(others)
  await failsWith('error[file-unwritable] no/plan.json', 'no/plan.json')
  mkdirSync(join(scene.folder, 'folder.json'))
  expect((await scene.run('plan', '--out', 'folder.json')).status).toBe(1)

  writeFileSync(join(scene.folder, 'plan.json'), '')
  expect((await scene.run('plan', '--out', 'plan.json', '--detailed-exitcode')).status).toBe(2)
  expect((await scene.run('plan', '--out', 'plan.json', '--quiet')).stderr).toBe('')
})

/** Unmanaged records, such as those of ACME clients, change between plan and apply. */
const THEIRS = ZONE.replace('records:', 'unmanaged: [{name: _acme-challenge*, type: TXT}, {type: TXT, name: alias}]\nrecords:')

/** A live zone with an unmanaged record and a saved plan. */
async function unmanagedScene(): Promise<Scene> {
  const scene = await openLiveScene({ files: { 'zones/example.com.yaml': THEIRS } })
  scene.memory.add('example.com', '_acme-challenge TXT first')
  scene.write({ 'zones/example.com.yaml': `${THEIRS.replace('192.0.2.2', '192.0.2.7')}  alias: {type: CNAME, value: mail}\n` })
  expect((await scene.run('plan', '--out', 'plan.json')).status).toBe(0)
  return scene
}

test('unmanaged records change meanwhile: applies the plan and does not change them', async () => {
  const scene = await unmanagedScene()
  const texts = () => scene.memory.zone('example.com')?.flatMap((line) => line.split(' TXT ')[1] ?? [])
  scene.memory.remove('example.com', '_acme-challenge.example.com')
  scene.memory.add('example.com', '_acme-challenge TXT third')
  expectEnd(await scene.run('apply', 'plan.json', '--yes'), 0, { err: '', out: 'Applied: 1 created, 1 updated, 0 deleted in 1 zone' })
  expect(texts()).toEqual(['"third"'])
  expect((await scene.run('plan', '--detailed-exitcode')).status).toBe(0)

  expectEnd(await scene.run('apply', 'plan.json', '--yes'), 3, { err: 'the zone already is as planned: the plan has been applied' })
  // The run can be rolled back despite the changes of the other client.
  expectEnd(await scene.run('rollback', '--last', '--yes'), 0, {
    err: /^Rolling back run \S+, apply of \S+\nA rollback leaves the definitions as they are.*\n$/,
  })
  expect(texts()).toEqual(['"third"'])
})

test('reports an unmanaged record at the name of a planned CNAME before any call', async () => {
  const scene = await unmanagedScene()
  scene.memory.add('example.com', 'alias TXT first')
  const before = scene.memory.writes().length
  expectEnd(await scene.run('apply', 'plan.json', '--yes'), 3, {
    err: [
      'has changed since the plan was made',
      ': 1 unmanaged record is in conflict with the plan (plan again and review the changes)',
      'alias.example.com. TXT "first" conflicts with the planned CNAME mail.example.com.',
    ],
  })
  expect(scene.memory.writes()).toHaveLength(before)
})
