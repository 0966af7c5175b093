/**
 * From the text of a plan file to a plan. The file may have been changed by accident or on purpose, so nothing is believed: its bounds, its seal, its
 * schema, its values by the parsers of the model, and that it agrees with itself. What can be derived (counts, fields, names of changes, existing sides,
 * fingerprints) is derived, printed again, and has to be what the file says.
 */
import { type SchemaError, validate } from '../../../generated/plan-schema.js'
import { PLAN_KEY } from '../../definition/config/secret.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { DiagnosticCode } from '../../dns/diagnostic-codes.ts'
import { failure, ok, type Result } from '../../dns/result.ts'
import type { Plan } from '../../plan/plan.ts'
import { PLAN_FORMAT, PLAN_VERSION, planDocument } from '../../report/plan-document.ts'
import { parseSavedDiagnostic, parseSavedZone } from './parse-saved-zone.ts'
import { boundPassed, checksumOf, firstDifference, sameSeal, signatureOf } from './plan-json.ts'
import type { SavedPlan, SavedPlanDocument, SavedTarget, SavedZone } from './saved-plan.ts'

/** Deepest is an address in a list of a zone's settings of a change; the rest is room for later versions. */
const BOUNDS = { depth: 16, values: 8_000_000 } as const

export interface ParsedSavedPlan {
  /** Null where the diagnostics hold an error. */
  readonly saved: SavedPlan | null
  readonly diagnostics: readonly Diagnostic[]
}

/** Reads a plan from the text of its file. `file` is how messages name it; with a key, a plan that it did not sign is refused. */
export function parseSavedPlan(text: string, file: string, key: string | null): ParsedSavedPlan {
  const refuse = (code: DiagnosticCode, problem: string, hint?: string): ParsedSavedPlan => ({
    saved: null,
    diagnostics: [{ severity: 'error', code, message: `${file} ${problem}`, hint }],
  })
  const document = readJson(text)
  if (!document.ok) return refuse('plan-file-invalid', document.message, REMAKE)
  const { value } = document
  if (value['format'] !== PLAN_FORMAT) return refuse('plan-file-invalid', `is not a plan: its "format" is not "${PLAN_FORMAT}"`, REMAKE)
  const version = value['version']
  if (typeof version === 'number' && version > PLAN_VERSION)
    return refuse('plan-file-version', `has version ${version} of the format of plans; this program reads version ${PLAN_VERSION}`, NEWER)
  if (typeof value['checksum'] !== 'string')
    return refuse('plan-file-invalid', 'is a report of a plan without what applying it takes', REMAKE)

  if (!sameSeal(value['checksum'], checksumOf(value)))
    return refuse('plan-file-changed', 'was changed after it was saved: its checksum is another', REMAKE)
  const signature = value['signature']
  const forged = signatureProblem(value, key)
  if (forged !== null) return refuse('plan-file-signature', forged, `plan again where ${PLAN_KEY} is the same`)

  if (!validate(value)) return refuse('plan-file-invalid', `breaks the format of plans: ${schemaFault(validate.errors ?? [])}`, REMAKE)
  const parsed = parseDocument(value as unknown as SavedPlanDocument)
  if (!parsed.ok) return refuse('plan-file-invalid', `is not a plan this program made: ${parsed.message}`, REMAKE)
  return { saved: parsed.value, diagnostics: signature !== undefined && key === null ? [unchecked(file)] : [] }
}

const REMAKE = 'make it anew with "zonewright plan --out"'
const NEWER = 'apply it with the version of the program that made it, or plan again with this one'

const unchecked = (file: string): Diagnostic => ({
  severity: 'notice',
  code: 'plan-file-signature',
  message: `${file} is signed, and the signature was not checked: ${PLAN_KEY} is not set`,
})

function readJson(text: string): Result<Readonly<Record<string, unknown>>> {
  const passed = boundPassed(text, BOUNDS)
  if (passed === 'depth') return failure(`is nested more than ${BOUNDS.depth} levels deep, which no plan is`)
  if (passed === 'values') return failure(`has more than ${BOUNDS.values} values, which no plan has`)
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return ok(value as Record<string, unknown>)
    return failure('is not a plan: it holds no JSON object')
  } catch {
    return failure('is not JSON: it was cut off or changed')
  }
}

function signatureProblem(document: Readonly<Record<string, unknown>>, key: string | null): string | null {
  if (key === null) return null
  const { signature } = document
  if (signature === undefined) return `is not signed, and ${PLAN_KEY} asks for a signature`
  return typeof signature === 'string' && sameSeal(signature, signatureOf(document, key))
    ? null
    : `was signed with another key than the one in ${PLAN_KEY}, or changed since`
}

/** The fault the validator found first, with where it is. */
function schemaFault(errors: readonly SchemaError[]): string {
  const error = errors[0]
  if (error === undefined) return 'it is not valid'
  const { instancePath, keyword, params, message } = error
  const where = instancePath === '' ? 'the document' : instancePath.slice(0, 200)
  const key = keyword === 'additionalProperties' ? ` (${JSON.stringify(String(params['additionalProperty']).slice(0, 60))})` : ''
  return `${where} ${message ?? keyword}${key}`
}

function parseDocument(document: SavedPlanDocument): Result<SavedPlan> {
  const { created, tool, checksum, signature, targets, ...rest } = document
  if (targets === undefined) return failure('"targets" is missing')
  if (!isTime(created)) return failure('"created" is not a time')
  const bound = targetsProblem(document)
  if (bound !== null) return failure(bound)
  const zones: SavedZone[] = []
  const seen = new Set<string>()
  for (const [index, zone] of document.zones.entries()) {
    const parsed = parseSavedZone(zone)
    if (!parsed.ok) return failure(`zones[${index}]${parsed.message}`)
    const key = `${zone.zone} ${zone.target}`
    if (seen.has(key)) return failure(`zones[${index}] is there twice: ${zone.zone} at ${zone.target}`)
    seen.add(key)
    zones.push(parsed.value)
  }
  const plan: Plan = { created, tool, zones: zones.map((zone) => zone.plan), diagnostics: document.diagnostics.map(parseSavedDiagnostic) }
  const printed = planDocument(plan)
  const stated = { ...rest, created, tool, zones: document.zones.map(({ state, ...zone }) => zone) }
  // What JSON leaves out is not there on either side.
  const difference = firstDifference(JSON.parse(JSON.stringify(printed)), stated)
  if (difference !== null) return failure(`it contradicts itself at ${difference}`)
  return ok({ plan, targets, zones, signed: signature !== undefined })
}

const isTime = (text: string): boolean => {
  const time = new Date(text)
  return !Number.isNaN(time.getTime()) && time.toISOString() === text
}

function targetsProblem({ targets, zones }: SavedPlanDocument): string | null {
  const names = new Set(targets.map(({ name }: SavedTarget) => name))
  if (names.size < targets.length) return 'a target is there twice'
  const unbound = zones.find(({ target }) => !names.has(target))
  return unbound === undefined ? null : `zones are planned for the target ${JSON.stringify(unbound.target)}, which "targets" does not have`
}
