/** Parses requests from the octets of a message (standard queries, and NOTIFY of a primary) and encodes responses. */
import { type DomainName, nameOctets } from '../../dns/domain-name.ts'
import { encodeRdata, isCompressible, rdataOctets } from '../../dns/rdata/rdata-codec.ts'
import { META_TYPE } from '../../dns/record-type.ts'
import { readEdnsOptions, skipName } from '../../dns/wire/decode-message.ts'
import { reserveHeader, writeHeader, writeOpt, writeRecordHeader } from '../../dns/wire/encode-message.ts'
import { CLASS, FLAG, FLAG_DO, HEADER_OCTETS, OPCODE, RCODE, SAFE_UDP_OCTETS } from '../../dns/wire/message.ts'
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
} from '../../dns/wire/reader.ts'
import {
  createWriter,
  resetWriter,
  rewindWriter,
  type WireWriter,
  writeName,
  writeOctets,
  writeSized,
  writeU16,
  writtenOctets,
} from '../../dns/wire/writer.ts'
import type { Answer, NamedRrset } from './answer.ts'
import type { Rrset } from './zone-data.ts'

/** The common parts of queries and NOTIFY messages. */
interface RequestMessage {
  readonly header: RequestHeader
  readonly name: DomainName
  readonly code: number
  readonly class: number
  /** The octets of the question section, which the response repeats unchanged. */
  readonly question: Uint8Array
  readonly edns: RequestEdns | null
  /** Whether it has a TSIG record. The signature is not checked here. */
  readonly isSigned: boolean
}

/** A standard query. */
export interface Query extends RequestMessage {
  readonly kind: 'query'
  /** The serial of the SOA in an IXFR query (RFC 1995 section 3); null for other queries. */
  readonly serial: number | null
}

/** A primary's message that a zone has changed (RFC 1996). */
export interface Notify extends RequestMessage {
  readonly kind: 'notify'
  /** The serial in the message, which is not trustworthy; null if there is none. */
  readonly serial: number | null
}

interface RequestEdns {
  /** The UDP size in octets that the client claims to accept. */
  readonly udpSize: number
  readonly version: number
  readonly dnssecOk: boolean
}

/** The parts of the header that a response repeats: the identifier, and the opcode, RD and CD at their places in the flags. */
interface RequestHeader {
  readonly id: number
  readonly flags: number
}

/** A message that is answered only with an RCODE in a header. */
interface RejectedMessage {
  readonly kind: 'rejected'
  readonly header: RequestHeader
  readonly rcode: number
}

/** A query can use OPT, TSIG and SIG(0), but no other additional records. */
const MAX_ADDITIONALS = 4

/** A NOTIFY needs only the SOA, but RFC 1996 section 3.7 allows more records. */
const MAX_NOTIFY_RECORDS = 16

const OPCODE_BITS = 0x7800

const TYPE_SOA = 6

/**
 * Parses a received message in time linear in its size. Null for a message that must get no response: one that is a response itself, because two
 * servers could answer each other forever, or one that is shorter than a header.
 */
export function parseRequest(octets: Uint8Array): Query | Notify | RejectedMessage | null {
  if (octets.length < HEADER_OCTETS) return null
  const reader = createReader(octets)
  const id = readU16(reader)
  const bits = readU16(reader)
  if ((bits & FLAG.QR) !== 0) return null
  const header: RequestHeader = { id, flags: bits & (OPCODE_BITS | FLAG.RD | FLAG.CD) }
  const opcode = (bits & OPCODE_BITS) >> 11
  if (opcode !== OPCODE.QUERY && opcode !== OPCODE.NOTIFY) return { kind: 'rejected', header, rcode: RCODE.NOTIMP }
  const message = decodeToResult(() => (opcode === OPCODE.QUERY ? readQuery(reader, header) : readNotify(reader, header)))
  return message.ok ? message.value : { kind: 'rejected', header, rcode: RCODE.FORMERR }
}

