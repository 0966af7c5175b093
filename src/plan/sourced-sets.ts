/** The RRsets of a zone that have a source, and what the sources give them. */
import type { Diagnostic, SourcePosition } from '../base/diagnostic.ts'
import type { DomainName } from '../dns/domain-name.ts'
import { type DefinedRecord, type ExistingRecord, groupRrsets, isApexNs, type ResourceRecord, rrsetKey } from '../dns/record.ts'
import { unmanagedTest } from '../dns/unmanaged.ts'
import type { DesiredZone, ExistingZone } from '../dns/zone.ts'
import type { QuarantineRule } from '../dns/zone-source.ts'
import { excludedRrsets } from './fit-to-target.ts'
import type { SourceVersion } from './source-state.ts'

/** The RRset that a source gives values to, or the pattern of those that it has. */
export type SourceScope =
  | { readonly kind: 'rrset'; readonly name: DomainName; readonly type: string }
  | { readonly kind: 'pattern'; readonly name?: string | undefined; readonly type?: string | undefined }

/** One source of a zone as it was read. */
export interface SourceReading {
  /** Its name in messages. */
  readonly source: string
  /** Identifies the zone or inventory in the state: its name, and the address of the provider. */
  readonly place: string
  /** What is asked of it, so that another question about the same zone is not counted for this one. */
  readonly selection: string
  readonly scope: SourceScope
  readonly rule: QuarantineRule
  readonly at: SourcePosition
  readonly result: GoodReading | { readonly state: 'failed'; readonly problem: Diagnostic }
}

export interface GoodReading {
  readonly state: 'read'
  /** The records under their names in the zone. */
  readonly records: readonly DefinedRecord[]
  /** Null if the source has none. */
  readonly version: SourceVersion | null
  /** Why there is no record, if there is none. */
  readonly emptiness: Diagnostic | null
}

/** A zone at a target, and its sources as they were read. */
export interface SourcedZone {
  /** The zone without the records of its sources. */
  readonly desired: DesiredZone
  readonly existing: ExistingZone | null
  /** The provider's name in the config. */
  readonly target: string
  /** In the order in which they apply: of two that have an RRset, the first provides it. */
  readonly readings: readonly SourceReading[]
}

/** A reading that cannot be used, and since when that is so. */
export interface HeldReading {
  readonly reading: SourceReading
  readonly problem: Diagnostic
  readonly since: number
}

/** An RRset with sources: what they give, or the reading that keeps it from being changed. */
export interface SourcedSet {
  readonly name: DomainName
  readonly type: string
  readonly readings: SourceReading[]
  readonly wanted: DefinedRecord[]
  held: HeldReading | null
}

/**
 * The RRsets that have a source, by `rrsetKey`. A pattern provides the RRsets that the definition does not have. One that the target has and no source does
 * belongs to the first pattern that matches it, unless records of the definition take its place (`excludesAnother`).
 */
export function sourcedSets(zone: SourcedZone, held: ReadonlyMap<SourceReading, HeldReading>): Map<string, SourcedSet> {
  const { desired, readings, target } = zone
  const excluded = excludedRrsets(desired, target)
  const own = groupRrsets(desired.records)
  const sets = new Map<string, SourcedSet>()
  const add = ({ name, type }: Pick<ResourceRecord, 'name' | 'type'>, reading: SourceReading, records: readonly DefinedRecord[]): void => {
    const key = rrsetKey({ name, type })
    const set = sets.get(key) ?? { name, type, readings: [], wanted: [...(own.get(key) ?? [])], held: null }
    sets.set(key, set)
    set.readings.push(reading)
    set.held ??= held.get(reading) ?? null
    const known = new Set(set.wanted.map(({ data }) => data))
    for (const record of records) {
      if (!known.has(record.data)) set.wanted.push(record)
      known.add(record.data)
    }
  }
  for (const reading of readings) {
    const { scope } = reading
    if (scope.kind === 'rrset' && !excluded.has(rrsetKey(scope))) add(scope, reading, recordsOf(reading))
  }
  const isTaken = (key: string): boolean => own.has(key) || sets.has(key) || excluded.has(key)
  const ownTypes = typesByName(desired.records.filter((record) => !excluded.has(rrsetKey(record))))
  const live = [...groupRrsets(managedRecords(zone))].flatMap(([key, [record]]) =>
    record === undefined || isTaken(key) || excludesAnother(record, ownTypes) ? [] : [record],
  )
  const patterns = readings.flatMap((reading) =>
    reading.scope.kind === 'pattern' ? [{ reading, matches: patternTest(reading.scope, desired) }] : [],
  )
  for (const { reading, matches } of patterns) {
    // A source that cannot be used may have whatever is live.
    if (held.has(reading)) for (const record of live) if (!isTaken(rrsetKey(record)) && matches(record)) add(record, reading, [])
    const found = held.has(reading) ? [] : groupRrsets(recordsOf(reading).filter(matches))
    for (const [key, records] of found) if (!isTaken(key)) add(records[0] as DefinedRecord, reading, records)
  }
  for (const { reading, matches } of patterns)
    for (const record of live) if (!isTaken(rrsetKey(record)) && matches(record)) add(record, reading, [])
  return sets
}

const recordsOf = ({ result }: SourceReading): readonly DefinedRecord[] => (result.state === 'read' ? result.records : [])

/** Whether a pattern provides a record. Records that the zone leaves to others are left to them. */
function patternTest(
  scope: SourceScope & { readonly kind: 'pattern' },
  { name: zone, unmanaged }: DesiredZone,
): (record: ResourceRecord) => boolean {
  const isMatch = unmanagedTest([{ name: scope.name ?? '*', type: scope.type }], zone)
  const isUnmanaged = unmanagedTest(unmanaged, zone)
  return (record) => isMatch(record) && !isFixed(record, zone) && !isUnmanaged(record)
}

/** The SOA record and the NS records of the apex never come from a source. */
const isFixed = (record: ResourceRecord, zone: DomainName): boolean => record.type === 'SOA' || isApexNs(record, zone)

/** Whether an RRset cannot be beside others at its name: a CNAME record is alone (RFC 1034 section 3.6.2). */
export const excludesAnother = ({ name, type }: Pick<ResourceRecord, 'name' | 'type'>, types: TypesByName): boolean => {
  const others = types.get(name)
  return others !== undefined && (type === 'CNAME' ? [...others].some((one) => one !== 'CNAME') : others.has('CNAME'))
}

export type TypesByName = ReadonlyMap<string, ReadonlySet<string>>

export function typesByName(records: readonly Pick<ResourceRecord, 'name' | 'type'>[]): TypesByName {
  const types = new Map<string, Set<string>>()
  for (const { name, type } of records) types.set(name, (types.get(name) ?? new Set()).add(type))
  return types
}

/** The live records that plans of the zone may change. */
export function managedRecords({ desired, existing, target }: SourcedZone): readonly ExistingRecord[] {
  const isUnmanaged = unmanagedTest(desired.unmanaged, desired.name, { live: [existing], declared: desired.records })
  const excluded = excludedRrsets(desired, target)
  return (existing?.records ?? []).filter((record) => record.type !== 'SOA' && !isUnmanaged(record) && !excluded.has(rrsetKey(record)))
}
