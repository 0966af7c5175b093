/**
 * All lints. A lint reports data that is valid DNS, but probably not intended. It sees all zones of the run, so a finding in one zone may depend on
 * another. Its time is linear in the number of records. Each lint has a page, `docs/lints/CODE.md`.
 */
import type { Diagnostic, Severity } from '../../base/diagnostic.ts'
import type { DiagnosticCode } from '../../base/diagnostic-codes.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import type { Finding, ZoneIndex } from '../rules/zone-index.ts'
import { dkimInvalid, dmarcInvalid, dmarcReportRefused } from './dkim-dmarc-lints.ts'
import { indexOf, type LintedZone, managedNames } from './managed-names.ts'
import { nameSimilar } from './similar-names.ts'
import { spfLint } from './spf-lints.ts'
import { addressPrivate, glueMissing, targetDangling, targetTakeover } from './target-lints.ts'

type Lint = (linted: LintedZone, index: ZoneIndex) => Iterable<Finding>

/** A function that returns the findings of one of `zones`. `ask` receives the names of possible zones that are not among them. */
export function createLinter(zones: readonly LintedZone[], ask?: (zone: DomainName) => void): (linted: LintedZone) => Diagnostic[] {
  const managed = managedNames(zones, ask)
  const lints: readonly (readonly [severity: Severity, code: DiagnosticCode, lint: Lint])[] = [
    ['warning', 'dkim-invalid', dkimInvalid],
    ['warning', 'dmarc-invalid', dmarcInvalid],
    ['warning', 'dmarc-report-refused', dmarcReportRefused(managed)],
    ['warning', 'target-dangling', targetDangling(managed)],
    ['notice', 'target-takeover', targetTakeover(managed)],
    ['warning', 'address-private', addressPrivate],
    ['warning', 'glue-missing', glueMissing(managed)],
    ['notice', 'name-similar', nameSimilar],
  ]
  const spf = spfLint(managed)
  const lint = (linted: LintedZone, index: ZoneIndex): Diagnostic[] => [
    ...spf(linted, index),
    ...lints.flatMap(([severity, code, of]) => Array.from(of(linted, index), (finding) => ({ severity, code, ...finding }))),
  ]
  return (linted) => (linted.zone.absent ? [] : lint(linted, indexOf(linted)))
}
