/** The settings of a provider class: what is wrong with them, where, and what to do; what `doctor` finds; and which code a run may run. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cli, expectEnd } from '../../support/cli.ts'
import { OCTODNS_PYTHON } from '../../support/octodns-python.ts'
import { describeWithTools } from '../../support/skip.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'
import { awkwardWorkspace, KEPT, PYTHON_FOLDER } from './awkward.ts'

const PATH = process.env['PATH'] ?? ''

/** Runs a command with this entry of the config, which begins in column 10 of line 2. */
function workspace(entry: string) {
  const folder = temporaryDirectory()
  mkdirSync(join(folder, 'zones'))
  writeFileSync(join(folder, 'zonewright.yaml'), `providers:\n  lab: ${entry}\n`)
  writeFileSync(join(folder, 'zones/example.com.yaml'), 'domain: example.com\nrecords:\n  www: {type: A, value: 192.0.2.1}\n')
  return async (args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const { status, stdout, stderr } = await cli([...args, '--no-color'], { cwd: folder, env: { PATH, PYTHONPATH: PYTHON_FOLDER, ...env } })
    return { status, text: stdout + stderr }
  }
}

test.each<[entry: string, message: RegExp]>([
  ['{type: octodns}', /"providers\.lab" needs the key "directory" or "class"/],
  ['{type: octodns, class: a.B, directory: x}', /"providers\.lab" can only have the key "directory" or "class"/],
  ['{type: octodns, directory: x, python: python3}', /providers\.lab/],
  ['{type: octodns, class: B}', /:2:\d+: error\[schema-value\] "providers\.lab\.class" must match pattern/],
  ['{type: octodns, class: a.B, options: [1]}', /"providers\.lab\.options" must be keys with values, not a list/],
  [
    '{type: octodns, class: a.B, options: {token: env/TOKEN}}',
    /:2:53: error\[secret-missing\] providers\.lab\.options\.token: the reference has the syntax of octoDNS.*write env:NAME/s,
  ],
  ['{type: octodns, class: a.B, options: {token: "env:"}}', /nothing is named after env:/],
  [
    '{type: octodns, class: octodns_bind.ZoneFileProvider, options: {directory: x}}',
    /:2:\d+: error\[provider-class\].*cannot be a target: it never reads.*zonefile/s,
  ],
])('without starting the class: %s', async (entry, message) => {
  expect(await workspace(entry)(['validate'])).toMatchObject({ status: 1, text: expect.stringMatching(message) })
})

test('validate starts nothing', async () => {
  const run = workspace('{type: octodns, class: a.B, python: /nonexistent/python3, options: {token: env:MISSING}}')
  expect((await run(['validate'])).status).toBe(0)
})

test('a plain-text secret among the options is a warning', async () => {
  const { text } = await workspace('{type: octodns, class: a.B, options: {key_secret: 0123456789abcdef}}')(['validate'])
  expect(text).toContain('providers.lab.options.key_secret contains a secret in plain text')
})

test('an interpreter that is missing', async () => {
  const { status, text } = await workspace('{type: octodns, class: a.B, python: no-such-python}')(['plan'])
  expect([status, text]).toEqual([
    1,
    expect.stringMatching(/:2:\d+: error\[provider-class\] providers\.lab\.python: no-such-python is not installed.*install Python/s),
  ])
})

test.each<[env: Readonly<Record<string, string>>, refused: boolean]>([
  [{ ZONEWRIGHT_ALLOWED_HOSTS: 'dns.example.net' }, true],
  [{ ZONEWRIGHT_ALLOWED_HOSTS: 'dns.example.net', ZONEWRIGHT_ALLOWED_PACKAGES: 'other.Class' }, true],
  [{ ZONEWRIGHT_ALLOWED_HOSTS: 'dns.example.net', ZONEWRIGHT_ALLOWED_PACKAGES: 'a.B' }, true],
  [{ ZONEWRIGHT_ALLOWED_HOSTS: 'dns.example.net', ZONEWRIGHT_ALLOWED_PACKAGES: 'a.B, no-such-python' }, false],
  [{ ZONEWRIGHT_ALLOWED_PACKAGES: 'other.Class' }, true],
  [{ CI: 'true' }, true],
  [{}, false],
])('a run with %j runs only listed code', async (env, isRefused) => {
  const { status, text } = await workspace('{type: octodns, class: a.B, python: no-such-python}')(['plan'], env)
  expect([status, text]).toEqual([1, expect.stringContaining(isRefused ? 'error[host-not-allowed]' : 'no-such-python is not installed')])
})

