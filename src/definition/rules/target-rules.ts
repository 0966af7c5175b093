/** Rules for targets of records. */
import { isIP } from 'node:net'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { type DomainName, isAtOrBelow, isWildcard, parentOf } from '../../dns/domain-name.ts'
import { targetName } from '../../dns/rdata/canonical.ts'
import type { DefinedRecord, ResourceRecord } from '../../dns/record.ts'
import { unmanagedTest } from '../../dns/unmanaged.ts'
import { hostOfUrl } from '../../dns/url-host.ts'
import { highestCut, type ZoneIndex } from './zone-index.ts'

/** Types whose target must have its own addresses. */
const HOST_TARGET: ReadonlySet<string> = new Set(['NS', 'MX', 'SRV'])

/** Types whose target clients resolve. */
const RESOLVED_TARGET: ReadonlySet<string> = new Set([...HOST_TARGET, 'CNAME', 'ALIAS'])

/** Types that give a name addresses, directly or through another name. */
const ADDRESS: ReadonlySet<string> = new Set(['A', 'AAAA', 'CNAME', 'ALIAS', 'DNAME'])

/** Reports NS, MX (RFC 2181 section 10.3) and SRV records (RFC 2782) that point to a CNAME. SVCB and HTTPS may (RFC 9460 section 3). */
export function targetIsCname(index: ZoneIndex): Diagnostic[] {
  const { zone } = index
  const diagnostics: Diagnostic[] = []
  const aliasAt = aliasFinder(index)
  for (const record of zone.records) {
    if (!HOST_TARGET.has(record.type)) continue
    const target = targetName(record.type, record.data)
    const cname = target === null ? undefined : aliasAt(target)
    if (!cname) continue
    diagnostics.push({
      severity: 'warning',
      code: 'target-is-cname',
      message: `${record.name} ${record.type} points to ${target}, which is a CNAME`,
      at: record.at,
      hint: `point to the host that has the addresses: ${targetName('CNAME', cname.data)}`,
      related: [{ message: `the CNAME of ${target}`, at: cname.at }],
    })
  }
  return diagnostics
}

/** A function that finds the CNAME the zone answers for a name: its own or that of a wildcard. Below a zone cut the child zone answers. */
function aliasFinder({ zone, byName, cnames, delegations }: ZoneIndex): (name: DomainName) => DefinedRecord | undefined {
  const hasWildcard = [...cnames.keys()].some(isWildcard)
  const nodes = hasWildcard ? nodesOf(zone.name, [...byName.keys(), ...zone.providerSpecific.map((record) => record.name)]) : null
  return (name) => {
    if (highestCut(delegations, name, zone.name)) return undefined
    if (nodes === null || nodes.has(name) || !isAtOrBelow(name, zone.name)) return cnames.get(name)
    return cnames.get(`*.${closestEncloser(name, nodes)}` as DomainName)
  }
}

/** The names that exist in a zone: the owners, and all names between them and the apex (RFC 4592 section 2.2). */
function nodesOf(apex: DomainName, owners: Iterable<DomainName>): Set<DomainName> {
  const nodes = new Set<DomainName>([apex])
  for (const owner of owners) for (let node = owner; !nodes.has(node); node = parentOf(node)) nodes.add(node)
  return nodes
}

function closestEncloser(name: DomainName, nodes: ReadonlySet<DomainName>): DomainName {
  let encloser = parentOf(name)
  while (!nodes.has(encloser)) encloser = parentOf(encloser)
  return encloser
}

/** Every address has a colon or ends with a digit. */
const MAYBE_ADDRESS = /:|[0-9]\.$/

