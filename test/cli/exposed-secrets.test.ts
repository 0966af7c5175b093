/** A loaded secret never appears in definitions, output, saved plans, journals or requests. */
import { describe, expect, test } from 'vitest'
import { startProgram } from '../support/built-program.ts'
import { type CliResult, expectEnd } from '../support/cli.ts'
import type { Script } from './recording-proxy.ts'
import { openScene, type Scene, TOKEN } from './scene.ts'
import { openWireScene } from './service-scene.ts'

const PLAN_KEY = 'Plan/Key+5b0c94e1d7a25b0c94e1d7a2'
const LONG = 'Q7xZ'.repeat(80)
const BASE64 = (text: string, before = ''): string => Buffer.from(`${before}${text}`).toString('base64')

const definition = (records: string, settings = ''): string =>
  `domain: example.com\nsoa_email: a@example.com\n${settings}records:\n  w: {type: A, value: 192.0.2.1}\n${records}`
const txt = (value: string, comment = ''): string => definition(`  t: {type: TXT, value: '${value}'}${comment}\n`)
const zoneFile = (data: string): string => `$ORIGIN example.com.\nw 60 A 192.0.2.1\nt 60 TXT ${data}\n`
const strings = (text: string): string => (text.match(/.{1,255}/g) ?? []).map((one) => `"${one}"`).join(' ')
const escaped = (text: string): string => [...text].map((one) => `\\${String(one.charCodeAt(0)).padStart(3, '0')}`).join('')

interface Leak {
  readonly name: string
  readonly files: Readonly<Record<string, string>>
  /** The position of the secret. */
  readonly at: string
}

const YAML = 'zones/example.com.yaml'
const ZONE = 'zones/example.com.zone'

const LEAKS: readonly Leak[] = [
  { name: 'a value', files: { [YAML]: txt(TOKEN) }, at: `${YAML}:5:1` },
  { name: 'a comment', files: { [YAML]: txt('x', ` # ${TOKEN}`) }, at: `${YAML}:5:1` },
  { name: 'a name', files: { [YAML]: definition(`  ${TOKEN}: {type: A, value: 192.0.2.1}\n`) }, at: `${YAML}:5:1` },
  { name: 'a setting', files: { [YAML]: definition('', `tags: [a, ${TOKEN}]\n`) }, at: `${YAML}:3:1` },
  { name: 'the plan key', files: { [YAML]: txt(PLAN_KEY) }, at: `${YAML}:5:1` },
  { name: 'base64', files: { [YAML]: txt(BASE64(TOKEN)) }, at: `${YAML}:5:1` },
  { name: 'base64 after two octets', files: { [YAML]: txt(BASE64(TOKEN, 'u:')) }, at: `${YAML}:5:1` },
  { name: 'strings of 255 octets in base64', files: { [ZONE]: zoneFile(strings(BASE64(LONG))) }, at: `${ZONE}:3:` },
  { name: 'escapes of a zone file', files: { [ZONE]: zoneFile(escaped(TOKEN)) }, at: `${ZONE}:3:` },
  { name: 'escapes of YAML', files: { [YAML]: definition(`  t: {type: TXT, value: "\\x7a${TOKEN.slice(1)}"}\n`) }, at: `${YAML}:5:` },
  {
    name: 'two variables with half of the secret each',
    files: {
      [YAML]: definition('', `include: [{file: ../f.yaml, with: {a: ${TOKEN.slice(0, 9)}, b: ${TOKEN.slice(9)}}}]\n`),
      'f.yaml': `t: {type: TXT, value: "\${a}\${b}"}\n`,
    },
    at: 'f.yaml:1:',
  },
  { name: 'an included file', files: { [YAML]: definition('', 'include: [../f]\n'), f: `t: {type: TXT, value: ${TOKEN}}\n` }, at: 'f:1' },
  { name: '$INCLUDE', files: { [ZONE]: '$ORIGIN example.com.\n$INCLUDE f\n', 'zones/f': `t 60 TXT ${TOKEN}\n` }, at: 'zones/f:1' },
  { name: 'an invalid record', files: { [YAML]: definition(`  t: {type: A, value: ${TOKEN}}\n`) }, at: `${YAML}:5:1` },
]

const ENV = { ZONEWRIGHT_TOKEN: TOKEN, ZONEWRIGHT_PLAN_KEY: PLAN_KEY, LONG, OTHER: undefined as string | undefined }

