/**
 * Reads a report of a plan, an apply, a verification or a validation from a file, to render it again: a saved plan, or what `--format json` wrote. The file may come from anywhere, so
 * its size, its form, its names and, if it has one, its seal are checked. Nothing in it is sent or applied.
 */
import { validate } from '../../../generated/plan-schema.js'
import { validate as validatesValidation } from '../../../generated/validation-schema.js'
import { validate as validatesVerification } from '../../../generated/verification-schema.js'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { failure, ok, type Result } from '../../base/result.ts'
import { type DomainName, parseDomainName } from '../../dns/domain-name.ts'
import type { Change, Outcome, Plan, ZoneOutcome, ZonePlan } from '../../plan/plan.ts'
import { planOf as planOfZones } from '../../plan/planned-zone.ts'
import { PLAN_FORMAT, PLAN_VERSION, type PlanDocument, type PlannedZoneDocument } from '../../report/plan-document.ts'
import type { Report } from '../../report/report.ts'
import { VALIDATION_FORMAT, type Validation, type ValidationDocument } from '../../report/validation.ts'
import { VERIFICATION_FORMAT, type Verification, type VerificationDocument } from '../../report/verification.ts'
import { PLAN_BOUNDS, parseSavedDiagnostic, parseSavedPlan } from './parse-saved-plan.ts'
import { readJsonObject, schemaProblem } from './plan-json.ts'
import { readPlanText } from './saved-plan.ts'

/** What a file or a run of the journal can have. */
export type AnyReport = (Report & { readonly kind: 'plan' }) | CheckReport

export interface ReadReport {
  /** Null if the diagnostics have an error. */
  readonly report: AnyReport | null
  readonly diagnostics: readonly Diagnostic[]
}

/** Reads the report in a file, which messages call `file`. With a key, a saved plan must be signed with it. */
export async function readReport(path: string, file: string, key: string | null): Promise<ReadReport> {
  const text = await readPlanText(path, 'report')
  return text.ok ? parseReport(text.value, file, key) : refuse(`${file} ${text.message}`)
}

function parseReport(text: string, file: string, key: string | null): ReadReport {
  const document = readJsonObject(text, PLAN_BOUNDS, 'report')
  if (!document.ok) return refuse(`${file} ${document.message}`)
  const { value } = document
  if (isCheckFormat(value['format'])) {
    const report = parseCheckReport(value)
    return report.ok ? { report: report.value, diagnostics: [] } : refuse(`${file} ${report.message}`)
  }
  if (value['format'] !== PLAN_FORMAT)
    return refuse(
      `${file} is not a report of a plan, an apply, a verification or a validation: its "format" is not "${PLAN_FORMAT}", "${VERIFICATION_FORMAT}" or "${VALIDATION_FORMAT}"`,
    )
  if (value['checksum'] !== undefined) {
    const { saved, diagnostics } = parseSavedPlan(text, file, key)
    return { report: saved === null ? null : { kind: 'plan', plan: planOfZones(saved), outcomes: null }, diagnostics }
  }
  if (value['version'] !== PLAN_VERSION) return refuse(`${file} has another version of the format than ${PLAN_VERSION}`)
  if (!validate(value)) return refuse(`${file} does not have the format of plans: ${schemaProblem(validate.errors ?? [])}`)
  const report = reportOf(value as unknown as PlanDocument)
  return report.ok ? { report: { kind: 'plan', ...report.value }, diagnostics: [] } : refuse(`${file}: ${report.message}`)
}

const refuse = (message: string): ReadReport => ({
  report: null,
  diagnostics: [{ severity: 'error', code: 'plan-file-invalid', message, hint: 'a report is what --format json or "plan --out" wrote' }],
})

/** Converts a document that follows the schema. Its counts are derived again from its changes, except those of calls and records. */
function reportOf({ created, tool, snapshot, base, keepsGoing, zones, diagnostics, summary }: PlanDocument): Result<Report> {
  const problem = zones.flatMap(namesOf).find((name) => !parseDomainName(name).ok)
  if (problem !== undefined) return failure(`${JSON.stringify(problem)} is not a domain name`)
  const plans = zones.map(planOf)
  const origin = {
    ...(snapshot === undefined ? {} : { snapshot }),
    ...(base === undefined ? {} : { base }),
    ...(keepsGoing && { keepsGoing }),
  }
  const plan: Plan = { created, tool, ...origin, zones: plans, diagnostics: diagnostics.map(parseSavedDiagnostic) }
  if (summary.applied === undefined) return ok({ plan, outcomes: null })
  return ok({ plan, outcomes: zones.map((zone, index) => outcomeOf(zone, plans[index] as ZonePlan)) })
}

