import { failure, ok, type Result } from '../../base/result.ts'
import { quoted } from '../../base/text.ts'
import { formatIpv6, ipv6Groups, parseIpv4, parseIpv6 } from '../ip-address.ts'
import { readOctets, readU8, readU16, remainingOctets, throwWireError } from '../wire/reader.ts'
import { writeOctets, writeU8, writeU16 } from '../wire/writer.ts'
import type { FieldCodec, Token } from './field.ts'

/** The address families of APL records by number. */
const ADDRESS_FAMILIES = { 1: { bits: 32, parse: parseIpv4 }, 2: { bits: 128, parse: parseIpv6 } } as const

/** Any number of `[!]FAMILY:ADDRESS/PREFIX` (RFC 3123 section 5). */
export function canonicalPrefixes(tokens: readonly Token[]): Result<string> {
  const prefixes: string[] = []
  for (const { text } of tokens) {
    const match = /^(!?)([12]):([^/]{1,60})\/([0-9]{1,3})$/.exec(text)
    if (!match) return failure(`${quoted(text)} is not [!]FAMILY:ADDRESS/PREFIX with family 1 (IPv4) or 2 (IPv6)`)
    const [, negation, number, written = '', length] = match
    const family = ADDRESS_FAMILIES[number === '1' ? 1 : 2]
    const address = family.parse(written)
    if (!address.ok) return address
    if (Number(length) > family.bits) return failure(`${text}: the prefix has more than ${family.bits} bits`)
    prefixes.push(`${negation}${number}:${address.value}/${Number(length)}`)
  }
  return ok(prefixes.join(' '))
}

/** An IPv4 address in four octets. */
export const IPV4: FieldCodec = {
  encode: (writer, [text = '']) => writeOctets(writer, ipv4Octets(text)),
  decode: (reader) => readOctets(reader, 4).join('.'),
}

/** An IPv6 address in sixteen octets. */
export const IPV6: FieldCodec = {
  encode: (writer, [text = '']) => {
    for (const group of ipv6Groups(text)) writeU16(writer, group)
  },
  decode: (reader) => formatIpv6(Array.from({ length: 8 }, () => readU16(reader))),
}

/** Address prefixes: family, length in bits, negation bit, and the address without trailing zeros (RFC 3123 section 4). */
export const PREFIXES: FieldCodec = {
  encode: (writer, tokens) => {
    for (const token of tokens) {
      const match = /^(!?)([12]):([^/]+)\/([0-9]+)$/.exec(token)
      if (!match) throw new RangeError(`not canonical APL data: ${token}`)
      const [, negation, family, address = '', length] = match
      const octets = family === '1' ? ipv4Octets(address) : ipv6Octets(address)
      const used = octets.subarray(0, octets.findLastIndex((octet) => octet !== 0) + 1)
      writeU16(writer, Number(family))
      writeU8(writer, Number(length))
      writeU8(writer, (negation === '!' ? 0x80 : 0) | used.length)
      writeOctets(writer, used)
    }
  },
  decode: (reader) => {
    const prefixes: string[] = []
    while (remainingOctets(reader) > 0) {
      const family = readU16(reader)
      const length = readU8(reader)
      const flags = readU8(reader)
      const used = readOctets(reader, flags & 0x7f)
      const size = family === 1 ? 4 : family === 2 ? 16 : throwWireError(`address family ${family} is not known (RFC 3123 section 4)`)
      if (used.length > size || length > 8 * size) throwWireError('an address prefix is longer than an address (RFC 3123 section 4)')
      const octets = new Uint8Array(size)
      octets.set(used)
      const address = family === 1 ? octets.join('.') : formatIpv6(Array.from({ length: 8 }, (_, i) => u16At(octets, 2 * i)))
      prefixes.push(`${(flags & 0x80) === 0 ? '' : '!'}${family}:${address}/${length}`)
    }
    return prefixes.join(' ')
  },
}

const ipv4Octets = (text: string): Uint8Array => Uint8Array.from(text.split('.').map(Number))
const ipv6Octets = (text: string): Uint8Array => Uint8Array.from(ipv6Groups(text).flatMap((group) => [group >> 8, group & 0xff]))
const u16At = (octets: Uint8Array, at: number): number => ((octets[at] as number) << 8) | (octets[at + 1] as number)
