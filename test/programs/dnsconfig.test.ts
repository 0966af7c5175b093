/** A dnsconfig.js as the definition of zones, and its import. */
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { DomainName } from '../../src/dns/domain-name.ts'
import { openScene } from '../cli/scene.ts'
import { cli, expectEnd } from '../support/cli.ts'
import { response, startScriptedDns } from '../support/scripted-dns.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

const PROGRAM = `CLI_DEFAULTS({ site: 'ams' })
const REG = NewRegistrar('none')
const DNS = NewDnsProvider('cloud')
const hosts = require('./hosts.json')
D('example.com', REG, DnsProvider(DNS), DefaultTTL('1h'),
  hosts.map((h) => A(h.name, h.ip)),
  TXT('site', \`at \${site}\`),
)
DOMAIN_ELSEWHERE('example.org', REG, ['ns.example.net.'])
`
const HOSTS = '[{"name": "@", "ip": "192.0.2.1"}, {"name": "www", "ip": "192.0.2.2"}]'
const RULES = 'zones: [{files: [dnsconfig.js]}]\ndefaults: {soa_email: hostmaster@example.com}\n'

const open = (program = PROGRAM, more: object = {}) =>
  openScene({ files: { 'dnsconfig.js': program, 'hosts.json': HOSTS }, config: RULES, ...more })

test('a program that the config names is planned and applied; the next plan is empty', async () => {
  const scene = open()
  expectEnd(await scene.run('apply', '--yes'), 0)
  expect(scene.memory.zone('example.com')).toContain('www.example.com. 3600 A 192.0.2.2')
  const { stdout } = expectEnd(await scene.run('plan', '--detailed-exitcode', '--var', 'site=ams'), 0)
  expect(stdout).not.toContain('example.org')
  expect(expectEnd(await scene.run('plan', '--detailed-exitcode', '--var', 'site=lon'), 2).stdout).toContain('at lon')
})

test.each([
  [
    'a record',
    PROGRAM.replace("TXT('site'", "CNAME('x', 'a.b'), TXT('site'"),
    /^dnsconfig\.js:7:3: error\[schema-value\] CNAME x of example\.com/m,
  ],
  [
    'a builder',
    PROGRAM.replace("TXT('site'", "SPF_BUILDER({ parts: ['v=spf1', 'bad', '-all'], flatten: [hosts[0].name] }), TXT('site'"),
    /^dnsconfig\.js:7:3: error\[schema-value\] the SPF record @ of example\.com: SPF has no part "bad"/m,
  ],
  ['a missing file', PROGRAM.replace('./hosts', './creds'), /^dnsconfig\.js:4:\d+: error\[program-failed\] .*secrets/m],
  [
    'two providers that would be one target',
    PROGRAM.replace("'cloud')", "'a b')").replace('DnsProvider(DNS)', "DnsProvider(DNS), DnsProvider(NewDnsProvider('a/b'))"),
    /^dnsconfig\.js:5:1: error\[provider-unknown\] the DNS providers "a b" and "a\/b" would both be a-b/m,
  ],
  ['a provider that the config lacks', PROGRAM.replace("Provider('cloud'", "Provider('other'"), /error\[target-unknown\]|other/],
])('%s has its place in diagnostics', async (_, program, expected) => {
  const { stdout, stderr } = await open(program).run('validate')
  expect(stdout + stderr).toMatch(expected)
})

const D = "D('a.example', NewRegistrar('none'), DnsProvider(NewDnsProvider('cloud')),"
test.each<[text: string, expected: string | RegExp]>([
  [`${D}\n  A('www' '192.0.2.1'))`, 'dnsconfig.js:2:11: error[program-failed] SyntaxError'],
  ['\nvar x = = 1', 'dnsconfig.js:2:9: error[program-failed] SyntaxError'],
  [`${D}\n  A('www', undefined.ip))`, 'dnsconfig.js:2:3: error[program-failed] TypeError'],
  ["\n  require('./missing.js')", 'dnsconfig.js:2:3: error[program-failed] missing.js does not exist'],
  [
    "\n  require('./cycle.js')",
    /cycle\.js:1:1: error\[program-limit\] the calls of the program are nested too deep\n.*dnsconfig\.js:2:3: called here/s,
  ],
  ["\n  require('./broken.js')", /broken\.js:2:\d+: error\[program-failed\] SyntaxError/],
  [`${D}\n  A('www.example.net.', '192.0.2.1'))`, 'dnsconfig.js:2:3: error[schema-value] the label "www.example.net." is not in a.example'],
  [
    `${D}\n  A('x', '192.0.2.1'),\n  A('x', '192.0.2.1'))`,
    'dnsconfig.js:3:3: error[schema-value] the record x A "192.0.2.1" of a.example is there twice',
  ],
  [`${D} [])\n ${D} [])`, 'dnsconfig.js:2:2: error[program-failed] a.example is declared more than once'],
  [`\n${D} 5)`, 'dnsconfig.js:2:1: error[program-failed] domain modifier type unsupported: number'],
  [`\n${D} 'text')`, 'dnsconfig.js:2:1: error[program-failed] domain modifier type unsupported: string'],
  [`\n${D} null)`, 'dnsconfig.js:2:1: error[program-failed] domain modifier type unsupported'],
  [`\n${D} Promise.resolve([]))`, 'dnsconfig.js:2:1: error[program-failed] a promise is neither a record nor a modifier'],
  [`\n${D} A('x'))`, 'dnsconfig.js:2:76: error[program-failed] A record requires 2 arguments'],
  ["\n D_EXTEND('b.example', [])", 'dnsconfig.js:2:2: error[program-failed] b.example was not declared yet'],
])('%j has its place', async (text, expected) => {
  const scene = open(text)
  scene.write({ 'cycle.js': "require('./dnsconfig.js')\n", 'broken.js': '\nlet = ;\n' })
  expect((await scene.run('validate')).stdout).toMatch(expected)
})

