/** Every command on zones that programs make, in both languages. */
import { describe, expect, test } from 'vitest'
import { openScene, type Scene } from '../cli/scene.ts'
import { expectEnd } from '../support/cli.ts'
import { type GitRepository, gitRepository } from '../support/git-repository.ts'

const DATA = {
  'data/hosts.json': '[{"name": "www", "ip": "192.0.2.1"}, {"name": "db", "ip": "192.0.2.2"}]',
  'policies/rules.yaml': `- name: no-db
  each: record_set
  require: {not: {properties: {name: {const: db.example.com.}}}}
  message: no databases
  tests: [{given: {name: db.example.com.}, expect: fail}, {given: {name: x.}, expect: pass}]
`,
}

const PROGRAMS = {
  'zones/all.ts': `import { A, MX, TXT, load, zone } from 'zonewright/definition'
import { office } from './lib.ts'
zone('example.com', { soa_email: 'hostmaster@example.com', targets: ['cloud'] }, [
  load('../data/hosts.json').map((host) => A(host.name, host.ip, { ttl: 300 })), TXT('@', 'v=spf1 inclde:x -all', { ttl: 300 }), MX('@', { preference: 10, exchange: 'www' }, { ttl: 300 }),
])
zone('example.net', {}, office('192.0.2.9'))
`,
  'dnsconfig.js': `const [REG, DNS] = [NewRegistrar('none'), NewDnsProvider('cloud')]
require('./lib.js')
D('example.com', REG, DnsProvider(DNS),
  require('./data/hosts.json').map((host) => A(host.name, host.ip)), TXT('@', 'v=spf1 inclde:x -all'), MX('@', 10, 'www'),
)
D('example.net', REG, DnsProvider(DNS), office('192.0.2.9'))
`,
}
const LIBRARIES = {
  'zones/lib.ts': "import { A } from 'zonewright/definition'\nexport const office = (ip: string) => A('www', ip, { ttl: 300 })\n",
  'lib.js': "function office(ip) { return A('www', ip) }\n",
}

const open = (file: keyof typeof PROGRAMS, rule = '', more: Readonly<Record<string, string>> = {}): Scene =>
  openScene({
    files: { [file]: PROGRAMS[file], ...LIBRARIES, ...DATA, ...more },
    config: `zones: [{files: ${file}, owner: team-dns${rule}}]\ndefaults: {soa_email: hostmaster@example.com}\n`,
  })
const files = Object.keys(PROGRAMS) as (keyof typeof PROGRAMS)[]

