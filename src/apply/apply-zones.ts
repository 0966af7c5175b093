/** Applies the plans of zones concurrently. Stops targets that fail, and does not overwrite changes of other clients. */
import pLimit, { type LimitFunction } from 'p-limit'
import { type ExistingRecord, type ResourceRecord, sameRecord } from '../dns/record.ts'
import type { Change, Outcome, Plan, ZoneOutcome, ZonePlan } from '../plan/plan.ts'
import { type Provider, type ProviderCallOptions, ProviderError, type ZoneReference, type ZoneSnapshot } from '../providers/provider.ts'
import { applyChange, type ChangeResult, createUnacknowledgedCreateFinder } from './apply-change.ts'
import { runGraph, stopReason } from './change-graph.ts'
import type { RolledBackRun } from './journal/journal-format.ts'
import { readBack } from './read-back.ts'

/** Milliseconds to wait after a connection broke, so that the server can finish. */
const RECOVERY_PAUSE = 300

/** A plan to apply, with the state it was made from. */
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
  /** Stops the run: calls in flight finish, no further call is sent. A text as its reason becomes the reason of skipped changes. */
  readonly stop?: AbortSignal | undefined
  /** Cancels calls in flight. */
  readonly abort?: AbortSignal | undefined
  readonly recoveryPause?: number | undefined
  /** Milliseconds after which a zone is read again before an update or deletion; 10,000 if absent. */
  readonly freshFor?: number | undefined
  /** Milliseconds that reading back may take after the run was stopped. */
  readonly lastReading?: number | undefined
  /** Called before each call is sent, repetitions included. */
  readonly onCall?: ((zone: ApplicableZone, index: number) => void) | undefined
  /** Called when a change ends. Reading back may resolve an unknown outcome later. */
  readonly onOutcome?: ((zone: ApplicableZone, index: number, outcome: Outcome) => void) | undefined
  /** Called when a zone has been read back. */
  readonly onZone?: ((zone: ApplicableZone, outcome: ZoneOutcome) => void) | undefined
}

/** Applies zones concurrently; a failure in one does not stop another. Returns one outcome per zone, in the same order. */
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

/** Applies a zone's changes in their order, concurrently if it allows, then reads the zone back. */
async function applyZone(zone: ApplicableZone, watch: TargetWatch, run: ApplyZonesOptions): Promise<ZoneOutcome> {
  const { plan } = zone
  const { provider } = watch
  const ended = new AbortController()
  const stop = AbortSignal.any([watch.stop, ended.signal, ...(run.stop ? [run.stop] : [])])
  const options: ProviderCallOptions = { stop, signal: run.abort }
  const claimed = new Set(zone.existing?.records.flatMap(({ id }) => (id === undefined ? [] : [id])))
  const findUnacknowledgedCreate = createUnacknowledgedCreateFinder(provider, claimed, options)
  const findLateChange = lateChangeFinder(provider, zone.existing, options, run.freshFor)
  const recoveryPause = run.recoveryPause ?? RECOVERY_PAUSE
  const results = new Map<number, ChangeResult>()
  let { reference } = zone

  const perform = async (change: Change, index: number): Promise<Outcome> => {
    // The change may have waited for calls of other zones.
    if (stop.aborted) return { state: 'skipped', because: stopReason(stop) }
    const late = await findLateChange(change, reference)
    if (late !== null) return { state: 'failed', error: late }
    const onCall = (): void => run.onCall?.(zone, index)
    const result = await applyChange(change, { provider, reference, options, findUnacknowledgedCreate, claimed, recoveryPause, onCall })
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
  return readBack({ plan, existing: zone.existing, provider, reference, outcomes, results }, { ...run, recoveryPause })
}

/** Consecutive calls without a usable response, in addition to the concurrent ones, after which a target is considered unreachable. */
const SILENT_CALLS = 8

/** The state of one target during a run. */
interface TargetWatch {
  readonly provider: Provider
  /** Limits the concurrent calls of all zones of the target. */
  readonly slots: LimitFunction
  /** Aborted once no further call can succeed. Its reason is a text. */
  readonly stop: AbortSignal
  /** Records the result of a call; null is success. */
  note(error: ProviderError | null): void
}

/** Stops a target that refuses the token or does not respond, so that its other zones do not fail slowly. */
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
      if (silent >= SILENT_CALLS + provider.parallelism) controller.abort(`${provider.name} did not respond to ${silent} calls in a row`)
    },
  }
}

const isSilence = ({ code }: ProviderError): boolean =>
  code === 'provider-unreachable' || code === 'provider-timeout' || code === 'provider-failed' || code === 'provider-rate-limited'

/*
 * Changes by other clients during a long run: the API has no conditional requests, so an update would overwrite a record that another client changed after it
 * was read. The zone is therefore read again from time to time, and a record that differs from the plan is not touched. A change between
 * such a read and the call goes unnoticed.
 */
/** Milliseconds for which a read is fresh. */
const FRESH_FOR = 10_000

/** A read is fresh for at least this many times its duration, so that a large zone is not read all the time. */
const FRESH_DURATIONS = 10

/** Returns why a change may no longer be made; null if it may. */
type FindLateChange = (change: Change, zone: ZoneReference | null) => Promise<string | null>

/** Creates a finder for a zone that was just read. If the zone cannot be read again, every change may be made. */
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
      staleAt = now + Math.max(freshFor, FRESH_DURATIONS * (now - begun))
    }
  }

  return async (change, zone) => {
    if (existing === null || zone === null || change.action === 'create') return null
    if (change.subject === 'domain' && change.action === 'update') return null
    if (performance.now() >= staleAt) {
      // Changes that arrive during the read wait for it.
      staleAt = Number.POSITIVE_INFINITY
      reading = read(zone)
    }
    const live = await reading
    if (live === null) return null
    return change.subject === 'domain' ? zoneProblem(existing.records, live) : recordProblem(change, live)
  }
}

/** Why a record may not be changed; null if it may. A missing record is left to the call. A record that already is as desired may be changed. */
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
  return `not sent: another client changed the record to ${describeData(now)} after it was read for the plan`
}

/** Why a zone may not be deleted: records have been added or changed since it was read. Null if it may. */
function zoneProblem(before: readonly ExistingRecord[], live: ReadonlyMap<number | string, ExistingRecord>): string | null {
  const known = new Map(before.map((record) => [record.id, record]))
  for (const record of live.values()) {
    const then = known.get(record.id)
    if (then === undefined || !sameRecord(then, record))
      return `not sent: another client created ${record.name} ${record.type} ${describeData(record)} after the zone was read for the plan`
  }
  return null
}

const describeData = (record: ResourceRecord): string => {
  const { ttl, data } = record
  return `${data.length > 100 ? `${data.slice(0, 100)}…` : data}${ttl === null ? '' : ` (TTL ${ttl})`}`
}
