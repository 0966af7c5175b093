/** The TSIG record (RFC 8945 section 4) and its MAC, as clients and servers use them. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Result } from '../../base/result.ts'
import type { DomainName } from '../domain-name.ts'
import { META_TYPE } from '../record-type.ts'
import { HEADER_OCTETS, MAX_MESSAGE_OCTETS } from './message.ts'
import {
  createReader,
  decodeToResult,
  readName,
  readOctets,
  readU16,
  readU32,
  remainingOctets,
  throwWireError,
  type WireReader,
} from './reader.ts'
import { createWriter, type WireWriter, writeName, writeOctets, writeU16, writeU32, writtenOctets } from './writer.ts'

/** The supported algorithms (RFC 8945 section 6, without MD5) and the hash of each. */
const DIGESTS = {
  'hmac-sha1': 'sha1',
  'hmac-sha224': 'sha224',
  'hmac-sha256': 'sha256',
  'hmac-sha384': 'sha384',
  'hmac-sha512': 'sha512',
} as const

export type TsigAlgorithm = keyof typeof DIGESTS

export const TSIG_ALGORITHMS = Object.keys(DIGESTS) as readonly TsigAlgorithm[]

export interface TsigKey {
  readonly name: DomainName
  readonly algorithm: TsigAlgorithm
  readonly secret: Uint8Array
}

/** How many seconds clocks may differ (RFC 8945 section 10). */
export const FUDGE_SECONDS = 300

/** Errors of a TSIG record (RFC 8945 section 3). */
export const TSIG_ERROR = { BADSIG: 16, BADKEY: 17, BADTIME: 18, BADTRUNC: 22 } as const

const CLASS_ANY = 255

const NOTHING = new Uint8Array()

/** The contents of a TSIG record (RFC 8945 section 4.2). Times are in seconds. */
export interface Signature {
  readonly keyName: DomainName
  readonly algorithm: DomainName
  readonly time: number
  readonly fudge: number
  readonly mac: Uint8Array
  readonly originalId: number
  readonly error: number
  readonly other: Uint8Array
}

export const algorithmName = (algorithm: TsigAlgorithm): DomainName => `${algorithm}.` as DomainName

/** The octets of a secret in base64, which may have spaces and line breaks; null if the text is not base64. */
export function parseTsigSecret(text: string): Buffer | null {
  const packed = text.replace(/\s+/g, '')
  if (packed === '' || packed.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(packed)) return null
  return Buffer.from(packed, 'base64')
}

/** Splits a message into the message that was signed and its signature, null if it has none. A TSIG record must be the last record. */
export const splitSignature = (octets: Uint8Array): Result<{ readonly signature: Signature | null; readonly unsigned: Uint8Array }> =>
  decodeToResult(() => readSplit(octets))

function readSplit(octets: Uint8Array): { readonly signature: Signature | null; readonly unsigned: Uint8Array } {
  const reader = createReader(octets)
  readU32(reader)
  const counts = [readU16(reader), readU16(reader), readU16(reader), readU16(reader)]
  const [questions = 0, ...sections] = counts
  for (let i = 0; i < questions; i += 1) {
    readName(reader)
    readU32(reader)
  }
  const records = sections.reduce((sum, count) => sum + count, 0)
  for (let i = 0; i < records; i += 1) {
    const start = reader.offset
    const name = readName(reader)
    const type = readU16(reader)
    const recordClass = readU16(reader)
    const ttl = readU32(reader)
    const length = readU16(reader)
    if (type !== META_TYPE.TSIG) {
      readOctets(reader, length)
      continue
    }
    // A TSIG record is the last one of the additional section (RFC 8945 section 5.1).
    if (i !== records - 1 || counts[3] === 0 || remainingOctets(reader) !== length) throwWireError('a TSIG record is not the last one')
    const signature = readSignature(name, reader)
    // Class and TTL are fixed (RFC 8945 section 4.2). The MAC covers these values, not those of the record.
    if (remainingOctets(reader) > 0 || recordClass !== CLASS_ANY || ttl !== 0) throwWireError('a TSIG record is malformed')
    const unsigned = Buffer.from(octets.subarray(0, start))
    if (unsigned.length < HEADER_OCTETS) throwWireError('the message has no header')
    unsigned.writeUInt16BE((counts[3] as number) - 1, 10)
    unsigned.writeUInt16BE(signature.originalId, 0)
    return { signature, unsigned }
  }
  return { signature: null, unsigned: octets }
}

