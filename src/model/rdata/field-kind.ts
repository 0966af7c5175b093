import { MAX_STRING_OCTETS, quoteString, unescapeString } from '../character-string.ts'
import type { DomainName } from '../domain-name.ts'
import { parseIpv4, parseIpv6 } from '../ip-address.ts'
import { fault, ok, type Result } from '../result.ts'
import { parseTtl } from '../ttl.ts'

/**
 * What one field of rdata is. A kind with `rest` takes every token that is left; all others take one.
 * The wire form of each kind is in `formats/wire/rdata-codec.ts`.
 */
export type FieldKind =
  | 'u8'
  | 'u16'
  | 'u32'
  /** A 32-bit number of seconds, or numbers with units: the times of an SOA record. */
  | 'seconds'
  | 'name'
  | 'ipv4'
  | 'ipv6'
  /** One character-string, at most 255 octets. */
  | 'string'
  /** One or more character-strings. */
  | 'strings'
  /** Text that fills the rest of the rdata without a length octet, at most 65,535 octets: CAA value, URI target. */
  | 'text'
  /** The tag of a CAA record: lower-case letters and digits (RFC 8659 section 4.1). */
  | 'tag'
  | 'hex'
  | 'base64'
  /** A DNSSEC algorithm, by number or mnemonic. */
  | 'algorithm'

/** Kinds that take all remaining tokens. */
const REST_KINDS: ReadonlySet<FieldKind> = new Set<FieldKind>(['strings', 'hex', 'base64'])

export const takesRest = (kind: FieldKind): boolean => REST_KINDS.has(kind)

/** A token of zone-file text. A quoted one has lost its quotes; escapes are not yet resolved. */
export interface Token {
  readonly text: string
  readonly quoted: boolean
}

/** How names in rdata are read: the zone file completes them with the origin, a definition has rules of its own. */
export type NameReader = (text: string) => Result<DomainName>

const UNSIGNED_LIMIT = { u8: 255, u16: 65535, u32: 4294967295 } as const

/** The registry of DNSSEC algorithm numbers, by mnemonic. */
const ALGORITHMS: Readonly<Record<string, number>> = {
  DELETE: 0,
  RSAMD5: 1,
  DH: 2,
  DSA: 3,
  RSASHA1: 5,
  'DSA-NSEC3-SHA1': 6,
  'RSASHA1-NSEC3-SHA1': 7,
  RSASHA256: 8,
  RSASHA512: 10,
  'ECC-GOST': 12,
  ECDSAP256SHA256: 13,
  ECDSAP384SHA384: 14,
  ED25519: 15,
  ED448: 16,
  INDIRECT: 252,
  PRIVATEDNS: 253,
  PRIVATEOID: 254,
}

/** The canonical text of one field from its tokens (one token unless the kind takes the rest), or what is wrong with it. */
export function canonicalField(kind: FieldKind, tokens: readonly Token[], readName: NameReader): Result<string> {
  const token = tokens[0]
  if (token === undefined) return fault('is missing')
  switch (kind) {
    case 'u8':
    case 'u16':
    case 'u32':
      return canonicalUnsigned(token.text, UNSIGNED_LIMIT[kind])
    case 'seconds':
      return canonicalSeconds(token.text)
    case 'name':
      return readName(token.text)
    case 'ipv4':
      return parseIpv4(token.text)
    case 'ipv6':
      return parseIpv6(token.text)
    case 'string':
      return canonicalString(token)
    case 'strings':
      return canonicalStrings(tokens)
    case 'text': {
      const octets = unescapeString(token.text)
      return octets.ok ? ok(quoteString(octets.value)) : octets
    }
    case 'tag':
      return /^[a-z0-9]{1,255}$/i.test(token.text)
        ? ok(token.text.toLowerCase())
        : fault(`${quote(token.text)} is not a tag of letters and digits`)
    case 'hex':
      return canonicalHex(tokens)
    case 'base64':
      return canonicalBase64(tokens)
    case 'algorithm': {
      const number = ALGORITHMS[token.text.toUpperCase()]
      return number === undefined ? canonicalUnsigned(token.text, 255) : ok(String(number))
    }
  }
}

function canonicalUnsigned(text: string, limit: number): Result<string> {
  if (!/^[0-9]{1,10}$/.test(text)) return fault(`${quote(text)} is not a whole number`)
  const value = Number(text)
  return value > limit ? fault(`${text} is more than ${limit}`) : ok(String(value))
}

function canonicalSeconds(text: string): Result<string> {
  if (/^[0-9]+$/.test(text)) return canonicalUnsigned(text, UNSIGNED_LIMIT.u32)
  const ttl = parseTtl(text)
  return ttl.ok ? ok(String(ttl.value)) : fault(`${quote(text)} is not a number of seconds, nor one with s, m, h, d or w`)
}

function canonicalString(token: Token): Result<string> {
  const octets = unescapeString(token.text)
  if (!octets.ok) return octets
  const { length } = octets.value
  return length > MAX_STRING_OCTETS
    ? fault(`a string of ${length} octets is longer than ${MAX_STRING_OCTETS}`)
    : ok(quoteString(octets.value))
}

function canonicalStrings(tokens: readonly Token[]): Result<string> {
  const strings: string[] = []
  for (const token of tokens) {
    const string = canonicalString(token)
    if (!string.ok) return string
    strings.push(string.value)
  }
  return ok(strings.join(' '))
}

function canonicalHex(tokens: readonly Token[]): Result<string> {
  const hex = tokens.map((token) => token.text).join('')
  if (!/^(?:[0-9a-f]{2})*$/i.test(hex)) return fault(`${quote(hex)} is not hexadecimal with an even number of digits`)
  return hex === '' ? fault('is empty') : ok(hex.toLowerCase())
}

function canonicalBase64(tokens: readonly Token[]): Result<string> {
  const text = tokens.map((token) => token.text).join('')
  const canonical = Buffer.from(text, 'base64').toString('base64')
  return text === '' || canonical !== text ? fault(`${quote(text)} is not base64 (RFC 4648 section 4)`) : ok(canonical)
}

const quote = (text: string): string => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
