import type { Diagnostic } from '../dns/diagnostic.ts'
import type { Change, Outcome, ZoneOutcome, ZonePlan } from '../plan/plan.ts'
import type { Provider, ProviderCallOptions, ProviderError, ZoneReference, ZoneSnapshot } from '../providers/provider.ts'
import { diagnosticOf } from '../providers/provider.ts'
import { sleep } from '../transport/retry.ts'
import { applyChange, type ChangeResult } from './apply-change.ts'
import { createUnacknowledgedCreateFinder } from './find-unacknowledged-create.ts'
import { lateChangeFinder } from './late-changes.ts'
import { alteredText, unexpectedDifferences } from './read-back.ts'
import { resolveUnknownOutcomes } from './resolve-unknown-outcomes.ts'
import { runGraph, withResolvedReasons } from './run-graph.ts'
import { stopReason } from './stop-reason.ts'
import { type TargetWatch, watchTarget } from './target-watch.ts'

/** Milliseconds a server gets to end what it was at when a connection broke. */
const SETTLE_PAUSE = 300

/** Milliseconds that the reading at the end may take once the run was stopped: nobody waits for a server that puts it off. */
const LAST_READING = 10_000

/** A plan to be applied, with the state it was made from. */
export interface ApplicableZone {
  readonly plan: ZonePlan
  readonly reference: ZoneReference | null
  readonly existing: ZoneSnapshot | null
}

export interface ApplyRun {
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
export function applyZones(zones: readonly ApplicableZone[], run: ApplyRun): Promise<ZoneOutcome[]> {
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
async function applyZone(zone: ApplicableZone, watch: TargetWatch, run: ApplyRun): Promise<ZoneOutcome> {
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
  return confirm(zone, outcomes, results, { provider, reference, settlePause, run })
}

interface Confirmation {
  readonly provider: Provider
  /** The zone as it is after the calls. */
  readonly reference: ZoneReference | null
  readonly settlePause: number
  readonly run: ApplyRun
}

/** Reads the zone again, settles what is in doubt by that, and tells what is not as the calls should have made it. */
async function confirm(
  zone: ApplicableZone,
  outcomes: readonly Outcome[],
  results: ReadonlyMap<number, ChangeResult>,
  { provider, reference, settlePause, run }: Confirmation,
): Promise<ZoneOutcome> {
  const { plan, existing } = zone
  const seen = seenMeanwhile(plan, results)
  const worthReading = outcomes.some((outcome, index) => tellsOfState(outcome, results.get(index)?.error))
  if (!worthReading) return { plan, outcomes, readBack: 'not-read', diagnostics: seen }
  const end = endOfReading(run)
  const mayCompleteLater = (index: number): boolean => results.get(index)?.error?.mayCompleteLater ?? false
  try {
    if (outcomes.some(({ state }) => state === 'unknown')) await sleep(settlePause)
    const live = await readAgain(plan, provider, reference, outcomes, { stop: end.signal, signal: run.abort })
    const reading = { before: existing?.records ?? [], live: live?.records ?? null, mayCompleteLater }
    const settled = withResolvedReasons(plan.changes, outcomes, resolveUnknownOutcomes(plan.changes, outcomes, reading))
    const differences = unexpectedDifferences(plan, settled, existing, live)
    const complete = settled.every(({ state }) => state === 'applied')
    const equal = complete && differences.length === 0
    return { plan, outcomes: settled, readBack: equal ? 'equal' : 'different', diagnostics: [...seen, ...differences] }
  } catch (error) {
    return { plan, outcomes, readBack: 'not-read', diagnostics: [...seen, diagnosticOf(error)] }
  } finally {
    end.clear()
  }
}

/** When the reading at the end is given up: with the run, and some time after the run was stopped, be it before the reading or during it. */
function endOfReading({ stop, abort, lastReading = LAST_READING }: ApplyRun): { readonly signal: AbortSignal; clear(): void } {
  const over = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const begin = (): void => {
    timer = setTimeout(() => over.abort(), lastReading)
  }
  if (stop?.aborted) begin()
  else stop?.addEventListener('abort', begin)
  return {
    signal: abort ? AbortSignal.any([over.signal, abort]) : over.signal,
    clear() {
      clearTimeout(timer)
      stop?.removeEventListener('abort', begin)
    },
  }
}

/** Whether the zone has to be read for what this outcome says: something was changed or may have been, or somebody else may have been there. */
const tellsOfState = ({ state }: Outcome, error: ProviderError | undefined): boolean =>
  state === 'applied' ||
  state === 'unknown' ||
  (state === 'failed' && (error?.code === 'provider-rejected' || error?.code === 'provider-not-found'))

/** What the answers told beside success and failure. */
function seenMeanwhile({ zone, target, changes }: ZonePlan, results: ReadonlyMap<number, ChangeResult>): Diagnostic[] {
  return [...results].flatMap(([index, { wasGone, stored }]): Diagnostic[] => {
    const change = changes[index] as Change
    if (change.subject === 'domain') return []
    if (wasGone) {
      const message = `${zone} at ${target}: ${change.name} ${change.type} was to be deleted, and somebody else had deleted it already`
      return [{ severity: 'warning', code: 'apply-drift', message }]
    }
    const text = stored && change.desired && alteredText(change.desired, stored)
    return text ? [{ severity: 'warning', code: 'apply-altered', message: `${zone} at ${target}: ${text}` }] : []
  })
}

/** The zone as it is now; null where it is not there. A zone whose creation or deletion is in doubt is looked up, and one whose settings were changed. */
async function readAgain(
  plan: ZonePlan,
  provider: Provider,
  reference: ZoneReference | null,
  outcomes: readonly Outcome[],
  options: ProviderCallOptions,
): Promise<ZoneSnapshot | null> {
  const index = plan.changes.findIndex((change) => change.subject === 'domain')
  const state = outcomes[index]?.state
  const action = plan.changes[index]?.action
  if (action === 'delete' && state === 'applied') return null
  const known = index === -1 || state === 'applied' || state === 'skipped'
  const found = known ? reference : (await provider.findZones([plan.zone], options)).get(plan.zone)
  return found ? provider.readZone(found, options) : null
}
