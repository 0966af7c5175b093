import type { Diagnostic } from '../../dns/diagnostic.ts'
import { type DomainName, isWildcard } from '../../dns/domain-name.ts'
import { targetName } from '../../dns/rdata/canonical.ts'
import type { DefinedRecord } from '../../dns/record.ts'
import { highestCut, type ZoneIndex } from './zone-index.ts'

/** What the parent side of a zone cut holds at the cut itself (RFC 4035 sections 2.4 and 2.6). */
const AT_CUT: ReadonlySet<string> = new Set(['NS', 'DS', 'RRSIG', 'NSEC', 'TYPE46', 'TYPE47'])

/** Records at or below a zone cut are the child's to answer; here they are hidden, but for glue (RFC 1034 section 4.2.1). */
export function belowDelegation({ zone, delegations, byName }: ZoneIndex): Diagnostic[] {
  if (delegations.size === 0) return []
  const glue = new Set<DomainName | null>()
  for (const record of zone.records) if (record.type === 'NS') glue.add(targetName('NS', record.data))
  const diagnostics: Diagnostic[] = []
  for (const [name, records] of byName) {
    const cut = highestCut(delegations, name, zone.name)
    if (!cut) continue
    for (const record of records) {
      if (name === cut.name && AT_CUT.has(record.type)) continue
      if ((record.type === 'A' || record.type === 'AAAA') && glue.has(name)) continue
      diagnostics.push({
        severity: 'warning',
        code: 'below-delegation',
        message: `${record.name} ${record.type} is hidden: ${cut.name} is delegated to other servers`,
        at: record.at,
        hint: 'move it to the delegated zone, or remove the NS records',
        related: [{ message: `the delegation of ${cut.name}`, at: cut.at }],
      })
    }
  }
  return diagnostics
}

/** Names below a DNAME are redirected, so no records stand there (RFC 6672 section 2.4). */
export function belowDname({ zone, redirections, byName }: ZoneIndex): Diagnostic[] {
  if (redirections.size === 0) return []
  const diagnostics: Diagnostic[] = []
  for (const [name, [record]] of byName) {
    const dname = above(redirections, name, zone.name)
    if (!dname || !record) continue
    diagnostics.push({
      severity: 'warning',
      code: 'below-dname',
      message: `${record.name} ${record.type} is hidden: the DNAME at ${dname.name} redirects all names below it`,
      at: record.at,
      related: [{ message: `the DNAME at ${dname.name}`, at: dname.at }],
    })
  }
  return diagnostics
}

function above(cuts: ReadonlyMap<DomainName, DefinedRecord>, name: DomainName, zone: DomainName): DefinedRecord | undefined {
  const cut = highestCut(cuts, name, zone)
  return cut?.name === name ? undefined : cut
}

/** What NS records at a wildcard mean is undefined (RFC 4592 section 4.2). */
export function wildcardNs({ delegations }: ZoneIndex): Diagnostic[] {
  return [...delegations.values()]
    .filter((ns) => isWildcard(ns.name))
    .map((ns) => ({
      severity: 'warning',
      code: 'wildcard-ns',
      message: `${ns.name} has NS records; a wildcard cannot delegate, and servers differ in what they answer`,
      at: ns.at,
      hint: 'delegate each name by itself',
    }))
}

/** DS records speak of a delegation at the same name, and never of the apex (RFC 4035 section 2.4). */
export function dsWithoutNs({ zone, rrsets, delegations }: ZoneIndex): Diagnostic[] {
  const diagnostics: Diagnostic[] = []
  for (const [ds] of rrsets.values()) {
    if (ds?.type !== 'DS' || delegations.has(ds.name)) continue
    const why = ds.name === zone.name ? 'the DS records of a zone stand in its parent' : 'there are no NS records to delegate the name'
    diagnostics.push({
      severity: 'warning',
      code: 'ds-without-ns',
      message: `${ds.name} has DS records, but ${why}`,
      at: ds.at,
    })
  }
  return diagnostics
}
