import { type DomainName, relativeName } from '../dns/domain-name.ts'
import { globIndex } from '../dns/glob.ts'
import { type ExistingRecord, groupRrsets, rrsetKey } from '../dns/record.ts'
import { parseRecordType } from '../dns/record-type.ts'
import { unmanagedTest } from '../dns/unmanaged.ts'
import type { UnmanagedSelector } from '../dns/zone.ts'
import type { DefinableRecords } from './definable-records.ts'

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
