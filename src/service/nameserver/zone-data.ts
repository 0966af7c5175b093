import { type DomainName, isAtOrBelow, parentOf } from '../../dns/domain-name.ts'
import { rdataFields } from '../../dns/rdata/canonical.ts'
import type { ResourceRecord } from '../../dns/record.ts'
import { typeCode } from '../../dns/record-type.ts'
import type { Ttl } from '../../dns/ttl.ts'

/** A record as a zone serves it: its TTL is known. */
export interface ServedRecord extends ResourceRecord {
  readonly ttl: Ttl
}

/** What a name server needs to know of a zone to answer for it. */
export interface ZoneData {
  readonly name: DomainName
  readonly serial: number
  readonly apex: ZoneNode
  /** Every name that exists in the zone, empty non-terminals included (RFC 4592 section 2.2.2). */
  readonly nodes: ReadonlyMap<DomainName, ZoneNode>
  readonly soa: Rrset
  /** The SOA as negative answers carry it: its TTL is the lower of its own and MINIMUM (RFC 2308 section 3). */
  readonly negativeSoa: Rrset
}

export interface ZoneNode {
  readonly name: DomainName
  /** In the order of the zone; empty at an empty non-terminal. */
  readonly rrsets: Rrset[]
  /**
   * The node nearest the apex, this one or above it, with a delegation (NS below the apex) or a DNAME. What is below it does
   * not belong to the zone's data (RFC 2136 section 7.18, RFC 6672 section 2.4).
   */
  cover: ZoneNode | null
}

export interface Rrset {
  readonly type: string
  readonly code: number
  /** Seconds: the lowest of its records, for an RRset has one TTL (RFC 2181 section 5.2). */
  ttl: number
  /** Canonical rdata in the order of the zone. */
  readonly data: string[]
  /** The octets of each, made when first needed; only for types whose names are never compressed. */
  octets: readonly Uint8Array[] | null
}

/**
 * A zone's records arranged for look-ups: one hash look-up finds a name. Costs time linear in the records. Records outside the
 * zone and of types that DNS does not have are left out; a record given twice counts once (RFC 2181 section 5). Throws a
 * `RangeError` unless there is exactly one SOA at the apex.
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

/** RRsets of a node that are searched one by one. A node with more has an index: it can have one of each of 65,536 types. */
const MAX_LINEAR_SEARCH = 16

function addRecord(node: ZoneNode, record: ServedRecord, code: number, indexes: Map<ZoneNode, Map<string, Rrset>>): void {
  const { type, ttl, data } = record
  const key = rrsetKey(type, data)
  const rrset = indexes.get(node)?.get(key) ?? (node.rrsets.length <= MAX_LINEAR_SEARCH ? findByKey(node.rrsets, key) : undefined)
  if (rrset) {
    rrset.data.push(data)
    if (ttl < rrset.ttl) rrset.ttl = ttl
    return
  }
  const added: Rrset = { type, code, ttl, data: [data], octets: null }
  node.rrsets.push(added)
  if (node.rrsets.length === MAX_LINEAR_SEARCH + 1) indexes.set(node, indexRrsets(node.rrsets))
  else indexes.get(node)?.set(key, added)
}

/**
 * What tells the RRsets of a name apart. Signatures of one RRset have its TTL; those of others at the name have nothing to do with them
 * (RFC 4034 section 3).
 */
const rrsetKey = (type: string, data: string): string => (type === 'RRSIG' ? `RRSIG ${data.slice(0, data.indexOf(' '))}` : type)

const keyOf = ({ type, data: [first = ''] }: Rrset): string => rrsetKey(type, first)

const findByKey = (rrsets: readonly Rrset[], key: string): Rrset | undefined => rrsets.find((rrset) => keyOf(rrset) === key)

const indexRrsets = (rrsets: readonly Rrset[]): Map<string, Rrset> => new Map(rrsets.map((rrset) => [keyOf(rrset), rrset]))

/** Finds the RRset of the same type, or of signatures of the same type, among those of one name. */
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
  for (const { data } of node.rrsets) {
    if (data.length === 1) continue
    const distinct = new Set(data)
    if (distinct.size < data.length) data.splice(0, data.length, ...distinct)
  }
}

function setCovers(nodes: ReadonlyMap<DomainName, ZoneNode>, apex: ZoneNode): void {
  const all = [...nodes.values()]
  const covering = new Set(all.filter((node) => findRrset(node, 'DNAME') || (node !== apex && findRrset(node, 'NS'))))
  // Most zones have none, and then no name needs a walk.
  if (covering.size === 0) return
  for (const node of all) {
    for (let at: ZoneNode | undefined = node; at; at = at === apex ? undefined : nodes.get(parentOf(at.name))) {
      if (covering.has(at)) node.cover = at
    }
  }
}
