/**
 * The report for the log of a GitHub Actions job: annotations at the positions of diagnostics, the gravest first, then what is deleted, then one group per
 * zone with changes.
 */
import { type Diagnostic, isError, oneLine } from '../base/diagnostic.ts'
import { counted, formatCount } from '../base/english.ts'
import { groupDiagnostics } from './group-diagnostics.ts'
import { summaryLine } from './headline.ts'
import { impactLines } from './impact-text.ts'
import { type Report, type ReportOptions, type ZoneView, zoneViews } from './report.ts'
import { deletions, groupByOwner, hasSection, ownerTitle, renderedStates } from './summary.ts'
import { zoneLines } from './text-report.ts'
import { annotation, diagnosticAnnotation, plainLine } from './workflow-command.ts'

/** Deletions that are listed before the zones; each is also in the group of its zone. */
const MOST_DELETIONS = 50

export function renderGithub(report: Report, options: ReportOptions): string {
  const views = zoneViews(report)
  const sections = options.verbose ? views : views.filter(hasSection)
  const diagnostics = options.diagnostics === false ? [] : [...report.plan.diagnostics, ...views.flatMap((view) => view.diagnostics)]
  const grouped = groupDiagnostics(diagnostics, { all: options.verbose })
  const annotations = (some: readonly Diagnostic[]): string[] =>
    some.map((diagnostic) => diagnosticAnnotation(diagnostic, options.fromRoot))
  const lines = [
    ...annotations(grouped.filter(isError)),
    ...views.flatMap(refusalAnnotations),
    ...annotations(grouped.filter((one) => !isError(one))),
    plainLine(summaryLine(report)),
    ...impactLines(views).map(plainLine),
    ...deletionLines(views),
  ]
  const groups = groupByOwner(sections, ({ plan }) => plan.owner)
  for (const { owner, zones } of groups) {
    if (groups.length > 1 || owner !== null) lines.push(plainLine(`${ownerTitle(owner)}: ${counted(zones.length, 'zone')}`))
    for (const view of zones) {
      const [title = '', ...rest] = zoneLines(view, { ...options, color: false, width: null, diagnostics: false }, views)
      lines.push(`::group::${title.replace(/%/g, '%25')}`, ...rest.map(plainLine), '::endgroup::')
    }
  }
  if (!options.verbose) lines.push(...renderedStates(views.filter((view) => !hasSection(view))).map(({ text }) => plainLine(text)))
  return `${lines.join('\n')}\n`
}

const refusalAnnotations = ({ plan }: ZoneView): string[] =>
  plan.refusals.map(({ name, message, allowed }) =>
    annotation({
      severity: allowed ? 'warning' : 'error',
      title: allowed ? `allowed: ${name}` : `refused: ${name}`,
      message: allowed ? oneLine(message) : `${oneLine(message)}\nto allow it: --allow ${name}`,
    }),
  )

function deletionLines(views: readonly ZoneView[]): string[] {
  const { title, lines } = deletions(views)
  if (lines.length === 0) return []
  const more = lines.length - MOST_DELETIONS
  return [`${title}:`, ...lines.slice(0, MOST_DELETIONS).map(plainLine), ...(more > 0 ? [`and ${formatCount(more)} more`] : [])]
}
