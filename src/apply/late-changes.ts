/**
 * What others do to a zone while a long run is under way. The interface cannot compare and change in one step, so that a record that somebody changed since
 * it was read would be written over. The zone is therefore read again from time to time as long as records are yet to be updated or deleted, and what is not
 * as the plan saw it any more is left alone. What somebody does between such a reading and the call is not seen.
 */
import { type ExistingRecord, type ResourceRecord, sameRecord } from '../dns/record.ts'
import type { Change } from '../plan/plan.ts'
import { type Provider, type ProviderCallOptions, ProviderError, type ZoneReference, type ZoneSnapshot } from '../providers/provider.ts'

/** Milliseconds for which a reading counts. */
export const FRESH_FOR = 10_000

/** Times as long as a reading takes it counts, so that a large zone at a slow server is not read all the time. */
const READING_SHARE = 10

/** Why a change may not be made any more, in words; null where it may. */
export type FindLateChange = (change: Change, zone: ZoneReference | null) => Promise<string | null>

/** A finder for one zone that was read just now. A zone that cannot be read again stands in the way of no call. */
export function lateChangeFinder(
  provider: Provider,
  existing: ZoneSnapshot | null,
  options: ProviderCallOptions,
  freshFor = FRESH_FOR,
): FindLateChange {
  let staleAt = performance.now() + freshFor
  let reading: Promise<ReadonlyMap<number | string, ExistingRecord> | null> = Promise.resolve(null)

  const read = async (zone: ZoneReference): Promise<ReadonlyMap<number | string, ExistingRecord> | null> => {
    const begun = performance.now()
    try {
      const { records } = await provider.readZone(zone, options)
      return new Map(records.flatMap((record) => (record.id === undefined ? [] : [[record.id, record] as const])))
    } catch (error) {
      if (error instanceof ProviderError) return null
      throw error
    } finally {
      const now = performance.now()
      staleAt = now + Math.max(freshFor, READING_SHARE * (now - begun))
    }
  }

  return async (change, zone) => {
    if (existing === null || zone === null || change.action === 'create') return null
    if (change.subject === 'domain' && change.action === 'update') return null
    if (performance.now() >= staleAt) {
      // Whoever comes while it is read waits for this reading.
      staleAt = Number.POSITIVE_INFINITY
      reading = read(zone)
    }
    const live = await reading
    if (live === null) return null
    return change.subject === 'domain' ? zoneProblem(existing.records, live) : recordProblem(change, live)
  }
}

/** What is gone is told by the answer to the call; what is as it should be needs nobody's leave. */
function recordProblem(
  {
    id,
    existing,
    desired,
  }: { readonly id: Change['id']; readonly existing: ResourceRecord | null; readonly desired: ResourceRecord | null },
  live: ReadonlyMap<number | string, ExistingRecord>,
): string | null {
  const now = id === null ? undefined : live.get(id)
  if (now === undefined || existing === null || sameRecord(now, existing) || (desired !== null && sameRecord(now, desired))) return null
  return `not done: somebody else changed the record to ${words(now)} after it was read for the plan`
}

/** A zone goes with all its records: what was not there when it was decided may not go with it. */
function zoneProblem(before: readonly ExistingRecord[], live: ReadonlyMap<number | string, ExistingRecord>): string | null {
  const known = new Map(before.map((record) => [record.id, record]))
  for (const record of live.values()) {
    const then = known.get(record.id)
    if (then === undefined || !sameRecord(then, record))
      return `not done: somebody else made ${record.name} ${record.type} ${words(record)} after the zone was read for the plan`
  }
  return null
}

const words = (record: ResourceRecord): string => {
  const { ttl, data } = record
  return `${data.length > 100 ? `${data.slice(0, 100)}…` : data}${ttl === null ? '' : ` (TTL ${ttl})`}`
}
