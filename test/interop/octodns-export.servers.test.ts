/** octoDNS loads what `export octodns` writes with `enforce_order: true`: the same records, and no changes to plan. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parseDefinition, parseSplitZone } from '../../src/definition/parse/parse-definition.ts'
import { printOctodnsZone } from '../../src/definition/print/octodns-zone.ts'
import { parseDomainName } from '../../src/dns/domain-name.ts'
import type { DefinedRecord } from '../../src/dns/record.ts'
import type { Ttl } from '../../src/dns/ttl.ts'
import { printZoneFile } from '../../src/dns/zone-file/print-zone-file.ts'
import { CORPUS } from '../convert/octodns/corpus.ts'
import { recordsOf, SUPPORTED, ZONE } from '../convert/octodns/every-type.ts'
import { fc } from '../support/fast-check.ts'
import { randomRecords } from '../support/random-records.ts'
import { name, records } from '../support/records.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { describeWithOctodns, linesOfLoaded, loadWithOctodns, planWithOctodns, recordLine } from './octodns-judge.ts'

/** The differences between records and what octoDNS loads from their printed file, except for records reported as dropped. */
async function differences(
  zones: readonly { readonly zone: typeof ZONE; readonly records: readonly DefinedRecord[] }[],
): Promise<string[]> {
  const folder = temporaryDirectory()
  const wanted = new Set<string>()
  const named = new Set<string>()
  const managed = new Set(zones.map(({ zone }) => zone))
  for (const { zone, records } of zones) {
    const { text, dropped } = printOctodnsZone({ name: zone, records, rrsetTargets: [], defaultTtl: null, managed })
    writeFileSync(join(folder, `${zone}yaml`), text)
    for (const { name, type } of dropped) named.add(`${name} ${type}`)
    for (const record of records) if (!named.has(`${record.name} ${record.type}`)) wanted.add(recordLine(record))
  }
  const loaded = await loadWithOctodns(
    folder,
    zones.map(({ zone }) => zone),
  )
  const found = new Set(loaded.filter(({ name, type }) => !named.has(`${name} ${type}`)).flatMap(linesOfLoaded))
  return [
    ...[...wanted].filter((one) => !found.has(one)).map((one) => `- ${one}`),
    ...[...found].filter((one) => !wanted.has(one)).map((one) => `+ ${one}`),
  ]
}

describeWithOctodns('octoDNS and exported files', () => {
  it('loads every type that it supports', { timeout: 60_000 }, async () => {
    expect(await differences([{ zone: ZONE, records: recordsOf(SUPPORTED) }])).toEqual([])
  })

  it('loads nested zones', async () => {
    const below = name('sub.example.com.')
    const above = records(ZONE, 'sub 60 NS ns.sub\nns.sub 60 A 192.0.2.1\nsub 60 CAA 0 issue "ca.example.net"\nwww.sub 60 A 192.0.2.2')
    const zones = [
      { zone: ZONE, records: above },
      { zone: below, records: records(below, 'www 60 A 192.0.2.3') },
    ]
    expect(await differences(zones)).toEqual([])
  })

  it('loads every zone of the corpus, printed again', { timeout: 60_000 }, async () => {
    const zones = new Map<typeof ZONE, readonly DefinedRecord[]>()
    for (const entry of CORPUS) {
      const name = parseDomainName(entry.zone)
      const [first] = entry.files
      if (!name.ok || !first || zones.has(name.value)) continue
      const options = { zoneName: name.value, octodnsDefaultTtl: entry.defaultTtl }
      const { zone } = entry.isSplit ? parseSplitZone(entry.files, options) : parseDefinition(first.text, { ...options, ...first })
      if (zone) zones.set(name.value, zone.records)
    }
    expect(zones.size).toBeGreaterThan(60)
    expect(await differences([...zones].map(([zone, records]) => ({ zone, records })))).toEqual([])
  })

  it('loads a hundred zones of random records', { timeout: 60_000 }, async () => {
    const samples = fc.sample(randomRecords, 100).map((generated, i) => {
      const zone = parseDomainName(`z${i}.example.com.`)
      if (!zone.ok) throw new Error(zone.message)
      const records = generated.map((record) => ({
        ...record,
        ttl: 300 as Ttl,
        name: record.name.replace(/example\.com\.$/, zone.value) as typeof ZONE,
      }))
      // octoDNS refuses a CNAME with other records at its name, even if lenient.
      const others = new Set(records.filter(({ type }) => type !== 'CNAME').map(({ name }) => name))
      return { zone: zone.value, records: records.filter(({ name, type }) => type !== 'CNAME' || !others.has(name)) }
    })
    expect(await differences(samples)).toEqual([])
  })

  it('plans no change for a zone file with the same records', { timeout: 60_000 }, async () => {
    const cwd = temporaryDirectory()
    for (const name of ['yaml', 'zones']) mkdirSync(join(cwd, name))
    // The types that its zone-file provider supports and reads without an extra escape.
    const records = recordsOf(SUPPORTED).filter(
      ({ name, type, data }) =>
        !/^(?:ALIAS|DNAME|LOC|OPENPGPKEY|SVCB|URI|URLFWD)$/.test(type) && !name.includes('\\') && !/\\|dohpath/.test(data),
    )
    const soa = recordsOf('@ SOA ns1 hostmaster 1 3600 600 86400 300')
    writeFileSync(join(cwd, 'yaml', 'example.com.yaml'), printOctodnsZone({ name: ZONE, records, rrsetTargets: [], defaultTtl: null }).text)
    writeFileSync(join(cwd, 'zones', 'example.com.'), printZoneFile([...soa, ...records], { origin: ZONE, style: 'canonical' }))
    expect(await planWithOctodns(join(cwd, 'yaml'), join(cwd, 'zones'), ZONE)).toEqual([])
  })
})
