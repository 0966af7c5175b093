/** Common mistakes: the message explains the error and the correction. */
import { rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { DIAGNOSTIC_CODES } from '../../src/dns/diagnostic-codes.ts'
import { isLint } from '../../src/dns/suppression.ts'
import { cli, expectEnd } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { openScene, ZONE, zoneOf } from './scene.ts'
import { openWireScene } from './service-scene.ts'

const HEAD = 'domain: example.com\nsoa_email: hostmaster@example.com\n'

describe('in a definition', () => {
  test.each([
    ['an IPv6 address for A', `${ZONE}  x: {type: A, value: '2001:db8::1'}\n`, '"2001:db8::1" is an IPv6 address, not an IPv4 one'],
    ['an IPv4 address for AAAA', `${ZONE}  x: {type: AAAA, value: 192.0.2.1}\n`, '"192.0.2.1" is an IPv4 address, not an IPv6 one'],
    ['MX with an address', `${ZONE}  x: {type: MX, value: {preference: 1, exchange: 192.0.2.1}}\n`, '"192.0.2.1" is an address, but'],
    ['a TTL of ages', `${ZONE}  x: {type: A, ttl: 99999999999, value: 192.0.2.1}\n`, '99999999999 is more than the largest TTL'],
    ['a record beside "records:"', `${HEAD}records:\nwww: {type: A, value: 192.0.2.1}\n`, '(Move the record below "records:"'],
    ['records beside "records:"', `${HEAD}www: [{type: A, value: 192.0.2.1}]\n`, '(Move the record below "records:" and indent it.)'],
    ['merge conflict markers', `${ZONE}<<<<<<< HEAD\n  x: 1\n=======\n>>>>>>> b\n`, ':7:1: error[yaml-syntax] the file has an unresolved'],
  ])('%s', async (_, text, message) => {
    const scene = openScene({ files: { 'zones/example.com.yaml': text } })
    expectEnd(await scene.run('validate'), 1, { out: message })
  })

  test('UTF-16', async () => {
    const scene = openScene()
    writeFileSync(join(scene.folder, 'zones/example.com.yaml'), Buffer.from(`\ufeff${ZONE}`, 'utf16le'))
    expect((await scene.run('validate')).stdout).toContain('is not UTF-8 text but UTF-16 (save it as UTF-8)\n')
  })
})

test('every command that reads definitions warns once of one that no rule matches', async () => {
  const scene = openScene({ config: 'zones: [{files: zones/example.com.yaml}]' })
  scene.write({ 'zones/example.net.yaml': zoneOf('example.net') })
  const record = 'record add example.com new A 192.0.2.3'
  for (const command of ['validate', 'plan', 'apply --yes', 'verify', 'fmt --check', 'export json', record]) {
    const { stdout, stderr } = await scene.run(...command.split(' '))
    const lines = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('definition-unmatched'))
    expect([command, lines]).toEqual([command, [expect.stringContaining('1 definition has no rule')]])
  }
  // Its report has checks, not codes.
  expect((await scene.run('doctor')).stdout.match(/1 definition has no rule/g)).toHaveLength(1)
})

describe('on the command line', () => {
  test.each([
    ['zones/example.org.yaml', 'zones/example.org.yaml cannot be read (does it exist?'],
    ['*.net', '("zonewright zones" lists them)'],
    ['other.test', '(the zones are example.com.)'],
  ])('a zone named %s', async (zone, message) => {
    const scene = openScene()
    expect((await scene.run('plan', zone)).stderr).toContain(message)
  })

  test('shows a path outside the folder unchanged', async () => {
    const scene = openScene()
    expectEnd(await scene.run('validate', '/nowhere.yaml'), 1, { out: /^error\[file-unreadable\] \/nowhere\.yaml does not exist\n/ })
  })
})

