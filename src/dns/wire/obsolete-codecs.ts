import type { DomainName } from '../domain-name.ts'
import { formatIpv6, ipv6Groups } from '../ip-address.ts'
import type { FieldCodec } from '../rdata/field.ts'
import { MAX_OLD_TYPE } from '../rdata/obsolete.ts'
import { formatTypes } from '../rdata/type-bitmap.ts'
import { wireTypeCode } from '../record-type.ts'
import { readName, readOctets, readRest, readU8, remainingOctets, throwWireError } from './reader.ts'
import { writeName, writeOctets, writeU8 } from './writer.ts'

/** The bit map of an NXT record: one window, without zeros at its end (RFC 2535 section 5.2). */
export const OLD_TYPES: FieldCodec = {
  encode: (writer, tokens) => {
    const bits = new Uint8Array((MAX_OLD_TYPE + 1) / 8)
    for (const token of tokens) {
      const code = wireTypeCode(token)
      bits[code >> 3] = (bits[code >> 3] as number) | (0x80 >> (code & 7))
    }
    writeOctets(writer, bits.subarray(0, bits.findLastIndex((octet) => octet !== 0) + 1))
  },
  decode: (reader) => {
    const bits = readRest(reader)
    if (bits.length > (MAX_OLD_TYPE + 1) / 8 || bits.at(-1) === 0 || ((bits[0] ?? 0) & 0x80) !== 0)
      throwWireError('the bit map of an NXT record is not in the form of RFC 2535 section 5.2')
    const codes: number[] = []
    for (const [at, octet] of bits.entries()) {
      for (let bit = 0; bit < 8; bit += 1) if ((octet & (0x80 >> bit)) !== 0) codes.push((at << 3) | bit)
    }
    return formatTypes(codes)
  },
}

/** A6 rdata: the octets of the suffix are those the prefix leaves over (RFC 2874 section 3.1). */
export const A6: FieldCodec = {
  encode: (writer, [prefix = '', ...rest]) => {
    const length = Number(prefix)
    writeU8(writer, length)
    if (length < 128) {
      const octets = ipv6Groups(rest[0] ?? '').flatMap((group) => [group >> 8, group & 0xff])
      writeOctets(writer, Uint8Array.from(octets.slice(length >> 3)))
    }
    if (length > 0) writeName(writer, rest.at(-1) as DomainName, false)
  },
  decode: (reader) => {
    const length = readU8(reader)
    if (length > 128) throwWireError(`an A6 prefix of ${length} bits`)
    const octets = new Uint8Array(16)
    const first = length >> 3
    octets.set(readOctets(reader, 16 - first), first)
    if (first < 16 && (octets[first] as number) >> (8 - (length & 7)) !== 0)
      throwWireError('an A6 suffix has bits of the prefix (RFC 2874 section 3.1)')
    const groups = Array.from({ length: 8 }, (_, i) => ((octets[2 * i] as number) << 8) | (octets[2 * i + 1] as number))
    const suffix = length < 128 ? ` ${formatIpv6(groups)}` : ''
    return `${length}${suffix}${length > 0 ? ` ${readName(reader)}` : ''}`
  },
}

/** SINK rdata: three octets, and data. */
export const SINK: FieldCodec = {
  encode: (writer, [meaning, coding, subcoding, data = '']) => {
    for (const octet of [meaning, coding, subcoding]) writeU8(writer, Number(octet))
    writeOctets(writer, Buffer.from(data, 'base64'))
  },
  decode: (reader) => {
    const head = `${readU8(reader)} ${readU8(reader)} ${readU8(reader)}`
    return remainingOctets(reader) === 0 ? head : `${head} ${Buffer.from(readRest(reader)).toString('base64')}`
  },
}

const E164 = 1

/** The address of an ATMA record behind an octet for its format. */
export const ATM_ADDRESS: FieldCodec = {
  encode: (writer, [text = '']) => {
    const isNumber = text.startsWith('+')
    writeU8(writer, isNumber ? E164 : 0)
    writeOctets(writer, isNumber ? Buffer.from(text.slice(1), 'latin1') : Buffer.from(text, 'hex'))
  },
  decode: (reader) => {
    const format = readU8(reader)
    const octets = Buffer.from(readRest(reader))
    if (octets.length === 0 || format > E164) throwWireError(`an ATM address of format ${format} with ${octets.length} octets`)
    if (format === 0) return octets.toString('hex')
    const digits = octets.toString('latin1')
    return /^[0-9]{1,255}$/.test(digits) ? `+${digits}` : throwWireError('an E.164 number is not of digits')
  },
}
