import { type DomainName, isAtOrBelow, isBelow, MAX_NAME_OCTETS, nameOctets, parentOf, ROOT, relativeName } from '../../dns/domain-name.ts'
import { targetName } from '../../dns/rdata/canonical.ts'
import { findRrset, isDelegation, type Rrset, type ZoneData, type ZoneNode } from './zone-data.ts'

/**
 * The lookup algorithm of an authoritative name server (RFC 1034 section 4.3.2, wildcards of RFC 4592, DNAME of RFC 6672) over zones in
 * memory. It does not touch octets or sockets.
 *
 * Every name in a zone, empty non-terminals included, is a node in a hash map. Each node knows the delegation or DNAME that covers it.
 * To find the closest encloser, labels are dropped until a node matches. A covered node gives a referral or a DNAME. A node for the query
 * name gives its data. Otherwise the answer is the wildcard directly below the encloser, or NXDOMAIN.
 */

/** An RRset with its owner name in the response. For a wildcard, that is the query name. */
export interface NamedRrset {
  readonly name: DomainName
  readonly rrset: Rrset
}

export interface Answer {
  rcode: number
  /** The name that determines the answer: the wildcard if it is synthesized, the zone for NXDOMAIN. Null if there is none. */
  source: DomainName | null
  /** Every zone that contributed to the answer. */
  readonly zones: ZoneData[]
  authoritative: boolean
  readonly answers: NamedRrset[]
  readonly authorities: NamedRrset[]
  /** Addresses that a referral needs. The response is truncated if they do not fit (RFC 9471 section 3.1). */
  readonly glue: NamedRrset[]
  /** Optional addresses that save the client a query. */
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

/** Aliases followed in one answer. Resolvers follow the rest. */
const MAX_ALIASES = 16

/** Maximum number of hosts whose addresses are added to one answer. */
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

/** The zones that a server answers for. Null marks a zone without data: no parent zone may answer for its names. */
export type ZonesByName = ReadonlyMap<DomainName, ZoneData | null>

/** The answer to a query of class IN. REFUSED for a name outside all zones, SERVFAIL for a name in a zone without data. */
export function answerQuestion(zones: ZonesByName, name: DomainName, code: number): Answer {
  const answer = emptyAnswer(NOERROR)
  let owner: DomainName | null = name
  for (let aliases = 0; owner !== null; aliases += 1) {
    const zone = zoneOf(zones, owner, code)
    if (!zone) {
      // The resolver follows an alias that leaves our zones.
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

/** The closest enclosing zone. DS belongs to the parent side of a delegation (RFC 4035 section 3.1.4.1), if the parent is served here. */
function zoneOf(zones: ZonesByName, name: DomainName, code: number): ZoneData | null | undefined {
  const belongsToParent = code === TYPE_DS && name !== ROOT && zones.has(name)
  const parent = belongsToParent ? zoneAtOrAbove(zones, parentOf(name)) : undefined
  return parent === undefined ? zoneAtOrAbove(zones, name) : parent
}

function zoneAtOrAbove(zones: ZonesByName, name: DomainName): ZoneData | null | undefined {
  for (let at = name; ; at = parentOf(at)) {
    const zone = zones.get(at)
    if (zone !== undefined || at === ROOT) return zone
  }
}

/** Adds one zone's data for the name. Returns the alias target to continue with, or null. */
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

/** The node of the name, or of its closest existing ancestor (RFC 4592 section 3.3.1). */
function closestEncloser(zone: ZoneData, name: DomainName): ZoneNode {
  for (let at = name; at !== ROOT; at = parentOf(at)) {
    const node = zone.find(at)
    if (node) return node
  }
  return zone.apex
}

/** The source of synthesis for names below the encloser (RFC 4592 section 3.3.1). */
const wildcardOf = (zone: ZoneData, encloser: ZoneNode): ZoneNode | undefined =>
  zone.find(encloser.name === ROOT ? ('*.' as DomainName) : (`*.${encloser.name}` as DomainName))

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

/** One RRset is enough for ANY (RFC 8482 section 4.1). A type has one RRset, but RRSIG has one per covered type. */
const rrsetsFor = (node: ZoneNode, code: number): readonly Rrset[] =>
  code === TYPE_ANY ? node.rrsets.slice(0, 1) : node.rrsets.filter((rrset) => rrset.code === code)

/** A negative answer. Its SOA says how long it may be cached (RFC 2308 section 3). */
function deny(answer: Answer, zone: ZoneData): null {
  answer.authorities.push({ name: zone.name, rrset: zone.negativeSoa })
  return null
}

/** A referral: the NS records of the delegation and their addresses from the zone (RFC 1034 section 4.3.2 step 3b). */
function refer(answer: Answer, zone: ZoneData, cut: ZoneNode): null {
  const rrset = findRrset(cut, 'NS')
  if (!rrset) return null
  answer.authorities.push({ name: cut.name, rrset })
  addHosts(answer.glue, zone, rrset, (host) => isAtOrBelow(host.name, cut.name))
  addHosts(answer.additionals, zone, rrset, (host) => !isAtOrBelow(host.name, cut.name))
  return null
}

/** A DNAME and the CNAME synthesized from it for this name (RFC 6672 section 3.1). */
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
  // A DNAME that points below itself would loop with ever longer names.
  return code === TYPE_CNAME || code === TYPE_ANY || isAtOrBelow(target, node.name) ? null : alias
}

/** Adds the zone's addresses for the targets of NS, MX and SRV records (RFC 1035 section 3.3, RFC 2782). */
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
