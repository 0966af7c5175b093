/** Encodes responses. */
import type { DomainName } from '../../dns/domain-name.ts'
import { encodeRdata, isCompressible, rdataOctets } from '../../dns/rdata/rdata-codec.ts'
import { reserveHeader, writeHeader, writeOpt, writeRecordHeader } from '../../dns/wire/encode-message.ts'
import { CLASS, FLAG, HEADER_OCTETS, SAFE_UDP_OCTETS } from '../../dns/wire/message.ts'
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
import type { RejectedMessage, RequestEdns, RequestMessage } from './parse-request.ts'
import type { Rrset } from './zone-data.ts'

/** Size in octets of an OPT record without options. */
export const OPT_OCTETS = 11

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
