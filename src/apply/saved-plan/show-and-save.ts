/** The option `--out` of runs that change zones: the plan is saved, so that it can be approved, instead of applied. */
import { EXIT, type ExitStatus, statusOfPlan } from '../exit-status.ts'
import type { LockedRun } from '../locked-run.ts'
import { withFence } from '../plan-zones.ts'
import { type PlannedZones, planOf } from '../planned-zone.ts'
import type { ApplyContext } from '../run-context.ts'
import { withoutSecrets } from '../secrets-in-plan.ts'
import { savePlan } from './save-plan.ts'

/** Shows the plan of a run that could apply it, and writes it to a file instead. `fences` are those from before it was read. */
export async function showAndSave(
  context: ApplyContext,
  file: string,
  given: PlannedZones,
  { fences }: Pick<LockedRun, 'fences'>,
): Promise<ExitStatus> {
  const planned = withoutSecrets({ ...given, zones: given.zones.map((zone) => withFence(zone, fences)) }, context.environment.secrets)
  const plan = planOf(planned)
  const status = statusOfPlan(plan)
  context.output.planDiagnostics(plan)
  context.output.plan(plan)
  return (await savePlan(context, file, planned)) ? status : EXIT.failure
}
