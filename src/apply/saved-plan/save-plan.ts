/** Writes a saved plan to a file. */
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { PLAN_KEY } from '../../definition/config/resolve-secret.ts'
import type { LoadedSecrets } from '../../definition/config/secret-guard.ts'
import { assertNoSecret } from '../../definition/config/secret-guard.ts'
import { writeFileAtomically } from '../../definition/files/replace-files.ts'
import { writeProblem } from '../../definition/files/write-problem.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { ExistingRecord } from '../../dns/record.ts'
import type { ExistingZone } from '../../dns/zone.ts'
import type { Plan } from '../../plan/plan.ts'
import { counted } from '../../report/english.ts'
import { jsonText } from '../../report/escape.ts'
import { planDocument } from '../../report/plan-document.ts'
import { neededFor } from '../approvals/approvals-of-plan.ts'
import { EXIT, statusOfPlan } from '../exit-status.ts'
import { type PlannedZones, planOf } from '../planned-zone.ts'
import type { RunContext } from '../run-context.ts'
import { parseSavedPlan } from './parse-saved-plan.ts'
import { checksumOf, planFileText, signatureOf } from './plan-json.ts'
import {
  beginsLikeDocument,
  MAX_PLAN_OCTETS,
  type SavedPlanDocument,
  type SavedRecord,
  type SavedState,
  type SavedTarget,
  type WrittenDocument,
} from './saved-plan.ts'

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
  try {
    // Zone data may be private, so only the owner can read a new file. An existing file keeps its mode.
    await writeFileAtomically(path, text, 0o600)
  } catch (error) {
    output.diagnostics([writeProblem(error, file)])
    return false
  }
  const needed = neededFor(workspace.config, planned)
  const first = needed === 0 ? '' : ` It needs ${counted(needed, 'approval')}: zonewright approve ${file} --key FILE.`
  output.note(`Saved the plan to ${file}${key === null ? '' : ' (signed)'}.${first} To apply it: zonewright apply ${file}`)
  return true
}

/** Writes the effect of a branch: the document of `--format json`, which no run applies. */
async function saveReport({ environment: { cwd, secrets }, output }: RunContext, file: string, plan: Plan): Promise<boolean> {
  const text = jsonText(planDocument(plan))
  assertNoSecret(secrets, text, file)
  try {
    await writeFileAtomically(resolve(cwd, file), text, 0o600)
  } catch (error) {
    output.diagnostics([writeProblem(error, file)])
    return false
  }
  output.note(`Saved the report of the plan to ${file}. It cannot be applied, since it leaves out changes.`)
  return true
}

const EMPTY_KEY: Diagnostic = {
  severity: 'warning',
  code: 'plan-file-signature',
  message: `${PLAN_KEY} is set and empty: the plan is not signed`,
}

/** Whether the file exists, has content and does not begin like a document of that kind, so that it must not be overwritten. */
export async function isForeignFile(path: string, kind: WrittenDocument): Promise<boolean> {
  const facts = await stat(path).catch(() => null)
  return facts !== null && facts.size > 0 && !(await beginsLikeDocument(path, kind))
}

/** A plan to save, with every target of its zones. */
interface PlanToSave extends PlannedZones {
  readonly targets: readonly SavedTarget[]
}

/** The text of a plan file, signed if there is a key. Throws `SecretExposed` if it would contain a secret of the run. */
export function savedPlanText({ targets, ...planned }: PlanToSave, key: string | null, secrets: LoadedSecrets): string {
  const { format, version, created, tool, snapshot, zones, ...rest } = planDocument(planOf(planned))
  const head = { format, version, created, tool, ...(snapshot === undefined ? {} : { snapshot }) }
  const body = {
    targets: targets.map(({ name, type, address }) => ({ name, type, address })),
    zones: zones.map((zone, index) => {
      const existing = planned.zones[index]?.existing ?? null
      return existing === null || zone.changes.length === 0 ? zone : { ...zone, state: stateOf(existing) }
    }),
    ...rest,
  }
  // The signature covers everything except itself and the checksum; the checksum covers the signature too.
  const signature = key === null ? {} : { signature: signatureOf({ ...head, ...body }, key) }
  const document: SavedPlanDocument = { ...head, checksum: checksumOf({ ...head, ...signature, ...body }), ...signature, ...body }
  const text = planFileText(document)
  assertNoSecret(secrets, text, `the saved plan of ${zones.length === 1 ? zones[0]?.zone : `${zones.length} zones`}`)
  return text
}

const stateOf = ({ id, settings, records }: ExistingZone): SavedState => ({
  id: id ?? null,
  settings: Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)),
  records: records.map(savedRecord),
})

const savedRecord = ({ id, name, type, ttl, data, settings }: ExistingRecord): SavedRecord =>
  settings === undefined ? [id ?? null, name, type, ttl, data] : [id ?? null, name, type, ttl, data, settings]
