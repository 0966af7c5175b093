import type { Diagnostic } from '../dns/diagnostic.ts'
import type { DomainName } from '../dns/domain-name.ts'
import type { RefusalName, UnmanagedSelector } from '../dns/zone.ts'
import type { Change } from './change.ts'

/** A safety limit that stands against a plan, by the name that lifts it. */
export interface Refusal {
  readonly name: RefusalName
  readonly message: string
  /** Lifted, by `--allow` or in the config: the plan may be applied all the same. */
  readonly allowed: boolean
}

/** How the provider's last rendered zone file compares with its records: it lags behind them, says something else, or cannot be had. */
export type RenderedState = 'match' | 'stale' | 'differs' | 'unavailable'

/** What one target needs to hold one zone as its definition wants it. */
export interface ZonePlan {
  readonly zone: DomainName
  /** The provider's name in the config. */
  readonly target: string
  /** Whether the zone is there already. */
  readonly exists: boolean
  /** `sha256:…` over the live state the plan was made from, but for records that are left to others. */
  readonly fingerprint: string
  /** Which records are left to others: they may come and go between plan and apply. Absent where none are. */
  readonly unmanaged?: readonly UnmanagedSelector[] | undefined
  readonly records: {
    readonly existing: number
    readonly desired: number
    readonly unchanged: number
    readonly unmanaged: number
    /** Records the target holds in one zone; null without a limit. */
    readonly limit: number | null
  }
  readonly changes: readonly Change[]
  readonly calls: CallCount
  readonly refusals: readonly Refusal[]
  readonly rendered: RenderedState
  readonly diagnostics: readonly Diagnostic[]
}

export interface CallCount {
  /** Changes by what they do. */
  readonly create: number
  readonly update: number
  readonly delete: number
  /** Calls the target needs for them, fewer where one call carries several. */
  readonly total: number
}

/** Plans of all zones of a run, and the diagnostics that are of no single zone. */
export interface Plan {
  /** ISO 8601, UTC. */
  readonly created: string
  /** Program and version that made it. */
  readonly tool: string
  readonly zones: readonly ZonePlan[]
  readonly diagnostics: readonly Diagnostic[]
}

/** What became of one change. */
export type Outcome =
  | { readonly state: 'applied'; readonly id?: number | string | undefined }
  | { readonly state: 'failed'; readonly error: string }
  | { readonly state: 'skipped'; readonly because: string }
  /** The call went out and no answer came: it may have been done. */
  | { readonly state: 'unknown'; readonly error: string }

/** A zone's plan after it was applied: one outcome a change, in the same order. */
export interface ZoneOutcome {
  readonly plan: ZonePlan
  readonly outcomes: readonly Outcome[]
  /** What was found when the records were read again: equal to the plan, different, or not read because nothing was applied. */
  readonly readBack: 'equal' | 'different' | 'not-read'
  readonly diagnostics: readonly Diagnostic[]
}
