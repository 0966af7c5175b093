/**
 * The steps of the conformance suite as data. A step is the whole desired content of the zone; the runner (`run-conformance.ts`) applies it, reads
 * the zone again and plans it to empty.
 */
import type { UnmanagedSelector } from '../dns/zone.ts'
import type { Capabilities } from '../plan/capabilities.ts'

/** One state of the zone. */
export interface ConformanceStep {
  readonly name: string
  /** The desired records as zone-file text, relative to the zone. Records without a TTL get 300 seconds. */
  readonly records: string
  /** Whether records without a TTL follow the zone's default instead. */
  readonly hasZoneTtl?: boolean | undefined
  readonly unmanaged?: readonly UnmanagedSelector[] | undefined
  /** The records of earlier steps that stay because a selector leaves them unmanaged. */
  readonly stays?: string | undefined
  /** Whether the plan must be empty. */
  readonly unchanged?: boolean | undefined
  /** The code of the error with which validation refuses the step; nothing is applied. */
  readonly refused?: string | undefined
  /** The number of records, if the step is about it. */
  readonly size?: number | undefined
}

/** Steps on one zone, which is emptied before the first. */
export interface ConformanceGroup {
  /** The number in the list of groups that `test/conformance/provider-test-groups.md` has; null for a group that is not in it. */
  readonly number: number | null
  readonly name: string
  /** Whether the steps contain the apex NS records. */
  readonly managesApexNs?: boolean | undefined
  /** A capability that single records do not show. The group is skipped without it. */
  readonly needs?: Need | undefined
  readonly steps: readonly ConformanceStep[]
}

/** A capability that a group needs, with words for the report. */
export interface Need {
  readonly what: string
  readonly isMet: (capabilities: Capabilities) => boolean
}

/** A step of lines of zone-file text. */
export const step = (name: string, ...lines: readonly string[]): ConformanceStep => ({ name, records: lines.join('\n') })

export const group = (
  number: number | null,
  name: string,
  steps: readonly ConformanceStep[],
  more: Pick<ConformanceGroup, 'managesApexNs' | 'needs'> = {},
): ConformanceGroup => ({ number, name, steps, ...more })
