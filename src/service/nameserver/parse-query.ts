import { readEdnsOptions, skipName } from '../../formats/wire/decode-message.ts'
import { FLAG, FLAG_DO, HEADER_OCTETS, OPCODE, RCODE } from '../../formats/wire/message.ts'
import { createReader, readName, readOctets, readU16, readU32, remaining, type WireReader } from '../../formats/wire/reader.ts'
import { META_TYPE } from '../../formats/wire/type-code.ts'
import { decoding, wireFault } from '../../formats/wire/wire-fault.ts'
import { type DomainName, nameOctets } from '../../model/domain-name.ts'

/** A standard query as the server needs it. Its question keeps its octets, for the answer repeats them as they came. */
export interface Query {
  readonly kind: 'query'
  readonly header: QueryHeader
  readonly name: DomainName
  readonly code: number
  readonly class: number
  /** The question section. */
  readonly question: Uint8Array
  readonly edns: QueryEdns | null
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
export interface Rejected {
  readonly kind: 'rejected'
  readonly header: QueryHeader
  readonly rcode: number
}

/** More records than OPT, TSIG and SIG(0) a query has no use for. */
const MAX_ADDITIONALS = 4

const OPCODE_BITS = 0x7800

/**
 * Reads a message that came to the server. Null for one that must not be answered: a response, which could make two servers
 * answer each other for ever, or less than a header. Costs no more than the octets, whatever they are.
 */
export function parseQuery(octets: Uint8Array): Query | Rejected | null {
  if (octets.length < HEADER_OCTETS) return null
  const reader = createReader(octets)
  const id = readU16(reader)
  const bits = readU16(reader)
  if ((bits & FLAG.QR) !== 0) return null
  const header: QueryHeader = { id, flags: bits & (OPCODE_BITS | FLAG.RD | FLAG.CD) }
  if ((bits & OPCODE_BITS) >> 11 !== OPCODE.QUERY) return { kind: 'rejected', header, rcode: RCODE.NOTIMP }
  const query = decoding(() => readQuery(reader, header))
  return query.ok ? query.value : { kind: 'rejected', header, rcode: RCODE.FORMERR }
}

function readQuery(reader: WireReader, header: QueryHeader): Query {
  const [questions, answers, authorities, additionals] = [readU16(reader), readU16(reader), readU16(reader), readU16(reader)]
  if (questions !== 1) wireFault('a query has one question (RFC 9619)')
  const start = reader.offset
  const name = readName(reader)
  // Nothing stands before the question that a pointer could mean.
  if (reader.offset - start !== nameOctets(name)) wireFault('the name of a question is compressed')
  const code = readU16(reader)
  const questionClass = readU16(reader)
  const question = reader.octets.subarray(start, reader.offset)
  // Only IXFR brings a record, the SOA it has (RFC 1995 section 3).
  if (answers !== 0 || authorities > (code === META_TYPE.IXFR ? 1 : 0)) wireFault('a query has no answers')
  if (authorities === 1) skipRecord(reader)
  if (additionals > MAX_ADDITIONALS) wireFault('a query has few additional records')
  const edns = readAdditionals(reader, additionals)
  if (remaining(reader) > 0) wireFault('octets follow the last section')
  return { kind: 'query', header, name, code, class: questionClass, question, edns }
}

function readAdditionals(reader: WireReader, count: number): QueryEdns | null {
  let edns: QueryEdns | null = null
  for (let i = 0; i < count; i += 1) {
    const start = reader.offset
    skipName(reader)
    const ownerOctets = reader.offset - start
    const code = readU16(reader)
    const udpSize = readU16(reader)
    const ttl = readU32(reader)
    const rdata = readOctets(reader, readU16(reader))
    if (code !== META_TYPE.OPT) continue
    if (edns || ownerOctets !== 1) wireFault('there is one OPT record and its owner is the root (RFC 6891 section 6.1)')
    readEdnsOptions(createReader(rdata))
    edns = { udpSize, version: (ttl >>> 16) & 0xff, dnssecOk: (ttl & FLAG_DO) !== 0 }
  }
  return edns
}

function skipRecord(reader: WireReader): void {
  skipName(reader)
  readOctets(reader, 8)
  readOctets(reader, readU16(reader))
}
