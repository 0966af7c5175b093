import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { folderWith } from '../definition/files.ts'
import { cli, expectEnd } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { expectNothingDone, filesBelow, openScene, TOKEN } from './scene.ts'
import { openServiceScene } from './service-scene.ts'

const provider = (settings: string): string => `providers: {cloud: {type: cloud, ${settings}}}\n`

describe('a config with', () => {
  test.each([
    ['broken YAML', 'providers: {', 'yaml-syntax', '1:12'],
    ['an unknown type', 'providers: {cloud: {type: clout}}\n', 'provider-unknown', '1:27'],
    ['an address with a password', provider("base_url: 'https://u:p@dns.example.net/v4', token: env:X"), 'schema-value', '1:44'],
    ['plain HTTP to another host', provider("base_url: 'http://192.0.2.1/v4', token: env:X"), 'insecure-url', '1:44'],
    ['a key without its secret', 'providers: {own: {type: axfr, server: 192.0.2.1, tsig: {name: k.}}}\n', 'schema-missing-key', '1:56'],
  ])('%s', async (_, text, code, place) => {
    const scene = openScene()
    scene.write({ 'zonewright.yaml': text })
    for (const command of [['plan'], ['apply', '--yes'], ['verify'], ['validate'], ['fmt']]) {
      const { stdout, stderr } = await expectNothingDone(scene, code, ...command)
      expect(stdout + stderr).toMatch(new RegExp(`^zonewright\\.yaml:${place}: error\\[${code}\\]`, 'm'))
    }
    expect(scene.memory.requests).toEqual([])
  })

  test('a key without its secret has one error, which names the keys', async () => {
    const cwd = temporaryDirectory()
    writeFileSync(join(cwd, 'zonewright.yaml'), 'providers: {own: {type: rfc2136, server: 192.0.2.1, tsig: {name: k.}}}\n')
    const { stdout } = await cli(['validate'], { cwd })
    expect(stdout).toMatch(/^zonewright\.yaml:1:59: error\[schema-missing-key\] "providers.own.tsig" needs the key "name" and "secret"/)
  })

  test.each([
    ['a token from an unset variable', provider("base_url: 'http://127.0.0.1:1/v4', token: env:NOWHERE"), 'secret-missing'],
    ['a token from a missing file', provider("base_url: 'http://127.0.0.1:1/v4', token: file:secrets/token"), 'secret-missing'],
  ])('%s is refused before the first request, but does not fail validate', async (_, text, code) => {
    const scene = openScene()
    scene.write({ 'zonewright.yaml': text })
    for (const command of [['plan'], ['apply', '--yes'], ['verify']]) {
      const { stderr } = await expectNothingDone(scene, code, ...command)
      expect(stderr).toMatch(new RegExp(`^zonewright\\.yaml:1:\\d+: error\\[${code}\\] providers\\.cloud`, 'm'))
    }
    expect((await scene.run('validate')).status).toBe(0)
  })

  test.each([
    'http://192.0.2.1/v4',
    'http://dns.example.net/v4',
    'http://localhost.example.net/v4',
    'http://127.0.0.1.example.net/v4',
    'http://[2001:db8::1]/v4',
  ])('refuses to send the token over plain %s', async (url) => {
    const scene = openScene()
    scene.write({ 'zonewright.yaml': provider(`base_url: '${url}', token: env:ZONEWRIGHT_TOKEN`) })
    expect((await expectNothingDone(scene, 'insecure-url', 'apply', '--yes')).stderr).toContain('without TLS')
  })

  test('globs without definitions', async () => {
    const scene = openScene()
    scene.write({ 'zonewright.yaml': `${scene.config()}zones: [{files: zone/*.yaml}]\n` })
    await expectNothingDone(scene, 'no-definitions', 'plan')
  })
})

test.each([
  ['takes over what the folder has, and writes a config', {}],
  ['takes over dnsconfig.js, and writes a config', { 'dnsconfig.js': '' }],
])('validate of a folder without a config names the command that %s', async (hint, files) => {
  expectEnd(await cli(['validate'], { cwd: folderWith(files) }), 1, { out: ['error[no-definitions]', `("zonewright init" ${hint})`] })
})

