/** Encodes DNS messages. */
import type { DomainName } from '../domain-name.ts'
import { encodeRdata } from '../rdata/rdata-codec.ts'
import { META_TYPE, wireTypeCode } from '../record-type.ts'
import { type Edns, FLAG, FLAG_DO, HEADER_OCTETS, MAX_MESSAGE_OCTETS, type Message, type Question, type WireRecord } from './message.ts'
import {
  createWriter,
  overwriteU16,
  type WireWriter,
  writeName,
  writeOctets,
  writeSized,
  writeU8,
  writeU16,
  writeU32,
  writtenOctets,
} from './writer.ts'

/** Encodes a message with compressed names. Throws a `RangeError` if it has more than 65,535 octets. */
export function encodeMessage(message: Message): Buffer {
  const writer = createWriter()
  const { questions, answers, authorities, additionals, edns } = message
  const counts = [questions.length, answers.length, authorities.length, additionals.length + (edns ? 1 : 0)]
  if (counts.some((count) => count > 0xffff)) throw new RangeError('a section of a message holds at most 65535 records')
  if (message.rcode > 0xf && !edns) throw new RangeError(`an RCODE of ${message.rcode} needs EDNS (RFC 6891 section 6.1.3)`)
  reserveHeader(writer)
  writeHeader(writer, message.id, headerFlags(message), counts)
  for (const question of questions) writeQuestion(writer, question)
  for (const record of answers) writeRecord(writer, record)
  for (const record of authorities) writeRecord(writer, record)
  if (edns) writeOpt(writer, edns, message.rcode)
  for (const record of additionals) writeRecord(writer, record)
  if (writer.offset > MAX_MESSAGE_OCTETS) throw new RangeError(`a message of ${writer.offset} octets; ${MAX_MESSAGE_OCTETS} are allowed`)
  return writtenOctets(writer)
}

const headerFlags = (message: Message): number =>
  (message.response ? FLAG.QR : 0) |
  (message.opcode << 11) |
  (message.authoritative ? FLAG.AA : 0) |
  (message.truncated ? FLAG.TC : 0) |
  (message.recursionDesired ? FLAG.RD : 0) |
  (message.recursionAvailable ? FLAG.RA : 0) |
  (message.authenticData ? FLAG.AD : 0) |
  (message.checkingDisabled ? FLAG.CD : 0) |
  (message.rcode & 0xf)

/** Reserves an empty header, which `writeHeader` fills in. */
export function reserveHeader(writer: WireWriter): void {
  for (let i = 0; i < HEADER_OCTETS; i += 2) writeU16(writer, 0)
}

/** Fills in the header (RFC 1035 section 4.1.1): identifier, the 16 bits of flags, opcode and RCODE, and the four counts. */
export function writeHeader(writer: WireWriter, id: number, flags: number, counts: readonly number[]): void {
  overwriteU16(writer, 0, id)
  overwriteU16(writer, 2, flags)
  for (let i = 0; i < 4; i += 1) overwriteU16(writer, 4 + 2 * i, counts[i] ?? 0)
}

function writeQuestion(writer: WireWriter, question: Question): void {
  writeName(writer, question.name, true)
  writeU16(writer, wireTypeCode(question.type))
  writeU16(writer, question.class)
}

function writeRecord(writer: WireWriter, record: WireRecord): void {
  const { type, data } = record
  writeRecordHeader(writer, record.name, wireTypeCode(type), record.class, record.ttl)
  writeSized(writer, () => {
    if (data !== null) encodeRdata(type, data, writer)
  })
}

/** Writes owner, type, class and TTL in seconds (RFC 1035 section 4.1.3). */
export function writeRecordHeader(writer: WireWriter, name: DomainName, code: number, recordClass: number, ttl: number): void {
  writeName(writer, name, true)
  writeU16(writer, code)
  writeU16(writer, recordClass)
  writeU32(writer, ttl)
}

/** Writes the OPT record, which has the upper eight bits of the RCODE (RFC 6891 section 6.1.3). */
export function writeOpt(writer: WireWriter, edns: Edns, rcode: number): void {
  writeU8(writer, 0)
  writeU16(writer, META_TYPE.OPT)
  writeU16(writer, edns.udpSize)
  writeU8(writer, rcode >>> 4)
  writeU8(writer, edns.version)
  writeU16(writer, edns.dnssecOk ? FLAG_DO : 0)
  writeSized(writer, () => {
    for (const option of edns.options) {
      writeU16(writer, option.code)
      writeSized(writer, () => writeOctets(writer, option.data))
    }
  })
}
