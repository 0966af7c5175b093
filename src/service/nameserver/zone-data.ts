/** A zone in memory, indexed by name for queries. */
import { type DomainName, isAtOrBelow, parentOf } from '../../dns/domain-name.ts'
import { rdataFields } from '../../dns/rdata/canonical.ts'
import { lowerCaseNames } from '../../dns/rdata/letter-case.ts'
import type { ResourceRecord } from '../../dns/record.ts'
import { typeCode } from '../../dns/record-type.ts'
import type { Ttl } from '../../dns/ttl.ts'

/** A record of a served zone. Its TTL is always set. Names in its data have the letters of the master, if it has one. */
export interface ServedRecord extends ResourceRecord {
  readonly ttl: Ttl
  /** The owner with the capital letters of the master; absent if it has none. */
  readonly writtenOwner?: string | undefined
}

/** A zone indexed for queries. */
export interface ZoneData {
  readonly name: DomainName
  readonly serial: number
  readonly apex: ZoneNode
  /** Every name that exists in the zone, empty non-terminals included (RFC 4592 section 2.2.2). */
  readonly nodes: ReadonlyMap<DomainName, ZoneNode>
  readonly soa: Rrset
  /** The SOA for negative answers: its TTL is the lower of its own TTL and MINIMUM (RFC 2308 section 3). */
  readonly negativeSoa: Rrset
}

export interface ZoneNode {
  readonly name: DomainName
  /** In zone order; empty for an empty non-terminal. */
  readonly rrsets: Rrset[]
  /**
   * The topmost node at or above this one with a delegation (NS below the apex) or a DNAME. Names below it are not part of the zone's data
   * (RFC 2136 section 7.18, RFC 6672 section 2.4).
   */
  cover: ZoneNode | null
}

export interface Rrset {
  readonly type: string
  readonly code: number
  /** In seconds: the lowest TTL of its records, because an RRset has one TTL (RFC 2181 section 5.2). */
  ttl: number
  /** The owner with capital letters; undefined if it has none. */
  readonly writtenOwner?: string | undefined
  /** Canonical rdata in zone order, except that names may have capital letters. */
  readonly data: string[]
  /** The encoded rdata of each record, computed on first use; only for types without compressed names. */
  octets: readonly Uint8Array[] | null
}

/**
 * Indexes a zone's records by name, in linear time. Skips records outside the zone, records of unknown types and duplicates (RFC 2181
 * section 5). Throws a `RangeError` unless the apex has exactly one SOA record.
 */
export function buildZoneData(name: DomainName, serial: number, records: Iterable<ServedRecord>): ZoneData {
  const nodes = new Map<DomainName, ZoneNode>()
  const apex = addNode(nodes, name)
  const indexes = new Map<ZoneNode, Map<string, Rrset>>()
  for (const record of records) {
    const code = typeCode(record.type)
    if (code !== null && isAtOrBelow(record.name, name))
      addRecord(nodes.get(record.name) ?? addNode(nodes, record.name), record, code, indexes)
  }
  addEmptyNonTerminals(nodes, apex)
  setCovers(nodes, apex)
  const soa = findRrset(apex, 'SOA')
  if (soa?.data.length !== 1) throw new RangeError(`the zone ${name} needs one SOA record at its apex`)
  const minimum = Number(rdataFields(soa.data[0] ?? '').at(-1))
  return { name, serial, apex, nodes, soa, negativeSoa: { ...soa, ttl: Math.min(soa.ttl, minimum) } }
}

export function findRrset(node: ZoneNode, type: string): Rrset | undefined {
  for (const rrset of node.rrsets) if (rrset.type === type) return rrset
  return undefined
}

/** Whether the node is a delegation point: it has NS and is not the apex (RFC 1034 section 4.2.1). */
export const isDelegation = (zone: ZoneData, node: ZoneNode): boolean => node !== zone.apex && findRrset(node, 'NS') !== undefined

function addNode(nodes: Map<DomainName, ZoneNode>, name: DomainName): ZoneNode {
  const node: ZoneNode = { name, rrsets: [], cover: null }
  nodes.set(name, node)
  return node
}

/** Up to this many RRsets, a node is searched linearly. Above it, a node gets an index: it can have one RRset for each of 65,536 types. */
const MAX_LINEAR_SEARCH = 16

function addRecord(node: ZoneNode, record: ServedRecord, code: number, indexes: Map<ZoneNode, Map<string, Rrset>>): void {
  const { type, ttl, data, writtenOwner } = record
  const key = rrsetKey(type, data)
  const rrset = indexes.get(node)?.get(key) ?? (node.rrsets.length <= MAX_LINEAR_SEARCH ? findByKey(node.rrsets, key) : undefined)
  if (rrset) {
    rrset.data.push(data)
    if (ttl < rrset.ttl) rrset.ttl = ttl
    return
  }
  const added: Rrset = { type, code, ttl, writtenOwner, data: [data], octets: null }
  node.rrsets.push(added)
  if (node.rrsets.length === MAX_LINEAR_SEARCH + 1) indexes.set(node, indexRrsets(node.rrsets))
  else indexes.get(node)?.set(key, added)
}

/** The key of an RRset at its name. RRSIG records form one RRset per covered type, because each has the TTL of the RRset it covers (RFC 4034 section 3). */
const rrsetKey = (type: string, data: string): string => (type === 'RRSIG' ? `RRSIG ${data.slice(0, data.indexOf(' '))}` : type)

const keyOf = ({ type, data: [first = ''] }: Rrset): string => rrsetKey(type, first)

const findByKey = (rrsets: readonly Rrset[], key: string): Rrset | undefined => rrsets.find((rrset) => keyOf(rrset) === key)

const indexRrsets = (rrsets: readonly Rrset[]): Map<string, Rrset> => new Map(rrsets.map((rrset) => [keyOf(rrset), rrset]))

/** Returns a function that finds the RRset with the same type (and covered type) in a list of RRsets at one name. */
export function createRrsetFinder(rrsets: readonly Rrset[]): (wanted: Rrset) => Rrset | undefined {
  if (rrsets.length <= MAX_LINEAR_SEARCH) return (wanted) => findByKey(rrsets, keyOf(wanted))
  const index = indexRrsets(rrsets)
  return (wanted) => index.get(keyOf(wanted))
}

function addEmptyNonTerminals(nodes: Map<DomainName, ZoneNode>, apex: ZoneNode): void {
  for (const node of [...nodes.values()]) {
    dropDuplicates(node)
    if (node === apex) continue
    for (let name = parentOf(node.name); !nodes.has(name); name = parentOf(name)) addNode(nodes, name)
  }
}

function dropDuplicates(node: ZoneNode): void {
  for (const { type, data } of node.rrsets) {
    if (data.length === 1) continue
    const distinct = new Set(data.map((one) => lowerCaseNames(type, one)))
    if (distinct.size < data.length) data.splice(0, data.length, ...data.filter((one) => distinct.delete(lowerCaseNames(type, one))))
  }
}

function setCovers(nodes: ReadonlyMap<DomainName, ZoneNode>, apex: ZoneNode): void {
  const all = [...nodes.values()]
  const covering = new Set(all.filter((node) => findRrset(node, 'DNAME') || (node !== apex && findRrset(node, 'NS'))))
  // Most zones have no delegation or DNAME.
  if (covering.size === 0) return
  for (const node of all) {
    for (let at: ZoneNode | undefined = node; at; at = at === apex ? undefined : nodes.get(parentOf(at.name))) {
      if (covering.has(at)) node.cover = at
    }
  }
}
