/** The lint for delegations to name servers whose addresses no resolver can find. */
import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { append } from '../../dns/group-by.ts'
import { targetName } from '../../dns/rdata/canonical.ts'
import { type DefinedRecord, rrsetKey } from '../../dns/record.ts'
import { openTest } from '../rules/existing-names.ts'
import { highestCut, type ZoneIndex } from '../rules/zone-index.ts'
import type { LintedZone, ManagedNames } from './managed-names.ts'

/** A name server of a delegation that only an answer from below a delegation of the same zone can locate. */
interface Unlocated {
  readonly record: DefinedRecord
  readonly server: DomainName
  /** The delegation that the server is below. */
  readonly below: DomainName
}

const ADDRESSES: ReadonlySet<string> = new Set(['A', 'AAAA'])

/**
 * Reports name servers below their own delegation without an address in the zone (RFC 9471 section 3.1), and those below another delegation of the zone if
 * the two need each other, so that resolvers reach neither (RFC 9471 section 2.3).
 */
export const glueMissing =
  ({ indexOf, hasAll }: ManagedNames) =>
  (linted: LintedZone): Diagnostic[] => {
    const index = indexOf(linted)
    if (index.delegations.size === 0 || !hasAll(linted)) return []
    const unlocated = unlocatedServers(index)
    if (unlocated.size === 0) return []
    const isReachable = reachabilityTest(index, unlocated)
    return [...unlocated].flatMap(([cut, servers]) =>
      servers
        .filter(({ below }) => below === cut || !isReachable(cut))
        .map(({ record, server }) => missingGlue(record, server, index.zone.name)),
    )
  }

const missingGlue = (record: DefinedRecord, server: DomainName, zone: DomainName): Diagnostic => ({
  severity: 'warning',
  code: 'glue-missing',
  message: `${record.name} NS: the name server ${server} has no address in ${zone}, so resolvers cannot find it`,
  at: record.at,
  hint: `add its addresses, such as '${server} A 192.0.2.1', beside the NS record`,
})

const nameServers = (cut: DomainName, { rrsets }: ZoneIndex): readonly DefinedRecord[] =>
  rrsets.get(rrsetKey({ name: cut, type: 'NS' })) ?? []

/** By delegation. Delegations below others are never answered, which is `below-delegation`. */
function unlocatedServers(index: ZoneIndex): ReadonlyMap<DomainName, readonly Unlocated[]> {
  const { zone, delegations, rrsets } = index
  const isOpen = openTest({ ...index, delegations: new Map() })
  const isLocated = (server: DomainName): boolean =>
    [...ADDRESSES].some((type) => rrsets.has(rrsetKey({ name: server, type }))) || isOpen(server, ADDRESSES)
  const found = new Map<DomainName, Unlocated[]>()
  for (const cut of delegations.keys()) {
    if (highestCut(delegations, cut, zone.name)?.name !== cut) continue
    const servers = nameServers(cut, index).flatMap((record): Unlocated[] => {
      const server = targetName('NS', record.data)
      const below = server === null ? undefined : highestCut(delegations, server, zone.name)?.name
      return server === null || below === undefined || isLocated(server) ? [] : [{ record, server, below }]
    })
    if (servers.length > 0) found.set(cut, servers)
  }
  return found
}

/** A test whether resolvers reach a delegation: one of its name servers is located, or is below another delegation that they reach. */
function reachabilityTest(index: ZoneIndex, unlocated: ReadonlyMap<DomainName, readonly Unlocated[]>): (cut: DomainName) => boolean {
  const unreachable = new Set([...unlocated].flatMap(([cut, servers]) => (servers.length === nameServers(cut, index).length ? cut : [])))
  const needing = new Map<DomainName, DomainName[]>()
  for (const [cut, servers] of unlocated) for (const { below } of servers) append(needing, below, cut)
  const reached = [...needing.keys()].filter((cut) => !unreachable.has(cut))
  for (let cut = reached.pop(); cut !== undefined; cut = reached.pop())
    for (const other of needing.get(cut) ?? []) if (unreachable.delete(other)) reached.push(other)
  return (cut) => !unreachable.has(cut)
}
