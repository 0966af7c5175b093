/** How long caches may hold answers that a plan makes wrong. */
import { type ExistingRecord, groupRrsets, type ResourceRecord, rrsetKey } from '../dns/record.ts'
import { type CachedAnswers, type Change, finalRecords } from './plan.ts'

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
  const touched = new Set(
    changes.flatMap((change) =>
      change.subject === 'record' ? [change.existing, change.desired].flatMap((record) => (record === null ? [] : rrsetKey(record))) : [],
    ),
  )
  const deletesZone = changes.some(({ subject, action }) => subject === 'domain' && action === 'delete')
  if (touched.size === 0 && !deletesZone) return null
  const after = groupRrsets(deletesZone ? [] : finalRecords(existing, changes))
  let longest: CachedAnswers | null = null
  for (const [key, before] of groupRrsets(existing)) {
    if (!deletesZone && (!touched.has(key) || dataOf(before) === dataOf(after.get(key) ?? []))) continue
    for (const { name, type, ttl } of before) {
      const seconds = ttl ?? defaultTtl
      if (seconds !== null && seconds > (longest?.seconds ?? 0)) longest = { seconds, name, type }
    }
  }
  return longest
}

const dataOf = (records: readonly ResourceRecord[]): string =>
  records
    .map(({ data }) => data)
    .sort()
    .join('\n')
