/**
 * The authoritative name server: zones, responses, rate limit, cache, transfers and NOTIFY.
 *
 * Response rate limiting: limits how often the same answer is sent over UDP to one network, so that queries with a forged source address cannot use
 * the server for amplification. Real resolvers cache an answer for its TTL and stay far below the limit. Above the limit, every second response is
 * sent empty and truncated: it is no larger than the query, and a real client retries over TCP. The others are dropped.
 *
 * The counters are in a table of fixed size. Colliding entries replace each other, which can only weaken the limit.
 */
import { networkInterfaces } from 'node:os'
import { compareNames, type DomainName } from '../../dns/domain-name.ts'
import { canonicalAddress, ipv6Groups, isHostAddress } from '../../dns/ip-address.ts'
import { FLAG, RCODE, rcodeName } from '../../dns/wire/message.ts'
import { isAllowedPeer } from '../transfers/peer.ts'
import { NO_TRANSFER_KEYS, type TransferKeys } from '../transfers/transfer-keys.ts'
import {
  type Client,
  createTransferSlots,
  createZoneHistory,
  HISTORY_LIMITS,
  type HistoryLimits,
  type TransferNote,
} from './answer-transfer.ts'
import { listen, type TcpLimits, type TcpReply } from './listen.ts'
import { parseRequest, writeEmptyResponse } from './messages.ts'
import { createNotifier, type NotifyOutcome } from './notifier.ts'
import { type CountedQueries, createQueryCounts, type SavedCounts } from './query-counts.ts'
import { createSignatureCheck, type OnNotify, type ResponderOptions, respond } from './respond.ts'
import { createResponseCache, responseKey, reuseResponse } from './response-cache.ts'
import { buildZoneData, type ServedRecord, type ZoneData } from './zone-data.ts'

type Permission = 'send' | 'truncate' | 'drop'

/** Decides whether one response may be sent. Responses with the same hash share a limit per network. */
type ResponseLimiter = (address: string, limitHash: number, second: number) => Permission

const SLOTS = 1 << 16

/** `perSecond` is the number of equal answers per second to one network (IPv4 /24, IPv6 /64); 0 disables the limit. */
export function createResponseLimiter(perSecond: number): ResponseLimiter {
  if (perSecond === 0) return () => 'send'
  const keys = new Int32Array(SLOTS)
  const seconds = new Int32Array(SLOTS)
  const counts = new Uint32Array(SLOTS)
  return (address, limitHash, second) => {
    const key = Math.imul(networkHash(address) ^ limitHash, 0x9e3779b1)
    const slot = (key >>> 8) % SLOTS
    if (keys[slot] !== key || seconds[slot] !== second) {
      keys[slot] = key
      seconds[slot] = second
      counts[slot] = 0
    }
    const count = (counts[slot] as number) + 1
    counts[slot] = count
    if (count <= perSecond) return 'send'
    return count % 2 === 0 ? 'truncate' : 'drop'
  }
}

const BASIS = 0x811c9dc5
const PRIME = 0x01000193

/** The FNV-1a hash of a text. */
export function textHash(text: string, end = text.length): number {
  let hash = BASIS
  for (let i = 0; i < end; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), PRIME)
  return hash
}

function networkHash(address: string): number {
  if (!address.includes(':')) return textHash(address, address.lastIndexOf('.'))
  const zoneAt = address.indexOf('%')
  const groups = ipv6Groups(zoneAt === -1 ? address : address.slice(0, zoneAt))
  // IPv4-mapped addresses share one /64, so all of IPv4 would be limited together.
  const isMapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0)
  const network = isMapped ? groups.slice(6, 8).map((group, i) => (i === 0 ? group : group & 0xff00)) : groups.slice(0, 4)
  return network.reduce((hash, group) => Math.imul(hash ^ group, PRIME), BASIS)
}

