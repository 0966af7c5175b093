import type { Diagnostic } from '../model/diagnostic.ts'
import type { Change } from '../plan/change.ts'
import type { Outcome, ZoneOutcome } from '../plan/plan.ts'
import { type Provider, ProviderError, type ZoneReference } from '../providers/provider.ts'
import { diagnosticOf, type PlannedZone, readAndPlan } from './plan-zones.ts'
import { runGraph } from './run-graph.ts'

export interface ApplyRun {
  readonly providers: ReadonlyMap<string, Provider>
  /** Ends the run early: calls under way are finished, nothing new begins. */
  readonly stop?: AbortSignal | undefined
  /** Called as each change ends. */
  readonly onOutcome?: ((zone: PlannedZone, index: number, outcome: Outcome) => void) | undefined
}

/** Applies zones one beside the other; a failure in one does not stop another. Gives one outcome a zone, in the same order. */
export const applyZones = (zones: readonly PlannedZone[], run: ApplyRun): Promise<ZoneOutcome[]> =>
  Promise.all(zones.map((zone) => applyZone(zone, run)))

/** Makes a zone's changes along their order, concurrently where it allows, then reads the zone again and compares. */
export async function applyZone(planned: PlannedZone, run: ApplyRun): Promise<ZoneOutcome> {
  const { plan } = planned
  const provider = run.providers.get(plan.target)
  if (!provider) throw new Error(`no provider ${plan.target}`)
  let reference = planned.reference
  const outcomes = await runGraph(
    plan.changes,
    async (change): Promise<Outcome> => {
      try {
        const applied = await provider.applyChange(reference, change)
        if (change.subject === 'domain' && applied.zone) reference = applied.zone
        return { state: 'applied', id: applied.id ?? undefined }
      } catch (error) {
        if (error instanceof ProviderError) return { state: error.ambiguous ? 'unknown' : 'failed', error: error.message }
        throw error
      }
    },
    { concurrency: provider.parallelism, stop: run.stop, onOutcome: (index, outcome) => run.onOutcome?.(planned, index, outcome) },
  )
  if (!outcomes.some(({ state }) => state === 'applied' || state === 'unknown'))
    return { plan, outcomes, readBack: 'not-read', diagnostics: [] }
  return { plan, ...(await readBack(planned, provider, reference, outcomes)) }
}

/** Reads the zone again: what is still pending is what was not applied. Outcomes that were unknown are settled by what is there. */
async function readBack(
  planned: PlannedZone,
  provider: Provider,
  reference: ZoneReference | null,
  outcomes: readonly Outcome[],
): Promise<Omit<ZoneOutcome, 'plan'>> {
  try {
    const created = planned.plan.changes.findIndex((change) => change.subject === 'domain' && change.action !== 'update')
    const lostZone = created !== -1 && outcomes[created]?.state === 'unknown'
    const now = lostZone
      ? ((await provider.findZones([planned.plan.zone])).get(planned.plan.zone) ?? null)
      : deleted(planned.plan.changes, outcomes)
        ? null
        : reference
    const again = await readAndPlan(planned.job, provider, now, undefined)
    const pending = new Set(again.plan.changes.map(changeKey))
    const settled = outcomes.map((outcome, index): Outcome => {
      if (outcome.state !== 'unknown') return outcome
      const still = pending.has(changeKey(planned.plan.changes[index] as Change))
      return still ? { state: 'failed', error: `${outcome.error}; it was not carried out` } : { state: 'applied' }
    })
    const complete = settled.every(({ state }) => state === 'applied')
    if (again.plan.changes.length === 0) return { outcomes: settled, readBack: 'equal', diagnostics: [] }
    return { outcomes: settled, readBack: 'different', diagnostics: complete ? [unconfirmed(planned, again)] : [] }
  } catch (error) {
    return { outcomes, readBack: 'not-read', diagnostics: [diagnosticOf(error)] }
  }
}

const deleted = (changes: readonly Change[], outcomes: readonly Outcome[]): boolean =>
  changes.some((change, index) => change.subject === 'domain' && change.action === 'delete' && outcomes[index]?.state === 'applied')

const changeKey = (change: Change): string =>
  JSON.stringify([change.action, change.subject, change.action === 'create' ? null : change.id, change.desired])

function unconfirmed(planned: PlannedZone, again: PlannedZone): Diagnostic {
  const changes = again.plan.changes
    .slice(0, 3)
    .map((change) => `${change.action} ${change.name}${change.type === null ? '' : ` ${change.type}`}`)
  const more = again.plan.changes.length > 3 ? `, and ${again.plan.changes.length - 3} more` : ''
  return {
    severity: 'error',
    code: 'apply-unconfirmed',
    message: `${planned.plan.zone} at ${planned.plan.target}: every call was accepted, yet a new plan would still ${changes.join(', ')}${more}`,
    at: planned.job.desired.at,
    hint: 'somebody else may have changed the zone meanwhile: plan again',
  }
}
