/** What the records of a zone answer to one query, and answers of servers in the same form, so that both can be compared. */
import { type DomainName, isAtOrBelow, isBelow, parentOf } from '../dns/domain-name.ts'
import { targetName } from '../dns/rdata/canonical.ts'
import type { ResourceRecord } from '../dns/record.ts'
import { isSignerRecord } from '../dns/signer-records.ts'
import { createAnswers } from '../plan/answers.ts'
import type { DnsAnswer } from '../transport/dns-client.ts'

export interface TracedQuery {
  readonly zone: DomainName
  readonly name: DomainName
  readonly type: string
}

export interface TracedAnswer<R extends ResourceRecord = ResourceRecord> {
  /** The records that answer: an RRset of the name or its wildcard, an alias, or the NS records of a delegation. */
  readonly records: readonly R[]
  /** The owner of these records. */
  readonly owner: DomainName
  /** The delegated zone at or above the name; null if there is none. */
  readonly child: DomainName | null
  /** The target of the alias; null without one. */
  readonly alias: DomainName | null
  /** The answer without TTLs, sorted; null if the server makes it, such as an SOA record. */
  readonly key: readonly string[] | null
  /** The TTL in seconds that the records should have; absent if it is not known. */
  readonly ttl?: number | undefined
}

/** The answer of an authoritative server with these records (RFC 1034 section 4.3.2). */
export function answerOf<R extends ResourceRecord>(records: readonly R[], { zone, name, type }: TracedQuery): TracedAnswer<R> {
  const at = (owner: DomainName, wanted: string): R[] => records.filter((one) => one.name === owner && one.type === wanted)
  const none = { records: [], owner: name, child: null, alias: null }
  const path: DomainName[] = []
  for (let one = name; one !== zone; one = parentOf(one)) path.unshift(one)
  for (const owner of [zone, ...path]) {
    const cut = owner === zone || (owner === name && type === 'DS') ? [] : at(owner, 'NS')
    if (cut.length > 0) return { ...none, records: cut, owner, child: owner, key: keyOf(cut, 'referral ') }
    const [dname] = owner === name ? [] : at(owner, 'DNAME')
    const target = dname && targetName('DNAME', dname.data)
    if (dname && target)
      return aliasTo(`${name.slice(0, -owner.length)}${target === '.' ? '' : target}` as DomainName, { ...none, records: [dname], owner })
  }
  const owner = createAnswers({ name: zone, unplanned: [] }, records).wildcardFor(name) ?? name
  const own = at(owner, type)
  if (own.length > 0) return { ...none, records: own, owner, key: keyOf(own) }
  const [cname] = at(owner, 'CNAME')
  if (cname) return aliasTo(targetName('CNAME', cname.data) as DomainName, { ...none, records: [cname], owner })
  const flattened = type === 'A' || type === 'AAAA' ? at(owner, 'ALIAS') : []
  if (flattened.length > 0 || (type === 'SOA' && name === zone) || isSignerRecord({ name, type }, zone))
    return { ...none, records: flattened, owner, key: null }
  const exists = owner === zone || records.some((one) => isAtOrBelow(one.name, owner))
  return exists ? { ...none, owner, key: [NO_RECORDS] } : { ...none, key: ['NXDOMAIN'] }
}

const NO_RECORDS = 'no records'

const aliasTo = <T extends object>(alias: DomainName, rest: T) => ({ ...rest, alias, key: [`CNAME ${alias}`] })

const keyOf = (records: readonly ResourceRecord[], prefix = ''): string[] =>
  [...new Set(records.map(({ type, data }) => `${prefix}${type} ${data}`))].sort()

/** The answer of a server. */
export function receivedAnswer({ zone, name, type }: TracedQuery, { rcode, authoritative, answers, authorities }: DnsAnswer): TracedAnswer {
  const common = { owner: name, child: null, alias: null }
  const all = answers.filter((one) => one.name === name && (one.type === type || one.type === 'CNAME'))
  const own = all.some((one) => one.type === type) ? all.filter((one) => one.type === type) : all
  if (own.length > 0 && (rcode === 'NOERROR' || rcode === 'NXDOMAIN')) return { ...common, records: own, key: keyOf(own) }
  if (rcode !== 'NOERROR') return { ...common, records: [], key: [rcode] }
  const cut = authoritative ? [] : authorities.filter((one) => one.type === 'NS' && isBelow(one.name, zone) && isAtOrBelow(name, one.name))
  if (cut.length > 0) return { ...common, records: cut, child: cut[0]?.name ?? null, key: keyOf(cut, 'referral ') }
  return { ...common, records: [], key: [NO_RECORDS] }
}