test('a missing config: plan says what to do, validate and fmt do not need it', async () => {
  const folder = temporaryDirectory()
  for (const command of ['plan', 'apply', 'verify']) {
    const { status, stdout, stderr } = await cli([command], { cwd: folder })
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toMatch(/^error\[config-missing\] there is no zonewright\.yaml in .* or any folder above it \(.*zonewright init.*\)\n/)
  }
  expect((await cli(['plan', '-c', 'other.yaml'], { cwd: folder })).stderr).toContain('error[config-missing] other.yaml does not exist')
  writeFileSync(join(folder, 'example.com.yaml'), 'www: {type: A, value: 192.0.2.1}\n')
  expect((await cli(['validate', 'example.com.yaml'], { cwd: folder })).stderr).toBe('1 zone, 1 record in 1 file: no problems.\n')
  expect((await cli(['fmt', '--check', 'example.com.yaml'], { cwd: folder })).status).toBe(0)
})

describe('the token', () => {
  test('works in the config, with a warning that does not repeat it', async () => {
    const scene = openScene()
    scene.write({ 'zonewright.yaml': scene.config().replace('env:ZONEWRIGHT_TOKEN', TOKEN) })
    expectEnd(await scene.run('validate', '--quiet'), 0, { out: /^zonewright\.yaml:2:\d+: warning\[secret-in-config\] providers\./ })
    expect((await scene.run('plan')).status).toBe(0)
  })

  test('is read from a file without its newline', async () => {
    const scene = await openServiceScene()
    scene.write({ 'secrets/token': `${TOKEN}\n`, 'zonewright.yaml': scene.config().replace('env:ZONEWRIGHT_TOKEN', 'file:secrets/token') })
    expect((await scene.runWith({ ZONEWRIGHT_TOKEN: undefined }, 'plan')).status).toBe(0)
    expect(scene.proxy.requests[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`)
  })

  test('is not sent if it contains a line break', async () => {
    const scene = openScene()
    expectEnd(await scene.runWith({ ZONEWRIGHT_TOKEN: `${TOKEN}\r\nX-Injected: yes` }, 'plan'), 1, { err: 'error[secret-missing]' })
    expect(scene.memory.requests).toEqual([])
  })

  test('is in no output of any command in any format, and in no file', async () => {
    const scene = await openServiceScene()
    const commands = [['validate'], ['plan'], ['apply'], ['apply', '--yes'], ['verify'], ['fmt', '--check']]
    for (const command of commands) {
      const formats = command[0] === 'plan' ? ['text', 'json', 'markdown', 'html', 'github'] : ['text', 'json']
      for (const format of command[0] === 'fmt' ? [null] : formats) {
        // `scene.run` checks the output for the token.
        await scene.run(...command, '--verbose', ...(format === null ? [] : ['--format', format]))
      }
    }
    expect(scene.proxy.requests.length).toBeGreaterThan(20)
    expect(scene.proxy.requests.every(({ headers }) => headers.authorization === `Bearer ${TOKEN}`)).toBe(true)
    expect(scene.proxy.requests.some(({ path, body }) => (path + body).includes(TOKEN))).toBe(false)
    expect(Object.values(filesBelow(scene.folder)).some((text) => text.includes(TOKEN))).toBe(false)
  })
})

const SECRET = 'hunter2hunter2hunter2hunter2hunter2'

test.each([
  ['beside a token', `providers:\n  cloud:\n    type: cloud\n    token: ${SECRET}\n    typo: x\n`, 'zonewright.yaml'],
  ['a misspelt token', `providers:\n  cloud:\n    type: cloud\n    tokn: ${SECRET}\n`, 'zonewright.yaml'],
  ['a password', `providers:\n  cloud: {type: cloud, base_url: 'http://u:${SECRET}@127.0.0.1/', token: 'env:X'}\n`, 'zonewright.yaml'],
  ['a token as a name', `providers:\n  cloud: {type: cloud, base_url: 'http://127.0.0.1/v4', token: 'env:${SECRET}'}\n`, 'other.yaml'],
])('an error in the config shows its position, not source lines, which may contain a secret: %s', async (_, config, file) => {
  const cwd = temporaryDirectory()
  writeFileSync(join(cwd, file), `${config}zones:\n  - {files: '*.zone'}\n`)
  writeFileSync(join(cwd, 'example.com.zone'), 'www 300 IN A 192.0.2.1\n')
  for (const command of ['plan', 'validate']) {
    const result = await cli([command, '--verbose', '-c', file], { cwd })
    if (command === 'plan') expect(result.stderr).toMatch(/error/)
    expect(result.stdout + result.stderr).not.toContain(SECRET)
  }
})
