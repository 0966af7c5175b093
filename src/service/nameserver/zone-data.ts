/**
 * A zone in memory for queries: the text of the stored zone, and an index of its names. RRsets are read from the lines of a name when they are
 * needed, so a zone of 20 records takes about 2 KiB instead of 10, and a query reads one or two names, however many the zone has.
 */
import { randomInt } from 'node:crypto'
import { type DomainName, isAtOrBelow, lowerCaseName, parentOf, ROOT, relativeName } from '../../dns/domain-name.ts'
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

const [TAB, DOT, BACKSLASH, SEMICOLON, DOLLAR, AT, D, N] = [0x09, 0x2e, 0x5c, 0x3b, 0x24, 0x40, 0x44, 0x4e]

const DEFAULT_TTL = '$TTL '

/** The owner of records at the apex in the text of a zone. */
const APEX = '@'

/** Above this many RRsets, a name keeps them: it can have thousands of records. */
const MAX_UNKEPT = 16

/** A zone that answers queries. */
export class ZoneData {
  readonly name: DomainName
  readonly serial: number
  readonly #index: ZoneIndex
  #kept: Map<number, readonly Rrset[]> | null = null

  constructor(name: DomainName, serial: number, index: ZoneIndex) {
    this.name = name
    this.serial = serial
    this.#index = index
  }

