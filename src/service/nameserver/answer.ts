import { type DomainName, isAtOrBelow, isBelow, MAX_NAME_OCTETS, nameOctets, parentOf, ROOT, relativeName } from '../../dns/domain-name.ts'
import { targetName } from '../../dns/rdata/canonical.ts'
import { findRrset, isDelegation, type Rrset, type ZoneData, type ZoneNode } from './zone-data.ts'

/**
 * The algorithm of a name server (RFC 1034 section 4.3.2, with wildcards as RFC 4592 explains them and DNAME as RFC 6672 adds
 * it), over zones in memory; no octets and no sockets.
 *
 * Every name of a zone, empty non-terminals included, is a node in a hash map, and each node knows the delegation or DNAME that
 * covers it. The closest encloser of a name is found by dropping labels until a node comes. If it is covered, the answer is a
 * referral or a DNAME; if it is the name itself, its data; else the wildcard right below it, or NXDOMAIN.
 */

/** An RRset under the owner name it is answered with, which for a wildcard is the name that was asked for. */
export interface NamedRrset {
  readonly name: DomainName
  readonly rrset: Rrset
}

export interface Answer {
  rcode: number
  /**
   * The name whose data, or whose lack of it, is the answer: of a synthesized one the wildcard, of NXDOMAIN the zone. Null for none.
   */
  source: DomainName | null
  /** Every zone that had a part in it. */
  readonly zones: ZoneData[]
  authoritative: boolean
  readonly answers: NamedRrset[]
  readonly authorities: NamedRrset[]
  /** Addresses without which a referral leads nowhere: truncation if they do not fit (RFC 9471 section 3.1). */
  readonly glue: NamedRrset[]
  /** Addresses that only save the asker a question. */
  readonly additionals: NamedRrset[]
}

const NOERROR = 0
const SERVFAIL = 2
const NXDOMAIN = 3
const REFUSED = 5
const YXDOMAIN = 6

const TYPE_CNAME = 5
const TYPE_DS = 43
const TYPE_ANY = 255

/** Aliases followed in one answer; resolvers go on by themselves. */
const MAX_ALIASES = 16

/** Hosts whose addresses are looked up for the additional section of one answer. */
const MAX_ADDITIONAL_HOSTS = 64

export const emptyAnswer = (rcode: number): Answer => ({
  rcode,
  source: null,
  zones: [],
  authoritative: false,
  answers: [],
  authorities: [],
  glue: [],
  additionals: [],
})

/** The zones a server answers for; null for one of which it has no data now, whose names no other zone may answer for. */
export type ZonesByName = ReadonlyMap<DomainName, ZoneData | null>

/** The answer to a question of class IN; REFUSED for a name in none of the zones, SERVFAIL for one in a zone without data. */
export function answerQuestion(zones: ZonesByName, name: DomainName, code: number): Answer {
  const answer = emptyAnswer(NOERROR)
  let owner: DomainName | null = name
  for (let aliases = 0; owner !== null; aliases += 1) {
    const zone = zoneOf(zones, owner, code)
    if (!zone) {
      // An alias that leaves the zones held here is for the resolver to follow.
      if (aliases === 0) answer.rcode = zone === null ? SERVFAIL : REFUSED
      return answer
    }
    answer.zones.push(zone)
    const next = answerFromZone(answer, zone, owner, code)
    const isKnown = answer.answers.some((placed) => placed.name === next && placed.rrset.code === TYPE_CNAME)
    owner = aliases === MAX_ALIASES || isKnown ? null : next
  }
  return answer
}

/** The zone nearest the name. DS belongs to the parent of a delegation (RFC 4035 section 3.1.4.1), if that is held here. */
function zoneOf(zones: ZonesByName, name: DomainName, code: number): ZoneData | null | undefined {
  const isOfParent = code === TYPE_DS && name !== ROOT && zones.has(name)
  const parent = isOfParent ? zoneAtOrAbove(zones, parentOf(name)) : undefined
  return parent === undefined ? zoneAtOrAbove(zones, name) : parent
}

function zoneAtOrAbove(zones: ZonesByName, name: DomainName): ZoneData | null | undefined {
  for (let at = name; ; at = parentOf(at)) {
    const zone = zones.get(at)
    if (zone !== undefined || at === ROOT) return zone
  }
}

/** Adds what one zone says about the name; returns the name to go on with if it is an alias. */
function answerFromZone(answer: Answer, zone: ZoneData, name: DomainName, code: number): DomainName | null {
  const encloser = closestEncloser(zone, name)
  const { cover } = encloser
  if (cover) {
    answer.source ??= cover.name
    if (isDelegation(zone, cover)) {
      if (name !== cover.name || code !== TYPE_DS) return refer(answer, zone, cover)
    } else if (name !== cover.name) return redirect(answer, zone, cover, name, code)
  }
  answer.authoritative ||= answer.answers.length === 0
  const node = encloser.name === name ? encloser : wildcardOf(zone, encloser)
  answer.source ??= node ? node.name : zone.name
  if (node) return answerFromNode(answer, zone, node, name, code)
  answer.rcode = NXDOMAIN
  return deny(answer, zone)
}

