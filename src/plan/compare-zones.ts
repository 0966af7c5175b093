import { type DefinedRecord, type ExistingRecord, type ResourceRecord, recordKey, rrsetKey } from '../dns/record.ts'
import type { Policy } from '../dns/zone.ts'

/** What stands between the records a zone has and those it should have. Nothing is matched into calls yet. */
export interface ZoneDifference {
  /** Existing records that must go or change. */
  readonly removed: readonly ExistingRecord[]
  /** Desired records that are not there as they should be. */
  readonly added: readonly DefinedRecord[]
  /** Existing records that stay as they are. */
  readonly kept: readonly ExistingRecord[]
  /** Existing records that are somebody else's: never changed, but they count for limits and beside a CNAME. */
  readonly unmanaged: readonly ExistingRecord[]
  /** Existing records of which the zone holds one with equal data already; all are among `removed`. */
  readonly surplus: readonly ExistingRecord[]
  /** The managed record sets, for safety limits. */
  readonly rrsets: RrsetCounts
}

/** Managed record sets by owner and type. */
export interface RrsetCounts {
  readonly existing: number
  /** Sets of which nothing is desired any more. */
  readonly removed: readonly string[]
  /** Sets that stay and change; those are unchanged that only lose exact duplicates of records they keep. */
  readonly changed: readonly string[]
}

/** A record set while it is compared. */
interface ComparedSet {
  existing: number
  desired: number
  differs: boolean
}

/** A desired record while an existing one is looked for that is as it should be. */
interface Wanted {
  record: DefinedRecord
  readonly set: ComparedSet
  /** Where the existing record that is stands among those kept; null where there is none. */
  keptAt: number | null
}

/**
 * Compares two sets of records by owner, type, data and TTL. Of exact duplicates the one with the lowest identifier stays. Linear in the number of
 * records where nothing differs; those that do are put in the order of their identifiers, so that the order they were listed in decides nothing.
 */
export function compareZones(
  existing: readonly ExistingRecord[],
  desired: readonly DefinedRecord[],
  isUnmanaged: (record: ResourceRecord) => boolean,
): ZoneDifference {
  const sets = new Map<string, ComparedSet>()
  const setOf = (record: ResourceRecord): ComparedSet => {
    const key = rrsetKey(record)
    let set = sets.get(key)
    if (!set) {
      set = { existing: 0, desired: 0, differs: false }
      sets.set(key, set)
    }
    return set
  }
  const wanted = new Map<string, Wanted>()
  for (const record of desired) {
    if (isUnmanaged(record)) continue
    const key = recordKey(record)
    const same = wanted.get(key)
    if (same) {
      same.record = record
      continue
    }
    const set = setOf(record)
    set.desired += 1
    wanted.set(key, { record, set, keptAt: null })
  }

  // An equal record with the right TTL is kept before one with another TTL, so that duplicates cost deletes only.
  const kept: ExistingRecord[] = []
  const candidates: ExistingRecord[] = []
  const unmanaged: ExistingRecord[] = []
  for (const record of existing) {
    if (isUnmanaged(record)) {
      unmanaged.push(record)
      continue
    }
    const equal = wanted.get(recordKey(record))
    const set = equal?.set ?? setOf(record)
    set.existing += 1
    if (equal?.record.ttl !== record.ttl) {
      set.differs = true
      candidates.push(record)
    } else if (equal.keptAt === null) {
      equal.keptAt = kept.push(record) - 1
    } else {
      const twin = kept[equal.keptAt] as ExistingRecord
      const isFirst = compareIds(record, twin) < 0
      if (isFirst) kept[equal.keptAt] = record
      candidates.push(isFirst ? twin : record)
    }
  }
  candidates.sort(compareIds)
  const surplus: ExistingRecord[] = []
  const pending = new Set<string>()
  for (const record of candidates) {
    const key = recordKey(record)
    if (pending.has(key) || (wanted.get(key)?.keptAt ?? null) !== null) surplus.push(record)
    else pending.add(key)
  }
  const added: DefinedRecord[] = []
  for (const { record, set, keptAt } of wanted.values()) {
    if (keptAt !== null) continue
    added.push(record)
    set.differs = true
  }

  const lost: string[] = []
  const changed: string[] = []
  let existingSets = 0
  for (const [key, set] of sets) {
    if (set.existing === 0) continue
    existingSets += 1
    if (set.desired === 0) lost.push(key)
    else if (set.differs) changed.push(key)
  }
  return { removed: candidates, added, kept, unmanaged, surplus, rrsets: { existing: existingSets, removed: lost, changed } }
}

/** By identifier: numbers by size, then texts, then records that have none. */
function compareIds({ id: a }: ExistingRecord, { id: b }: ExistingRecord): number {
  if (a === b) return 0
  if (typeof a === typeof b) return (a as number | string) < (b as number | string) ? -1 : 1
  return rankOfId(a) - rankOfId(b)
}

const rankOfId = (id: ExistingRecord['id']): number => (typeof id === 'number' ? 0 : typeof id === 'string' ? 1 : 2)

/**
 * The part of a difference that a policy lets through. `upsert-only` never makes a record set disappear: records of a set of which
 * nothing is desired stay; `create-only` adds record sets and leaves every existing one as it is.
 */
export function applyPolicy(difference: ZoneDifference, policy: Policy): ZoneDifference {
  if (policy === 'sync') return difference
  const lost = new Set(difference.rrsets.removed)
  if (policy === 'upsert-only') {
    const spared = difference.removed.filter((record) => lost.has(rrsetKey(record)))
    return {
      ...difference,
      removed: difference.removed.filter((record) => !lost.has(rrsetKey(record))),
      kept: [...difference.kept, ...spared],
      rrsets: { ...difference.rrsets, removed: [] },
    }
  }
  const there = new Set([...difference.rrsets.removed, ...difference.rrsets.changed])
  return {
    ...difference,
    removed: [],
    added: difference.added.filter((record) => !there.has(rrsetKey(record))),
    kept: [...difference.kept, ...difference.removed],
    surplus: [],
    rrsets: { ...difference.rrsets, removed: [], changed: [] },
  }
}
