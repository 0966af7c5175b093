import pLimit, { type LimitFunction } from 'p-limit'
import { type ExistingRecord, type ResourceRecord, sameRecord } from '../dns/record.ts'
import type { Change, Outcome, Plan, ZoneOutcome, ZonePlan } from '../plan/plan.ts'
import { type Provider, type ProviderCallOptions, ProviderError, type ZoneReference, type ZoneSnapshot } from '../providers/provider.ts'
import { applyChange, type ChangeResult, createUnacknowledgedCreateFinder } from './apply-change.ts'
import { runGraph, stopReason } from './change-graph.ts'
import type { RolledBackRun } from './journal/journal-format.ts'
import { readBack } from './read-back.ts'

/** Milliseconds a server gets to end what it was at when a connection broke. */
const SETTLE_PAUSE = 300

/** A plan to be applied, with the state it was made from. */
export interface ApplicableZone {
  readonly plan: ZonePlan
  readonly reference: ZoneReference | null
  readonly existing: ZoneSnapshot | null
}

/** The changes of a run: its plan and its zones as they are live. */
export interface ChangesToMake {
  readonly plan: Plan
  /** In the order of the plan. */
  readonly zones: readonly ApplicableZone[]
  /** Whether this is a saved plan, whose diagnostics were reported when it was made. */
  readonly isSaved?: boolean
  /** The run that a rollback takes back. */
  readonly rollsBack?: RolledBackRun
}

export interface ApplyZonesOptions {
  readonly providers: ReadonlyMap<string, Provider>
  /** Ends the run early: what is on the wire may end, nothing new begins. A text as its reason is what skipped changes are given. */
  readonly stop?: AbortSignal | undefined
  /** Ends also what is on the wire. */
  readonly abort?: AbortSignal | undefined
  readonly settlePause?: number | undefined
  /** Milliseconds for which what was read of a zone counts, before it is read again for updates and deletions. */
  readonly freshFor?: number | undefined
  /** Milliseconds that the reading at the end may take once the run was stopped. */
  readonly lastReading?: number | undefined
  /** Called before each call goes out; the call waits for it. A call that is sent again is told again. */
  readonly onCall?: ((zone: ApplicableZone, index: number) => void) | undefined
  /** Called as each change ends. What is in doubt then may be settled by the reading at the end. */
  readonly onOutcome?: ((zone: ApplicableZone, index: number, outcome: Outcome) => void) | undefined
  /** Called as each zone ends, read again. */
  readonly onZone?: ((zone: ApplicableZone, outcome: ZoneOutcome) => void) | undefined
}

/** Applies zones one beside the other; a failure in one does not stop another. Gives one outcome a zone, in the same order. */
export function applyZones(zones: readonly ApplicableZone[], run: ApplyZonesOptions): Promise<ZoneOutcome[]> {
  const watches = new Map<string, TargetWatch>()
  for (const { plan } of zones) {
    const provider = run.providers.get(plan.target)
    if (!provider) throw new Error(`no provider ${plan.target}`)
    if (!watches.has(plan.target)) watches.set(plan.target, watchTarget(provider))
  }
  return Promise.all(
    zones.map(async (zone) => {
      const outcome = await applyZone(zone, watches.get(zone.plan.target) as TargetWatch, run)
      run.onZone?.(zone, outcome)
      return outcome
    }),
  )
}