describeWithTools([OCTODNS_PYTHON, 'python3'], 'the settings of a provider class', () => {
  const python = `python: '${OCTODNS_PYTHON}'`
  const awkward = `class: awkward.AwkwardProvider, ${python}`
  test.each<[name: string, entry: string, message: RegExp]>([
    [
      'a package that is missing',
      `{type: octodns, class: octodns_gandi.GandiProvider, ${python}}`,
      /:2:\d+: error\[provider-class\] providers\.lab\.class: there is no Python module octodns_gandi.*python3 -m pip install octodns-gandi/s,
    ],
    [
      'a class that is missing',
      `{type: octodns, class: octodns_bind.Rfc2136Provide, ${python}}`,
      /octodns_bind\.Rfc2136Provide: the module has no such class.*Rfc2136Provider/s,
    ],
    [
      'a class that is no provider',
      `{type: octodns, class: awkward.NotAProvider, ${python}}`,
      /awkward\.NotAProvider: is not a class of an octoDNS provider.*AwkwardProvider/s,
    ],
    ['another class', `{type: octodns, class: subprocess.Popen, ${python}}`, /subprocess\.Popen: is not a class of an octoDNS provider/],
    [
      'an unknown option',
      `{type: octodns, ${awkward}, options: {folder: x, tokn: y}}`,
      /:2:\d+: error\[provider-class\] providers\.lab\.options\.tokn: the class has no such option.*token/s,
    ],
    [
      'an option that is missing',
      `{type: octodns, ${awkward}}`,
      /providers\.lab\.options: the class needs folder.*the options of the class are .*folder.*token/s,
    ],
    [
      'an option that the class refuses',
      `{type: octodns, ${awkward}, options: {folder: x, token: wrong}}`,
      /providers\.lab\.options: the class refuses them: ValueError: the token is wrong/,
    ],
    [
      'a secret that is missing',
      `{type: octodns, ${awkward}, options: {folder: x, token: env:MISSING_TOKEN}}`,
      /:2:\d+: error\[secret-missing\] providers\.lab\.options\.token: the environment variable MISSING_TOKEN is not set/,
    ],
  ])('%s', async (_, entry, message) => {
    expect(await workspace(entry)(['plan'])).toMatchObject({ status: 1, text: expect.stringMatching(message) })
  })

  test('a module whose import does not end', async () => {
    const { status, text } = await workspace(`{type: octodns, class: slow.SlowProvider, ${python}, timeout: 1}`)(['plan'])
    expect([status, text]).toEqual([1, expect.stringMatching(/providers\.lab\.class: slow\.SlowProvider did not respond within 1 s/)])
  })

  test('a Python without octoDNS', async () => {
    const folder = temporaryDirectory()
    // An interpreter that sees no installed packages.
    writeFileSync(join(folder, 'bare'), `#!/bin/sh\nexec '${OCTODNS_PYTHON}' -S "$@"\n`, { mode: 0o755 })
    const { status, text } = await workspace(`{type: octodns, class: octodns_gandi.GandiProvider, python: ${join(folder, 'bare')}}`)([
      'plan',
    ])
    expect([status, text]).toEqual([1, expect.stringMatching(/providers\.lab\.python: octoDNS is not installed.*install octodns-gandi/s)])
  })

  test('doctor examines the class, its versions and its zones', async () => {
    const { run, define, store } = awkwardWorkspace()
    define(KEPT)
    expectEnd(await run('doctor'), 0, { out: [/AwkwardProvider can be used: octoDNS [\d.]+, Python 3\.[\d.]+/, 'it reads 1 of 1 zone'] })
    store([])
    const { folder, ...missing } = awkwardWorkspace()
    writeFileSync(join(folder, 'zones/other.example.yaml'), 'domain: other.example\nrecords: {}\n')
    expectEnd(await missing.run('doctor'), 1, { out: 'it does not have other.example.' })
    const refused = await workspace(`{type: octodns, ${awkward}, options: {folder: x, token: wrong}}`)(['doctor'])
    expect([refused.status, refused.text]).toEqual([1, expect.stringContaining('the class refuses them: ValueError: the token is wrong')])
  })

  test('a source is no target, and nothing advises to remove a setting that is not there', async () => {
    const { run, define, folder } = awkwardWorkspace()
    const config = join(folder, 'zonewright.yaml')
    writeFileSync(config, readFileSync(config, 'utf8').replace('AwkwardProvider', 'AwkwardSource'))
    define(`${KEPT}  txt: {type: TXT, value: new}\n`)
    const { stderr } = expectEnd(await run('plan'), 1, { said: /error\[zone-read-only\].*awkward\.AwkwardSource only reads zones/ })
    expect(stderr).not.toContain('does not support')
    const { stdout } = expectEnd(await run('doctor'), 1, { out: 'no zone can be changed: awkward.AwkwardSource only reads zones' })
    expect(stdout).not.toContain('apply_disabled')
    rmSync(join(folder, 'zones/example.com.yaml'))
    expect((await run('doctor')).stdout).not.toContain('no zone can be changed')
    expectEnd(await run('import', '--from', 'odd', '-o', 'zones', 'example.com'), 0)
  })

  test('a class that creates zones is named by the setting', async () => {
    const { run, define, folder, stored } = awkwardWorkspace({ settings: ', creates_zones: true' })
    define(KEPT)
    writeFileSync(join(folder, 'zones/other.example.yaml'), 'domain: other.example\nrecords:\n  www: {type: A, value: 192.0.2.1}\n')
    expect((await run('apply', '--yes')).status).toBe(0)
    expect((await run('plan', '--detailed-exitcode')).status).toBe(0)
    expect(stored()).toHaveLength(1)
  })
})
