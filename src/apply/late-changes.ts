/**
 * Changes by other clients during a long run. A target without preconditions cannot compare and change in one step, so a call would overwrite what another
 * client changed after the zone was read. The zone is therefore read again from time to time, and a record that differs from the plan is not touched. A
 * change between such a read and the call goes unnoticed.
 */
import { excerpt } from '../dns/excerpt.ts'
import { type ExistingRecord, type ResourceRecord, rrsetKey, sameRecord } from '../dns/record.ts'
import { type Changeset, type RrsetChange, rrsetImage, sameImage } from '../plan/changesets.ts'
import type { RecordChange } from '../plan/plan.ts'
import { type Provider, type ProviderCallOptions, ProviderError, type ZoneReference } from '../providers/provider.ts'
import { indexRecords, type RecordIndex } from './judge-call.ts'
import type { ZoneReading } from './open-zones.ts'

/** Milliseconds for which a read is fresh. */
const FRESH_FOR = 10_000

/** A read is fresh for at least this many times its duration, so that a large zone is not read all the time. */
const FRESH_DURATIONS = 10

/** Returns why a call may no longer be made; null if it may. */
type FindLateChange = (call: Changeset, zone: ZoneReference | null) => Promise<string | null>

/**
 * Creates a finder for a zone. The read that the plan was made from is a read before the calls as long as it is fresh. If the zone cannot be read again, no
 * call that could overwrite a change is made.
 */
export function lateChangeFinder(
  provider: Provider,
  { existing, readAt = Number.NEGATIVE_INFINITY }: Pick<ZoneReading, 'existing'> & { readonly readAt?: number | undefined },
  options: ProviderCallOptions,
  freshFor = FRESH_FOR,
): FindLateChange {
  let staleAt = readAt + freshFor
  let reading: Promise<RecordIndex | ProviderError | null> = Promise.resolve(null)

  const read = async (zone: ZoneReference): Promise<RecordIndex | ProviderError> => {
    const begun = performance.now()
    try {
      return indexRecords((await provider.readZone(zone, options)).records)
    } catch (error) {
      if (error instanceof ProviderError) return error
      throw error
    } finally {
      const now = performance.now()
      staleAt = now + Math.max(freshFor, FRESH_DURATIONS * (now - begun))
    }
  }

  return async (call, zone) => {
    if (existing === null || zone === null || !needsReading(call, provider)) return null
    if (performance.now() >= staleAt) {
      // Calls that arrive during the read wait for it.
      staleAt = Number.POSITIVE_INFINITY
      reading = read(zone)
    }
    const live = await reading
    if (live === null) return null
    if (live instanceof ProviderError) return `not sent: the zone could not be read again before it: ${live.message}`
    return call.changes[0]?.subject === 'domain' ? zoneProblem(existing.records, live.records) : recordsProblem(call, live)
  }
}

/** Whether a call could overwrite another client's change. The creation of a single record, or of a zone, overwrites nothing. */
function needsReading({ changes, rrsets }: Changeset, { capabilities }: Provider): boolean {
  const [first] = changes
  if (first?.subject === 'domain') return first.action === 'delete'
  if (capabilities.calls.hasPrecondition) return false
  return rrsets.length > 0 || changes.some(({ action }) => action !== 'create')
}

function recordsProblem({ changes, rrsets }: Changeset, { sets, byId }: RecordIndex): string | null {
  for (const rrset of rrsets) {
    const problem = rrsetProblem(rrset, sets.get(rrsetKey(rrset)) ?? [])
    if (problem !== null) return problem
  }
  if (rrsets.length > 0) return null
  for (const change of changes as readonly RecordChange[]) {
    const problem = change.id === null ? null : recordProblem(change, byId.get(change.id))
    if (problem !== null) return problem
  }
  return null
}

/** An RRset that already is as desired may be replaced. */
function rrsetProblem({ name, type, existing, desired }: RrsetChange, live: readonly ExistingRecord[]): string | null {
  const now = rrsetImage(live)
  if (sameImage(now, existing) || sameImage(now, desired)) return null
  const state = live.length === 0 ? 'deleted it' : `changed it to ${live.map(describeData).join(', ')}`
  return `not sent: another client ${state.slice(0, MAX_TEXT)} after ${name} ${type} was read for the plan`
}

/** A missing record is left to the call. A record that already is as desired may be changed. */
function recordProblem({ existing, desired }: RecordChange, now: ExistingRecord | undefined): string | null {
  if (now === undefined || existing === null || sameRecord(now, existing) || (desired !== null && sameRecord(now, desired))) return null
  return `not sent: another client changed the record to ${describeData(now)} after it was read for the plan`
}

/** A zone is not deleted if records have been added or changed since it was read. */
function zoneProblem(before: readonly ExistingRecord[], live: readonly ExistingRecord[]): string | null {
  const known = new Set(before.map(identity))
  const foreign = live.find((record) => !known.has(identity(record)))
  if (foreign === undefined) return null
  return `not sent: another client created ${foreign.name} ${foreign.type} ${describeData(foreign)} after the zone was read for the plan`
}

const identity = ({ id, name, type, ttl, data }: ExistingRecord): string => JSON.stringify([id ?? null, name, type, ttl, data])

/** Characters of the records in a message. */
const MAX_TEXT = 300

const describeData = (record: ResourceRecord): string => {
  const { ttl, data } = record
  return `${excerpt(data, 100)}${ttl === null ? '' : ` (TTL ${ttl})`}`
}
