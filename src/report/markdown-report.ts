/**
 * Reports as a comment on a pull request or as the summary of a job: what matters comes first (errors, refusals, what was not applied, deletions), then
 * counts, then the zones. Of limited size; above a number of zones each is one line.
 */
import { formatDiagnostic, isError, oneLine } from '../dns/diagnostic.ts'
import type { Action } from '../plan/plan.ts'
import { type ChangeRow, changeRows, type Marker } from './change-rows.ts'
import { counted, formatCount } from './english.ts'
import { groupDiagnostics } from './group-diagnostics.ts'
import { summaryLine } from './headline.ts'
import { impactLines } from './impact-text.ts'
import {
  type Budget,
  codeCell,
  createBudget,
  fencedBlock,
  limitedBlock,
  limitedTable,
  longestBackticks,
  neutral,
} from './markdown-block.ts'
import { validationMarkdown, verificationMarkdown } from './markdown-checks.ts'
import { groupByOwner, ownerTitle } from './owners.ts'
import { paletteOf } from './palette.ts'
import type { Renderers } from './renderers.ts'
import { blockingRefusals, type Report, type ReportOptions, summarizeOutcomes, type ZoneView, zoneViews } from './report.ts'
import { layoutRows } from './row-layout.ts'
import {
  ACTIONS,
  actionLabels,
  changeFigures,
  deletions,
  hasSection,
  renderedStates,
  zoneFacts,
  zoneTitle,
  zoneTitleAlone,
} from './summary.ts'

/** GitHub takes 65,536 characters in a comment. */
const MAX_REPORT_LENGTH = 60_000
/** Maximum lengths of what comes before the zones, in characters. Errors and deletions leave room for the rest. */
const MAX_PREFACE_LENGTH = 10_000
const MAX_IMPACT_LENGTH = 5_000
const MAX_ERRORS_LENGTH = 10_000
const MAX_DELETIONS_LENGTH = 5_000
const MAX_VALUE_LENGTH = 500
/** For the lines about what is omitted. */
const OMITTED_LINE_LENGTH = 300
/** Maximum number of zones whose changes are shown; of more, each zone is one line. */
const MAX_SECTIONS = 20

export const markdownReports: Renderers = {
  plan: renderMarkdown,
  verification: (verification, options) =>
    verificationMarkdown(verification, options, createBudget(MAX_REPORT_LENGTH - OMITTED_LINE_LENGTH)),
  validation: (validation, options) => validationMarkdown(validation, options, createBudget(MAX_REPORT_LENGTH - OMITTED_LINE_LENGTH)),
}

function renderMarkdown(report: Report, options: ReportOptions): string {
  const views = zoneViews(report)
  const sections = options.verbose ? views : views.filter(hasSection)
  const preface = createBudget(MAX_PREFACE_LENGTH)
  const diagnostics = options.diagnostics === false ? [] : [...report.plan.diagnostics, ...views.flatMap((view) => view.diagnostics)]
  const grouped = groupDiagnostics(diagnostics, { all: options.verbose })
  const deleted = deletions(views)
  const states = options.verbose ? [] : renderedStates(views.filter((view) => !hasSection(view))).map(({ text }) => text)
  const parts = [
    `### ${summaryLine(report)}\n`,
    ...limitedBlock('text', impactLines(views), createBudget(MAX_IMPACT_LENGTH), 'line'),
    ...limitedBlock('text', grouped.filter(isError).map(formatDiagnostic), createBudget(MAX_ERRORS_LENGTH), 'error'),
    ...limitedBlock('diff', views.flatMap(blockedLines), preface, 'refusal'),
    ...limitedBlock('diff', views.flatMap(unappliedLines), preface, 'line'),
    ...limitedBlock('diff', views.flatMap(allowedLines), preface, 'lifted refusal'),
    ...(deleted.lines.length === 0 ? [] : [`\n**${deleted.title}**\n`]),
    ...limitedBlock('diff', deleted.lines, createBudget(MAX_DELETIONS_LENGTH), 'deletion'),
    ...ownerTable(report, views, preface),
    ...limitedBlock('text', grouped.filter((one) => !isError(one)).map(formatDiagnostic), preface, 'diagnostic'),
    ...limitedBlock('text', states, preface, 'line'),
  ]
  const maxLength = options.maxLength ?? MAX_REPORT_LENGTH
  const budget = createBudget(maxLength - OMITTED_LINE_LENGTH - parts.reduce((sum, part) => sum + part.length, 0))
  const isLong = sections.length > MAX_SECTIONS && !options.verbose && options.everyZone !== true
  return [...parts, ...(isLong ? zoneTable(report, sections, budget) : zoneSections(sections, options, budget))].join('')
}

const blockedLines = ({ plan }: ZoneView): string[] =>
  blockingRefusals(plan).map(({ name, message }) => `- REFUSED ${name}: ${oneLine(message)} (to allow it: --allow ${name})`)

const allowedLines = ({ plan }: ZoneView): string[] =>
  plan.refusals.flatMap(({ name, message, allowed }) => (allowed ? [`! allowed ${name}: ${oneLine(message)}`] : []))

/** One line per reason why changes of a zone were not applied. */
function unappliedLines({ plan, outcomes }: ZoneView): string[] {
  const reasons = new Map<string, number>()
  for (const outcome of outcomes ?? []) {
    if (outcome.state === 'applied') continue
    const reason = `${outcome.state}: ${oneLine(outcome.state === 'skipped' ? outcome.because : outcome.error)}`
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  }
  return [...reasons].map(([reason, count]) => `- ${counted(count, 'change')} in ${zoneTitle(plan)} ${reason}`)
}

