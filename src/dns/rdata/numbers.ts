/** Numbers, times and mnemonics in rdata. */
import { failure, ok, type Result } from '../../base/result.ts'
import { quoted } from '../../base/text.ts'
import { parseTtl } from '../ttl.ts'

const UNSIGNED_LIMIT = { u8: 255, u16: 65535, u32: 4294967295 } as const
const U64_LIMIT = 2n ** 64n - 1n

/** A whole number of this size, without leading zeros. */
export function canonicalUnsigned(text: string, size: keyof typeof UNSIGNED_LIMIT | 'u64'): Result<string> {
  if (size === 'u64') {
    if (!/^0*[0-9]{1,20}$/.test(text)) return failure(`${quoted(text)} is not a whole number`)
    const value = BigInt(text)
    return value > U64_LIMIT ? failure(`${text} is more than ${U64_LIMIT}`) : ok(String(value))
  }
  if (!/^0*[0-9]{1,10}$/.test(text)) return failure(`${quoted(text)} is not a whole number`)
  const value = Number(text)
  return value > UNSIGNED_LIMIT[size] ? failure(`${text} is more than ${UNSIGNED_LIMIT[size]}`) : ok(String(value))
}

/** A 32-bit number of seconds, which may have units (`1h30m`). */
export function canonicalSeconds(text: string): Result<string> {
  if (/^[0-9]+$/.test(text)) return canonicalUnsigned(text, 'u32')
  const ttl = parseTtl(text)
  return ttl.ok
    ? ok(String(ttl.value))
    : failure(`${quoted(text)} is not a number of seconds: use seconds or a number with s, m, h, d or w`)
}

/** DNSSEC algorithm numbers (RFC 4034 appendix A.1 and its registry). */
const ALGORITHMS: Readonly<Record<string, number>> = {
  DELETE: 0,
  RSAMD5: 1,
  DH: 2,
  DSA: 3,
  ECC: 4,
  RSASHA1: 5,
  'DSA-NSEC3-SHA1': 6,
  NSEC3DSA: 6,
  'RSASHA1-NSEC3-SHA1': 7,
  NSEC3RSASHA1: 7,
  RSASHA256: 8,
  RSASHA512: 10,
  'ECC-GOST': 12,
  ECCGOST: 12,
  ECDSAP256SHA256: 13,
  ECDSAP384SHA384: 14,
  ED25519: 15,
  ED448: 16,
  SM2SM3: 17,
  'ECC-GOST12': 23,
  INDIRECT: 252,
  PRIVATEDNS: 253,
  PRIVATEOID: 254,
}

/** Certificate types (RFC 4398 section 2.1). */
const CERTIFICATE_TYPES: Readonly<Record<string, number>> = {
  PKIX: 1,
  SPKI: 2,
  PGP: 3,
  IPKIX: 4,
  ISPKI: 5,
  IPGP: 6,
  ACPKIX: 7,
  IACPKIX: 8,
  URI: 253,
  OID: 254,
}

const MNEMONICS = {
  algorithm: { numbers: ALGORITHMS, size: 'u8', called: 'an algorithm' },
  'certificate-type': { numbers: CERTIFICATE_TYPES, size: 'u16', called: 'a type of certificate' },
  'dsync-scheme': { numbers: { NOTIFY: 1 }, size: 'u8', called: 'a scheme' },
} as const satisfies Record<string, { numbers: Readonly<Record<string, number>>; size: 'u8' | 'u16'; called: string }>

/** The kinds of numbers that have mnemonics. */
export type MnemonicKind = keyof typeof MNEMONICS

/** The number of a number or mnemonic. */
export function canonicalMnemonic(text: string, kind: MnemonicKind): Result<string> {
  const { numbers, size, called } = MNEMONICS[kind]
  if (/^[0-9]/.test(text)) return canonicalUnsigned(text, size)
  const name = text.toUpperCase()
  const number = Object.hasOwn(numbers, name) ? (numbers as Readonly<Record<string, number>>)[name] : undefined
  return number === undefined ? failure(`${quoted(text)} is not ${called}`) : ok(String(number))
}

/**
 * A time of a DNSSEC record as YYYYMMDDHHmmSS in UTC from 1970 to 2106, given so or as seconds since 1970 (RFC 4034 section 3.2). Times are serial
 * numbers (section 3.1.5), so a time outside those years is the one that differs by a multiple of 2^32 seconds.
 */
export function canonicalTimestamp(text: string): Result<string> {
  if (/^[0-9]{1,10}$/.test(text)) {
    const seconds = Number(text)
    return seconds > 0xffffffff ? failure(`${text} is more than ${0xffffffff}`) : ok(formatTimestamp(seconds))
  }
  if (!/^[0-9]{14}$/.test(text)) return failure(`${quoted(text)} is not a time: YYYYMMDDHHmmSS, or seconds since 1970`)
  const seconds = timestampSeconds(text)
  // `Date.UTC` carries a day or hour that does not exist into the next one.
  if (formatDate(seconds) !== text) return failure(`${text} is not a date and time that exists`)
  return ok(formatTimestamp(seconds))
}

/** The seconds since 1970 of YYYYMMDDHHmmSS. */
export function timestampSeconds(text: string): number {
  const part = (from: number, to: number): number => Number(text.slice(from, to))
  return Date.UTC(part(0, 4), part(4, 6) - 1, part(6, 8), part(8, 10), part(10, 12), part(12, 14)) / 1000
}

/** Seconds since 1970, modulo 2^32, as YYYYMMDDHHmmSS. */
export const formatTimestamp = (seconds: number): string => formatDate(seconds - Math.floor(seconds / 2 ** 32) * 2 ** 32)

const formatDate = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 19).replace(/[-T:]/g, '')
