/**
 * A cache of UDP responses. The key is computed from the octets of the query without parsing it. A cached response is reused with the
 * identifier, RD, CD and letter case of the new query; everything else depends only on the key. A response becomes invalid when one of its
 * zones changes.
 */
import { META_TYPE } from '../../dns/record-type.ts'
import { CLASS, FLAG, HEADER_OCTETS, SAFE_UDP_OCTETS } from '../../dns/wire/message.ts'
import type { QueryCounter } from './query-counts.ts'
import type { ZoneData } from './zone-data.ts'

export interface CachedResponse {
  readonly octets: Buffer
  readonly zones: readonly ZoneData[]
  /** The hash of the key for rate limiting. */
  readonly limitHash: number
  /** Counts the queries; null if nothing is counted. */
  readonly counter: QueryCounter | null
}

export interface ResponseCache {
  find(key: string): CachedResponse | undefined
  add(key: string, response: CachedResponse): void
  /** Empties the cache. Call it when a zone is added or removed. */
  clear(): void
}

/** `isServed` returns whether a version of a zone is current. `maxOctets` limits the memory approximately; 0 disables the cache. */
export function createResponseCache(isServed: (zone: ZoneData) => boolean, maxOctets: number): ResponseCache {
  // An approximate LRU with two generations. When the young one is full, the old one is dropped; a hit moves an entry to the young one.
  let young = new Map<string, CachedResponse>()
  let old = new Map<string, CachedResponse>()
  let octets = 0

  const add = (key: string, response: CachedResponse): void => {
    const size = response.octets.length + key.length + ENTRY_OCTETS
    if (size > maxOctets / 2) return
    octets += size
    if (octets > maxOctets / 2) {
      old = young
      young = new Map()
      octets = size
    }
    young.set(key, response)
  }
  return {
    find: (key) => {
      let cached = young.get(key)
      if (cached === undefined) {
        cached = old.get(key)
        if (cached === undefined) return undefined
        old.delete(key)
        add(key, cached)
      }
      if (cached.zones.every(isServed)) return cached
      young.delete(key)
      return undefined
    },
    add: (key, response) => {
      // A small buffer from the shared pool would keep its whole pool block in memory.
      const copy = Buffer.allocUnsafeSlow(response.octets.length)
      response.octets.copy(copy)
      add(key, { ...response, octets: copy })
    },
    clear: () => {
      young = new Map()
      old = new Map()
      octets = 0
    },
  }
}

/** Approximate overhead of an entry in octets: objects, map slot and zone list. */
const ENTRY_OCTETS = 400

/** Without EDNS, with EDNS, with EDNS and DO. */
const SUFFIXES = ['0', '1', '2'] as const

const LOWER_CASE = Uint8Array.from({ length: 256 }, (_, octet) => (octet >= 0x41 && octet <= 0x5a ? octet + 0x20 : octet))

const SCRATCH = Buffer.alloc(260)

/**
 * The cache key of a query: its question with the name in lower case, and its EDNS variant. Null unless it is a plain query of class IN, and
 * null if its UDP size could require truncation.
 */
export function responseKey(query: Buffer): string | null {
  const { length } = query
  if (length < HEADER_OCTETS + 5 || (query[2] as number) & 0xf8) return null
  if (query[4] !== 0 || query[5] !== 1 || query[6] || query[7] || query[8] || query[9] || query[10]) return null
  const end = copyQuestion(query)
  if (end === 0) return null
  const suffix = query[11] === 0 ? (end === length ? SUFFIXES[0] : null) : query[11] === 1 ? optSuffix(query, end) : null
  return suffix === null ? null : SCRATCH.toString('latin1', 0, end - HEADER_OCTETS) + suffix
}

/** Copies the question to `SCRATCH` with its name in lower case. Returns its end offset in the query, or 0 if it is not an ordinary question. */
function copyQuestion(query: Buffer): number {
  let at = HEADER_OCTETS
  let to = 0
  for (;;) {
    const label = query[at]
    if (label === undefined || label > 63 || to + label > 254) return 0
    SCRATCH[to] = label
    at += 1
    to += 1
    if (label === 0) break
    if (at + label > query.length) return 0
    for (const next = at + label; at < next; at += 1, to += 1) SCRATCH[to] = LOWER_CASE[query[at] as number] as number
  }
  if (at + 4 > query.length || query[at + 2] !== 0 || query[at + 3] !== CLASS.IN) return 0
  for (let i = 0; i < 4; i += 1) SCRATCH[to + i] = query[at + i] as number
  return at + 4
}

function optSuffix(query: Buffer, at: number): string | null {
  // Root, type OPT, size, extended RCODE, version, flags, length.
  if (at + 11 > query.length || query[at] !== 0 || query[at + 1] !== 0 || query[at + 2] !== META_TYPE.OPT) return null
  if (query.readUInt16BE(at + 3) < SAFE_UDP_OCTETS || query[at + 6] !== 0) return null
  const end = at + 11 + query.readUInt16BE(at + 9)
  let option = at + 11
  while (option + 4 <= end && end <= query.length) option += 4 + query.readUInt16BE(option + 2)
  if (option !== end || end !== query.length) return null
  return (query[at + 7] as number) & 0x80 ? SUFFIXES[2] : SUFFIXES[1]
}

const RD = FLAG.RD >> 8

/** Adapts a cached response to a query with the same key. */
export function reuseResponse({ octets }: CachedResponse, key: string, query: Buffer): Buffer {
  const response = Buffer.allocUnsafe(octets.length)
  octets.copy(response)
  const [flags, moreFlags] = [octets[2] as number, octets[3] as number]
  response[0] = query[0] as number
  response[1] = query[1] as number
  response[2] = (flags & ~RD) | ((query[2] as number) & RD)
  response[3] = (moreFlags & ~FLAG.CD) | ((query[3] as number) & FLAG.CD)
  const end = HEADER_OCTETS + key.length - 1
  for (let i = HEADER_OCTETS; i < end; i += 1) response[i] = query[i] as number
  return response
}
