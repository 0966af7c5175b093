import { CLASS, FLAG, MAX_MESSAGE_OCTETS, PLAIN_UDP_OCTETS, RCODE, SAFE_UDP_OCTETS } from '../../formats/wire/message.ts'
import { META_TYPE } from '../../formats/wire/type-code.ts'
import type { DomainName } from '../../model/domain-name.ts'
import { answerQuestion, type HeldZones } from './answer.ts'
import { answerTransfer, type Client, type Transfer, type TransferSlots, type TransferZone } from './answer-transfer.ts'
import { canonicalAddress } from './client-address.ts'
import { type Notify, parseQuery, type Query } from './parse-query.ts'
import { writeBare, writeRejection, writeResponse } from './write-response.ts'
import type { ZoneData } from './zone-data.ts'

/** What the server answers from. */
export interface Served {
  readonly zones: HeldZones
  readonly transferZone: (name: DomainName) => TransferZone | undefined
  readonly slots: TransferSlots
  readonly onNotify: OnNotify
  readonly onError: (error: unknown) => void
}

/**
 * Decides on word that a zone has changed (RFC 1996 section 3.7): `accepted` is NOERROR; `refused`, from an address that is no primary
 * of the zone, REFUSED; `unknown`, of a zone that is transferred from nowhere, NOTAUTH. The address is in its canonical form; the serial is
 * what the message tells, null where it tells none. Null is no answer: who sent it sends it again.
 */
export type OnNotify = (zone: DomainName, address: string, serial: number | null) => NotifyVerdict | Promise<NotifyVerdict> | null

export type NotifyVerdict = 'accepted' | 'refused' | 'unknown'

/** One answer, or what makes it, and whether it may be given again. */
export interface Reply {
  /** Null where silence is right. */
  readonly message: Buffer | Promise<Buffer> | Transfer | null
  /** What the answer is about, for limits on how often it is given. */
  readonly about: string
  /** The zones it came from; null where it must not be kept. */
  readonly keep: readonly ZoneData[] | null
}

/**
 * Answers one message. Never throws: what breaks the format gets FORMERR, a fault of the server's own SERVFAIL.
 */
export function respond(served: Served, octets: Uint8Array, client: Client): Reply {
  const query = parseQuery(octets)
  if (query === null) return { message: null, about: '', keep: null }
  if (query.kind === 'rejected') return reply(writeRejection(query), `rcode ${query.rcode}`)
  try {
    if (query.edns && query.edns.version > 0) return reply(writeBare(query, RCODE.BADVERS), 'version')
    return query.kind === 'notify' ? answerNotify(served, query, client) : answerQuery(served, query, client)
  } catch (error) {
    served.onError(error)
    return reply(writeBare(query, RCODE.SERVFAIL), 'fault')
  }
}

const reply = (message: Reply['message'], about: string, keep: Reply['keep'] = null): Reply => ({ message, about, keep })

function answerQuery(served: Served, query: Query, client: Client): Reply {
  const limit = client.transport === 'tcp' ? MAX_MESSAGE_OCTETS : udpLimit(query)
  if (query.code === META_TYPE.AXFR || query.code === META_TYPE.IXFR) {
    const transfer = answerTransfer(query, client, limit, served.transferZone, served.slots)
    return reply(Buffer.isBuffer(transfer) ? transfer : guarded(transfer, served.onError), 'transfer')
  }
  const rcode = refusalOf(query)
  if (rcode !== null) return reply(writeBare(query, rcode), `rcode ${rcode}`)
  const answer = answerQuestion(served.zones, query.name, query.code)
  // Other classes might have more to say (RFC 1035 section 3.2.5).
  if (query.class === CLASS.ANY) answer.authoritative = false
  // Names that do not exist have no end: whoever asks for them must not fill the memory.
  const isKept = answer.source === query.name && answer.rcode === RCODE.NOERROR
  return reply(writeResponse(query, answer, limit), `${answer.rcode} ${answer.source ?? ''}`, isKept ? answer.zones : null)
}

/** Its messages are made long after this call, where nobody else takes a fault for what it is. */
const guarded = (transfer: Transfer, onError: (error: unknown) => void): Transfer => ({
  ...transfer,
  next: () => {
    try {
      return transfer.next()
    } catch (error) {
      onError(error)
      return 'broken'
    }
  },
})

/** What the asker can take (RFC 6891 section 6.2.3; less than 512 counts as 512), but no more than passes without fragments. */
function udpLimit({ edns }: Query): number {
  return edns ? Math.min(Math.max(edns.udpSize, PLAIN_UDP_OCTETS), SAFE_UDP_OCTETS) : PLAIN_UDP_OCTETS
}

/** The RCODE of a question that no zone can answer; null for an ordinary one. */
function refusalOf(query: Query): number | null {
  if (query.class !== CLASS.IN && query.class !== CLASS.ANY) return RCODE.REFUSED
  switch (query.code) {
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

const NOTIFY_RCODES: Readonly<Record<NotifyVerdict, number>> = {
  accepted: RCODE.NOERROR,
  refused: RCODE.REFUSED,
  unknown: RCODE.NOTAUTH,
}

function answerNotify(served: Served, query: Notify, client: Client): Reply {
  const verdict = served.onNotify(query.name, canonicalAddress(client.address) ?? client.address, query.serial)
  const write = (rcode: number): Buffer => writeBare(query, rcode, rcode === RCODE.NOERROR ? FLAG.AA : 0)
  if (verdict === null) return reply(null, 'notify')
  if (typeof verdict === 'string') return reply(write(NOTIFY_RCODES[verdict]), 'notify')
  const message = verdict.then(
    (later) => write(NOTIFY_RCODES[later]),
    (error) => {
      served.onError(error)
      return write(RCODE.SERVFAIL)
    },
  )
  return reply(message, 'notify')
}
