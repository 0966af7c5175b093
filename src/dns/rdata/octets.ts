/** Octets in rdata: hexadecimal, base64, base32hex and strings. */
import { isUtf8 } from 'node:buffer'
import { failure, ok, type Result } from '../../base/result.ts'
import { quoted } from '../../base/text.ts'
import {
  MAX_RDATA_OCTETS,
  MAX_STRING_OCTETS,
  octetsToTxtRdata,
  quoteString,
  txtRdataToOctets,
  unescapeString,
} from '../character-string.ts'
import { readOctets, readRest, readString, remainingOctets, throwWireError } from '../wire/reader.ts'
import { writeOctets, writeString } from '../wire/writer.ts'
import { type FieldCodec, joinTokens, type Token } from './field.ts'

const isHex = (text: string): boolean => text.length % 2 === 0 && !/[^0-9a-f]/i.test(text)

/** Hexadecimal in lower case and in one piece. */
export function canonicalHex(tokens: readonly Token[]): Result<string> {
  const hex = joinTokens(tokens)
  const odd = /[^0-9a-f]/i.exec(hex)?.[0]
  if (odd !== undefined) return failure(`${quoted(hex)} is not hexadecimal: ${quoted(odd)} is not one of 0-9 and a-f`)
  if (hex.length % 2 === 1) return failure(`${quoted(hex)} has ${hex.length} digits, but needs an even number of them`)
  if (hex.length / 2 > MAX_RDATA_OCTETS) return tooLong(hex.length / 2)
  return hex === '' ? failure('is empty') : ok(hex.toLowerCase())
}

/** Base64 (RFC 4648 section 4) in one piece. */
export function canonicalBase64(tokens: readonly Token[]): Result<string> {
  const text = joinTokens(tokens)
  const octets = Buffer.from(text, 'base64')
  // The decoder skips invalid characters, so compare what it read with the text.
  if (text === '' || octets.toString('base64') !== text) return failure(`${quoted(text)} is not base64 (RFC 4648 section 4)`)
  return octets.length > MAX_RDATA_OCTETS ? tooLong(octets.length) : ok(text)
}

/** The salt of NSEC3 in hexadecimal, at most 255 octets; `-` if there is none. */
export function canonicalSalt(text: string): Result<string> {
  if (text === '-') return ok(text)
  return text !== '' && isHex(text) && text.length <= 510 ? ok(text.toLowerCase()) : failure(`${quoted(text)} is neither - nor hexadecimal`)
}

const BASE32HEX = '0123456789abcdefghijklmnopqrstuv'

/** A hash in base32hex without padding (RFC 4648 section 7), in lower case; 1 to 255 octets. */
export function canonicalHash(text: string): Result<string> {
  const octets = decodeBase32hex(text.toLowerCase())
  return octets === null || octets.length === 0 || octets.length > 255
    ? failure(`${quoted(text)} is not base32hex (RFC 4648 section 7)`)
    : ok(text.toLowerCase())
}

/** The octets of lower-case base32hex without padding; null if the text is not base32hex. */
function decodeBase32hex(text: string): Uint8Array | null {
  const octets = new Uint8Array(Math.floor((text.length * 5) / 8))
  let bits = 0
  let held = 0
  let next = 0
  for (const c of text) {
    const value = BASE32HEX.indexOf(c)
    if (value === -1) return null
    held = ((held << 5) | value) & 0xfff
    bits += 5
    if (bits >= 8) {
      bits -= 8
      octets[next] = held >> bits
      next += 1
    }
  }
  // The remaining bits are fewer than five and zero.
  return bits >= 5 || (held & ((1 << bits) - 1)) !== 0 ? null : octets
}

/** Octets as lower-case base32hex without padding. */
function encodeBase32hex(octets: Uint8Array): string {
  let text = ''
  let bits = 0
  let held = 0
  for (const octet of octets) {
    held = ((held << 8) | octet) & 0xfff
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += BASE32HEX[(held >> bits) & 31]
    }
  }
  return bits > 0 ? text + BASE32HEX[(held << (5 - bits)) & 31] : text
}

