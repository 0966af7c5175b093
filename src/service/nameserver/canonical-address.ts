import { isIPv4 } from 'node:net'
import { formatIpv6, ipv6Groups, parseIpv6 } from '../../dns/ip-address.ts'

/**
 * The canonical text of an IP address (RFC 5952), so that equal addresses are equal strings. Removes the zone identifier of link-local
 * addresses and turns IPv4-mapped IPv6 (`::ffff:192.0.2.1`, RFC 4291 section 2.5.5.2) into IPv4. Null if the text is not an address.
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

/** The network that one host can use any address of: a single IPv4 address, or an IPv6 /64. The address must be canonical. */
export const hostNetwork = (address: string): string =>
  address.includes(':') ? formatIpv6([...ipv6Groups(address).slice(0, 4), 0, 0, 0, 0]) : address

/** Whether the address is a host's: not unspecified (which means this machine), multicast or broadcast. */
export const isHostAddress = (address: string): boolean => !/^(?:0\.|22[4-9]\.|23[0-9]\.|255\.255\.255\.255$|::$|ff)/.test(address)