function readQuery(reader: WireReader, header: RequestHeader): Query {
  const { question, counts } = readQuestion(reader)
  const isIncremental = question.code === META_TYPE.IXFR
  // Only an IXFR query has a record: the client's SOA (RFC 1995 section 3).
  if (counts.answers !== 0 || counts.authorities !== (isIncremental ? 1 : 0)) throwWireError('a query must not have answers or authorities')
  const serial = isIncremental ? readSoaSerial(reader, question.name) : null
  if (isIncremental && serial === null) throwWireError('an IXFR query must have the SOA of the zone (RFC 1995 section 3)')
  return { kind: 'query', header, ...question, ...readAdditionals(reader, counts.additionals), serial }
}

function readNotify(reader: WireReader, header: RequestHeader): Notify {
  const { question, counts } = readQuestion(reader)
  if (question.code !== TYPE_SOA || question.class !== CLASS.IN)
    throwWireError('a NOTIFY must ask for an SOA of class IN (RFC 1996 section 3.7)')
  if (counts.answers + counts.authorities > MAX_NOTIFY_RECORDS) throwWireError(`a NOTIFY can have at most ${MAX_NOTIFY_RECORDS} records`)
  let serial: number | null = null
  for (let i = 0; i < counts.answers + counts.authorities; i += 1) {
    const found = readSoaSerial(reader, question.name)
    if (i < counts.answers) serial ??= found
  }
  return { kind: 'notify', header, ...question, ...readAdditionals(reader, counts.additionals), serial }
}

function readQuestion(reader: WireReader) {
  const [questions, answers, authorities, additionals] = [readU16(reader), readU16(reader), readU16(reader), readU16(reader)]
  if (questions !== 1) throwWireError('a request must have one question (RFC 9619)')
  const start = reader.offset
  const name = readName(reader)
  // A compression pointer in the first name would have no target.
  if (reader.offset - start !== nameOctets(name)) throwWireError('the name of a question must not be compressed')
  const code = readU16(reader)
  const questionClass = readU16(reader)
  const question = { name, code, class: questionClass, question: reader.octets.subarray(start, reader.offset) }
  return { question, counts: { answers, authorities, additionals } }
}

/** Reads the next record. Returns its serial if it is the zone's SOA, else null. */
function readSoaSerial(reader: WireReader, zone: DomainName): number | null {
  const owner = readName(reader)
  const code = readU16(reader)
  const recordClass = readU16(reader)
  readU32(reader)
  const length = readU16(reader)
  const rdata = reader.offset
  readOctets(reader, length)
  if (owner !== zone || code !== TYPE_SOA || recordClass !== CLASS.IN) return null
  const fields = createReader(reader.octets, rdata, reader.offset)
  skipName(fields)
  skipName(fields)
  return readU32(fields)
}

/** Reads the additional section and checks that nothing follows it. */
function readAdditionals(reader: WireReader, count: number): Pick<RequestMessage, 'edns' | 'isSigned'> {
  if (count > MAX_ADDITIONALS) throwWireError(`a request can have at most ${MAX_ADDITIONALS} additional records`)
  let edns: RequestEdns | null = null
  let isSigned = false
  for (let i = 0; i < count; i += 1) {
    const start = reader.offset
    skipName(reader)
    const ownerOctets = reader.offset - start
    const code = readU16(reader)
    const udpSize = readU16(reader)
    const ttl = readU32(reader)
    const rdata = readOctets(reader, readU16(reader))
    if (code === META_TYPE.TSIG) isSigned = true
    if (code !== META_TYPE.OPT) continue
    if (edns || ownerOctets !== 1)
      throwWireError('there must be one OPT record at most, and its owner must be the root (RFC 6891 section 6.1)')
    readEdnsOptions(createReader(rdata))
    edns = { udpSize, version: (ttl >>> 16) & 0xff, dnssecOk: (ttl & FLAG_DO) !== 0 }
  }
  if (remainingOctets(reader) > 0) throwWireError('octets follow the last section')
  return { edns, isSigned }
}

/** Size in octets of an OPT record without options. */
const OPT_OCTETS = 11

/** Shared by all responses. Each is written completely and copied. */
const WRITER = createWriter({ size: 65536 })

/**
 * Encodes a response in at most `limit` octets. RRsets are added whole. If one of the answer, the authority or the required glue does not fit,
 * the rest is omitted and TC is set (RFC 2181 section 9). The question is repeated octet for octet, letter case included.
 */
