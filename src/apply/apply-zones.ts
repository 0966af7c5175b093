/** Applies the plans of zones concurrently. Stops targets that fail, and does not overwrite changes of other clients. */
import pLimit, { type LimitFunction } from 'p-limit'
import { type Changeset, changesetsOf } from '../plan/changesets.ts'
import type { Outcome, ZoneOutcome } from '../plan/plan.ts'
import type { Provider, ProviderCallOptions, ProviderError, ZoneReference, ZoneSnapshot } from '../providers/provider.ts'
import { type ChangeResult, createReread } from './apply-call.ts'
import type { GivenApprovals } from './approvals/approvals-of-plan.ts'
import { runGraph, skipped, stopReason } from './call-graph.ts'
import { applyDivided } from './divide-call.ts'
import type { RolledBackRun } from './journal/journal-format.ts'
import { lateChangeFinder } from './late-changes.ts'
import type { PlannedZone, PlannedZones } from './planned-zone.ts'
import { readBack } from './read-back.ts'

/** Milliseconds to wait after a connection broke, so that the server can finish. */
const RECOVERY_PAUSE = 300

/** A zone to apply. */
export interface ApplicableZone extends PlannedZone {
  readonly reference: ZoneReference | null
  readonly existing: ZoneSnapshot | null
  /** When the zone was read, by `performance.now()`. If absent, it is read again before an update or deletion. */
  readonly readAt?: number | undefined
  /** See `ProviderCallOptions`. */
  readonly lastSerial?: ProviderCallOptions['lastSerial']
}

/** The changes of a run. */
export interface ChangesToMake extends PlannedZones<ApplicableZone> {
  /** Whether this is a saved plan, whose diagnostics were reported when it was made. */
  readonly isSaved?: boolean
  /** Who has approved the saved plan. */
  readonly approvals?: GivenApprovals | undefined
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
  /** Milliseconds after a read of a zone until it is read again before an update or deletion; 10,000 if absent. */
  readonly freshFor?: number | undefined
  /** Milliseconds that reading back may take after the run was stopped. */
  readonly lastReading?: number | undefined
  /** Called before each call is sent, repetitions included. Returns why it must not be sent; null if it may. */
  readonly onCall?: ((zone: ApplicableZone, call: Changeset) => string | null | Promise<string | null>) | undefined
  /** See `ProviderCallOptions`. */
  readonly mayWrite?: ProviderCallOptions['mayWrite']
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

/** Makes a zone's calls in their order, concurrently if it allows, then reads the zone back. */
async function applyZone(zone: ApplicableZone, watch: TargetWatch, run: ApplyZonesOptions): Promise<ZoneOutcome> {
  const { plan, existing } = zone
  const { provider } = watch
  const ended = new AbortController()
  const stop = AbortSignal.any([watch.stop, ended.signal, ...(run.stop ? [run.stop] : [])])
  const options: ProviderCallOptions = { stop, signal: run.abort, mayWrite: run.mayWrite, lastSerial: zone.lastSerial }
  const records = existing?.records ?? []
  const calls = changesetsOf(plan.changes, records, provider.capabilities.calls)
  const claimed = new Set(records.flatMap(({ id }) => (id === undefined ? [] : [id])))
  const reread = createReread(provider, options)
  const findLateChange = lateChangeFinder(provider, zone, options, run.freshFor)
  const recoveryPause = run.recoveryPause ?? RECOVERY_PAUSE
  const results = new Map<number, ChangeResult>()
  let { reference } = zone

  const perform = async (call: Changeset): Promise<readonly Outcome[]> => {
    // The call may have waited for calls of other zones.
    if (stop.aborted) return skipped(call, stopReason(stop))
    const late = await findLateChange(call, reference)
    if (stop.aborted) return skipped(call, stopReason(stop))
    if (late !== null) return call.indexes.map(() => ({ state: 'failed', error: late }))
    const onCall = async (sent: Changeset): Promise<string | null> => (await run.onCall?.(zone, sent)) ?? null
    const made = await applyDivided(call, { provider, reference, existing: records, options, reread, claimed, recoveryPause, onCall })
    const [first] = made as [ChangeResult]
    watch.note(first.outcome.state === 'applied' ? null : (first.error ?? null))
    if (first.error?.code === 'provider-forbidden') ended.abort(`${provider.name} does not allow changes in ${plan.zone} with this token`)
    if (first.zone) reference = first.zone
    return made.map((result, position) => {
      results.set(call.indexes[position] as number, result)
      if (!result.error?.notSent || result.outcome.state !== 'failed') return result.outcome
      return { state: 'skipped', because: stop.aborted ? stopReason(stop) : result.error.message }
    })
  }
  const outcomes = await runGraph(calls, (call) => watch.slots(perform, call), {
    concurrency: provider.parallelism,
    stop,
    onOutcome: (index, outcome) => run.onOutcome?.(zone, index, outcome),
  })
  return readBack({ plan, calls, existing, provider, reference, outcomes, results }, { ...run, recoveryPause })
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
    slots: pLimit(provider.capabilities.calls.oneAtATime ? 1 : provider.parallelism),
    stop: controller.signal,
    note(error) {
      if (error?.notSent) return
      if (error?.code === 'provider-unauthorized') controller.abort(`${provider.name} refused the token`)
      silent = error !== null && isSilence(error) ? silent + 1 : 0
      if (silent >= SILENT_CALLS + provider.parallelism) controller.abort(`${provider.name} did not respond to ${silent} calls in a row`)
    },
  }
}

const isSilence = ({ code }: ProviderError): boolean => /^provider-(?:unreachable|timeout|failed|garbled|rate-limited)$/.test(code)
