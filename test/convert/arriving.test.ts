/** Repositories of DNSControl and octoDNS arrive with the documented commands: the import ends where the next command begins. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { cli, expectEnd } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

/** A folder with these files, and a function that runs a command line of words in it. */
function repository(files: Readonly<Record<string, string>>) {
  const cwd = temporaryDirectory()
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true })
    writeFileSync(join(cwd, path), text)
  }
  const run = (line: string, env: Readonly<Record<string, string>> = {}) => cli(line.split(' '), { cwd, env })
  return { run, has: (path: string) => existsSync(join(cwd, path)), text: (path: string) => readFileSync(join(cwd, path), 'utf8') }
}

const domain = (name: string, address: string, rest: object = {}) => ({
  name,
  registrar: 'none',
  dnsProviders: { cf: -1 },
  records: [{ type: 'A', name: 'www', ttl: 300, target: address }],
  ...rest,
})

const dnscontrol = (...domains: readonly object[]) =>
  repository({ 'ir.json': JSON.stringify({ domains }), 'creds.json': '{"cf": {"TYPE": "CLOUDFLAREAPI", "apitoken": "$CF_TOKEN"}}' })

describe('a split horizon of DNSControl', () => {
  const open = () => dnscontrol(...['', 'inside', 'lab'].map((tag, i) => domain('example.com', `192.0.2.${i}`, { tag })))

  test('is imported in one variant by its tag, and the others are no loss then', async () => {
    const { run, text } = open()
    expectEnd(await run('import dnscontrol ir.json example.com!inside -o zones'), 0)
    expect(text('zones/example.com.yaml')).toContain('192.0.2.1')
  })

  test.each([
    ['example.com', 'import it separately, as example.com!inside'],
    ['example.com!other', 'zone-unknown'],
    ['example.com!inside example.com!lab', 'import it separately, as example.com!inside'],
  ])('%s is not taken for another one', async (variant, err) => {
    expectEnd(await open().run(`import dnscontrol ir.json ${variant} -o zones`), 1, { err })
  })
})

describe('--lossy=NAME', () => {
  const open = () =>
    repository({
      'in/example.com.yaml':
        'geo: {type: A, value: 192.0.2.1, geo: {NA: [192.0.2.2]}}\n' +
        'old: {type: Ns1Provider/REDIRECT, value: {a: b}}\nwww: {type: A, value: 192.0.2.1, dynamic: {pools: {}}}\n',
    })

  test('accepts the losses that it names and no others', async () => {
    const { run, has } = open()
    expectEnd(await run('import octodns in -o out --lossy=geo,Ns1Provider/REDIRECT'), 1, {
      err: [/warning\[import-lossy\] geo/, /warning\[import-lossy\] old/, /error\[import-lossy\] www.*--lossy=dynamic leaves it out/],
    })
    expect(has('out')).toBe(false)
    expectEnd(await run('import octodns in -o out --lossy=geo,Ns1Provider/REDIRECT --lossy=dynamic'), 0)
  })

  test('every name is one that a message shows', async () => {
    const { run } = dnscontrol(domain('example.com', '192.0.2.1', { tag: 'a' }), domain('example.com', '192.0.2.1', { tag: 'b' }))
    const { stderr } = expectEnd(await run('import dnscontrol ir.json -o zones'), 1)
    const [option = ''] = /--lossy=\S+/.exec(stderr) ?? []
    expectEnd(await run(`import dnscontrol ir.json -o zones ${option}`), 0)
  })

  test('an empty value is called so', async () => {
    const { run } = dnscontrol(domain('example.com', ''))
    expectEnd(await run('import dnscontrol ir.json -o zones'), 1, { err: 'cannot express its empty data: ' })
  })

  test('without a name it accepts all, and takes no argument for a name', async () => {
    expectEnd(await open().run('import octodns --lossy in -o out'), 0)
  })
})

