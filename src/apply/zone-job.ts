import type { DesiredZone, Policy, RefusalName } from '../dns/zone.ts'
import type { Preference } from '../plan/break-cycles.ts'
import type { SafetyThresholds } from '../plan/safety-limits.ts'

/** One zone at one target: what a run plans, applies or verifies. */
export interface ZoneJob {
  readonly desired: DesiredZone
  /** The provider's name in the config. */
  readonly target: string
  readonly policy: Policy
  readonly thresholds: SafetyThresholds
  /** What comes first where fewest calls and no interruption cannot both be had; continuity where absent. */
  readonly prefer?: Preference | undefined
  readonly allow: ReadonlySet<RefusalName>
}

/** How far a run has come. */
export interface Progress {
  readonly phase: 'reading' | 'applying' | 'asking'
  readonly done: number
  readonly total: number
}

export type OnProgress = (progress: Progress) => void
