import { base32hex, octetsOfBase32hex } from '../rdata/octets.ts'
import type { FieldCodec } from './field-codec.ts'
import { readOctets, readRest, readString, remaining } from './reader.ts'
import { wireProblem } from './wire-problem.ts'
import { writeOctets, writeString } from './writer.ts'

const hexOf = (octets: Uint8Array): string => Buffer.from(octets).toString('hex')

/** As many octets as the length says, printed as pairs or fours of digits with a separator. */
const grouped = (length: number, digits: number, separator: string): FieldCodec => ({
  encode: (writer, [text = '']) => writeOctets(writer, Buffer.from(text.replaceAll(separator, ''), 'hex')),
  decode: (reader) => {
    const hex = hexOf(readOctets(reader, length))
    return Array.from({ length: hex.length / digits }, (_, i) => hex.slice(i * digits, (i + 1) * digits)).join(separator)
  },
})

export const EUI48 = grouped(6, 2, '-')
export const EUI64 = grouped(8, 2, '-')
export const LOCATOR64 = grouped(8, 4, ':')

/** All octets that are left, in hexadecimal after `0x` (RFC 1706). */
export const NSAP: FieldCodec = {
  encode: (writer, [text = '']) => writeOctets(writer, Buffer.from(text.slice(2), 'hex')),
  decode: (reader) => {
    if (remaining(reader) === 0 || remaining(reader) > 255) wireProblem('an NSAP address has 1 to 255 octets here')
    return `0x${hexOf(readRest(reader))}`
  },
}

/** The salt of NSEC3 (RFC 5155 section 3.2). */
export const SALT: FieldCodec = {
  encode: (writer, [text = '']) => writeString(writer, text === '-' ? new Uint8Array() : Buffer.from(text, 'hex')),
  decode: (reader) => hexOf(readString(reader)) || '-',
}

/** The hash of an owner name (RFC 5155 section 3.2). */
export const HASH: FieldCodec = {
  encode: (writer, [text = '']) => {
    const octets = octetsOfBase32hex(text)
    if (octets === null) throw new RangeError(`not canonical base32hex: ${text}`)
    writeString(writer, octets)
  },
  decode: (reader) => base32hex(readString(reader)) || wireProblem('a hash is empty'),
}

/** All octets that are left in base64, a hyphen for none. */
export const BASE64_OR_DASH: FieldCodec = {
  encode: (writer, [text = '']) => writeOctets(writer, text === '-' ? new Uint8Array() : Buffer.from(text, 'base64')),
  decode: (reader) => Buffer.from(readRest(reader)).toString('base64') || '-',
}

/** 64 bits as a decimal number. */
export const U64: FieldCodec = {
  encode: (writer, [text = '']) => {
    const octets = Buffer.alloc(8)
    octets.writeBigUInt64BE(BigInt(text))
    writeOctets(writer, octets)
  },
  decode: (reader) => Buffer.from(readOctets(reader, 8)).readBigUInt64BE().toString(),
}