describe('in the config', () => {
  test('another file extension', async () => {
    const scene = openScene()
    const folder = join(scene.folder, 'elsewhere')
    scene.write({ 'elsewhere/zonewright.yml': 'providers: {}\n', 'elsewhere/zones/x': '' })
    rmSync(join(scene.folder, 'zonewright.yaml'))
    expectEnd(await cli(['plan'], { cwd: join(folder, 'zones') }), 1, { err: '(rename ../zonewright.yml, or name it with -c)' })
  })

  test('a config of octoDNS', async () => {
    const scene = openScene()
    scene.write({ 'zonewright.yaml': 'providers: {config: {class: octodns.provider.yaml.YamlProvider, directory: zones}}\n' })
    expect((await scene.run('plan')).stderr).toContain('("class" belongs to octoDNS: import its configuration')
  })

  test('a file instead of the journal folder', async () => {
    const scene = openScene({ config: 'journal: taken\n' })
    scene.write({ taken: '' })
    expectEnd(await scene.run('apply', '--yes'), 1, { err: /error\[journal-failed\] the journal in .* cannot be written: a file/ })
    expect(scene.memory.writes()).toEqual([])
  })

  test('https for an http server', async () => {
    const scene = await openWireScene(() => null)
    scene.write({ 'zonewright.yaml': scene.config().replace(scene.proxy.origin, scene.proxy.origin.replace('http:', 'https:')) })
    expectEnd(await scene.run('plan'), 1, { err: '(the server does not use TLS at that port' })
  })
})

test('annotations use paths relative to the root of the repository', async () => {
  const scene = openScene({ files: { 'zones/example.com.yaml': `${ZONE}  x: {type: A, value: 192.0.2}\n` } })
  const place = (folder: string): string => `::error file=${folder}zones/example.com.yaml,line=7,col=23,title=value-invalid::`
  for (const [root, folder] of [
    [scene.folder, ''],
    [dirname(scene.folder), `${basename(scene.folder)}/`],
    ['/nowhere', ''],
    [undefined, ''],
  ] as const) {
    for (const command of ['validate', 'plan', 'verify']) {
      const { stdout } = await scene.runWith({ GITHUB_WORKSPACE: root }, command, '--format', 'github')
      expect(stdout, `${command} ${root}`).toContain(place(folder))
    }
  }
})

const setting = { cwd: temporaryDirectory() }
const COMMANDS = ['demo', 'init', 'validate', 'plan', 'apply', 'verify', 'fmt', 'explain', 'serve']

describe('refuses unknown commands and invalid options, with a suggestion', () => {
  test.each([
    [['pln'], "unknown command 'pln' (Did you mean plan?)"],
    [['vrify'], "unknown command 'vrify' (Did you mean verify?)"],
    [['plan', '--formt', 'json'], "unknown option '--formt' (Did you mean --format?)"],
    [['apply', '--yess'], "unknown option '--yess' (Did you mean --yes?)"],
    [['serve', '--config', 'x'], "unknown option '--config'"],
    [['plan', '--format', 'jsn'], 'It must be one of text, json, markdown, html, github, junit, sarif. Did you mean "json"?'],
    [['doctor', '--format', 'html'], 'It must be one of text, json.'],
    [['plan', '--allow', 'delets'], 'It must be one of deletes, updates, empty-zone, apex-ns, delete-zone, in-use, quarantined. Did you'],
    [['plan', '--prefer', 'cals'], 'It must be one of continuity, calls. Did you mean "calls"?'],
    [['plan', '--parallelism', '0'], 'It must be a whole number from 1 to 9999.'],
    [['plan', '--parallelism', '1e3'], 'It must be a whole number from 1 to 9999.'],
    [['plan', '--target'], "option '--target <name>' argument missing"],
    [['demo', 'more'], "too many arguments for 'demo'"],
    [['explain', 'cname-not-alon'], 'there is no diagnostic "cname-not-alon" (Did you mean "cname-not-alone"?)'],
    [['explain', 'toString'], 'there is no diagnostic "toString"'],
    [['verify', '--nameserver', 'a b'], '--nameserver "a b" is not an address'],
    [['verify', '--nameserver', '192.0.2.1:99999'], '--nameserver "192.0.2.1:99999" is not an address'],
    [['init', '--zone', 'a..example'], '--zone "a..example" is not the name of a zone'],
    [['serve', '--listen', '8080'], '--listen "8080" is not ADDRESS:PORT'],
    [['serve', '--dns', '[::1:53'], '--dns "[::1:53" is not ADDRESS:PORT'],
  ])('%j', async (args, message) => {
    expectEnd(await cli(args, setting), 1, { err: [/^error\[usage\] .*\n$/, message], out: '' })
  })

  test('escapes control characters of the command line', async () => {
    const { stderr } = await cli(['pl\u001b[2Jan\nerror[x] forged'], setting)
    expect(stderr).toMatch(/^error\[usage\] unknown command 'pl\\u001b\[2Jan\\nerror\[x\] forged'.*\n$/)
  })

  test('a zone or target', async () => {
    const scene = openScene()
    const zone = await scene.run('plan', 'exmple.com')
    expect(zone.status).toBe(1)
    expect(zone.stderr).toContain('error[zone-unknown] there is no definition of exmple.com. (Did you mean "example.com."?)\n')
    const target = await scene.run('apply', '--target', 'clod', '--yes')
    expect(target.status).toBe(1)
    expect(target.stderr).toContain('error[provider-unknown] the config has no provider "clod" (Did you mean "cloud"?)\n')
    expect(scene.memory.requests).toEqual([])
  })
})

