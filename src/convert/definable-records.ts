/** Finds the records that a definition cannot contain, and selectors of `unmanaged` for them. */
import { isError, type SourcePosition } from '../base/diagnostic.ts'
import { checkZone } from '../checks/rules/rules.ts'
import { type DomainName, relativeName } from '../dns/domain-name.ts'
import { globIndex } from '../dns/glob.ts'
import { type DefinedRecord, type ExistingRecord, groupRrsets, type ResourceRecord, rrsetKey } from '../dns/record.ts'
import { parseRecordType } from '../dns/record-type.ts'
import { MAX_TTL } from '../dns/ttl.ts'
import { unmanagedTest } from '../dns/unmanaged.ts'
import { DEFAULT_ZONE_OPTIONS, type DesiredZone, type ExistingZone, type UnmanagedSelector } from '../dns/zone.ts'
import type { Capabilities } from '../plan/capabilities.ts'
import { fitToTarget } from '../plan/fit-to-target.ts'
import { hasDefinableData, withoutSubject } from '../plan/misfits.ts'

/** A provider that holds a zone, and what it supports. */
export interface ZoneTarget {
  /** The provider's name in the config. */
  readonly target: string
  readonly capabilities: Capabilities
}

/** A record that no definition for its provider can contain. */
export interface UndefinableRecord {
  readonly record: ExistingRecord
  /** The reason, worded to follow its data. */
  readonly reason: string
}

export interface DefinableRecords {
  /** Records that a definition can contain and that its next plan leaves unchanged. */
  readonly records: readonly ExistingRecord[]
  readonly undefinable: readonly UndefinableRecord[]
}

/**
 * Splits a zone's records, without duplicates, by whether a definition can contain them: by their syntax, by what their provider accepts
 * and by the rules of the DNS.
 */
export function definableRecords(
  { name, settings }: ExistingZone,
  all: readonly ExistingRecord[],
  zoneTarget: ZoneTarget,
): DefinableRecords {
  const undefinable: UndefinableRecord[] = []
  let records = all.filter((record) => {
    const reason = problemOf(record)
    if (reason !== null) undefinable.push({ record, reason })
    return reason === null
  })
  for (const refusals of [(zone: DesiredZone) => refusedByTarget(zone, zoneTarget), refusedByRules]) {
    const split = splitBy(refusals, { name, settings }, records)
    records = split.records
    undefinable.push(...split.undefinable)
  }
  return { records, undefinable }
}

/** Splits syntactically valid records by the rules of the DNS alone. */
export const splitByRules = <R extends ResourceRecord>(name: DomainName, records: readonly R[]): SplitRecords<R> =>
  splitBy(refusedByRules, { name, settings: {} }, records)

interface SplitRecords<R extends ResourceRecord> {
  readonly records: R[]
  readonly undefinable: { readonly record: R; readonly reason: string }[]
}

/** Splits records by a test. Each round removes selectors, or is the last one. */
function splitBy<R extends ResourceRecord>(
  refusals: (zone: DesiredZone) => Reasons,
  { name, settings }: Pick<ExistingZone, 'name' | 'settings'>,
  all: readonly R[],
): SplitRecords<R> {
  const undefinable: SplitRecords<R>['undefinable'] = []
  let records = [...all]
  for (;;) {
    const reasons = refusals({ ...DEFAULT_ZONE_OPTIONS, name, at: positionOf(0), settings, records: records.map(withPosition) })
    if (reasons.size === 0) return { records, undefinable }
    for (const [index, reason] of reasons) undefinable.push({ record: records[index] as R, reason })
    records = records.filter((_, index) => !reasons.has(index))
  }
}

/** What is wrong with the record itself: providers may hold invalid ones. */
function problemOf(record: ExistingRecord): string | null {
  const { ttl } = record
  if (ttl !== null && ttl > MAX_TTL) return `its TTL of ${ttl} s is above the maximum of ${MAX_TTL} s`
  return hasDefinableData(record) ? null : 'its data is invalid'
}

/** Reasons by the index of the record. */
type Reasons = ReadonlyMap<number, string>

/** Records that the provider would not accept again. */
function refusedByTarget(zone: DesiredZone, { target, capabilities }: ZoneTarget): Reasons {
  const reasons = new Map<number, string>()
  for (const { at, message, severity } of fitToTarget(zone, target, capabilities).diagnostics) {
    const record = recordAt(zone, at)
    if (severity === 'error' && record !== undefined) reasons.set(indexOf(at), withoutSubject(message, record))
  }
  return reasons
}