function readSignature(keyName: DomainName, reader: WireReader): Signature {
  const algorithm = readName(reader)
  const time = readU16(reader) * 2 ** 32 + readU32(reader)
  const fudge = readU16(reader)
  const mac = readOctets(reader, readU16(reader))
  const originalId = readU16(reader)
  const error = readU16(reader)
  const other = readOctets(reader, readU16(reader))
  return { keyName, algorithm, time, fudge, mac, originalId, error, other }
}

/** Appends a TSIG record. Throws a `RangeError` if the message becomes too long. */
export function appendSignature(octets: Uint8Array, signature: Signature): Buffer {
  const writer = createWriter({ compress: false, size: octets.length + 512 })
  writeOctets(writer, octets)
  writeName(writer, signature.keyName, false)
  writeU16(writer, META_TYPE.TSIG)
  writeU16(writer, CLASS_ANY)
  writeU32(writer, 0)
  const rdata = createWriter({ compress: false })
  writeName(rdata, signature.algorithm, false)
  writeTime(rdata, signature.time)
  writeU16(rdata, signature.fudge)
  writeU16(rdata, signature.mac.length)
  writeOctets(rdata, signature.mac)
  writeU16(rdata, signature.originalId)
  writeU16(rdata, signature.error)
  writeU16(rdata, signature.other.length)
  writeOctets(rdata, signature.other)
  writeU16(writer, rdata.offset)
  writeOctets(writer, writtenOctets(rdata))
  if (writer.offset > MAX_MESSAGE_OCTETS) throw new RangeError('a signed message is too long')
  const signed = Buffer.from(writtenOctets(writer))
  signed.writeUInt16BE(signed.readUInt16BE(10) + 1, 10)
  return signed
}

/** A signature of the message without a MAC. */
export const unsignedSignature = (key: TsigKey, octets: Uint8Array, now: number): Signature => ({
  keyName: key.name,
  algorithm: algorithmName(key.algorithm),
  time: now,
  fudge: FUDGE_SECONDS,
  mac: NOTHING,
  originalId: Buffer.from(octets.subarray(0, 2)).readUInt16BE(),
  error: 0,
  other: NOTHING,
})

/** The MAC of the concatenated parts. */
export function computeMac(key: TsigKey, parts: readonly Uint8Array[]): Buffer {
  const hmac = createHmac(DIGESTS[key.algorithm], key.secret)
  for (const part of parts) hmac.update(part)
  return hmac.digest()
}

/** Compares MACs in constant time. */
export const macsEqual = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && timingSafeEqual(a, b)

/** The fields of a TSIG record that the MAC of a request and of the first message of an answer covers (RFC 8945 section 4.3.3). */
export function tsigVariables(key: TsigKey, { time, fudge, error, other }: Pick<Signature, 'time' | 'fudge' | 'error' | 'other'>): Buffer {
  const writer = createWriter({ compress: false })
  writeName(writer, key.name, false)
  writeU16(writer, CLASS_ANY)
  writeU32(writer, 0)
  writeName(writer, algorithmName(key.algorithm), false)
  writeTime(writer, time)
  writeU16(writer, fudge)
  writeU16(writer, error)
  writeU16(writer, other.length)
  writeOctets(writer, other)
  return writtenOctets(writer)
}

/** The fields that the MAC of a later message covers (RFC 8945 section 5.3.1). */
export function tsigTimers({ time, fudge }: Pick<Signature, 'time' | 'fudge'>): Buffer {
  const writer = createWriter({ compress: false })
  writeTime(writer, time)
  writeU16(writer, fudge)
  return writtenOctets(writer)
}

/** The previous MAC as the next one covers it: with its length. */
export function macWithLength(mac: Uint8Array): Buffer {
  const octets = Buffer.alloc(2 + mac.length)
  octets.writeUInt16BE(mac.length, 0)
  octets.set(mac, 2)
  return octets
}

/** The MAC of a request, with the time and fudge of the signature. */
export const requestMac = (key: TsigKey, unsigned: Uint8Array, signature: Signature): Buffer =>
  computeMac(key, [unsigned, tsigVariables(key, signature)])

/** Seconds since 1970 in 48 bits. */
function writeTime(writer: WireWriter, seconds: number): void {
  writeU16(writer, Math.floor(seconds / 2 ** 32))
  writeU32(writer, seconds % 2 ** 32)
}
