/** Decodes DNS messages. */
import type { Result } from '../../base/result.ts'
import { type DomainName, lowerCaseName, ROOT } from '../domain-name.ts'
import { readGenericRdata, readRdata } from '../rdata/rdata-codec.ts'
import { META_TYPE, wireTypeName } from '../record-type.ts'
import { MAX_TTL } from '../ttl.ts'
import { CLASS, type Edns, type EdnsOption, FLAG, FLAG_DO, HEADER_OCTETS, type Message, type Question, type WireRecord } from './message.ts'
import {
  createReader,
  decodeOr,
  decodeToResult,
  decodeWithSubject,
  readName,
  readOctets,
  readU8,
  readU16,
  readU32,
  remainingOctets,
  throwWireError,
  type WireReader,
} from './reader.ts'

export interface DecodeOptions {
  /** Accepts answers whose rdata does not fit their type, marked as `malformed`. */
  readonly lenient?: boolean
  /** Keeps the capital letters of owners and data, which signatures can cover (RFC 6840 section 5.1). */
  readonly keepsCase?: boolean
}

/** Decodes a message, or says why it is malformed. Never throws. */
export const decodeMessage = (octets: Uint8Array, { lenient = false, keepsCase = false }: DecodeOptions = {}): Result<Message> =>
  decodeToResult(() => readMessage(createReader(octets, 0, octets.length, keepsCase), lenient))

function readMessage(reader: WireReader, lenient: boolean): Message {
  const id = readU16(reader)
  const flags = readU16(reader)
  const counts = { questions: readU16(reader), answers: readU16(reader), authorities: readU16(reader), additionals: readU16(reader) }
  const questions = repeat(counts.questions, () => readQuestion(reader))
  const answers = repeat(counts.answers, () => (lenient ? readAnyRecord(reader) : readRecord(reader)))
  const authorities = repeat(counts.authorities, () => readRecord(reader))
  const { additionals, edns, rcodeHigh } = readAdditionals(reader, counts.additionals)
  if (remainingOctets(reader) > 0) throwWireError(`${remainingOctets(reader)} octets after the last section`)
  return {
    id,
    opcode: (flags >> 11) & 0xf,
    response: (flags & FLAG.QR) !== 0,
    authoritative: (flags & FLAG.AA) !== 0,
    truncated: (flags & FLAG.TC) !== 0,
    recursionDesired: (flags & FLAG.RD) !== 0,
    recursionAvailable: (flags & FLAG.RA) !== 0,
    authenticData: (flags & FLAG.AD) !== 0,
    checkingDisabled: (flags & FLAG.CD) !== 0,
    rcode: (rcodeHigh << 4) | (flags & 0xf),
    questions,
    answers,
    authorities,
    additionals,
    edns,
  }
}

function readQuestion(reader: WireReader): Question {
  const name = lowerCaseName(readName(reader))
  const type = wireTypeName(readU16(reader))
  return { name, type, class: readU16(reader) }
}

/** A record up to RDLENGTH. `end` is the offset at which its rdata ends. */
interface RecordHead {
  readonly name: DomainName
  readonly owner: string
  readonly code: number
  readonly class: number
  readonly ttl: number
  readonly end: number
}

function readHead(reader: WireReader): RecordHead {
  const owner = readName(reader)
  const code = readU16(reader)
  const recordClass = readU16(reader)
  const ttl = readU32(reader)
  const length = readU16(reader)
  const end = reader.offset + length
  if (end > reader.end) throwWireError('the rdata exceeds the message')
  return { name: lowerCaseName(owner), owner, code, class: recordClass, ttl, end }
}

const readRecord = (reader: WireReader): WireRecord => finishRecord(reader, readHead(reader))

/** Reads a record with any rdata; RDLENGTH locates the next record. */
function readAnyRecord(reader: WireReader): WireRecord {
  const head = readHead(reader)
  const { offset, end } = reader
  return decodeOr<WireRecord>(
    () => withData(reader, head, readRdata),
    (malformed) => {
      reader.offset = offset
      reader.end = end
      return { ...withData(reader, head, readGenericRdata), malformed }
    },
  )
}

