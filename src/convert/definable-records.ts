import { presentationTokens } from '../definition/parse/presentation-tokens.ts'
import { checkZone } from '../definition/rules/rules.ts'
import { isError, type SourcePosition } from '../dns/diagnostic.ts'
import { type DomainName, parseDomainName, relativeName } from '../dns/domain-name.ts'
import { globIndex } from '../dns/glob.ts'
import { canonicalRdata } from '../dns/rdata/canonical.ts'
import { type DefinedRecord, type ExistingRecord, groupRrsets, type ResourceRecord, rrsetKey } from '../dns/record.ts'
import { parseRecordType } from '../dns/record-type.ts'
import { MAX_TTL } from '../dns/ttl.ts'
import { unmanagedTest } from '../dns/unmanaged.ts'
import { DEFAULT_ZONE_OPTIONS, type DesiredZone, type ExistingZone, type UnmanagedSelector } from '../dns/zone.ts'
import type { Capabilities } from '../plan/capabilities.ts'
import { fitToTarget } from '../plan/fit-to-target.ts'

/** Where a zone is held, and what can be held there. */
export interface Holder {
  /** The provider's name in the config. */
  readonly target: string
  readonly capabilities: Capabilities
}

/** A record that no definition for its provider can have. */
export interface UndefinableRecord {
  readonly record: ExistingRecord
  /** Why, in words that follow its data. */
  readonly why: string
}

export interface DefinableRecords {
  /** Those that a definition can have and a plan then lets stand. */
  readonly records: readonly ExistingRecord[]
  readonly others: readonly UndefinableRecord[]
}

/**
 * Parts the records of a zone, none of them twice, by whether a definition can have them: by their own form, by what their provider takes in, and by
 * the rules of the DNS. Where a rule refuses a record, all of its RRset are parted from it.
 */
export function definableRecords({ name, settings }: ExistingZone, all: readonly ExistingRecord[], holder: Holder): DefinableRecords {
  const others: UndefinableRecord[] = []
  let records = all.filter((record) => {
    const why = faultOf(record)
    if (why !== null) others.push({ record, why })
    return why === null
  })
  for (const refusals of [(zone: DesiredZone) => refusedByTarget(zone, holder), refusedByRules]) {
    const parted = partBy(refusals, { name, settings }, records)
    records = parted.records
    others.push(...parted.others)
  }
  return { records, others }
}

/** Parts records that are valid by themselves by the rules of the DNS alone. */
export const recordsWithinRules = <R extends ResourceRecord>(name: DomainName, records: readonly R[]): PartedRecords<R> =>
  partBy(refusedByRules, { name, settings: {} }, records)

interface PartedRecords<R extends ResourceRecord> {
  readonly records: R[]
  readonly others: { readonly record: R; readonly why: string }[]
}

/** Parts records by what refuses them; each round takes out some or is the last one. */
function partBy<R extends ResourceRecord>(
  refusals: (zone: DesiredZone) => Reasons,
  { name, settings }: Pick<ExistingZone, 'name' | 'settings'>,
  all: readonly R[],
): PartedRecords<R> {
  const others: PartedRecords<R>['others'] = []
  let records = [...all]
  for (;;) {
    const whys = refusals({ ...DEFAULT_ZONE_OPTIONS, name, at: placeOf(0), settings, records: records.map(withPlace) })
    if (whys.size === 0) return { records, others }
    for (const [index, why] of whys) others.push({ record: records[index] as R, why })
    records = records.filter((_, index) => !whys.has(index))
  }
}

/** Providers may hold what is no record of the DNS. */
function faultOf({ type, data, ttl }: ExistingRecord): string | null {
  if (ttl !== null && ttl > MAX_TTL) return `its TTL of ${ttl} s is more than any record can have`
  const tokens = presentationTokens(data)
  const canonical = tokens.ok ? canonicalRdata(type, tokens.value, (text) => parseDomainName(text)) : tokens
  return canonical.ok && canonical.value === data ? null : 'data that are not valid'
}

/** Reasons by the number of the record. */
type Reasons = ReadonlyMap<number, string>

