/**
 * Round trips of generated zones of every type that octoDNS supports: what `export octodns` prints is loaded by octoDNS, compared record by
 * record, dumped by octoDNS and read again. ZONEWRIGHT_TEST_ROUNDS=50 runs thousands of zones.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { checkZone } from '../../src/checks/rules/rules.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { parseDefinition } from '../../src/definition/parse/parse-definition.ts'
import { OCTODNS_TYPES } from '../../src/definition/print/octodns-value.ts'
import { printOctodnsZone } from '../../src/definition/print/octodns-zone.ts'
import type { DomainName } from '../../src/dns/domain-name.ts'
import { type DefinedRecord, rrsetKey } from '../../src/dns/record.ts'
import { DEFAULT_ZONE_OPTIONS } from '../../src/dns/zone.ts'
import { printZoneFile } from '../../src/dns/zone-file/print-zone-file.ts'
import { loadDefinitions } from '../../src/load/load-definitions.ts'
import { ZONE as ORIGIN, recordsOf } from '../convert/octodns/every-type.ts'
import { GENERATED_TYPES, type GeneratedZone, zoneLines, zoneOf } from '../convert/octodns/octodns-zones.ts'
import { cli } from '../support/cli.ts'
import { startBind } from '../support/dns-servers.ts'
import { fc } from '../support/fast-check.ts'
import { rounds } from '../support/random.ts'
import { name as parsed, records } from '../support/records.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { findTool } from '../support/tools.ts'
import {
  describeWithOctodns,
  dumpWithOctodns,
  knownTypes,
  linesOfLoaded,
  loadWithOctodns,
  planOverTransfer,
  recordLine,
} from './octodns-judge.ts'

const ZONES: readonly GeneratedZone[] = fc.sample(zoneLines, Math.max(60, rounds(60))).map((lines, i) => zoneOf(i, lines))

interface Printed extends GeneratedZone {
  readonly text: string
  /** The records of RRsets without any reported loss. */
  readonly held: readonly DefinedRecord[]
}

function printed({ name, records }: GeneratedZone, managed?: ReadonlySet<DomainName>): Printed {
  const { text, dropped } = printOctodnsZone({ name, records, rrsetTargets: [], defaultTtl: null, ...(managed && { managed }) })
  const named = new Set(
    dropped.map((item) => (item.name === null || item.type === null ? '' : rrsetKey({ name: item.name, type: item.type }))),
  )
  return { name, records, text, held: records.filter((record) => !named.has(rrsetKey(record))) }
}

const PRINTED: readonly Printed[] = ZONES.map((zone) => printed(zone))
const SUPPORTED = PRINTED.flatMap(({ held }) => held)
const linesOf = (records: readonly DefinedRecord[]): string[] => records.map(recordLine).sort()

function write(folder: string, zones: readonly Printed[]): string {
  mkdirSync(folder, { recursive: true })
  for (const { name, text } of zones) writeFileSync(join(folder, `${name}yaml`), text)
  return folder
}

const HELD_KEYS: ReadonlySet<string> = new Set(SUPPORTED.map(rrsetKey))

const readBack = (text: string, { name }: GeneratedZone): readonly DefinedRecord[] => {
  const { zone, diagnostics } = parseDefinition(text, { file: `${name}yaml`, zoneName: name })
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
  return zone?.records ?? []
}

describeWithOctodns('exported zones', () => {
  /** The differences between records and what octoDNS loads from their printed files, except for records reported as dropped. */
  const differences = async (zones: readonly GeneratedZone[]): Promise<string[]> => {
    const managed = new Set(zones.map(({ name }) => name))
    const all = zones.map((zone) => printed(zone, managed))
    const folder = write(temporaryDirectory(), all)
    const loaded = await loadWithOctodns(
      folder,
      zones.map(({ name }) => name),
    )
    const held = all.flatMap((zone) => zone.held)
    const keys = new Set(held.map(rrsetKey))
    const found = new Set(loaded.filter(({ name, type }) => keys.has(`${name} ${type}`)).flatMap(linesOfLoaded))
    const wanted = new Set(linesOf(held))
    return [...[...wanted].filter((one) => !found.has(one)), ...[...found].filter((one) => !wanted.has(one)).map((one) => `+ ${one}`)]
  }

  it('are loaded by octoDNS if they are nested', async () => {
    const [above, below] = [ORIGIN, parsed('sub.example.com.')]
    const lines = 'sub 60 NS ns.sub\nns.sub 60 A 192.0.2.1\nsub 60 CAA 0 issue "ca.example.net"\nwww.sub 60 A 192.0.2.2'
    const zones = [
      { name: above, records: records(above, lines) },
      { name: below, records: records(below, 'www 60 A 192.0.2.3') },
    ]
    expect(await differences(zones)).toEqual([])
  })
})

