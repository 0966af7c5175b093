import type { ExistingZone, ZoneSettings } from '../../dns/zone.ts'
import type { Plan, ZonePlan } from '../../plan/plan.ts'
import type { PlanDocument, ZoneDocument } from '../../report/plan-document.ts'

/** What a target was when the plan was made. A plan is applied only where it still is that. */
export interface SavedTarget {
  /** The provider's name in the config. */
  readonly name: string
  readonly type: string
  /** Its base URL, or the address of its server. */
  readonly address: string
}

/** A zone's plan with the live state it was made from. */
export interface SavedZone {
  readonly plan: ZonePlan
  /** Null where the zone was not there; also for a zone without changes, whose state nobody needs. */
  readonly existing: ExistingZone | null
}

/** A plan as it was read from a file: whole, well-formed, and in agreement with itself. */
export interface SavedPlan {
  readonly plan: Plan
  readonly targets: readonly SavedTarget[]
  readonly zones: readonly SavedZone[]
  readonly signed: boolean
}

/** A record as the state holds it: identifier, owner, type, TTL in seconds, data. */
export type SavedRecord = readonly [id: number | string | null, name: string, type: string, ttl: number | null, data: string]

export interface SavedState {
  readonly id: number | string | null
  readonly settings: ZoneSettings
  readonly records: readonly SavedRecord[]
}

export interface SavedZoneDocument extends ZoneDocument {
  readonly state?: SavedState
}

/** The document of a plan with what binds it to its targets and to the state it was made from. */
export interface SavedPlanDocument extends PlanDocument {
  readonly checksum: string
  readonly signature?: string
  readonly targets: readonly SavedTarget[]
  readonly zones: readonly SavedZoneDocument[]
}
