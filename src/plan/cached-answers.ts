/** How long caches may hold answers that a plan makes wrong. */
import { type ExistingRecord, groupRrsets, type ResourceRecord, rrsetKey } from '../dns/record.ts'
import { type CachedAnswers, type Change, finalRecords } from './plan.ts'

/** The keys of the existing RRsets whose data change, in the order of the zone. The deletion of the zone changes all. */
export function changedRrsets(existing: readonly ExistingRecord[], changes: readonly Change[]): string[] {
  const before = groupRrsets(existing)
  if (changes.some(({ subject, action }) => subject === 'domain' && action === 'delete')) return [...before.keys()]
  const touched = new Set(
    changes.flatMap((change) =>
      change.subject === 'record' ? [change.existing, change.desired].flatMap((record) => (record === null ? [] : rrsetKey(record))) : [],
    ),
  )
  if (touched.size === 0) return []
  const after = groupRrsets(finalRecords(existing, changes))
  return [...before].flatMap(([key, records]) => (touched.has(key) && dataOf(records) !== dataOf(after.get(key) ?? []) ? [key] : []))
}

/**
 * The longest TTL in seconds among the RRsets whose data change: a resolver that asked just before the change may answer from its cache for so long (RFC 1035
 * section 3.2.1). Null if no existing RRset changes its data. New names are not counted: how long a negative answer is cached, the SOA record tells.
 * `defaultTtl`: the TTL of records without one; null if it is unknown.
 */
export function cachedAnswersOf(
  existing: readonly ExistingRecord[],
  changes: readonly Change[],
  defaultTtl: number | null,
): CachedAnswers | null {
  let longest: CachedAnswers | null = null
  const changed = new Set(changedRrsets(existing, changes))
  for (const { name, type, ttl } of existing) {
    const seconds = ttl ?? defaultTtl
    if (seconds !== null && seconds > (longest?.seconds ?? 0) && changed.has(rrsetKey({ name, type }))) longest = { seconds, name, type }
  }
  return longest
}

const dataOf = (records: readonly ResourceRecord[]): string =>
  records
    .map(({ data }) => data)
    .sort()
    .join('\n')
