/** The content of a report, and its totals. */
import { type Diagnostic, formatDiagnostic, isError } from '../base/diagnostic.ts'
import { failure, ok, type Result } from '../base/result.ts'
import type { Action, Outcome, Plan, Refusal, ZoneOutcome, ZonePlan, ZoneRefusal } from '../plan/plan.ts'
import type { FromRoot } from './workflow-command.ts'

/** A plan, with its outcomes if it was applied. */
export interface Report {
  readonly plan: Plan
  /** Null for a plan that was not applied. A zone without an outcome was not applied. */
  readonly outcomes: readonly ZoneOutcome[] | null
}

/** A link to an address that begins with https: or http:. */
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
  /** The program and its version. A plan has its own. */
  readonly tool?: string | undefined
  /** When the report is made (ISO 8601, UTC), and what for, for HTML pages. */
  readonly origin?: { readonly time: string; readonly links: readonly PageLink[] } | undefined
  /** Names a file from the root of the repository, for annotations; file names are unchanged if absent. */
  readonly fromRoot?: FromRoot | undefined
  /** Whether the reader has seen the plan. A text report then lists only changes that were not applied, unless it is verbose. */
  readonly planShown?: boolean | undefined
  /** Maximum characters of a Markdown report, which then shows each of a few zones in full or not at all; 60,000 if absent, and the last zone is cut. */
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

/** The outcome of the changes of a zone that was not applied. */
const notRun = ({ refused }: ZonePlan): Outcome => ({
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
      outcomes: zone.changes.map((_, index) => outcome?.outcomes[index] ?? notRun(zone)),
      readBack: outcome?.readBack ?? 'not-read',
      diagnostics: [...zone.diagnostics, ...(outcome?.diagnostics ?? [])],
    }
  })
}

const viewKey = ({ zone, target }: ZonePlan): string => `${zone} ${target}`

/** Totals over all zones. `unchanged` is a number of records. */
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

/** The refusals that are not lifted. */
export const blockingRefusals = (zone: ZonePlan): Refusal[] => zone.refusals.filter(({ allowed }) => !allowed)

/** The outcomes over all zones. */
export interface OutcomeSummary {
  /** `total` counts changes, `calls` the calls that carried them. */
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

/** The zones of all reports, sorted as in a plan, and what belongs to no zone, once. Fails if two reports have the same zone at the same target. */
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
    // An error of one job does not stop the others.
    ...(reports.length > 1 && { keepsGoing: true as const }),
  }
  // A report without outcomes among others is of a job that applied nothing.
  const isApplied = reports.some(({ outcomes }) => outcomes !== null)
  return ok({ plan, outcomes: isApplied ? reports.flatMap(({ outcomes }) => outcomes ?? []) : null })
}