/** Reports targets that are addresses: clients would look up a host named `192.0.2.1.`. */
export function targetIsAddress({ zone }: ZoneIndex): Diagnostic[] {
  const diagnostics: Diagnostic[] = []
  for (const record of zone.records) {
    const target = RESOLVED_TARGET.has(record.type) ? targetName(record.type, record.data) : null
    if (target === null || !MAYBE_ADDRESS.test(target) || isIP(target.slice(0, -1)) === 0) continue
    diagnostics.push({
      severity: 'warning',
      code: 'target-is-address',
      message: `${record.name} ${record.type} points to the address ${target}; it needs a name`,
      at: record.at,
      hint: 'give the address a name with an A or AAAA record, and point to that name',
    })
  }
  return diagnostics
}

/** Reports targets that are URLs: clients would look up a host named `https://www.example.com/.`. */
export function targetIsUrl({ zone }: ZoneIndex): Diagnostic[] {
  const diagnostics: Diagnostic[] = []
  for (const record of zone.records) {
    const target = RESOLVED_TARGET.has(record.type) ? targetName(record.type, record.data) : null
    const host = target === null ? null : hostOfUrl(target)
    if (host === null) continue
    diagnostics.push({
      severity: 'warning',
      code: 'target-is-url',
      message: `${record.name} ${record.type} points to the URL ${target}; it needs a name`,
      at: record.at,
      hint: `write the host name alone: ${host}`,
    })
  }
  return diagnostics
}

/** Reports targets inside the zone that do not exist there or have no addresses. */
export function targetNonexistent(index: ZoneIndex): Diagnostic[] {
  const { zone } = index
  const diagnostics: Diagnostic[] = []
  let exists: ((target: DomainName, types: ReadonlySet<string> | null) => boolean) | null = null
  for (const record of zone.records) {
    if (!RESOLVED_TARGET.has(record.type)) continue
    const target = targetName(record.type, record.data)
    if (target === null || target === '.' || !isAtOrBelow(target, zone.name) || hostOfUrl(target) !== null) continue
    exists ??= existenceTest(index)
    if (exists(target, HOST_TARGET.has(record.type) ? ADDRESS : null)) continue
    diagnostics.push(nonexistent(record, target, index))
  }
  return diagnostics
}

function nonexistent(record: DefinedRecord, target: DomainName, { byName, zone }: ZoneIndex): Diagnostic {
  const why = byName.has(target) ? 'which has no addresses' : `which ${zone.name} does not have`
  return {
    severity: 'warning',
    code: 'target-nonexistent',
    message: `${record.name} ${record.type} points to ${target}, ${why}`,
    at: record.at,
    hint: 'add records for that name, or end the target with a dot if it is outside the zone',
  }
}

/**
 * A test whether the zone may answer for a name with records of these types (null for any type): with its own records, with a wildcard
 * (RFC 4592 section 3.3.1), below a zone cut or DNAME, or with unmanaged records and types of other providers.
 */
function existenceTest({
  zone,
  byName,
  delegations,
  redirections,
}: ZoneIndex): (target: DomainName, types: ReadonlySet<string> | null) => boolean {
  const foreign = new Set(zone.providerSpecific.map((record) => record.name))
  const isUnmanaged = unmanagedTest(
    zone.unmanaged.filter((selector) => selector.target === undefined),
    zone.name,
  )
  const nodes = nodesOf(zone.name, [...byName.keys(), ...foreign])
  const answers = (name: DomainName, types: ReadonlySet<string> | null): boolean =>
    foreign.has(name) || (byName.get(name)?.some((record) => types === null || types.has(record.type)) ?? false)
  const mayBeUnmanaged = (name: DomainName, types: ReadonlySet<string> | null): boolean =>
    zone.unmanaged.length > 0 && [...(types ?? ['A', 'AAAA', 'CNAME', 'TXT'])].some((type) => isUnmanaged(stub(name, type)))
  return (target, types) => {
    if (answers(target, types)) return true
    if (highestCut(delegations, target, zone.name) || highestCut(redirections, target, zone.name)) return true
    if (!nodes.has(target) && answers(`*.${closestEncloser(target, nodes)}` as DomainName, types)) return true
    return mayBeUnmanaged(target, types)
  }
}

const stub = (name: DomainName, type: string): ResourceRecord => ({ name, type, ttl: null, data: '' })
