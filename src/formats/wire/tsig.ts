/**
 * Transaction signatures (RFC 8945): a message carries, as its last record, a keyed digest of itself. A signer and a verifier for a
 * question and the messages of its answer, any number of them; the clock is an argument.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { DomainName } from '../../model/domain-name.ts'
import { fault, ok, type Result } from '../../model/result.ts'
import { HEADER_OCTETS, MAX_MESSAGE_OCTETS } from './message.ts'
import { createReader, readName, readOctets, readU16, readU32, remaining, type WireReader } from './reader.ts'
import { META_TYPE } from './type-code.ts'
import { decoding, wireFault } from './wire-fault.ts'
import { createWriter, type WireWriter, writeName, writeOctets, writeU16, writeU32, writtenOctets } from './writer.ts'

/** The algorithms that are offered (RFC 8945 section 6), MD5 not among them, by the name of the digest. */
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

/** Seconds that clocks may differ (RFC 8945 section 10). */
const FUDGE = 300

/** Messages in a row without a signature that a verifier takes (RFC 8945 section 5.3.1). */
const MAX_UNSIGNED = 99

const CLASS_ANY = 255

export interface SignedMessage {
  readonly octets: Buffer
  readonly mac: Buffer
}

/** The message with a signature. `now` is in seconds since 1970. */
export function signMessage(octets: Uint8Array, key: TsigKey, now: number): SignedMessage {
  const mac = digestOf(key, [octets, variables(key, { time: now, fudge: FUDGE, error: 0, other: new Uint8Array() })])
  const writer = createWriter({ compress: false, size: octets.length + 512 })
  writeOctets(writer, octets)
  writeName(writer, key.name, false)
  writeU16(writer, META_TYPE.TSIG)
  writeU16(writer, CLASS_ANY)
  writeU32(writer, 0)
  const rdata = createWriter({ compress: false })
  writeName(rdata, algorithmName(key.algorithm), false)
  writeTime(rdata, now)
  writeU16(rdata, FUDGE)
  writeU16(rdata, mac.length)
  writeOctets(rdata, mac)
  // The identifier of the message before others changed it on the way.
  writeOctets(rdata, octets.subarray(0, 2))
  writeU16(rdata, 0)
  writeU16(rdata, 0)
  writeU16(writer, rdata.offset)
  writeOctets(writer, writtenOctets(rdata))
  if (writer.offset > MAX_MESSAGE_OCTETS) throw new RangeError('a signed message is too long')
  const signed = Buffer.from(writtenOctets(writer))
  signed.writeUInt16BE(signed.readUInt16BE(10) + 1, 10)
  return { octets: signed, mac }
}

export interface TsigVerifier {
  /** Takes the next message of an answer; says what is wrong with its signature. What it lets pass counts only once `end` agrees. */
  accept(octets: Uint8Array, now: number): Result<void>
  /** Whether the last message was signed, without which nothing is proved (RFC 8945 section 5.3.1). */
  end(): Result<void>
}

/** Verifies the answer to a message that was signed with this MAC. */
export function createTsigVerifier(key: TsigKey, requestMac: Uint8Array): TsigVerifier {
  let previous: Uint8Array = requestMac
  let isFirst = true
  let pending: Uint8Array[] = []

  const accept = (octets: Uint8Array, now: number): Result<void> => {
    const found = decoding(() => splitSignature(octets))
    if (!found.ok) return found
    const { signature, unsigned } = found.value
    pending.push(unsigned)
    if (signature === null) {
      if (isFirst) return fault('the answer is not signed')
      return pending.length > MAX_UNSIGNED
        ? fault(`more than ${MAX_UNSIGNED} messages follow one another without a signature`)
        : ok(undefined)
    }
    if (signature.error !== 0) return fault(errorText(signature, now))
    if (signature.keyName !== key.name) return fault(`the answer is signed with another key, ${signature.keyName}`)
    if (signature.algorithm !== algorithmName(key.algorithm))
      return fault(`the answer is signed by ${signature.algorithm}, not by ${key.algorithm}`)
    const parts = [lengthAndMac(previous), ...pending, isFirst ? variables(key, signature) : timers(signature)]
    const mac = digestOf(key, parts)
    if (signature.mac.length < mac.length)
      return fault(`the signature of the answer is cut to ${signature.mac.length} of ${mac.length} octets, and that is not agreed on`)
    if (mac.length !== signature.mac.length || !timingSafeEqual(mac, signature.mac)) return fault('the signature of the answer is wrong')
    if (Math.abs(signature.time - now) > signature.fudge)
      return fault(`the answer was signed at another time than now: ${clockDifference(signature.time, now)}`)
    previous = mac
    pending = []
    isFirst = false
    return ok(undefined)
  }
  return { accept, end: () => (pending.length === 0 && !isFirst ? ok(undefined) : fault('the last message of the answer is not signed')) }
}

