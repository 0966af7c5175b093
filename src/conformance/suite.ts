/**
 * The conformance suite as data: groups of steps that every provider runs. A step is the whole desired content of the zone; the runner
 * (`run-conformance.ts`) applies it, reads the zone again and plans it to empty.
 */
import type { UnmanagedSelector } from '../dns/zone.ts'
import type { Capabilities } from '../plan/capabilities.ts'
import { BASIC_GROUPS } from './groups/basic.ts'
import { NAME_GROUPS } from './groups/names.ts'
import { SIZE_GROUPS } from './groups/sizes.ts'
import { TEXT_GROUPS } from './groups/texts.ts'
import { TYPE_GROUPS } from './groups/types.ts'
import { UNMANAGED_GROUPS } from './groups/unmanaged.ts'
import { VENDOR_GROUPS } from './groups/vendors.ts'

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

/** All groups: those of the list in its order, then the others. */
export const CONFORMANCE_SUITE: readonly ConformanceGroup[] = [
  ...BASIC_GROUPS,
  ...TEXT_GROUPS,
  ...NAME_GROUPS,
  ...TYPE_GROUPS,
  ...UNMANAGED_GROUPS,
  ...VENDOR_GROUPS,
  ...SIZE_GROUPS,
].toSorted((a, b) => (a.number ?? Number.POSITIVE_INFINITY) - (b.number ?? Number.POSITIVE_INFINITY))