const countsOf = (view: ZoneView): Readonly<Record<Action, number>> =>
  view.outcomes === null ? view.plan.calls : summarizeOutcomes([view]).applied

const countCells = (views: readonly ZoneView[]): string[] =>
  ACTIONS.map((action) => {
    const count = views.reduce((sum, view) => sum + countsOf(view)[action], 0)
    return count === 0 ? '' : formatCount(count)
  })

const countHeads = ({ outcomes }: Report): string[] => ACTIONS.map((action) => `>${actionLabels(outcomes !== null)[action]}`)

/** The counts of each owner; nothing if no zone has one. */
function ownerTable(report: Report, views: readonly ZoneView[], budget: Budget): string[] {
  const groups = groupByOwner(views.filter(hasSection), ({ plan }) => plan.owner)
  if (groups.every(({ owner }) => owner === null)) return []
  const rows = groups.map(({ owner, zones }) => [
    owner === null ? 'no owner' : codeCell(owner),
    formatCount(zones.length),
    ...countCells(zones),
  ])
  return limitedTable(['owner', '>zones', ...countHeads(report)], rows, budget, 'owner')
}

/** One line per zone. */
function zoneTable(report: Report, sections: readonly ZoneView[], budget: Budget): string[] {
  const groups = groupByOwner(sections, ({ plan }) => plan.owner)
  const hasOwners = groups.some(({ owner }) => owner !== null)
  const rows = groups.flatMap(({ owner, zones }) =>
    zones.map((view) => [
      codeCell(zoneTitleAlone(view.plan)),
      codeCell(view.plan.target),
      ...(hasOwners ? [owner === null ? '' : codeCell(owner)] : []),
      ...countCells([view]),
      problemText(view),
    ]),
  )
  return limitedTable(['zone', 'target', ...(hasOwners ? ['owner'] : []), ...countHeads(report), ''], rows, budget, 'zone')
}

/** `refused, 2 failed`: what is wrong with a zone, in a few words of the program. */
function problemText(view: ZoneView): string {
  const errors = view.diagnostics.filter(isError).length
  const { failed, unknown, skipped } = summarizeOutcomes([view])
  return [
    ...(errors > 0 ? [counted(errors, 'error')] : []),
    ...(blockingRefusals(view.plan).length > 0 ? ['refused'] : []),
    ...Object.entries({ failed, unknown, skipped }).flatMap(([state, count]) => (count === 0 ? [] : [`${formatCount(count)} ${state}`])),
  ].join(', ')
}

function zoneSections(sections: readonly ZoneView[], options: ReportOptions, budget: Budget): string[] {
  const parts: string[] = []
  const omitted = { changes: 0, zones: 0 }
  const groups = groupByOwner(sections, ({ plan }) => plan.owner)
  for (const { owner, zones } of groups) {
    const heading = groups.length === 1 && owner === null ? '' : `\n#### ${owner === null ? ownerTitle(null) : codeCell(owner)}\n`
    if (budget.spend(heading.length)) parts.push(heading)
    for (const view of zones) {
      const left = budget.left()
      const section = zoneSection(view, options, budget)
      const isComplete = section.shown === view.plan.changes.length && section.text !== ''
      const isLeftOut = !isComplete && options.maxLength !== undefined
      if (isLeftOut) budget.spend(budget.left() - left)
      const { text, shown } = isLeftOut ? { text: '', shown: 0 } : section
      parts.push(text)
      if (isComplete) continue
      omitted.changes += view.plan.changes.length - shown
      omitted.zones += 1
    }
  }
  if (omitted.zones > 0)
    parts.push(`\n**${counted(omitted.changes, 'more change')} in ${counted(omitted.zones, 'zone')} not shown here.**\n`)
  return parts
}

function zoneSection(view: ZoneView, options: ReportOptions, budget: Budget): { text: string; shown: number } {
  const { plan } = view
  const facts = [changeFigures(view), ...zoneFacts(view, options.verbose)].join('; ')
  const head = `\n<details><summary>${codeCell(zoneTitle(plan))}: ${neutral(facts)}</summary>\n`
  const tail = '\n</details>\n'
  const overhead = head.length + tail.length
  if (!budget.spend(overhead)) return { text: '', shown: 0 }
  if (plan.changes.length === 0) return { text: head + tail, shown: 0 }
  const { lines, shown } = fitRows(changeRows(view), budget, options.maxLength ?? MAX_REPORT_LENGTH)
  return { text: `${head}\n${fencedBlock('diff', lines)}${tail}`, shown }
}

/** The lines of as many rows as fit, and how many changes they show completely. Only as many are laid out as could fit. */
function fitRows(rows: readonly ChangeRow[], budget: Budget, maxLength: number): { lines: string[]; shown: number } {
  const laidOut = layoutRows(rows.slice(0, maxLength / 8), {
    palette: paletteOf(false),
    width: null,
    longestValue: MAX_VALUE_LENGTH,
    calls: false,
    prefix,
  })
  const lines: string[] = []
  // Both fences, even if they are longer than three backticks.
  let count = 0
  if (budget.spend(64)) {
    for (const row of laidOut) {
      // A run of backticks in a line lengthens both fences by no more than the line is long.
      const size = row.reduce((sum, line) => sum + line.length + 1 + 2 * longestBackticks(line), 0)
      if (!budget.spend(size)) break
      lines.push(...row)
      count += 1
    }
  }
  const cut = new Set(rows.slice(count).map(({ change }) => change))
  return { lines, shown: new Set(rows.flatMap(({ change }) => (cut.has(change) ? [] : [change]))).size }
}

/** The first column is that of a diff, in which `!` marks a changed line. */
const prefix = (marker: Marker): string => `${marker === '~' ? '!' : marker} `
