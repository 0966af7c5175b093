/** The option `--out` of runs that change zones: the plan is saved, so that it can be approved, instead of applied. */
import { EXIT, type ExitStatus, statusOfPlan } from '../exit-status.ts'
import { withFences } from '../live-plan.ts'
import type { LockedRun } from '../locked-run.ts'
import { reportPlanDiagnostics } from '../report-plan.ts'
import type { ApplyContext } from '../run-context.ts'
import { withoutSecrets } from '../secrets-in-plan.ts'
import { savePlan } from './save-plan.ts'
import type { PlanToSave } from './saved-plan-text.ts'

/** Shows the plan of a run that could apply it, and writes it to a file instead. `fences` are those from before it was read. */
export async function showAndSave(
  context: ApplyContext,
  file: string,
  given: Pick<PlanToSave, 'plan' | 'zones'>,
  { fences }: Pick<LockedRun, 'fences'>,
): Promise<ExitStatus> {
  const planned = withoutSecrets(withFences(given, fences), context.secrets)
  const status = statusOfPlan(planned.plan)
  reportPlanDiagnostics(context, planned.plan)
  context.output.plan(planned.plan, context.options.format)
  return (await savePlan(context, file, planned)) ? status : EXIT.failure
}