/** The node of the name or, where there is none, of its nearest ancestor that exists (RFC 4592 section 3.3.1). */
function closestEncloser(zone: ZoneData, name: DomainName): ZoneNode {
  for (let at = name; at !== ROOT; at = parentOf(at)) {
    const node = zone.nodes.get(at)
    if (node) return node
  }
  return zone.apex
}

/** The source of synthesis for what the encloser does not have (RFC 4592 section 3.3.1). */
const wildcardOf = (zone: ZoneData, encloser: ZoneNode): ZoneNode | undefined =>
  zone.nodes.get(encloser.name === ROOT ? ('*.' as DomainName) : (`*.${encloser.name}` as DomainName))

function answerFromNode(answer: Answer, zone: ZoneData, node: ZoneNode, name: DomainName, code: number): DomainName | null {
  const found = rrsetsFor(node, code)
  for (const rrset of found) {
    answer.answers.push({ name, rrset })
    addHosts(answer.additionals, zone, rrset, (host) => host.cover === null)
  }
  if (found.length > 0) return null
  const alias = findRrset(node, 'CNAME')
  if (!alias) return deny(answer, zone)
  answer.answers.push({ name, rrset: alias })
  return targetName(alias.type, alias.data[0] ?? '')
}

/** One RRset is answer enough to ANY (RFC 8482 section 4.1). Of a type there is one, but of RRSIG one for each type signed. */
const rrsetsFor = (node: ZoneNode, code: number): readonly Rrset[] =>
  code === TYPE_ANY ? node.rrsets.slice(0, 1) : node.rrsets.filter((rrset) => rrset.code === code)

/** No data of the type, or no such name: the SOA tells how long to believe it (RFC 2308 section 3). */
function deny(answer: Answer, zone: ZoneData): null {
  answer.authorities.push({ name: zone.name, rrset: zone.negativeSoa })
  return null
}

/** A referral: the NS of the delegation and the addresses the zone has for them (RFC 1034 section 4.3.2 step 3b). */
function refer(answer: Answer, zone: ZoneData, cut: ZoneNode): null {
  const rrset = findRrset(cut, 'NS')
  if (!rrset) return null
  answer.authorities.push({ name: cut.name, rrset })
  addHosts(answer.glue, zone, rrset, (host) => isAtOrBelow(host.name, cut.name))
  addHosts(answer.additionals, zone, rrset, (host) => !isAtOrBelow(host.name, cut.name))
  return null
}

/** A DNAME and the CNAME it stands for at this name (RFC 6672 section 3.1). */
function redirect(answer: Answer, zone: ZoneData, node: ZoneNode, name: DomainName, code: number): DomainName | null {
  const rrset = findRrset(node, 'DNAME')
  const target = rrset && targetName('DNAME', rrset.data[0] ?? '')
  if (!rrset || !target || !isBelow(name, node.name)) return deny(answer, zone)
  answer.authoritative ||= answer.answers.length === 0
  answer.answers.push({ name: node.name, rrset })
  const alias = `${relativeName(name, node.name)}.${target === ROOT ? '' : target}` as DomainName
  if (nameOctets(alias) > MAX_NAME_OCTETS) {
    answer.rcode = YXDOMAIN
    return null
  }
  answer.answers.push({ name, rrset: { type: 'CNAME', code: TYPE_CNAME, ttl: rrset.ttl, data: [alias], octets: null } })
  // A DNAME that leads below itself would be followed again and again, to longer and longer names.
  return code === TYPE_CNAME || code === TYPE_ANY || isAtOrBelow(target, node.name) ? null : alias
}

/** Adds the addresses the zone holds for the hosts that NS, MX and SRV lead to (RFC 1035 section 3.3, RFC 2782). */
function addHosts(section: NamedRrset[], zone: ZoneData, rrset: Rrset, wanted: (host: ZoneNode) => boolean): void {
  if (rrset.type !== 'NS' && rrset.type !== 'MX' && rrset.type !== 'SRV') return
  const seen = new Set<DomainName>()
  for (let i = 0; i < rrset.data.length && i < MAX_ADDITIONAL_HOSTS; i += 1) {
    const name = targetName(rrset.type, rrset.data[i] ?? '')
    if (name === null || seen.has(name) || !isAtOrBelow(name, zone.name)) continue
    seen.add(name)
    const encloser = closestEncloser(zone, name)
    const host = encloser.name === name ? encloser : encloser.cover ? undefined : wildcardOf(zone, encloser)
    if (!host || !wanted(host)) continue
    for (const addresses of host.rrsets) {
      if (addresses.type === 'A' || addresses.type === 'AAAA') section.push({ name, rrset: addresses })
    }
  }
}
