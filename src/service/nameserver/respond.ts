/** Responds to one DNS message: queries, transfer requests and NOTIFY, signed or not. */
import type { DomainName } from '../../dns/domain-name.ts'
import { canonicalAddress } from '../../dns/ip-address.ts'
import { META_TYPE } from '../../dns/record-type.ts'
import { CLASS, FLAG, MAX_MESSAGE_OCTETS, PLAIN_UDP_OCTETS, RCODE, SAFE_UDP_OCTETS } from '../../dns/wire/message.ts'
import type { TsigKey } from '../../dns/wire/tsig.ts'
import { type AnswerSigner, signatureOctets, type VerifiedRequest, verifyRequest } from '../../dns/wire/tsig-server.ts'
import type { TransferKeys } from '../transfers/transfer-keys.ts'
import { answerQuestion, type ZonesByName } from './answer.ts'
import { answerTransfer, type Client, type Transfer, type TransferSource } from './answer-transfer.ts'
import { type Notify, parseRequest, type Query, writeEmptyResponse, writeRejection, writeResponse } from './messages.ts'
import type { QueryCounter, QueryCounts } from './query-counts.ts'
import type { ZoneData } from './zone-data.ts'

/** The result of checking a request's signature, and how to sign the response. */
interface RequestSignature {
  /** Null if the request is unsigned or its signature is invalid. */
  readonly key: TsigKey | null
  /** The error RCODE to respond with; null if the request is accepted. */
  readonly rcode: number | null
  /** Signs the next message of the response. */
  readonly sign: (octets: Buffer) => Buffer
  /** Size of a signature in octets. */
  readonly octets: number
  /** The earlier UDP request that this one repeats; null if it is new. */
  readonly earlier: RememberedRequest | null
  /** Where to store the RCODE of the response, for repeated requests. Null without a valid signature. */
  readonly own: RememberedRequest | null
}

interface RememberedRequest {
  /** The RCODE of the response; null while it is pending. */
  rcode: number | null
}

const UNSIGNED: RequestSignature = {
  key: null,
  rcode: null,
  sign: (octets) => octets,
  octets: 0,
  earlier: null,
  own: null,
}

/** Maximum number of remembered requests. The oldest are dropped first. */
const MAX_REMEMBERED = 20_000

/**
 * Creates the signature check. A repeated request over TCP is refused with BADTIME, because no client sends one twice. Over UDP, clients repeat
 * a request when the response is late. `clock` returns real time in milliseconds.
 */
export function createSignatureCheck(keys: TransferKeys, clock: () => number): (octets: Uint8Array, client: Client) => RequestSignature {
  const remembered = new Map<string, RememberedRequest & { readonly validUntil: number }>()

  const remember = (
    { key, mac, validUntil }: VerifiedRequest,
    now: number,
  ): { earlier: RememberedRequest | null; own: RememberedRequest } => {
    for (const [id, { validUntil: until }] of remembered) {
      if (until >= now && remembered.size < MAX_REMEMBERED) break
      remembered.delete(id)
    }
    const id = `${key.name} ${Buffer.from(mac).toString('latin1')}`
    const earlier = remembered.get(id) ?? null
    if (earlier !== null) return { earlier, own: earlier }
    const own = { rcode: null, validUntil }
    remembered.set(id, own)
    return { earlier: null, own }
  }

  return (octets, client) => {
    const now = (): number => Math.floor(clock() / 1000)
    const signing = (sign: AnswerSigner) => (message: Buffer) => sign(message, now())
    const verdict = verifyRequest(octets, keys.find, now())
    switch (verdict.kind) {
      case 'unsigned':
        return UNSIGNED
      case 'malformed':
        return { ...UNSIGNED, rcode: RCODE.FORMERR }
      case 'rejected':
        return { ...UNSIGNED, rcode: RCODE.NOTAUTH, sign: signing(verdict.sign) }
      case 'verified': {
        const { earlier, own } = remember(verdict, now())
        if (earlier !== null && client.transport === 'tcp') {
          return { ...UNSIGNED, rcode: RCODE.NOTAUTH, sign: signing(verdict.signReplayError) }
        }
        const { key } = verdict
        return { key, rcode: null, sign: signing(verdict.sign), octets: signatureOctets(key), earlier: earlier, own: own }
      }
    }
  }
}

/** The parts of the server that `respond` uses. */
export interface ResponderOptions extends TransferSource {
  readonly zones: ZonesByName
  readonly counts: QueryCounts
  readonly onNotify: OnNotify
  /** Checks the signature of a signed message. */
  readonly checkSignature: (octets: Uint8Array, client: Client) => RequestSignature
  readonly onError: (error: unknown) => void
}

/**
 * Handles a NOTIFY (RFC 1996 section 3.7). `accepted` becomes NOERROR; `refused` becomes REFUSED: the address is not a primary of the zone, or
 * the key is wrong; `unknown` becomes NOTAUTH: the zone is not a secondary. The address is canonical; the serial is null if the message has
 * none. Null sends no response, so the sender repeats the NOTIFY.
 */
export type OnNotify = (
  zone: DomainName,
  address: string,
  serial: number | null,
  signedBy: TsigKey | null,
) => NotifyVerdict | Promise<NotifyVerdict> | null

export type NotifyVerdict = 'accepted' | 'refused' | 'unknown'

