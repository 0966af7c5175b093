/** What the records of a zone answer: their own names, and others by an alias, a wildcard (RFC 4592), a DNAME record or a delegation. */
import { type DomainName, isAtOrBelow, isBelow, parentOf } from '../dns/domain-name.ts'
import { targetName } from '../dns/rdata/canonical.ts'
import type { ResourceRecord } from '../dns/record.ts'
import type { ExistingZone } from '../dns/zone.ts'
import type { NameAndType } from './plan.ts'

export interface Answers {
  /** Whether a query gets records, a referral, or an alias that leaves the zone. */
  has(asked: NameAndType): boolean
  /** The same by records of the name itself only. Addresses answer in place of an alias, and an alias in place of any type. */
  hasAtName(asked: NameAndType): boolean
  /** Whether the name has a record. */
  hasName(name: DomainName): boolean
  /** The wildcard that answers for a name without records and delegation; null if the name exists. It may have no records. */
  wildcardFor(name: DomainName): DomainName | null
  /** The types that a name answers, those of its alias's target included; null if another zone answers. */
  typesOf(name: DomainName): ReadonlySet<string> | null
}

/** Types by which an address is found, in place of each other. */
const ADDRESS_TYPES: ReadonlySet<string> = new Set(['A', 'AAAA', 'CNAME', 'ALIAS'])

/** Types that answer for the names below, which an alias does not. */
const OF_NAMES_BELOW: ReadonlySet<string> = new Set(['NS', 'DNAME'])

/** Aliases followed for one answer. */
const MAX_ALIASES = 16

const NO_TYPES: ReadonlySet<string> = new Set()

/** Takes linear time. Of `zone`, only the name and the records that plans do not compare are used. */
export function createAnswers(zone: Pick<ExistingZone, 'name' | 'unplanned'>, records: Iterable<ResourceRecord>): Answers {
  const held = new Map<DomainName, Set<string>>()
  const aliases = new Map<DomainName, DomainName>()
  const add = ({ name, type }: NameAndType): void => {
    const known = held.get(name)
    if (known) known.add(type)
    else held.set(name, new Set([type]))
  }
  for (const record of records) {
    add(record)
    const target = record.type === 'CNAME' || record.type === 'ALIAS' ? targetName(record.type, record.data) : null
    if (target !== null) aliases.set(record.name, target)
  }
  for (const record of zone.unplanned ?? []) if (record.holdsRrset) add(record)
  /** All names that exist: those with records, and the empty ones above them. */
  const names = new Set<DomainName>([zone.name])
  for (const owner of held.keys()) for (let name = owner; !names.has(name); name = parentOf(name)) names.add(name)

  /** Whether another zone answers, or a DNAME record. */
  const isElsewhere = (name: DomainName): boolean => {
    if (!isBelow(name, zone.name)) return !isAtOrBelow(name, zone.name)
    for (let above = parentOf(name); above !== zone.name; above = parentOf(above))
      if (held.get(above)?.has('NS') || held.get(above)?.has('DNAME')) return true
    return held.get(zone.name)?.has('DNAME') === true
  }
  const wildcardFor = (name: DomainName): DomainName | null => {
    if (!isBelow(name, zone.name) || names.has(name) || isElsewhere(name)) return null
    let encloser = parentOf(name)
    while (!names.has(encloser)) encloser = parentOf(encloser)
    return `*.${encloser}` as DomainName
  }
  /** Whether the records of `owner` answer a query for the type. */
  const holds = (owner: DomainName, type: string, followed: number): boolean => {
    const types = held.get(owner)
    if (types === undefined) return false
    if (types.has(type) && type !== 'ALIAS') return true
    if (type === 'CNAME' || type === 'ALIAS') return [...types].some((one) => replacesAlias(owner, one))
    if (OF_NAMES_BELOW.has(type)) return false
    if (!types.has('CNAME') && !(types.has('ALIAS') && ADDRESS_TYPES.has(type))) return false
    const target = aliases.get(owner)
    return target === undefined || (followed < MAX_ALIASES && has(target, type, followed + 1))
  }
  /** A referral answers for the name of a delegation too, but for DS records (RFC 4035 section 3.1.4.1). */
  const has = (name: DomainName, type: string, followed: number): boolean => {
    if (isElsewhere(name) || (name !== zone.name && type !== 'DS' && held.get(name)?.has('NS'))) return true
    const wildcard = wildcardFor(name)
    return holds(wildcard ?? name, type, followed)
  }
  const typesOf = (name: DomainName, followed: number): ReadonlySet<string> | null => {
    if (isElsewhere(name)) return null
    if (followed > MAX_ALIASES) return NO_TYPES
    const owner = wildcardFor(name) ?? name
    const types = held.get(owner) ?? NO_TYPES
    if (types.has('NS') && owner !== zone.name) return null
    if (!types.has('CNAME') && !types.has('ALIAS')) return types
    const target = aliases.get(owner)
    const reached = target === undefined ? null : typesOf(target, followed + 1)
    if (reached === null) return null
    // A CNAME that is never served may have other types beside it.
    if (types.has('CNAME')) return new Set([...reached, ...[...types].filter((type) => type !== 'CNAME')])
    return new Set([...types, ...[...reached].filter((type) => ADDRESS_TYPES.has(type))])
  }
  return {
    has: ({ name, type }) => holds(name, type, 0) || (isBelow(name, zone.name) && has(name, type, 0)),
    hasAtName: ({ name, type }) => holds(name, type, 0),
    hasName: (name) => held.has(name),
    wildcardFor,
    typesOf: (name) => typesOf(name, 0),
  }
}

/** Whether records of the type answer the query for an alias of the name: addresses, or at a name such as `_dmarc` any type. */
const replacesAlias = (name: DomainName, type: string): boolean => ADDRESS_TYPES.has(type) || /(?:^|\.)_/.test(name)
