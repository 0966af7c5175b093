/** Programs that import `zonewright/definition`. */
import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openScene } from '../cli/scene.ts'
import { expectEnd } from '../support/cli.ts'

const CONFIG = 'zones: [{files: "zones/*.{yaml,ts,js}"}]\ndefaults: {soa_email: hostmaster@example.com}\n'

const open = (program: string, files: Readonly<Record<string, string>> = {}, more: object = {}) =>
  openScene({ files: { 'zones/example.ts': program, ...files }, config: CONFIG, ...more })

const zoneWith = (records: string, settings = '{}'): string =>
  `import * as z from 'zonewright/definition'\nconst { zone, A, AAAA, CNAME, MX, TXT, CAA, LOC, SRV, spf, dkim, dmarc, caa, loc, ip, load, reverse, record } = z\nzone('example.com', ${settings}, [\n  ${records}\n])\n`

test("the issue's program makes a zone and its reverse zone; the next plan is empty", async () => {
  const program = `import { zone, A, CNAME, TXT, load, spf, reverse } from 'zonewright/definition'
const hosts = load('../data/hosts.csv')
zone('example.com', { soa_email: 'hostmaster@example.com', default_ttl: '1h' }, [
  A('@', ['192.0.2.10', '192.0.2.11']), CNAME('www', '@'),
  hosts.filter((h) => h.site === 'ams').map((h) => A(h.name, h.ip, { ttl: 300, owner: h.team })),
  TXT('@', spf({ include: ['_spf.google.com'], all: '-all' })),
])
reverse('192.0.2.0/24', hosts)
`
  const scene = open(program, { 'data/hosts.csv': 'name,ip,site,team\r\nh1,192.0.2.1,ams,"web, ""ops"""\nh2,192.0.2.2,lon,x\n' })
  expectEnd(await scene.run('apply', '--yes'), 0)
  expect(scene.memory.zone('example.com')).toEqual(
    expect.arrayContaining([
      'example.com. 3600 A 192.0.2.11',
      'www.example.com. 3600 CNAME example.com.',
      'h1.example.com. 300 A 192.0.2.1',
    ]),
  )
  expect(scene.memory.zone('example.com')).not.toContain('h2.example.com. 300 A 192.0.2.2')
  expect(scene.memory.zone('2.0.192.in-addr.arpa')?.join('\n')).toMatch(/^2\.2\.0\.192\.in-addr\.arpa\. - PTR h2\.example\.com\.$/m)
  expectEnd(await scene.run('plan', '--detailed-exitcode'), 0)
})

test.each([
  ["A('www' '192.0.2.1')", /example\.ts:4:\d+: error\[program-failed\] SyntaxError/],
  ["A('www', undefined.ip)", /example\.ts:4:\d+: error\[program-failed\] TypeError/],
  ["MX('@', undefined)", /example\.ts:4:3: error/],
  ["]), zone('example.com', {}, [", /example\.ts:4:\d+: error\[zone-duplicate\]/],
  ["A('www', '192.0.2.256')", /example\.ts:4:3: error\[value-invalid\]/],
  ["A('www', '192.0.2.1', { tll: 5 })", /example\.ts:4:3: error\[schema-unknown-key\]/],
  ["A('www.example.net.', '192.0.2.1')", /example\.ts:4:3: error\[name-outside-zone\]/],
  ["A('www', '192.0.2.1'),\n  A('WWW', '192.0.2.2')", /example\.ts:5:3: error\[yaml-duplicate-key\]/],
  [
    "A('www', '192.0.2.1'),\n  'text'",
    /example\.ts:3:1: error\[program-failed\] TypeError: the zone example\.com has something that is no record: a value of type string/,
  ],
  ["A('www', Promise.resolve('192.0.2.1'))", /example\.ts:4:\d+: error\[program-failed\] Promise cannot be used/],
  ["A('www', () => 1)", /example\.ts:4:\d+: error\[program-failed\] .*a value of type function/],
  ["A('www', { get a() { throw new Error('poison') } })", /example\.ts:4:\d+: error\[program-failed\] poison/],
  [
    "TXT('www', '\u{1f600}'.slice(1))",
    /example\.ts:4:\d+: error\[program-failed\] TypeError: the value of TXT www has half a surrogate pair/,
  ],
  ["TXT('www', 'x'.repeat(2 ** 21))", /example\.ts:4:\d+: error\[program-failed\] RangeError: the value of TXT www has 2097152 characters/],
  ["load('../creds.json')", /example\.ts:4:\d+: error\[program-failed\] \.\.\/creds\.json may have secrets/],
  ["load('../link.json')", /example\.ts:4:\d+: error\[program-failed\] \.\.\/link\.json may have secrets/],
  ["load('../zonewright.yaml')", /example\.ts:4:\d+: error\[program-failed\] .*is the config/],
  ["load('../nul.csv')", /example\.ts:4:\d+: error\[program-failed\] nul\.csv has a NUL character/],
  ["load('../.env.json')", /example\.ts:4:\d+: error\[program-failed\] .*is hidden/],
  ["load('../../x.json')", /example\.ts:4:\d+: error\[program-failed\] .*outside/],
  ["TXT('@', spf({ al: '-all' }))", /example\.ts:4:\d+: error\[program-failed\] TypeError: spf does not know al/],
])('%s has its place', async (records, expected) => {
  const scene = open(zoneWith(records), { 'creds.json': '{}', 'nul.csv': 'a\n\0b\n' })
  symlinkSync('creds.json', join(scene.folder, 'link.json'))
  const { stdout, stderr } = await scene.run('validate')
  expect(stdout + stderr).toMatch(expected)
})

