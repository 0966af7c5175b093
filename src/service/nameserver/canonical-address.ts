import { isIPv4 } from 'node:net'
import { formatIpv6, ipv6Groups, parseIpv6 } from '../../dns/ip-address.ts'

/**
 * The one text of an address, so that equal addresses are equal texts: RFC 5952, without the zone identifier that the system adds
 * to link-local ones, and IPv4 that comes over a socket of IPv6 (`::ffff:192.0.2.1`, RFC 4291 section 2.5.5.2) as IPv4. Null for
 * what is no address.
 */
export function canonicalAddress(text: string): string | null {
  if (isIPv4(text)) return text
  const zoneAt = text.indexOf('%')
  const address = parseIpv6(zoneAt === -1 ? text : text.slice(0, zoneAt))
  if (!address.ok) return null
  const mapped = address.value.startsWith(MAPPED) ? address.value.slice(MAPPED.length) : ''
  return isIPv4(mapped) ? mapped : address.value
}

const MAPPED = '::ffff:'

/** The network in which one party can have any address: the address itself with IPv4, 64 bits of it with IPv6. Of canonical text. */
export const hostNetwork = (address: string): string =>
  address.includes(':') ? formatIpv6([...ipv6Groups(address).slice(0, 4), 0, 0, 0, 0]) : address

/** Whether the address is of one host: not the unspecified one, which means this machine, nor multicast or broadcast. */
export const isHostAddress = (address: string): boolean => !/^(?:0\.|22[4-9]\.|23[0-9]\.|255\.255\.255\.255$|::$|ff)/.test(address)
