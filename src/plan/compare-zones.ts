/** Step 1: the records to remove and to add, and the part of them that a policy permits. */
import { conflictingSettings, type DefinedRecord, type ExistingRecord, type ResourceRecord, recordKey, rrsetKey } from '../dns/record.ts'
import type { Policy, UnplannedRecord } from '../dns/zone.ts'

/** The difference between existing and desired records. Nothing is paired into calls yet. */
export interface ZoneDifference {
  /** Existing records to delete or update. */
  readonly removed: readonly ExistingRecord[]
  /** Desired records to create, or that an update results in. */
  readonly added: readonly DefinedRecord[]
  /** Existing records that stay as they are. */
  readonly kept: readonly ExistingRecord[]
  /** Existing records that belong to other tools, or that no definition could describe. They never change, but matter for limits and CNAME conflicts. */
  readonly unmanaged: readonly ExistingRecord[]
  /** Those of them that no definition could describe. */
  readonly undescribable: readonly UnplannedRecord[]
  /** Existing records with the same data as another one; all are among `removed`. */
  readonly surplus: readonly ExistingRecord[]
  /** The managed RRsets, for safety limits. */
  readonly rrsets: RrsetCounts
}

/** Managed RRsets by owner and type. */
export interface RrsetCounts {
  readonly existing: number
  /** RRsets of which no record is desired. */
  readonly removed: readonly string[]
  /** RRsets that stay and change. Deleting exact duplicates of kept records is no change. */
  readonly changed: readonly string[]
}

interface RrsetState {
  existing: number
  desired: number
  differs: boolean
}

/** A desired record and the existing record that equals it, as an index in the list of kept ones. */
interface Match {
  record: DefinedRecord
  readonly rrset: RrsetState
  keptAt: number | null
}

/**
 * Compares records by owner, type, data, TTL and the settings that the definition states. Of exact duplicates the one with the lowest identifier stays. The result does not depend on the order in
 * which records are listed. Takes linear time if nothing differs.
 */
export function compareZones(
  existing: readonly ExistingRecord[],
  desired: readonly DefinedRecord[],
  isUnmanaged: (record: ResourceRecord) => boolean,
  /** Why no definition could describe a record at the target; null if one could. Asked about records without an equal in the definition only. */
  undescribableReason: (record: ExistingRecord) => string | null = () => null,
): ZoneDifference {
  const rrsets = new Map<string, RrsetState>()
  const rrsetOf = (record: ResourceRecord): RrsetState => {
    const key = rrsetKey(record)
    const rrset = rrsets.get(key) ?? { existing: 0, desired: 0, differs: false }
    rrsets.set(key, rrset)
    return rrset
  }
  const matches = new Map<string, Match>()
  for (const record of desired) {
    if (isUnmanaged(record)) continue
    const key = recordKey(record)
    const same = matches.get(key)
    if (same) {
      same.record = record
      continue
    }
    const rrset = rrsetOf(record)
    rrset.desired += 1
    matches.set(key, { record, rrset, keptAt: null })
  }

  // An equal record with the right TTL is kept before one with another TTL, so duplicates cost only deletes.
  const kept: ExistingRecord[] = []
  const removed: ExistingRecord[] = []
  const unmanaged: ExistingRecord[] = []
  const undescribable: UnplannedRecord[] = []
  for (const record of existing) {
    if (isUnmanaged(record)) {
      unmanaged.push(record)
      continue
    }
    const match = matches.get(recordKey(record))
    const reason = match === undefined ? undescribableReason(record) : null
    if (reason !== null) {
      unmanaged.push(record)
      undescribable.push({ name: record.name, type: record.type, data: record.data, reason })
      continue
    }
    const rrset = match?.rrset ?? rrsetOf(record)
    rrset.existing += 1
    if (match?.record.ttl !== record.ttl || conflictingSettings(match.record, record).length > 0) {
      rrset.differs = true
      removed.push(record)
    } else if (match.keptAt === null) {
      match.keptAt = kept.push(record) - 1
    } else {
      const twin = kept[match.keptAt] as ExistingRecord
      const isFirst = compareIds(record, twin) < 0
      if (isFirst) kept[match.keptAt] = record
      removed.push(isFirst ? twin : record)
    }
  }
  removed.sort(compareIds)
  const surplus: ExistingRecord[] = []
  const seen = new Set<string>()
  for (const record of removed) {
    const key = recordKey(record)
    if (seen.has(key) || (matches.get(key)?.keptAt ?? null) !== null) surplus.push(record)
    else seen.add(key)
  }
  const added: DefinedRecord[] = []
  for (const { record, rrset, keptAt } of matches.values()) {
    if (keptAt !== null) continue
    added.push(record)
    rrset.differs = true
  }
  return { removed, added, kept, unmanaged, undescribable, surplus, rrsets: countRrsets(rrsets) }
}

function countRrsets(rrsets: ReadonlyMap<string, RrsetState>): RrsetCounts {
  const existing = [...rrsets].filter(([, rrset]) => rrset.existing > 0)
  const keysOf = (isCounted: (rrset: RrsetState) => boolean): string[] =>
    existing.flatMap(([key, rrset]) => (isCounted(rrset) ? [key] : []))
  return {
    existing: existing.length,
    removed: keysOf(({ desired }) => desired === 0),
    changed: keysOf(({ desired, differs }) => desired > 0 && differs),
  }
}

/** By identifier: numbers by size, then texts, then records without one. */
function compareIds({ id: a }: ExistingRecord, { id: b }: ExistingRecord): number {
  if (a === b) return 0
  if (typeof a === typeof b) return (a as number | string) < (b as number | string) ? -1 : 1
  return rankOfId(a) - rankOfId(b)
}

const rankOfId = (id: ExistingRecord['id']): number => (typeof id === 'number' ? 0 : typeof id === 'string' ? 1 : 2)

/** The part of a difference that a policy permits: `upsert-only` keeps every existing RRset, `create-only` changes none and only adds new ones. */
export function applyPolicy(difference: ZoneDifference, policy: Policy): ZoneDifference {
  if (policy === 'sync') return difference
  const { removed, kept, rrsets } = difference
  if (policy === 'upsert-only') {
    const isSpared = isInAny(rrsets.removed)
    return {
      ...difference,
      removed: removed.filter((record) => !isSpared(record)),
      kept: [...kept, ...removed.filter(isSpared)],
      rrsets: { ...rrsets, removed: [] },
    }
  }
  const exists = isInAny([...rrsets.removed, ...rrsets.changed])
  return {
    ...difference,
    removed: [],
    added: difference.added.filter((record) => !exists(record)),
    kept: [...kept, ...removed],
    surplus: [],
    rrsets: { ...rrsets, removed: [], changed: [] },
  }
}

function isInAny(keys: readonly string[]): (record: ResourceRecord) => boolean {
  const set = new Set(keys)
  return (record) => set.has(rrsetKey(record))
}
