/** A report for a terminal: zones with their changes, refusals and diagnostics, and one line that sums up. */
import { compareDiagnostics, type Diagnostic, formatDiagnostic, oneLine } from '../model/diagnostic.ts'
import type { Refusal } from '../plan/plan.ts'
import { changeRows, type Marker, type RecordRow } from './change-rows.ts'
import { type Palette, paletteOf } from './palette.ts'
import { type Report, type ReportOptions, type ZoneView, zoneViews } from './report.ts'
import { layoutRows } from './row-layout.ts'
import { summaryLine } from './summary-line.ts'
import { callFigures, isNotable, readBackText, recordFigures, renderedText, zoneState, zoneTitle } from './zone-head.ts'

/** Characters of one value on a line without a terminal's width. */
const LONGEST_VALUE = 400

export function renderText(report: Report, options: ReportOptions): string {
  const palette = paletteOf(options.color)
  const lines: string[] = []
  if (options.diagnostics !== false && report.plan.diagnostics.length > 0)
    lines.push(...diagnosticLines(report.plan.diagnostics, palette, ''), '')
  for (const view of zoneViews(report)) {
    if (!options.verbose && !isNotable(view)) continue
    for (const line of zoneLines(view, options)) lines.push(line)
    lines.push('')
  }
  lines.push(palette.bold(summaryLine(report)))
  return `${lines.join('\n')}\n`
}

/** The lines of one zone, its name first. */
export function zoneLines(view: ZoneView, options: ReportOptions): string[] {
  const palette = paletteOf(options.color)
  const { plan } = view
  const state = zoneState(plan)
  const figures = [...(state === null ? [] : [state]), recordFigures(plan)].join(', ')
  const lines = [`${palette.bold(zoneTitle(plan))} ${palette.dim(`(${figures})`)}`]
  if (plan.changes.length === 0) lines.push(palette.dim('  no changes'))
  else {
    const style = {
      palette,
      width: options.verbose ? null : options.width,
      longestValue: options.verbose ? null : LONGEST_VALUE,
      identifiers: options.verbose,
      prefix,
    }
    for (const group of layoutRows(changeRows(view), style)) for (const line of group) lines.push(line)
  }
  for (const refusal of plan.refusals) lines.push(...refusalLines(refusal, palette))
  if (options.diagnostics !== false) lines.push(...diagnosticLines(view.diagnostics, palette, '  '))
  const rendered = renderedText(plan, options.verbose)
  if (rendered !== null) lines.push(`  ${plan.rendered === 'differs' ? palette.warning(rendered) : palette.dim(rendered)}`)
  const readBack = readBackText(view, options.verbose)
  if (readBack !== null) lines.push(`  ${view.readBack === 'equal' ? palette.dim(readBack) : palette.warning(readBack)}`)
  if (plan.changes.length > 0 && view.outcomes === null) lines.push(`  ${callFigures(plan)}`)
  return lines
}

const JOINTS = { out: '┌ ', in: '└ ' } as const

const prefix = (marker: Marker, joint: RecordRow['joint']): string => `  ${joint === null ? '  ' : JOINTS[joint]}${marker} `

function refusalLines({ name, message, allowed }: Refusal, palette: Palette): string[] {
  if (allowed) return [`  ${palette.warning(`allowed ${name}:`)} ${oneLine(message)}`]
  return [`  ${palette.error(`REFUSED ${name}:`)} ${oneLine(message)}`, `    to allow it: --allow ${name}`]
}

function diagnosticLines(diagnostics: readonly Diagnostic[], palette: Palette, indent: string): string[] {
  return [...diagnostics].sort(compareDiagnostics).map((diagnostic) => indent + palette[diagnostic.severity](formatDiagnostic(diagnostic)))
}