/** Makes a zone's changes along their order, concurrently where it allows, then reads the zone again and compares. */
async function applyZone(zone: ApplicableZone, watch: TargetWatch, run: ApplyZonesOptions): Promise<ZoneOutcome> {
  const { plan } = zone
  const { provider } = watch
  const ended = new AbortController()
  const stop = AbortSignal.any([watch.stop, ended.signal, ...(run.stop ? [run.stop] : [])])
  const options: ProviderCallOptions = { stop, signal: run.abort }
  const claimed = new Set(zone.existing?.records.flatMap(({ id }) => (id === undefined ? [] : [id])))
  const findUnacknowledgedCreate = createUnacknowledgedCreateFinder(provider, claimed, options)
  const findLateChange = lateChangeFinder(provider, zone.existing, options, run.freshFor)
  const settlePause = run.settlePause ?? SETTLE_PAUSE
  const results = new Map<number, ChangeResult>()
  let { reference } = zone

  const perform = async (change: Change, index: number): Promise<Outcome> => {
    // Other zones may have been waited for.
    if (stop.aborted) return { state: 'skipped', because: stopReason(stop) }
    const late = await findLateChange(change, reference)
    if (late !== null) return { state: 'failed', error: late }
    const onCall = (): void => run.onCall?.(zone, index)
    const result = await applyChange(change, { provider, reference, options, findUnacknowledgedCreate, claimed, settlePause, onCall })
    watch.note(result.outcome.state === 'applied' ? null : (result.error ?? null))
    if (result.error?.code === 'provider-forbidden') ended.abort(`${provider.name} does not allow changes in ${plan.zone} with this token`)
    if (result.zone) reference = result.zone
    results.set(index, result)
    if (!result.error?.notSent) return result.outcome
    return { state: 'skipped', because: stop.aborted ? stopReason(stop) : result.error.message }
  }
  const outcomes = await runGraph(plan.changes, (change, index) => watch.slots(perform, change, index), {
    concurrency: provider.parallelism,
    stop,
    onOutcome: (index, outcome) => run.onOutcome?.(zone, index, outcome),
  })
  return readBack({ plan, existing: zone.existing, provider, reference, outcomes, results }, { ...run, settlePause })
}

/** Calls in a row without a usable answer, beyond those that were under way at once, after which a target counts as gone. */
const SILENT_CALLS = 8

/** What a run knows of one target: its places for calls, and whether going on with it makes sense. */
interface TargetWatch {
  readonly provider: Provider
  /** Calls of all zones of the target, as many at once as the provider takes. */
  readonly slots: LimitFunction
  /** Aborted, with the reason in words, once no further call can succeed. */
  readonly stop: AbortSignal
  /** Takes note of how a call ended; null is success. */
  note(error: ProviderError | null): void
}

/** A refused token is refused for every zone; a server that does not answer keeps each call waiting for all its tries. */
function watchTarget(provider: Provider): TargetWatch {
  const controller = new AbortController()
  let silent = 0
  return {
    provider,
    slots: pLimit(provider.parallelism),
    stop: controller.signal,
    note(error) {
      if (error?.notSent) return
      if (error?.code === 'provider-unauthorized') controller.abort(`${provider.name} refused the token`)
      silent = error !== null && isSilence(error) ? silent + 1 : 0
      if (silent >= SILENT_CALLS + provider.parallelism) controller.abort(`${provider.name} did not answer ${silent} calls in a row`)
    },
  }
}

const isSilence = ({ code }: ProviderError): boolean =>
  code === 'provider-unreachable' || code === 'provider-timeout' || code === 'provider-failed' || code === 'provider-rate-limited'

/**
 * What others do to a zone while a long run is under way. The interface cannot compare and change in one step, so that a record that somebody changed since
 * it was read would be written over. The zone is therefore read again from time to time as long as records are yet to be updated or deleted, and what is not
 * as the plan saw it any more is left alone. What somebody does between such a reading and the call is not seen.
 */
/** Milliseconds for which a reading counts. */
const FRESH_FOR = 10_000

/** Times as long as a reading takes it counts, so that a large zone at a slow server is not read all the time. */
const READING_SHARE = 10

/** Why a change may not be made any more, in words; null where it may. */
type FindLateChange = (change: Change, zone: ZoneReference | null) => Promise<string | null>

/** A finder for one zone that was read just now. A zone that cannot be read again stands in the way of no call. */
function lateChangeFinder(
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
