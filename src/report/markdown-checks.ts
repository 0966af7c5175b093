/** Verifications and validations in Markdown. */
import { formatDiagnostic, isError, oneLine } from '../dns/diagnostic.ts'
import { countDiagnostics } from './diagnostics-report.ts'
import { groupDiagnostics } from './group-diagnostics.ts'
import { type Budget, codeCell, limitedBlock, limitedTable } from './markdown-block.ts'
import { groupByOwner } from './owners.ts'
import type { ReportOptions } from './report.ts'
import { zoneTitle } from './summary.ts'
import { countOf, type Validation, validatedText } from './validation.ts'
import { failedChecks, isVerified, type Verification, verificationSummary, type ZoneVerification } from './verification.ts'

/** Errors first, then a line per zone that is not as defined, then what differs. */
export function verificationMarkdown(verification: Verification, { verbose }: ReportOptions, budget: Budget): string {
  const { zones, diagnostics } = verification
  const all = groupDiagnostics([...diagnostics, ...zones.flatMap((zone) => zone.diagnostics)], { all: verbose })
  const summary = verificationSummary(verification)
  budget.spend(summary.length)
  const groups = groupByOwner(
    zones.filter((zone) => verbose || !isVerified(zone)),
    ({ owner }) => owner,
  )
  const hasOwners = groups.some(({ owner }) => owner !== null)
  const rows = groups.flatMap(({ owner, zones: some }) =>
    some.map((zone) => [
      codeCell(zoneTitle(zone)),
      ...(hasOwners ? [owner === null ? '' : codeCell(owner)] : []),
      codeCell(failedChecks(zone).join(', ') || (zone.diagnostics.some(isError) ? 'error' : 'as defined')),
    ]),
  )
  return [
    `### ${summary}\n`,
    ...limitedBlock('text', all.filter(isError).map(formatDiagnostic), budget, 'error'),
    ...limitedTable(['zone', ...(hasOwners ? ['owner'] : []), 'not as defined'], rows, budget, 'zone'),
    ...limitedBlock('diff', zones.flatMap(differenceLines), budget, 'line'),
    ...limitedBlock('text', all.filter((one) => !isError(one)).map(formatDiagnostic), budget, 'diagnostic'),
  ].join('')
}

const differenceLines = (zone: ZoneVerification): string[] =>
  zone.nameServers.flatMap(({ server, differences }) =>
    differences.flatMap(({ name, type, expected, answered, note }) => {
      const missing = expected.filter((line) => !answered.includes(line))
      const instead = answered.filter((line) => !expected.includes(line))
      const subject = `${oneLine(name)} ${oneLine(type)}`
      return [
        `! ${subject} at ${oneLine(server)}${note === undefined ? '' : `: ${oneLine(note)}`}`,
        ...missing.map((line) => `- ${subject} ${oneLine(line)}`),
        ...instead.map((line) => `+ ${subject} ${oneLine(line)}`),
      ]
    }),
  )

/** Errors first, then counts by owner, then warnings and notices. */
export function validationMarkdown({ diagnostics, figures, zones }: Validation, { verbose }: ReportOptions, budget: Budget): string {
  const all = groupDiagnostics(diagnostics, { all: verbose })
  const groups = groupByOwner(zones, ({ owner }) => owner)
  const rows = groups.map(({ owner, zones: some }) => {
    const found = some.flatMap((zone) => zone.diagnostics)
    return [owner === null ? 'no owner' : codeCell(owner), some.length, countOf(found, 'error'), countOf(found, 'warning')].map(String)
  })
  return [
    `### ${validatedText(figures)}: ${countDiagnostics(diagnostics) ?? 'no problems'}\n`,
    ...limitedBlock('text', all.filter(isError).flatMap(withHint), budget, 'line'),
    ...(groups.every(({ owner }) => owner === null)
      ? []
      : limitedTable(['owner', '>zones', '>errors', '>warnings'], rows, budget, 'owner')),
    ...limitedBlock('text', all.filter((one) => !isError(one)).flatMap(withHint), budget, 'line'),
  ].join('')
}

/** A diagnostic, and its hint on a line of its own. */
export const withHint = (diagnostic: Parameters<typeof formatDiagnostic>[0]): string[] => [
  formatDiagnostic(diagnostic),
  ...(diagnostic.hint === undefined ? [] : [`  ${oneLine(diagnostic.hint)}`]),
]
