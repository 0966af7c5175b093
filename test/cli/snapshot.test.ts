/** Snapshots, and plans against them without the provider. */
import { generateKeyPairSync } from 'node:crypto'
import dgram from 'node:dgram'
import dns from 'node:dns'
import { cpSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import { join } from 'node:path'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import type { FaultChoice } from '../../src/providers/memory/memory-provider.ts'
import { connect } from '../service/harness.ts'
import { type CliResult, cli, expectEnd } from '../support/cli.ts'
import { planSchemaErrors } from '../support/plan-schema.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import type { FolderScene, Scene, SceneOptions } from './scene.ts'
import { filesBelow, openLiveScene, openScene, TOKEN, ZONE, zoneFiles, zoneOf } from './scene.ts'
import { openServiceScene } from './service-scene.ts'

const CHANGED = ZONE.replace('192.0.2.2', '192.0.2.7')
const other = (text: string, name: string): string => zoneOf(name, text)

/** A scene whose zones are live, with a snapshot of them. */
async function snapshotScene(options: SceneOptions = {}): Promise<Scene> {
  const scene = await openLiveScene(options)
  expect(await scene.run('snapshot', '--out', 'snap.json')).toMatchObject({ status: 0, stdout: '' })
  return scene
}

const read = (scene: Pick<Scene, 'folder'>, file: string): string => readFileSync(join(scene.folder, file), 'utf8')

/** Runs the program as a job of a fork does: with the repository and the snapshot, without a token and without a host that it may contact. */
async function inFork(scene: Scene, ...args: string[]): Promise<CliResult> {
  const before = scene.memory.requests.length
  const result = await cli(args, { cwd: scene.folder, env: { ZONEWRIGHT_ALLOWED_HOSTS: '' } })
  expect(result.stdout + result.stderr).not.toContain(TOKEN)
  expect(scene.memory.requests).toHaveLength(before)
  return result
}

/** The zones of a plan document, without their fences: a plan from a snapshot does not read the journal. */
const zonesOf = ({ stdout }: { readonly stdout: string }): unknown =>
  JSON.parse(stdout).zones.map(({ fence: _, ...zone }: { fence?: unknown }) => zone)

/** Runs the program in a process that cannot open a socket or look up a name. */
async function withoutNetwork(args: readonly string[], setting: Parameters<typeof cli>[1]): Promise<CliResult> {
  const opened: string[] = []
  const refuse = (what: string) => (): never => {
    opened.push(what)
    throw new Error(`opened ${what}`)
  }
  const spies = [
    vi.spyOn(net.Socket.prototype, 'connect').mockImplementation(refuse('a connection')),
    vi.spyOn(dgram, 'createSocket').mockImplementation(refuse('a socket')),
    vi.spyOn(dns, 'lookup').mockImplementation(refuse('a look-up')),
  ]
  syncBuiltinESMExports()
  try {
    return await cli(args, setting)
  } finally {
    for (const spy of spies) spy.mockRestore()
    syncBuiltinESMExports()
    expect(opened).toEqual([])
  }
}

test('a job without credentials and network makes the same plan as the trusted job', async () => {
  const pool = `${other(ZONE, 'pool.example')}  pool: {type: A, ttl: 300, from: {instances: {tag: web}}}\nunmanaged: [{name: _acme-*}]\n`
  const scene = await openServiceScene({
    files: { 'zones/example.com.yaml': ZONE, 'zones/pool.example.yaml': pool, 'zones/gone.example.yaml': other(ZONE, 'gone.example') },
    config: `zones:
  - {files: zones/example.com.yaml, targets: [cloud, lab], apex_ns: all-targets, allow: [apex-ns]}
  - {files: zones/*.yaml, targets: [cloud]}
`,
  })
  const config = read(scene, 'zonewright.yaml')
  scene.write({ 'zonewright.yaml': config.replace('providers:\n', 'providers:\n  lab: {type: zonefile, directory: served}\n') })
  mkdirSync(join(scene.folder, 'served'))
  const { client, close } = connect(scene.service.baseUrl, TOKEN)
  await client.ok('POST', '/compute/instances', { region: 'us-east', type: 'g6-nanode-1', label: 'web-1', tags: ['web'] })
  scene.write({
    'zones/example.com.yaml': ZONE.replace(
      'records:\n',
      "records:\n  '': [{type: NS, value: ns1.lab.example.}, {type: A, value: 192.0.2.1}]\n",
    ).replace("  '': {type: A, value: 192.0.2.1}\n", ''),
  })
  expect(await scene.run('apply', '--yes')).toMatchObject({ status: 0 })
  const { data } = await client.ok('GET', '/domains', undefined, { 'x-filter': '{"domain":"pool.example"}' })
  await client.ok('POST', `/domains/${data[0].id}/records`, { type: 'TXT', name: '_acme-x', target: 'x' })
  await close()
  expect((await scene.run('snapshot', '--out', 'snap.json')).status).toBe(0)
  expect(read(scene, 'snap.json')).not.toContain('ZONEWRIGHT_TOKEN')

  const fork = temporaryDirectory()
  scene.write({
    'zones/example.com.yaml': read(scene, 'zones/example.com.yaml').replace('192.0.2.2', '192.0.2.7'),
    'zones/pool.example.yaml': pool.replace('192.0.2.2', '192.0.2.7'),
    'zones/gone.example.yaml': 'domain: gone.example\nabsent: true\n',
  })
  const trusted = await scene.run('plan', '--format', 'json')
  cpSync(scene.folder, fork, { recursive: true, filter: (path) => !/served|\.zonewright/.test(path) })
  await scene.service.stop()
  await expect(withoutNetwork(['plan'], { cwd: fork, env: { ZONEWRIGHT_TOKEN: TOKEN } })).rejects.toThrow('a connection')
  const run = await withoutNetwork(['plan', '--snapshot', 'snap.json', '--format', 'json', '--out', 'plan.json'], {
    cwd: fork,
    env: { ZONEWRIGHT_ALLOWED_HOSTS: '', ZONEWRIGHT_TOKEN: '' },
  })
  expect(run.stderr).toContain('notice[snapshot-used]')
  expect(run.status).toBe(trusted.status)
  const document = JSON.parse(run.stdout)
  expect(document.zones).toEqual(zonesOf(trusted))
  expect(document.zones).toHaveLength(4)
  expect(document.zones.every((zone: { changes: unknown[] }) => zone.changes.length > 0)).toBe(true)
  expect(planSchemaErrors(document)).toEqual([])
  const saved = JSON.parse(readFileSync(join(fork, 'plan.json'), 'utf8'))
  const { created, checksum } = JSON.parse(read(scene, 'snap.json'))
  expect(saved.snapshot).toEqual({ created, checksum, verified: false })
})

test('says its age and its signature, and names the zones that it lacks', async () => {
  const key = generateKeyPairSync('ed25519')
  const scene = openScene()
  const pem = key.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  scene.write({ 'public.pem': key.publicKey.export({ type: 'spki', format: 'pem' }).toString() })
  expect((await scene.run('apply', '--yes')).status).toBe(0)
  const made = await scene.runWith({ SIGN: pem }, 'snapshot', '--out', 'snap.json', '--sign-key', 'env:SIGN')
  expect(made).toEqual({ status: 0, stdout: '', stderr: 'Saved 1 zone with 3 records to snap.json (signed).\n' })
  expect(statSync(join(scene.folder, 'snap.json')).mode & 0o777).toBe(0o600)
  scene.write(zoneFiles(['a.example', 'b.example']))

  const plan = (hours: number, ...args: string[]): Promise<CliResult> =>
    cli(['plan', '--snapshot', 'snap.json', ...args], { cwd: scene.folder, now: () => new Date(Date.now() + hours * 3_600_000) })
  expectEnd(await plan(3, '--verify-key', 'file:public.pem'), 0, {
    err: [
      /^notice\[snapshot-used\] planned against the snapshot snap\.json of \S+Z, which is 3 h(?: \d+ s)? old and signed \(changes/m,
      /^warning\[snapshot-zone-missing\] a\.example\. at cloud and b\.example\. at cloud are not in the snapshot snap\.json: planned as zones that do not exist/m,
    ],
    out: 'a.example. at cloud (new zone',
  })
  expect((await plan(1)).stderr).toContain('; its signature was not checked, since there is no --verify-key')
  const markdown = await plan(1, '--format', 'markdown')
  expect(markdown.stdout).toContain('planned against the snapshot')
  expect(markdown.stdout).toContain('are not in the snapshot')
  expectEnd(await plan(25, 'example.com'), 1, { err: /^error\[snapshot-too-old\] snap\.json was made at \S+, 1 d 1 h ago; --max-age/ })
  expect((await plan(25, '--max-age', '2d', 'example.com')).status).toBe(0)
  expect((await plan(1, '--max-age', '30m')).stderr).toContain('error[snapshot-too-old]')
  expect((await plan(-1)).stderr).toContain('which is in the future')
})

test('the plan can be applied while the zones are as they were', async () => {
  const scene = await snapshotScene({ files: zoneFiles(['example.com', 'b.example']) })
  scene.write(zoneFiles(['example.com', 'b.example'], CHANGED))
  expect((await inFork(scene, 'plan', '--snapshot', 'snap.json', '--out', 'plan.json')).status).toBe(0)
  scene.memory.add('example.com', 'theirs TXT x')
  expectEnd(await scene.run('apply', 'plan.json', '--yes'), 3, { err: 'has changed since the plan was made' })
  expect((await scene.run('apply', 'plan.json', '--yes', '--partial')).stdout).toContain('1 updated, 0 deleted in 1 zone')
})

describe('plan refuses', () => {
  let scene: Scene
  beforeAll(async () => {
    scene = await snapshotScene()
    const { publicKey } = generateKeyPairSync('ed25519')
    scene.write({ 'other.pem': publicKey.export({ type: 'spki', format: 'pem' }).toString(), 'plan.json': '{"format":"zonewright-plan"}' })
  })

  test.each<[string, string[], RegExp]>([
    ['no file', ['none.json'], /error\[snapshot-invalid\] none\.json does not exist/],
    ['a folder', ['zones'], /error\[snapshot-invalid\] zones is a folder, not a file/],
    ['another document', ['zones/example.com.yaml'], /error\[snapshot-invalid\] zones\/example\.com\.yaml is not valid JSON/],
    ['a plan', ['plan.json'], /is not a snapshot: its "format" is not/],
    ['no signature, with a key', ['snap.json', '--verify-key', 'file:other.pem'], /error\[snapshot-signature\] snap\.json is not signed/],
    ['without its key', ['snap.json', '--verify-key', 'env:NO_KEY'], /error\[secret-missing\] --verify-key: .* NO_KEY is not set/],
    ['a time that is none', ['snap.json', '--max-age', 'soon'], /error\[usage\] .* It must be seconds, or a number with/],
  ])('%s', async (_, args, expected) => {
    expect(await inFork(scene, 'plan', '--snapshot', ...args)).toMatchObject({ status: 1, stderr: expect.stringMatching(expected) })
  })

  type Changes = Readonly<Record<string, (text: string) => string>>
  const SNAPSHOT = ['--snapshot', 'snap.json']
  test.each<[string, Changes, RegExp, string[]?]>([
    ['options for a snapshot, without one', {}, /error\[usage\] --max-age needs --snapshot/, ['--max-age', '1h']],
    ['a comparison of targets', {}, /goes with none of --base, --out, --snapshot/, ['--compare-targets', ...SNAPSHOT]],
    ['an altered snapshot', { 'snap.json': (text) => text.replace('192.0.2.2', '192.0.2.3') }, /error\[snapshot-changed\]/],
    ['a newer version', { 'snap.json': (text) => text.replace('n": 1', 'n": 2') }, /error\[snapshot-invalid\] snap\.json has version 2/],
    ['other zones', { 'zones/example.com.yaml': (text) => other(text, 'example.net') }, /error\[snapshot-mismatch\] snap\.json has none/],
    [
      'another address',
      { 'zonewright.yaml': (text) => text.replace('http://127.0.0.1:9', 'https://dns.example.net') },
      /error\[snapshot-mismatch\] snap\.json was made when cloud was of type cloud at http:\/\/127\.0\.0\.1:9; /,
    ],
  ])('%s', async (_, changes, expected, args = SNAPSHOT) => {
    const cwd = copyOf(scene)
    for (const [path, change] of Object.entries(changes)) writeFileSync(join(cwd, path), change(readFileSync(join(cwd, path), 'utf8')))
    expect(await cli(['plan', ...args], { cwd })).toMatchObject({ status: 1, stderr: expect.stringMatching(expected) })
  })

  test('no run that selects only new zones', async () => {
    const folder = copyOf(scene)
    writeFileSync(join(folder, 'zones/new.example.yaml'), other(ZONE, 'new.example'))
    expect((await cli(['plan', '--snapshot', 'snap.json', 'new.example'], { cwd: folder })).status).toBe(0)
  })
})

function copyOf({ folder }: Scene): string {
  const copy = temporaryDirectory()
  cpSync(folder, copy, { recursive: true })
  return copy
}

describe('snapshot writes nothing', () => {
  test.each<[string, string[], RegExp]>([
    ['over another file', ['--out', 'zonewright.yaml'], /error\[file-exists\] zonewright\.yaml exists and is not a snapshot/],
    ['without --out', [], /snapshot needs --out <file> \(/],
    ['with a key as text', ['--out', 'new.json', '--sign-key', 'aaaa'], /error\[snapshot-signature\] --sign-key is not a reference/],
    ['without its key', ['--out', 'new.json', '--sign-key', 'env:SIGN'], /error\[secret-missing\] --sign-key: .* SIGN is not set/],
  ])('%s', async (_, args, expected) => {
    const folder = temporaryDirectory()
    writeFileSync(join(folder, 'zonewright.yaml'), 'providers: {cloud: {type: cloud, preset: linode, token: env:T}}\n')
    const before = filesBelow(folder)
    expect(await cli(['snapshot', ...args], { cwd: folder })).toMatchObject({ status: 1, stderr: expect.stringMatching(expected) })
    expect(filesBelow(folder)).toEqual(before)
  })

  async function expectNothingWritten(scene: FolderScene, expected: RegExp): Promise<void> {
    const before = scene.files()
    expect(await scene.run('snapshot', '--out', 'new.json')).toMatchObject({ status: 1, stderr: expect.stringMatching(expected) })
    expect(scene.files()).toEqual(before)
  }

  test('if a zone cannot be read', async () => {
    const fault: FaultChoice = ({ kind }) => (kind === 'read' ? { kind: 'refused', code: 'provider-forbidden', message: '' } : null)
    const scene = openScene({ zones: { 'example.com': '' }, fault })
    await expectNothingWritten(scene, /error\[provider-forbidden\][\s\S]*new\.json was not written\./)
  })

  test('if an inventory cannot be read', async () => {
    const scene = await openServiceScene({
      files: { 'zones/example.com.yaml': `${ZONE}  pool: {type: A, from: {instances: {tag: web}}}\n` },
      script: ({ path }) => (path.includes('/instances') ? { status: 403, body: '{}' } : null),
    })
    await expectNothingWritten(scene, /error\[inventory-unreadable\][\s\S]*new\.json was not written\./)
  })

  test('if a live record contains a secret', async () => {
    const scene = await openLiveScene()
    scene.memory.add('example.com', `leak TXT ${TOKEN}`)
    await expectNothingWritten(scene, /error\[secret-exposed\] new\.json would contain the secret of providers\.cloud\.token/)
  })
})
