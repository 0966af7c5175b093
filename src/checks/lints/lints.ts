/**
 * All lints. A lint reports data that is valid DNS, but probably not intended. It sees all zones of the run, so a finding in one zone may depend on
 * another. Its time is linear in the number of records. Each lint has a page, `docs/lints/CODE.md`.
 */
import type { Diagnostic } from '../../base/diagnostic.ts'
import type { ZoneIndex } from '../rules/zone-index.ts'
import { dkimInvalid, dmarcInvalid, dmarcReportRefused } from './dkim-dmarc-lints.ts'
import { indexOf, type LintedZone, managedNames } from './managed-names.ts'
import { nameSimilar } from './similar-names.ts'
import { spfLint } from './spf-lints.ts'
import { addressPrivate, glueMissing, targetDangling, targetTakeover } from './target-lints.ts'

type Lint = (linted: LintedZone, index: ZoneIndex) => Diagnostic[]

/** The findings of each zone, in the order of `zones`. */
export function lintZones(zones: readonly LintedZone[]): Diagnostic[][] {
  const managed = managedNames(zones)
  const lints: readonly Lint[] = [
    spfLint(managed),
    dkimInvalid,
    dmarcInvalid,
    dmarcReportRefused(managed),
    targetDangling(managed),
    targetTakeover(managed),
    addressPrivate,
    glueMissing(managed),
    nameSimilar,
  ]
  return zones.map((linted) => {
    const index = indexOf(linted)
    return linted.zone.absent ? [] : lints.flatMap((lint) => lint(linted, index))
  })
}
