/** `import dnscontrol` and `export dnscontrol` from the command line; and DNSControl itself as the judge, where it is installed. */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { exportDnscontrol } from '../../src/formats/dnscontrol/export-dnscontrol.ts'
import { readIntermediate } from '../../src/formats/dnscontrol/read-intermediate.ts'
import { readTsv } from '../../src/formats/dnscontrol/read-tsv.ts'
import { parseZoneFile } from '../../src/formats/zone-file/parse-zone-file.ts'
import type { LostItem } from '../../src/model/exchange.ts'
import type { DefinedRecord, ResourceRecord } from '../../src/model/record.ts'
import type { Ttl } from '../../src/model/ttl.ts'
import { UNSAID } from '../../src/model/zone.ts'
import { HELD } from '../formats/dnscontrol/held-records.ts'
import { runDnsconfig } from '../formats/dnscontrol/run-dnsconfig.ts'
import { recordsOf, ZONE } from '../formats/octodns/every-type.ts'
import { cli } from '../support/cli.ts'
import { fc } from '../support/fast-check.ts'
import { oddRecords } from '../support/odd-records.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { findTool, runTool } from '../support/tools.ts'

const CORPUS = fileURLToPath(new URL('../corpora/dnscontrol', import.meta.url))

const JSONS = readdirSync(join(CORPUS, 'parse_tests')).filter((name) => /^\d.*\.json$/.test(name))

/** Whose records no name server takes: base64 where hexadecimal belongs. */
const FAULTY = ['015-tlsa.json', '057-smimea.json']

const files = (folder: string): string[] => readdirSync(folder).sort()

