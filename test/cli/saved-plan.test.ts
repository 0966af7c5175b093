import { existsSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { put, resealed } from '../apply/saved-plan/saved-text.ts'
import { type CliResult, cli } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { TOKEN, withoutToken, ZONE } from './scene.ts'
import { openServiceScene, type ServiceScene } from './service-scene.ts'

const CHANGED = ZONE.replace('192.0.2.2', '192.0.2.7').replace("www: {type: CNAME, value: '@'}", 'new: {type: AAAA, value: "2001:db8::1"}')

/** Another machine with only the config and these files. */
function secondMachine(scene: ServiceScene, files: Readonly<Record<string, string>>) {
  const folder = temporaryDirectory()
  const config = readFileSync(join(scene.folder, 'zonewright.yaml'), 'utf8')
  for (const [path, text] of Object.entries({ 'zonewright.yaml': config, ...files })) writeFileSync(join(folder, path), text)
  const runWith = async (env: Readonly<Record<string, string>>, ...args: string[]): Promise<CliResult> =>
    withoutToken(await cli(args, { cwd: folder, env: { ZONEWRIGHT_TOKEN: TOKEN, ...env } }))
  return { folder, runWith, run: (...args: string[]) => runWith({}, ...args) }
}

/** A scene with a live zone, and a saved plan for a changed definition. */
async function savedScene(options: { env?: Readonly<Record<string, string>>; definition?: string; args?: readonly string[] } = {}) {
  const scene = await openServiceScene()
  expect((await scene.run('apply', '--yes')).status).toBe(0)
  scene.write({ 'zones/example.com.yaml': options.definition ?? CHANGED })
  const planned = await scene.runWith(options.env ?? {}, 'plan', '--out', 'plan.json', ...(options.args ?? []))
  return { scene, planned, text: existsSync(join(scene.folder, 'plan.json')) ? readFileSync(join(scene.folder, 'plan.json'), 'utf8') : '' }
}

const made = (scene: ServiceScene): string[] => scene.proxy.mutations().map(({ method, path }) => `${method} ${path.replace(/\d+/g, '*')}`)

test('is applied exactly once on another machine without definitions', async () => {
  const { scene, planned, text } = await savedScene()
  expect(planned).toMatchObject({ status: 0, stderr: 'Saved the plan to plan.json. To apply it: zonewright apply plan.json\n' })
  expect(text).not.toContain(TOKEN)
  const before = made(scene).length
  const there = secondMachine(scene, { 'plan.json': text })

  const applied = await there.run('apply', 'plan.json', '--yes')
  expect(applied.stderr).toBe('')
  expect(applied.status).toBe(0)
  expect(applied.stdout).toContain('Applied: ')
  expect(made(scene).slice(before).sort()).toEqual([
    'DELETE /v*/domains/*/records/*',
    'POST /v*/domains/*/records',
    'PUT /v*/domains/*/records/*',
  ])
  expect((await scene.run('plan', '--detailed-exitcode')).status).toBe(0)

  const again = await there.run('apply', 'plan.json', '--yes')
  expect(again.status).toBe(3)
  expect(again.stderr).toMatch(
    /^error\[plan-stale\] example\.com\. at cloud has changed since the plan was made \(\S+\): .*\(the zone already is as planned: the plan has been applied\)$/m,
  )
  expect(again.stderr).toMatch(/^Nothing was applied\.$/m)
  expect(made(scene)).toHaveLength(before + 3)
})

test('creates a new zone, and deletes one if the plan allowed it', async () => {
  const scene = await openServiceScene()
  expect((await scene.run('plan', '--out', 'plan.json')).status).toBe(0)
  const create = secondMachine(scene, { 'plan.json': readFileSync(join(scene.folder, 'plan.json'), 'utf8') })
  expect(await create.run('apply', 'plan.json', '--yes')).toMatchObject({ status: 0, stderr: '' })
  expect((await scene.run('plan', '--detailed-exitcode')).status).toBe(0)

  scene.write({ 'zones/example.com.yaml': 'domain: example.com\nabsent: true\nrecords: {}\n' })
  const refused = await scene.run('plan', '--out', 'plan.json')
  const loose = await scene.run('plan', '--out', 'allowed.json', '--allow', 'delete-zone')
  expect([refused.status, loose.status]).toEqual([3, 0])
  const there = secondMachine(scene, {
    'refused.json': readFileSync(join(scene.folder, 'plan.json'), 'utf8'),
    'allowed.json': readFileSync(join(scene.folder, 'allowed.json'), 'utf8'),
  })
  const before = made(scene).length
  const notAllowed = await there.run('apply', 'refused.json', '--yes', '--allow', 'delete-zone')
  expect(notAllowed.status).toBe(3)
  expect(notAllowed.stderr).toContain('warning[usage] --allow has no effect on a saved plan')
  expect(made(scene)).toHaveLength(before)
  expect(await there.run('apply', 'allowed.json', '--yes')).toMatchObject({ status: 0, stderr: '' })
  expect(made(scene).slice(before)).toEqual(['DELETE /v*/domains/*'])
})

test('a plan without changes sends no request', async () => {
  const { scene, text } = await savedScene({ definition: ZONE })
  const requestsBefore = scene.proxy.requests.length
  expect(await secondMachine(scene, { 'plan.json': text }).run('apply', 'plan.json')).toMatchObject({ status: 0, stderr: '' })
  expect(scene.proxy.requests).toHaveLength(requestsBefore)
})

test('asks for confirmation, and needs --yes without a terminal', async () => {
  const { scene, text } = await savedScene()
  const { status, stderr } = await secondMachine(scene, { 'plan.json': text }).run('apply', 'plan.json')
  expect({ status, stderr }).toMatchObject({ status: 1, stderr: expect.stringContaining('error[not-confirmed]') })
})

test('the JSON outcome has the format of a plan', async () => {
  const { scene, text } = await savedScene()
  const there = secondMachine(scene, { 'plan.json': text })
  const applied = JSON.parse((await there.run('apply', 'plan.json', '--yes', '--format', 'json')).stdout)
  expect(applied.zones[0].changes.map(({ outcome }: { outcome: { state: string } }) => outcome.state)).toEqual([
    'applied',
    'applied',
    'applied',
  ])
  const stale = await there.run('apply', 'plan.json', '--yes', '--format', 'json')
  expect(stale.status).toBe(3)
  const document = JSON.parse(stale.stdout)
  expect(document.zones[0].diagnostics.map(({ code }: { code: string }) => code)).toContain('plan-stale')
  expect(document.zones[0].changes[0].outcome).toEqual({ state: 'skipped', because: 'the zone has changed since the plan was made' })
  // An outcome cannot be applied as a plan.
  const report = secondMachine(scene, { 'report.json': JSON.stringify(applied) })
  expect((await report.run('apply', 'report.json', '--yes')).stderr).toContain(
    'error[plan-file-invalid] report.json is only a report of a plan',
  )
})

test.each<[string, (text: string, scene: ServiceScene) => string, string]>([
  ['a changed byte', (text) => text.replace('192.0.2.7', '192.0.2.8'), 'plan-file-changed'],
  ['a truncated file', (text) => text.slice(0, -20), 'plan-file-invalid'],
  ['a missing first byte', (text) => text.slice(1), 'plan-file-invalid'],
  ['an empty file', () => '', 'plan-file-invalid'],
  ['a newer version', (text) => resealed(text, put('version', 3)), 'plan-file-version'],
  ['another base URL', (text) => resealed(text, put('targets.0.address', 'https://dns.example.net/v4')), 'plan-file-target'],
  ['another type of provider', (text) => resealed(text, put('targets.0.type', 'zonefile')), 'plan-file-target'],
  [
    'a provider that the config does not have',
    (text) => resealed(text.replaceAll('"cloud"', '"lab"'), put('tool', 'x')),
    'provider-unknown',
  ],
  ['an identifier of another zone', (text) => resealed(text, put('zones.0.state.id', 99)), 'plan-file-invalid'],
])('%s is refused before any request', async (_, spoil, code) => {
  const { scene, text } = await savedScene()
  const requestsBefore = scene.proxy.requests.length
  const { status, stderr } = await secondMachine(scene, { 'plan.json': spoil(text, scene) }).run('apply', 'plan.json', '--yes')
  expect(stderr).toContain(`error[${code}]`)
  expect(status).toBe(1)
  expect(scene.proxy.requests).toHaveLength(requestsBefore)
})

test('refuses a forged plan with the consistent IDs of another zone', async () => {
  const scene = await openServiceScene({
    files: { 'zones/example.com.yaml': ZONE, 'zones/example.net.yaml': ZONE.replaceAll('example.com', 'example.net') },
  })
  expect((await scene.run('apply', '--yes')).status).toBe(0)
  scene.write({ 'zones/example.com.yaml': CHANGED })
  expect((await scene.run('plan', 'example.com', '--out', 'plan.json')).status).toBe(0)
  const { fingerprint } = await import('../../src/plan/plan.ts')
  const forged = resealed(readFileSync(join(scene.folder, 'plan.json'), 'utf8'), (document) => {
    const [zone] = document.zones
    zone.state.id += 1
    for (const record of zone.state.records) record[0] += 3
    for (const change of zone.changes) if (change.id !== null) change.id += 3
    const records = zone.state.records.map(([id, name, type, ttl, data]: unknown[]) => ({ id, name, type, ttl, data }))
    zone.fingerprint = fingerprint({ name: zone.zone, id: zone.state.id, settings: zone.state.settings, records })
  })
  const before = made(scene).length
  const { status, stderr } = await secondMachine(scene, { 'plan.json': forged }).run('apply', 'plan.json', '--yes')
  expect(stderr).toContain('it was deleted and created again')
  expect(status).toBe(3)
  expect(made(scene)).toHaveLength(before)
})

test('signatures: valid, invalid, missing, not checked', async () => {
  const { scene, text, planned } = await savedScene({ env: { ZONEWRIGHT_PLAN_KEY: 'f00dfeedcafe' } })
  expect(planned.stderr).toContain('Saved the plan to plan.json (signed)')
  expect(text + planned.stdout + planned.stderr).not.toContain('f00dfeedcafe')
  const unsigned = resealed(text, put('signature', undefined))
  const there = secondMachine(scene, { 'plan.json': text, 'unsigned.json': unsigned })
  const statusOf = async (file: string, env: Readonly<Record<string, string>>): Promise<string> => {
    const { status, stderr } = await there.runWith(env, 'apply', file)
    return `${status} ${/(?:error|notice)\[plan-file-signature\]|error\[not-confirmed\]/.exec(stderr)?.[0]}`
  }
  expect(await statusOf('plan.json', { ZONEWRIGHT_PLAN_KEY: 'f00dfeedcafe' })).toBe('1 error[not-confirmed]')
  expect(await statusOf('plan.json', { ZONEWRIGHT_PLAN_KEY: 'other' })).toBe('1 error[plan-file-signature]')
  expect(await statusOf('plan.json', { ZONEWRIGHT_PLAN_KEY: '' })).toBe('1 error[plan-file-signature]')
  expect(await statusOf('unsigned.json', { ZONEWRIGHT_PLAN_KEY: 'f00dfeedcafe' })).toBe('1 error[plan-file-signature]')
  const unchecked = await there.run('apply', 'plan.json', '--yes')
  expect(unchecked.status).toBe(0)
  expect(unchecked.stderr).toContain('plan.json is signed, and the signature was not checked: ZONEWRIGHT_PLAN_KEY is not set')
})

test('warns of an empty key and does not sign', async () => {
  const { planned, text } = await savedScene({ env: { ZONEWRIGHT_PLAN_KEY: '' } })
  expect(planned).toMatchObject({
    status: 0,
    stderr: expect.stringContaining('warning[plan-file-signature] ZONEWRIGHT_PLAN_KEY is set and empty'),
  })
  expect(JSON.parse(text).signature).toBeUndefined()
})

test('refuses a file with a hundred megabytes immediately', async () => {
  const scene = await openServiceScene()
  writeFileSync(join(scene.folder, 'plan.json'), '{')
  truncateSync(join(scene.folder, 'plan.json'), 100_000_000)
  const { status, stderr } = await scene.run('apply', 'plan.json', '--yes')
  expect(stderr).toMatch(/^error\[plan-file-invalid\] plan\.json has 100000000 octets; a saved plan has at most/)
  expect(status).toBe(1)
})

test.each<[string, readonly string[], string]>([
  ['a missing path', ['./plan.json'], 'error[plan-file-invalid] ./plan.json does not exist'],
  ['a missing file name', ['plan.json'], 'error[plan-file-invalid] plan.json does not exist'],
  ['two files', ['./a.json', './b.json'], 'error[usage] apply takes one saved plan, or zones'],
  ['a file and a zone', ['./a.json', 'example.com'], 'error[usage] apply takes one saved plan, or zones'],
  ['a file and a target', ['./a.json', '--target', 'cloud'], 'error[usage] --target cannot be used with a saved plan'],
])('%s', async (_, args, expected) => {
  const scene = await openServiceScene()
  const { status, stderr } = await scene.run('apply', '--yes', ...args)
  expect(stderr).toContain(expected)
  expect(status).toBe(1)
  expect(scene.proxy.requests).toEqual([])
})

test('a zone name may contain a slash', async () => {
  const scene = await openServiceScene()
  const { stderr } = await scene.run('apply', '0/25.2.0.192.in-addr.arpa', '--yes')
  expect(stderr).toContain('error[zone-unknown]')
})

test('prefers the zone to a zone file with its name, and refuses a plan with its name', async () => {
  const { scene, text } = await savedScene()
  scene.write({ 'example.com': 'www A 192.0.2.1\n' })
  expect((await scene.run('apply', 'example.com')).stderr).toContain('error[not-confirmed]')
  scene.write({ 'example.com': text })
  const { status, stderr } = await scene.run('apply', 'example.com', '--yes')
  expect(stderr).toContain(
    'error[usage] example.com is a saved plan and also the zone example.com. (a plan file is named by a path such as ./plan.json',
  )
  expect(status).toBe(1)
  expect((await scene.run('apply', 'example.com.')).stderr).toContain('error[not-confirmed]')
  expect((await scene.run('apply', './example.com', '--yes')).status).toBe(0)
})

test('is not written for a plan with errors, over another file, or into a missing folder', async () => {
  const { scene, planned } = await savedScene({
    definition: ZONE.replace("{type: CNAME, value: '@'}", '{type: HINFO, value: {cpu: a, os: b}}'),
  })
  expect(planned.status).toBe(1)
  expect(planned.stderr).toContain('plan.json was not written: the plan has errors.')
  scene.write({ 'zones/example.com.yaml': 'domain: example.com\nrecords: 1\n' })
  expect(await scene.run('plan', '--out', 'plan.json')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('plan.json was not written.'),
  })
  expect(existsSync(join(scene.folder, 'plan.json'))).toBe(false)

  scene.write({ 'zones/example.com.yaml': CHANGED })
  const over = await scene.run('plan', '--out', 'zones/example.com.yaml')
  expect(over).toMatchObject({ status: 1, stderr: expect.stringContaining('error[file-exists] zones/example.com.yaml') })
  expect(readFileSync(join(scene.folder, 'zones/example.com.yaml'), 'utf8')).toBe(CHANGED)
  writeFileSync(join(scene.folder, 'package.json'), '{"name": "dns"}')
  expect(await scene.run('plan', '--out', 'package.json')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('error[file-exists] package.json'),
  })
  expect(readFileSync(join(scene.folder, 'package.json'), 'utf8')).toBe('{"name": "dns"}')
  expect(await scene.run('plan', '--out', 'no/plan.json')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('error[file-unwritable] no/plan.json'),
  })

  writeFileSync(join(scene.folder, 'plan.json'), '')
  expect((await scene.run('plan', '--out', 'plan.json', '--detailed-exitcode')).status).toBe(2)
  expect((await scene.run('plan', '--out', 'plan.json', '--quiet')).stderr).toBe('')
  mkdirSync(join(scene.folder, 'folder.json'))
  expect((await scene.run('plan', '--out', 'folder.json')).status).toBe(1)
})

test('is not written if a zone cannot be read', async () => {
  const scene = await openServiceScene({
    script: ({ path }) => (path.includes('/domains') ? { status: 403, body: '{"errors":[{"reason":"no"}]}' } : null),
  })
  const { status, stderr } = await scene.run('plan', '--out', 'plan.json')
  expect(status).toBe(1)
  expect(stderr).toContain('plan.json was not written: the plan has errors.')
  expect(existsSync(join(scene.folder, 'plan.json'))).toBe(false)
})

test('applies nothing and fails if a target cannot be read', async () => {
  let down = false
  const scene = await openServiceScene({ script: () => (down ? { status: 403, body: '{"errors":[{"reason":"no"}]}' } : null) })
  expect((await scene.run('plan', '--out', 'plan.json')).status).toBe(0)
  down = true
  rmSync(join(scene.folder, 'zones'), { recursive: true })
  const { status, stderr } = await scene.run('apply', 'plan.json', '--yes')
  expect(stderr).toMatch(/error\[provider-forbidden\]/)
  expect(stderr).toContain('Nothing was applied.')
  expect(status).toBe(1)
  expect(scene.proxy.mutations()).toEqual([])
})
