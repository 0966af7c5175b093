import { networkInterfaces } from 'node:os'
import type { DomainName } from '../../dns/domain-name.ts'
import { FLAG, RCODE, rcodeName } from '../../dns/wire/message.ts'
import { isAllowedPeer } from '../transfers/peer.ts'
import { NO_TRANSFER_KEYS, type TransferKeys } from '../transfers/transfer-keys.ts'
import { type Client, createTransferSlots, type TransferNote } from './answer-transfer.ts'
import { canonicalAddress, isHostAddress } from './canonical-address.ts'
import { listen } from './listen.ts'
import { createNotifier, type NotifyOutcome } from './notifier.ts'
import { parseQuery } from './parse-query.ts'
import { createSignatureCheck } from './request-signature.ts'
import { type OnNotify, type ResponderOptions, respond } from './respond.ts'
import { createResponseCache, responseKey, reuseResponse } from './response-cache.ts'
import { createResponseLimiter, textHash } from './response-limiter.ts'
import type { TcpLimits, TcpReply } from './tcp-listener.ts'
import { writeEmptyResponse } from './write-response.ts'
import { buildZoneData, type ServedRecord, type ZoneData } from './zone-data.ts'
import { createZoneHistory, HISTORY_LIMITS, type HistoryLimits } from './zone-history.ts'

export interface NameServerOptions {
  /** An address of this machine. */
  readonly host: string
  /** For UDP and TCP; 0 takes one that is free for both. */
  readonly port: number
  readonly limits?: Partial<NameServerLimits>
  /** Where the addresses that may transfer a zone listen for NOTIFY; 53 unless given. */
  readonly peerPort?: number
  /** Milliseconds to wait for an answer to each try of a NOTIFY sent; as many tries. */
  readonly notifyWaits?: readonly number[]
  /** Decides on each NOTIFY received; without it, all are refused. */
  readonly onNotify?: OnNotify
  /** The keys that zones are transferred with; none unless given. */
  readonly keys?: TransferKeys
  /** Sends NOTIFY to addresses of the public Internet only. */
  readonly publicPeersOnly?: boolean
  /** Real time in milliseconds since 1970, for signatures. */
  readonly clock?: () => number
  /** Bounds of what is kept for incremental transfers. */
  readonly history?: Partial<HistoryLimits>
  /** Told of what goes wrong inside; the message it concerns is answered by SERVFAIL. */
  readonly onError?: (error: unknown) => void
  /** Told of every request for a transfer of a zone that is served. */
  readonly onTransfer?: (note: TransferNote) => void
  /** Told of the end of each NOTIFY sent. */
  readonly onNotified?: (outcome: NotifyOutcome) => void
  /** Told of every message: the name of the answer's response code, null where none was sent. */
  readonly onAnswer?: (answer: { readonly transport: 'udp' | 'tcp'; readonly rcode: string | null }) => void
}

export interface NameServerLimits extends TcpLimits {
  /** Transfers at one time. */
  readonly transfers: number
  /** Equal answers a second over UDP to one network; 0 for no limit. */
  readonly responsesPerSecond: number
  /** Octets of responses kept for the same question. */
  readonly cacheOctets: number
}

/** What the name server answers for: SOA and NS at the apex are among the records. */
export interface ServedZone {
  readonly name: DomainName
  readonly serial: number
  readonly records: Iterable<ServedRecord>
  /** Addresses that may transfer the zone, and are told of its changes; nobody may unless given. */
  readonly axfrIps?: readonly string[]
  /** The account that owns it, whose keys are for it. */
  readonly accountId?: number
}

export interface NameServer {
  readonly address: { readonly host: string; readonly port: number }
  /**
   * Serves the zone from now on, instead of an earlier one of its name, and tells the addresses that may transfer it, if they do not
   * know that serial. Transfers under way end with the zone they began with. Throws a `RangeError` unless it has one SOA at its apex.
   */
  setZone(zone: ServedZone): void
  /**
   * Holds a zone of which there is no data, as of a secondary whose zone has expired: its names are answered by SERVFAIL, and by no zone
   * above it.
   */
  setUnavailable(name: DomainName): void
  removeZone(name: DomainName): void
  /** Zones that there is data of. */
  zoneCount(): number
  close(): Promise<void>
}

export const NAME_SERVER_LIMITS: NameServerLimits = {
  connections: 256,
  connectionsOfHost: 32,
  idle: 10_000,
  queryOctets: 4096,
  transfers: 16,
  responsesPerSecond: 200,
  cacheOctets: 32 * 1024 * 1024,
}

const NOTIFY_PORT = 53

/** NOTIFY received that wait for a decision: more are dropped, and sent again by who sent them. */
const PENDING_NOTIFY = 64

/**
 * An authoritative name server (RFC 1034, RFC 1035 and their updates) over UDP and TCP. It answers only for its zones, knows no
 * recursion, and gives whole zones (RFC 5936) only to the addresses each zone names. Rejects with the error of the system if the address
 * cannot be had.
 */
