import { append, groupBy } from '../../base/group-by.ts'
import { type DomainName, isAtOrBelow, parentOf } from '../../dns/domain-name.ts'
import type { DefinedRecord } from '../../dns/record.ts'
import type { DesiredZone } from '../../dns/zone.ts'

/** The records of a zone, indexed for the rules. */
export interface ZoneIndex {
  readonly zone: DesiredZone
  /** The records of each record set. */
  readonly rrsets: readonly (readonly DefinedRecord[])[]
  readonly byName: ReadonlyMap<DomainName, readonly DefinedRecord[]>
  /** The first CNAME of each name that has one. */
  readonly cnames: ReadonlyMap<DomainName, DefinedRecord>
  /** The first NS record of each zone cut: names below the apex with NS records (RFC 9499 section 7). */
  readonly delegations: ReadonlyMap<DomainName, DefinedRecord>
  /** The first DNAME of each name that has one. */
  readonly redirections: ReadonlyMap<DomainName, DefinedRecord>
}

export function indexZone(zone: DesiredZone): ZoneIndex {
  const byName = new Map<DomainName, DefinedRecord[]>()
  const cnames = new Map<DomainName, DefinedRecord>()
  const delegations = new Map<DomainName, DefinedRecord>()
  const redirections = new Map<DomainName, DefinedRecord>()
  for (const record of zone.records) {
    const { name, type } = record
    append(byName, name, record)
    if (type === 'CNAME' && !cnames.has(name)) cnames.set(name, record)
    else if (type === 'NS' && name !== zone.name && !delegations.has(name)) delegations.set(name, record)
    else if (type === 'DNAME' && !redirections.has(name)) redirections.set(name, record)
  }
  let rrsets: ZoneIndex['rrsets'] | null = null
  return {
    zone,
    // Grouped on first use: lints do not need the record sets.
    get rrsets() {
      rrsets ??= [...byName.values()].flatMap((records) =>
        records.length === 1 ? [records] : [...groupBy(records, ({ type }) => type).values()],
      )
      return rrsets
    },
    byName,
    cnames,
    delegations,
    redirections,
  }
}

/** The highest of `cuts` in the zone that is at `name` or above it: it hides the lower ones. Undefined if there is none. */
export function highestCut(cuts: ReadonlyMap<DomainName, DefinedRecord>, name: DomainName, zone: DomainName): DefinedRecord | undefined {
  if (cuts.size === 0 || !isAtOrBelow(name, zone)) return undefined
  let highest = cuts.get(zone)
  if (highest) return highest
  for (let at = name; at !== zone; at = parentOf(at)) highest = cuts.get(at) ?? highest
  return highest
}
