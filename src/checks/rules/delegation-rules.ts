/** Rules for delegations and DNAME records. */
import { type DomainName, isWildcard } from '../../dns/domain-name.ts'
import { targetName } from '../../dns/rdata/canonical.ts'
import { type DefinedRecord, groupRrsets } from '../../dns/record.ts'
import { type Finding, highestCut, type ZoneIndex } from './zone-index.ts'

/** Types that the parent holds at a zone cut (RFC 4035 sections 2.4 and 2.6). */
const AT_CUT: ReadonlySet<string> = new Set(['NS', 'DS', 'RRSIG', 'NSEC', 'TYPE46', 'TYPE47'])

/** Reports records at or below a zone cut, which only the child zone can answer, except glue (RFC 1034 section 4.2.1). */
export function* belowDelegation({ zone, delegations, byName, ofType }: ZoneIndex): Iterable<Finding> {
  if (delegations.size === 0) return
  const glue = new Set<DomainName | null>()
  for (const record of ofType('NS')) glue.add(targetName('NS', record.data))
  for (const [name, records] of byName) {
    const cut = highestCut(delegations, name, zone.name)
    if (!cut) continue
    for (const record of records) {
      if (name === cut.name && AT_CUT.has(record.type)) continue
      if ((record.type === 'A' || record.type === 'AAAA') && glue.has(name)) continue
      yield {
        message: `${record.name} ${record.type} is never answered: ${cut.name} is delegated to other servers`,
        at: record.at,
        hint: 'move it to the delegated zone, or remove the NS records',
        related: [{ message: `the delegation of ${cut.name}`, at: cut.at }],
      }
    }
  }
}

/** Reports records below a DNAME, which redirects all names below it (RFC 6672 section 2.4). */
export function* belowDname({ zone, redirections, byName }: ZoneIndex): Iterable<Finding> {
  if (redirections.size === 0) return
  for (const [name, [record]] of byName) {
    const dname = above(redirections, name, zone.name)
    if (!dname || !record) continue
    yield {
      message: `${record.name} ${record.type} is never answered: the DNAME at ${dname.name} redirects all names below it`,
      at: record.at,
      hint: 'remove the record, or replace the DNAME with records for single names',
      related: [{ message: `the DNAME at ${dname.name}`, at: dname.at }],
    }
  }
}

function above(cuts: ReadonlyMap<DomainName, DefinedRecord>, name: DomainName, zone: DomainName): DefinedRecord | undefined {
  const cut = highestCut(cuts, name, zone)
  return cut?.name === name ? undefined : cut
}

/** Reports NS records at a wildcard, whose meaning is undefined (RFC 4592 section 4.2). */
export function wildcardNs({ delegations }: ZoneIndex): Finding[] {
  return [...delegations.values()]
    .filter((ns) => isWildcard(ns.name))
    .map((ns) => ({
      message: `${ns.name} NS: a wildcard cannot delegate; servers give different answers`,
      at: ns.at,
      hint: 'add NS records for each name instead',
    }))
}

/** Reports DS records at the apex, or at a name without NS records (RFC 4035 section 2.4). */
export function* dsWithoutNs({ zone, ofType, delegations }: ZoneIndex): Iterable<Finding> {
  for (const [ds] of groupRrsets(ofType('DS')).values()) {
    if (ds === undefined || delegations.has(ds.name)) continue
    const [why, hint] =
      ds.name === zone.name
        ? ['the DS records of a zone belong in its parent zone', 'move them to the parent zone']
        : ['no NS records delegate the name', 'add the NS records, or remove the DS records']
    yield {
      message: `${ds.name} has DS records, but ${why}`,
      at: ds.at,
      hint,
    }
  }
}
