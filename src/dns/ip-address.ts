/** IPv4 and IPv6 addresses: parsing and canonical form. */
import { isIPv4, isIPv6 } from 'node:net'
import { failure, ok, type Result } from '../base/result.ts'
import { quoted } from '../base/text.ts'

/** Parses a dotted IPv4 address. Leading zeros and short forms are errors (RFC 6943 section 3.1.1). */
export function parseIpv4(text: string): Result<string> {
  if (isIPv4(text)) return ok(text)
  return failure(`${quoted(text)} is ${isIPv6(text) ? 'an IPv6 address, not an IPv4 one' : `not an IPv4 address${likelyMeaning(text)}`}`)
}

/** Parses an IPv6 address and returns it in the form of RFC 5952. Zone identifiers (`%eth0`) are errors. */
export function parseIpv6(text: string): Result<string> {
  const groups = readGroups(text)
  if (groups !== null) return ok(formatIpv6(groups))
  return failure(`${quoted(text)} is ${isIPv4(text) ? 'an IPv4 address, not an IPv6 one' : `not an IPv6 address${likelyMeaning(text)}`}`)
}

/** What a text in place of an address probably is; empty if that is unknown. */
function likelyMeaning(text: string): string {
  const parts = text.split(/[\s,]+/)
  if (parts.length > 1 && parts.every((part) => isIPv4(part) || isIPv6(part))) return ' but several'
  const [, address = '', rest] = /^\[?([^[\]%/]*?)\]?(%.+|\/\d+|(?<=\]|\.\d+):\d+)$/s.exec(text) ?? []
  if (rest !== undefined && (isIPv4(address) || isIPv6(address))) return `: write ${address}, without ${rest}`
  const octets = /^\d+(?:\.\d+){1,9}$/.test(text) ? text.split('.') : []
  if (octets.length > 0 && octets.length !== 4) return `: it has ${octets.length} numbers instead of 4`
  const odd = octets.find((octet) => !isIPv4(`0.0.0.${octet}`))
  if (odd !== undefined) return Number(odd) > 255 ? ': its numbers must be at most 255' : ': its numbers must not begin with a zero'
  const digit = /^[0-9a-z:]*:[0-9a-z:]*$/i.test(text) ? /[g-z]/i.exec(text)?.[0] : undefined
  if (digit !== undefined) return `: ${quoted(digit)} is not a hexadecimal digit`
  return /^(?=.*[a-z])[a-z0-9-]+(?:\.[a-z0-9-]+)+\.?$/i.test(text) ? ' but a name' : ''
}

/** The eight 16-bit groups of an IPv6 address. Throws a `RangeError` if the text is not one. */
export function ipv6Groups(text: string): number[] {
  const groups = readGroups(text)
  if (groups === null) throw new RangeError(`not an IPv6 address: ${text}`)
  return groups
}

const COLON = 0x3a
const DOT = 0x2e

/** The value of each hexadecimal digit by its character code; -1 for other characters. */
const HEX_VALUE = new Int8Array(128).fill(-1)
for (let value = 0; value < 16; value += 1) {
  const digit = value.toString(16)
  HEX_VALUE[digit.charCodeAt(0)] = value
  HEX_VALUE[digit.toUpperCase().charCodeAt(0)] = value
}

/** The groups of an IPv6 address (RFC 4291 section 2.2); null if the text is not one. */
function readGroups(text: string): number[] | null {
  const { length } = text
  if (length < 2 || length > 45) return null
  const groups: number[] = []
  /** The number of groups before `::`; -1 without one. */
  let gap = -1
  let at = 0
  if (text.charCodeAt(0) === COLON) {
    if (text.charCodeAt(1) !== COLON) return null
    gap = 0
    at = 2
  }
  while (at < length) {
    if (groups.length === 8) return null
    const start = at
    let value = 0
    for (; at < length && at - start < 5; at += 1) {
      const digit = HEX_VALUE[text.charCodeAt(at)] ?? -1
      if (digit === -1) break
      value = (value << 4) | digit
    }
    if (at === start || at - start > 4) return null
    if (text.charCodeAt(at) === DOT) {
      const dotted = text.slice(start)
      if (groups.length > 6 || !isIPv4(dotted)) return null
      const [a = 0, b = 0, c = 0, d = 0] = dotted.split('.').map(Number)
      groups.push((a << 8) | b, (c << 8) | d)
      break
    }
    groups.push(value)
    if (at === length) break
    if (text.charCodeAt(at) !== COLON) return null
    at += 1
    if (text.charCodeAt(at) === COLON) {
      if (gap !== -1) return null
      gap = groups.length
      at += 1
    } else if (at === length) return null
  }
  if (gap === -1) return groups.length === 8 ? groups : null
  // `::` replaces at least one group (RFC 4291), so no more than seven others are allowed.
  if (groups.length > 7) return null
  const missing = 8 - groups.length
  return [...groups.slice(0, gap), ...ZEROS.slice(0, missing), ...groups.slice(gap)]
}

const ZEROS: readonly number[] = [0, 0, 0, 0, 0, 0, 0, 0]

/** Formats eight groups as in RFC 5952 section 4: lower case, the first of the longest runs of zeros shortened, mapped IPv4 dotted. */
export function formatIpv6(groups: readonly number[]): string {
  let start = -1
  let run = 1
  for (let i = 0; i < 8; i += 1) {
    let end = i
    while (end < 8 && groups[end] === 0) end += 1
    if (end - i > run) {
      start = i
      run = end - i
    }
    if (end > i) i = end
  }
  if (start === 0 && run === 5 && groups[5] === 0xffff) {
    const [high = 0, low = 0] = groups.slice(6)
    return `::ffff:${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`
  }
  let text = ''
  for (let i = 0; i < 8; i += 1) {
    if (i === start) {
      text += '::'
      i += run - 1
    } else text += i === 0 || i === start + run ? hex(groups[i] ?? 0) : `:${hex(groups[i] ?? 0)}`
  }
  return text
}

const hex = (group: number): string => group.toString(16)

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
