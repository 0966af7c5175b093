/** Reads the documents of `verify` and `validate`, to render them again. They may come from anywhere: the schema checks their form, and their names are parsed. */
import { validate as validatesValidation } from '../../../generated/validation-schema.js'
import { validate as validatesVerification } from '../../../generated/verification-schema.js'
import { type DomainName, parseDomainName } from '../../dns/domain-name.ts'
import { failure, ok, type Result } from '../../dns/result.ts'
import { VALIDATION_FORMAT, type Validation, type ValidationDocument } from '../../report/validation.ts'
import { VERIFICATION_FORMAT, type Verification, type VerificationDocument } from '../../report/verification.ts'
import { parseSavedDiagnostic } from './parse-saved-plan.ts'
import { schemaProblem } from './plan-json.ts'

/** What `verify` or `validate` wrote. */
export type CheckReport =
  | { readonly kind: 'verification'; readonly verification: Verification }
  | { readonly kind: 'validation'; readonly validation: Validation }

export const isCheckFormat = (format: unknown): boolean => format === VERIFICATION_FORMAT || format === VALIDATION_FORMAT

/** Converts a document of one of the formats. Failures are worded to follow the file's name. */
export function parseCheckReport(document: Readonly<Record<string, unknown>>): Result<CheckReport> {
  const isVerification = document['format'] === VERIFICATION_FORMAT
  if (document['version'] !== 1) return failure('has another version of the format than 1')
  const validate = isVerification ? validatesVerification : validatesValidation
  const noun = isVerification ? 'verifications' : 'validations'
  if (!validate(document)) return failure(`does not have the format of ${noun}: ${schemaProblem(validate.errors ?? [])}`)
  const report: CheckReport = isVerification
    ? { kind: 'verification', verification: verificationOf(document as unknown as VerificationDocument) }
    : { kind: 'validation', validation: validationOf(document as unknown as ValidationDocument) }
  const problem = namesOf(report).find((name) => !parseDomainName(name).ok)
  return problem === undefined ? ok(report) : failure(`has a name that is not a domain name: ${JSON.stringify(problem)}`)
}

const namesOf = (report: CheckReport): string[] =>
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