describe('a program that makes a secret of two halves', () => {
  const secret = `'${TOKEN.slice(0, 9)}' + '${TOKEN.slice(9)}'`
  const zone = (record: string) => `import { TXT, zone } from 'zonewright/definition'\nzone('a.example', {}, [${record}])\n`
  test.each([
    ['zones/a.ts', zone(`TXT('t', ${secret})`)],
    ['zones/a.ts', zone(`TXT(${secret}, 'x')`)],
    ['zones/a.ts', zone(`TXT('t', 'x', { owner: ${secret} })`)],
    ['zones/a.ts', zone(`TXT('t', 'x', { [${secret}]: 1 })`)],
    ['zones/a.ts', `console.log(${secret})\n${zone('')}`],
    ['zones/a.ts', `throw new Error(${secret})`],
    ['dnsconfig.js', `D('a.example', NewRegistrar('none'), DnsProvider(NewDnsProvider('cloud')), TXT('t', ${secret}))`],
    ['dnsconfig.js', `console.log(${secret})`],
    ['dnsconfig.js', `D('a.example', NewRegistrar('none'), DnsProvider(NewDnsProvider(${secret})))`],
  ])('%s: %s', async (file, text) => {
    const scene = openScene({ files: { [file]: text }, config: `zones: [{files: ${file}}]\n` })
    for (const command of [['validate', '--format', 'json'], ['render'], ['apply', '--yes']]) await scene.runWith(ENV, ...command)
    expectNoSecret(JSON.stringify(scene.memory.writes()), { ...scene.files(), [file]: '' })
  })
})

/** Expects no secret in output or files, in any letter case. */
function expectNoSecret(output: string, files: Readonly<Record<string, string>>, secrets: readonly string[] = [TOKEN, PLAN_KEY, LONG]) {
  const all = [output, ...Object.values(files)].join('\n').toLowerCase()
  for (const secret of secrets)
    for (const form of [secret, BASE64(secret)]) expect.soft(all).not.toContain(form.toLowerCase().replace(/=+$/, ''))
}

describe('in a definition, before the first request:', () => {
  const config = "providers:\n  other: {type: cloud, base_url: 'http://127.0.0.1:9/v4', token: 'env:LONG'}\n"

  async function expectRefused({ files, at }: Leak, start: (scene: Scene, ...args: string[]) => Promise<CliResult>): Promise<void> {
    const scene = openScene({ files, also: ['other'], config: 'zones: [{targets: [cloud]}]\n' })
    scene.write({ 'zonewright.yaml': scene.config().replace('providers:\n', config) })
    const before = scene.files()
    const { status, stdout, stderr } = await start(scene, 'apply', '--yes', '--verbose')
    expect.soft(status).toBe(1)
    expect.soft(stdout + stderr).toContain('contains the secret of ')
    expect.soft(stdout + stderr).toContain(at)
    expectNoSecret(stdout + stderr, {})
    expect.soft(scene.memory.requests).toEqual([])
    expect.soft(scene.files()).toEqual(before)
  }

  test.each(LEAKS)('$name', (leak) => expectRefused(leak, (scene, ...args) => scene.runWith(ENV, ...args)))

  test('as a process', () =>
    expectRefused(LEAKS[0] as Leak, async ({ folder }, ...args) => {
      const program = await startProgram(args, { cwd: folder, env: ENV })
      const { status } = await program.ended
      return { status: status ?? -1, stdout: program.stdout(), stderr: program.stderr() }
    }))
})

describe('every command that reads definitions', () => {
  test.each([
    ['validate', ['validate', '--verbose']],
    ['validate as JSON', ['validate', '--format', 'json']],
    ['plan', ['plan', '--verbose']],
    ['plan to a file', ['plan', '--out', 'plan.json', '--format', 'json']],
    ['verify', ['verify', '--verbose']],
    ['export', ['export', 'csv']],
    ['export to a file', ['export', 'zonefile', '--ns', 'ns.example.net', '-o', 'out']],
    ['fmt', ['fmt']],
    ['record', ['record', 'add', 'example.com', 'x', 'A', '192.0.2.7']],
  ])('%s', async (_, command) => {
    const scene = openScene({ files: { [YAML]: txt(TOKEN) } })
    const before = scene.files()
    const { stdout, stderr } = expectEnd(await scene.run(...command), 1)
    expect(stdout + stderr).toContain('secret-exposed')
    expect(scene.memory.requests).toEqual([])
    expect(scene.files()).toEqual(before)
  })

  test('record does not write one', async () => {
    const scene = openScene()
    const before = scene.files()
    expectEnd(await scene.run('record', 'add', 'example.com', 'x', 'TXT', TOKEN, '--verbose'), 1, { err: 'error[secret-exposed]' })
    expect(scene.files()).toEqual(before)
  })

  test('import does not write one', async () => {
    const scene = openScene({ files: { 'from/example.net.zone': zoneFile(TOKEN).replace('com', 'net') } })
    const before = scene.files()
    for (const more of [[], ['-o', 'out']])
      expectEnd(await scene.run('import', 'zonefile', 'from', ...more), 1, { err: 'from/example.net.zone:3:1: error[secret-exposed]' })
    expect(scene.files()).toEqual(before)
  })

  test.each([
    ['a zone', ['plan', TOKEN]],
    ['a value', ['record', 'add', 'example.com', 'x', 'A', TOKEN]],
    ['a file', ['validate', `zones/${TOKEN}.yaml`]],
  ])('redacts a message about %s of the command line, and fails', async (_, command) => {
    const scene = openScene()
    const { status, stdout, stderr } = await scene.run(...command)
    expect([status, stdout]).toEqual([1, command[0] === 'validate' ? '' : stdout])
    expect(stderr).toContain('secret-exposed')
  })

  test('ignores secrets with fewer than 8 characters', async () => {
    const scene = openScene({ files: { [YAML]: txt('short67') } })
    expect((await scene.runWith({ ZONEWRIGHT_PLAN_KEY: 'short67' }, 'plan')).status).toBe(0)
  })
})