  get apex(): ZoneNode {
    return new ZoneNode(this, this.name, findOwner(this.#index, APEX, 0, 1))
  }

  get soa(): Rrset {
    return readRrsets(this.#index, findOwner(this.#index, APEX, 0, 1), 'SOA')[0] as Rrset
  }

  /** The SOA for negative answers: its TTL is the lower of its own TTL and MINIMUM (RFC 2308 section 3). */
  get negativeSoa(): Rrset {
    const { soa } = this
    const [data = ''] = soa.data
    return { ...soa, ttl: Math.min(soa.ttl, Number(data.slice(data.lastIndexOf(' ') + 1))) }
  }

  /** The node of a name at or below the apex. Every name that exists has one, empty non-terminals included (RFC 4592 section 2.2.2). */
  find(name: DomainName): ZoneNode | undefined {
    if (name === this.name) return this.apex
    const length = name.length - (this.name === ROOT ? 1 : this.name.length + 1)
    // A label `@` is not the apex.
    if (length <= 0 || (length === 1 && name.charCodeAt(0) === AT)) return undefined
    const start = findOwner(this.#index, name, 0, length)
    return start === -1 ? undefined : new ZoneNode(this, name, start)
  }

  /** All nodes, the apex first. */
  *nodes(): Generator<ZoneNode, void> {
    const { text } = this.#index
    for (let at = 0, next = 0; at < text.length; at = next) {
      next = lineEnd(text, at) + 1
      if (text.charCodeAt(at) === SEMICOLON || text.startsWith(DEFAULT_TTL, at)) continue
      const length = text.indexOf('\t', at) - at
      while (next < text.length && isOwnerAt(text, next, text, at, length)) next = lineEnd(text, next) + 1
      yield new ZoneNode(this, absoluteName(text.slice(at, at + length), this.name), at)
    }
  }

  /** The RRsets whose lines begin at an offset of the text. */
  rrsetsAt(start: number): readonly Rrset[] {
    const kept = this.#kept?.get(start)
    if (kept !== undefined) return kept
    const rrsets = readRrsets(this.#index, start, null)
    const count = rrsets.length > MAX_UNKEPT ? rrsets.length : rrsets.reduce((sum, { data }) => sum + data.length, 0)
    if (count > MAX_UNKEPT) {
      this.#kept ??= new Map()
      this.#kept.set(start, rrsets)
    }
    return rrsets
  }

  /** See `ZoneNode.cover`. */
  coverOf(node: ZoneNode): ZoneNode | null {
    if (!this.#index.hasCovers) return null
    let cover: ZoneNode | null = null
    for (let at: ZoneNode | undefined = node; at; at = at.name === this.name ? undefined : this.find(parentOf(at.name))) {
      if (findRrset(at, 'DNAME') || isDelegation(this, at)) cover = at
    }
    return cover
  }
}

/** A name that exists in a zone. */
export class ZoneNode {
  readonly name: DomainName
  readonly #zone: ZoneData
  readonly #start: number
  #rrsets: readonly Rrset[] | null = null

  constructor(zone: ZoneData, name: DomainName, start: number) {
    this.name = name
    this.#zone = zone
    this.#start = start
  }

  /** In zone order; empty for an empty non-terminal. */
  get rrsets(): readonly Rrset[] {
    this.#rrsets ??= this.#zone.rrsetsAt(this.#start)
    return this.#rrsets
  }

  /**
   * The topmost node at or above this one with a delegation (NS below the apex) or a DNAME. Names below it are not part of the zone's data
   * (RFC 2136 section 7.18, RFC 6672 section 2.4).
   */
  get cover(): ZoneNode | null {
    return this.#zone.coverOf(this)
  }
}

/**
 * A zone from its records or from the text of a stored zone, in linear time. Skips records outside the zone, records of unknown types and
 * duplicates (RFC 2181 section 5). Throws a `RangeError` unless the apex has exactly one SOA record.
 */
export function buildZoneData(name: DomainName, serial: number, content: string | Iterable<ServedRecord>): ZoneData {
  const direct = typeof content === 'string' ? indexText(content) : null
  const index = direct ?? indexText(textByOwner(name, typeof content === 'string' ? parseZoneText(name, content) : content))
  const apexAt = index === null ? -1 : findOwner(index, APEX, 0, 1)
  const [soa] = index === null || apexAt === -1 ? [] : readRrsets(index, apexAt, 'SOA')
  if (index === null || soa?.data.length !== 1) throw new RangeError(`the zone ${name} needs one SOA record at its apex`)
  return new ZoneData(name, serial, index)
}

/** Parses the text of a stored zone. It does not validate, because only this program writes such texts. */
export function parseZoneText(name: DomainName, text: string): ServedRecord[] {
  const records: ServedRecord[] = []
  let defaultTtl = 0
  for (const line of text.split('\n')) {
    if (line.startsWith(';')) continue
    if (line.startsWith(DEFAULT_TTL)) {
      defaultTtl = Number(line.slice(DEFAULT_TTL.length))
      continue
    }
    const [owner, ttl, type, data] = line.split('\t') as [string, string, string, string]
    const record = { type, ttl: ttlOf(ttl, defaultTtl), data }
    if (/[A-Z]/.test(owner)) records.push({ name: lowerCaseName(owner), writtenOwner: owner, ...record })
    else records.push({ name: absoluteName(owner, name), ...record })
  }
  return records
}

const ttlOf = (text: string, defaultTtl: number): Ttl => (text === '' || text === 'IN' ? defaultTtl : Number(text)) as Ttl

const absoluteName = (owner: string, zone: DomainName): DomainName =>
  (owner === APEX ? zone : zone === ROOT ? `${owner}.` : `${owner}.${zone}`) as DomainName

/** The records as text, those of a name together. An owner with capital letters is a fifth field. */
function textByOwner(zone: DomainName, records: Iterable<ServedRecord>): string {
  const lines = new Map<string, string[]>([[APEX, []]])
  for (const { name, ttl, type, data, writtenOwner } of records) {
    if (typeCode(type) === null || !isAtOrBelow(name, zone)) continue
    const owner = name === zone ? APEX : relativeName(name, zone)
    const line = `${owner}\t${ttl}\t${type}\t${data}${writtenOwner === undefined ? '' : `\t${writtenOwner}`}`
    const others = lines.get(owner)
    if (others) others.push(line)
    else lines.set(owner, [line])
  }
  return [...lines.values()].flat().join('\n')
}

interface ZoneIndex {
  /** The text of a stored zone. The records of each name are in consecutive lines, owners in lower case. */
  readonly text: string
  readonly defaultTtl: number
  /** A hash table: where the lines of a name begin, plus 1; 0 for a free slot. Its length is a power of 2. */
  readonly slots: readonly number[]
  /** Whether it has a delegation (NS below the apex) or a DNAME. Most zones have none. */
  readonly hasCovers: boolean
}

/** Indexes the text of a stored zone. Null if the records of a name are apart, or an owner has capital letters. */
function indexText(text: string): ZoneIndex | null {
  const starts: number[] = []
  let [defaultTtl, hasCovers, hasDots, length] = [0, false, false, -1]
  for (let at = 0, end = 0; at < text.length; at = end + 1) {
    end = lineEnd(text, at)
    const first = text.charCodeAt(at)
    if (first === SEMICOLON) continue
    if (first === DOLLAR && text.startsWith(DEFAULT_TTL, at)) {
      defaultTtl = Number(text.slice(at + DEFAULT_TTL.length, end))
      continue
    }
    const before = starts.at(-1)
    if (before === undefined || !isOwnerAt(text, at, text, before, length)) {
      starts.push(at)
      length = text.indexOf('\t', at) - at
      for (let i = at; i < at + length; i += 1) {
        const code = text.charCodeAt(i)
        if (code >= 0x41 && code <= 0x5a) return null
        if (code === DOT) hasDots = true
      }
    }
    const typeAt = text.indexOf('\t', at + length + 1) + 1
    const letter = text.charCodeAt(typeAt)
    if (letter === D) hasCovers ||= text.startsWith('DNAME\t', typeAt)
    else if (letter === N && first !== AT) hasCovers ||= text.startsWith('NS\t', typeAt)
  }
  let size = 4
  while (size < starts.length * 1.5) size *= 2
  const slots = new Array<number>(size).fill(0)
  for (const start of starts) {
    const slot = slotOf({ text, slots }, text, start, text.indexOf('\t', start))
    if (slots[slot] !== 0) return null
    slots[slot] = start + 1
  }
  const index = { text, defaultTtl, slots, hasCovers }
  const missing = hasDots ? emptyNonTerminals(index, starts) : []
  return missing.length === 0 ? index : indexText(`${text}\n${missing.join('\n')}`)
}

/** Lines without a type for the names that have no records, but names below them have (RFC 4592 section 2.2.2). */
function emptyNonTerminals(index: ZoneIndex, starts: readonly number[]): string[] {
  const { text } = index
  const missing = new Set<string>()
  for (const start of starts) {
    const end = text.indexOf('\t', start)
    for (let i = start; i < end; i += 1) {
      const code = text.charCodeAt(i)
      if (code === BACKSLASH) i += 1
      else if (code === DOT && findOwner(index, text, i + 1, end) === -1) missing.add(text.slice(i + 1, end))
    }
  }
  return [...missing].map((owner) => `${owner}\t\t\t`)
}

/** Random, so that nobody can choose names that share a slot. */
const SEED = randomInt(0x7fffffff)

/** The hash of an owner relative to the zone, which is a part of a text (FNV-1a with a final mix). */
function ownerHash(text: string, from: number, to: number): number {
  let hash = SEED
  for (let i = from; i < to; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 8
}

type OwnerTable = Pick<ZoneIndex, 'text' | 'slots'>

/** The slot of an owner, which is a part of another text, or the free slot that it would have. */
function slotOf({ text, slots }: OwnerTable, owner: string, from: number, to: number): number {
  const mask = slots.length - 1
  for (let slot = ownerHash(owner, from, to) & mask; ; slot = (slot + 1) & mask) {
    const start = (slots[slot] as number) - 1
    if (start === -1 || isOwnerAt(text, start, owner, from, to - from)) return slot
  }
}

/** Where the lines of an owner begin; -1 if it has none. */
const findOwner = (table: OwnerTable, owner: string, from: number, to: number): number =>
  (table.slots[slotOf(table, owner, from, to)] as number) - 1

/** Whether the line at `at` has the owner that is a part of another text. */
function isOwnerAt(text: string, at: number, owner: string, from: number, length: number): boolean {
  if (text.charCodeAt(at + length) !== TAB) return false
  for (let i = 0; i < length; i += 1) if (text.charCodeAt(at + i) !== owner.charCodeAt(from + i)) return false
  return true
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end === -1 ? text.length : end
}

/** Reads the RRsets of the name whose lines begin at an offset; only those of one type, or all. */
function readRrsets({ text, defaultTtl }: ZoneIndex, start: number, only: string | null): Rrset[] {
  const rrsets: Rrset[] = []
  const length = text.indexOf('\t', start) - start
  /** By type (and covered type). */
  const index = new Map<string, Rrset>()
  for (let at = start, end = 0; at < text.length && (at === start || isOwnerAt(text, at, text, start, length)); at = end + 1) {
    end = lineEnd(text, at)
    const ttlAt = at + length + 1
    const typeAt = text.indexOf('\t', ttlAt) + 1
    const dataAt = text.indexOf('\t', typeAt) + 1
    const type = text.slice(typeAt, dataAt - 1)
    const code = type === '' || (only !== null && type !== only) ? null : typeCode(type)
    if (code === null) continue
    const dataEnd = text.indexOf('\t', dataAt)
    const hasWrittenOwner = dataEnd !== -1 && dataEnd < end
    const data = text.slice(dataAt, hasWrittenOwner ? dataEnd : end)
    const writtenOwner = hasWrittenOwner ? text.slice(dataEnd + 1, end) : undefined
    addRecord(rrsets, index, {
      type,
      code,
      ttl: ttlOf(text.slice(ttlAt, typeAt - 1), defaultTtl),
      writtenOwner,
      data: [data],
      octets: null,
    })
  }
  for (const rrset of rrsets) if (rrset.data.length > 1) dropDuplicates(rrset)
  return rrsets
}

function addRecord(rrsets: Rrset[], index: Map<string, Rrset>, record: Rrset): void {
  const rrset = index.get(keyOf(record))
  if (rrset === undefined) {
    rrsets.push(record)
    index.set(keyOf(record), record)
    return
  }
  rrset.data.push(record.data[0] as string)
  if (record.ttl < rrset.ttl) rrset.ttl = record.ttl
}

export function findRrset(node: ZoneNode, type: string): Rrset | undefined {
  for (const rrset of node.rrsets) if (rrset.type === type) return rrset
  return undefined
}

/** Whether the node is a delegation point: it has NS and is not the apex (RFC 1034 section 4.2.1). */
export const isDelegation = (zone: ZoneData, node: ZoneNode): boolean => node.name !== zone.name && findRrset(node, 'NS') !== undefined

/** The key of an RRset at its name. RRSIG records form one RRset per covered type, because each has the TTL of the RRset it covers (RFC 4034 section 3). */
const keyOf = ({ type, data: [first = ''] }: Rrset): string => (type === 'RRSIG' ? `RRSIG ${first.slice(0, first.indexOf(' '))}` : type)

/** Returns a function that finds the RRset with the same type (and covered type) in a list of RRsets at one name. */
export function createRrsetFinder(rrsets: readonly Rrset[]): (wanted: Rrset) => Rrset | undefined {
  const index = new Map(rrsets.map((rrset) => [keyOf(rrset), rrset]))
  return (wanted) => index.get(keyOf(wanted))
}

function dropDuplicates({ type, data }: Rrset): void {
  const distinct = new Set(data.map((one) => lowerCaseNames(type, one)))
  if (distinct.size < data.length) data.splice(0, data.length, ...data.filter((one) => distinct.delete(lowerCaseNames(type, one))))
}
