import type { DomainName } from '../../dns/domain-name.ts'
import { beginMessage, putHeader } from '../../dns/wire/encode-message.ts'
import { FLAG, RCODE } from '../../dns/wire/message.ts'
import { createWriter, resetWriter, rewindWriter, writtenOctets } from '../../dns/wire/writer.ts'
import type { PlacedRrset } from './answer.ts'
import type { Query } from './parse-query.ts'
import { writeOwnOpt, writeQuestion, writeRecord } from './write-response.ts'
import type { Rrset, ZoneData } from './zone-data.ts'
import type { ZoneDifference } from './zone-history.ts'

/** Octets a message is filled to: compression pointers reach no further (RFC 1035 section 4.1.4, RFC 5936 section 3.4). */
const MESSAGE_OCTETS = 16_384

/** Used by one message at a time, from its header to its copy: transfers that take turns do not meet in it. */
const WRITER = createWriter({ size: 65_536 })

/** A record of an RRset, by its place there. */
export type PlacedRecord = readonly [name: DomainName, rrset: Rrset, index: number]

/**
 * The messages that answer AXFR or IXFR with these records. They are made one by one as they are taken. Only the first one has the
 * question and OPT.
 */
export function* transferMessages(query: Query, records: Iterable<PlacedRecord>): Generator<Buffer, void> {
  let isFirst = true
  let count = 0
  const begin = (): void => {
    resetWriter(WRITER)
    beginMessage(WRITER)
    if (isFirst) writeQuestion(WRITER, query)
  }
  const finish = (): Buffer => {
    const hasOpt = isFirst && query.edns !== null
    if (hasOpt && query.edns) writeOwnOpt(WRITER, query.edns, RCODE.NOERROR)
    putHeader(WRITER, query.header.id, query.header.flags | FLAG.QR | FLAG.AA, [isFirst ? 1 : 0, count, 0, hasOpt ? 1 : 0])
    isFirst = false
    count = 0
    return Buffer.from(writtenOctets(WRITER))
  }
  begin()
  for (const [name, rrset, index] of records) {
    const mark = WRITER.offset
    writeRecord(WRITER, name, rrset, index)
    if (WRITER.offset > MESSAGE_OCTETS && count > 0) {
      rewindWriter(WRITER, mark)
      yield finish()
      begin()
      writeRecord(WRITER, name, rrset, index)
    }
    count += 1
  }
  yield finish()
}

/**
 * A zone as AXFR gives it (RFC 5936 section 2.2), and IXFR where there are no differences (RFC 1995 section 4): its SOA, every other record
 * once, and the SOA again. All records come from this version, however long that takes and whatever replaces it meanwhile.
 */
export function* wholeZone(zone: ZoneData): Generator<PlacedRecord, void> {
  yield [zone.name, zone.soa, 0]
  for (const { name, rrsets } of zone.nodes.values()) {
    for (const rrset of rrsets) {
      if (rrset === zone.soa) continue
      for (let i = 0; i < rrset.data.length; i += 1) yield [name, rrset, i]
    }
  }
  yield [zone.name, zone.soa, 0]
}

/** A difference as IXFR gives it (RFC 1995 section 4), in the order of the message. */
export function differenceSections(zone: ZoneData, { from, removed, added }: ZoneDifference): PlacedRrset[] {
  const soa = { name: zone.name, rrset: zone.soa }
  return [soa, { name: zone.name, rrset: from }, ...removed, soa, ...added, soa]
}

export function* recordsOf(sections: readonly PlacedRrset[]): Generator<PlacedRecord, void> {
  for (const { name, rrset } of sections) for (let i = 0; i < rrset.data.length; i += 1) yield [name, rrset, i]
}