const finishRecord = (reader: WireReader, head: RecordHead): WireRecord =>
  decodeWithSubject(
    () => `${head.name} ${wireTypeName(head.code)}`,
    () => withData(reader, head, readRdata),
  )

function withData(reader: WireReader, head: RecordHead, read: (reader: WireReader, code: number) => string): WireRecord {
  const { name, owner, code, class: recordClass, end } = head
  // A TTL with the most significant bit set is zero (RFC 2181 section 8).
  const ttl = head.ttl > MAX_TTL ? 0 : head.ttl
  const hasNoData = end === reader.offset && (recordClass === CLASS.ANY || recordClass === CLASS.NONE)
  const data = hasNoData ? null : within(reader, end, () => read(reader, code))
  return { name, type: wireTypeName(code), class: recordClass, ttl, data, ...(owner === name ? {} : { writtenOwner: owner }) }
}

function readAdditionals(reader: WireReader, count: number): { additionals: WireRecord[]; edns: Edns | null; rcodeHigh: number } {
  const additionals: WireRecord[] = []
  let edns: Edns | null = null
  let rcodeHigh = 0
  for (let i = 0; i < count; i += 1) {
    const head = readHead(reader)
    if (head.code !== META_TYPE.OPT) {
      additionals.push(finishRecord(reader, head))
      continue
    }
    if (edns) throwWireError('there are two OPT records (RFC 6891 section 6.1.1)')
    if (head.name !== ROOT) throwWireError('the owner of an OPT record is not the root (RFC 6891 section 6.1.2)')
    rcodeHigh = head.ttl >>> 24
    edns = {
      udpSize: head.class,
      version: (head.ttl >>> 16) & 0xff,
      dnssecOk: (head.ttl & FLAG_DO) !== 0,
      options: within(reader, head.end, () => readEdnsOptions(reader)),
    }
  }
  return { additionals, edns, rcodeHigh }
}

/** Options up to the reader's end (RFC 6891 section 6.1.2). */
export function readEdnsOptions(reader: WireReader): EdnsOption[] {
  const options: EdnsOption[] = []
  while (remainingOctets(reader) > 0) {
    const code = readU16(reader)
    options.push({ code, data: readOctets(reader, readU16(reader)) })
  }
  return options
}

/** Skips a name (RFC 1035 section 4.1.4). */
export function skipName(reader: WireReader): void {
  for (;;) {
    const length = readU8(reader)
    if (length === 0) return
    if (length >= 0xc0) {
      readU8(reader)
      return
    }
    if (length > 63) throwWireError(`a label of type ${length >> 6} is not known (RFC 6891 section 5)`)
    readOctets(reader, length)
  }
}

function within<T>(reader: WireReader, end: number, read: () => T): T {
  const outer = reader.end
  reader.end = end
  const value = read()
  reader.end = outer
  return value
}

function repeat<T>(count: number, read: () => T): T[] {
  // The announced count may be false, so do not allocate an array of that length.
  const items: T[] = []
  for (let i = 0; i < count; i += 1) items.push(read())
  return items
}

/**
 * The mailbox of the SOA record that is the first answer of a message, with its capital letters, which decoded names lack and mail
 * addresses need (RFC 5321 section 2.4). The result is meaningless if the first answer is another record.
 */
export const readSoaMailbox = (octets: Uint8Array): Result<string> =>
  decodeToResult(() => {
    const reader = createReader(octets, 0, octets.length, true)
    readOctets(reader, 4)
    const questions = readU16(reader)
    readOctets(reader, HEADER_OCTETS - 6)
    for (let i = 0; i < questions; i += 1) {
      skipName(reader)
      readOctets(reader, 4)
    }
    skipName(reader)
    // Skip type, class, TTL and RDLENGTH, then the primary name server.
    readOctets(reader, 10)
    skipName(reader)
    return readName(reader)
  })
