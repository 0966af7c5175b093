/** The report for the log of a GitHub Actions job: annotations at the positions of diagnostics, and one group per zone with changes. */
import { oneLine } from '../dns/diagnostic.ts'
import { groupDiagnostics } from './group-diagnostics.ts'
import { type Report, type ReportOptions, zoneViews } from './report.ts'
import { hasSection, renderedStates, summaryLine } from './summary.ts'
import { zoneLines } from './text-report.ts'
import { annotation, diagnosticAnnotation, plainLine } from './workflow-command.ts'

export function renderGithub(report: Report, options: ReportOptions): string {
  const views = zoneViews(report)
  const sections = options.verbose ? views : views.filter(hasSection)
  const lines: string[] = []
  if (options.diagnostics !== false) {
    const diagnostics = [...report.plan.diagnostics, ...views.flatMap((view) => view.diagnostics)]
    const groups = groupDiagnostics(diagnostics, { all: options.verbose })
    lines.push(...groups.map((diagnostic) => diagnosticAnnotation(diagnostic, options.fromRoot)))
  }
  for (const { plan } of views) {
    for (const { name, message, allowed } of plan.refusals) {
      lines.push(
        annotation({
          severity: allowed ? 'warning' : 'error',
          title: allowed ? `allowed: ${name}` : `refused: ${name}`,
          message: allowed ? oneLine(message) : `${oneLine(message)}\nto allow it: --allow ${name}`,
        }),
      )
    }
  }
  for (const view of sections) {
    const [title = '', ...rest] = zoneLines(view, { ...options, color: false, width: null, diagnostics: false })
    lines.push(`::group::${title.replace(/%/g, '%25')}`)
    for (const line of rest) lines.push(plainLine(line))
    lines.push('::endgroup::')
  }
  if (!options.verbose) lines.push(...renderedStates(views.filter((view) => !hasSection(view))).map(({ text }) => plainLine(text)))
  lines.push(plainLine(summaryLine(report)))
  return `${lines.join('\n')}\n`
}