export function writeResponse(query: RequestMessage, answer: Answer, limit: number): Buffer {
  const writer = WRITER
  resetWriter(writer)
  reserveHeader(writer)
  writeQuestion(writer, query)
  const room = limit - (query.edns ? OPT_OCTETS : 0)
  const answers = writeSection(writer, answer.answers, room)
  const authorities = answers.complete ? writeSection(writer, answer.authorities, room) : SKIPPED_SECTION
  const glue = authorities.complete ? writeSection(writer, answer.glue, room) : SKIPPED_SECTION
  const additionals = glue.complete ? writeSection(writer, answer.additionals, room) : SKIPPED_SECTION
  if (query.edns) writeResponseOpt(writer, query.edns, answer.rcode)
  const flags = query.header.flags | FLAG.QR | (answer.authoritative ? FLAG.AA : 0) | (glue.complete ? 0 : FLAG.TC) | (answer.rcode & 0xf)
  writeHeader(writer, query.header.id, flags, [1, answers.count, authorities.count, glue.count + additionals.count + (query.edns ? 1 : 0)])
  return Buffer.from(writtenOctets(writer))
}

/** A response with a question and an RCODE, but no records. RCODEs above 15 need EDNS in the query. */
export function writeEmptyResponse(query: RequestMessage, rcode: number, flags = 0): Buffer {
  const writer = WRITER
  resetWriter(writer)
  reserveHeader(writer)
  writeQuestion(writer, query)
  if (query.edns) writeResponseOpt(writer, query.edns, rcode)
  writeHeader(writer, query.header.id, query.header.flags | FLAG.QR | flags | (rcode & 0xf), [1, 0, 0, query.edns ? 1 : 0])
  return Buffer.from(writtenOctets(writer))
}

/** Writes the OPT record of a response, which must be the last record. Its version is always 0 (RFC 6891 section 6.1.3). */
export function writeResponseOpt(writer: WireWriter, edns: RequestEdns, rcode: number): void {
  writeOpt(writer, { udpSize: SAFE_UDP_OCTETS, version: 0, dnssecOk: edns.dnssecOk, options: [] }, rcode)
}

/** The response to a message that could not be parsed: only a header, so never longer than the message. */
export function writeRejection({ header, rcode }: RejectedMessage): Buffer {
  const octets = Buffer.alloc(HEADER_OCTETS)
  octets.writeUInt16BE(header.id, 0)
  octets.writeUInt16BE(header.flags | FLAG.QR | rcode, 2)
  return octets
}

export function writeQuestion(writer: WireWriter, query: RequestMessage): void {
  // Write the name once to register it for compression, then overwrite it with the original letters.
  const start = writer.offset
  writeName(writer, query.name, false)
  writer.offset = start
  writeOctets(writer, query.question)
}

interface WrittenSection {
  /** Records written. */
  readonly count: number
  /** Whether everything fit. */
  readonly complete: boolean
}

const SKIPPED_SECTION: WrittenSection = { count: 0, complete: false }

function writeSection(writer: WireWriter, section: readonly NamedRrset[], room: number): WrittenSection {
  let count = 0
  for (const placed of section) {
    const mark = writer.offset
    if (!writeRrset(writer, placed, room)) {
      rewindWriter(writer, mark)
      return { count, complete: false }
    }
    count += placed.rrset.data.length
  }
  return { count, complete: true }
}

function writeRrset(writer: WireWriter, { name, rrset }: NamedRrset, room: number): boolean {
  for (let i = 0; i < rrset.data.length; i += 1) {
    writeRecord(writer, name, rrset, i)
    if (writer.offset > room) return false
  }
  return true
}

/** Writes the record at an index of an RRset. */
export function writeRecord(writer: WireWriter, name: DomainName, rrset: Rrset, index: number): void {
  const { type } = rrset
  writeRecordHeader(writer, name, rrset.code, CLASS.IN, rrset.ttl)
  const octets = isCompressible(type) ? undefined : encodedRdata(rrset)[index]
  if (octets) {
    writeU16(writer, octets.length)
    writeOctets(writer, octets)
  } else writeSized(writer, () => encodeRdata(type, rrset.data[index] ?? '', writer))
}

function encodedRdata(rrset: Rrset): readonly Uint8Array[] {
  rrset.octets ??= rrset.data.map((data) => rdataOctets(rrset.type, data))
  return rrset.octets
}
