import { describe, expect, test } from 'vitest'
import { DIAGNOSTIC_CODES } from '../../src/base/diagnostic-codes.ts'
import { isLint } from '../../src/dns/suppression.ts'
import { cli, expectEnd } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { openScene, ZONE } from './scene.ts'

const setting = { cwd: temporaryDirectory() }
const COMMANDS = ['demo', 'init', 'validate', 'plan', 'apply', 'verify', 'fmt', 'explain', 'serve']

describe('refuses unknown commands and invalid options, with a suggestion', () => {
  test.each([
    [['pln'], "unknown command 'pln' (Did you mean plan?)"],
    [['vrify'], "unknown command 'vrify' (Did you mean verify?)"],
    [['plan', '--formt', 'json'], "unknown option '--formt' (Did you mean --format?)"],
    [['apply', '--yess'], "unknown option '--yess' (Did you mean --yes?)"],
    [['plan', '--doit'], "unknown option '--doit' (Did you mean apply?)"],
    [['apply', '--doit'], "unknown option '--doit' (Did you mean --yes?)"],
    [['apply', '--dry-run'], `unknown option '--dry-run' ("zonewright plan" shows what apply would change)`],
    [['plan', '--config-file', 'x'], "unknown option '--config-file' (Did you mean --config?)"],
    [['octodns-sync'], "unknown command 'octodns-sync' (Did you mean plan?)"],
    [['octodns-dump'], "unknown command 'octodns-dump' (Did you mean import?)"],
    [['get-zones'], "unknown command 'get-zones' (Did you mean import?)"],
    [['print-ir'], "unknown command 'print-ir' (Did you mean render?)"],
    [['import', '--creds', 'x'], "unknown option '--creds' (Did you mean --credentials?)"],
    [['plan', '--creds', 'x'], "unknown option '--creds' (the providers in zonewright.yaml name their credentials)"],
    [['plan', '--domains', 'x'], "unknown option '--domains' (zones are arguments, such as: zonewright plan example.com)"],
    [['-c', 'x', 'plan'], "unknown option '-c' (options come after the command)"],
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
    const variable = await scene.run('plan', '-v', 'stage=qa')
    expect(variable.stderr).toContain('error[zone-unknown] stage=… is no zone\n  hint: variables of programs are --var NAME=VALUE\n')
    const target = await scene.run('apply', '--target', 'clod', '--yes')
    expect(target.status).toBe(1)
    expect(target.stderr).toContain('error[provider-unknown] the config has no provider "clod" (Did you mean "cloud"?)\n')
    expect(scene.memory.requests).toEqual([])
  })
})

test.each([[], ['--verbose']])('an error and a warning in definitions: plan %j', async (...options) => {
  const text = ZONE.replace('www: ', "text: {type: TXT, value: 'v=spf1 inclde:x -all'}\n  www: ")
  const scene = openScene({ files: { 'zones/example.com.yaml': text, 'zones/example.net.yaml': 'domain: example.net\nrecords: {x: 1}\n' } })
  const { stderr } = expectEnd(await scene.run('plan', ...options), 1, { err: '1 error, 1 warning (--verbose shows warnings): no server' })
  expect(stderr.includes('warning[spf-invalid]')).toBe(options.length > 0)
})

const MISSING =
  /error\[(?:revision-unreadable|not-confirmed|approval-key|run-unknown|journal-unreadable|provider-unknown|file-unreadable|file-exists|include-invalid|cname-not-alone|record-unknown|zone-unknown)\]|1 error\.$/m

describe('help', () => {
  test('on request is printed on standard output, with exit 0', async () => {
    const { stdout } = expectEnd(await cli(['--help'], setting), 0, { err: '' })
    for (const command of COMMANDS) expect(stdout).toMatch(new RegExp(`^  ${command} `, 'm'))
    expect(stdout).toContain('Exit status: 0 done')
  })

  test('of every command fits 80 columns and 40 lines, and its examples run', { timeout: 60_000 }, async () => {
    const { stdout } = await cli(['--help-all'], setting)
    const names = [...stdout.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name as string).filter((name) => name !== 'help')
    expect(names.length).toBeGreaterThanOrEqual(30)
    const examples: string[] = []
    const commands = [[], ...names.map((name) => [name]), ...['add', 'set', 'remove', 'rename'].map((action) => ['record', action])]
    for (const words of commands) {
      const all = expectEnd(await cli([...words, '--help-all'], setting), 0).stdout.split('\n')
      const lines = expectEnd(await cli([...words, '--help'], setting), 0)
        .stdout.trimEnd()
        .split('\n')
      expect(lines.length, words.join(' ')).toBeLessThanOrEqual(40)
      for (const line of [...lines, ...all]) expect(line.length, line).toBeLessThanOrEqual(80)
      examples.push(...lines.flatMap((line) => /^ {2}zonewright (.*)$/.exec(line)?.[1] ?? []))
    }
    expect(examples.length).toBeGreaterThanOrEqual(45)
    const scene = openScene()
    await scene.run('plan', '-o', 'plan.json')
    // Other tests run the examples that need a server. Status 1 is a file, run, provider or repository that this scene does not have, or a question.
    for (const example of examples.filter((one) => !/^verify| axfr /.test(one))) {
      const words = (example.replace(/ +[#>] .*/, '').match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", ''))
      const { status, stderr } = await scene.run(...words)
      if (status === 1) expect(stderr, example).toMatch(MISSING)
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

  test('is text of at most 80 columns, with colours on a terminal', async () => {
    const { stdout } = expectEnd(await cli(['explain', 'ptr-conflict'], { ...setting, env: { FORCE_COLOR: '1' } }), 0)
    expect(stdout).toContain('\n\u001b[2m  mended, zones/2.0.192.in-addr.arpa.yaml:\u001b[22m\n    domain: 2.0.192.in-addr.arpa\n')
    expect(stdout).toContain('\u001b[1mauto_ptr: true\u001b[22m')
    const { stdout: plain } = expectEnd(await cli(['explain', 'ptr-conflict'], setting), 0)
    expect(plain.split('\n').filter((line) => line.length > 80)).toEqual([])
  })

  test.each(Object.keys(DIAGNOSTIC_CODES).filter((code) => !isLint(code)))('%s has its full entry of the documentation', async (code) => {
    const { stdout } = expectEnd(await cli(['explain', code], setting), 0)
    expect(stdout.startsWith(`${code}\n\n`)).toBe(true)
    expect(stdout).not.toMatch(/^(```|#+ )|\]\(/m)
  })
})
