/** A zone with its plan, which each step of a run takes and returns. The plan of all zones is derived from them for views and files. */
import { type Diagnostic, hasErrors, isError } from '../dns/diagnostic.ts'
import type { ExistingZone } from '../dns/zone.ts'
import type { Plan, ZonePlan } from '../plan/plan.ts'
import { EXIT, statusOfPlan } from './exit-status.ts'
import type { Workspace, ZoneJob } from './run-context.ts'

export interface PlannedZone {
  /** Absent for a zone without a definition, such as one of a saved plan. */
  readonly job?: ZoneJob | undefined
  /** The zone before the changes; null if it does not exist. In a saved plan also null if nothing changes. */
  readonly existing: ExistingZone | null
  readonly plan: ZonePlan
}

/** The zones of a run, and what belongs to none of them. */
export interface PlannedZones<Zone extends PlannedZone = PlannedZone> extends Omit<Plan, 'zones'> {
  readonly zones: readonly Zone[]
}

/** The plan of all zones, for views and files. */
export const planOf = ({ created, tool, zones, diagnostics, snapshot, base, keepsGoing }: PlannedZones): Plan => ({
  created,
  tool,
  zones: zones.map(({ plan }) => plan),
  diagnostics,
  snapshot,
  base,
  keepsGoing,
})

/** The zone, or what belongs to no zone, with more diagnostics. */
export const withDiagnostics = <Planned extends { readonly diagnostics: readonly Diagnostic[] }>(
  planned: Planned,
  found: readonly Diagnostic[],
): Planned => (found.length === 0 ? planned : { ...planned, diagnostics: [...planned.diagnostics, ...found] })

/** The zone with more diagnostics in its plan. */
export const withZoneDiagnostics = <Zone extends PlannedZone>(zone: Zone, found: readonly Diagnostic[]): Zone =>
  found.length === 0 ? zone : { ...zone, plan: withDiagnostics(zone.plan, found) }

/** The plan with the errors of what the run leaves out, as reports show it. They do not keep the plan from being applied. */
export function withLeftOut<Planned extends PlannedZones>(planned: Planned, { leftOut = [] }: Pick<Workspace, 'leftOut'>): Planned {
  const keepsGoing = leftOut.some(isError) && statusOfPlan(planOf(planned)) === EXIT.done
  return { ...withDiagnostics(planned, leftOut), ...(keepsGoing && { keepsGoing }) }
}

export const hasChanges = ({ plan }: PlannedZone): boolean => plan.changes.length > 0

/** Whether a plan may be applied: it has no error, and every refusal was lifted. */
export const mayApply = (plan: ZonePlan): boolean => !hasErrors(plan.diagnostics) && plan.refusals.every((refusal) => refusal.allowed)
