/** Common mistakes: the message explains the error and the correction. */

import { rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { cli, expectEnd } from '../support/cli.ts'
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