test('a glob finds no names outside the folder of the config, and none that are hidden', async () => {
  const scene = open(
    "console.log([['.', '.js'], ['..', 'js'], ['link', 'js'], ['.git', 'js']].map((a) => { try { return glob(a[0], true, a[1]) } catch (e) { return 'none' } }).join(' '))",
  )
  scene.write({
    'inner/dnsconfig.js': scene.files()['dnsconfig.js'] ?? '',
    'inner/.git/a.js': '',
    'inner/zonewright.yaml': 'zones: [{files: dnsconfig.js}]\n',
  })
  symlinkSync('..', join(scene.folder, 'inner/link'))
  const { stdout } = await cli(['validate'], { cwd: join(scene.folder, 'inner') })
  expect(stdout).toContain('program-message] dnsconfig.js none none none')
})

test('a program may begin with comments, whatever is in them', async () => {
  const comments = `${'/'.repeat(100)}\n${'/* a */ // b // c\n'.repeat(50)}`
  const scene = open(`${comments}'use strict'\nsite = 'a'\n${PROGRAM}`)
  expectEnd(await scene.run('plan'), 0)
})

test('thousands of domains are within the limits', { tags: ['long'] }, async () => {
  const scene = open(
    "const REG = NewRegistrar('none')\nfor (let i = 0; i < 4000; i++) D('e' + i + '.example', REG)\nfor (const one of getConfiguredDomains()) D_EXTEND('a.b.' + one, A('@', '192.0.2.1'))",
  )
  expect((await scene.run('validate')).stdout).not.toContain('program-limit')
})

test('zones/**/* matches no program', async () => {
  const scene = open(PROGRAM, { config: 'zones: [{files: ["**/*"]}]\n' })
  expect((await scene.run('validate')).stdout).toContain('no-definitions')
})

test('what only another provider has stays there', async () => {
  const alias = "AZURE_ALIAS('lb', 'A', '/subscriptions/1'), CF_REDIRECT('example.com/*', 'https://example.net/$1'), TXT('site'"
  const scene = open(PROGRAM.replace("TXT('site'", alias))
  expectEnd(await scene.run('apply', '--yes'), 0)
  const { stdout } = await scene.run('validate')
  expect(stdout).toMatch(/dnsconfig\.js:7:3: warning\[type-foreign\] lb\.example\.com\. AZURE_ALIAS/)
})

test('an import keeps the program and writes the config from creds.json', async () => {
  const cwd = temporaryDirectory()
  const write = (name: string, text: string): void => writeFileSync(join(cwd, name), text)
  write('dnsconfig.js', PROGRAM)
  write('hosts.json', HOSTS)
  write('creds.json', '{"cloud": {"TYPE": "DESEC", "auth-token": "hunter2"}}')
  const { stdout, stderr } = expectEnd(await cli(['import', 'dnscontrol', 'dnsconfig.js'], { cwd }), 0)
  expect(stdout).toBe('zonewright.yaml\n')
  expect(stderr).toContain('Set CLOUD_TOKEN')
  expect(readFileSync(join(cwd, 'zonewright.yaml'), 'utf8')).toBe(`# Converted from creds.json of DNSControl.
providers:
  cloud: {type: desec, token: env:CLOUD_TOKEN}
zones:
  - files: [dnsconfig.js]
`)
  expect(readFileSync(join(cwd, 'dnsconfig.js'), 'utf8')).toBe(PROGRAM)
  expectEnd(await cli(['validate'], { cwd }), 0)
  expectEnd(await cli(['import', 'dnscontrol', 'dnsconfig.js', '--convert', '-o', 'zones', '--force'], { cwd }), 0)
  expect(readFileSync(join(cwd, 'zones/example.com.yaml'), 'utf8')).toContain('192.0.2.2')
})

