import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { PlannedRun } from '../apply/plan-zones.ts'
import { parseSavedPlan } from '../apply/saved-plan/parse-saved-plan.ts'
import { looksLikePlan, MAX_PLAN_OCTETS } from '../apply/saved-plan/read-plan-file.ts'
import { savedPlanText } from '../apply/saved-plan/write-saved-plan.ts'
import { PLAN_KEY } from '../definition/config/secret.ts'
import { writeFileAtomically } from '../definition/files/write-file.ts'
import type { Diagnostic } from '../dns/diagnostic.ts'
import type { Console } from './console.ts'
import type { CliIo } from './io.ts'
import type { Workspace } from './workspace.ts'
import { writeProblem } from './write-problem.ts'

/** Saves a plan without errors to a file, signed where the environment has a key. Says what became of it; false where it could not be saved. */
export async function savePlan(io: CliIo, file: string, planned: PlannedRun, workspace: Workspace, console: Console): Promise<boolean> {
  const path = resolve(io.cwd, file)
  if (await isSomethingElse(path)) {
    console.error('file-exists', `${file} is there and is no saved plan; it was not written over`, 'give --out another name')
    return false
  }
  const key = io.env[PLAN_KEY] || null
  if (key === null && io.env[PLAN_KEY] !== undefined) console.diagnostics([EMPTY_KEY])
  const targets = [...new Set(planned.plan.zones.map(({ target }) => target))].flatMap((name) => workspace.providers.get(name) ?? [])
  const text = savedPlanText({ plan: planned.plan, zones: planned.zones, targets }, key, io.secrets)
  if (text.length > MAX_PLAN_OCTETS) {
    console.error(
      'plan-file-invalid',
      `${file} was not written: it would have more than ${MAX_PLAN_OCTETS} octets`,
      'name zones to plan fewer at once',
    )
    return false
  }
  // Whoever applies the file later should not be the first to find that it cannot be read.
  const { diagnostics, saved } = parseSavedPlan(text, file, key)
  if (saved === null) throw new Error(`a plan that cannot be read again: ${diagnostics.map(({ message }) => message).join('; ')}`)
  try {
    // It holds what zones hold; whoever wants others to read it widens its mode, which later plans keep.
    await writeFileAtomically(path, text, undefined, 0o600)
  } catch (error) {
    console.diagnostics([writeProblem(error, file)])
    return false
  }
  console.note(`The plan is in ${file}${key === null ? '' : ', signed'}: zonewright apply ${file}`)
  return true
}

const EMPTY_KEY: Diagnostic = {
  severity: 'warning',
  code: 'plan-file-signature',
  message: `${PLAN_KEY} is set and empty: the plan is not signed`,
}

/** A file that is not empty and not a plan, such as a definition that a slip of the hand names. */
async function isSomethingElse(path: string): Promise<boolean> {
  const facts = await stat(path).catch(() => null)
  return facts !== null && facts.size > 0 && !(await looksLikePlan(path))
}
