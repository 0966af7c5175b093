import pLimit from 'p-limit'
import type { Diagnostic } from '../dns/diagnostic.ts'
import type { RefusalName } from '../dns/zone.ts'
import type { Preference } from '../plan/break-cycles.ts'
import type { Plan } from '../plan/plan.ts'
import type { SafetyThresholds } from '../plan/safety-limits.ts'
import type { Provider, ZoneReference } from '../providers/provider.ts'
import { diagnosticOf } from '../providers/provider.ts'
import type { ApplicableZone } from './apply-plan.ts'
import type { RunZoneDetail } from './journal/read-run-plans.ts'
import { planZoneRollback } from './rollback-zone.ts'
import type { OnProgress } from './zone-job.ts'

/** Zones read at once; requests are bounded by each provider itself. */
const ZONES_AT_ONCE = 16

export interface RollbackRequest {
  /** The zones of the run that are to go back. */
  readonly zones: readonly RunZoneDetail[]
  readonly providers: ReadonlyMap<string, Provider>
  readonly thresholds: SafetyThresholds
  readonly allow: ReadonlySet<RefusalName>
  readonly prefer?: Preference | undefined
  readonly overwrite: boolean
  readonly now: Date
  readonly tool: string
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: OnProgress | undefined
}

export interface PlannedRollback {
  readonly plan: Plan
  /** In the order of the plan. */
  readonly zones: readonly ApplicableZone[]
  /** Whether everything that the run did to these zones goes back. */
  readonly whole: boolean
}

/** Reads zones and plans them back to what they were before a run. A zone that cannot be read is left out, with an error. */
export async function planRollback(request: RollbackRequest): Promise<PlannedRollback> {
  const { zones, providers, signal } = request
  const diagnostics: Diagnostic[] = []
  const limit = pLimit(ZONES_AT_ONCE)
  const references = await findAll(request, diagnostics)
  let done = 0
  let whole = true
  const planned = await Promise.all(
    zones.map((zone) =>
      limit(async (): Promise<ApplicableZone | null> => {
        const { plan, existing: before, outcome } = zone
        const provider = providers.get(plan.target)
        const found = references.get(plan.target)
        if (!provider || !found) return null
        try {
          const reference = found.get(plan.zone) ?? null
          const live = reference && (await provider.readZone(reference, { signal }))
          const rules = { ...request, capabilities: provider.capabilities }
          const rollback = planZoneRollback({ before, plan, outcomes: outcome.outcomes }, live, rules)
          whole &&= rollback.whole
          return { plan: rollback.plan, reference, existing: live }
        } catch (error) {
          diagnostics.push(diagnosticOf(error))
          return null
        } finally {
          done += 1
          request.onProgress?.({ phase: 'reading', done, total: zones.length })
        }
      }),
    ),
  )
  const ready = planned.filter((zone) => zone !== null)
  const plan: Plan = { created: request.now.toISOString(), tool: request.tool, zones: ready.map((zone) => zone.plan), diagnostics }
  return { plan, zones: ready, whole: whole && ready.length === zones.length }
}

/** The zones that are there, by target; a target that cannot be asked is left out, with an error. */
async function findAll(
  { zones, providers, signal }: RollbackRequest,
  diagnostics: Diagnostic[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, ZoneReference>>> {
  const found = new Map<string, ReadonlyMap<string, ZoneReference>>()
  await Promise.all(
    [...new Set(zones.map(({ plan }) => plan.target))].map(async (target) => {
      const names = zones.filter(({ plan }) => plan.target === target).map(({ plan }) => plan.zone)
      try {
        const references = await providers.get(target)?.findZones(names, { signal })
        if (references) found.set(target, references)
      } catch (error) {
        diagnostics.push(diagnosticOf(error))
      }
    }),
  )
  return found
}
