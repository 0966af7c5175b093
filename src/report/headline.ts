/** The headlines of reports about plans: errors and refusals first, then the impact, then the counts. */
import { hasErrors } from '../base/diagnostic.ts'
import { counted, formatCount } from '../base/english.ts'
import { impactPhrase } from './impact-text.ts'
import { type Report, type Summary, summarize, summarizeOutcomes, zoneViews } from './report.ts'
import { toDo, unappliedFigures } from './summary.ts'

/** The headline of a report: errors and refusals first, then the impact, then what a plan would do or what an apply did. */
export function summaryLine(report: Report): string {
  const summary = summarize(report)
  const problems = problemText(report, summary)
  const rest = summary.calls === 0 ? unchangedText(report) : report.outcomes === null ? planText(summary) : outcomeText(report)
  const impact = impactPhrase(zoneViews(report))
  return [problems, impact && impact[0]?.toUpperCase() + impact.slice(1), rest].filter((part) => part !== null).join('. ')
}

/** The headline of a report that shows the impact and the figures elsewhere. */
export function shortHeadline(report: Report): string {
  const summary = summarize(report)
  const problems = problemText(report, summary)
  if (report.outcomes === null && problems !== null) return problems
  const rest = shortText(report, summary)
  return problems === null ? rest : `${problems}. ${rest}`
}

function shortText(report: Report, summary: Summary): string {
  if (summary.calls === 0) return unchangedText(report)
  if (report.outcomes === null) return `${formatCount(summary.changedZones)} of ${counted(summary.zones, 'zone')} to change`
  const figures = summarizeOutcomes(zoneViews(report))
  const rest = unappliedFigures(figures).join('')
  if (figures.applied.total === 0) return `Nothing applied: ${rest}`
  return rest === '' ? `Applied in ${counted(figures.applied.zones, 'zone')}` : `Applied in part: ${rest}`
}

/** `2 errors, 1 zone refused, nothing will be applied`; null without a problem. */
function problemText({ plan, outcomes }: Report, summary: Summary): string | null {
  const problems = [
    ...(summary.errors > 0 ? [counted(summary.errors, 'error')] : []),
    ...(summary.refusedZones > 0 ? [`${counted(summary.refusedZones, 'zone')} refused`] : []),
  ]
  const isStopped = outcomes === null && plan.keepsGoing !== true
  return problems.length === 0 ? null : `${problems.join(', ')}${isStopped ? ', nothing will be applied' : ''}`
}

const planText = (summary: Summary): string =>
  `Plan: ${toDo(summary)} in ${counted(summary.changedZones, 'zone')} (${counted(summary.calls, 'request')})`

function outcomeText(report: Report): string {
  const summary = summarizeOutcomes(zoneViews(report))
  const { applied } = summary
  const rest = unappliedFigures(summary).join('')
  if (applied.total === 0) return `Nothing applied: ${rest}`
  const done = `${formatCount(applied.create)} created, ${formatCount(applied.update)} updated, ${formatCount(applied.delete)} deleted in ${counted(applied.zones, 'zone')} (${counted(applied.calls, 'request')})`
  return rest === '' ? `Applied: ${done}` : `Applied in part: ${rest}; ${done}`
}

function unchangedText({ plan }: Report): string {
  const matching = plan.zones.filter(({ diagnostics }) => !hasErrors(diagnostics)).length
  if (matching === 0 && (plan.zones.length > 0 || hasErrors(plan.diagnostics))) return 'No changes were planned.'
  return `No changes. ${counted(matching, 'zone matches', 'zones match')}.`
}