describe('help', () => {
  test('on request is printed on standard output, with exit 0', async () => {
    const { stdout } = expectEnd(await cli(['--help'], setting), 0, { err: '' })
    for (const command of COMMANDS) expect(stdout).toMatch(new RegExp(`^  ${command} `, 'm'))
    expect(stdout).toContain('Exit status: 0 done')
  })

  test('of every command fits 80 columns, and its examples are complete', async () => {
    const { stdout } = await cli(['--help'], setting)
    const names = [...stdout.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name as string).filter((name) => name !== 'help')
    expect(names.length).toBeGreaterThanOrEqual(17)
    const examples: string[] = []
    for (const words of [[], ...names.map((name) => [name]), ...['add', 'set', 'remove'].map((action) => ['record', action])]) {
      const help = expectEnd(await cli([...words, '--help'], setting), 0)
      for (const line of help.stdout.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80)
      examples.push(...[...help.stdout.matchAll(/^ {2}zonewright (.*)$/gm)].map(([, example]) => example as string))
    }
    expect(examples.length).toBeGreaterThanOrEqual(11)
    // Other tests run the examples that need a server or a system folder.
    for (const example of examples.filter((one) => !/ axfr | \/var\//.test(one))) {
      const words = example.match(/'[^']*'|\S+/g) ?? []
      const { stderr } = await cli(
        words.map((word) => word.replaceAll("'", '')),
        setting,
      )
      expect(stderr, example).toMatch(/^error\[(?:config-missing|file-unreadable|no-definitions|provider-unknown|zone-unknown)\]/)
    }
  })

  test('in place of a command is on standard error', async () => {
    expectEnd(await cli([], setting), 1, { err: 'Usage: zonewright', out: '' })
  })

  test('--version', async () => {
    expect(await cli(['--version'], setting)).toMatchObject({ status: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\S*\n$/) })
  })
})

describe('explain', () => {
  test('lists every code', async () => {
    const { stdout } = expectEnd(await cli(['explain'], setting), 0)
    expect(stdout.trimEnd().split('\n')).toHaveLength(Object.keys(DIAGNOSTIC_CODES).length)
  })

  test.each(Object.keys(DIAGNOSTIC_CODES).filter((code) => !isLint(code)))('%s has its full entry of the documentation', async (code) => {
    const { stdout } = expectEnd(await cli(['explain', code], setting), 0)
    expect(stdout.startsWith(`### ${code}\n\n`)).toBe(true)
    expect((stdout.match(/^```/gm)?.length ?? 0) % 2).toBe(0)
    expect(stdout.match(/^#{2,3} /gm)).toHaveLength(1)
  })
})
