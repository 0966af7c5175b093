import { beginMessage, putHeader } from '../../formats/wire/encode-message.ts'
import { FLAG, RCODE } from '../../formats/wire/message.ts'
import { createWriter, resetWriter, rewindWriter, writtenOctets } from '../../formats/wire/writer.ts'
import type { DomainName } from '../../model/domain-name.ts'
import type { Query } from './parse-query.ts'
import { writeOwnOpt, writeQuestion, writeRecord } from './write-response.ts'
import type { Rrset, ZoneData } from './zone-data.ts'

/** Octets a message is filled to: compression pointers reach no further (RFC 1035 section 4.1.4, RFC 5936 section 3.4). */
const MESSAGE_OCTETS = 16_384

/** Used by one message at a time, from its header to its copy: transfers that take turns do not meet in it. */
const WRITER = createWriter({ size: 65_536 })

/**
 * The messages that answer AXFR with a zone (RFC 5936 section 2.2): its SOA, every other record once, and the SOA again. IXFR gets the
 * same under its own question (RFC 1995 section 4). They are made one by one as they are taken, all of them from the zone given, however
 * long that takes and whatever replaces it meanwhile. Question and OPT stand in the first one.
 */
export function* transferMessages(query: Query, zone: ZoneData): Generator<Buffer, void> {
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
  for (const [name, rrset, index] of recordsInOrder(zone)) {
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

function* recordsInOrder(zone: ZoneData): Generator<[DomainName, Rrset, number]> {
  yield [zone.name, zone.soa, 0]
  for (const { name, rrsets } of zone.nodes.values()) {
    for (const rrset of rrsets) {
      if (rrset === zone.soa) continue
      for (let i = 0; i < rrset.data.length; i += 1) yield [name, rrset, i]
    }
  }
  yield [zone.name, zone.soa, 0]
}
