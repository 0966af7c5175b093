/** Past runs, as the versioned document of `schemas/history.schema.json` and as text. The key order of the document is fixed. */
import { compareDiagnostics, type Diagnostic, oneLine } from '../base/diagnostic.ts'
import { counted, formatCount } from '../base/english.ts'
import { jsonText } from '../base/text.ts'
import type { CallCount, Plan, ZoneOutcome } from '../plan/plan.ts'
import { type Paint, type Palette, paletteOf } from './palette.ts'
import { type DiagnosticDocument, diagnosticDocument, type PlanDocument, planDocument } from './plan-document.ts'
import type { ReportOptions } from './report.ts'
import { renderText } from './text-report.ts'

/** A run as reports show it. Times are ISO 8601 in UTC. */
export interface RunView {
  readonly run: string
  readonly command: string
  /** The program and its version. */
  readonly tool: string
  readonly process: number
  readonly host: string
  readonly began: string
  /** Null if the run is still running or was killed. */
  readonly ended: string | null
  readonly milliseconds: number | null
  /** The exit status; null if the run has not ended. */
  readonly status: number | null
  readonly state: 'applied' | 'failed' | 'partial' | 'interrupted' | 'running' | 'rolled-back'
  /** The run that this rollback reverts; null if it is no rollback. */
  readonly rollsBack: string | null
  readonly rolledBackBy: readonly string[]
  /** The people who had approved the saved plan. */
  readonly approvedBy: readonly string[]
  readonly zones: readonly { readonly zone: string; readonly target: string; readonly calls: CallCount }[]
  readonly applied: CallCount
  readonly failed: number
  readonly skipped: number
  readonly unknown: number
}

export interface History {
  /** The latest first. */
  readonly runs: readonly RunView[]
  readonly diagnostics: readonly Diagnostic[]
  /** The plan and the outcomes, if one run is shown. */
  readonly detail?: { readonly plan: Plan; readonly outcomes: readonly ZoneOutcome[] } | undefined
}

export interface HistoryDocument {
  readonly format: 'zonewright-history'
  readonly version: 1
  readonly runs: readonly RunView[]
  readonly plan?: PlanDocument
  readonly diagnostics: readonly DiagnosticDocument[]
}

const historyDocument = ({ runs, diagnostics, detail }: History): HistoryDocument => ({
  format: 'zonewright-history',
  version: 1,
  runs: runs.map(runDocument),
  ...(detail === undefined ? {} : { plan: planDocument(detail.plan, detail.outcomes) }),
  diagnostics: [...diagnostics].sort(compareDiagnostics).map(diagnosticDocument),
})

export const renderHistoryJson = (history: History): string => jsonText(historyDocument(history))

const runDocument = (view: RunView): RunView => ({
  run: view.run,
  command: view.command,
  tool: view.tool,
  process: view.process,
  host: view.host,
  began: view.began,
  ended: view.ended,
  milliseconds: view.milliseconds,
  status: view.status,
  state: view.state,
  rollsBack: view.rollsBack,
  rolledBackBy: [...view.rolledBackBy],
  approvedBy: [...view.approvedBy],
  zones: view.zones.map(({ zone, target, calls }) => ({ zone, target, calls: callsDocument(calls) })),
  applied: callsDocument(view.applied),
  failed: view.failed,
  skipped: view.skipped,
  unknown: view.unknown,
})

const callsDocument = (calls: CallCount): CallCount => ({
  create: calls.create,
  update: calls.update,
  delete: calls.delete,
  total: calls.total,
})

