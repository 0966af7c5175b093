/** The name servers from which zones are transferred, and the rules for connecting to them. */
import { lookup } from 'node:dns/promises'
import { isIP, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'
import type { TsigKey } from '../../dns/wire/tsig.ts'
import type { OwnedZone, TransferKeys } from './transfer-keys.ts'

/**
 * Why a zone transfer from another name server failed:
 *
 * - `forbidden`: the service does not connect to its address, or no key of the zone is for it
 * - `unverified`: the response is not signed with the zone's key, or the server rejected our signature
 * - `unresolved`: the host name has no address
 * - `unreachable`: no connection, or the connection broke
 * - `timeout`: too slow at any stage
 * - `refused`: the server does not allow the transfer
 * - `not-authoritative`: the server does not answer for the zone, or its copy has expired
 * - `malformed`: the response is not a valid answer or zone
 * - `too-large`: the zone exceeds the service's limits
 * - `stopped`: the service is stopping
 * - `busy`: too many transfers are running
 */
type TransferFailureReason =
  | 'forbidden'
  | 'unverified'
  | 'unresolved'
  | 'unreachable'
  | 'timeout'
  | 'refused'
  | 'not-authoritative'
  | 'malformed'
  | 'too-large'
  | 'stopped'
  | 'busy'

export interface TransferFailure extends Error {
  readonly code: 'TRANSFER_FAILURE'
  readonly reason: TransferFailureReason
}

/** The message is a predicate for the server's name, such as `does not answer`. */
export const transferFailure = (reason: TransferFailureReason, message: string, cause?: unknown): TransferFailure =>
  Object.assign(new Error(message, { cause }), { code: 'TRANSFER_FAILURE' as const, reason })

export const isTransferFailure = (error: unknown): error is TransferFailure =>
  (error as Partial<TransferFailure> | null)?.code === 'TRANSFER_FAILURE'

/** A name server from which zones are transferred. */
export interface Peer {
  readonly address: string
  readonly port: number
  /** The address to connect from; null lets the system choose. */
  readonly localAddress: string | null
  /** Signs queries and verifies responses; null for unsigned transfers. */
  readonly signing: Signing | null
}

export interface Signing {
  readonly key: TsigKey
  /** Real time in milliseconds since 1970. */
  readonly clock: () => number
}

/**
 * Which name servers the service connects to, and how. A user who imports a domain or sets the masters of a slave chooses an address (never
 * the port) to which the service connects from inside its own network, and learns whether a name server is there. For untrusted users,
 * `publicOnly` restricts this to public addresses.
 */
export interface PeerRules {
  readonly port: number
  /** Refuses loopback, private, link-local and other non-public addresses. */
  readonly publicOnly: boolean
  /** The addresses from which peers expect transfers. Connections are made from one of them that this machine has. */
  readonly localAddresses: readonly string[]
  /** The TSIG keys of zones. */
  readonly keys: TransferKeys
  /** Real time in milliseconds since 1970, for signatures. */
  readonly clock: () => number
}

/** Returns the rules unchanged. Throws a `RangeError` if a local address is not an IP address. */
export function checkPeerRules(rules: PeerRules): PeerRules {
  for (const address of rules.localAddresses) {
    if (isIP(address) === 0) throw new RangeError(`${JSON.stringify(address)} is not an IP address for zone transfers`)
  }
  return rules
}

/** Milliseconds for resolving a host name. */
const RESOLVE_TIMEOUT = 5_000

/** Maximum number of addresses tried per host name. */
const MAX_ADDRESSES = 8

/** Resolves an address or a host name to one or more peers for a transfer of the zone. Rejects with a `TransferFailure`. */
export async function findPeers(nameserver: string, zone: OwnedZone, rules: PeerRules): Promise<Peer[]> {
  const addresses = isIP(nameserver) !== 0 ? [nameserver] : await resolve(nameserver)
  const peers: Peer[] = []
  let failure: unknown
  for (const address of addresses.slice(0, MAX_ADDRESSES)) {
    try {
      peers.push(peerAt(address, zone, rules))
    } catch (error) {
      if (!isTransferFailure(error)) throw error
      failure = error
    }
  }
  if (peers.length === 0) throw failure
  return peers
}

/** The peer at an address, for a transfer of the zone. Throws a `TransferFailure` if the address or the keys do not allow it. */
export function peerAt(address: string, zone: OwnedZone, { port, publicOnly, localAddresses, keys, clock }: PeerRules): Peer {
  if (!isAllowedPeer(address, publicOnly)) throw transferFailure('forbidden', 'has an address that the service does not connect to')
  const key = keys.keyFor(zone, 'incoming', address)
  if (key === 'missing') throw transferFailure('forbidden', 'cannot be queried: the zone has transfer keys, but none for this address')
  return { address, port, localAddress: ownAddress(localAddresses, isIPv6(address)), signing: key === 'none' ? null : { key, clock } }
}

/** Ranges that are not a single other host. The unspecified address means this machine. */
const UNUSABLE_RANGES: ReadonlySet<string> = new Set(['unspecified', 'multicast', 'broadcast'])

/** Whether the service may connect to the address; with `publicOnly`, only public addresses are allowed. */
export function isAllowedPeer(address: string, publicOnly: boolean): boolean {
  if (!ipaddr.isValid(address)) return false
  const range = ipaddr.process(address).range()
  return publicOnly ? range === 'unicast' : !UNUSABLE_RANGES.has(range)
}

async function resolve(name: string): Promise<string[]> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(transferFailure('timeout', `has a name that was not resolved within ${RESOLVE_TIMEOUT / 1000} s`)),
      RESOLVE_TIMEOUT,
    )
  })
  try {
    return (await Promise.race([lookup(name, { all: true }), timeout])).map(({ address }) => address)
  } catch (error) {
    if (isTransferFailure(error)) throw error
    throw transferFailure('unresolved', 'has a name without an address', error)
  } finally {
    clearTimeout(timer)
  }
}

/** The first of the addresses, in the given family, that this machine has; null if it has none, for example behind NAT. */
function ownAddress(addresses: readonly string[], isV6: boolean): string | null {
  const candidates = addresses.filter((address) => isIPv6(address) === isV6)
  if (candidates.length === 0) return null
  const own = new Set(Object.values(networkInterfaces()).flatMap((entries) => entries?.map(({ address }) => address) ?? []))
  return candidates.find((address) => own.has(address)) ?? null
}