export interface NameServerOptions {
  /** An address of this machine. */
  readonly host: string
  /** For UDP and TCP; 0 picks a port that is free for both. */
  readonly port: number
  readonly limits?: Partial<NameServerLimits>
  /** The port to which NOTIFY is sent; 53 by default. */
  readonly peerPort?: number
  /** Milliseconds to wait for the response to each attempt of a NOTIFY. Its length is the number of attempts. */
  readonly notifyWaits?: readonly number[]
  /** Handles a received NOTIFY; by default, all are refused. */
  readonly onNotify?: OnNotify
  /** The TSIG keys of transfers; none by default. */
  readonly keys?: TransferKeys
  /** Sends NOTIFY only to public addresses. */
  readonly publicPeersOnly?: boolean
  /** The operator's secondaries: they may transfer every zone, and get NOTIFY even if their addresses are not public. */
  readonly secondaries?: readonly string[]
  /** Real time in milliseconds since 1970, for signatures. */
  readonly clock?: () => number
  /** The counts of queries of an earlier process. */
  readonly savedCounts?: SavedCounts | null
  /** Limits of the history kept for incremental transfers. */
  readonly history?: Partial<HistoryLimits>
  /** Called with internal errors. The affected query is answered with SERVFAIL. */
  readonly onError?: (error: unknown) => void
  /** Called for every transfer request for a served zone. */
  readonly onTransfer?: (note: TransferNote) => void
  /** Called with the outcome of each NOTIFY sent. */
  readonly onNotified?: (outcome: NotifyOutcome) => void
  /** Called for every message with the name of the response code; null if no response was sent. */
  readonly onAnswer?: (answer: { readonly transport: 'udp' | 'tcp'; readonly rcode: string | null }) => void
}

export interface NameServerLimits extends TcpLimits {
  /** Concurrent outgoing transfers. */
  readonly transfers: number
  /** Equal UDP responses per second to one network; 0 for no limit. */
  readonly responsesPerSecond: number
  /** Size of the response cache in octets. */
  readonly cacheOctets: number
  /** RRsets whose queries are counted. */
  readonly countedRrsets: number
}

/** A zone for the name server. Its records include the SOA and NS at the apex. */
interface ServedZone {
  readonly name: DomainName
  readonly serial: number
  /** Its records, or the text of a stored zone. */
  readonly records: string | Iterable<ServedRecord>
  /** Addresses that may transfer the zone and get NOTIFY; none by default. */
  readonly axfrIps?: readonly string[]
  /** The account that owns the zone and its keys. */
  readonly accountId?: number
}

export interface NameServer {
  readonly address: { readonly host: string; readonly port: number }
  /**
   * Serves the zone, replacing one with the same name, and sends NOTIFY to the allowed addresses that do not know its serial. Running transfers
   * finish with the version they started with. Throws a `RangeError` unless the zone has one SOA at its apex.
   */
  setZone(zone: ServedZone): void
  /** Answers SERVFAIL for the names of a zone without data, such as an expired secondary. No parent zone answers for them. */
  setUnavailable(name: DomainName): void
  removeZone(name: DomainName): void
  /** The number of zones that have data. */
  zoneCount(): number
  /** How often the RRsets of a served zone, or of all, were queried in the last day; null if the zone is not served. */
  countedQueries(zone: DomainName | null): ServedCounts | null
  /** The counts of queries, for a later process. */
  saveCounts(): SavedCounts
  close(): Promise<void>
}

/** The counts of served zones. */
export interface ServedCounts extends CountedQueries {
  /** Those that have data, and were counted. */
  readonly zones: readonly DomainName[]
}

const NAME_SERVER_LIMITS: NameServerLimits = {
  connections: 256,
  connectionsOfHost: 32,
  idle: 10_000,
  queryOctets: 4096,
  transfers: 16,
  responsesPerSecond: 200,
  cacheOctets: 32 * 1024 * 1024,
  countedRrsets: 100_000,
}

const NOTIFY_PORT = 53

/** Received NOTIFY messages that may be pending. More are dropped; the sender repeats them. */
const PENDING_NOTIFY = 64