/** Rules about an RRset of which no record is more valid than another. */
const RRSET_CODES: ReadonlySet<string> = new Set(['rrset-too-large', 'singleton-multiple'])

/** Records that a rule refuses. The others of their RRsets stay, unless the rule is about the whole RRset. */
function refusedByRules(zone: DesiredZone): Reasons {
  const reasons = new Map<number, string>()
  const ofRrsets = new Map<string, string>()
  for (const { code, at, message } of checkZone(zone).filter(isError)) {
    const record = recordAt(zone, at)
    if (record === undefined) continue
    const reason = withoutSubject(message, record)
    if (RRSET_CODES.has(code)) ofRrsets.set(rrsetKey(record), reason)
    else reasons.set(indexOf(at), reason)
  }
  for (const [index, record] of ofRrsets.size === 0 ? [] : zone.records.entries()) {
    const reason = ofRrsets.get(rrsetKey(record))
    if (reason !== undefined) reasons.set(index, reason)
  }
  return reasons
}

/** A line number identifies each record, so a diagnostic can be matched to its record. */
const positionOf = (line: number): SourcePosition => ({ file: '', line, column: 1 })
const withPosition = (record: ResourceRecord, index: number): DefinedRecord => ({ ...record, at: positionOf(index + 1) })
const indexOf = (at: SourcePosition | undefined): number => (at?.line ?? 0) - 1
const recordAt = (zone: DesiredZone, at: SourcePosition | undefined): DefinedRecord | undefined => zone.records[indexOf(at)]

export interface DerivedSelectors {
  readonly selectors: readonly UnmanagedSelector[]
  /** The RRsets (by `rrsetKey`) whose undefinable records no selector can separate from records of the definition. */
  readonly inseparable: ReadonlySet<string>
}

/** Selectors for exactly the undefinable records, so no plan of the definition deletes them. */
export function unmanagedSelectorsFor(zone: DomainName, { records, undefinable }: DefinableRecords): DerivedSelectors {
  const selectors: UnmanagedSelector[] = []
  const inseparable = new Set<string>()
  const nearbyOf = nearbyRecords(zone, records, undefinable)
  for (const [key, set] of groupRrsets(undefinable.map(({ record }) => record))) {
    const [first] = set as [ExistingRecord]
    const name = relativeName(first.name, zone)
    const chosen = candidates(name === '' ? '@' : name, set).find((selectors) => selectsExactly(selectors, zone, set, nearbyOf(name)))
    if (chosen === undefined) inseparable.add(key)
    else selectors.push(...chosen)
  }
  return { selectors, inseparable }
}

/**
 * For each owner of an undefinable record: the definable records that a selector with that name may match. Only a name with an asterisk can
 * match other names.
 */
function nearbyRecords(
  zone: DomainName,
  records: readonly ExistingRecord[],
  undefinable: DefinableRecords['undefinable'],
): (relative: string) => readonly ExistingRecord[] {
  const groups = new Map<string, ExistingRecord[]>()
  const globs = globIndex<ExistingRecord[]>()
  for (const { record } of undefinable) {
    const glob = relativeName(record.name, zone)
    if (groups.has(glob)) continue
    const group: ExistingRecord[] = []
    groups.set(glob, group)
    globs.add(glob, group)
  }
  for (const record of records) for (const group of globs.near(relativeName(record.name, zone))) group.push(record)
  return (relative) => groups.get(relative) ?? []
}

/** From the simplest selectors to the most specific ones. */
function candidates(name: string, set: readonly ExistingRecord[]): UnmanagedSelector[][] {
  const type = set[0]?.type ?? ''
  const ofType = parseRecordType(type).ok ? { type } : {}
  return [...('type' in ofType ? [[{ name, ...ofType }]] : []), set.map(({ data }) => ({ name, ...ofType, target: data }))]
}

function selectsExactly(
  selectors: readonly UnmanagedSelector[],
  zone: DomainName,
  set: readonly ExistingRecord[],
  nearby: readonly ExistingRecord[],
): boolean {
  const selects = unmanagedTest(selectors, zone)
  return set.every(selects) && !nearby.some(selects)
}

export const isInseparable = (record: ExistingRecord, { inseparable }: DerivedSelectors): boolean => inseparable.has(rrsetKey(record))