describeWithOctodns('generated zones, to octoDNS and back', () => {
  it('have every type that the installed octoDNS supports', async () => {
    expect([...(await knownTypes())].sort()).toEqual([...OCTODNS_TYPES].sort())
    expect([...GENERATED_TYPES].sort()).toEqual([...OCTODNS_TYPES].sort())
    expect([...new Set(SUPPORTED.map(({ type }) => type))].sort()).toEqual([...OCTODNS_TYPES].sort())
  })

  it('are loaded unchanged by octoDNS with enforce_order', { timeout: 600_000 }, async () => {
    const loaded = await loadWithOctodns(
      write(join(temporaryDirectory(), 'yaml'), PRINTED),
      ZONES.map(({ name }) => name),
    )
    const found = loaded.filter(({ name, type }) => HELD_KEYS.has(`${name} ${type}`)).flatMap(linesOfLoaded)
    expect(found.sort()).toEqual(linesOf(SUPPORTED))
  })

  it('are dumped by octoDNS, imported byte for byte, and unchanged', { timeout: 600_000 }, async () => {
    const cwd = temporaryDirectory()
    const zones = PRINTED.map((zone) => printed({ ...zone, records: dumped(zone) })).filter(({ records }) => records.length > 0)
    const names = zones.map(({ name }) => name)
    await dumpWithOctodns(write(join(cwd, 'yaml'), zones), join(cwd, 'dump'), names)
    const { status, stderr } = await cli(['import', 'octodns', 'dump', '-o', 'out', '--lossy'], { cwd })
    expect([status, stderr.match(/^.*error\[.*$/gm)]).toEqual([0, null])
    expect(readdirSync(join(cwd, 'out')).sort()).toEqual(names.map((name) => `${name}yaml`).sort())
    const back: DefinedRecord[] = []
    for (const zone of zones) {
      const file = readFileSync(join(cwd, 'dump', `${zone.name}yaml`))
      expect(readFileSync(join(cwd, 'out', `${zone.name}yaml`)).equals(file), zone.name).toBe(true)
      back.push(...readBack(file.toString('utf8'), zone))
    }
    // Not compared with the input: octoDNS dumps a text that begins with a quote in a way that it loads differently.
    const loaded = await loadWithOctodns(join(cwd, 'dump'), names)
    expect(linesOf(back)).toEqual(loaded.flatMap(linesOfLoaded).sort())
  })

  it('are unchanged in folders with one file per name', { timeout: 600_000 }, async () => {
    const cwd = temporaryDirectory()
    // A slash in a name would lead octoDNS into a missing folder.
    const zones = PRINTED.map((zone) => printed({ ...zone, records: dumped(zone).filter(({ name }) => !name.includes('/')) })).filter(
      ({ records }) => records.length > 0,
    )
    const names = zones.map(({ name }) => name)
    await dumpWithOctodns(write(join(cwd, 'yaml'), zones), join(cwd, 'dump'), names, '.')
    const { status, stderr } = await cli(['import', 'octodns', 'dump', '-o', 'out/zones', '--lossy'], { cwd })
    expect([status, stderr.match(/^.*error\[.*$/gm)]).toEqual([0, null])
    expect(readdirSync(join(cwd, 'out/zones'), { recursive: true }).sort()).toEqual(
      readdirSync(join(cwd, 'dump'), { recursive: true }).sort(),
    )
    writeFileSync(join(cwd, 'out/zonewright.yaml'), 'providers: {}\n')
    const { config } = await loadConfig({ cwd: join(cwd, 'out') })
    if (config === null) throw new Error('no config')
    const back = (await loadDefinitions(config)).zones.flatMap(({ zone }) => zone.records)
    const loaded = await loadWithOctodns(join(cwd, 'dump'), names, '.')
    expect(linesOf(back)).toEqual(loaded.flatMap(linesOfLoaded).sort())
  })

  it.runIf(findTool('named') !== null)('need no changes at a name server that has them', { timeout: 600_000 }, async () => {
    const cwd = temporaryDirectory()
    const served = PRINTED.slice(0, rounds(20)).map((zone) => {
      const ns = recordsOf('@ NS ns1.example.net.').map((record) => ({ ...record, name: zone.name }))
      return printed({ name: zone.name, records: [...ns, ...zone.held.filter((record) => isServed(record, zone))] })
    })
    const soa = recordsOf('@ SOA ns1.example.net. hostmaster.example.net. 1 3600 600 86400 300')
    write(join(cwd, 'yaml'), served)
    const server = await startBind({
      zones: served.map(({ name, records }) => ({
        name: name.slice(0, -1),
        text: printZoneFile([...soa.map((record) => ({ ...record, name })), ...records], { origin: name, style: 'canonical' }),
      })),
    })
    const plans = await planOverTransfer(
      join(cwd, 'yaml'),
      server.port,
      served.map(({ name }) => name),
    )
    expect(plans).toEqual(Object.fromEntries(served.map(({ name }) => [name, []])))
  })
})

/** Whether octoDNS's transfer supports the record and reads it without an extra escape, and BIND accepts it. */
function isServed({ name, type, data }: DefinedRecord, zone: GeneratedZone): boolean {
  if (/^(?:ALIAS|DNAME|LOC|OPENPGPKEY|SVCB|URI|URLFWD)$/.test(type) || /[\\"]/.test(name)) return false
  if (name === zone.name ? /^(?:CNAME|DS|NS)$/.test(type) : type === 'NS' && name.startsWith('*')) return false
  if (type === 'SSHFP') return /^\d (?:1 [0-9a-f]{40}|2 [0-9a-f]{64})$/.test(data)
  if (type === 'HTTPS' && data.startsWith('0 ') && data.includes('=')) return false
  return !/\\|dohpath|ohttp|key7|mandatory|"a;b"/.test(data)
}

/** Removes RRsets that octoDNS does not dump, that have an empty text or a character that it takes for a line end, or that are invalid in a zone. */
function dumped({ name, held }: Printed): DefinedRecord[] {
  const refused = checkZone({ ...DEFAULT_ZONE_OPTIONS, name, at: { file: '', line: 1, column: 1 }, settings: {}, records: held })
  const places = new Set(refused.filter(({ severity }) => severity === 'error').map(({ at }) => at))
  const out = new Set(
    held
      .filter(({ type, data, at }) => places.has(at) || (/^(?:TXT|SPF)$/.test(type) && (data === '""' || data.includes('\\194\\133'))))
      .map((record) => rrsetKey(record)),
  )
  return held.filter((record) => !out.has(rrsetKey(record)))
}