describe('live data', () => {
  /** The config with a second provider, whose token is OTHER. */
  const withOther = (scene: Scene): string =>
    scene.config().replace('providers:\n', "providers:\n  other: {type: cloud, preset: linode, token: 'env:OTHER'}\n")
  const OTHER = 'other-secret-77aa88bb99cc'
  /** An applied zone with a record that is a secret as soon as OTHER is set. */
  async function leaked(): Promise<Scene> {
    const scene = openScene({ files: { [YAML]: `${txt(OTHER)}targets: [cloud]\n` }, also: ['other'] })
    scene.write({ 'zonewright.yaml': withOther(scene) })
    expect((await scene.run('apply', '--yes')).status).toBe(0)
    scene.write({ [YAML]: `${txt('harmless')}targets: [cloud]\n` })
    expect((await scene.run('plan', '--out', 'plan.json')).status).toBe(0)
    return scene
  }
  const PLACE = 't.example.com. TXT at cloud contains the secret of providers.other.token'

  test.each([
    ['plan', ['plan', '--verbose']],
    ['plan as JSON, saved', ['plan', '--format', 'json', '--out', 'next.json']],
    ['apply', ['apply', '--yes']],
    ['a saved plan', ['apply', 'plan.json', '--yes']],
  ])('%s fails', async (_, command) => {
    const scene = await leaked()
    const before = scene.files()
    const mutations = scene.memory.writes().length
    const { stdout, stderr } = expectEnd(await scene.runWith({ OTHER }, ...command), 1)
    expect(stdout + stderr).toMatch(/secret-exposed/)
    expect(stdout + stderr).toContain(PLACE)
    expectNoSecret(stdout + stderr, {}, [OTHER])
    expect(scene.memory.writes().length).toBe(mutations)
    expect(scene.files()).toEqual(before)
  })

  test('rollback fails before it restores a secret', async () => {
    const scene = await leaked()
    expect((await scene.run('apply', '--yes')).status).toBe(0)
    const mutations = scene.memory.writes().length
    const { stdout, stderr } = expectEnd(await scene.runWith({ OTHER }, 'rollback', '--last', '--yes'), 1, { err: PLACE })
    expectNoSecret(stdout + stderr, {}, [OTHER])
    expect(scene.memory.writes().length).toBe(mutations)
  })

  test('history does not show a run with a secret', async () => {
    const scene = await leaked()
    for (const format of ['text', 'json']) {
      const { status, stdout, stderr } = await scene.runWith({ OTHER }, 'history', '--last', '--format', format)
      expect([status, stdout]).toEqual([1, ''])
      expect(stderr).toContain('error[secret-exposed] standard output would contain the secret of providers.other.token')
    }
  })

  test('import from a provider writes no secret', async () => {
    const scene = await leaked()
    const before = scene.files()
    const { stderr } = expectEnd(await scene.runWith({ OTHER }, 'import', '--from', 'cloud', '-o', 'out'), 1, {
      err: 'error[secret-exposed] t.example.com. TXT contains the secret of providers.other.token',
      out: '',
    })
    expectNoSecret(stderr, {}, [OTHER])
    expect(scene.files()).toEqual(before)
  })

  test('a plan with another secret removes the record', async () => {
    const scene = await leaked()
    expect((await scene.runWith({ OTHER: 'a-new-secret-112233' }, 'apply', '--yes')).status).toBe(0)
    expect((await scene.runWith({ OTHER }, 'plan')).status).toBe(0)
  })
})

describe('a server that repeats the token', () => {
  const repeating: Script = ({ headers }) => {
    const reason = `bad header: ${headers['authorization']}, or ${BASE64(TOKEN)}, or ${TOKEN.toUpperCase()}`
    return { status: 400, body: JSON.stringify({ errors: [{ field: null, reason }] }) }
  }

  test.each([
    ['plan', ['plan', '--verbose']],
    ['apply', ['apply', '--yes', '--format', 'json']],
    ['doctor', ['doctor']],
  ])('%s', async (_, command) => {
    const scene = await openWireScene(repeating)
    const { stdout, stderr } = expectEnd(await scene.run(...command), 1)
    expect(stdout + stderr).toContain('bad header: Bearer ***, or ***')
    expect(stdout + stderr).not.toContain('secret-exposed')
  })

  test('in the response to a change: the journal contains the failure without the token', async () => {
    const none = { headers: { 'content-type': 'application/json' }, body: '{"data":[],"page":1,"pages":1,"results":0}' }
    const scene = await openWireScene((request) => (request.method === 'GET' ? none : repeating(request)))
    expectEnd(await scene.run('apply', '--yes'), 1, { out: 'bad header: Bearer ***, or ***' })
    const journal = Object.entries(scene.files()).filter(([path]) => path.startsWith('.zonewright/runs/'))
    expect(journal.map(([, text]) => text).join('')).toContain('bad header: Bearer ***, or ***')
    expectNoSecret('', Object.fromEntries(journal))
  })
})
