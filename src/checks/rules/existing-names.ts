/** Which names exist in a zone, and which of them may have records of a type. */
import { type DomainName, isAtOrBelow, isWildcard, parentOf } from '../../dns/domain-name.ts'
import type { DefinedRecord, ResourceRecord } from '../../dns/record.ts'
import { unmanagedTest } from '../../dns/unmanaged.ts'
import type { DesiredZone } from '../../dns/zone.ts'
import { highestCut, type ZoneIndex } from './zone-index.ts'

/** The names that exist in a zone: the owners, and all names between them and the apex (RFC 4592 section 2.2). */
export function nodesOf({ zone, byName }: Pick<ZoneIndex, 'zone' | 'byName'>): ReadonlySet<DomainName> {
  const nodes = new Set<DomainName>([zone.name])
  const add = (owner: DomainName): void => {
    if (!isAtOrBelow(owner, zone.name)) return
    for (let node = owner; !nodes.has(node); node = parentOf(node)) nodes.add(node)
  }
  for (const owner of byName.keys()) add(owner)
  for (const { name } of zone.providerSpecific) add(name)
  return nodes
}

/** The nearest name above `name` that exists (RFC 4592 section 3.3.1). `name` is below the apex. */
export function closestEncloser(name: DomainName, nodes: ReadonlySet<DomainName>): DomainName {
  let encloser = parentOf(name)
  while (!nodes.has(encloser)) encloser = parentOf(encloser)
  return encloser
}

/**
 * Whether the definition does not decide what a name in its zone has: it is below a zone cut or DNAME, its values are read when the zone is planned, or it may
 * have records of others.
 */
export type OpenTest = (name: DomainName, types: ReadonlySet<string> | null) => boolean

export function openTest({ zone, byName, delegations, redirections }: Omit<ZoneIndex, 'rrsets'>): OpenTest {
  const foreign = new Set(zone.providerSpecific.map((record) => record.name))
  const nodes = [...foreign].some(isWildcard) ? nodesOf({ zone, byName }) : null
  const hasForeignWildcard = (name: DomainName): boolean =>
    nodes !== null && !nodes.has(name) && isAtOrBelow(name, zone.name) && foreign.has(`*.${closestEncloser(name, nodes)}` as DomainName)
  const mayRegister = zone.unmanaged.some(({ owner, preset }) => owner !== undefined || preset === 'dhcp')
  const isUnmanaged = unmanagedTest(
    zone.unmanaged.filter((selector) => selector.target === undefined),
    zone.name,
  )
  const mayBeUnmanaged = (name: DomainName, types: ReadonlySet<string> | null): boolean =>
    (mayRegister && isAtOrBelow(name, zone.name)) ||
    (zone.unmanaged.length > 0 && [...(types ?? ['A', 'AAAA', 'CNAME', 'TXT'])].some((type) => isUnmanaged(stub(name, type))))
  const mayComeFromSource = sourceTest(zone)
  return (name, types) =>
    foreign.has(name) ||
    hasForeignWildcard(name) ||
    mayComeFromSource(name, types) ||
    highestCut(delegations, name, zone.name) !== undefined ||
    highestCut(redirections, name, zone.name) !== undefined ||
    mayBeUnmanaged(name, types)
}

/** Types whose records answer for other types, too. */
const ALIASES: readonly string[] = ['CNAME', 'ALIAS']

/** A test for names that may have records of these types from `from` or `sources`. */
function sourceTest({ name: zone, sourced = [], sources = [] }: DesiredZone): OpenTest {
  if (sourced.length === 0 && sources.length === 0) return () => false
  const byName = new Map<DomainName, string[]>()
  for (const { name, type } of sourced) byName.set(name, [...(byName.get(name) ?? []), type])
  const isSelected = unmanagedTest(
    sources.map(({ name }) => ({ name: name ?? '*' })),
    zone,
  )
  return (name, types) =>
    byName.get(name)?.some((type) => types === null || types.has(type) || ALIASES.includes(type)) === true || isSelected(stub(name, ''))
}

const stub = (name: DomainName, type: string): ResourceRecord => ({ name, type, ttl: null, data: '' })

/** The records that a name has, or gets from a wildcard (RFC 4592 section 3.3.1). Null if the name does not exist. */
export type NameLookUp = (name: DomainName) => readonly DefinedRecord[] | null

export function nameLookUp(index: ZoneIndex): NameLookUp {
  let nodes: ReadonlySet<DomainName> | null = null
  return (name) => {
    const own = index.byName.get(name)
    if (own !== undefined) return own
    nodes ??= nodesOf(index)
    if (nodes.has(name)) return []
    return index.byName.get(`*.${closestEncloser(name, nodes)}` as DomainName) ?? null
  }
}

/** A test whether the zone may answer for a name with records of these types; null for any type. */
export function existenceTest(index: ZoneIndex): (name: DomainName, types: ReadonlySet<string> | null) => boolean {
  const isOpen = openTest(index)
  const lookUp = nameLookUp(index)
  return (name, types) => {
    const found = lookUp(name)
    return found?.some((record) => types === null || types.has(record.type)) === true || isOpen(name, types)
  }
}
