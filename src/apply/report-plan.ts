/** What a run reports of its plan besides the plan itself. */
import type { Diagnostic } from '../dns/diagnostic.ts'
import type { Plan } from '../plan/plan.ts'
import { isGithubReport, isTextReport, type RunSetup } from './run-context.ts'

/** Warnings and notices shown for a plan without changes, so that it stays short. */
const SHOWN_WITHOUT_CHANGES = 4

/** Reports the diagnostics of a plan that its report does not show: all for a text report, otherwise those that belong to no zone. */
export function reportPlanDiagnostics(context: RunSetup, plan: Plan): void {
  if (isGithubReport(context)) return
  const inZones = isTextReport(context) ? plan.zones.flatMap((zone) => zone.diagnostics) : []
  const isUnchanged = plan.zones.every((zone) => zone.changes.length === 0)
  context.output.diagnostics([...plan.diagnostics, ...inZones], isUnchanged ? { atMost: SHOWN_WITHOUT_CHANGES } : {})
}

/** Prints the document of a run that could not plan. A text report has none. */
export function reportEmptyPlan(context: RunSetup, diagnostics: readonly Diagnostic[]): void {
  const { now, tool, output, options } = context
  if (!isTextReport(context)) output.plan({ created: now().toISOString(), tool, zones: [], diagnostics }, options.format)
}
