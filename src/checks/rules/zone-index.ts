import type { Diagnostic, Severity } from '../../base/diagnostic.ts'
import { append, groupBy } from '../../base/group-by.ts'
import { type DomainName, isAtOrBelow, parentOf } from '../../dns/domain-name.ts'
import { targetName } from '../../dns/rdata/canonical.ts'
import type { DefinedRecord } from '../../dns/record.ts'
import type { DesiredZone } from '../../dns/zone.ts'

/** What a rule or lint finds. It has the code of its rule, and the severity of its rule unless it states its own. */
export type Finding = Omit<Diagnostic, 'severity' | 'code'> & { readonly severity?: Severity }

/** Types whose target must have A or AAAA records itself, not a CNAME. */
export const HOST_TARGET: ReadonlySet<string> = new Set(['NS', 'MX', 'SRV'])

/** Types with a target that clients resolve. */
const RESOLVED_TARGET = [...HOST_TARGET, 'CNAME', 'ALIAS']

/** A record with a target that clients resolve. */
export interface RecordTarget {
  readonly record: DefinedRecord
  readonly target: DomainName
}

/** The records of a zone, indexed for the rules. */
export interface ZoneIndex {
  readonly zone: DesiredZone
  /** The record sets with more than one record. */
  readonly rrsets: readonly (readonly DefinedRecord[])[]
  readonly ofType: (type: string) => readonly DefinedRecord[]
  /** By type. */
  readonly targets: readonly RecordTarget[]
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
  const byType = new Map<string, DefinedRecord[]>()
  const cnames = new Map<DomainName, DefinedRecord>()
  const delegations = new Map<DomainName, DefinedRecord>()
  const redirections = new Map<DomainName, DefinedRecord>()
  for (const record of zone.records) {
    const { name, type } = record
    append(byName, name, record)
    append(byType, type, record)
    if (type === 'CNAME' && !cnames.has(name)) cnames.set(name, record)
    else if (type === 'NS' && name !== zone.name && !delegations.has(name)) delegations.set(name, record)
    else if (type === 'DNAME' && !redirections.has(name)) redirections.set(name, record)
  }
  const ofType: ZoneIndex['ofType'] = (type) => byType.get(type) ?? []
  let rrsets: DefinedRecord[][] | null = null
  let targets: ZoneIndex['targets'] | null = null
  return {
    zone,
    get rrsets() {
      if (rrsets !== null) return rrsets
      rrsets = []
      for (const records of byName.values())
        if (records.length > 1) for (const set of groupBy(records, ({ type }) => type).values()) if (set.length > 1) rrsets.push(set)
      return rrsets
    },
    ofType,
    get targets() {
      targets ??= RESOLVED_TARGET.flatMap((type) =>
        ofType(type).flatMap((record) => ({ record, target: targetName(type, record.data) as DomainName })),
      )
      return targets
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