/** What a TSIG record says (RFC 8945 section 4.2). Times are in seconds. */
interface Signature {
  readonly keyName: DomainName
  readonly algorithm: DomainName
  readonly time: number
  readonly fudge: number
  readonly mac: Uint8Array
  readonly originalId: number
  readonly error: number
  readonly other: Uint8Array
}

/** The message as it was before it was signed, and its signature. */
function splitSignature(octets: Uint8Array): { readonly signature: Signature | null; readonly unsigned: Uint8Array } {
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
    readU16(reader)
    readU32(reader)
    const length = readU16(reader)
    if (type !== META_TYPE.TSIG) {
      readOctets(reader, length)
      continue
    }
    // It is the last record of the additional section (RFC 8945 section 5.1).
    if (i !== records - 1 || counts[3] === 0 || remaining(reader) !== length) wireFault('a TSIG record is not the last one')
    const signature = readSignature(name, reader)
    const unsigned = Buffer.from(octets.subarray(0, start))
    if (unsigned.length < HEADER_OCTETS) wireFault('the message has no header')
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

const algorithmName = (algorithm: TsigAlgorithm): DomainName => `${algorithm}.` as DomainName

const digestOf = (key: TsigKey, parts: readonly Uint8Array[]): Buffer => {
  const hmac = createHmac(DIGESTS[key.algorithm], key.secret)
  for (const part of parts) hmac.update(part)
  return hmac.digest()
}

type Timed = Pick<Signature, 'time' | 'fudge'>

/** What of the TSIG record is digested with the message (RFC 8945 section 4.3.3). */
function variables(key: TsigKey, { time, fudge, error, other }: Timed & Pick<Signature, 'error' | 'other'>): Buffer {
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

/** Of messages after the first, only this (RFC 8945 section 5.3.1). */
function timers({ time, fudge }: Timed): Buffer {
  const writer = createWriter({ compress: false })
  writeTime(writer, time)
  writeU16(writer, fudge)
  return writtenOctets(writer)
}

function lengthAndMac(mac: Uint8Array): Buffer {
  const octets = Buffer.alloc(2 + mac.length)
  octets.writeUInt16BE(mac.length, 0)
  octets.set(mac, 2)
  return octets
}

/** Seconds since 1970 in 48 bits. */
function writeTime(writer: WireWriter, seconds: number): void {
  writeU16(writer, Math.floor(seconds / 2 ** 32))
  writeU32(writer, seconds % 2 ** 32)
}

const BADTIME = 18

/** Errors of RFC 8945 section 3. */
const ERRORS: Readonly<Record<number, string>> = {
  16: 'BADSIG: the server finds the signature wrong, so its secret is another one',
  17: 'BADKEY: the server does not know the key',
  [BADTIME]: 'BADTIME: the clock of the server differs',
  22: 'BADTRUNC: the server does not take the length of the signature',
}

function errorText({ error, other }: Signature, now: number): string {
  const text = ERRORS[error] ?? `the server refuses the signature with error ${error}`
  // With BADTIME comes the time of the server (RFC 8945 section 5.2.3).
  return error === BADTIME && other.length === 6 ? `${text}: ${clockDifference(Buffer.from(other).readUIntBE(0, 6), now)}` : text
}

const clockDifference = (server: number, here: number): string =>
  `it is ${Math.abs(server - here)} s ${server < here ? 'behind' : 'ahead of'} the clock here`
