import { OCTODNS_TYPES, octodnsValue, SINGLE_VALUE_TYPES, type YamlMap, type YamlValue } from '../../definition/print/octodns-value.ts'
import { rdataToText, textToRdata } from '../../dns/character-string.ts'
import { type DomainName, isBelow, parentOf, relativeName } from '../../dns/domain-name.ts'
import { type DefinedRecord, groupRrsets, rrsetKey } from '../../dns/record.ts'
import type { DesiredZone, RrsetScope } from '../../dns/zone.ts'
import type { UnsupportedFeature } from '../conversion.ts'
import { needsLenient } from './needs-lenient.ts'
import { printMap } from './yaml-tree.ts'

export type OctodnsZone = Pick<DesiredZone, 'name' | 'records' | 'scopes'> & {
  /** Seconds for records without a TTL; where it is null they get that of octoDNS's config, and are named for it. */
  readonly defaultTtl: number | null
  /** All zones of the octoDNS that reads the file. It takes records at or below another of them only as lenient. */
  readonly managed?: ReadonlySet<DomainName>
}

export interface OctodnsText {
  readonly text: string
  /** Records, or what of them, octoDNS cannot hold. */
  readonly dropped: readonly UnsupportedFeature[]
}

/**
 * A zone as a file that octoDNS reads with `enforce_order: true` (keys in natural order at every depth), an RRset an entry. TTLs are always
 * said, so that no `default_ttl` of a config matters. What octoDNS's checks refuse though it is good DNS says `lenient: true`.
 */
export function printOctodnsZone(zone: OctodnsZone): OctodnsText {
  const dropped: UnsupportedFeature[] = []
  const scopes = new Map(zone.scopes.map((scope) => [rrsetKey(scope), scope]))
  const names: Record<string, YamlMap[]> = Object.create(null)
  for (const [key, records] of groupRrsets(zone.records)) {
    const [first] = records as [DefinedRecord]
    const name = relativeName(first.name, zone.name)
    const entry = rrsetEntry(records, name, zone, scopes.get(key), dropped)
    if (entry === null) continue
    names[name] ??= []
    names[name].push(entry)
  }
  const map: Record<string, YamlValue> = Object.create(null)
  for (const [name, entries] of Object.entries(names)) {
    const [only] = entries
    map[name] = entries.length === 1 ? (only as YamlMap) : entries.sort((a, b) => (String(a['type']) < String(b['type']) ? -1 : 1))
  }
  return { text: `---\n${printMap(map, '') || '{}\n'}`, dropped }
}

/** An RRset as octoDNS has it; null where nothing of it is left. */
function rrsetEntry(
  records: readonly DefinedRecord[],
  name: string,
  zone: OctodnsZone,
  scope: RrsetScope | undefined,
  dropped: UnsupportedFeature[],
): YamlMap | null {
  const [first] = records as [DefinedRecord]
  const { type } = first
  const lose = (what: string, record = first): void => {
    dropped.push({ zone: zone.name, name: first.name, type, what, at: record.at })
  }
  if (!OCTODNS_TYPES.has(type)) {
    lose(`records of type ${type}, which octoDNS does not know`)
    return null
  }
  const values = new Map<string, YamlValue>()
  let lenient = isOfSubzone(first, zone)
  for (const record of [...records].sort((a, b) => (a.data < b.data ? -1 : 1))) {
    const value = octodnsValue(type, record.data)
    if (!value.ok) lose(value.message, record)
    else if (SINGLE_VALUE_TYPES.has(type) && values.size > 0) lose(`a second value, of which ${type} has one`, record)
    else {
      if (hasOwnStrings(record)) lose('where its strings are cut', record)
      values.set(record.data, value.value)
      lenient ||= needsLenient(record, name)
    }
  }
  if (values.size === 0) return null
  const list = [...values.values()]
  const ttl = ttlOf(records, zone.defaultTtl, lose)
  const octodns = extrasOf(scope, lenient)
  return {
    ...(octodns === null ? {} : { octodns }),
    ...(ttl === null ? {} : { ttl }),
    type,
    ...(list.length === 1 ? { value: list[0] ?? null } : { values: list }),
  }
}

/** Whether another zone should have the record: at its apex NS and DS are those of the delegation (octodns/zone/base.py, `add_record`). */
function isOfSubzone({ name, type }: DefinedRecord, { name: zone, managed }: OctodnsZone): boolean {
  if (managed === undefined) return false
  const first = type === 'NS' || type === 'DS' ? parentOf(name) : name
  for (let at = first; isBelow(at, zone); at = parentOf(at)) if (managed.has(at)) return true
  return false
}

/** Whether a text is cut otherwise than as few strings of 255 octets, which is how octoDNS cuts. */
const hasOwnStrings = ({ type, data }: DefinedRecord): boolean =>
  (type === 'TXT' || type === 'SPF') && data.includes('" "') && textToRdata(rdataToText(data)) !== data

/** octoDNS has one TTL for an RRset: the lowest, as resolvers take it (RFC 2181 section 5.2). */
function ttlOf(records: readonly DefinedRecord[], defaultTtl: number | null, lose: (what: string) => void): number | null {
  const ttls = [...new Set(records.map(({ ttl }) => ttl ?? defaultTtl))]
  const given = ttls.filter((ttl): ttl is number => ttl !== null)
  if (given.length < ttls.length) lose("that its TTL is the zone's default")
  if (given.length > 1) lose(`TTLs that differ (${given.sort((a, b) => a - b).join(', ')}); all have the lowest`)
  return given.length === 0 ? null : Math.min(...given)
}

function extrasOf(scope: RrsetScope | undefined, lenient: boolean): YamlMap | null {
  const extras: Record<string, YamlValue> = {}
  if (scope !== undefined && scope.excluded.length > 0) extras['excluded'] = scope.excluded
  if (scope?.ignored) extras['ignored'] = true
  if (scope !== undefined && scope.included.length > 0) extras['included'] = scope.included
  if (lenient) extras['lenient'] = true
  return Object.keys(extras).length === 0 ? null : extras
}
