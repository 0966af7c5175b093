import { parseIpv4, parseIpv6 } from '../ip-address.ts'
import { failure, ok, type Result } from '../result.ts'
import { shown, type Token } from './token.ts'

/** Address families of APL records by their numbers: bits of an address, and how one is read. */
export const ADDRESS_FAMILIES = { 1: { bits: 32, parse: parseIpv4 }, 2: { bits: 128, parse: parseIpv6 } } as const

/** `[!]FAMILY:ADDRESS/PREFIX` (RFC 3123 section 5), any number of them. */
export function canonicalPrefixes(tokens: readonly Token[]): Result<string> {
  const prefixes: string[] = []
  for (const { text } of tokens) {
    const match = /^(!?)([12]):([^/]{1,60})\/([0-9]{1,3})$/.exec(text)
    if (!match) return failure(`${shown(text)} is not [!]FAMILY:ADDRESS/PREFIX with family 1 (IPv4) or 2 (IPv6)`)
    const [, negation, number, written = '', length] = match
    const family = ADDRESS_FAMILIES[number === '1' ? 1 : 2]
    const address = family.parse(written)
    if (!address.ok) return address
    if (Number(length) > family.bits) return failure(`${text}: the prefix has more than ${family.bits} bits`)
    prefixes.push(`${negation}${number}:${address.value}/${Number(length)}`)
  }
  return ok(prefixes.join(' '))
}
