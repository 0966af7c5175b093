/** `export dnscontrol` from the command line, checked with DNSControl itself if it is installed. */
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { exportDnscontrol } from '../../src/convert/dnscontrol/export-dnscontrol.ts'
import { readTsv } from '../../src/convert/dnscontrol/get-zones.ts'
import { readIntermediate } from '../../src/convert/dnscontrol/read-intermediate.ts'
import type { UnsupportedFeature } from '../../src/convert/unsupported-features.ts'
import type { DefinedRecord, ResourceRecord } from '../../src/dns/record.ts'
import type { Ttl } from '../../src/dns/ttl.ts'
import { DEFAULT_ZONE_OPTIONS } from '../../src/dns/zone.ts'
import { parseZoneFile } from '../../src/dns/zone-file/parse-zone-file.ts'
import { runDnsconfig } from '../convert/dnscontrol/run-dnsconfig.ts'
import { SUPPORTED } from '../convert/dnscontrol/supported-records.ts'
import { recordsOf, ZONE } from '../convert/octodns/every-type.ts'
import { cli } from '../support/cli.ts'
import { fc } from '../support/fast-check.ts'
import { randomRecords } from '../support/random-records.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { findTool, runTool } from '../support/tools.ts'

const DEFINITION = `domain: example.com
soa_email: Host.Master@example.com
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

it.each([4, 5] as const)('export dnscontrol and import for DNSControl %i keep the zone', async (version) => {
  const cwd = temporaryDirectory()
  await exportInto(cwd)
  const ir = JSON.stringify(runDnsconfig(readFileSync(join(cwd, 'out/dnsconfig.js'), 'utf8'), version))
  writeFileSync(join(cwd, 'ir.json'), ir)
  expect((await cli(['import', 'dnscontrol', 'ir.json', '-o', 'back', '--lossy'], { cwd })).status).toBe(0)
  const text = readFileSync(join(cwd, 'back/example.com.yaml'), 'utf8')
  // DNSControl writes the mailbox in small letters.
  for (const part of ['host.master@example.com', '_acme-challenge*', 'ns1.example.net.', '192.0.2.1', 'it\'s; "so"'])
    expect(text).toContain(part)
})

it('export dnscontrol reports dropped records with their place in the definition', async () => {
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

const skip = findTool('dnscontrol') === null
if (skip) {
  const line = 'dnsconfig.js before DNSControl itself (needs dnscontrol on the PATH)'
  process.stderr.write(`!!! SKIPPED: ${line}\n`)
  const log = process.env['ZONEWRIGHT_SKIP_LOG']
  if (log !== undefined) appendFileSync(log, `${line}\n`)
}

/** A folder with a dnsconfig.js, credentials of the BIND provider and zone files with records of example.com. */
function exportedFolder(records: readonly DefinedRecord[]): { readonly cwd: string; readonly dropped: readonly UnsupportedFeature[] } {
  const cwd = temporaryDirectory()
  const at = { file: 'a.yaml', line: 1, column: 1 }
  const zone = { ...DEFAULT_ZONE_OPTIONS, name: ZONE, at, settings: {}, records }
  const exported = exportDnscontrol([zone], { nameservers: [], serial: 1, style: 'pretty' })
  mkdirSync(join(cwd, 'zones'))
  for (const { path, text } of exported.files) writeFileSync(join(cwd, path), text)
  return { cwd, dropped: exported.dropped }
}

const line = ({ name, ttl, type, data }: ResourceRecord): string => `${name} ${ttl} ${type} ${data}`

/** Runs DNSControl and returns its standard output. Throws if it fails. */
async function output(cwd: string, args: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await runTool('dnscontrol', args, { cwd })
  expect([args[0], status, /^.*ERROR.*$/m.exec(stdout + stderr)]).toEqual([args[0], 0, null])
  return stdout
}

/** Expects DNSControl to accept the folder and to have all exported records except the reported ones. */
async function expectHeld(records: readonly DefinedRecord[]): Promise<void> {
  const { cwd, dropped } = exportedFolder(records)
  await output(cwd, ['check', '--config', 'dnsconfig.js'])
  await output(cwd, ['print-ir', '--config', 'dnsconfig.js', '--out', 'ir.json'])
  const { domains, diagnostics } = readIntermediate(readFileSync(join(cwd, 'ir.json'), 'utf8'), 'ir.json')
  expect(diagnostics).toEqual([])
  const named = new Set(dropped.map(({ name, type }) => `${name} ${type}`))
  const kept = (found: readonly ResourceRecord[]): string[] =>
    found
      .filter(({ name, type }) => type !== 'SOA' && !named.has(`${name} ${type}`))
      .map(line)
      .sort()
  expect(kept(domains[0]?.records ?? [])).toEqual(kept(records))
}

describe.skipIf(skip)('DNSControl', { tags: ['servers'] }, () => {
  it('accepts a dnsconfig.js with every type, and has every record', () => expectHeld(recordsOf(SUPPORTED)))

  it('accepts any records, and has all except the reported ones', async () => {
    const drawn = fc.sample(randomRecords, { numRuns: 25, seed: 7 })
    for (const records of drawn) {
      const aliases = new Set(records.filter(({ type }) => type === 'CNAME').map(({ name }) => name))
      const distinct = new Map(records.map((record) => [`${record.name} ${record.type} ${record.data}`, { ...record, ttl: 300 as Ttl }]))
      await expectHeld([...distinct.values()].filter(({ name }) => !aliases.has(name)))
    }
  })

  it('prints the exported zones unchanged, as zone files and as lists', async () => {
    // A list cannot express a line break in a text.
    const records = recordsOf(SUPPORTED).filter(({ data }) => !data.includes('\\010'))
    const { cwd } = exportedFolder(records)
    const sorted = (found: Iterable<ResourceRecord>): string[] =>
      [...found]
        .filter(({ type }) => type !== 'SOA')
        .map(line)
        .sort()
    for (const format of ['zone', 'tsv']) {
      const get = ['get-zones', '--creds', 'creds.json', `--format=${format}`, '--out', `all.${format}`, 'bind', 'BIND', 'example.com']
      await output(cwd, get)
      const text = readFileSync(join(cwd, `all.${format}`), 'utf8')
      const found = format === 'tsv' ? readTsv(text, '').zones[0]?.records : parseZoneFile(text, { origin: ZONE, file: '' }).records
      expect(sorted(found ?? [])).toEqual(sorted(records))
    }
  })

  it('reads a dnsconfig.js as run-dnsconfig.ts does', async () => {
    const cwd = temporaryDirectory()
    await exportInto(cwd)
    const config = join(cwd, 'out/dnsconfig.js')
    const version = /^v?5/.test((await output(cwd, ['version'])).replace(/^dnscontrol\s+/, '')) ? 5 : 4
    const own = readIntermediate(JSON.stringify(runDnsconfig(readFileSync(config, 'utf8'), version)), '')
    const { domains } = readIntermediate(await output(cwd, ['print-ir', '--config', config]), '')
    expect(domains.map(({ records }) => records.map(line).sort())).toEqual(own.domains.map(({ records }) => records.map(line).sort()))
  })
})