/**
 * Starts an authoritative name server (RFC 1034, RFC 1035 and their updates) on UDP and TCP. It serves only its own zones, without recursion,
 * and allows transfers only to the addresses that a zone names. Rejects with the system's error if the address is not available.
 */
export async function startNameServer(options: NameServerOptions): Promise<NameServer> {
  const { host, peerPort = NOTIFY_PORT, keys = NO_TRANSFER_KEYS, publicPeersOnly = false, clock = Date.now, onAnswer } = options
  const limits = { ...NAME_SERVER_LIMITS, ...options.limits }
  const secondaries: ReadonlySet<string> = new Set((options.secondaries ?? []).flatMap((address) => canonicalAddress(address) ?? []))
  const zones = new Map<DomainName, ZoneData | null>()
  const clients = new Map<DomainName, AllowedClients>()
  const history = createZoneHistory({ ...HISTORY_LIMITS, ...options.history })
  const cache = createResponseCache((zone) => zones.get(zone.name) === zone, limits.cacheOctets)
  const counts = createQueryCounts(limits.countedRrsets, clock, options.savedCounts)
  const permit = createResponseLimiter(limits.responsesPerSecond)
  const responder: ResponderOptions = {
    zones,
    counts,
    transferZone: (name) => {
      const data = zones.get(name)
      if (!data) return undefined
      const { addresses, accountId } = clients.get(name) ?? NO_CLIENTS
      return {
        data,
        allows: (address, signedBy) => addresses.has(address) && keys.allows({ name, accountId }, 'outgoing', address, signedBy),
        since: (serial, maxRecords) => history.since(data, serial, maxRecords),
      }
    },
    slots: createTransferSlots(limits.transfers),
    onTransfer: options.onTransfer ?? (() => {}),
    onNotify: limitPending(options.onNotify ?? (() => 'refused')),
    checkSignature: createSignatureCheck(keys, clock),
    onError: options.onError ?? (() => {}),
  }

  const answerUdp = (query: Buffer, client: Client): Buffer | Promise<Buffer> | null => {
    const key = responseKey(query)
    const cached = key === null ? undefined : cache.find(key)
    if (key !== null && cached) {
      if (cached.counter) counts.again(cached.counter)
      return limitRate(query, client, reuseResponse(cached, key, query), cached.limitHash)
    }
    const { message, limitKey, cacheZones, counter = null, isVerified } = respond(responder, query, client)
    const hash = textHash(limitKey)
    if (!Buffer.isBuffer(message)) return message instanceof Promise ? message : null
    if (key !== null && cacheZones !== null) cache.add(key, { octets: message, zones: cacheZones, limitHash: hash, counter })
    return isVerified ? message : limitRate(query, client, message, hash)
  }

  const limitRate = (query: Buffer, client: Client, response: Buffer, limitHash: number): Buffer | null => {
    const permission = permit(client.address, limitHash, (performance.now() / 1000) | 0)
    if (permission === 'send') return response
    const request = permission === 'truncate' ? parseRequest(query) : null
    return request === null || request.kind === 'rejected' ? null : writeEmptyResponse(request, RCODE.NOERROR, FLAG.TC)
  }

  const report = <T extends TcpReply>(transport: 'udp' | 'tcp', reply: T): T => {
    onAnswer?.({ transport, rcode: Buffer.isBuffer(reply) ? rcodeName((reply[3] as number) & 0xf) : reply === null ? null : 'NOERROR' })
    return reply
  }
  const { udp, tcp } = await listen(host, options.port, limits, {
    udp: (query, client) => report('udp', answerUdp(query, client)),
    tcp: (query, client) => report('tcp', respond(responder, query, client).message),
  })
  const notifier = createNotifier({
    host,
    port: peerPort,
    keyFor: (name, address) => keys.keyFor({ name, accountId: (clients.get(name) ?? NO_CLIENTS).accountId }, 'outgoing', address),
    clock,
    ...(options.notifyWaits && { waits: options.notifyWaits }),
    ...(options.onNotified && { onEnd: options.onNotified }),
  })
  /** Whether NOTIFY to the address is useful: it must be a host, and not this server itself. */
  const canReceive = (address: string): boolean => isHostAddress(address) && !(peerPort === tcp.port && isOwnAddress(host, address))

  const notifySecondaries = (zone: ZoneData, existing: ZoneData | null | undefined, before: AllowedClients, now: AllowedClients): void => {
    notifier.forget(zone.name, now.addresses)
    const isNew = existing?.serial !== zone.serial
    const recipients = [...now.addresses].filter((address) => (isNew || !before.addresses.has(address)) && canReceive(address))
    const allowed = recipients.filter((address) => secondaries.has(address) || isAllowedPeer(address, publicPeersOnly))
    if (allowed.length > 0) {
      const { ttl, data } = zone.soa
      notifier.notify({ zone: zone.name, serial: zone.serial, soa: { ttl, data: data[0] as string } }, allowed)
    }
    for (const address of recipients) {
      if (allowed.includes(address)) continue
      options.onNotified?.({ zone: zone.name, address, serial: zone.serial, rcode: null, problem: 'the address is not public' })
    }
  }
  const forget = (name: DomainName): void => {
    zones.delete(name)
    clients.delete(name)
    history.forget(name)
    counts.removeZone(name)
    cache.clear()
    notifier.forget(name)
  }
  return {
    address: { host, port: tcp.port },
    setZone: ({ name, serial, records, axfrIps = [], accountId = NO_CLIENTS.accountId }) => {
      const zone = buildZoneData(name, serial, records)
      const [existing, before] = [zones.get(name), clients.get(name) ?? NO_CLIENTS]
      const own = axfrIps.flatMap((address) => canonicalAddress(address) ?? [])
      const addresses = own.length === 0 ? secondaries : new Set([...secondaries, ...own])
      const now: AllowedClients = { addresses, accountId }
      // If another account now owns the name, the history must not reveal the previous owner's records.
      if (existing && now.addresses.size > 0 && accountId === before.accountId) history.record(existing, zone)
      else history.forget(name)
      zones.set(name, zone)
      clients.set(name, now)
      counts.addZone(name, accountId)
      // A parent zone may have answered for its names.
      if (!existing) cache.clear()
      notifySecondaries(zone, existing, before, now)
    },
    setUnavailable: (name) => {
      forget(name)
      zones.set(name, null)
    },
    removeZone: forget,
    zoneCount: () => [...zones.values()].filter((zone) => zone !== null).length,
    countedQueries: (zone) => {
      const served = (zone === null ? [...zones.keys()].sort(compareNames) : [zone]).filter((name) => zones.get(name))
      return zone !== null && served.length === 0 ? null : { ...counts.read(served), zones: served }
    },
    saveCounts: counts.save,
    close: async () => {
      notifier.close()
      counts.close()
      await Promise.all([udp.close(), tcp.close()])
    },
  }
}

/** The clients that may transfer a zone: canonical addresses, and the account whose keys they use. */
interface AllowedClients {
  readonly addresses: ReadonlySet<string>
  readonly accountId: number
}

/** Account ids start at 1. */
const NO_CLIENTS: AllowedClients = { addresses: new Set(), accountId: 0 }

function limitPending(onNotify: OnNotify): OnNotify {
  let pending = 0
  return (...notify) => {
    if (pending >= PENDING_NOTIFY) return null
    const verdict = onNotify(...notify)
    if (verdict === null || typeof verdict === 'string') return verdict
    pending += 1
    return verdict.finally(() => {
      pending -= 1
    })
  }
}

/** Whether a server that listens on `host` can be reached at the address. */
function isOwnAddress(host: string, address: string): boolean {
  if (host !== '0.0.0.0' && host !== '::') return canonicalAddress(host) === address
  const interfaces = Object.values(networkInterfaces()).flatMap((entries) => entries ?? [])
  return address.startsWith('127.') || interfaces.some((entry) => canonicalAddress(entry.address) === address)
}
