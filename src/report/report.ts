/** The data that reports show, and totals of it. */
import { type Diagnostic, formatDiagnostic, isError } from '../base/diagnostic.ts'
import { failure, ok, type Result } from '../base/result.ts'
import type { Action, Outcome, Plan, Refusal, ZoneOutcome, ZonePlan, ZoneRefusal } from '../plan/plan.ts'
import type { FromRoot } from './workflow-command.ts'

/** A plan, with its outcomes if it was applied. */
export interface Report {
  readonly plan: Plan
  /** Null if the plan was not applied. A zone that was not applied has no outcome. */
  readonly outcomes: readonly ZoneOutcome[] | null
}

/** A link; `url` begins with https: or http:. */
export interface PageLink {
  readonly text: string
  readonly url: string
}

export interface ReportOptions {
  readonly color: boolean
  /** The terminal's columns; null without a limit. */
  readonly width: number | null
  /** Shows everything: long data, zones without changes, identifiers. */
  readonly verbose: boolean
  /** Whether to include the diagnostics of the plan; true if absent. */
  readonly diagnostics?: boolean | undefined
  /** The program and its version, for reports without a plan: a plan names its own. */
  readonly tool?: string | undefined
  /** For HTML pages: the time of the report (ISO 8601, UTC), and links to the pages of the CI job. */
  readonly origin?: { readonly time: string; readonly links: readonly PageLink[] } | undefined
  /** For annotations: converts a file name to a path from the root of the repository. If absent, file names stay unchanged. */
  readonly fromRoot?: FromRoot | undefined
  /** Whether the reader has seen the plan. A text report then lists only changes that were not applied, unless it is verbose. */
  readonly planShown?: boolean | undefined
  /**
   * Maximum characters of a Markdown report; 60,000 if absent. If it is given, a report of few zones shows each zone in full or not at all. Otherwise the
   * last zone may be cut off.
   */
  readonly maxLength?: number | undefined
}

/** One zone of a report. */
export interface ZoneView {
  readonly plan: ZonePlan
  /** One per change; null for a plan that was not applied. */
  readonly outcomes: readonly Outcome[] | null
  readonly readBack: ZoneOutcome['readBack'] | null
  readonly diagnostics: readonly Diagnostic[]
}

/** The outcome of each change in a zone that was not applied. */
const outcomeIfNotApplied = ({ refused }: ZonePlan): Outcome => ({
  state: 'skipped',
  because: refused === undefined ? 'the zone was not applied' : REFUSED[refused],
})

const REFUSED: Readonly<Record<ZoneRefusal, string>> = {
  moved: 'the zone has changed since the plan was made',
  unread: 'the zone could not be read',
}

/** The zones of a report in the order of the plan, each with its outcome. */
export function zoneViews({ plan, outcomes }: Report): ZoneView[] {
  if (outcomes === null) return plan.zones.map((zone) => ({ plan: zone, outcomes: null, readBack: null, diagnostics: zone.diagnostics }))
  const byZone = new Map(outcomes.map((outcome) => [viewKey(outcome.plan), outcome]))
  return plan.zones.map((zone) => {
    const outcome = byZone.get(viewKey(zone))
    return {
      plan: zone,
      outcomes: zone.changes.map((_, index) => outcome?.outcomes[index] ?? outcomeIfNotApplied(zone)),
      readBack: outcome?.readBack ?? 'not-read',
      diagnostics: [...zone.diagnostics, ...(outcome?.diagnostics ?? [])],
    }
  })
}

const viewKey = ({ zone, target }: ZonePlan): string => `${zone} ${target}`

/** Totals over all zones. `create`, `update` and `delete` are numbers of calls, `unchanged` is a number of records. */
export interface Summary {
  readonly errors: number
  readonly refusedZones: number
  readonly create: number
  readonly update: number
  readonly delete: number
  readonly unchanged: number
  readonly zones: number
  readonly changedZones: number
  readonly calls: number
}

export function summarize(report: Report): Summary {
  const { plan } = report
  const diagnostics = [...plan.diagnostics, ...zoneViews(report).flatMap((view) => view.diagnostics)]
  const summary = {
    errors: diagnostics.filter(isError).length,
    refusedZones: plan.zones.filter((zone) => blockingRefusals(zone).length > 0).length,
    create: 0,
    update: 0,
    delete: 0,
    unchanged: 0,
    zones: plan.zones.length,
    changedZones: 0,
    calls: 0,
  }
  for (const { calls, records, changes } of plan.zones) {
    summary.create += calls.create
    summary.update += calls.update
    summary.delete += calls.delete
    summary.calls += calls.total
    summary.unchanged += records.unchanged
    if (changes.length > 0) summary.changedZones += 1
  }
  return summary
}

/** The refusals that neither `--allow` nor the config lifts. */
export const blockingRefusals = (zone: ZonePlan): Refusal[] => zone.refusals.filter(({ allowed }) => !allowed)

/** The outcomes over all zones. */
export interface OutcomeSummary {
  /** `total` is the number of changes, `calls` is the number of calls that made them. */
  readonly applied: Readonly<Record<Action, number>> & { readonly total: number; readonly calls: number; readonly zones: number }
  readonly failed: number
  readonly skipped: number
  readonly unknown: number
}

export function summarizeOutcomes(views: readonly ZoneView[]): OutcomeSummary {
  const applied = { create: 0, update: 0, delete: 0, total: 0, calls: 0, zones: 0 }
  const others = { failed: 0, skipped: 0, unknown: 0 }
  for (const { plan, outcomes } of views) {
    const calls = new Set<number>()
    plan.changes.forEach(({ action, call }, index) => {
      const state = outcomes?.[index]?.state
      if (state === 'applied') {
        applied[action] += 1
        applied.total += 1
        calls.add(call)
      } else if (state !== undefined) others[state] += 1
    })
    applied.calls += calls.size
    if (calls.size > 0) applied.zones += 1
  }
  return { applied, ...others }
}

// Merges the reports of shards into one.

/** Merges zones, sorted as in a plan, and diagnostics without a zone, each once. Fails if two reports have the same zone at the same target. */
export function mergeReports(reports: readonly Report[]): Result<Report> {
  const zones = reports.flatMap(({ plan }) => plan.zones)
  const seen = new Set<string>()
  for (const { zone, target } of zones) {
    if (seen.has(`${zone} ${target}`)) return failure(`two of the reports have ${zone} at ${target}`)
    seen.add(`${zone} ${target}`)
  }
  const diagnostics = new Map(reports.flatMap(({ plan }) => plan.diagnostics.map((one) => [formatDiagnostic(one), one])))
  const [first] = [...reports].sort((a, b) => (a.plan.created < b.plan.created ? -1 : 1))
  if (first === undefined) return failure('there is no report')
  const order = (zone: string, target: string): string => `${zone} ${target}`
  const plan = {
    ...first.plan,
    zones: zones.sort((a, b) => (order(a.zone, a.target) < order(b.zone, b.target) ? -1 : 1)),
    diagnostics: [...diagnostics.values()],
    // Each job makes its own report, and an error in one job does not stop the others.
    ...(reports.length > 1 && { keepsGoing: true as const }),
  }
  // A job that applied nothing has a report without outcomes.
  const isApplied = reports.some(({ outcomes }) => outcomes !== null)
  return ok({ plan, outcomes: isApplied ? reports.flatMap(({ outcomes }) => outcomes ?? []) : null })
}