/** A response, pending response or transfer, and whether it may be cached. */
interface Reply {
  /** Null for no response. */
  readonly message: Buffer | Promise<Buffer> | Transfer | null
  /** Responses with the same key share one rate limit. */
  readonly limitKey: string
  /** The zones of a response that may be cached; null if it must not be. */
  readonly cacheZones: readonly ZoneData[] | null
  /** Counts further queries that get the response from the cache; null if nothing is counted. */
  readonly counter?: QueryCounter | null | undefined
  /** Whether a key signed the query, so that its source address is genuine. */
  readonly isVerified?: boolean
}

/** Responds to one message. Never throws: a malformed message gets FORMERR, an internal error gets SERVFAIL. */
export function respond(server: ResponderOptions, octets: Uint8Array, client: Client): Reply {
  const request = parseRequest(octets)
  if (request === null) return reply(null, '')
  if (request.kind === 'rejected') return reply(writeRejection(request), `rcode ${request.rcode}`)
  try {
    const signature = request.isSigned ? server.checkSignature(octets, client) : null
    const { message, limitKey, cacheZones, counter } = answerRequest(server, request, client, signature ?? UNSIGNED)
    if (signature === null) return { message: catchErrors(message, server.onError), limitKey, cacheZones, counter }
    return {
      message: catchErrors(signReply(message, signature), server.onError),
      limitKey,
      cacheZones: null,
      isVerified: signature.key !== null,
    }
  } catch (error) {
    server.onError(error)
    return reply(writeEmptyResponse(request, RCODE.SERVFAIL), 'error')
  }
}

const reply = (
  message: Reply['message'],
  limitKey: string,
  cacheZones: Reply['cacheZones'] = null,
  counter: QueryCounter | null = null,
): Reply => ({ message, limitKey, cacheZones, counter })

function answerRequest(server: ResponderOptions, request: Query | Notify, client: Client, signature: RequestSignature): Reply {
  const { rcode } = signature
  if (rcode !== null) return reply(writeEmptyResponse(request, rcode), `rcode ${rcode}`)
  if (request.edns && request.edns.version > 0) return reply(writeEmptyResponse(request, RCODE.BADVERS), 'version')
  return request.kind === 'notify' ? answerNotify(server, request, client, signature) : answerQuery(server, request, client, signature)
}

/** Signs each message of a reply. */
function signReply(message: Reply['message'], { sign }: RequestSignature): Reply['message'] {
  if (message === null) return null
  if (Buffer.isBuffer(message)) return sign(message)
  if (message instanceof Promise) return message.then((later) => later && sign(later))
  return {
    ...message,
    next: () => {
      const next = message.next()
      return Buffer.isBuffer(next) ? sign(next) : next
    },
  }
}

function answerQuery(server: ResponderOptions, query: Query, client: Client, { key, octets }: RequestSignature): Reply {
  const limit = (client.transport === 'tcp' ? MAX_MESSAGE_OCTETS : udpLimit(query)) - octets
  if (query.code === META_TYPE.AXFR || query.code === META_TYPE.IXFR) {
    const transfer = answerTransfer(query, client, key, limit, server)
    return reply(transfer, 'transfer')
  }
  const rcode = rejectionCode(query)
  if (rcode !== null) return reply(writeEmptyResponse(query, rcode), `rcode ${rcode}`)
  const answer = answerQuestion(server.zones, query.name, query.code)
  // Another class could have more data (RFC 1035 section 3.2.5).
  if (query.class === CLASS.ANY) answer.authoritative = false
  // Nonexistent names are not cached: there is no limit to them, so queries for them could fill the memory.
  const isCacheable = answer.source === query.name && answer.rcode === RCODE.NOERROR
  const counter = server.counts.add(answer, query.code)
  return reply(writeResponse(query, answer, limit), `${answer.rcode} ${answer.source ?? ''}`, isCacheable ? answer.zones : null, counter)
}

/** Catches errors of transfer messages, which are built long after `respond` returned. */
function catchErrors(message: Reply['message'], onError: (error: unknown) => void): Reply['message'] {
  if (message === null || Buffer.isBuffer(message) || message instanceof Promise) return message
  return {
    ...message,
    next: () => {
      try {
        return message.next()
      } catch (error) {
        onError(error)
        return 'broken'
      }
    },
  }
}

/** The client's UDP size (RFC 6891 section 6.2.3; at least 512 octets), limited to what passes without fragmentation. */
function udpLimit({ edns }: Query): number {
  return edns ? Math.min(Math.max(edns.udpSize, PLAIN_UDP_OCTETS), SAFE_UDP_OCTETS) : PLAIN_UDP_OCTETS
}

/** The RCODE for a query that no zone can answer; null for ordinary queries. */
function rejectionCode(query: Query): number | null {
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

function answerNotify(server: ResponderOptions, request: Notify, client: Client, { key, earlier, own }: RequestSignature): Reply {
  const write = (rcode: number): Buffer => writeEmptyResponse(request, rcode, rcode === RCODE.NOERROR ? FLAG.AA : 0)
  // A repeated request: its response was lost or is still pending.
  if (earlier !== null) return reply(earlier.rcode === null ? null : write(earlier.rcode), 'notify')
  const finish = (rcode: number): Buffer => {
    if (own !== null) own.rcode = rcode
    return write(rcode)
  }
  const verdict = server.onNotify(request.name, canonicalAddress(client.address) ?? client.address, request.serial, key)
  if (verdict === null) return reply(null, 'notify')
  if (typeof verdict === 'string') return reply(finish(NOTIFY_RCODES[verdict]), 'notify')
  const message = verdict.then(
    (later) => finish(NOTIFY_RCODES[later]),
    (error) => {
      server.onError(error)
      return finish(RCODE.SERVFAIL)
    },
  )
  return reply(message, 'notify')
}
