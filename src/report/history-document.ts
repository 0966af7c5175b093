/** What runs did, for machines: the versioned document of `schemas/history.schema.json`. Its key order is fixed. */
import { compareDiagnostics, type Diagnostic } from '../dns/diagnostic.ts'
import type { CallCount, Plan, ZoneOutcome } from '../plan/plan.ts'
import { jsonText } from './json-text.ts'
import { type DiagnosticDocument, diagnosticDocument, type PlanDocument, planDocument } from './plan-document.ts'

/** One run as a reader sees it. Times are ISO 8601 in UTC. */
export interface RunView {
  readonly run: string
  readonly command: string
  /** Program and version. */
  readonly tool: string
  readonly process: number
  readonly host: string
  readonly began: string
  /** Null where the run has no end: it goes on, or it was killed. */
  readonly ended: string | null
  readonly milliseconds: number | null
  /** The exit status; null where the run has no end. */
  readonly status: number | null
  readonly state: 'applied' | 'failed' | 'partial' | 'interrupted' | 'running' | 'rolled-back'
  /** Of a rollback: the run it takes back. */
  readonly rollsBack: string | null
  readonly rolledBackBy: readonly string[]
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
  /** The plan and the outcomes of the only run. */
  readonly detail?: { readonly plan: Plan; readonly outcomes: readonly ZoneOutcome[] } | undefined
}

export interface HistoryDocument {
  readonly format: 'zonewright-history'
  readonly version: 1
  readonly runs: readonly RunView[]
  readonly plan?: PlanDocument
  readonly diagnostics: readonly DiagnosticDocument[]
}

export const historyDocument = ({ runs, diagnostics, detail }: History): HistoryDocument => ({
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
