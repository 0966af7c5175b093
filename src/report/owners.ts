/** Zones by owner. */
import { compareText } from '../dns/compare-text.ts'
import { oneLine } from '../dns/diagnostic.ts'
import { groupBy } from '../dns/group-by.ts'

export interface OwnerGroup<Zone> {
  /** Null for the zones that nobody owns. */
  readonly owner: string | null
  readonly zones: readonly Zone[]
}

/** The zones in groups by owner, in their order, those without an owner last. One group if no zone has an owner. */
export function groupByOwner<Zone>(zones: readonly Zone[], ownerOf: (zone: Zone) => string | null | undefined): OwnerGroup<Zone>[] {
  return [...groupBy(zones, (zone) => ownerOf(zone) ?? null)]
    .map(([owner, of]) => ({ owner, zones: of }))
    .sort((a, b) => (a.owner === null ? 1 : b.owner === null ? -1 : compareText(a.owner, b.owner)))
}

/** The heading of a group. */
export const ownerTitle = (owner: string | null): string => (owner === null ? 'No owner' : oneLine(owner))
