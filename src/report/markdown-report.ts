/**
 * The report as a comment on a pull request, in GitHub and GitLab flavours of Markdown and of limited size. Text from users and servers appears only in
 * fenced blocks, whose fence is longer than any run of backticks in them, or escaped in `<code>`. So it cannot end the block, be markup or mention a user.
 */
import { formatDiagnostic, oneLine } from '../dns/diagnostic.ts'
import { type ChangeRow, changeRows, type Marker } from './change-rows.ts'
import { counted } from './english.ts'
import { escapeHtml } from './escape.ts'
import { groupDiagnostics } from './group-diagnostics.ts'
import { paletteOf } from './palette.ts'
import { type Report, type ReportOptions, type ZoneView, zoneViews } from './report.ts'
import { layoutRows, shorten } from './row-layout.ts'
import { callFigures, hasSection, renderedStates, summaryLine, zoneFacts, zoneTitle } from './summary.ts'

/** GitHub takes 65,536 characters in a comment. */
const MAX_REPORT_LENGTH = 60_000
/** Maximum length of refusals and diagnostics together in characters. */
const MAX_PREFACE_LENGTH = 20_000
const MAX_VALUE_LENGTH = 500
const MAX_MESSAGE_LENGTH = 1_000
/** For the line about omitted changes. */
const OMITTED_LINE_LENGTH = 200

export function renderMarkdown(report: Report, options: ReportOptions): string {
  const views = zoneViews(report)
  const sections = options.verbose ? views : views.filter(hasSection)
  const parts = [`### ${summaryLine(report)}\n`]
  const prefaceBudget = createBudget(MAX_PREFACE_LENGTH)
  parts.push(...limitedBlock('diff', refusalLines(views), prefaceBudget, 'refusal'))
  if (options.diagnostics !== false)
    parts.push(...limitedBlock('text', diagnosticLines(report, views, options), prefaceBudget, 'diagnostic'))
  if (!options.verbose) {
    const states = renderedStates(views.filter((view) => !hasSection(view))).map(({ text }) => text)
    parts.push(...limitedBlock('text', states, prefaceBudget, 'line'))
  }
  const budget = createBudget(MAX_REPORT_LENGTH - OMITTED_LINE_LENGTH - parts.reduce((sum, part) => sum + part.length, 0))
  const omitted = { changes: 0, zones: 0 }
  for (const view of sections) {
    const { text, shown } = zoneSection(view, options, budget)
    parts.push(text)
    if (shown === view.plan.changes.length && text !== '') continue
    omitted.changes += view.plan.changes.length - shown
    omitted.zones += 1
  }
  if (omitted.zones > 0)
    parts.push(`\n**${counted(omitted.changes, 'more change')} in ${counted(omitted.zones, 'zone')} not shown here.**\n`)
  return parts.join('')
}

interface Budget {
  /** Spends so many characters if they are left. Returns whether they were. */
  spend(characters: number): boolean
}

function createBudget(characters: number): Budget {
  let left = characters
  return {
    spend: (wanted) => {
      if (wanted > left) return false
      left -= wanted
      return true
    },
  }
}

function zoneSection(view: ZoneView, options: ReportOptions, budget: Budget): { text: string; shown: number } {
  const { plan } = view
  const calls = plan.changes.length === 0 ? 'no changes' : callFigures(plan)
  const head = `\n<details><summary><code>${escapeHtml(zoneTitle(plan))}</code>: ${escapeHtml([calls, ...zoneFacts(view, options.verbose)].join('; '))}</summary>\n`
  const tail = '\n</details>\n'
  const overhead = head.length + tail.length
  if (!budget.spend(overhead)) return { text: '', shown: 0 }
  if (plan.changes.length === 0) return { text: head + tail, shown: 0 }
  const { lines, shown } = fitRows(changeRows(view), budget)
  return { text: `${head}\n${fencedBlock('diff', lines)}${tail}`, shown }
}

/** The lines of as many rows as fit, and how many changes they show completely. Only as many are laid out as could fit. */
function fitRows(rows: readonly ChangeRow[], budget: Budget): { lines: string[]; shown: number } {
  const laidOut = layoutRows(rows.slice(0, MAX_REPORT_LENGTH / 8), {
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

function limitedBlock(language: string, lines: readonly string[], budget: Budget, noun: string): string[] {
  if (lines.length === 0) return []
  const shown: string[] = []
  for (const line of lines) {
    const text = shorten(line, MAX_MESSAGE_LENGTH)
    if (!budget.spend(text.length + 1 + 2 * longestBackticks(text))) break
    shown.push(text)
  }
  const more = lines.length - shown.length
  return [`\n${fencedBlock(language, shown)}`, ...(more > 0 ? [`\n**${counted(more, `more ${noun}`)} not shown here.**\n`] : [])]
}

function refusalLines(views: readonly ZoneView[]): string[] {
  return views.flatMap(({ plan }) =>
    plan.refusals.map(({ name, message, allowed }) =>
      allowed ? `! allowed ${name}: ${oneLine(message)}` : `- REFUSED ${name}: ${oneLine(message)} (to allow it: --allow ${name})`,
    ),
  )
}

const diagnosticLines = ({ plan }: Report, views: readonly ZoneView[], { verbose }: ReportOptions): string[] =>
  groupDiagnostics([...plan.diagnostics, ...views.flatMap(({ diagnostics }) => diagnostics)], { all: verbose }).map(formatDiagnostic)

function fencedBlock(language: string, lines: readonly string[]): string {
  const fence = '`'.repeat(Math.max(3, lines.reduce((longest, line) => Math.max(longest, longestBackticks(line)), 0) + 1))
  return `${fence}${language}\n${lines.map((line) => `${line}\n`).join('')}${fence}\n`
}

const longestBackticks = (line: string): number =>
  line.includes('`') ? (line.match(/`+/g) ?? []).reduce((longest, run) => Math.max(longest, run.length), 0) : 0
