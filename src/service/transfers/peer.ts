import { lookup } from 'node:dns/promises'
import { isIP, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'
import type { TsigKey } from '../../dns/wire/tsig.ts'
import { isTransferFailure, transferFailure } from './transfer-failure.ts'
import type { OwnedZone, TransferKeys } from './transfer-keys.ts'

/** A name server to transfer from. */
export interface Peer {
  readonly address: string
  readonly port: number
  /** The address to connect from; null leaves it to the system. */
  readonly localAddress: string | null
  /** Signs questions and must sign their answers; null for neither. */
  readonly signing: Signing | null
}

export interface Signing {
  readonly key: TsigKey
  /** Real time in milliseconds since 1970. */
  readonly clock: () => number
}

/**
 * Which name servers the service connects to, and how. Who may import a domain or name the masters of a slave chooses the address that
 * the service connects to from inside its own network, though never the port, and sees whether a name server is there. Where users are
 * not trusted with that, `publicOnly` leaves them addresses that everybody can reach.
 */
export interface PeerRules {
  readonly port: number
  /** Refuses loopback, private, link-local and other addresses that have no meaning in the public Internet. */
  readonly publicOnly: boolean
  /** Addresses the service is known to transfer from: those of them that this machine has are connected from. */
  readonly localAddresses: readonly string[]
  /** The keys of zones. */
  readonly keys: TransferKeys
  /** Real time in milliseconds since 1970, for signatures. */
  readonly clock: () => number
}

/** The rules as they are given, if they can be kept; throws a `RangeError` for an address that is none. */
export function checkPeerRules(rules: PeerRules): PeerRules {
  for (const address of rules.localAddresses) {
    if (isIP(address) === 0) throw new RangeError(`${JSON.stringify(address)} is no address to transfer zones to`)
  }
  return rules
}

/** Milliseconds until a name must be resolved. */
const RESOLVE_TIMEOUT = 5_000

/** Addresses of one name that are tried. */
const MAX_ADDRESSES = 8

/** The peers that an address or a host name stands for, one at least, to transfer the zone from. Rejects with a `TransferFailure`. */
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

/** The peer at an address, to transfer the zone from. Throws a `TransferFailure` if the service does not connect to it. */
export function peerAt(address: string, zone: OwnedZone, { port, publicOnly, localAddresses, keys, clock }: PeerRules): Peer {
  if (!isAllowedPeer(address, publicOnly)) throw transferFailure('forbidden', 'has an address that the service does not connect to')
  const key = keys.keyFor(zone, 'incoming', address)
  if (key === 'missing') throw transferFailure('forbidden', 'is not asked: the zone has a transfer key, but none for this address')
  return { address, port, localAddress: ownAddress(localAddresses, isIPv6(address)), signing: key === 'none' ? null : { key, clock } }
}

/** Nobody in particular is at the unspecified, multicast and broadcast addresses; the first of them even means this machine. */
const UNUSABLE_RANGES: ReadonlySet<string> = new Set(['unspecified', 'multicast', 'broadcast'])

/** Whether the service sends to the address: with `publicOnly` only to addresses of the public Internet. */
export function isAllowedPeer(address: string, publicOnly: boolean): boolean {
  if (!ipaddr.isValid(address)) return false
  const range = ipaddr.process(address).range()
  return publicOnly ? range === 'unicast' : !UNUSABLE_RANGES.has(range)
}

async function resolve(name: string): Promise<string[]> {
  let late: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    late = setTimeout(
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
    clearTimeout(late)
  }
}

/** The first of the addresses that this machine has in the family; null where it has none, as behind a translation of addresses. */
function ownAddress(addresses: readonly string[], isV6: boolean): string | null {
  const candidates = addresses.filter((address) => isIPv6(address) === isV6)
  if (candidates.length === 0) return null
  const own = new Set(Object.values(networkInterfaces()).flatMap((entries) => entries?.map(({ address }) => address) ?? []))
  return candidates.find((address) => own.has(address)) ?? null
}
