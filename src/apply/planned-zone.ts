/** A zone with its plan, which each step of a run takes and returns. The plan of all zones is derived from them for views and files. */
import { type Diagnostic, hasErrors } from '../dns/diagnostic.ts'
import type { Allowance, DesiredZone, ExistingZone, Policy } from '../dns/zone.ts'
import type { Preference } from '../plan/continuity.ts'
import type { Plan, ZonePlan } from '../plan/plan.ts'
import type { SafetyThresholds } from '../plan/safety-limits.ts'
import type { StoredTtls } from '../plan/stored-ttls.ts'

/** One zone at one target: the unit that a run plans, applies or verifies. */
export interface ZoneJob {
  readonly desired: DesiredZone
  /** The provider's name in the config. */
  readonly target: string
  /** The names of all targets of the zone; only that one if absent. */
  readonly targets?: readonly string[] | undefined
  readonly policy: Policy
  /** Who is responsible for the zone; null if its rule names nobody, absent if it has no definition. */
  readonly owner?: string | null | undefined
  readonly thresholds: SafetyThresholds
  /** Whether continuity or fewest calls matters more if they exclude each other; continuity if absent. */
  readonly prefer?: Preference | undefined
  readonly allow: ReadonlySet<Allowance>
  /** The name servers that `verify` queries; those of the NS records if null or absent. */
  readonly nameservers?: readonly string[] | null | undefined
  /** Whether the zone is deleted because its definition was removed; false if absent. It is no part of the plan if it does not exist. */
  readonly isRemoved?: boolean | undefined
  /** Whether the desired zone has only what changes, so that its plan does not name the records that it leaves; false if absent. */
  readonly isPartial?: boolean | undefined
  /** TTLs that the target has replaced by others in earlier runs; absent if there are none. */
  readonly storedTtls?: StoredTtls | undefined
}

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

export const hasChanges = ({ plan }: PlannedZone): boolean => plan.changes.length > 0

/** Whether a plan may be applied: it has no error, and every refusal was lifted. */
export const mayApply = (plan: ZonePlan): boolean => !hasErrors(plan.diagnostics) && plan.refusals.every((refusal) => refusal.allowed)
