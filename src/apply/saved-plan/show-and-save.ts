/** The option `--out` of runs that change zones: the plan is saved, so that it can be approved, instead of applied. */
import { EXIT, type ExitStatus, statusOfPlan } from '../exit-status.ts'
import type { LockedRun } from '../locked-run.ts'
import type { ApplyContext } from '../run-context.ts'
import { reportPlanDiagnostics, withFences } from '../run-plan.ts'
import { withoutSecrets } from '../secrets-in-plan.ts'
import { type PlanToSave, savePlan } from './save-plan.ts'

/** Shows the plan of a run that could apply it, and writes it to a file instead. A plan with errors is not saved. `fences` are those from before it was read. */
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
  if (status === EXIT.failure) {
    context.output.say(`${file} was not written: the plan has errors.`)
    return status
  }
  return (await savePlan(context, file, planned)) ? status : EXIT.failure
}
