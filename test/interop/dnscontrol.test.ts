/** `import dnscontrol` from the command line. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { mutatedConfigs } from '../convert/dnscontrol/mutated-configs.ts'
import { cli, expectEnd } from '../support/cli.ts'
import { fc } from '../support/fast-check.ts'
import { rounds } from '../support/random.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

const CORPUS = fileURLToPath(new URL('../corpora/dnscontrol', import.meta.url))
const files = (folder: string): string[] => readdirSync(folder).sort()

describe('import dnscontrol', () => {
  it('imports the named variant of a split horizon, and reports the others', async () => {
    const source = join(CORPUS, 'parse_tests', '037-splithor.json')
    const cwd = temporaryDirectory()
    expectEnd(await cli(['import', 'dnscontrol', source, 'example.com', '-o', 'out'], { cwd }), 1, {
      err: /second variant of a zone \("inside"\).*example\.com!inside/,
    })
    await cli(['import', 'dnscontrol', source, 'example.com', '-o', 'plain', '--lossy'], { cwd })
    expect(readFileSync(join(cwd, 'plain/example.com.yaml'), 'utf8')).toContain('3.3.3.3')
    expectEnd(await cli(['import', 'dnscontrol', source, 'example.com!inside', '-o', 'inside'], { cwd }), 0)
    expect([files(join(cwd, 'inside')), existsSync(join(cwd, 'zonewright.yaml'))]).toEqual([['example.com.yaml'], true])
    expect(readFileSync(join(cwd, 'inside/example.com.yaml'), 'utf8')).toContain('11.11.11.11')
  })

  it('reads an $ORIGIN below the zone as part of it, and reports records in comments', async () => {
    const cwd = temporaryDirectory()
    const text = [
      '$ORIGIN example.com.\n$TTL 300\n@ IN SOA ns.example.net. h.example.net. 1 3600 600 604800 300',
      ';                IN ALIAS host.example.net.',
      'www              IN A     192.0.2.1 ; CF_PROXY_ON',
      '$ORIGIN sub.example.com.\nwww 300 IN A 192.0.2.2\n\n$ORIGIN lab.example.com.\n$TTL 60\nwww IN A 192.0.2.3\n',
    ].join('\n')
    writeFileSync(join(cwd, 'all.zone'), text)
    const refused = await cli(['import', 'dnscontrol', 'all.zone', '-o', 'out'], { cwd })
    expect([refused.status, refused.stderr]).toEqual([1, expect.stringMatching(/all\.zone:4:1.*ALIAS.*all\.zone:5:1.*CF_PROXY_ON/s)])
    expect((await cli(['import', 'dnscontrol', 'all.zone', '-o', 'out', '--lossy'], { cwd })).status).toBe(0)
    expect(files(join(cwd, 'out'))).toEqual(['example.com.yaml', 'lab.example.com.yaml'])
    const zone = readFileSync(join(cwd, 'out/example.com.yaml'), 'utf8')
    expect([zone.includes('www.sub:'), zone.includes('192.0.2.2'), zone.includes('192.0.2.3')]).toEqual([true, true, false])
  })

  it('reads several zones from one file, and reports errors with their lines', async () => {
    const cwd = temporaryDirectory()
    const text = (zone: string): string =>
      `$ORIGIN ${zone}.\n$TTL 300\n@ IN SOA ns.example.net. h.example.net. 1 3600 600 604800 300\nwww IN A 192.0.2.1\n\n`
    writeFileSync(join(cwd, 'two.zone'), text('example.com') + text('example.org'))
    expect((await cli(['import', 'dnscontrol', 'two.zone', '-o', 'out'], { cwd })).status).toBe(0)
    expect(files(join(cwd, 'out'))).toEqual(['example.com.yaml', 'example.org.yaml'])
    writeFileSync(join(cwd, 'bad.zone'), `${text('example.com')}${text('example.org')}x IN A nowhere\n`)
    expect((await cli(['import', 'dnscontrol', 'bad.zone', '-o', 'bad'], { cwd })).stderr).toContain('bad.zone:11:')
    writeFileSync(join(cwd, 'bad.tsv'), 'www.example.com\twww\t300\tIN\tA\t192.0.2.1\nx.example.com\tx\t300\tIN\tA\tnowhere\n')
    expect((await cli(['import', 'dnscontrol', 'bad.tsv', '-o', 'bad'], { cwd })).stderr).toContain(
      'bad.tsv:2:1: error[import-lossy] x.example.com. A: a definition cannot express nowhere: "nowhere" is not an IPv4 address',
    )
    writeFileSync(join(cwd, 'bad.json'), '{"domains": [\n  {"name": "secret" oops}]}')
    expect((await cli(['import', 'dnscontrol', 'bad.json', '-o', 'bad'], { cwd })).stderr).toMatch(
      /bad\.json:2:\d+: error\[schema-type\] the file is not JSON/,
    )
  })
})

it.each([
  ['dnsconfig.js', "D('example.com', REG_NONE)\n"],
  ['zones.txt', 'var DSP = NewDnsProvider(\'x\');\n\n  D("example.com", REG,\n'],
])('import dnscontrol says of a script what to do (%s)', async (file, text) => {
  const cwd = temporaryDirectory()
  writeFileSync(join(cwd, file), text)
  const { status, stderr } = await cli(['import', 'dnscontrol', file], { cwd })
  expect([status, stderr]).toEqual([
    1,
    `error[file-format] ${file} is a DNSControl script, not its output (run "dnscontrol print-ir --out ir.json" and import ir.json)\nNothing was written.\n`,
  ])
})

const UNHELD = {
  domains: [
    {
      name: 'example.com',
      keepunknown: true,
      unmanaged: [{ label_pattern: 'mine', rType_pattern: 'TXT', target_pattern: '*' }],
      unmanaged_disable_safety_check: true,
      records: [
        { type: 'CNAME', name: '@', target: 'app.example.net.' },
        { type: 'MX', name: '@', mxpreference: 10, target: 'mail.example.net.' },
        { type: 'TLSA', name: '_443._tcp', tlsausage: 3, tlsaselector: 1, tlsamatchingtype: 1, target: 'bm90IGhleA==' },
        { type: 'MX', name: 'two', mxpreference: 10, target: 'mail.example.net.' },
        { type: 'MX', name: 'two', mxpreference: 70000, target: 'other.example.net.' },
        { type: 'A', name: 'long', ttl: 2 ** 31, target: '192.0.2.1' },
        { type: 'A', name: '*', target: 'x' },
        { type: 'A', name: 'a', target: '192.0.2.1' },
        { type: 'TXT', name: 'mine', target: 'text' },
        { type: 'A', name: 'x.example.org.', target: '192.0.2.1' },
      ],
    },
  ],
}

it('import dnscontrol reports records that no definition can express, and leaves them unmanaged', async () => {
  const cwd = temporaryDirectory()
  writeFileSync(join(cwd, 'ir.json'), JSON.stringify(UNHELD))
  const strict = expectEnd(await cli(['import', 'dnscontrol', 'ir.json'], { cwd }), 1, { out: '' })
  expect(strict.stderr.match(/error\[(?!import-lossy).*$/gm)).toBeNull()
  const lossy = await cli(['import', 'dnscontrol', 'ir.json', '--lossy'], { cwd })
  expect([lossy.status, lossy.stderr.match(/^.*error\[.*$/gm)]).toEqual([0, null])
  expect(lossy.stdout).toBe(`domain: example.com
default_ttl: 300
policy: upsert-only
unmanaged:
  - {name: mine, type: TXT}
  - {name: _443._tcp, type: TLSA}
  - {name: two, type: MX, target: 70000 other.example.net.}
  - {name: long, type: A}
  - {name: '*', type: A, target: x}
  - {name: '@', type: CNAME}
records:
  '': {type: MX, value: {preference: 10, exchange: mail.example.net.}}
  a: {type: A, value: 192.0.2.1}
  two: {type: MX, value: {preference: 10, exchange: mail.example.net.}}
`)
  const named = [...lossy.stderr.matchAll(/warning\[import-lossy\] (\S+ \w+): .*\((?:.*, )?(it is left out.*)\)$/gm)].map(
    ([, what, how]) => [what, how],
  )
  const left = 'it is left out, and "unmanaged" keeps it unchanged'
  expect(named).toEqual(
    [
      ...['*.example.com. A', '_443._tcp.example.com. TLSA', 'example.com. CNAME', 'long.example.com. A', 'mine.example.com. TXT'],
      'two.example.com. MX',
    ].map((what) => [what, left]),
  )
  expect(lossy.stderr).toContain('cannot express the record x.example.org. A: the name is not in the zone')
})

it('import dnscontrol imports a domain with registrar and providers, and reports both', async () => {
  const cwd = temporaryDirectory()
  const domain = {
    name: 'example.com',
    registrar: 'namecheap',
    dnsProviders: { linode: -1 },
    meta: { owner: 'us' },
    unmanaged: [{ label_pattern: 'go', rType_pattern: 'CF_SINGLE_REDIRECT,A', target_pattern: '' }],
    records: [{ type: 'A', name: 'www', ttl: 300, target: '192.0.2.1' }],
  }
  writeFileSync(join(cwd, 'ir.json'), JSON.stringify({ domains: [domain, { ...domain, name: 'example.net' }] }))
  const { status, stdout, stderr } = await cli(['import', 'dnscontrol', 'ir.json', 'example.com'], { cwd })
  expect([status, stdout]).toEqual([
    0,
    'domain: example.com\nunmanaged: [{name: go, type: A}]\nrecords:\n  www: {type: A, ttl: 300, value: 192.0.2.1}\n',
  ])
  expect([...stderr.matchAll(/^ir\.json:1:1: (.*?)(?: \(the rules of .*\))?$/gm)].map(([, warning]) => warning)).toEqual([
    'warning[import-aside] example.com.: no provider here supports the types CF_SINGLE_REDIRECT, which IGNORE("go", "CF_SINGLE_REDIRECT,A", "") ignores',
    'warning[import-aside] example.com.: the metadata owner ("us") is not imported',
    'warning[import-aside] example.com.: the registrar namecheap of DNSControl is not imported',
  ])
})

it('import dnscontrol --lossy drops what it cannot read, and writes only what reads back the same', async () => {
  for (const text of fc.sample(mutatedConfigs, { numRuns: rounds(80), seed: 5 })) {
    const cwd = temporaryDirectory()
    writeFileSync(join(cwd, 'ir.json'), text)
    const { status, stderr } = await cli(['import', 'dnscontrol', 'ir.json', '-o', 'out', '--lossy'], { cwd })
    const codes = [...stderr.matchAll(/error\[([\w-]+)\]/g)].map(([, code]) => code)
    // Problems of the document itself and of domain names.
    expect([text, codes.filter((code) => !['schema-type', 'zone-name', 'no-definitions'].includes(code ?? ''))]).toEqual([text, []])
    expect(status).toBe(codes.length > 0 ? 1 : 0)
  }
})
