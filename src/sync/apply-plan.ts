import type { Diagnostic } from '../model/diagnostic.ts'
import type { Change } from '../plan/change.ts'
import type { Outcome, ZoneOutcome, ZonePlan } from '../plan/plan.ts'
import { type Provider, ProviderError, type ReadZone, type ZoneReference } from '../providers/provider.ts'
import { diagnosticOf } from './diagnostic-of.ts'
import { unexpectedDifference } from './read-back.ts'
import { runGraph } from './run-graph.ts'
import { settleOutcomes } from './settle-outcomes.ts'

/** A plan to be applied, with the state it was made from. */
export interface ApplicableZone {
  readonly plan: ZonePlan
  readonly reference: ZoneReference | null
  readonly existing: ReadZone | null
}

export interface ApplyRun {
  readonly providers: ReadonlyMap<string, Provider>
  /** Ends the run early: calls under way are finished, nothing new begins. */
  readonly stop?: AbortSignal | undefined
  /** Called before each call goes out; the call waits for it. */
  readonly onCall?: ((zone: ApplicableZone, index: number) => void) | undefined
  /** Called as each change ends. */
  readonly onOutcome?: ((zone: ApplicableZone, index: number, outcome: Outcome) => void) | undefined
}

/** Applies zones one beside the other; a failure in one does not stop another. Gives one outcome a zone, in the same order. */
export const applyZones = (zones: readonly ApplicableZone[], run: ApplyRun): Promise<ZoneOutcome[]> =>
  Promise.all(zones.map((zone) => applyZone(zone, run)))

/** Makes a zone's changes along their order, concurrently where it allows, then reads the zone again and compares. */
export async function applyZone(zone: ApplicableZone, run: ApplyRun): Promise<ZoneOutcome> {
  const { plan, existing } = zone
  const provider = run.providers.get(plan.target)
  if (!provider) throw new Error(`no provider ${plan.target}`)
  let { reference } = zone
  const perform = async (change: Change, index: number): Promise<Outcome> => {
    run.onCall?.(zone, index)
    try {
      const applied = await provider.applyChange(reference, change)
      if (change.subject === 'domain' && applied.zone) reference = applied.zone
      return { state: 'applied', id: applied.id ?? undefined }
    } catch (error) {
      if (error instanceof ProviderError) return { state: error.ambiguous ? 'unknown' : 'failed', error: failureText(error) }
      throw error
    }
  }
  const outcomes = await runGraph(plan.changes, perform, {
    concurrency: provider.parallelism,
    stop: run.stop,
    onOutcome: (index, outcome) => run.onOutcome?.(zone, index, outcome),
  })
  if (!outcomes.some(({ state }) => state === 'applied' || state === 'unknown'))
    return { plan, outcomes, readBack: 'not-read', diagnostics: [] }
  try {
    const live = await readAgain(plan, provider, reference, outcomes)
    const settled = settleOutcomes(plan.changes, outcomes, existing?.records ?? [], live?.records ?? null)
    const difference = unexpectedDifference(plan, settled, existing, live)
    const complete = settled.every(({ state }) => state === 'applied')
    const diagnostics: Diagnostic[] = difference === null ? [] : [difference]
    return { plan, outcomes: settled, readBack: complete && difference === null ? 'equal' : 'different', diagnostics }
  } catch (error) {
    return { plan, outcomes, readBack: 'not-read', diagnostics: [diagnosticOf(error)] }
  }
}

const failureText = ({ message, hint }: ProviderError): string => (hint === undefined ? message : `${message} (${hint})`)

/** The zone as it is now; null where it is not there. A zone whose creation or deletion is in doubt is looked up. */
async function readAgain(
  plan: ZonePlan,
  provider: Provider,
  reference: ZoneReference | null,
  outcomes: readonly Outcome[],
): Promise<ReadZone | null> {
  const index = plan.changes.findIndex((change) => change.subject === 'domain' && change.action !== 'update')
  if (index === -1) return reference && provider.readZone(reference)
  const state = outcomes[index]?.state
  if (plan.changes[index]?.action === 'delete' && state === 'applied') return null
  const found = state === 'applied' ? reference : (await provider.findZones([plan.zone])).get(plan.zone)
  return found ? provider.readZone(found) : null
}
