/**
 * Response rate limiting: limits how often the same answer is sent over UDP to one network, so that queries with a forged source address
 * cannot use the server for amplification. Real resolvers cache an answer for its TTL and stay far below the limit. Above the limit, every
 * second response is sent empty and truncated: it is no larger than the query, and a real client retries over TCP. The others are dropped.
 *
 * The counters are in a table of fixed size. Colliding entries replace each other, which can only weaken the limit.
 */
import { ipv6Groups } from '../../dns/ip-address.ts'

export type Permission = 'send' | 'truncate' | 'drop'

/** Decides whether one response may be sent. Responses with the same hash share a limit per network. */
export type ResponseLimiter = (address: string, limitHash: number, second: number) => Permission

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