export async function startNameServer(options: NameServerOptions): Promise<NameServer> {
  const { host, peerPort = NOTIFY_PORT, keys = NO_TRANSFER_KEYS, publicPeersOnly = false, clock = Date.now, onAnswer } = options
  const limits = { ...NAME_SERVER_LIMITS, ...options.limits }
  const zones = new Map<DomainName, ZoneData | null>()
  const clients = new Map<DomainName, AllowedClients>()
  const history = createZoneHistory({ ...HISTORY_LIMITS, ...options.history })
  const cache = createResponseCache((zone) => zones.get(zone.name) === zone, limits.cacheOctets)
  const permit = createResponseLimiter(limits.responsesPerSecond)
  const served: ResponderOptions = {
    zones,
    transferZone: (name) => {
      const data = zones.get(name)
      if (!data) return undefined
      const { addresses, accountId } = clients.get(name) ?? NO_CLIENTS
      return {
        data,
        allows: (address, signedBy) => addresses.has(address) && keys.allows({ name, accountId }, 'outgoing', address, signedBy),
        since: (serial, most) => history.since(data, serial, most),
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
    const kept = key === null ? undefined : cache.find(key)
    if (key !== null && kept) return limited(query, client, reuseResponse(kept, key, query), kept.about)
    const { message, about, cacheZones, isVerified } = respond(served, query, client)
    const hash = textHash(about)
    if (!Buffer.isBuffer(message)) return message instanceof Promise ? message : null
    if (key !== null && cacheZones !== null) cache.add(key, { octets: message, zones: cacheZones, about: hash })
    return isVerified ? message : limited(query, client, message, hash)
  }

  const limited = (query: Buffer, client: Client, response: Buffer, about: number): Buffer | null => {
    const permission = permit(client.address, about, (performance.now() / 1000) | 0)
    if (permission === 'send') return response
    const asked = permission === 'truncate' ? parseQuery(query) : null
    return asked === null || asked.kind === 'rejected' ? null : writeEmptyResponse(asked, RCODE.NOERROR, FLAG.TC)
  }

  const note = <T extends TcpReply>(transport: 'udp' | 'tcp', reply: T): T => {
    onAnswer?.({ transport, rcode: Buffer.isBuffer(reply) ? rcodeName((reply[3] as number) & 0xf) : reply === null ? null : 'NOERROR' })
    return reply
  }
  const { udp, tcp } = await listen(host, options.port, limits, {
    udp: (query, client) => note('udp', answerUdp(query, client)),
    tcp: (query, client) => note('tcp', respond(served, query, client).message),
  })
  const notifier = createNotifier({
    host,
    port: peerPort,
    keyFor: (name, address) => keys.keyFor({ name, accountId: (clients.get(name) ?? NO_CLIENTS).accountId }, 'outgoing', address),
    clock,
    ...(options.notifyWaits && { waits: options.notifyWaits }),
    ...(options.onNotified && { onEnd: options.onNotified }),
  })
  /** Whom a NOTIFY can be of use to: not this server itself. */
  const isListener = (address: string): boolean => isHostAddress(address) && !(peerPort === tcp.port && isOwnAddress(host, address))

  const tellSecondaries = (zone: ZoneData, existing: ZoneData | null | undefined, known: AllowedClients, now: AllowedClients): void => {
    notifier.forget(zone.name, now.addresses)
    const isNew = existing?.serial !== zone.serial
    const told = [...now.addresses].filter((address) => (isNew || !known.addresses.has(address)) && isListener(address))
    const allowed = told.filter((address) => isAllowedPeer(address, publicPeersOnly))
    const [data] = zone.soa.data
    if (data !== undefined) notifier.notify({ zone: zone.name, serial: zone.serial, soa: { ttl: zone.soa.ttl, data } }, allowed)
    for (const address of told) {
      if (allowed.includes(address)) continue
      options.onNotified?.({ zone: zone.name, address, serial: zone.serial, rcode: null, problem: 'the address is not public' })
    }
  }
  const forget = (name: DomainName): void => {
    zones.delete(name)
    clients.delete(name)
    history.forget(name)
    cache.clear()
    notifier.forget(name)
  }
  return {
    address: { host, port: tcp.port },
    setZone: ({ name, serial, records, axfrIps = [], accountId = NO_CLIENTS.accountId }) => {
      const zone = buildZoneData(name, serial, records)
      const [existing, known] = [zones.get(name), clients.get(name) ?? NO_CLIENTS]
      const now: AllowedClients = { addresses: new Set(axfrIps.flatMap((address) => canonicalAddress(address) ?? [])), accountId }
      // A zone that another account has made under the name must not show what was in the former one.
      if (existing && now.addresses.size > 0 && accountId === known.accountId) history.record(existing, zone)
      else history.forget(name)
      zones.set(name, zone)
      clients.set(name, now)
      // Names that another zone answered for may be its own.
      if (!existing) cache.clear()
      tellSecondaries(zone, existing, known, now)
    },
    setUnavailable: (name) => {
      forget(name)
      zones.set(name, null)
    },
    removeZone: forget,
    zoneCount: () => [...zones.values()].filter((zone) => zone !== null).length,
    close: async () => {
      notifier.close()
      await Promise.all([udp.close(), tcp.close()])
    },
  }
}

/** Who may transfer a zone: the canonical addresses, with the keys of the account. */
interface AllowedClients {
  readonly addresses: ReadonlySet<string>
  readonly accountId: number
}

/** No account has the number 0. */
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

/** Whether a server that listens at `host` is reached at the address. */
function isOwnAddress(host: string, address: string): boolean {
  if (host !== '0.0.0.0' && host !== '::') return canonicalAddress(host) === address
  const interfaces = Object.values(networkInterfaces()).flatMap((entries) => entries ?? [])
  return address.startsWith('127.') || interfaces.some((entry) => canonicalAddress(entry.address) === address)
}
