/** Two people approve a plan, and what is applied is something else: a changed file, another plan, an old approval, a key that no longer counts. */
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseOpenSshKey, signaturesIn, signerFinder, signText } from '../../src/stored/approvals/openssh.ts'
import { checksumOf, planFileText, signatureOf } from '../../src/stored/plans/plan-json.ts'
import { openScene, type Scene, ZONE, zoneFiles } from '../cli/scene.ts'
import { expectEnd } from '../support/cli.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

const PEOPLE = ['alice', 'bob', 'carol', 'mallory'] as const

/** The folder of the private keys, and the public ones. */
const keys = temporaryDirectory()
const keyOf = (name: string): string => join(keys, name)
const publicKey = (name: string): string => readFileSync(`${keyOf(name)}.pub`, 'utf8').trim()

const sshKeygen = (args: readonly string[], input = ''): string =>
  execFileSync('ssh-keygen', args, { input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'] })

const listOf = (names: readonly string[]): string => names.map((name) => `    ${name}: '${publicKey(name)}'\n`).join('')

const approvals = (names: readonly string[] = ['alice', 'bob', 'carol'], needed = 2, more = ''): string =>
  `approvals:\n  needed: ${needed}\n${more}  keys:\n${listOf(names)}`

/** A scene whose zone is live, with a plan of a changed address in `plan.json`. */
async function plannedScene(): Promise<Scene> {
  const scene = openScene()
  expect((await scene.run('apply', '--yes')).status).toBe(0)
  scene.write({ 'zonewright.yaml': scene.config() + approvals(), 'zones/example.com.yaml': ZONE.replace('192.0.2.2', '192.0.2.66') })
  expect((await scene.run('plan', '--out', 'plan.json')).stderr).toContain('It needs 2 approvals: zonewright approve plan.json --key FILE.')
  return scene
}

const approve = (scene: Scene, name: string, ...more: string[]) => scene.run('approve', 'plan.json', '--key', keyOf(name), '--yes', ...more)

async function approvedScene(): Promise<Scene> {
  const scene = await plannedScene()
  for (const name of ['alice', 'bob']) expect(await approve(scene, name)).toMatchObject({ status: 0 })
  return scene
}

/** Applies, and expects a refusal before any request that writes. */
async function expectRefused(scene: Scene, message: RegExp, ...args: string[]): Promise<void> {
  const before = scene.memory.writes().length
  expectEnd(await scene.run(...(args.length > 0 ? args : ['apply', 'plan.json', '--yes'])), 3, { err: [message, 'Nothing was applied.'] })
  expect(scene.memory.writes()).toHaveLength(before)
}

const read = (scene: Scene, file = 'plan.json'): string => readFileSync(join(scene.folder, file), 'utf8')

/** A plan file with a change that its seals cover, as somebody with access to the file and the plan key can make it. */
function resealed(text: string, change: (text: string) => string): string {
  const document = JSON.parse(change(text))
  const { checksum: _, ...rest } = document
  return planFileText({ ...document, checksum: checksumOf(rest) })
}

describeWithTools(['ssh-keygen'], 'a plan that changes after its approval', () => {
  let saved: string | undefined
  for (const name of PEOPLE) sshKeygen(['-q', '-t', 'ed25519', '-N', '', '-C', `${name}@example.com`, '-f', keyOf(name)])

  test('two people approve, also at once, and the plan is applied once', async () => {
    const scene = await plannedScene()
    await expectRefused(
      scene,
      /^error\[not-approved\] plan\.json needs 2 approvals and has none: 2 are missing, and alice, bob and carol can approve \(zonewright approve plan\.json --key FILE\)$/m,
    )
    const both = await Promise.all([approve(scene, 'alice'), approve(scene, 'bob')])
    expect(both.map(({ status }) => status)).toEqual([0, 0])
    expect(both[0].stdout).toContain('192.0.2.66')
    expect(both[0].stderr).toMatch(/^alice approves plan\.json, in plan\.json\.approvals\/alice\.sig\. Approvals: .*; needed: 2\.$/m)
    for (const { stdout, stderr } of both) expect(stdout + stderr).not.toContain('PRIVATE')
    // As files of a CI artifact, in another folder.
    const copy = temporaryDirectory()
    for (const name of ['plan.json', 'plan.json.approvals']) cpSync(join(scene.folder, name), join(copy, name), { recursive: true })
    expect(await scene.run('apply', join(copy, 'plan.json'), '--yes')).toMatchObject({ status: 0 })
    await expectRefused(scene, /error\[plan-stale\]/)
    expect((await scene.run('history', '--last')).stdout).toMatch(/^ {2}approved by +alice, bob$/m)
    const history = JSON.parse((await scene.run('history', '--format', 'json')).stdout)
    expect(history.runs.map((run: { approvedBy: string[] }) => run.approvedBy)).toEqual([['alice', 'bob'], []])
  })

  test('an edited value invalidates the approvals, even if the file is sealed again', async () => {
    const scene = await approvedScene()
    const text = read(scene)
    const fingerprintFree = resealed(text, (one) => one.replaceAll('192.0.2.66', '192.0.2.67'))
    scene.write({ 'plan.json': text.replaceAll('192.0.2.66', '192.0.2.67') })
    expectEnd(await scene.run('apply', 'plan.json', '--yes'), 1, { err: 'error[plan-file-changed]' })
    scene.write({ 'plan.json': fingerprintFree })
    await expectRefused(scene, /has none \(not counted: 2 signatures of something else\): 2 are missing/)
  })

  test.each([
    ['a base URL', /"address": "http/, '"address": "https'],
    ['the time', /"created": "2/, '"created": "3'],
    ['a lifted limit', /"refusals": \[\]/, '"refusals": [{"name": "deletes"}]'],
    ['the result of policies', /"diagnostics": \[\]/, '"diagnostics": [{}]'],
    ['a name', /example\.com/, 'example.net'],
    ['a blank', /$/, ' '],
  ])('an approval covers %s', async (_, pattern, replacement) => {
    saved ??= read(await plannedScene())
    const text = saved
    const key = parseOpenSshKey(readFileSync(keyOf('alice'), 'utf8'))
    if (!key.ok || key.value.privateKey === null) throw new Error('no key')
    const [signature = ''] = signaturesIn(signText(text, key.value.privateKey, key.value.publicKey.octets))
    expect(signerFinder(text)(signature)?.fingerprint).toBe(key.value.publicKey.fingerprint)
    expect(text).toMatch(pattern)
    expect(signerFinder(text.replace(pattern, replacement))(signature)).toBeNull()
  })

  test('a replaced state, and the approvals of another plan, do not count', async () => {
    const scene = await approvedScene()
    const former = read(scene)
    // Mallory changes the zone, and puts its state into the approved plan.
    scene.write({ 'zones/example.com.yaml': ZONE.replace('192.0.2.1}', '192.0.2.99}') })
    expect((await scene.run('plan', '--out', 'other.json')).status).toBe(0)
    scene.write({ 'plan.json': read(scene, 'other.json') })
    await expectRefused(scene, /needs 2 approvals and has none \(not counted: 2 signatures of something else\)/)
    const [zone] = JSON.parse(former).zones
    const state = resealed(former, (text) => {
      const document = JSON.parse(text)
      document.zones[0].state.records = [...zone.state.records].reverse()
      return JSON.stringify(document)
    })
    scene.write({ 'plan.json': state })
    await expectRefused(scene, /has none \(not counted: 2 signatures/)
    // The same changes, planned again, are another plan.
    scene.write({ 'zones/example.com.yaml': ZONE.replace('192.0.2.2', '192.0.2.66') })
    expect((await scene.run('plan', '--out', 'plan.json')).status).toBe(0)
    await expectRefused(scene, /has none \(not counted: 2 signatures/)
  })

  test('a removed key, a key that is not listed, and one person twice do not count', async () => {
    const scene = await approvedScene()
    const config = scene.config()
    const folder = join(scene.folder, 'plan.json.approvals')
    scene.write({ 'zonewright.yaml': config.replace(/ {4}bob: .*\n/, '') })
    await expectRefused(scene, /has 1, of alice \(not counted: by keys that the config does not list, SHA256:\S+\): 1 is missing/)
    scene.write({ 'zonewright.yaml': config, 'plan.json.approvals/bob.sig': readFileSync(join(folder, 'alice.sig'), 'utf8').repeat(3) })
    await expectRefused(scene, /has 1, of alice: 1 is missing, and bob and carol can approve/)
    const mallory = sshKeygen(['-Y', 'sign', '-q', '-n', 'zonewright-plan', '-f', keyOf('mallory')], read(scene))
    scene.write({ 'plan.json.approvals/bob.sig': mallory })
    await expectRefused(scene, /has 1, of alice \(not counted: by keys/)
    const refused = await approve(scene, 'mallory')
    expect(refused).toMatchObject({ status: 1, stderr: expect.stringMatching(/error\[approval-key\] the config does not list the key/) })
    expect(await approve(scene, 'carol')).toMatchObject({ status: 0 })
    // What is no file of a signature neither counts nor holds up.
    execFileSync('mkfifo', [join(folder, 'a-pipe.sig')])
    mkdirSync(join(folder, 'a-folder.sig'))
    symlinkSync('/dev/zero', join(folder, 'a-link.sig'))
    writeFileSync(join(folder, 'a-large.sig'), `${'-----BEGIN SSH SIGNATURE-----'.repeat(100_000)}\n`)
    expect(await scene.run('apply', 'plan.json', '--yes')).toMatchObject({ status: 0 })
  })

  test('a config that lists its own key does not count beside the trusted one', async () => {
    const scene = await plannedScene()
    const before = scene.memory.writes().length
    const base = scene.config()
    scene.write({ 'base.yaml': base, 'zonewright.yaml': base.replace(/approvals:[\s\S]*/, approvals(['mallory'], 1)) })
    expect(await approve(scene, 'mallory')).toMatchObject({ status: 0 })
    const trusting = ['--yes', '--trusted-config', 'base.yaml']
    await expectRefused(scene, /needs 2 approvals and has none \(not counted: by keys/, 'apply', 'plan.json', ...trusting)
    scene.write({ 'zonewright.yaml': base.replace(/approvals:[\s\S]*/, '') })
    await expectRefused(scene, /error\[not-approved\]/, 'apply', ...trusting)
    // An empty file is what a failed "git show" leaves.
    scene.write({ 'empty.yaml': '' })
    for (const [file, message] of [
      ['missing.yaml', 'missing.yaml'],
      ['empty.yaml', 'empty.yaml has no providers, so it is not the config of the base branch'],
      ['', 'error'],
    ] as const)
      expectEnd(await scene.run('apply', 'plan.json', '--yes', '--trusted-config', file), 1, { err: message })
    // Policies stay in force if none are beside the trusted config.
    const apart = join(temporaryDirectory(), 'base.yaml')
    writeFileSync(apart, base.replace(/approvals:[\s\S]*/, ''))
    scene.write({ 'policies/rules.yaml': '- name: none\n  each: record_set\n  require: false\n  message: no record set\n' })
    expectEnd(await scene.run('apply', 'plan.json', '--yes', '--trusted-config', apart), 1, { err: 'error[policy-none]' })
    expect(scene.memory.writes()).toHaveLength(before)
  })

  test('ssh-keygen verifies an approval, and its signatures are approvals', async () => {
    const scene = await plannedScene()
    expect(await approve(scene, 'alice')).toMatchObject({ status: 0 })
    writeFileSync(join(keys, 'allowed'), `alice ${publicKey('alice')}\n`)
    const signature = join(scene.folder, 'plan.json.approvals/alice.sig')
    const check = ['-Y', 'verify', '-f', join(keys, 'allowed'), '-I', 'alice', '-n', 'zonewright-plan', '-s', signature]
    expect(sshKeygen(check, read(scene))).toContain('Good "zonewright-plan" signature for alice')
    expect(() => sshKeygen(check, `${read(scene)} `)).toThrow()
    // For another purpose it is no approval.
    scene.write({ 'plan.json.approvals/bob.sig': sshKeygen(['-Y', 'sign', '-q', '-n', 'git', '-f', keyOf('bob')], read(scene)) })
    await expectRefused(scene, /has 1, of alice \(not counted: 1 signature of something else\)/)
    const sign = ['-Y', 'sign', '-q', '-O', 'hashalg=sha256', '-n', 'zonewright-plan', '-f', keyOf('bob')]
    scene.write({ 'plan.json.approvals/bob.sig': sshKeygen(sign, read(scene)) })
    expect(await scene.run('apply', 'plan.json', '--yes', '--format', 'json')).toMatchObject({ status: 0 })
  })

  test('a key that others can read, with a passphrase or of another type is refused; its octets never appear', async () => {
    const scene = await plannedScene()
    const key = (name: string, ...args: string[]): string => {
      const path = join(scene.folder, name)
      if (args.length > 0) sshKeygen(['-q', '-C', '', '-f', path, ...args])
      else writeFileSync(path, readFileSync(keyOf('alice')), { mode: 0o600 })
      return path
    }
    const open = key('open')
    chmodSync(open, 0o640)
    key('locked', '-t', 'ed25519', '-N', 'a passphrase')
    key('rsa', '-t', 'rsa', '-b', '2048', '-N', '')
    key('damaged')
    const text = readFileSync(open, 'utf8')
    writeFileSync(join(scene.folder, 'damaged'), text.replace(/\n[^\n]+\n-----END/, '\nAAAA\n-----END'))
    for (const [name, message] of [
      ['open', 'can be read by other users (mode 640): close it with "chmod 600"'],
      [
        'locked',
        'is protected by a passphrase, which only ssh-keygen can ask for\n  hint: mkdir -p plan.json.approvals && ssh-keygen -Y sign -n zonewright-plan -f locked < plan.json > plan.json.approvals/NAME.sig',
      ],
      ['rsa', 'is a key of the type ssh-rsa, not ssh-ed25519'],
      ['damaged', 'is damaged: it does not contain a private key of OpenSSH'],
      ['rsa.pub', 'can be read by other users'],
      ['plan.json', 'is not a private key'],
      ['absent', 'does not exist'],
    ] as const) {
      const { status, stdout, stderr } = await scene.run('approve', 'plan.json', '--key', name, '--yes')
      expect(stderr).toContain(`error[approval-key] --key: ${name} ${message}`)
      expect(status).toBe(1)
      for (const line of text.split('\n').slice(1, -2)) expect(stdout + stderr).not.toContain(line)
    }
    expect(Object.keys(scene.files())).not.toContain('plan.json.approvals/alice.sig')
    expect((await scene.run('approve', 'plan.json', '--key', keyOf('alice'))).stderr).toContain('error[not-confirmed] nothing was approved')
  })

  test('apply without a plan file, rollback and copy need a saved plan; a saved rollback can be approved', async () => {
    const scene = await approvedScene()
    await expectRefused(scene, /error\[not-approved\] these changes need 2 approvals, and only a saved plan/, 'apply', '--yes')
    await expectRefused(scene, /error\[not-approved\] .*stages cannot be approved/, 'apply', '--yes', '--choreograph')
    const first = ['plan.json', 'plan.json.approvals'].map((name) => [name, name.replace('plan', 'first')] as const)
    for (const [from, to] of first) cpSync(join(scene.folder, from), join(scene.folder, to), { recursive: true })
    expect(await scene.run('apply', 'plan.json', '--yes')).toMatchObject({ status: 0 })
    await expectRefused(scene, /save the rollback with "--out plan\.json"/, 'rollback', '--last', '--yes')
    expectEnd(await scene.run('rollback', '--last', '--out', 'plan.json'), 0, { out: '192.0.2.2' })
    await expectRefused(scene, /has none \(not counted: 2 signatures/)
    for (const name of ['alice', 'carol']) expect(await approve(scene, name)).toMatchObject({ status: 0 })
    expect(await scene.run('apply', 'plan.json', '--yes')).toMatchObject({ status: 0 })
    scene.write({ 'zones/example.com.yaml': ZONE })
    // The zone is as it was when the first plan was made and approved.
    await expectRefused(scene, /error\[plan-outdated\]/, 'apply', 'first.json', '--yes')
    // Nothing to change needs no approval.
    expect(await scene.run('apply', '--yes')).toMatchObject({ status: 0 })
  })

  test('copy, cutover and import --clone change no zone that needs approvals; a saved copy can be approved', async () => {
    const scene = openScene({
      config: 'zones: [{files: zones/*.yaml, targets: [cloud]}]\n',
      files: { 'zones/example.com.yaml': ZONE.replace('records:', 'refresh_sec: 4h\nretry_sec: 4h\nexpire_sec: 14d\nrecords:') },
    })
    const config = scene.config().replace(/^providers:\n/, 'providers:\n  files: {type: zonefile, directory: served}\n')
    scene.write({ 'zonewright.yaml': config, 'served/readme': '' })
    expect((await scene.run('apply', '--yes')).status).toBe(0)
    scene.write({ 'zonewright.yaml': `${config}${approvals(['alice', 'bob'], 2)}` })
    const before = scene.memory.writes().length
    const copy = ['copy', '--from', 'cloud', '--to', 'files', 'example.com', '--apex-ns', 'ns1.example.net']
    await expectRefused(scene, /error\[not-approved\] .*save the copy with "--out plan\.json"/, ...copy, '--yes')
    for (const args of [
      ['cutover', 'example.com', '--from', 'cloud', '--to', 'files', '--yes'],
      ['cutover', 'example.com', '--from', 'cloud', '--to', 'files', '--abort', '--yes'],
      ['import', '--from', 'cloud', '--clone', 'example.com', 'other.example', '--yes'],
    ])
      expectEnd(await scene.run(...args), 3, { err: 'error[not-approved]' })
    const served = () => Object.keys(scene.files()).filter((file) => file.startsWith('served'))
    const before2 = served()
    expect(await scene.run(...copy, '--out', 'plan.json')).toMatchObject({ status: 0 })
    expect(served()).toEqual(before2)
    for (const name of ['alice', 'bob']) expect(await approve(scene, name)).toMatchObject({ status: 0 })
    expect(await scene.run('apply', 'plan.json', '--yes')).toMatchObject({ status: 0 })
    expect(Object.keys(scene.files()).some((file) => file.startsWith('served/'))).toBe(true)
    expect(scene.memory.writes()).toHaveLength(before)
  })

  test('a zone can need none; a plan needs as many as the zone that needs most', async () => {
    const scene = openScene({ files: zoneFiles(['example.com', 'lab.example']) })
    const config = scene.config()
    scene.write({ 'zonewright.yaml': `${config}${approvals(['alice', 'bob'], 1, "  zones:\n    - {zone: 'lab.*', needed: 0}\n")}` })
    expect(await scene.run('apply', 'lab.example', '--yes')).toMatchObject({ status: 0 })
    await expectRefused(scene, /these changes need 1 approval,/, 'apply', '--yes')
    mkdirSync(join(scene.folder, 'plan.json.approvals'))
    expectEnd(await scene.run('conformance', 'example.com', '--delete-records'), 3, { err: 'error[not-approved]' })
    const moved = await scene.run('cutover', 'example.com', '--from', 'cloud', '--to', 'cloud', '--yes')
    expect(moved).toMatchObject({ status: 3, stderr: expect.stringMatching(/error\[not-approved\] .*no plan of all steps can be saved/) })
  })

  test('a plan key and approvals go together', async () => {
    const scene = await plannedScene()
    const env = { ZONEWRIGHT_PLAN_KEY: 'a-key-of-plans-0123456789' }
    expect((await scene.runWith(env, 'plan', '--out', 'plan.json')).status).toBe(0)
    for (const name of ['alice', 'bob'])
      expect(await scene.runWith(env, 'approve', 'plan.json', '--key', keyOf(name), '--yes')).toMatchObject({ status: 0 })
    const document = JSON.parse(read(scene))
    expect(document.signature).toBe(signatureOf(document, env.ZONEWRIGHT_PLAN_KEY))
    expect(await scene.runWith(env, 'apply', 'plan.json', '--yes')).toMatchObject({ status: 0 })
  })
})
