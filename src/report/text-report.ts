/** The text report: zones with their changes, refusals and diagnostics, and a summary line. */
import { type Diagnostic, formatDiagnostic, oneLine } from '../base/diagnostic.ts'
import { counted, formatCount } from '../base/english.ts'
import type { Refusal } from '../plan/plan.ts'
import { type ChangeRow, changeRows, type Marker } from './change-rows.ts'
import { groupDiagnostics } from './group-diagnostics.ts'
import { summaryLine } from './headline.ts'
import { impactLines } from './impact-text.ts'
import { type Palette, paletteOf } from './palette.ts'
import { type Report, type ReportOptions, type ZoneView, zoneViews } from './report.ts'
import { layoutRows } from './row-layout.ts'
import {
  cachedAnswersText,
  changeFigures,
  groupByOwner,
  hasSection,
  ownerTitle,
  readBackText,
  recordFigures,
  renderedStates,
  renderedText,
  zoneState,
  zoneTitle,
} from './summary.ts'

/** Maximum length of one value in characters. */
const LONGEST_VALUE = 400

/** Maximum number of skipped changes per zone that are listed for a reader who has seen the plan. */
const SKIPPED_SHOWN = 20

export function renderText(report: Report, options: ReportOptions): string {
  const palette = paletteOf(options.color)
  const lines: string[] = []
  if (options.diagnostics !== false && report.plan.diagnostics.length > 0)
    lines.push(...diagnosticLines(report.plan.diagnostics, options, ''), '')
  const isBrief = options.planShown === true && !options.verbose
  const views = zoneViews(report)
  const lead = isBrief ? [] : impactLines(views)
  if (lead.length > 0) lines.unshift(...lead.map(palette.warning), '')
  const shown = views.filter((view) => options.verbose || (isBrief ? hasUnapplied(view) : isShown(view, options)))
  const groups = groupByOwner(shown, ({ plan }) => plan.owner)
  for (const { owner, zones } of groups) {
    if (groups.length > 1 || owner !== null) lines.push(palette.bold(`${ownerTitle(owner)}: ${counted(zones.length, 'zone')}`), '')
    for (const view of zones) {
      for (const line of isBrief ? unappliedLines(view, options) : zoneLines(view, options, views)) lines.push(line)
      lines.push('')
    }
  }
  if (!options.verbose && !isBrief) lines.push(...renderedLines(report, options))
  lines.push(palette.bold(summaryLine(report)))
  return `${lines.join('\n')}\n`
}

/** Whether a zone is shown on its own, in a report that is not verbose. */
const isShown = (view: ZoneView, options: ReportOptions): boolean =>
  hasSection(view) || (options.diagnostics !== false && view.diagnostics.length > 0)

function renderedLines(report: Report, options: ReportOptions): string[] {
  const palette = paletteOf(options.color)
  const others = zoneViews(report).filter((view) => !isShown(view, options))
  return renderedStates(others).map(({ state, text }) => (state === 'differs' ? palette.warning(text) : text))
}

/** The lines of one zone of `views`; the first has its name. */
export function zoneLines(view: ZoneView, options: ReportOptions, views: readonly ZoneView[]): string[] {
  const palette = paletteOf(options.color)
  const { plan } = view
  const lines = [titleLine(view, palette)]
  if (plan.changes.length === 0) lines.push(palette.dim('  no changes'))
  else for (const line of rowLines(changeRows(view), options, palette)) lines.push(line)
  for (const refusal of plan.refusals) lines.push(...refusalLines(refusal, palette))
  if (options.diagnostics !== false) lines.push(...diagnosticLines(view.diagnostics, options, '  '))
  const rendered = renderedText(plan, options.verbose)
  if (rendered !== null) lines.push(`  ${plan.rendered === 'differs' ? palette.warning(rendered) : palette.dim(rendered)}`)
  lines.push(...readBackLines(view, options, palette))
  if (plan.changes.length > 0) lines.push(`  ${changeFigures(view)}`)
  const cached = cachedAnswersText(plan)
  // Of one zone, the first lines of the report have said it.
  if (cached !== null && views.filter((other) => other.plan.cachedAnswers !== undefined).length > 1) lines.push(`  ${cached}`)
  return lines
}

/** The changes that were not applied as planned: all failures, and the first skipped changes. */
function unappliedLines(view: ZoneView, options: ReportOptions): string[] {
  const palette = paletteOf(options.color)
  const rows = changeRows(view)
  const skipped = new Set(rows.filter(({ state }) => state === 'skipped').map(({ change }) => change))
  const left = new Set([...skipped].slice(SKIPPED_SHOWN))
  const shown = rows.filter(({ state, change }) => state !== 'applied' && !left.has(change))
  const lines = [titleLine(view, palette), ...rowLines(shown, options, palette)]
  if (left.size > 0) lines.push(palette.dim(`    and ${formatCount(left.size)} more skipped`))
  return lines.concat(readBackLines(view, options, palette))
}

const hasUnapplied = (view: ZoneView): boolean =>
  readBackText(view, false) !== null || (view.outcomes ?? []).some(({ state }) => state !== 'applied')

function titleLine(view: ZoneView, palette: Palette): string {
  const { plan } = view
  const state = zoneState(view)
  const figures = [...(state === null ? [] : [state]), recordFigures(view)].join(', ')
  return `${palette.bold(zoneTitle(plan))} ${palette.dim(`(${figures})`)}`
}

const rowLines = (rows: readonly ChangeRow[], { verbose, width }: ReportOptions, palette: Palette): string[] =>
  layoutRows(rows, {
    palette,
    width: verbose ? null : width,
    longestValue: verbose ? null : LONGEST_VALUE,
    calls: verbose,
    prefix,
  }).flat()

function readBackLines(view: ZoneView, { verbose }: ReportOptions, palette: Palette): string[] {
  const text = readBackText(view, verbose)
  return text === null ? [] : [`  ${view.readBack === 'equal' ? palette.dim(text) : palette.warning(text)}`]
}

const prefix = (marker: Marker): string => `  ${marker} `

function refusalLines({ name, message, allowed }: Refusal, palette: Palette): string[] {
  if (allowed) return [`  ${palette.warning(`allowed ${name}:`)} ${oneLine(message)}`]
  return [`  ${palette.error(`REFUSED ${name}:`)} ${oneLine(message)}`, `    to allow it: --allow ${name}`]
}

function diagnosticLines(diagnostics: readonly Diagnostic[], { color, verbose }: ReportOptions, indent: string): string[] {
  const palette = paletteOf(color)
  return groupDiagnostics(diagnostics, { all: verbose }).map(
    (diagnostic) => indent + palette[diagnostic.severity](formatDiagnostic(diagnostic)),
  )
}
