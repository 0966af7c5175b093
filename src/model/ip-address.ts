import { isIPv4, isIPv6 } from 'node:net'
import { fault, ok, type Result } from './result.ts'

/** An IPv4 address in its one dotted form; leading zeros and short forms are refused (RFC 6943 section 3.1.1). */
export function parseIpv4(text: string): Result<string> {
  return isIPv4(text) ? ok(text) : fault(`${JSON.stringify(text.slice(0, 60))} is not an IPv4 address`)
}

/** An IPv6 address in the form of RFC 5952. Zone identifiers (`%eth0`) are refused. */
export function parseIpv6(text: string): Result<string> {
  if (!isIPv6(text) || text.includes('%')) return fault(`${JSON.stringify(text.slice(0, 60))} is not an IPv6 address`)
  return ok(formatIpv6(ipv6Groups(text)))
}

/** The eight 16-bit groups of an IPv6 address that `node:net` accepts. */
export function ipv6Groups(text: string): number[] {
  let hex = text
  const dotted = text.lastIndexOf('.') === -1 ? -1 : text.lastIndexOf(':') + 1
  if (dotted !== -1) {
    const [a = 0, b = 0, c = 0, d = 0] = text.slice(dotted).split('.').map(Number)
    hex = `${text.slice(0, dotted)}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
  }
  const [head = '', tail] = hex.split('::')
  const groups = (part: string): number[] => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)))
  const left = groups(head)
  if (tail === undefined) return left
  const right = groups(tail)
  return [...left, ...new Array<number>(8 - left.length - right.length).fill(0), ...right]
}

/** Eight groups as RFC 5952 section 4 writes them: lower case, the first longest run of zeros shortened, mapped IPv4 dotted. */
export function formatIpv6(groups: readonly number[]): string {
  const mapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  if (mapped) {
    const [high = 0, low = 0] = groups.slice(6)
    return `::ffff:${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`
  }
  let start = -1
  let length = 1
  for (let i = 0; i < 8; i += 1) {
    let end = i
    while (end < 8 && groups[end] === 0) end += 1
    if (end - i > length) {
      start = i
      length = end - i
    }
    if (end > i) i = end
  }
  const hex = (part: readonly number[]): string => part.map((group) => group.toString(16)).join(':')
  return start === -1 ? hex(groups) : `${hex(groups.slice(0, start))}::${hex(groups.slice(start + length))}`
}
