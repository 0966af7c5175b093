import { isError } from '../dns/diagnostic.ts'
import type { ResourceRecord } from '../dns/record.ts'
import { createZoneFileReader } from '../dns/zone-file/parse-zone-file.ts'
import type { RenderedState } from '../plan/plan.ts'
import type { RenderedFile, ZoneSnapshot } from '../providers/provider.ts'

/** Milliseconds for which a rendered file may lag behind a change. */
const RENDERING_TIME = 15 * 60 * 1000

/** The TTL in seconds of records without a TTL in a zone without a default TTL (API, Domain: 0 means the default). */
export const DEFAULT_ZONE_TTL = 86_400

/** The comparison of the rendered zone file with the records. */
export interface RenderedComparison {
  readonly state: RenderedState
  /** Data of the apex NS records that only the file has; null without a file. */
  readonly servedApexNs: readonly string[] | null
  /** Descriptions of up to ten records that only one side has. */
  readonly differences: readonly string[]
}

export const NOT_RENDERED: RenderedComparison = { state: 'unavailable', servedApexNs: null, differences: [] }

/**
 * Compares the zone file that a provider rendered last with the records that it lists, except for the SOA record and the provider's own apex NS records.
 * A slave zone has no records to compare, and differences of a disabled zone do not matter.
 */
export function compareRendered(file: RenderedFile | null, zone: ZoneSnapshot): RenderedComparison {
  if (file === null || zone.settings.type === 'slave') return NOT_RENDERED
  const disabled = zone.settings.status === 'disabled'
  if (file.lines.length === 0) return { state: disabled ? 'match' : 'stale', servedApexNs: null, differences: [] }
  const zoneTtl = zone.settings.ttl_sec || DEFAULT_ZONE_TTL
  const isApexNs = (record: ResourceRecord): boolean => record.type === 'NS' && record.name === zone.name
  // For each listed record, whether the file has it.
  const listed = new Map(zone.records.map((record) => [comparisonKey(record, zoneTtl), false]))
  const servedApexNs: string[] = []
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
      if (isApexNs(record)) servedApexNs.push(record.data)
      else extra.push(record)
    }
  })
  reader.push(`${file.lines.join('\n')}\n`)
  const problems = reader.end().diagnostics.filter(isError)
  if (problems.length > 0)
    return { state: 'differs', servedApexNs: null, differences: problems.slice(0, 10).map((problem) => problem.message) }
  const headless = hasSoa || disabled ? [] : [`not rendered: the SOA record of ${zone.name}, without which no name server takes the file`]
  const missing = found === listed.size ? [] : notRendered(zone, (record) => listed.get(comparisonKey(record, zoneTtl)) === true)
  if (extra.length === 0 && missing.length === 0 && headless.length === 0) return { state: 'match', servedApexNs, differences: [] }
  if (disabled) return { ...NOT_RENDERED, servedApexNs }
  const differences = [
    ...headless,
    ...missing.map((record) => `not rendered: ${words(record)}`),
    ...extra.map((record) => `only rendered: ${words(record)}`),
  ]
  const lagging = headless.length === 0 && zone.millisecondsSinceLastChange !== null && zone.millisecondsSinceLastChange < RENDERING_TIME
  return { state: lagging ? 'stale' : 'differs', servedApexNs, differences: differences.slice(0, 10) }
}

/** A zone has each record once (RFC 2181 section 5), so of records that differ only in TTL one is rendered. */
function notRendered({ name, records }: ZoneSnapshot, isRendered: (record: ResourceRecord) => boolean): ResourceRecord[] {
  const dataKey = (record: ResourceRecord): string => `${record.name} ${record.type} ${record.data}`
  const rendered = new Set(records.filter(isRendered).map(dataKey))
  return records.filter((record) => !rendered.has(dataKey(record)) && !(record.type === 'NS' && record.name === name))
}

const comparisonKey = (record: ResourceRecord, zoneTtl: number): string =>
  `${record.name} ${record.ttl ?? zoneTtl} ${record.type} ${record.data}`

const words = (record: ResourceRecord): string => `${record.name} ${record.ttl ?? 'default'} ${record.type} ${record.data.slice(0, 200)}`
