import { type DefinedRecord, type ExistingRecord, type ResourceRecord, recordKey, rrsetKey } from '../model/record.ts'

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
  /** Existing records of which the zone holds an equal one already; all are among `removed`. */
  readonly surplus: readonly ExistingRecord[]
  /** The managed record sets, for safety limits. */
  readonly rrsets: RrsetCounts
}

/** Managed record sets by owner and type. */
export interface RrsetCounts {
  readonly existing: number
  /** Sets of which nothing is desired any more. */
  readonly lost: readonly string[]
  /** Sets that stay and change. */
  readonly changed: readonly string[]
}

/** Compares two sets of records by owner, type, data and TTL. Linear in their number. */
export function diffZone(
  existing: readonly ExistingRecord[],
  desired: readonly DefinedRecord[],
  isUnmanaged: (record: ResourceRecord) => boolean,
): ZoneDifference {
  const wanted = new Map<string, DefinedRecord>()
  for (const record of desired) if (!isUnmanaged(record)) wanted.set(recordKey(record), record)

  const sets = new Map<string, { existing: number; desired: number; differs: boolean }>()
  const setOf = (record: ResourceRecord): { existing: number; desired: number; differs: boolean } => {
    const key = rrsetKey(record)
    let set = sets.get(key)
    if (!set) {
      set = { existing: 0, desired: 0, differs: false }
      sets.set(key, set)
    }
    return set
  }
  for (const record of wanted.values()) setOf(record).desired += 1

  // An equal record with the right TTL is kept before one with another TTL, so that duplicates cost deletes only.
  const kept = new Map<string, ExistingRecord>()
  const candidates: ExistingRecord[] = []
  const unmanaged: ExistingRecord[] = []
  for (const record of existing) {
    if (isUnmanaged(record)) {
      unmanaged.push(record)
      continue
    }
    setOf(record).existing += 1
    const key = recordKey(record)
    if (wanted.get(key)?.ttl === record.ttl && wanted.has(key) && !kept.has(key)) kept.set(key, record)
    else candidates.push(record)
  }
  const surplus: ExistingRecord[] = []
  const pending = new Set<string>()
  for (const record of candidates) {
    setOf(record).differs = true
    const key = recordKey(record)
    if (kept.has(key) || pending.has(key)) surplus.push(record)
    else pending.add(key)
  }
  const added: DefinedRecord[] = []
  for (const [key, record] of wanted) {
    if (kept.has(key)) continue
    added.push(record)
    setOf(record).differs = true
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
  return { removed: candidates, added, kept: [...kept.values()], unmanaged, surplus, rrsets: { existing: existingSets, lost, changed } }
}
