/** Compares the zone file that a provider has rendered with its records. */
import { isError } from '../../base/diagnostic.ts'
import { isApexNs, type ResourceRecord } from '../../dns/record.ts'
import { createZoneFileReader } from '../../dns/zone-file/parse-zone-file.ts'
import type { RenderedComparison, RenderedFile, ZoneSnapshot } from '../../providers/provider.ts'

/** Milliseconds after a change within which the provider may not have rendered it yet. */
const RENDERING_TIME = 15 * 60 * 1000

/** The TTL in seconds of records without a TTL in a zone without a default TTL (API, Domain: 0 means the default). */
export const DEFAULT_ZONE_TTL = 86_400

export const NOT_RENDERED: RenderedComparison = { state: 'unavailable', providerApexNs: null, differences: [] }

/**
 * Compares the latest zone file of a provider with the records that it lists. Ignores the SOA record and the apex NS records that the provider adds. A slave
 * zone has no records to compare. A disabled zone is not served, so differences are not reported.
 */
export function compareRendered(file: RenderedFile | null, zone: ZoneSnapshot): RenderedComparison {
  if (file === null || zone.settings.type === 'slave') return NOT_RENDERED
  const disabled = zone.settings.status === 'disabled'
  if (file.lines.length === 0) return { state: disabled ? 'match' : 'stale', providerApexNs: null, differences: [] }
  const zoneTtl = zone.settings.ttl_sec || DEFAULT_ZONE_TTL
  // For each listed record, whether the file has it.
  const listed = new Map(zone.records.map((record) => [comparisonKey(record, zoneTtl), false]))
  const providerApexNs: string[] = []
  const extra: ResourceRecord[] = []
  let found = 0
  let hasSoa = false
  const reader = createZoneFileReader({ origin: zone.name, file: `rendered ${zone.name}` }, (record) => {
    if (record.type === 'SOA') {
      hasSoa ||= record.name === zone.name
      return
    }
    const key = comparisonKey(record, zoneTtl)
    const isFound = listed.get(key)
    if (isFound === false) {
      listed.set(key, true)
      found += 1
    } else if (isFound === undefined) {
      if (isApexNs(record, zone.name)) providerApexNs.push(record.data)
      else extra.push(record)
    }
  })
  reader.push(`${file.lines.join('\n')}\n`)
  const problems = reader.end().diagnostics.filter(isError)
  if (problems.length > 0)
    return { state: 'differs', providerApexNs: null, differences: problems.slice(0, 10).map((problem) => problem.message) }
  const missingSoa = hasSoa || disabled ? [] : [`not rendered: the SOA record of ${zone.name}; no name server loads a zone file without it`]
  const missing = found === listed.size ? [] : missingRecords(zone, (record) => listed.get(comparisonKey(record, zoneTtl)) === true)
  if (extra.length === 0 && missing.length === 0 && missingSoa.length === 0) return { state: 'match', providerApexNs, differences: [] }
  if (disabled) return { ...NOT_RENDERED, providerApexNs }
  const differences = [
    ...missingSoa,
    ...missing.map((record) => `not rendered: ${describeRecord(record)}`),
    ...extra.map((record) => `only rendered: ${describeRecord(record)}`),
  ]
  const age = zone.millisecondsSinceLastChange
  // A provider that has rendered the file at all writes the SOA record.
  const mayBeRenderedSoon = missingSoa.length === 0 && age !== undefined && age < RENDERING_TIME
  return { state: mayBeRenderedSoon ? 'stale' : 'differs', providerApexNs, differences: differences.slice(0, 10) }
}

/** The listed records that the file lacks, except apex NS records. Of records that differ only in TTL, one in the file is enough (RFC 2181 section 5). */
function missingRecords({ name, records }: ZoneSnapshot, isRendered: (record: ResourceRecord) => boolean): ResourceRecord[] {
  const dataKey = (record: ResourceRecord): string => `${record.name} ${record.type} ${record.data}`
  const rendered = new Set(records.filter(isRendered).map(dataKey))
  return records.filter((record) => !rendered.has(dataKey(record)) && !isApexNs(record, name))
}

const comparisonKey = (record: ResourceRecord, zoneTtl: number): string =>
  `${record.name} ${record.ttl ?? zoneTtl} ${record.type} ${record.data}`

const describeRecord = ({ name, ttl, type, data }: ResourceRecord): string => `${name} ${ttl ?? 'default'} ${type} ${data.slice(0, 200)}`
