import { type DomainName, nameOctets } from '../../dns/domain-name.ts'
import { META_TYPE } from '../../dns/record-type.ts'
import { readEdnsOptions, skipName } from '../../dns/wire/decode-message.ts'
import { CLASS, FLAG, FLAG_DO, HEADER_OCTETS, OPCODE, RCODE } from '../../dns/wire/message.ts'
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

/** What any message with a question has. The question keeps its octets, for the answer repeats them as they came. */
export interface RequestMessage {
  readonly header: QueryHeader
  readonly name: DomainName
  readonly code: number
  readonly class: number
  /** The question section. */
  readonly question: Uint8Array
  readonly edns: QueryEdns | null
  /** Whether it has a TSIG record, which is not checked here. */
  readonly isSigned: boolean
}

/** A standard query as the server needs it. */
export interface Query extends RequestMessage {
  readonly kind: 'query'
  /** The serial of the SOA that came with it, as IXFR has one (RFC 1995 section 3); null without. */
  readonly serial: number | null
}

/** Word from a primary that a zone has changed (RFC 1996). */
export interface Notify extends RequestMessage {
  readonly kind: 'notify'
  /** The serial it tells, which may be a lie; null where it tells none. */
  readonly serial: number | null
}

export interface QueryEdns {
  /** Octets of a UDP datagram that the asker can take, as it says. */
  readonly udpSize: number
  readonly version: number
  readonly dnssecOk: boolean
}

/** What of the header a response repeats: the identifier, and opcode, RD and CD in their places. */
export interface QueryHeader {
  readonly id: number
  readonly flags: number
}

/** A message to which the answer is an RCODE in a bare header. */
export interface RejectedMessage {
  readonly kind: 'rejected'
  readonly header: QueryHeader
  readonly rcode: number
}

/** More records than OPT, TSIG and SIG(0) a query has no use for. */
const MAX_ADDITIONALS = 4

/** More than the SOA a NOTIFY has no use for either, but RFC 1996 section 3.7 leaves room. */
const MAX_NOTIFY_RECORDS = 16

const OPCODE_BITS = 0x7800

const TYPE_SOA = 6

/**
 * Reads a message that came to the server. Null for one that must not be answered: a response, which could make two servers
 * answer each other for ever, or less than a header. Costs no more than the octets, whatever they are.
 */
export function parseQuery(octets: Uint8Array): Query | Notify | RejectedMessage | null {
  if (octets.length < HEADER_OCTETS) return null
  const reader = createReader(octets)
  const id = readU16(reader)
  const bits = readU16(reader)
  if ((bits & FLAG.QR) !== 0) return null
  const header: QueryHeader = { id, flags: bits & (OPCODE_BITS | FLAG.RD | FLAG.CD) }
  const opcode = (bits & OPCODE_BITS) >> 11
  if (opcode !== OPCODE.QUERY && opcode !== OPCODE.NOTIFY) return { kind: 'rejected', header, rcode: RCODE.NOTIMP }
  const message = decodeToResult(() => (opcode === OPCODE.QUERY ? readQuery(reader, header) : readNotify(reader, header)))
  return message.ok ? message.value : { kind: 'rejected', header, rcode: RCODE.FORMERR }
}

function readQuery(reader: WireReader, header: QueryHeader): Query {
  const { question, counts } = readQuestion(reader)
  const isIncremental = question.code === META_TYPE.IXFR
  // Only IXFR brings a record, the SOA it has (RFC 1995 section 3).
  if (counts.answers !== 0 || counts.authorities !== (isIncremental ? 1 : 0)) throwWireError('a query has no answers')
  const serial = isIncremental ? readSoaSerial(reader, question.name) : null
  if (isIncremental && serial === null) throwWireError('an IXFR query has the SOA of the zone (RFC 1995 section 3)')
  return { kind: 'query', header, ...question, ...readAdditionals(reader, counts.additionals), serial }
}

function readNotify(reader: WireReader, header: QueryHeader): Notify {
  const { question, counts } = readQuestion(reader)
  if (question.code !== TYPE_SOA || question.class !== CLASS.IN)
    throwWireError('a NOTIFY is about an SOA of class IN (RFC 1996 section 3.7)')
  if (counts.answers + counts.authorities > MAX_NOTIFY_RECORDS) throwWireError('a NOTIFY has few records')
  let serial: number | null = null
  for (let i = 0; i < counts.answers + counts.authorities; i += 1) {
    const found = readSoaSerial(reader, question.name)
    if (i < counts.answers) serial ??= found
  }
  return { kind: 'notify', header, ...question, ...readAdditionals(reader, counts.additionals), serial }
}

function readQuestion(reader: WireReader) {
  const [questions, answers, authorities, additionals] = [readU16(reader), readU16(reader), readU16(reader), readU16(reader)]
  if (questions !== 1) throwWireError('a query has one question (RFC 9619)')
  const start = reader.offset
  const name = readName(reader)
  // Nothing stands before the question that a pointer could mean.
  if (reader.offset - start !== nameOctets(name)) throwWireError('the name of a question is compressed')
  const code = readU16(reader)
  const questionClass = readU16(reader)
  const question = { name, code, class: questionClass, question: reader.octets.subarray(start, reader.offset) }
  return { question, counts: { answers, authorities, additionals } }
}

/** The serial of the next record if that is the zone's SOA; null, and passed over, where it is another. */
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

/** The additional section, and that nothing follows it. */
function readAdditionals(reader: WireReader, count: number): Pick<RequestMessage, 'edns' | 'isSigned'> {
  if (count > MAX_ADDITIONALS) throwWireError('a query has few additional records')
  let edns: QueryEdns | null = null
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
    if (edns || ownerOctets !== 1) throwWireError('there is one OPT record and its owner is the root (RFC 6891 section 6.1)')
    readEdnsOptions(createReader(rdata))
    edns = { udpSize, version: (ttl >>> 16) & 0xff, dnssecOk: (ttl & FLAG_DO) !== 0 }
  }
  if (remainingOctets(reader) > 0) throwWireError('octets follow the last section')
  return { edns, isSigned }
}