describe.each(files)('%s', (file) => {
  const library = file === 'dnsconfig.js' ? 'lib.js' : 'zones/lib.ts'
  const column = PROGRAMS[file].split('\n')[3]?.indexOf('A(host')
  const [place, ofText] = [`${file}:4:${Number(column) + 1}`, `${file}:4:`]
  const commands: readonly [command: string, status: number, shown: readonly (string | RegExp)[]][] = [
    ['zones', 0, [/^example\.com\. +cloud +sync +4 +.*hosts\.json.*$/m, file, library]],
    ['validate', 1, [`${place}: error[policy-no-db] db.example.com. A`, `${ofText}`, 'warning[spf-invalid]']],
    ['validate --format github', 1, [`::error file=${file},line=4,col=${Number(column) + 1},title=policy-no-db::`]],
    ['validate --format sarif', 1, [new RegExp(`"uri": "${file}"[^}]*\\}[^}]*"startLine": 4`)]],
    ['validate --format junit', 1, [`name="example.com." classname="${file}"`, 'validate: team-dns']],
    ['validate --format html', 1, [`title="${file}"|>${file}<`].map((one) => new RegExp(one))],
    [`validate ${file}`, 1, ['2 zones, 5 records']],
    [`plan ${file} --format json`, 1, ['policy-no-db']],
    ['plan example.net', 0, ['team-dns: 1 zone', '192.0.2.9']],
    ['export csv', 0, ['example.net.,www.example.net.,A,300,192.0.2.9']],
    ['export zonefile example.net --ns ns.example.net', 0, [/^www\s+300\s+IN\s+A\s+192\.0\.2\.9$/m]],
    ['export octodns example.net', 0, [/^www:\n(?: +.*\n)* +value: 192\.0\.2\.9$/m]],
    ['export dnscontrol example.net -o out --ns ns.example.net', 0, [/dnsconfig\.js/]],
    [
      'render example.net',
      0,
      [/^# (?:zones\/all\.ts:6|dnsconfig\.js:6)\ndomain: example\.net\n[\s\S]*www: \{type: A, ttl: 300, value: 192\.0\.2\.9\}$/m],
    ],
    ['record set example.com www A 192.0.2.8', 1, [`${place}: error[edit-refused]`, 'change line 4']],
    ['record remove example.com db A', 1, [`${place}: error[edit-refused]`]],
    ['record rename example.com www web', 1, [/error\[edit-refused\].*line 4/]],
    ['record set example.net www A 192.0.2.8', 1, [new RegExp(`${library}:\\d:\\d+: error\\[edit-refused\\]`)]],
    ['record add example.com new A 192.0.2.8', 1, [`${file}:3:1: error[edit-refused]`]],
    ['fmt --check', 0, []],
  ]
  for (const [command, status, shown] of commands) {
    // Formats, exports and edits see zones and places, which `plan` and `render` show of both languages.
    const isLong = file === 'dnsconfig.js' && /^(?:validate |export |record (?:remove|rename|set example\.net))/.test(command)
    test(command, isLong ? { tags: ['long'] } : {}, async () => {
      const scene = open(file)
      const before = scene.files()
      expectEnd(await scene.run(...command.split(' ')), status, { said: shown })
      if (!command.includes('-o out')) expect(scene.files()).toEqual(before)
    })
  }

  test('records have PTR records in a reverse zone in YAML', async () => {
    const reverse = 'domain: 2.0.192.in-addr.arpa\nsoa_email: a@example.com\nrecords: {}\n'
    const scene = open(file, ', auto_ptr: true}, {files: "zones/*.yaml"', { 'zones/2.0.192.in-addr.arpa.yaml': reverse })
    expect(expectEnd(await scene.run('plan', '2.0.192.in-addr.arpa'), 0).stdout).toMatch(/^ +\+ 9 .* PTR +www\.example\.net\. .*:\d+:\d+$/m)
  })

  test('a zone that it no longer makes is reported, and not deleted', async () => {
    const scene = open(file, '', { 'policies/rules.yaml': '[]' })
    expectEnd(await scene.run('apply', '--yes'), 0)
    scene.write({ [file]: PROGRAMS[file].replace(/^(?:zone|D)\('example\.net.*$/m, '') })
    const { stdout, stderr } = await scene.run('plan')
    expect(stdout + stderr).toMatch(/\[zone-(?:removed|undefined)\w*\] example\.net\./)
    expectEnd(await scene.run('apply', '--yes'), 0)
    expect(scene.memory.zone('example.net')).toContain('www.example.net. 300 A 192.0.2.9')
  })

  test.each<
    [
      name: string,
      before: Readonly<Record<string, string | null>>,
      after: Readonly<Record<string, string | null>>,
      zones: readonly string[],
    ]
  >([
    ['the data', {}, { 'data/hosts.json': '[{"name": "www", "ip": "192.0.2.3"}]' }, ['example.com.', 'example.net.']],
    ['a module', {}, { [library]: `${LIBRARIES[library]}// more\n` }, ['example.com.', 'example.net.']],
    [
      'data that it removes',
      {},
      { 'data/hosts.json': null, [file]: PROGRAMS[file].replace(/^.*hosts\.json.*$/m, '') },
      ['example.com.', 'example.net.'],
    ],
    ['another file', { 'data/x.json': '1' }, { 'data/x.json': '2' }, []],
  ])('--since follows %s', async (_, before, after, zones) => {
    const repository: GitRepository = gitRepository({}, open(file, '', before as Record<string, string>).folder)
    repository.write(after)
    const scene = openScene({ files: {} })
    const { stdout } = await scene.runIn({ cwd: repository.folder }, 'zones', '--since', 'HEAD', '--format', 'json')
    expect(JSON.parse(stdout).zones.map(({ zone }: { readonly zone: string }) => zone)).toEqual(zones)
  })
})

test('--since follows a file that a glob finds, or that was missing', async () => {
  const program = `require_glob('./hosts/')
let more = []
try { more = require('./more.json') } catch {}
D('example.com', NewRegistrar('none'), DnsProvider(NewDnsProvider('cloud')), more.map((ip) => A('more', ip)))
`
  const scene = openScene({
    files: { 'dnsconfig.js': program, 'hosts/a.js': '' },
    config: 'zones: [{files: dnsconfig.js}]\ndefaults: {soa_email: a@example.com}\n',
  })
  gitRepository({}, scene.folder)
  const selected = async () => (await scene.run('zones', '--since', 'HEAD')).stdout
  expect(await selected()).not.toContain('example.com.')
  for (const [path, text] of [
    ['hosts/b.js', ''],
    ['more.json', '["192.0.2.1"]'],
  ] as const) {
    const repository = gitRepository({}, scene.folder)
    expect(await selected()).not.toContain('example.com.')
    repository.write({ [path]: text })
    expect(await selected(), path).toContain('example.com.')
  }
})

test.each<[file: string, text: string]>([
  [
    'dnsconfig.js',
    `const [REG, IN, OUT] = [NewRegistrar('none'), NewDnsProvider('lab'), NewDnsProvider('cloud')]
D('example.com!inside', REG, DnsProvider(IN), A('www', '198.51.100.1'))
D('example.com!outside', REG, DnsProvider(OUT), A('www', '192.0.2.1'))
`,
  ],
  [
    'zones/split.ts',
    `import { A, zone } from 'zonewright/definition'
for (const [target, ip] of [['lab', '198.51.100.1'], ['cloud', '192.0.2.1']]) zone('example.com', { targets: [target] }, [A('www', ip)])
`,
  ],
])('split horizon: %s makes two versions of a zone', async (file, text) => {
  const scene = openScene({
    files: { [file]: text },
    also: ['lab'],
    config: `zones: [{files: ${file}}]\ndefaults: {soa_email: a@example.com}\n`,
  })
  scene.write({
    'zonewright.yaml': scene
      .config()
      .replace('providers:\n', "providers:\n  lab: {type: cloud, base_url: 'http://127.0.0.1:9/v4', token: 'env:ZONEWRIGHT_TOKEN'}\n"),
  })
  const { stdout } = await scene.run('plan')
  expect(stdout).toMatch(/example\.com\. at cloud[\s\S]*192\.0\.2\.1 [\s\S]*example\.com\. at lab[\s\S]*198\.51\.100\.1 /)
  const twice = text.replaceAll("'lab'", "'cloud'")
  scene.write({ [file]: twice })
  expect((await scene.run('validate')).stdout).toMatch(new RegExp(`${file}:[23]:\\d+: error\\[zone-duplicate\\]`))
})
