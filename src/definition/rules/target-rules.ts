import { isIP } from 'node:net'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { type DomainName, isAtOrBelow, isWildcard, parentOf } from '../../dns/domain-name.ts'
import { targetName } from '../../dns/rdata/canonical.ts'
import type { DefinedRecord, ResourceRecord } from '../../dns/record.ts'
import { unmanagedTest } from '../../dns/unmanaged.ts'
import { highestCut, type ZoneIndex } from './zone-index.ts'

/** Types whose target is a host with addresses of its own. */
const HOST_TARGET: ReadonlySet<string> = new Set(['NS', 'MX', 'SRV'])

/** Types whose target is looked up, so that it should be there. */
const RESOLVED_TARGET: ReadonlySet<string> = new Set([...HOST_TARGET, 'CNAME', 'ALIAS'])

/** What makes a name a host: addresses, or what leads to some. */
const ADDRESS: ReadonlySet<string> = new Set(['A', 'AAAA', 'CNAME', 'ALIAS', 'DNAME'])

/**
 * NS and MX never lead to an alias (RFC 2181 section 10.3), nor does SRV (RFC 2782). SVCB and HTTPS may: the addresses of their target are
 * asked for like any other's (RFC 9460 section 3).
 */
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
      message: `${record.name} ${record.type} leads to ${target}, which is a CNAME`,
      at: record.at,
      hint: `name the host that has the addresses: ${targetName('CNAME', cname.data)}`,
      related: [{ message: `the CNAME of ${target}`, at: cname.at }],
    })
  }
  return diagnostics
}

/** Finds the CNAME that the zone answers with for a name: its own, or that of the wildcard it falls under. Below a zone cut others answer. */
function aliasFinder({ zone, byName, cnames, delegations }: ZoneIndex): (name: DomainName) => DefinedRecord | undefined {
  const hasWildcard = [...cnames.keys()].some(isWildcard)
  const nodes = hasWildcard ? nodesOf(zone.name, [...byName.keys(), ...zone.foreign.map((record) => record.name)]) : null
  return (name) => {
    if (highestCut(delegations, name, zone.name)) return undefined
    if (nodes === null || nodes.has(name) || !isAtOrBelow(name, zone.name)) return cnames.get(name)
    return cnames.get(`*.${closestEncloser(name, nodes)}` as DomainName)
  }
}

/** The names of a zone that exist: owners, and what is between them and the apex (RFC 4592 section 2.2). */
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

/** What every address has: colons, or a digit at its end. */
const MAYBE_ADDRESS = /:|[0-9]\.$/

/** An address is not a name: `192.0.2.1.` is asked for as a host of that name, and there is none. */
export function targetIsAddress({ zone }: ZoneIndex): Diagnostic[] {
  const diagnostics: Diagnostic[] = []
  for (const record of zone.records) {
    const target = RESOLVED_TARGET.has(record.type) ? targetName(record.type, record.data) : null
    if (target === null || !MAYBE_ADDRESS.test(target) || isIP(target.slice(0, -1)) === 0) continue
    diagnostics.push({
      severity: 'warning',
      code: 'target-is-address',
      message: `${record.name} ${record.type} leads to ${target}, an address where a name is needed`,
      at: record.at,
      hint: 'give the address a name with an A or AAAA record, and lead to that',
    })
  }
  return diagnostics
}

/** A target inside the zone that the zone does not have cannot be resolved. */
export function targetNonexistent(index: ZoneIndex): Diagnostic[] {
  const { zone } = index
  const diagnostics: Diagnostic[] = []
  let exists: ((target: DomainName, types: ReadonlySet<string> | null) => boolean) | null = null
  for (const record of zone.records) {
    if (!RESOLVED_TARGET.has(record.type)) continue
    const target = targetName(record.type, record.data)
    if (target === null || target === '.' || !isAtOrBelow(target, zone.name)) continue
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
    message: `${record.name} ${record.type} leads to ${target}, ${why}`,
    at: record.at,
    hint: 'add the name, or end the target with a dot if it is outside the zone',
  }
}

/**
 * A test whether the zone answers for a name with records of these types (any, for null): by records, by a wildcard
 * (RFC 4592 section 3.3.1), or perhaps, where others decide: below a zone cut or DNAME, and for unmanaged and foreign records.
 */
function existenceTest({
  zone,
  byName,
  delegations,
  redirections,
}: ZoneIndex): (target: DomainName, types: ReadonlySet<string> | null) => boolean {
  const foreign = new Set(zone.foreign.map((record) => record.name))
  const others = unmanagedTest(
    zone.unmanaged.filter((selector) => selector.target === undefined),
    zone.name,
  )
  const nodes = nodesOf(zone.name, [...byName.keys(), ...foreign])
  const answers = (name: DomainName, types: ReadonlySet<string> | null): boolean =>
    foreign.has(name) || (byName.get(name)?.some((record) => types === null || types.has(record.type)) ?? false)
  const mayBeOthers = (name: DomainName, types: ReadonlySet<string> | null): boolean =>
    zone.unmanaged.length > 0 && [...(types ?? ['A', 'AAAA', 'CNAME', 'TXT'])].some((type) => others(stub(name, type)))
  return (target, types) => {
    if (answers(target, types)) return true
    if (highestCut(delegations, target, zone.name) || highestCut(redirections, target, zone.name)) return true
    if (!nodes.has(target) && answers(`*.${closestEncloser(target, nodes)}` as DomainName, types)) return true
    return mayBeOthers(target, types)
  }
}

const stub = (name: DomainName, type: string): ResourceRecord => ({ name, type, ttl: null, data: '' })
