/**
 * Limits how often one answer goes over UDP to one network, so that queries with a forged source make the server no weapon against
 * whoever has that address. Who asks in earnest keeps an answer for its TTL and comes nowhere near. Of the answers above the limit one
 * in two is sent empty and truncated: it adds nothing to what the query weighs, and a true asker comes back over TCP. The others are not sent.
 *
 * The memory is a table of fixed size. Two that meet in one place of it push each other out, and are then limited less, never more.
 */
import { ipv6Groups } from '../../dns/ip-address.ts'

export type Permission = 'send' | 'truncate' | 'drop'

/** Decides on one answer: to the address, `about` something, at this second. */
export type ResponseLimiter = (address: string, about: number, second: number) => Permission

const SLOTS = 1 << 16

/** `perSecond` is the number of equal answers to one network (24 bits of IPv4, 64 of IPv6) in one second; 0 is no limit. */
export function createResponseLimiter(perSecond: number): ResponseLimiter {
  if (perSecond === 0) return () => 'send'
  const keys = new Int32Array(SLOTS)
  const seconds = new Int32Array(SLOTS)
  const counts = new Uint32Array(SLOTS)
  return (address, about, second) => {
    const key = Math.imul(networkHash(address) ^ about, 0x9e3779b1)
    const place = (key >>> 8) % SLOTS
    if (keys[place] !== key || seconds[place] !== second) {
      keys[place] = key
      seconds[place] = second
      counts[place] = 0
    }
    const count = (counts[place] as number) + 1
    counts[place] = count
    if (count <= perSecond) return 'send'
    return count % 2 === 0 ? 'truncate' : 'drop'
  }
}

const BASIS = 0x811c9dc5
const PRIME = 0x01000193

/** FNV-1a of a text. */
export function textHash(text: string, end = text.length): number {
  let hash = BASIS
  for (let i = 0; i < end; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), PRIME)
  return hash
}

function networkHash(address: string): number {
  if (!address.includes(':')) return textHash(address, address.lastIndexOf('.'))
  const zoneAt = address.indexOf('%')
  const groups = ipv6Groups(zoneAt === -1 ? address : address.slice(0, zoneAt))
  // IPv4 over a socket of IPv6 is one network of 64 bits: all of it would be limited as one.
  const isMapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0)
  const network = isMapped ? groups.slice(6, 8).map((group, i) => (i === 0 ? group : group & 0xff00)) : groups.slice(0, 4)
  return network.reduce((hash, group) => Math.imul(hash ^ group, PRIME), BASIS)
}
