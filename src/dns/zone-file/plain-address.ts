import { parseIpv6 } from '../ip-address.ts'
import { type PlainText, take, takeCanonicalNumber } from './plain-text.ts'

const COLON = 0x3a
const DOT = 0x2e

/** An IPv4 address in its one form. */
export function takeIpv4(plain: PlainText): boolean {
  const start = plain.at
  for (let i = 0; i < 4; i += 1) {
    if (i > 0) {
      if (plain.octets[plain.at] !== DOT) return false
      plain.at += 1
    }
    if (takeCanonicalNumber(plain, 255) === -1) return false
  }
  return take(plain, start)
}

/** Values of lower-case hexadecimal digits; 16 for other octets. */
const HEX_VALUE = new Uint8Array(256).fill(16)
for (let value = 0; value < 16; value += 1) HEX_VALUE[value.toString(16).charCodeAt(0)] = value

/** An IPv6 address; one that is written as RFC 5952 section 4 has it is seen to be so in passing. */
export function takeIpv6(plain: PlainText): boolean {
  const { octets, at: start } = plain
  let at = start
  let groups = 0
  /** The groups before `::`, -1 without one; whether a group of zeros stands somewhere. */
  let gap = -1
  let isCanonical = true
  if (octets[at] === COLON && octets[at + 1] === COLON) {
    gap = 0
    at += 2
  }
  for (;;) {
    const groupStart = at
    while ((HEX_VALUE[octets[at] as number] as number) < 16) at += 1
    const digits = at - groupStart
    if (digits > 4) return false
    if (digits === 0) {
      // After `::` at the end, or where there is no address.
      if (gap !== groups) return false
      break
    }
    // A group of zeros beside `::` or in a run may want another form; so does one with zeros in front.
    if (octets[groupStart] === 0x30) isCanonical = false
    groups += 1
    if (groups > 8) return false
    if (octets[at] !== COLON) break
    at += 1
    if (octets[at] === COLON) {
      if (gap !== -1) return false
      gap = groups
      at += 1
    }
  }
  // The model knows the odd forms: dotted ends, capitals, mapped addresses.
  const isWhole = gap === -1 ? groups === 8 : groups < 7
  plain.at = at
  if (!isWhole) return false
  take(plain, start)
  if (isCanonical && !(gap === 0 && isMapped(octets, start))) return true
  const address = parseIpv6(plain.text.slice(plain.takenFrom, plain.takenTo))
  if (address.ok) plain.made = address.value
  return address.ok
}

/** Whether `::ffff:` stands there. */
function isMapped(octets: Uint8Array, start: number): boolean {
  for (let i = 2; i < 6; i += 1) if (octets[start + i] !== F) return false
  return octets[start + 6] === COLON
}

const F = 0x66
