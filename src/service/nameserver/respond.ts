import { CLASS, MAX_MESSAGE_OCTETS, PLAIN_UDP_OCTETS, RCODE, SAFE_UDP_OCTETS } from '../../formats/wire/message.ts'
import { META_TYPE } from '../../formats/wire/type-code.ts'
import type { DomainName } from '../../model/domain-name.ts'
import { type Answer, answerQuestion } from './answer.ts'
import { parseQuery, type Query } from './parse-query.ts'
import { writeRejection, writeResponse } from './write-response.ts'
import type { ZoneData } from './zone-data.ts'

export type Zones = ReadonlyMap<DomainName, ZoneData>

/**
 * The octets that answer one message, null where silence is right. Never throws: what breaks the format gets FORMERR, a fault of
 * the server's own SERVFAIL.
 */
export function respond(zones: Zones, octets: Uint8Array, transport: 'udp' | 'tcp'): Buffer | null {
  const query = parseQuery(octets)
  if (query === null) return null
  if (query.kind === 'rejected') return writeRejection(query)
  const limit = transport === 'tcp' ? MAX_MESSAGE_OCTETS : udpLimit(query)
  try {
    const rcode = refusalOf(query)
    return writeResponse(query, rcode === null ? answerQuestion(zones, query.name, query.code) : emptyAnswer(rcode), limit)
  } catch {
    return writeResponse(query, emptyAnswer(RCODE.SERVFAIL), limit)
  }
}

/** What the asker can take (RFC 6891 section 6.2.3; less than 512 counts as 512), but no more than passes without fragments. */
function udpLimit({ edns }: Query): number {
  return edns ? Math.min(Math.max(edns.udpSize, PLAIN_UDP_OCTETS), SAFE_UDP_OCTETS) : PLAIN_UDP_OCTETS
}

/** The RCODE of a question that no zone can answer; null for an ordinary one. */
function refusalOf(query: Query): number | null {
  if (query.edns && query.edns.version > 0) return RCODE.BADVERS
  if (query.class !== CLASS.IN) return RCODE.REFUSED
  switch (query.code) {
    case META_TYPE.AXFR:
    case META_TYPE.IXFR:
      return RCODE.REFUSED
    case META_TYPE.MAILA:
    case META_TYPE.MAILB:
      return RCODE.NOTIMP
    case META_TYPE.OPT:
    case META_TYPE.TKEY:
    case META_TYPE.TSIG:
      return RCODE.FORMERR
    default:
      return null
  }
}

const emptyAnswer = (rcode: number): Answer => ({
  rcode,
  authoritative: false,
  answers: [],
  authorities: [],
  glue: [],
  additionals: [],
})