const namesOf = ({ zone, cachedAnswers, impact, changes }: PlannedZoneDocument): string[] => [
  zone,
  ...(cachedAnswers === undefined ? [] : [cachedAnswers.name]),
  ...(impact === undefined ? [] : [impact.stopsAnswering, impact.mail, impact.nameservers].flat().map(({ name }) => name)),
  ...changes.flatMap(({ name, existing, desired }) => [
    name,
    ...[existing, desired].flatMap((side) => (side !== null && 'name' in side ? side.name : [])),
  ]),
]

/** The names were checked, and the schema has checked the rest. */
function planOf({ readBack, diagnostics, changes, ...zone }: PlannedZoneDocument): ZonePlan {
  return {
    ...zone,
    changes: changes.map(({ outcome, ...change }) => change as Change),
    diagnostics: diagnostics.map(parseSavedDiagnostic),
  } as Omit<ZonePlan, 'zone'> as ZonePlan
}

/** The diagnostics of an outcome are among those of its plan. */
const outcomeOf = ({ changes, readBack = 'not-read' }: PlannedZoneDocument, plan: ZonePlan): ZoneOutcome => ({
  plan,
  outcomes: changes.map(({ outcome }): Outcome => outcome ?? { state: 'skipped', because: 'the report does not say' }),
  readBack,
  diagnostics: [],
})

/** What `verify` or `validate` wrote. */
type CheckReport =
  | { readonly kind: 'verification'; readonly verification: Verification }
  | { readonly kind: 'validation'; readonly validation: Validation }

const isCheckFormat = (format: unknown): boolean => format === VERIFICATION_FORMAT || format === VALIDATION_FORMAT

/** Converts a document of one of the formats. Failures are worded to follow the file's name. */
function parseCheckReport(document: Readonly<Record<string, unknown>>): Result<CheckReport> {
  const isVerification = document['format'] === VERIFICATION_FORMAT
  if (document['version'] !== 1) return failure('has another version of the format than 1')
  const validate = isVerification ? validatesVerification : validatesValidation
  const noun = isVerification ? 'verifications' : 'validations'
  if (!validate(document)) return failure(`does not have the format of ${noun}: ${schemaProblem(validate.errors ?? [])}`)
  const report: CheckReport = isVerification
    ? { kind: 'verification', verification: verificationOf(document as unknown as VerificationDocument) }
    : { kind: 'validation', validation: validationOf(document as unknown as ValidationDocument) }
  const problem = namesIn(report).find((name) => !parseDomainName(name).ok)
  return problem === undefined ? ok(report) : failure(`has a name that is not a domain name: ${JSON.stringify(problem)}`)
}

const namesIn = (report: CheckReport): string[] =>
  report.kind === 'validation'
    ? report.validation.zones.map(({ zone }) => zone)
    : report.verification.zones.flatMap(({ zone, hidden, unmanaged = [], nameServers }) => [
        zone,
        ...[...hidden, ...unmanaged].map(({ name }) => name),
        ...nameServers.flatMap(({ differences, covered }) => [...differences.map(({ name }) => name), ...covered]),
      ])

/** Names are checked afterwards; the schema has checked the rest. */
const verificationOf = ({ zones, diagnostics }: VerificationDocument): Verification => ({
  zones: zones.map((zone) => ({
    ...zone,
    zone: zone.zone as DomainName,
    hidden: zone.hidden.map(({ name, type }) => ({ name: name as DomainName, type })),
    unmanaged: zone.unmanaged?.map(({ name, type }) => ({ name: name as DomainName, type })),
    nameServers: zone.nameServers.map((server) => ({
      ...server,
      differences: server.differences.map(({ note, ...difference }) => ({ ...difference, note: note ?? undefined })),
    })),
    diagnostics: zone.diagnostics.map(parseSavedDiagnostic),
  })),
  diagnostics: diagnostics.map(parseSavedDiagnostic),
})

function validationOf({ files, zones, records, definitions = [], ...document }: ValidationDocument): Validation {
  const diagnostics = document.diagnostics.map(parseSavedDiagnostic)
  return {
    figures: { files, zones, records },
    zones: definitions.map(({ zone, owner, files: own, diagnostics: indexes = [] }) => ({
      zone: zone as DomainName,
      owner,
      files: own,
      diagnostics: indexes.flatMap((index) => diagnostics[index] ?? []),
    })),
    diagnostics,
  }
}