/** Renders a list of runs, two lines each, of which the first fits 80 columns; or one run with its plan and outcomes. */
export function renderHistoryText({ runs, detail }: History, options: ReportOptions): string {
  const palette = paletteOf(options.color)
  if (detail !== undefined) return `${runs.map((run) => headOf(run, palette)).join('')}\n${renderText(detail, options)}`
  if (runs.length === 0) return 'No runs.\n'
  const rows = runs.map((run) => [run.run, shortTime(run.began), duration(run), run.command, run.state])
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...rows.map((row) => (row[column] as string).length)))
  const lines = rows.map((row, index) => {
    const run = runs[index] as RunView
    const cells = row.map((cell, column) => (column === 2 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
    cells[4] = paintOf(run.state, palette)(run.state)
    return `${cells.join('  ')}\n  ${did(run)}${options.verbose ? palette.dim(`, by ${oneLine(run.tool)}`) : ''}`
  })
  return `${lines.join('\n')}\n`
}

/** `2026-11-23 14:05:10Z` of a time in ISO 8601. */
export const shortTime = (time: string): string => time.replace('T', ' ').replace(/\.[0-9]+Z$/, 'Z')

/** `350 ms`, `1.2 s`, `12 s`, `3 min 20 s`; empty for a run that has not ended. */
function duration({ milliseconds }: RunView): string {
  if (milliseconds === null) return ''
  if (milliseconds < 1000) return `${milliseconds} ms`
  if (milliseconds < 9950) return `${(milliseconds / 1000).toFixed(1)} s`
  const seconds = Math.round(milliseconds / 1000)
  return seconds < 60 ? `${seconds} s` : `${formatCount(Math.floor(seconds / 60))} min ${seconds % 60} s`
}

const paintOf = (state: RunView['state'], palette: Palette): Paint => {
  if (state === 'applied') return palette.added
  if (state === 'rolled-back' || state === 'running') return palette.notice
  return state === 'interrupted' ? palette.warning : palette.error
}

/** `1 created, 2 deleted; 1 failed in example.com. at cloud`. */
function did(run: RunView): string {
  const { zones, rollsBack } = run
  const [first] = zones
  const more = zones.length > 1 ? ` and ${counted(zones.length - 1, 'more zone')}` : ''
  const where = first === undefined ? '' : ` in ${oneLine(first.zone)} at ${oneLine(first.target)}${more}`
  const holder = run.state === 'running' ? `, process ${run.process} on ${oneLine(run.host)}` : ''
  return `${figures(run)}${where}${rollsBack === null ? '' : `, rolling back ${rollsBack}`}${holder}`
}

function figures({ applied, failed, skipped, unknown }: RunView): string {
  const part = (count: number, word: string): string[] => (count === 0 ? [] : [`${formatCount(count)} ${word}`])
  const done = [...part(applied.create, 'created'), ...part(applied.update, 'updated'), ...part(applied.delete, 'deleted')].join(', ')
  const rest = [...part(failed, 'failed'), ...part(skipped, 'skipped'), ...part(unknown, 'unknown')].join(', ')
  return [done === '' ? 'nothing done' : done, ...(rest === '' ? [] : [rest])].join('; ')
}

function headOf(run: RunView, palette: Palette): string {
  const took = duration(run)
  const end =
    run.ended === null
      ? run.state === 'running'
        ? 'not yet'
        : 'unknown: the process vanished'
      : `${shortTime(run.ended)}, after ${took}, with exit status ${run.status}`
  const rows: [string, string][] = [
    ['command', run.rollsBack === null ? run.command : `${run.command} of run ${run.rollsBack}`],
    ['by', `${oneLine(run.tool)}, process ${run.process} on ${oneLine(run.host)}`],
    ...(run.approvedBy.length === 0 ? [] : [['approved by', run.approvedBy.map(oneLine).join(', ')] as [string, string]]),
    ['began', shortTime(run.began)],
    ['ended', end],
    ['state', paintOf(run.state, palette)(run.state)],
    ['done', figures(run)],
    ...(run.rolledBackBy.length === 0 ? [] : [['rolled back by', run.rolledBackBy.join(', ')] as [string, string]]),
  ]
  const width = Math.max(...rows.map(([key]) => key.length))
  return `${palette.bold(`Run ${run.run}`)}\n${rows.map(([key, value]) => `  ${palette.dim(key.padEnd(width))}  ${value}\n`).join('')}`
}