/** `00-00-5e-00-53-2a`: an identifier of `length` octets (RFC 7043). */
export function canonicalEui(text: string, length: number): Result<string> {
  const isEui = text.length === 3 * length - 1 && /^[0-9a-f]{2}(?:-[0-9a-f]{2})+$/i.test(text)
  return isEui ? ok(text.toLowerCase()) : failure(`${quoted(text)} is not ${length} pairs of hexadecimal digits separated by hyphens`)
}

/** `0014:4fff:ff20:ee64`: four groups, whose leading zeros may be absent in the input (RFC 6742 section 2.1.2). */
export function canonicalLocator64(text: string): Result<string> {
  if (!/^[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){3}$/i.test(text)) return failure(`${quoted(text)} is not four groups of hexadecimal digits`)
  const groups = text.toLowerCase().split(':')
  return ok(groups.map((group) => group.padStart(4, '0')).join(':'))
}

/** `0x47000580…`: hexadecimal in which dots are ignored (RFC 1706). */
export function canonicalNsap(text: string): Result<string> {
  const hex = text.slice(2).replaceAll('.', '')
  const isNsap = /^0x/i.test(text) && hex !== '' && isHex(hex) && hex.length <= 510
  return isNsap ? ok(`0x${hex.toLowerCase()}`) : failure(`${quoted(text)} is not 0x and hexadecimal`)
}

/** One quoted character-string. */
export function canonicalString(token: Token): Result<string> {
  const octets = stringOctets(token)
  return octets.ok ? ok(quoteString(octets.value)) : octets
}

/** Quoted character-strings that fit in one record. */
export function canonicalStrings(tokens: readonly Token[]): Result<string> {
  let data = ''
  let total = 0
  for (const token of tokens) {
    const octets = stringOctets(token)
    if (!octets.ok) return octets
    total += octets.value.length + 1
    data += data === '' ? quoteString(octets.value) : ` ${quoteString(octets.value)}`
  }
  return total > MAX_RDATA_OCTETS ? tooLong(total) : ok(data)
}

/** UTF-8 text, split into strings of 255 octets. */
export function canonicalScript(tokens: readonly Token[]): Result<string> {
  const strings = canonicalStrings(tokens)
  if (!strings.ok) return strings
  const octets = txtRdataToOctets(strings.value)
  return isUtf8(octets) ? ok(octetsToTxtRdata(octets)) : failure('is not UTF-8 text')
}

/** Quoted text that has no length octet on the wire. */
export function canonicalText(token: Token): Result<string> {
  const octets = unescapeString(token.text)
  if (!octets.ok) return octets
  return octets.value.length > MAX_RDATA_OCTETS ? tooLong(octets.value.length) : ok(quoteString(octets.value))
}

function stringOctets(token: Token): Result<Uint8Array> {
  const octets = unescapeString(token.text)
  if (!octets.ok || octets.value.length <= MAX_STRING_OCTETS) return octets
  return failure(`a string of ${octets.value.length} octets is longer than ${MAX_STRING_OCTETS}`)
}

/** The failure of data that has more octets than a record can hold. */
const tooLong = (octets: number): { readonly ok: false; readonly message: string } =>
  failure(`takes ${octets} octets; a record holds ${MAX_RDATA_OCTETS}`)

const hexOf = (octets: Uint8Array): string => Buffer.from(octets).toString('hex')

/** `length` octets, printed in groups of `digits` digits with a separator. */
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

/** The remaining octets, as `0x` and hexadecimal (RFC 1706). */
export const NSAP: FieldCodec = {
  encode: (writer, [text = '']) => writeOctets(writer, Buffer.from(text.slice(2), 'hex')),
  decode: (reader) => {
    if (remainingOctets(reader) === 0 || remainingOctets(reader) > 255) throwWireError('an NSAP address must have 1 to 255 octets')
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
    const octets = decodeBase32hex(text)
    if (octets === null) throw new RangeError(`not canonical base32hex: ${text}`)
    writeString(writer, octets)
  },
  decode: (reader) => encodeBase32hex(readString(reader)) || throwWireError('a hash is empty'),
}

/** The remaining octets in base64; `-` if there are none. */
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