describe('the new config', () => {
  test('of DNSControl is where the next command looks for it, also in its own folder', async () => {
    const { run, has, text } = dnscontrol(domain('example.com', '192.0.2.1'))
    expectEnd(await run('import dnscontrol ir.json -o dns/zones'), 0, { out: 'dns/zones/example.com.yaml\nzonewright.yaml\n' })
    expect(text('zonewright.yaml')).toContain("files: ['dns/zones/*.yaml']")
    expect(has('dns/zones/zonewright.yaml')).toBe(false)
    expectEnd(await run('validate'), 0)
    expectEnd(await run('plan'), 1, { err: 'CF_TOKEN is not set' })
    const alone = dnscontrol(domain('example.com', '192.0.2.1'))
    expectEnd(await alone.run('import dnscontrol ir.json -o .'), 0)
    expectEnd(await alone.run('validate'), 0)
  })

  test('of octoDNS, too, unless there is another config: then it stays with its files, and a notice says so', async () => {
    const zones = ["'*': {sources: [config], targets: [cf]}", 'example.net: {sources: [config], targets: [cf], processors: [x]}']
    const { run, has, text } = octodns({ files: { 'config/example.net.yaml': '{}\n' }, zones })
    expectEnd(await run('import octodns config.yaml -o new --lossy'), 0, { err: /^(?!.*only in its folder)/s })
    expect(text('zonewright.yaml')).toMatch(
      /- new\/config\/example\.net\.yaml\n[\s\S]*- 'new\/config\/\*\.\*\.yaml'\n {6}- '!new\/config\/example\.net\.yaml'/,
    )
    expectEnd(await run('validate'), 0, { err: '2 zones' })
    expectEnd(await run('import octodns config.yaml -o more --lossy'), 0, { err: 'more/zonewright.yaml only in its folder and below' })
    expectEnd(await run('validate -c more/zonewright.yaml'), 0, { err: '2 zones' })
    expect(has('new/zonewright.yaml')).toBe(false)
  })

  test('of octoDNS is not written without a provider, since it would not load', async () => {
    const bad = '  bad: {class: octodns_bind.ZoneFileProvider, directory: x, file_extension: /a}\n'
    const { run, has } = octodns({ providers: bad, zones: ['example.com: {sources: [config], targets: [bad]}'] })
    const said = [
      /no config is written, because no target of config\.yaml.*write zonewright\.yaml with a/,
      'not imported: the provider bad: ',
    ]
    expectEnd(await run('import octodns config.yaml -o .'), 0, { err: said })
    expect([has('zonewright.yaml'), has('config/example.com.yaml')]).toEqual([false, true])
  })

  test('is no zone, wherever it is', async () => {
    const { run } = repository({
      'zones/zonewright.yaml': 'providers: {}\n',
      'zones/example.com.yaml': 'www: {type: A, value: 192.0.2.1}\n',
    })
    for (const line of ['validate', 'validate zones']) expectEnd(await run(line), 0, { err: '1 zone, 1 record in 1 file' })
  })

  test('disables zones without a known target, so that the others can be planned', async () => {
    const { run, text } = dnscontrol(domain('example.com', '192.0.2.1'), domain('example.net', '192.0.2.1', { dnsProviders: { odd: -1 } }))
    expectEnd(await run('import dnscontrol ir.json -o zones'), 0, {
      err: /"odd" is not imported.*those without another target are disabled/,
    })
    expect(text('zonewright.yaml')).toContain('zone: [example.net]\n    enabled: false')
    expectEnd(await run('validate'), 0)
  })
})

