/** Common mistakes: the message explains the error and the correction. */
import { rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { cli, expectEnd } from '../support/cli.ts'
import { openScene, ZONE, zoneOf } from './scene.ts'
import { openWireScene } from './service-scene.ts'

const HEAD = 'domain: example.com\nsoa_email: hostmaster@example.com\n'

describe('in a definition', () => {
  const indented = `${ZONE} \u00a0x: {type: A, value: 192.0.2.1}\n`
  test.each([
    ['x: {type: MX, value: {preference: 1, exchange: 192.0.2.1}}', '"192.0.2.1" is an address, but'],
    ['x: {type: A, ttl: 99999999999, value: 192.0.2.1}', '99999999999 is more than the largest TTL'],
    ["x: {type: A, value: '2001:db8::1'}", '"2001:db8::1" is an IPv6 address, not an IPv4 one'],
    ['x: {type: AAAA, value: 192.0.2.1}', '"192.0.2.1" is an IPv4 address, not an IPv6 one (Write type: A.)'],
    ["x: {type: A, value: '192.0.2.1, 192.0.2.2'}", 'is not an IPv4 address but several (Write values: [192.0.2.1, 192.0.2.2].)'],
    [
      'x: {type: AAAA, value: www.example.net}',
      'is not an IPv6 address but a name (Write the address, or {type: CNAME, value: www.example.net.}.)',
    ],
    ['x: {type: A, value: 192.0.2.1, values: [192.0.2.2]}', '(Write values: [192.0.2.1, 192.0.2.2], and remove value.)'],
    [
      'x: {type: A, value: 192.0.2.1, proxied: true}',
      '7:34: error[schema-unknown-key] x.example.com. A: unknown key "proxied" (Write it as cloudfl',
    ],
    ['x: {type: TXT, value: a, b}', '(A comma in { } begins a new key: quote a text that contains one.)'],
    ['x: {type:A, value: 192.0.2.1}', '(Write a space after the colon.)'],
    ['x: {type: ANAME, value: a.example.net.}', '"ANAME" is not a record type (Write ALIAS.)'],
    [`${HEAD}records:\nwww: {type: A, value: 192.0.2.1}\n`, '(Move the record below "records:"'],
    [`${HEAD}www: [{type: A, value: 192.0.2.1}]\n`, '(Move the record below "records:" and indent it.)'],
    [`${HEAD}records:\n  - {name: www, type: A}\n`, '(Write each name as a key: www: {type: A, value: 192.0.2.1}.)'],
    ['domain: https://example.com/\nrecords: {}\n', '"https://example.com/" is a URL, but a name is needed: write example.com.'],
    ['$ORIGIN example.com.\nwww A 192.0.2.1\n', '(Name it ZONE.zone or ZONE.db.)'],
    [indented, /7:2: error\[yaml-syntax\] the indentation .* \(Type these characters again: non-breaking space \(U\+00A0\)\. /],
    [
      'x: {type: TXT, value: “a”}',
      '7:25: warning[character-lookalike] "“a”" has characters that only look like ASCII: left double quotation',
    ],
    ['a–b: {type: A, value: 192.0.2.1}', /7:3: warning\[character-lookalike\] .* en dash \(U\+2013\)/],
    [
      ZONE.replace('e.com', 'e.cmo'),
      /1:9: warning\[zone-name\] the file is named after example.com., but .* \(rename the file, or correct "domain:"\)/,
    ],
  ])('%j', async (text, message) => {
    const scene = openScene({ files: { 'zones/example.com.yaml': text.includes('\n') ? text : `${ZONE}  ${text}\n` } })
    expectEnd(await scene.run('validate'), String(message).includes('warning') ? 0 : 1, { out: message })
  })

  const ACCEPTED = `${ZONE}# – “\n  x: {type: TXT, value: “a”, owner: Joe’s, ignore: [{code: character-lookalike, reason: it’s a joke}]}\n`
  test.each<[file: string, text: string]>([
    ['example.com.yaml', ACCEPTED],
    ['0-25.2.0.192.in-addr.arpa.yaml', 'domain: 192.0.2.0/25\nrecords: {}\n'],
    ...['example.com-2', 'example_com', 'example-com', 'a.example.com', 'example.com1', 'internal'].map(
      (name) => [`${name}.yaml`, ZONE] as [string, string],
    ),
  ])('no warning of texts for people, of what is accepted, and of the name %s', async (file, text) => {
    expectEnd(await openScene({ files: { [`zones/${file}`]: text } }).run('validate'), 0, { err: '1 file: no problems.' })
  })

  test('a zone file warns of characters outside of its comments', async () => {
    const text = '$TTL 60\n@ SOA a. b. 1 2 3 4 5 ; –\n@ NS a.\n@ TXT "a;–" ; –\n\u00a0x TXT b\n'
    const { stdout } = await openScene({ files: { 'zones/example.com.zone': text } }).run('validate')
    expect(stdout.match(/\d+:1: warning\[character-lookalike\]/g)?.map((place) => place[0])).toEqual(['4', '5'])
  })

  test('YAML in a zone file', async () => {
    const scene = openScene({ files: { 'zones/example.com.zone': ZONE } })
    expectEnd(await scene.run('validate'), 1, { out: /^\S+:1:1: error\[zonefile-syntax\] the file is YAML, not a zone file \(.*\)\n$/ })
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
    ['*.net', '("zonewright zones" lists the zones)'],
    ['other.test', '(the only zone is example.com.)'],
  ])('a zone named %s', async (zone, message) => {
    const scene = openScene()
    expect((await scene.run('plan', zone)).stderr).toContain(message)
  })

  test.each([
    ['record del example.com www A', "unknown command 'del' (Did you mean remove?)"],
    ['record rm example.com www A', "unknown command 'rm' (Did you mean remove?)"],
    ['del example.com www A', "unknown command 'del' (Did you mean record remove, or zone remove?)"],
    ['set example.com www A', "unknown command 'set' (Did you mean record set?)"],
    ['show', "unknown command 'show' (Did you mean report?)"],
    ['version', 'unknown command \'version\' ("zonewright --version" prints it)'],
    ['plan --json', "unknown option '--json' (Did you mean --format json?)"],
    ['plan --dry-run', "unknown option '--dry-run' (plan changes nothing: it is the dry run of apply)"],
    ['verify --zone example.com', "unknown option '--zone' (zones are arguments, such as: zonewright plan example.com)"],
    ['schema zones', 'argument <document>: \'zones\' is invalid. It must be one of zone, config. Did you mean "zone"?'],
    ['record put example.com www A', "unknown command 'put' (the commands are add, set, remove, rename)"],
    [
      'record add example.com www A',
      'record add needs <value>: as in a zone file; TXT as its text (usage: zonewright record add [options] <zone> <name> <type> <value...>)',
    ],
    ...['diff', 'preview'].map((word): [string, string] => [word, `unknown command '${word}' (Did you mean plan?)`]),
    ...['push', 'sync'].map((word): [string, string] => [word, `unknown command '${word}' (Did you mean apply?)`]),
    ['frobnicate', 'unknown command \'frobnicate\' ("zonewright --help" lists the commands)'],
    ['apply --dry-run', `unknown option '--dry-run' ("zonewright plan" shows what apply would change)`],
    ['apply --frob', 'unknown option \'--frob\' ("zonewright apply --help" lists the options)'],
    ['plna', "unknown command 'plna' (Did you mean plan?)"],
    ['apply --auto-approve', "unknown option '--auto-approve' (Did you mean --yes?)"],
    ['record add example.com new TXT a\ufffd', 'error[usage] the argument "a\ufffd" is not UTF-8 text'],
    ['report zones', 'zones is a folder, not a file'],
    ['import dnscontrol zones', 'zones is a folder, not a file'],
  ])('%s', async (words, message) => {
    expectEnd(await openScene().run(...words.split(' ')), 1, { err: message })
  })

  test('does not follow links out of a named folder', async () => {
    const scene = openScene()
    const other = openScene({ files: { 'zones/example.com.yaml': ZONE.replace("'@'", '"@"') } })
    const link = join(scene.folder, 'elsewhere/link')
    scene.write({ 'elsewhere/example.net.yaml': zoneOf('example.net') })
    symlinkSync(other.folder, link)
    const before = other.files()
    expectEnd(await scene.runIn({ cwd: join(scene.folder, 'zones') }, 'fmt', '../elsewhere'), 1, {
      err: 'error[path-outside] ../elsewhere/link is outside',
    })
    expect(other.files()).toEqual(before)
  })

  test('shows a path outside the folder unchanged', async () => {
    const scene = openScene()
    expectEnd(await scene.run('validate', '/nowhere.yaml'), 1, {
      out: /^error\[file-unreadable\] \/nowhere\.yaml does not exist \(name a definition, /,
    })
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

  test.each(['', '# nothing\n', 'providers:\n'])('no providers: %j', async (text) => {
    const scene = openScene()
    scene.write({ 'zonewright.yaml': text })
    expectEnd(await scene.run('plan'), 1, {
      err: /^zonewright\.yaml:1:1: error\[target-missing\] the config has no providers, so example\.com\. has/,
    })
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
