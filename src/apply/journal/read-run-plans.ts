import { join } from 'node:path'
import type { DiagnosticCode } from '../../dns/diagnostic-codes.ts'
import { failure, ok, type Result } from '../../dns/result.ts'
import type { ZoneOutcome } from '../../plan/plan.ts'
import { parseSavedPlan } from '../saved-plan/parse-saved-plan.ts'
import { readPlanText } from '../saved-plan/read-plan-file.ts'
import type { SavedTarget, SavedZone } from '../saved-plan/saved-plan.ts'
import { PLANS_FOLDER, planFile, type RunZone } from './journal-entry.ts'
import { readRunZones } from './read-journal.ts'
import { outcomesOf, type RunRecord } from './run-record.ts'

/** A zone of a run: what was found, what was planned, what came of it. */
export interface RunZoneDetail extends SavedZone {
  readonly target: SavedTarget
  readonly outcome: ZoneOutcome
}

/** Those zones of a run that are wanted, in the order of the run. */
export async function readRunPlans(
  journal: string,
  run: RunRecord,
  isWanted: (zone: RunZone) => boolean = () => true,
): Promise<Result<readonly RunZoneDetail[]>> {
  const journalled = readRunZones(journal, run)
  if (!journalled.ok) return failure(`run ${run.id}: ${journalled.message}`)
  const details: RunZoneDetail[] = []
  for (const [index, zone] of run.begin.zones.entries()) {
    if (!isWanted(zone)) continue
    const saved = await readZonePlan(join(journal, 'runs', run.id, PLANS_FOLDER, planFile(index)), run.id, zone)
    if (!saved.ok) return saved
    const told = journalled.value[index]
    if (told === undefined) throw new Error(`${zone.zone} without what its journal tells`)
    const { plan } = saved.value
    const diagnostics = told.diagnostics.map(({ severity, code, message, hint }) => ({
      severity,
      code: code as DiagnosticCode,
      message,
      hint,
    }))
    details.push({ ...saved.value, outcome: { plan, outcomes: outcomesOf(plan, told), readBack: told.readBack, diagnostics } })
  }
  return ok(details)
}

async function readZonePlan(path: string, run: string, { zone, target, calls }: RunZone): Promise<Result<Omit<RunZoneDetail, 'outcome'>>> {
  const text = await readPlanText(path)
  if (!text.ok) return failure(`run ${run}: the plan of ${zone} at ${target} ${text.message}`)
  const { saved, diagnostics } = parseSavedPlan(text.value, `run ${run}: the plan of ${zone} at ${target}`, null)
  if (saved === null) return failure(diagnostics.map(({ message }) => message).join('; '))
  const [only] = saved.zones
  const [bound] = saved.targets
  const isIt = only !== undefined && only.plan.zone === zone && only.plan.target === target && only.plan.changes.length === calls.total
  if (!isIt || bound?.name !== target) return failure(`run ${run}: the plan of ${zone} at ${target} is another zone's or another plan`)
  return ok({ ...only, target: bound })
}