/** A repository of octoDNS with these sections, zones and files. */
const octodns = ({ top = '', providers = '', zones = ['example.com: {sources: [config], targets: [cf]}'], files = {} }: Octodns) =>
  repository({
    'config/example.com.yaml': 'www: {type: A, value: 192.0.2.1}\n',
    ...files,
    'config.yaml': `${top}providers:
  config: {class: octodns.provider.yaml.YamlProvider, directory: ./config}
  cf: {class: octodns_cloudflare.CloudflareProvider, token: env/CF_TOKEN}
${providers}zones:\n${zones.map((zone) => `  ${zone.replace(/^([^'*]*?):/, '$1.:')}\n`).join('')}`,
  })

interface Octodns {
  readonly top?: string
  readonly providers?: string
  readonly zones?: readonly string[]
  readonly files?: Readonly<Record<string, string>>
}

describe('what an import of octoDNS writes, a run can load', () => {
  const BIND = '  bind: {class: octodns_bind.ZoneFileProvider, directory: ./out, file_extension: .zone, hostmaster_email: a@b.test}\n'

  test('ZoneFileProvider becomes a folder of zone files', async () => {
    const { run, text } = octodns({ providers: BIND, zones: ['example.com: {sources: [config], targets: [bind]}'] })
    expectEnd(await run('import octodns config.yaml -o .'), 0, { err: 'hostmaster_email of the provider bind' })
    expect(text('zonewright.yaml')).toContain("bind: {type: zonefile, directory: out, file_name: '{zone}.zone'}")
    expectEnd(await run('validate'), 0)
  })

  test('ZoneFileProvider as a source is imported as the notice says', async () => {
    const files = { 'out/example.net.zone': '$TTL 60\n@ SOA ns a 1 2 3 4 5\n@ NS ns\nns A 192.0.2.1\n' }
    const { run, text } = octodns({ providers: BIND, files, zones: ['example.net: {sources: [config, bind], targets: [cf]}'] })
    const { stderr } = await run('import octodns config.yaml -o .')
    const [, entry, command = ''] = /add "(bind: .*?)" to providers.*run: zonewright (import .*) -o DIRECTORY/.exec(stderr) ?? []
    const other = repository({ ...files, 'zonewright.yaml': `providers: {${entry}}\n` })
    expectEnd(await other.run(`${command} -o zones`), 0)
    expect([command, text('config.yaml')]).toEqual(['import --from bind example.net', expect.stringContaining('bind')])
  })

  test.each<[string, string, string]>([
    ['an invalid setting', '  bad: {class: octodns_bind.ZoneFileProvider, directory: x, file_extension: /a}\n', 'the provider bad: '],
    ['a target that only plans', '  bad: {class: octodns_desec.DesecProvider, token: env/T, apply_disabled: true}\n', 'apply_disabled'],
  ])('without a target because of %s, a zone is disabled', async (_, providers, err) => {
    const zones = ['example.com: {sources: [config], targets: [cf]}', 'example.net: {sources: [config], targets: [bad]}']
    const { run, text } = octodns({ providers, zones, files: { 'config/example.net.yaml': '{}\n' } })
    const { stderr } = expectEnd(await run('import octodns config.yaml -o .'), 0, { err: [err, 'example.net.: not imported: any target'] })
    expect(stderr).not.toContain('not a provider in the octoDNS config')
    expect(text('zonewright.yaml')).toContain('- config/example.net.yaml\n    enabled: false\n    targets: []\n')
    expectEnd(await run('validate'), 0)
  })
})

describe('what octoDNS does not use is no loss', () => {
  test.each<[string, Octodns, string?]>([
    ['auto_arpa without reverse zones', { top: 'manager: {auto_arpa: true}\n' }],
    [
      'auto_arpa as a source of every zone',
      { top: 'manager: {auto_arpa: true}\n', zones: ['example.com: {sources: [config, auto-arpa], targets: [cf]}'] },
    ],
    [
      'auto_arpa as a source of all files',
      { top: 'manager: {auto_arpa: {ttl: 60}}\n', zones: ["'*': {sources: [config, auto-arpa], targets: [cf]}"] },
    ],
    [
      'auto_arpa in an import of another zone',
      {
        top: 'manager: {auto_arpa: true}\n',
        zones: ['example.com: {sources: [config], targets: [cf]}', '2.0.192.in-addr.arpa: {sources: [auto-arpa], targets: [cf]}'],
      },
      'example.com',
    ],
    ['keys with anchors', { top: 'x-all: &all {sources: [config], targets: [cf]}\n', zones: ['example.com: *all'] }],
  ])('%s', async (_, sections, zone = '') => {
    const { run, text } = octodns(sections)
    expectEnd(await run(`import octodns config.yaml ${zone} -o .`.replace('  ', ' ')), 0, { err: /^(?!.*(?:error|warning)\[)/s })
    expect(text('zonewright.yaml')).not.toContain('policy')
  })

  test('auto_arpa that cannot be converted restricts only reverse zones', async () => {
    const zones = ["'*': {sources: [config, auto-arpa], targets: [cf]}"]
    const files = { 'config/2.0.192.in-addr.arpa.yaml': "'9': {type: PTR, value: www.example.com.}\n", 'config/example.net.yaml': '{}\n' }
    const { run, text } = octodns({ top: 'manager: {auto_arpa: true}\n', zones, files })
    expectEnd(await run('import octodns config.yaml -o . --lossy=manager.auto_arpa,records-of-the-source-auto-arpa'), 0)
    expect(text('zonewright.yaml')).toMatch(
      /2\.0\.192.*\n {4}targets: \[cf\]\n {4}policy: upsert-only\n {2}- files:(?:\n {6}.*)+\n {4}targets: \[cf\]\no/,
    )
  })
})

describe('a type that only a provider knows', () => {
  const files = {
    'config/example.com.yaml': `'': {type: NS, values: [ns1.a.test., ns2.a.test.]}
old: {type: URLFWD, value: {code: 301, masking: 2, path: /, query: 0, target: 'https://a.test/'}}
two: {type: Ns1Provider/REDIRECT, value: {a: b}}\nwww: {type: A, value: 192.0.2.1}\n`,
  }

  test('is reported by the import, and ends no plan of the other records', async () => {
    const { run } = octodns({
      files: { ...files, 'out/.keep': '' },
      providers: '  out: {class: octodns_bind.ZoneFileProvider, directory: ./out}\n',
      zones: ['example.com: {sources: [config], targets: [out]}'],
    })
    expectEnd(await run('import octodns config.yaml -o .'), 1, { err: ['--lossy=URLFWD', '--lossy=Ns1Provider/REDIRECT'] })
    expectEnd(await run('import octodns config -o zones'), 1, { err: '--lossy=URLFWD' })
    expectEnd(await run('import octodns config.yaml -o . --lossy=URLFWD,Ns1Provider/REDIRECT'), 0)
    expectEnd(await run('plan'), 0, { said: [/URLFWD.*it is skipped/, /Ns1Provider\/REDIRECT.*it is skipped/, /\+ www .* 192\.0\.2\.1/] })
  })

  test('is no loss if a class of octoDNS may know it', async () => {
    const { run } = octodns({
      files,
      zones: ['example.com: {sources: [config], targets: [ns1]}'],
      providers: '  ns1: {class: octodns_ns1.Ns1Provider}\n',
    })
    expectEnd(await run('import octodns config.yaml -o . --lossy=Ns1Provider/REDIRECT'), 0)
  })
})
