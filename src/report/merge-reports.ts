/** Merges the reports of shards into one. */
import { formatDiagnostic } from '../dns/diagnostic.ts'
import { failure, ok, type Result } from '../dns/result.ts'
import type { Report } from './report.ts'

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
