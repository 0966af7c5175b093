import { mkdirSync, readFileSync, readlinkSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { expectEnd } from '../support/cli.ts'
import { expectNothingDone, openLiveScene, openScene, ZONE, zoneOf } from './scene.ts'

const RULES = 'zones:\n'

const OWN = "  own: {type: cloud, base_url: 'http://127.0.0.1:9/v4', token: 'env:ZONEWRIGHT_TOKEN'}\n"
const EMAIL = 'soa_email: hostmaster@example.net\n'

test.each<readonly [string, readonly string[], string, string]>([
  ['', [], 'zones/example.net.yaml', `${EMAIL}records: {}\n`],
  [
    `${OWN}${RULES}  - {files: 'zones/*.yml', targets: [own]}\n  - {files: 'zones/**/*', targets: [cloud]}\n`,
    ['--target', 'own'],
    'zones/example.net.yml',
    `${EMAIL}records: {}\n`,
  ],
  [
    `${RULES}  - {files: 'zones/**/*', zone: '*.org'}\n  - {files: 'more/*', zone: '*.net'}\n  - {files: 'zones/*.yaml', zone: 'example.com'}\ndefaults: {soa_email: a@example.com}\n`,
    ['--include', 'part.yaml'],
    'more/example.net.yaml',
    'include: [../part.yaml]\nrecords: {}\n',
  ],
  [OWN, ['--target', 'own'], 'zones/example.net.yaml', `targets: [own]\n${EMAIL}records: {}\n`],
  [`${RULES}  - {files: ['zones/*', 'b/*']}\n`, ['--file', 'b/n.yaml'], 'b/n.yaml', `${EMAIL}records: {}\n`],
])('zone add with the config %j and %j writes one file, which is valid', async (config, args, path, text) => {
  const example = ZONE.replace('records:', config.startsWith(OWN) ? 'targets: [cloud]\nrecords:' : 'records:')
  const files = { 'zones/example.com.yaml': example, 'part.yaml': 'x: {type: A, value: 192.0.2.7}\n' }
  const scene = openScene({ config, files, also: ['own'] })
  const before = scene.files()
  expectEnd(await scene.run('zone', 'add', 'example.net', ...args), 0, { err: /zonewright plan example\.net\.\n/ })
  expect(scene.files()).toEqual({ ...before, [path]: `domain: example.net\n${text}` })
  expectEnd(await scene.run('validate'), 0)
})

test.each<readonly [string, readonly string[], string, Readonly<Record<string, string>>, string]>([
  ['example.com', [], '', {}, 'zone-duplicate'],
  ['EXAMPLE.com.', [], '', { 'zones/example.com.yaml': `enabled: false\n${ZONE}` }, 'zone-duplicate'],
  ['a..b', [], '', {}, 'usage'],
  ['.', [], '', {}, 'usage'],
  ['example.net', [], `${RULES}  - {files: 'zones/*'}\n  - {files: 'other/*'}\n`, {}, 'edit-refused'],
  ['example.net', [], `${RULES}  - {files: '*/*/*.yaml'}\n  - {files: 'zones/example.com.yaml'}\n`, {}, 'edit-refused'],
  ['example.net', [], `${RULES}  - {files: 'zones/*.zone'}\n  - {files: 'zones/example.com.yaml'}\n`, {}, 'edit-refused'],
  [
    'example.net',
    [],
    `${RULES}  - {files: 'zones/*.ts', zone: '*.net'}\n  - {files: 'zones/example.com.yaml'}\n`,
    { 'zones/a.ts': "import { zone } from 'zonewright/definition'\nzone('example.org')\n" },
    'edit-refused',
  ],
  ['example.net', ['--file', 'x.yaml'], '', {}, 'edit-refused'],
  ['example.net', ['--target', 'nobody'], '', {}, 'provider-unknown'],
  ['example.net', ['--include', 'none.yaml'], '', {}, 'include-invalid'],
  ['example.net', [], '', { 'zones/x.yaml': 'domain: [' }, 'yaml-syntax'],
  ['example.net', [], '', { 'zones/example.net.yaml': zoneOf('example.org') }, 'file-exists'],
])('zone add %s %j is refused', async (name, args, config, files, code) => {
  await expectNothingDone(openScene({ config, files: { 'zones/example.com.yaml': ZONE, ...files } }), code, 'zone', 'add', name, ...args)
})

test.each([
  ['{type: zonefile, directory: served}', ' NS NAMESERVER', ' A ADDRESS'],
  ["{type: powerdns, base_url: 'http://127.0.0.1:9', api_key: 'env:ZONEWRIGHT_TOKEN'}", ' NS NAMESERVER', ' A ADDRESS'],
  ["{type: cloud, base_url: 'http://127.0.0.1:9/v4', token: 'env:ZONEWRIGHT_TOKEN'}", ' A ADDRESS'],
])('zone add suggests NS records first for a provider that needs them: %s', async (provider, ...records) => {
  const scene = openScene({ config: `  own: ${provider}\n${RULES}  - {files: 'zones/*.yaml', targets: [own]}\n` })
  const { stderr } = expectEnd(await scene.run('zone', 'add', 'example.net', '--target', 'own'), 0)
  expect([...stderr.matchAll(/record add example\.net\. @(.*)$/gm)].map(([, record]) => record)).toEqual(records)
})

test('zone remove writes "absent: true" and says what an apply deletes', async () => {
  const scene = await openLiveScene()
  const { stderr } = expectEnd(await scene.run('zone', 'remove', 'example.com'), 0, { out: /^\+absent: true$/m })
  expect(stderr).toMatch(
    /deletes example\.com\. at cloud with all its records: 3 records of the definition, and any others\.\n[\s\S]* apply example\.com\. --allow delete-zone\n/,
  )
  expect(scene.files()['zones/example.com.yaml']).toBe(ZONE.replace('\n', '\nabsent: true\n'))
  expectEnd(await scene.run('apply', '--yes'), 3)
  expectEnd(await scene.run('zone', 'remove', 'example.com'), 0, { err: /There is nothing to change/ })
  expectEnd(await scene.run('apply', '--yes', '--allow', 'delete-zone'), 0)
})

test.each([
  [ZONE.replace('\n', ' # ours\r\nabsent: false\r\n').replace(/(?<!\r)\n/g, '\r\n'), 'absent: true\r\n'],
  [ZONE.replace('\n', '\npolicy: upsert-only\nallow: [delete-zone]\n'), 'absent: true\n'],
])('zone remove of %j', async (text, line) => {
  const scene = openScene({ files: { 'zones/example.com.yaml': text } })
  const { stderr } = expectEnd(await scene.run('zone', 'remove', 'example.com'), 0)
  expect(scene.files()['zones/example.com.yaml']).toBe(
    text.includes('absent') ? text.replace('absent: false\r\n', line) : text.replace('\n', `\n${line}`),
  )
  if (text.includes('policy'))
    expect(stderr).toMatch(/The policy upsert-only keeps example\.com\. at cloud\.\n[\s\S]*apply example\.com\.\n$/)
})

test.each([
  ['zones/example.com.yaml', '---\nwww: {type: A, value: 192.0.2.1}\n', 'edit-refused'],
  ['zones/example.com.zone', '@ 300 SOA ns1 hostmaster 1 2 3 4 5\n@ NS ns1.example.net.\n', 'edit-refused'],
  ['zones/example.com.yaml', '{domain: example.com, records: {}}\n', 'edit-refused'],
  ['zones/example.org.yaml', zoneOf('example.org'), 'zone-unknown'],
])('zone remove with %s is refused', async (path, text, code) => {
  await expectNothingDone(openScene({ files: { [path]: text } }), code, 'zone', 'remove', 'example.com')
})

test('zone remove of a zone that a program makes names the line', async () => {
  const files = { 'zones/a.ts': "import { zone } from 'zonewright/definition'\n\nzone('example.com')\n" }
  const { stderr } = await expectNothingDone(
    openScene({ files, config: "zones: [{files: 'zones/*.ts'}]\n" }),
    'edit-refused',
    'zone',
    'remove',
    'example.com',
  )
  expect(stderr).toMatch(/zones\/a\.ts:3.*a program, which only people edit[\s\S]*change line 3/)
})

test('record set of a name that a program makes names the line of its other records', async () => {
  const files = {
    'dnsconfig.js':
      "var P = NewDnsProvider('cloud')\nD('example.com', NewRegistrar('none'), DnsProvider(P),\n  A('a', '192.0.2.1'),\n  CNAME('www', 'a'))\n",
  }
  const scene = openScene({ files, config: 'zones: [{files: dnsconfig.js}]\n' })
  const { stderr } = await expectNothingDone(scene, 'edit-refused', 'record', 'set', 'example.com', 'www', 'A', '192.0.2.2')
  expect(stderr).toMatch(/dnsconfig\.js:4:.*the CNAME record of the name is made at dnsconfig\.js:4, a program.*change line 4/)
})

test('definitions that are links are edited where they lead', async () => {
  const scene = openScene({ files: { 'shared/example.com.yaml': ZONE } })
  mkdirSync(join(scene.folder, 'zones'), { recursive: true })
  symlinkSync('../shared/example.com.yaml', join(scene.folder, 'zones/example.com.yaml'))
  expectEnd(await scene.run('record', 'set', 'example.com', 'mail', 'A', '192.0.2.7'), 0)
  expectEnd(await scene.run('zone', 'remove', 'example.com'), 0)
  const after = ZONE.replace('192.0.2.2', '192.0.2.7').replace('\n', '\nabsent: true\n')
  expect(readFileSync(join(scene.folder, 'zones/example.com.yaml'), 'utf8')).toBe(after)
  expect(readlinkSync(join(scene.folder, 'zones/example.com.yaml'))).toBe('../shared/example.com.yaml')
})

const MOVED = ZONE.replace('  www:', '  abs: {type: CNAME, value: www.example.com.}\n  www:')

test('zone rename moves the definition, and names what still points to the previous zone', async () => {
  const other = 'domain: example.org\nsoa_email: a@example.org\nrecords:\n  x: {type: CNAME, value: www.example.com.}\n'
  const scene = openScene({ files: { 'zones/example.com.yaml': MOVED, 'zones/example.org.yaml': other } })
  const { stdout, stderr } = expectEnd(await scene.run('zone', 'rename', 'example.com', 'example.net'), 0)
  expect(stdout).toContain(
    '  zones/example.net.yaml:6: abs.example.net. CNAME www.example.com.\n  zones/example.org.yaml:4: x.example.org. CNAME www.example.com.\n',
  )
  expect(stderr).toMatch(/example\.net\. is a new zone[\s\S]*delegate example\.net\.[\s\S]*example\.com\. stays at cloud as it is/)
  const { 'zonewright.yaml': _, ...files } = scene.files()
  expect(files).toEqual({
    'zones/example.net.yaml': MOVED.replace('domain: example.com', 'domain: example.net'),
    'zones/example.org.yaml': other,
  })
})

test('zone rename --absent keeps the previous definition for its deletion; octoDNS files are moved as they are', async () => {
  const octodns = '---\nwww: {type: A, value: 192.0.2.1}\n'
  const scene = openScene({ files: { 'zones/example.com.yaml': ZONE, 'zones/example.org.yaml': octodns } })
  expectEnd(await scene.run('zone', 'rename', 'example.com', 'example.net', '--absent'), 0, {
    err: /An apply deletes example\.com\. after --allow delete-zone/,
  })
  expectEnd(await scene.run('zone', 'rename', 'example.org', 'example.info'), 0)
  const { 'zonewright.yaml': _, ...files } = scene.files()
  const moved = ZONE.replace('domain: example.com', 'domain: example.net')
  expect(files).toEqual({
    'zones/example.com.yaml': ZONE.replace('\n', '\nabsent: true\n'),
    'zones/example.net.yaml': moved,
    'zones/example.info.yaml': octodns,
  })
})

test.each(['Example.COM.yaml', 'bücher.example.yaml', 'db.example.com.zone'])('zone rename gives %s the new name', async (file) => {
  const name = file.replace(/^db\.|\.[a-z]+$/g, '')
  const text = file.endsWith('.zone')
    ? '@ 300 SOA ns1 hostmaster 1 2 3 4 5\n@ 300 NS ns1.example.net.\n'
    : ZONE.replace('example.com', name)
  const scene = openScene({ files: { [`zones/${file}`]: text } })
  expectEnd(await scene.run('zone', 'rename', name, 'example.org'), 0)
  const { 'zonewright.yaml': _, ...files } = scene.files()
  expect(files).toEqual({ [`zones/${file.replace(name, 'example.org')}`]: text.replace(name, 'example.org') })
})

test.each([
  ["  - {files: 'zones/*', targets: [own]}\n", 0, /creates it at own\.\n[\s\S]*example\.com\. stays at cloud as it is/],
  [
    '',
    1,
    /no rule of the config would find the definition of example\.net\. \(first add zones\/example\.net\.yaml, or a glob, to the "files" of a rule\)/,
  ],
])('zone rename with a rule of the previous name, and %j', async (rule, status, err) => {
  const config = `${OWN}${RULES}  - {files: 'zones/*', zone: example.com, targets: [cloud]}\n${rule}`
  const scene = openScene({ config, files: { 'zones/example.com.yaml': ZONE }, also: ['own'] })
  expectEnd(await scene.run('zone', 'rename', 'example.com', 'example.net'), status, { err })
})

test.each<readonly [Readonly<Record<string, string>>, readonly string[], string]>([
  [{ 'zones/example.com.yaml': ZONE, 'zones/b.yaml': zoneOf('example.net') }, [], 'zone-duplicate'],
  [
    { 'zones/example.com.zone': '$ORIGIN example.com.\n@ 300 SOA ns1 hostmaster 1 2 3 4 5\n@ 300 NS ns1.example.net.\n' },
    [],
    'edit-refused',
  ],
  [{ 'zones/example.com.yaml': ZONE.replace('  mail:', '  mail.example.com.:') }, [], 'name-outside-zone'],
  [{ 'zones/a.yaml': ZONE }, ['--absent'], 'edit-refused'],
  [{ 'zones/a.yaml': `absent: true\n${ZONE}` }, [], 'edit-refused'],
  [{ 'zones/example.com.yaml': ZONE, 'zones/example.net.yaml/x': '' }, [], 'file-exists'],
  [{ 'zones/example.com.yaml': ZONE, 'zones/example.net.yaml': zoneOf('example.org') }, [], 'file-exists'],
])('zone rename of %j is refused', async (files, args, code) => {
  await expectNothingDone(openScene({ files }), code, 'zone', 'rename', 'example.com', 'example.net', ...args)
})

/** As people write it: comments, quotes and an anchor. */
const BY_HAND = `# Our zone.
"domain": 'example.com' # ours
soa_email: hostmaster@example.org
records:
  # both hosts
  www: &web {type: A, value: 192.0.2.1}
  '': *web
`

test.each([[], ['--absent']])(
  'zone rename %j goes on where a run was killed between its two renames, and keeps what people wrote',
  async (...args) => {
    const scene = openScene({ files: { 'zones/example.com.yaml': BY_HAND } })
    const moved = BY_HAND.replace("'example.com'", 'example.net')
    // The first rename has happened, the second has not.
    scene.write({ 'zones/example.net.yaml': moved })
    expectEnd(await scene.run('validate'), 0)
    expectEnd(await scene.run('zone', 'rename', 'example.com', 'example.net', ...args), 0)
    const { 'zonewright.yaml': _, ...files } = scene.files()
    const kept = BY_HAND.replace('# ours\n', '# ours\nabsent: true\n')
    expect(files).toEqual({ 'zones/example.net.yaml': moved, ...(args.length > 0 && { 'zones/example.com.yaml': kept }) })
  },
)