test.each<[name: string, cloud: string, other: string, status: number, said: string | RegExp, rules: string | null]>([
  [
    'some providers',
    'DESEC',
    'MIKROTIK',
    0,
    /import-aside\].*"other \(MIKROTIK\)".*disables the zones/,
    `zones:
  - files: [dnsconfig.js]
    zone: [example.net]
    enabled: false # a provider is missing
  - files: [dnsconfig.js]
`,
  ],
  ['no provider', 'FORTIGATE', 'MIKROTIK', 1, /provider-unknown\].*"cloud \(FORTIGATE\)", "other \(MIKROTIK\)".*new zonewright.yaml/, null],
])('an import that can convert %s', async (_, cloud, other, status, said, rules) => {
  const cwd = temporaryDirectory()
  const write = (name: string, text: string): void => writeFileSync(join(cwd, name), text)
  const more =
    "const OTHER = NewDnsProvider('other', { default_ns: ['ns1.example.net.'] })\nD('example.net', REG, DnsProvider(DNS), DnsProvider(OTHER), { ns_ttl: '5' })\n"
  write('dnsconfig.js', `${PROGRAM}${more}`)
  write('hosts.json', HOSTS)
  write('creds.json', JSON.stringify({ cloud: { TYPE: cloud, 'auth-token': '$T' }, other: { TYPE: other } }))
  const { stdout, stderr } = expectEnd(await cli(['import', 'dnscontrol', 'dnsconfig.js'], { cwd }), status, { err: [said, 'default_ns'] })
  expect(stderr).toMatch(/^dnsconfig\.js:11:1: warning\[record-extra\] example\.net\.: .*ns_ttl/m)
  expect(stdout).toBe(rules === null ? '' : 'zonewright.yaml\n')
  expect(
    existsSync(join(cwd, 'zonewright.yaml')) ? readFileSync(join(cwd, 'zonewright.yaml'), 'utf8').replace(/^.*?(?=zones:)/s, '') : null,
  ).toBe(rules)
  if (rules !== null) expectEnd(await cli(['validate'], { cwd }), 0)
})

test('an import ends with the plan of the program', async () => {
  const cwd = temporaryDirectory()
  const write = (name: string, text: string): void => writeFileSync(join(cwd, name), text)
  write(
    'dnsconfig.js',
    PROGRAM.replace(
      "TXT('site'",
      "SOA('@', 'ns.example.net.', 'a.example.com.', 3600, 600, 604800, 300), NAMESERVER('ns.example.net.'), TXT('site'",
    ),
  )
  write('hosts.json', HOSTS)
  write('creds.json', '{"cloud": {"TYPE": "BIND", "directory": "served"}}')
  mkdirSync(join(cwd, 'served'))
  const first = expectEnd(await cli(['import', 'dnscontrol', 'dnsconfig.js'], { cwd }), 0)
  expect(first.stdout).toContain('A    192.0.2.2')
  expectEnd(await cli(['apply', '--yes'], { cwd }), 0)
  rmSync(join(cwd, 'zonewright.yaml'))
  const again = expectEnd(await cli(['import', 'dnscontrol', 'dnsconfig.js'], { cwd }), 0)
  expect(again.stdout).toContain('No changes')
})

test('SPF records are flattened from spfcache.json, which a command refreshes', async () => {
  const answers: Record<string, string> = {
    '_spf.example.net.': 'v=spf1 ip4:192.0.2.0/24 include:_more.example.net -all',
    '_more.example.net.': 'v=spf1 ip4:198.51.100.0/24 ?all',
  }
  const server = await startScriptedDns((query) => {
    const { name = '' } = query.questions[0] ?? {}
    const text = answers[name] ?? 'none'
    return [response(query, [{ name: name as DomainName, type: 'TXT', class: 1, ttl: 60, data: `"${text}"` }])]
  })
  const parts = "parts: ['v=spf1', 'include:_spf.example.net', '-all'], flatten: ['*']"
  const scene = open(PROGRAM.replace("TXT('site'", `SPF_BUILDER({ ${parts} }), TXT('site'`))
  expect((await scene.run('validate')).stdout).toContain('"zonewright spf" queries it')
  const refresh = () => scene.run('spf', '--resolver', `127.0.0.1:${server.port}`)
  expect(expectEnd(await refresh(), 0).stdout).toContain('_more.example.net: v=spf1 ip4:198.51.100.0/24 ?all\n')
  expect(JSON.parse(scene.files()['spfcache.json'] ?? '')).toEqual({
    '_more.example.net': { SPF: answers['_more.example.net.'] },
    '_spf.example.net': { SPF: answers['_spf.example.net.'] },
  })
  expect(expectEnd(await scene.run('plan'), 0).stdout).toContain('"v=spf1 ip4:192.0.2.0/24 ip4:198.51.100.0/24 -all"')
  expect(expectEnd(await refresh(), 0).stdout).toBe('')
  answers['_more.example.net.'] = 'none'
  expect(expectEnd(await refresh(), 1).stderr).toContain('_more.example.net has no SPF record')
})

test('spf runs no program of the other language', async () => {
  const scene = open(PROGRAM, { config: RULES.replace('dnsconfig.js', 'dnsconfig.js, other.ts') })
  scene.write({ 'other.ts': "import { zone } from 'zonewright/definition'\nzone('example.net', {}, [])\n" })
  expectEnd(await scene.run('spf'), 0)
})