/** What the provider would not take in again. */
function refusedByTarget(zone: DesiredZone, { target, capabilities }: Holder): Reasons {
  const reasons = new Map<number, string>()
  for (const { at, message, severity } of fitToTarget(zone, target, capabilities).diagnostics) {
    const record = recordAt(zone, at)
    if (severity === 'error' && record !== undefined) reasons.set(indexOf(at), wordsAfter(record, message))
  }
  return reasons
}

function refusedByRules(zone: DesiredZone): Reasons {
  const reasons = new Map<string, string>()
  for (const diagnostic of checkZone(zone)) {
    const record = isError(diagnostic) ? recordAt(zone, diagnostic.at) : undefined
    if (record !== undefined) reasons.set(rrsetKey(record), wordsAfter(record, diagnostic.message))
  }
  return new Map(
    zone.records.flatMap((record, index) => {
      const why = reasons.get(rrsetKey(record))
      return why === undefined ? [] : [[index, why]]
    }),
  )
}

const wordsAfter = ({ name, type }: ResourceRecord, message: string): string => {
  const subject = `${name} ${type}: `
  return message.startsWith(subject) ? message.slice(subject.length) : message
}

/** Lines stand for the records, so that it can be told what a diagnostic is about. */
const placeOf = (line: number): SourcePosition => ({ file: '', line, column: 1 })
const withPlace = (record: ResourceRecord, index: number): DefinedRecord => ({ ...record, at: placeOf(index + 1) })
const indexOf = (at: SourcePosition | undefined): number => (at?.line ?? 0) - 1
const recordAt = (zone: DesiredZone, at: SourcePosition | undefined): DefinedRecord | undefined => zone.records[indexOf(at)]

export interface DerivedSelectors {
  readonly selectors: readonly UnmanagedSelector[]
  /** The RRsets (see `rrsetKey`) with records that no selector can tell from records of the definition. */
  readonly exposed: ReadonlySet<string>
}

/** Selectors of exactly the records that a definition cannot have, so that no plan of it deletes them. */
export function unmanagedSelectorsFor(zone: DomainName, { records, others }: DefinableRecords): DerivedSelectors {
  const selectors: UnmanagedSelector[] = []
  const exposed = new Set<string>()
  const nearby = nearbyRecords(zone, records, others)
  for (const [key, set] of groupRrsets(others.map(({ record }) => record))) {
    const [first] = set as [ExistingRecord]
    const name = relativeName(first.name, zone)
    const chosen = candidates(name === '' ? '@' : name, set).find((some) => selectsExactly(some, zone, set, nearby(name)))
    if (chosen === undefined) exposed.add(key)
    else selectors.push(...chosen)
  }
  return { selectors, exposed }
}

/** The records that a selector of a name of `others` can be of. A name is a glob: only with an asterisk can it be that of others. */
function nearbyRecords(
  zone: DomainName,
  records: readonly ExistingRecord[],
  others: DefinableRecords['others'],
): (relative: string) => readonly ExistingRecord[] {
  const groups = new Map<string, ExistingRecord[]>()
  const globs = globIndex<ExistingRecord[]>()
  for (const { record } of others) {
    const glob = relativeName(record.name, zone)
    if (groups.has(glob)) continue
    const group: ExistingRecord[] = []
    groups.set(glob, group)
    globs.add(glob, group)
  }
  for (const record of records) for (const group of globs.near(relativeName(record.name, zone))) group.push(record)
  return (relative) => groups.get(relative) ?? []
}

/** From the plainest selectors to the closest ones. */
function candidates(name: string, set: readonly ExistingRecord[]): UnmanagedSelector[][] {
  const type = set[0]?.type ?? ''
  const ofType = parseRecordType(type).ok ? { type } : {}
  return [...('type' in ofType ? [[{ name, ...ofType }]] : []), set.map(({ data }) => ({ name, ...ofType, target: data }))]
}

function selectsExactly(
  selectors: readonly UnmanagedSelector[],
  zone: DomainName,
  set: readonly ExistingRecord[],
  near: readonly ExistingRecord[],
): boolean {
  const selects = unmanagedTest(selectors, zone)
  return set.every(selects) && !near.some(selects)
}

export const isExposed = (record: ExistingRecord, { exposed }: DerivedSelectors): boolean => exposed.has(rrsetKey(record))
