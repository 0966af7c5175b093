import { type DomainName, relativeName } from '../../model/domain-name.ts'
import { type ExistingRecord, groupRrsets, rrsetKey } from '../../model/record.ts'
import { parseRecordType } from '../../model/record-type.ts'
import type { UnmanagedSelector } from '../../model/zone.ts'
import { unmanagedTest } from '../../plan/unmanaged.ts'
import type { DefinableRecords } from './definable-records.ts'

export interface LeftAlone {
  readonly selectors: readonly UnmanagedSelector[]
  /** The RRsets (see `rrsetKey`) with records that no selector can tell from records of the definition. */
  readonly exposed: ReadonlySet<string>
}

/** Selectors of exactly the records that a definition cannot have, so that no plan of it deletes them. */
export function leaveAlone(zone: DomainName, { records, others }: DefinableRecords): LeftAlone {
  const selectors: UnmanagedSelector[] = []
  const exposed = new Set<string>()
  const byName = groupByName(records)
  for (const [key, set] of groupRrsets(others.map(({ record }) => record))) {
    const [first] = set as [ExistingRecord]
    const name = relativeName(first.name, zone)
    // A name is a glob: only with an asterisk can it be that of others.
    const near = name.includes('*') ? records : (byName.get(first.name) ?? [])
    const chosen = candidates(name === '' ? '@' : name, set).find((some) => selectsExactly(some, zone, set, near))
    if (chosen === undefined) exposed.add(key)
    else selectors.push(...chosen)
  }
  return { selectors, exposed }
}

function groupByName(records: readonly ExistingRecord[]): ReadonlyMap<DomainName, readonly ExistingRecord[]> {
  const groups = new Map<DomainName, ExistingRecord[]>()
  for (const record of records) {
    const group = groups.get(record.name)
    if (group) group.push(record)
    else groups.set(record.name, [record])
  }
  return groups
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

export const isExposed = (record: ExistingRecord, { exposed }: LeftAlone): boolean => exposed.has(rrsetKey(record))