describe('import dnscontrol', () => {
  it.each(JSONS)('%s', async (name) => {
    const cwd = temporaryDirectory()
    const result = await cli(['import', 'dnscontrol', join(CORPUS, 'parse_tests', name), '-o', 'out', '--lossy'], { cwd })
    if (FAULTY.includes(name)) expect(result.stderr).toMatch(/warning\[import-lossy\].* is not hexadecimal/)
    const json = JSON.parse(readFileSync(join(CORPUS, 'parse_tests', name), 'utf8')) as { domains: { name: string }[] }
    if (json.domains.length === 0) {
      expect([result.status, result.stderr]).toEqual([1, expect.stringContaining('has no zones')])
      return
    }
    expect([result.status, result.stderr.match(/^.*error\[.*$/gm)]).toEqual([0, null])
    expect(files(join(cwd, 'out'))).toEqual([...new Set(json.domains.map((domain) => `${domain.name}.yaml`))].sort())
  })

  it('takes the variant of a split horizon that is asked for, and names the others', async () => {
    const source = join(CORPUS, 'parse_tests', '037-splithor.json')
    const cwd = temporaryDirectory()
    const refused = await cli(['import', 'dnscontrol', source, 'example.com', '-o', 'out'], { cwd })
    expect([refused.status, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/second variant of a zone \("inside"\).*example\.com!inside/),
    ])
    await cli(['import', 'dnscontrol', source, 'example.com', '-o', 'plain', '--lossy'], { cwd })
    expect(readFileSync(join(cwd, 'plain/example.com.yaml'), 'utf8')).toContain('3.3.3.3')
    const inside = await cli(['import', 'dnscontrol', source, 'example.com!inside', '-o', 'inside', '--lossy'], { cwd })
    expect(inside.status).toBe(0)
    expect(files(join(cwd, 'inside'))).toEqual(['example.com.yaml'])
    expect(readFileSync(join(cwd, 'inside/example.com.yaml'), 'utf8')).toContain('11.11.11.11')
  })

  it.each(['apex.com', 'ds.com', 'simple.com'])('the zone file and the list that get-zones writes of %s are one zone', async (zone) => {
    const cwd = temporaryDirectory()
    for (const format of ['zone', 'tsv']) {
      const result = await cli(['import', 'dnscontrol', join(CORPUS, 'get-zones', `${zone}.zone.${format}`), '-o', format], { cwd })
      // A CNAME at the apex, which octoDNS and DNSControl let pass with a word, is none that a definition may have.
      if (zone === 'apex.com')
        expect([result.status, result.stderr]).toEqual([
          1,
          expect.stringMatching(/error\[import-lossy\] apex\.com\. CNAME: .*the apex of apex\.com\. has a CNAME/),
        ])
      else expect([result.status, result.stderr.match(/^.*error\[.*$/gm)]).toEqual([0, null])
    }
    if (zone === 'apex.com') return
    expect(readFileSync(join(cwd, 'tsv', `${zone}.yaml`), 'utf8')).toBe(readFileSync(join(cwd, 'zone', `${zone}.yaml`), 'utf8'))
  })

  it('takes an $ORIGIN below the zone for a part of it, and names what stands in comments', async () => {
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

  it('reads several zones of one file, and tells faults with their lines', async () => {
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
      'bad.tsv:2:1: error[import-lossy] x.example.com. A: a definition cannot hold nowhere: "nowhere" is not an IPv4 address',
    )
    writeFileSync(join(cwd, 'bad.json'), '{"domains": [\n  {"name": "secret" oops}]}')
    expect((await cli(['import', 'dnscontrol', 'bad.json', '-o', 'bad'], { cwd })).stderr).toMatch(
      /bad\.json:2:\d+: error\[schema-type\] the file is not JSON/,
    )
  })

  it('takes the proxy column of get-zones for what it is', async () => {
    const cwd = temporaryDirectory()
    writeFileSync(join(cwd, 'a.tsv'), 'www.example.com\twww\t300\tIN\tA\t192.0.2.1\tcloudflare_proxy=true\n')
    const result = await cli(['import', 'dnscontrol', 'a.tsv', '-o', 'out'], { cwd })
    expect([result.status, result.stderr]).toEqual([
      1,
      expect.stringMatching(/www\.example\.com\. A: a definition cannot hold cloudflare_proxy=true/),
    ])
  })
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

it('import dnscontrol names records that no definition can have, and leaves them alone', async () => {
  const cwd = temporaryDirectory()
  writeFileSync(join(cwd, 'ir.json'), JSON.stringify(UNHELD))
  const strict = await cli(['import', 'dnscontrol', 'ir.json'], { cwd })
  expect([strict.status, strict.stdout]).toEqual([1, ''])
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
  const left = 'it is left out, and "unmanaged" leaves it as it is'
  expect(named).toEqual(
    [
      '*.example.com. A',
      '_443._tcp.example.com. TLSA',
      'example.com. CNAME',
      'long.example.com. A',
      'mine.example.com. TXT',
      'two.example.com. MX',
    ].map((what) => [what, left]),
  )
  expect(lossy.stderr).toContain('cannot hold the record x.example.org. A: the name is not in the zone')
})

const DEFINITION = `domain: example.com
soa_email: hostmaster@example.com
ttl_sec: 1h
unmanaged: [{name: _acme-challenge*, type: TXT}]
records:
  '': [{type: NS, ttl: 300, values: [ns1.example.net., ns2.example.net.]}, {type: MX, ttl: 300, value: {preference: 10, exchange: mail}}]
  mail: {type: A, ttl: 60, value: 192.0.2.1}
  txt: {type: TXT, ttl: 300, value: "it's; \\"so\\""}
`

async function exportInto(cwd: string): Promise<void> {
  mkdirSync(join(cwd, 'zones'))
  writeFileSync(join(cwd, 'zones/example.com.yaml'), DEFINITION)
  const result = await cli(['export', 'dnscontrol', '-o', 'out', '--lossy'], { cwd })
  expect([result.status, result.stderr.match(/^.*error\[.*$/gm)]).toEqual([0, null])
}

describe('export dnscontrol', () => {
  it.each([4, 5] as const)('and import again of DNSControl %i is the same zone', async (version) => {
    const cwd = temporaryDirectory()
    await exportInto(cwd)
    const ir = JSON.stringify(runDnsconfig(readFileSync(join(cwd, 'out/dnsconfig.js'), 'utf8'), version))
    writeFileSync(join(cwd, 'ir.json'), ir)
    expect((await cli(['import', 'dnscontrol', 'ir.json', '-o', 'back', '--lossy'], { cwd })).status).toBe(0)
    const text = readFileSync(join(cwd, 'back/example.com.yaml'), 'utf8')
    for (const part of ['hostmaster@example.com', '_acme-challenge*', 'ns1.example.net.', '192.0.2.1', 'it\'s; "so"'])
      expect(text).toContain(part)
  })
})

it('export dnscontrol names what is lost at its place in the definition', async () => {
  const cwd = temporaryDirectory()
  mkdirSync(join(cwd, 'zones'))
  const text = `domain: example.com
include: [more.inc]
records:
  '': [{type: NS, values: [ns1.example.net., ns+2.example.net.]}, {type: CAA, value: {flags: 1, tag: issue, value: a}}]
  a\\.b: {type: A, value: 192.0.2.1}
  zero: {type: A, ttl: 0, value: 192.0.2.1}
`
  writeFileSync(join(cwd, 'zones/example.com.yaml'), text)
  writeFileSync(join(cwd, 'zones/more.inc'), 'x: {type: HIP, value: 2 200100107b1a74df365639cc39f1d578 AwEAAQ==}\n')
  const result = await cli(['export', 'dnscontrol', '-o', 'out'], { cwd })
  const places = [...result.stderr.matchAll(/^(\S+): error\[export-lossy\] (\S+ \w+):/gm)].map(([, place, what]) => `${place} ${what}`)
  expect(places).toEqual([
    'zones/example.com.yaml:4:46 example.com. NS',
    'zones/example.com.yaml:4:86 example.com. CAA',
    'zones/example.com.yaml:5:26 a\\.b.example.com. A',
    'zones/example.com.yaml:6:34 zero.example.com. A',
    'zones/more.inc:1:23 x.example.com. HIP',
  ])
})

it('export dnscontrol writes the zone of a part of a network into a folder, where DNSControl looks for it', async () => {
  const cwd = temporaryDirectory()
  mkdirSync(join(cwd, 'zones'))
  writeFileSync(join(cwd, 'zones/part.yaml'), 'domain: 0/25.2.0.192.in-addr.arpa\nrecords:\n  "7": {type: PTR, value: host.example.net.}\n')
  const result = await cli(['export', 'dnscontrol', '-o', 'out'], { cwd })
  expect([result.status, result.stderr.match(/^.*error\[.*$/gm)]).toEqual([0, null])
  expect(readFileSync(join(cwd, 'out/zones/0/25.2.0.192.in-addr.arpa.zone'), 'utf8')).toContain('host.example.net.')
})

const skip = findTool('dnscontrol') === null
if (skip) {
  const line = 'dnsconfig.js before DNSControl itself (needs dnscontrol on the PATH)'
  process.stderr.write(`!!! SKIPPED: ${line}\n`)
  const log = process.env['ZONEWRIGHT_SKIP_LOG']
  if (log !== undefined) appendFileSync(log, `${line}\n`)
}

/** A folder with a dnsconfig.js, credentials of the BIND provider and its zone files, of records of example.com. */
function exportedFolder(records: readonly DefinedRecord[]): { readonly cwd: string; readonly lost: readonly LostItem[] } {
  const cwd = temporaryDirectory()
  const at = { file: 'a.yaml', line: 1, column: 1 }
  const zone = { ...UNSAID, name: ZONE, at, settings: {}, records }
  const exported = exportDnscontrol([zone], { nameservers: [], serial: 1, style: 'pretty' })
  mkdirSync(join(cwd, 'zones'))
  for (const { path, text } of exported.files) writeFileSync(join(cwd, path), text)
  return { cwd, lost: exported.lost }
}

const line = ({ name, ttl, type, data }: ResourceRecord): string => `${name} ${ttl} ${type} ${data}`

/** What a run of the program writes to its standard output; a fault of it is one of the test. */
async function output(cwd: string, args: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await runTool('dnscontrol', args, { cwd })
  expect([args[0], status, /^.*ERROR.*$/m.exec(stdout + stderr)]).toEqual([args[0], 0, null])
  return stdout
}

/** That DNSControl takes the folder, and holds what was exported but for what is named as lost. */
async function expectHeld(records: readonly DefinedRecord[]): Promise<void> {
  const { cwd, lost } = exportedFolder(records)
  await output(cwd, ['check', '--config', 'dnsconfig.js'])
  await output(cwd, ['print-ir', '--config', 'dnsconfig.js', '--out', 'ir.json'])
  const { domains, diagnostics } = readIntermediate(readFileSync(join(cwd, 'ir.json'), 'utf8'), 'ir.json')
  expect(diagnostics).toEqual([])
  const named = new Set(lost.map(({ name, type }) => `${name} ${type}`))
  const kept = (found: readonly ResourceRecord[]): string[] =>
    found
      .filter(({ name, type }) => type !== 'SOA' && !named.has(`${name} ${type}`))
      .map(line)
      .sort()
  expect(kept(domains[0]?.records ?? [])).toEqual(kept(records))
}

describe.skipIf(skip)('DNSControl', () => {
  it('takes a dnsconfig.js with every type, and holds every record', () => expectHeld(recordsOf(HELD)))

  it('takes any records, and holds all but those that are named', async () => {
    const drawn = fc.sample(oddRecords, { numRuns: 25, seed: 7 })
    for (const records of drawn) {
      const aliases = new Set(records.filter(({ type }) => type === 'CNAME').map(({ name }) => name))
      const distinct = new Map(records.map((record) => [`${record.name} ${record.type} ${record.data}`, { ...record, ttl: 300 as Ttl }]))
      await expectHeld([...distinct.values()].filter(({ name }) => !aliases.has(name)))
    }
  })

  it('gives back the zones it was given, as zone files and as lists', async () => {
    // No list can hold a line break within a text.
    const records = recordsOf(HELD).filter(({ data }) => !data.includes('\\010'))
    const { cwd } = exportedFolder(records)
    const sorted = (found: Iterable<ResourceRecord>): string[] =>
      [...found]
        .filter(({ type }) => type !== 'SOA')
        .map(line)
        .sort()
    for (const format of ['zone', 'tsv']) {
      const get = ['get-zones', '--creds', 'creds.json', `--format=${format}`, '--out', `all.${format}`, 'bind', '-', 'example.com']
      await output(cwd, get)
      const text = readFileSync(join(cwd, `all.${format}`), 'utf8')
      const found = format === 'tsv' ? readTsv(text, '').zones[0]?.records : parseZoneFile(text, { origin: ZONE, file: '' }).records
      expect(sorted(found ?? [])).toEqual(sorted(records))
    }
  })

  it('comes to the same from a dnsconfig.js as the run in this process', async () => {
    const cwd = temporaryDirectory()
    await exportInto(cwd)
    const config = join(cwd, 'out/dnsconfig.js')
    const version = /^v?5/.test((await output(cwd, ['version'])).replace(/^dnscontrol\s+/, '')) ? 5 : 4
    const own = readIntermediate(JSON.stringify(runDnsconfig(readFileSync(config, 'utf8'), version)), '')
    const { domains } = readIntermediate(await output(cwd, ['print-ir', '--config', config]), '')
    expect(domains.map(({ records }) => records.map(line).sort())).toEqual(own.domains.map(({ records }) => records.map(line).sort()))
  })
})