test.each([
  ['web(undefined)', 'web = (host: any) => A("www", host.ip)', 'program-failed'],
  ['deep()', 'deep = (): any => [deep()]', 'program-limit'],
])('%s shows message, code frame and the stack of the program', async (call, helper, code) => {
  const scene = open(zoneWith(call).replace('zone(', `const ${helper}\nzone(`))
  const { stdout } = await scene.run('validate')
  const lines = stdout.split('\n')
  expect(lines[0]).toMatch(new RegExp(`^zones/example\\.ts:3:\\d+: error\\[${code}\\] `))
  expect(lines.slice(1, 5)).toEqual([
    expect.stringMatching(/^ {4}2 \| const \{ zone, A/),
    `  > 3 | const ${helper}`,
    expect.stringMatching(/^ {6}\| +\^$/),
    expect.stringMatching(/^ {4}4 \| zone\('example\.com'/),
  ])
  expect(lines[5]).toMatch(/^ {2}zones\/example\.ts:[35]:\d+: called (?:here|in deep)$/)
})

const CALLED = {
  'zones/lib.ts': "import { A } from 'zonewright/definition'\nexport const host = (name: string, ip: string) =>\n  A(name, ip)\n",
  'zones/example.ts':
    "import { zone } from 'zonewright/definition'\nimport { host } from './lib.ts'\nconst web = (ip: string) => host('www', ip)\nzone('example.com', {}, [web('192.0.2.1')])\n",
}
const CALLED_BY_DNSCONFIG = {
  'dns/lib.js': 'function host(name, ip) {\n  return A(name, ip)\n}\n',
  'dns/dnsconfig.js':
    "require('lib.js')\nvar REG = NewRegistrar('none')\nvar DSP = NewDnsProvider('cloud')\nD('example.com', REG, DnsProvider(DSP),\n  host('www', '192.0.2.1'))\n",
}

test.each([
  ['TypeScript', CALLED, 'zones/lib.ts:3:3', ['zones/example.ts:3:29', 'zones/example.ts:4:26']],
  ['dnsconfig.js', CALLED_BY_DNSCONFIG, 'dns/lib.js:2:10', ['dns/dnsconfig.js:5:3']],
])('%s: plan lines and diagnostics name the call that made a record, with --verbose those above it', async (_, files, made, above) => {
  const scene = openScene({ files, config: CONFIG.replace('}"}', '}"}, {files: "dns/dnsconfig*.js"}') })
  const plan = expectEnd(await scene.run('plan'), 0).stdout
  expect(plan).toMatch(new RegExp(`^  \\+ www .* 192\\.0\\.2\\.1  ${made}$`, 'm'))
  expect(expectEnd(await scene.run('plan', '--verbose'), 0).stdout).toContain(`192.0.2.1  ${made}, called at ${above.join(', ')}\n`)
  expect(expectEnd(await scene.run('plan', '--format', 'markdown'), 0).stdout).toContain(`192.0.2.1  ${made}\n`)
  for (const [file, text] of Object.entries(files)) scene.write({ [file]: text.replace('192.0.2.1', '10.0.0.1') })
  const found = JSON.parse((await scene.run('validate', '--format', 'json')).stdout).diagnostics.filter(
    ({ code }: { code: string }) => code === 'address-private',
  )
  const placed = ({ file, line, column }: Record<string, unknown>) => `${file}:${line}:${column}`
  expect(found.map((one: { related: [] }) => [placed(one), one.related.map(placed)])).toEqual([[made, above]])
  expect((await scene.run('validate')).stdout).not.toContain('called here')
  expect((await scene.run('validate', '--verbose')).stdout).toContain(above.map((place) => `  ${place}: called here\n`).join(''))
})

test('helpers make the values of their RFCs', async () => {
  const records = [
    "TXT('a', spf({ ip4: '192.0.2.0/24', mx: true, include: 'x.example', all: '~all' }))",
    "TXT('k._domainkey', dkim({ p: 'AAAA' }))",
    "TXT('_dmarc', dmarc({ p: 'reject', rua: ['a@example.com', 'mailto:b@example.com'] }))",
    "CAA('@', caa({ issue: 'ca.example', iodef: 'mailto:x@example.com' }))",
    "MX('@', { preference: 10, exchange: 'mx' })",
    "A('n', [ip.add('192.0.2.255', 1), ip.host('198.51.100.0/24', -2)])",
    "AAAA('n', [ip.add('2001:db8::ffff', 1), ip.host('2001:db8::/64', 5), ip.add('::ffff:192.0.2.1', 1)])",
    "record('_m._tcp', 'SRV', { priority: 1, weight: 2, port: 3, target: 'n' })",
  ]
  const scene = open(zoneWith(records.join(',\n  '), "{ default_ttl: 300, unmanaged: [{ name: 'x' }] }"))
  expectEnd(await scene.run('apply', '--yes'), 0)
  expect(scene.memory.zone('example.com')).toEqual(
    expect.arrayContaining([
      'a.example.com. 300 TXT "v=spf1 ip4:192.0.2.0/24 mx include:x.example ~all"',
      'k._domainkey.example.com. 300 TXT "v=DKIM1; k=rsa; p=AAAA"',
      '_dmarc.example.com. 300 TXT "v=DMARC1; p=reject; rua=mailto:a@example.com,mailto:b@example.com"',
      'example.com. 300 CAA 0 issue "ca.example"',
      'example.com. 300 MX 10 mx.example.com.',
      'n.example.com. 300 A 192.0.3.0',
      'n.example.com. 300 A 198.51.100.254',
      'n.example.com. 300 AAAA 2001:db8::1:0',
      'n.example.com. 300 AAAA 2001:db8::5',
      '_m._tcp.example.com. 300 SRV 1 2 3 n.example.com.',
    ]),
  )
})

test('a reverse zone for a part of a /24 has names below it (RFC 2317)', async () => {
  const hosts = "[{ name: 'h', ip: '192.0.2.65' }, { name: 'i', ip: '192.0.2.1' }, { name: 'j', ip: '2001:db8::1' }]"
  const { stdout } = expectEnd(await open(`${zoneWith('')}reverse('192.0.2.64/26', ${hosts})`).run('render', '64/26*'), 0)
  expect(stdout).toMatch(
    /^domain: 64\/26\.2\.0\.192\.in-addr\.arpa\n(?:.*\n)*records:\n {2}'65': \{type: PTR, value: h\.example\.com\.\}\n$/m,
  )
})

test('the reverse zones of thousands of hosts are within the limits', { tags: ['long'] }, async () => {
  const hosts = 'Array.from({ length: 12_000 }, (_, i) => ({ name: "h" + i, ip: ip.host("10.0.0.0/16", i) }))'
  const scene = open(`${zoneWith('')}const hosts = ${hosts}\nfor (let i = 0; i < 47; i++) reverse('10.0.' + i + '.0/24', hosts)\n`)
  expect((await scene.run('validate')).stdout).not.toContain('program-limit')
})

test('modules are shared, and no definitions of their own; data that is a definition stays one', async () => {
  const program = `import { zone } from 'zonewright/definition'\nimport { mail } from './lib.ts'\nfor (const name of ['a.example', 'b.example']) zone(name, {}, [mail()])\n`
  const files = {
    'zones/lib.ts': `import { MX, load } from 'zonewright/definition'\nexport const mail = () => MX('@', { preference: 1, exchange: load('c.example.yaml').domain + '.' })\n`,
    'zones/c.example.yaml': 'domain: c.example\nrecords: {"@": {type: A, value: 192.0.2.1}}\n',
  }
  const { stdout } = await open(program, files).run('zones')
  expect(stdout.match(/^\w\.example/gm)).toEqual(['a.example', 'b.example', 'c.example'])
})

test('with CI set, a program reads only files that git tracks', async () => {
  const scene = open(zoneWith("A('www', load('../data/hosts.json')[0])"), { 'data/hosts.json': '["192.0.2.1"]' })
  const git = (...args: string[]): void => void execFileSync('git', ['-C', scene.folder, ...args], { stdio: 'ignore' })
  git('init')
  git('add', 'zones', 'zonewright.yaml')
  const run = async () => scene.run('validate')
  expectEnd(await run(), 0)
  expect((await scene.runWith({ CI: 'true' }, 'validate')).stdout).toMatch(
    /example\.ts:4:\d+: error\[program-failed\] data\/hosts\.json is not tracked/,
  )
})

test.each([
  [[], '', '1970-01-01'],
  [[], 'programs: {date: 2026-12-31}\n', '2026-12-31'],
  [['--var', 'date=2027-01-01'], 'programs: {date: 2026-12-31}\n', '2027-01-01'],
  [['--var', 'date=2027-02-30'], '', '1970-01-01'],
])('with %j and "%s", Date says %s', async (args, config, day) => {
  const scene = open(zoneWith("TXT('@', new Date().toISOString())"), {}, { config: CONFIG + config })
  expect(expectEnd(await scene.run('render', ...args), 0).stdout).toContain(`${day}T00`)
})

const TWICE = zoneWith("A('www', '192.0.2.1')")

test.each([
  ['two programs', { 'zones/b.ts': TWICE }, 'zones/example.ts:3:1', 'zones/b.ts:3:1'],
  ['a program and YAML', { 'zones/b.yaml': 'domain: example.com\nrecords: {}\n' }, 'zones/example.ts:3:1', 'zones/b.yaml:1:9'],
  ['one program', { 'zones/example.ts': `${TWICE}zone('example.com', {}, [])\n` }, 'zones/example.ts:6:1', 'zones/example.ts:3:1'],
])('%s that make one zone: an error that names both places', async (_, files, later, first) => {
  const { stdout } = await open(TWICE, files).run('validate')
  expect(stdout).toContain(
    `${later}: error[zone-duplicate] example.com. is defined twice for cloud (the other definition: ${first}; import the records`,
  )
})

test('two programs for one zone with different targets both count', async () => {
  const [a, b] = ['cloud', 'other'].map((target) => zoneWith("A('www', '192.0.2.1')", `{ targets: ['${target}'] }`))
  const scene = open(
    a ?? '',
    { 'zones/b.ts': b ?? '' },
    { also: ['other'], config: `  other: {type: cloud, preset: linode, token: env:ZONEWRIGHT_TOKEN}\n${CONFIG}` },
  )
  expect(expectEnd(await scene.run('plan'), 0).stdout).toMatch(/example\.com\. at cloud[\s\S]*example\.com\. at other/)
})

test('a program that makes no zone, or too many records, is refused', async () => {
  expect((await open('export {}\n').run('validate')).stdout).toMatch(/example\.ts:1:1: error\[definition-empty\] the program makes no zone/)
  const half = "A('www', new Array(500_001).fill('192.0.2.1'))"
  expect((await open(zoneWith(`\n${half}, ${half}`)).run('validate')).stdout).toMatch(
    /example\.ts:5:\d+: error\[program-failed\] RangeError: a program makes at most 1000000 records/,
  )
})

test('many small programs do not exhaust the memory', { tags: ['long'] }, async () => {
  const text = (name: string) =>
    `import { TXT, zone } from 'zonewright/definition'\nzone('${name}', {}, [TXT('@', Array.from({ length: 600 }, (_, i) => i + 'x'.repeat(60000)))])\n`
  const { stdout } = await open(text('a.example'), { 'zones/b.ts': text('b.example') }).run('validate')
  expect(stdout).toMatch(
    /error\[file-too-large\] with this definition, more than \d+ octets of data of all definitions are made by programs/,
  )
  expect(stdout.match(/file-too-large/g)).toHaveLength(1)
})

test('--since follows the files that a zone of a program includes', async () => {
  const scene = open(zoneWith("A('www', load('../data/hosts.json')[0])", "{ include: ['../data/mail.yaml'] }"), {
    'data/hosts.json': '["192.0.2.1"]',
    'data/mail.yaml': 'mail: {type: A, value: 192.0.2.7}',
    'zones/b.js': zoneWith("A('www', '192.0.2.9')").replaceAll('example.com', 'example.net'),
  })
  const git = (...args: string[]): void =>
    void execFileSync('git', ['-C', scene.folder, '-c', 'user.name=x', '-c', 'user.email=x@example.com', ...args], { stdio: 'ignore' })
  git('init')
  git('add', '.')
  git('commit', '-m', 'x')
  expect((await scene.run('zones', '--since', 'HEAD')).stdout).not.toContain('example.')
  scene.write({ 'data/mail.yaml': 'mail: {type: A, value: 192.0.2.8}' })
  const { stdout } = await scene.run('zones', '--since', 'HEAD')
  expect(stdout).toContain('example.com')
  expect(stdout).not.toContain('example.net')
})

test('zones/**/* matches no program', async () => {
  const scene = open(zoneWith("A('www', '192.0.2.1')"), {}, { config: 'zones: [{files: "zones/**/*"}]\n' })
  expect((await scene.run('validate')).stdout).toContain('no-definitions')
})
