/** Writes a saved plan to a file. */
import { resolve } from 'node:path'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { counted } from '../../base/english.ts'
import { assertNoSecret } from '../../base/secret-guard.ts'
import { jsonText } from '../../base/text.ts'
import { PLAN_KEY } from '../../config/resolve-secret.ts'
import { writeFileAtomically } from '../../files/replace-files.ts'
import { writeProblem } from '../../files/write-problem.ts'
import type { Plan } from '../../plan/plan.ts'
import { type PlannedZones, planOf, withoutSecrets } from '../../plan/planned-zone.ts'
import { planDocument } from '../../report/plan-document.ts'
import { neededFor } from '../../stored/approvals/approvals-of-plan.ts'
import { parseSavedPlan } from '../../stored/plans/parse-saved-plan.ts'
import { isForeignFile, MAX_PLAN_OCTETS } from '../../stored/plans/saved-plan.ts'
import { savedPlanText } from '../../stored/plans/saved-plan-text.ts'
import type { Fences } from '../../stored/store/fences.ts'
import { EXIT, type ExitStatus, statusOfPlan } from '../context/exit-status.ts'
import type { ApplyContext, RunContext, RunSetup } from '../context/run-context.ts'
import { withFence } from '../plan/plan-zones.ts'

/**
 * Writes a plan without errors to a file, signed if the environment has a key. Reports the result; returns false if the file was not
 * written. Throws `SecretExposed` if it would contain a secret.
 */
export async function savePlan(context: RunContext, file: string, planned: PlannedZones): Promise<boolean> {
  const plan = planOf(planned)
  const { output, workspace } = context
  const { cwd, env, secrets } = context.environment
  if (statusOfPlan(plan) === EXIT.failure) {
    output.say(`${file} was not written: the plan has errors.`)
    return false
  }
  const path = resolve(cwd, file)
  if (await isForeignFile(path, 'plan')) {
    output.error('file-exists', `${file} exists and is not a saved plan, so it was not overwritten`, 'give --out another name')
    return false
  }
  if (plan.base !== undefined) return saveReport(context, file, plan)
  const key = env[PLAN_KEY] || null
  if (key === null && env[PLAN_KEY] !== undefined) output.diagnostics([EMPTY_KEY])
  const targets = [...new Set(plan.zones.map(({ target }) => target))].flatMap((name) => workspace.providers.get(name) ?? [])
  const text = savedPlanText({ ...planned, targets }, key, secrets)
  if (Buffer.byteLength(text) > MAX_PLAN_OCTETS) {
    output.error(
      'plan-file-invalid',
      `${file} was not written: it would have more than ${MAX_PLAN_OCTETS} octets`,
      'plan fewer zones at once: name them on the command line',
    )
    return false
  }
  // A bug in the writer must appear now, not at apply.
  const { diagnostics, saved } = parseSavedPlan(text, file, key)
  if (saved === null) throw new Error(`the saved plan cannot be parsed: ${diagnostics.map(({ message }) => message).join('; ')}`)
  if (!(await writePrivateFile(context, file, text))) return false
  const needed = neededFor(workspace.config, planned)
  const first = needed === 0 ? '' : ` It needs ${counted(needed, 'approval')}: zonewright approve ${file} --key FILE.`
  output.note(`Saved the plan to ${file}${key === null ? '' : ' (signed)'}.${first} To apply it: zonewright apply ${file}`)
  return true
}

/** Writes the effect of a branch: the document of `--format json`, which no run applies. */
async function saveReport(context: RunContext, file: string, plan: Plan): Promise<boolean> {
  const text = jsonText(planDocument(plan))
  assertNoSecret(context.environment.secrets, text, file)
  if (!(await writePrivateFile(context, file, text))) return false
  context.output.note(`Saved the report of the plan to ${file}. It cannot be applied, since it leaves out changes.`)
  return true
}

/** Writes a file that only its owner can read, since zone data may be private; an existing file keeps its mode. Reports a failure and returns false. */
export async function writePrivateFile({ environment, output }: RunSetup, file: string, text: string): Promise<boolean> {
  try {
    await writeFileAtomically(resolve(environment.cwd, file), text, 0o600)
    return true
  } catch (error) {
    output.diagnostics([writeProblem(error, file)])
    return false
  }
}

const EMPTY_KEY: Diagnostic = {
  severity: 'warning',
  code: 'plan-file-signature',
  message: `${PLAN_KEY} is empty: the plan is not signed`,
}

/** Shows the plan of a run that could apply it, and writes it to a file instead. `fences` are those from before it was read. */
export async function showAndSave(context: ApplyContext, file: string, given: PlannedZones, fences: Fences): Promise<ExitStatus> {
  const planned = withoutSecrets({ ...given, zones: given.zones.map((zone) => withFence(zone, fences)) }, context.environment.secrets)
  const plan = planOf(planned)
  const status = statusOfPlan(plan)
  context.output.planDiagnostics(plan)
  context.output.plan(plan)
  return (await savePlan(context, file, planned)) ? status : EXIT.failure
}
