/** Client for other name servers: queries a zone's SOA and transfers the full zone (AXFR, RFC 5936), over TCP only. */
import { randomInt } from 'node:crypto'
import { connect } from 'node:net'
import type { Result } from '../../base/result.ts'
import { type DomainName, isAtOrBelow } from '../../dns/domain-name.ts'
import { rdataFields } from '../../dns/rdata/canonical.ts'
import { META_TYPE, wireTypeCode } from '../../dns/record-type.ts'
import { type SerialNumber, serialNumber } from '../../dns/serial-number.ts'
import type { Ttl } from '../../dns/ttl.ts'
import { type DecodeOptions, decodeMessage } from '../../dns/wire/decode-message.ts'
import { encodeMessage } from '../../dns/wire/encode-message.ts'
import {
  CLASS,
  createFrameReader,
  createQuery,
  frameMessage,
  HEADER_OCTETS,
  type Message,
  RCODE,
  rcodeName,
  type WireRecord,
} from '../../dns/wire/message.ts'
import { createAxfrQuery, createAxfrReader } from '../../dns/wire/transfer.ts'
import { splitSignature } from '../../dns/wire/tsig.ts'
import { createTsigVerifier, signMessage } from '../../dns/wire/tsig-client.ts'
import type { ServedRecord } from '../nameserver/zone-data.ts'
import { type Peer, type Signing, transferFailure } from './peer.ts'

interface ExchangeLimits {
  /** Milliseconds for connecting. */
  readonly connect: number
  /** Milliseconds for each complete message. */
  readonly idle: number
  /** Milliseconds for the whole exchange. */
  readonly total: number
  /** Maximum size in octets of all messages together. */
  readonly octets: number
}

/**
 * Sends one message over a new TCP connection and passes each response message to `onMessage` until that returns false (RFC 7766). With a key,
 * the message is signed and the response verified (RFC 8945): do not trust the received messages until the promise resolves. Rejects with a
 * `TransferFailure` or with what `onMessage` throws. The connection is always closed.
 */
export function exchange(
  peer: Peer,
  message: Uint8Array,
  limits: ExchangeLimits,
  signal: AbortSignal,
  onMessage: (octets: Buffer) => boolean,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const { address: host, port, localAddress, signing } = peer
    const signed = signing === null ? unsigned(message) : sign(message, signing)
    const socket = connect({ host, port, noDelay: true, ...(localAddress === null ? {} : { localAddress }) })
    const framesOf = createFrameReader()
    let octets = 0
    const finish = (error?: unknown): void => {
      clearTimeout(stage)
      clearTimeout(whole)
      signal.removeEventListener('abort', stop)
      socket.destroy()
      if (error === undefined) resolve()
      else reject(error)
    }
    const timedOut = (what: string, milliseconds: number) => (): void =>
      finish(transferFailure('timeout', `${what} within ${milliseconds / 1000} s`))
    const stop = (): void => finish(transferFailure('stopped', 'was not queried completely: the service is stopping'))
    let stage = setTimeout(timedOut('could not be connected to', limits.connect), limits.connect)
    const whole = setTimeout(timedOut('did not complete its response', limits.total), limits.total)
    signal.addEventListener('abort', stop)
    if (signal.aborted) return stop()
    socket.on('connect', () => {
      clearTimeout(stage)
      stage = setTimeout(timedOut('sent no complete message', limits.idle), limits.idle)
      socket.write(frameMessage(signed.octets))
    })
    socket.on('data', (chunk: Buffer) => {
      octets += chunk.length
      if (octets > limits.octets) return finish(transferFailure('too-large', `sent more than ${limits.octets} octets`))
      try {
        for (const received of framesOf(chunk)) {
          stage.refresh()
          signed.check(received)
          if (onMessage(received)) continue
          signed.end()
          return finish()
        }
      } catch (error) {
        finish(error)
      }
    })
    socket.on('error', (error: NodeJS.ErrnoException) =>
      finish(transferFailure('unreachable', `cannot be reached over TCP (${error.code ?? error.message})`, error)),
    )
    socket.on('end', () => finish(transferFailure('unreachable', 'closed the connection before its response was complete')))
  })
}

/** A message to send and the checks of its responses, which throw a `TransferFailure`. */
interface CheckedMessage {
  readonly octets: Uint8Array
  readonly check: (received: Buffer) => void
  /** Call it after the last message. */
  readonly end: () => void
}

const unsigned = (octets: Uint8Array): CheckedMessage => ({ octets, check: () => {}, end: () => {} })

function sign(message: Uint8Array, { key, clock }: Signing): CheckedMessage {
  const now = (): number => Math.floor(clock() / 1000)
  const { octets, mac } = signMessage(message, key, now())
  const verifier = createTsigVerifier(key, mac)
  const requireOk = (verdict: Result<void>): void => {
    if (!verdict.ok) throw transferFailure('unverified', `does not answer with the key ${key.name}: ${verdict.message}`)
  }
  return {
    octets,
    check: (received) => {
      // An error response may be unsigned: a forged one does no more harm than no response.
      if (isUnsignedError(received)) return
      requireOk(verifier.accept(received, now()))
    },
    end: () => requireOk(verifier.finish()),
  }
}

function isUnsignedError(octets: Buffer): boolean {
  if (octets.length < HEADER_OCTETS || ((octets[3] as number) & 0xf) === RCODE.NOERROR) return false
  const found = splitSignature(octets)
  return found.ok && found.value.signature === null
}

export interface TransferLimits extends ExchangeLimits {
  /** Maximum number of records. */
  readonly records: number
  /** Maximum number of characters of all records as text. Name compression can expand few octets into much text. */
  readonly characters: number
}

export const TRANSFER_LIMITS: TransferLimits = {
  connect: 5_000,
  idle: 10_000,
  total: 120_000,
  octets: 32 * 1024 * 1024,
  records: 100_000,
  characters: 64 * 1024 * 1024,
}

/** The fields of an SOA record (RFC 1035 section 3.3.13); times are in seconds. */
export interface SoaFields {
  readonly mailbox: DomainName
  readonly serial: SerialNumber
  readonly refresh: number
  readonly retry: number
  readonly expire: number
  readonly minimum: number
}

/** A transferred zone: the SOA, then the records in the order received, without records outside the zone. */
export interface TransferredZone {
  readonly soa: SoaFields
  readonly records: readonly ServedRecord[]
  /** The number of skipped records outside the zone. */
  readonly outOfZone: number
  /** The number of differences in an incremental transfer; null for a full transfer. */
  readonly differences: number | null
}

/** Queries the serial of a zone. Rejects with a `TransferFailure`. */
export async function querySerial(peer: Peer, zone: DomainName, limits: ExchangeLimits, signal: AbortSignal): Promise<SerialNumber> {
  const id = randomInt(0x10000)
  let serial: SerialNumber | null = null
  const query = encodeMessage(createQuery(id, { name: zone, type: 'SOA' }))
  await exchange(peer, query, limits, signal, (octets) => {
    const message = readMessage(octets, zone, id, 'SOA')
    const answer = message.answers.find((record) => record.type === 'SOA' && record.name === zone && record.class === CLASS.IN)
    if (!answer || !message.authoritative) throw transferFailure('not-authoritative', `does not answer for ${zone}`)
    serial = soaFields(answer.data ?? '').serial
    return false
  })
  return serial as unknown as SerialNumber
}

/** Transfers a full zone by AXFR. Rejects with a `TransferFailure`. */
export async function transferZone(
  peer: Peer,
  zone: DomainName,
  limits: TransferLimits,
  signal: AbortSignal,
  options: DecodeOptions = {},
): Promise<TransferredZone> {
  const id = randomInt(0x10000)
  const transfer = createAxfrReader(zone, id, Number.POSITIVE_INFINITY)
  await receive(peer, createAxfrQuery(id, zone), transfer.accept, limits, signal, options)
  return readZone(zone, transfer.records)
}

/** Sends a query for a transfer and passes every message of the response to `accept`, until that is complete. Rejects with a `TransferFailure`. */
export async function receive(
  peer: Peer,
  query: Message,
  accept: (message: Message) => Result<'more' | 'complete'>,
  limits: TransferLimits,
  signal: AbortSignal,
  options: DecodeOptions,
): Promise<void> {
  const check = createRecordCheck(limits)
  const [{ name, type }] = query.questions as [Message['questions'][number]]
  await exchange(peer, encodeMessage(query), limits, signal, (octets) => {
    const message = readMessage(octets, name, query.id, type, options)
    check(message.answers)
    const progress = accept(message)
    if (!progress.ok) throw malformed(progress.message)
    return progress.value === 'more'
  })
}

/** Creates a check of the records of successive messages against the limits. The check throws a `TransferFailure`. */
function createRecordCheck(limits: TransferLimits): (records: readonly WireRecord[]) => void {
  let received = 0
  let characters = 0
  return (records) => {
    received += records.length
    // The SOA is sent twice.
    checkRecordCount(received - 1, limits)
    for (const { name, type, data } of records) {
      if (!isDataType(type)) throw malformed(`${name} ${type} has a type that cannot be in a zone (RFC 6895 section 3.1)`)
      characters += name.length + (data?.length ?? 0)
    }
    if (characters > limits.characters) throw transferFailure('too-large', `sent records of more than ${limits.characters} characters`)
  }
}

export function checkRecordCount(count: number, limits: TransferLimits): void {
  if (count > limits.records) throw transferFailure('too-large', `sent more than ${limits.records} records`)
}

/** Throws a `TransferFailure` if the zone has no NS record at its apex (RFC 1034 section 4.2.1): it is probably incomplete. */
export function requireApexNs(zone: DomainName, records: readonly ServedRecord[]): void {
  if (records.some(({ type, name }) => type === 'NS' && name === zone)) return
  throw transferFailure('malformed', 'sent a zone with no NS record at its apex')
}

/** Whether the type may be in a zone. Query and meta types would break any software that the zone is passed to. */
function isDataType(type: string): boolean {
  const code = wireTypeCode(type)
  return code !== 0 && code !== META_TYPE.OPT && (code < FIRST_META_TYPE || code > LAST_META_TYPE)
}

const FIRST_META_TYPE = 128
const LAST_META_TYPE = 255

/** Decodes a response and checks that it answers the question. Throws a `TransferFailure`. */
function readMessage(octets: Buffer, zone: DomainName, id: number, type: string, options: DecodeOptions = {}): Message {
  const decoded = decodeMessage(octets, options)
  if (!decoded.ok) throw malformed(decoded.message)
  const message = decoded.value
  if (!message.response || message.id !== id) throw malformed('it is not a response to the query')
  const [question] = message.questions
  if (question && (question.name !== zone || question.type !== type)) throw malformed('it answers another question')
  switch (message.rcode) {
    case RCODE.NOERROR:
      return message
    // The codes with which servers deny a transfer.
    case RCODE.REFUSED:
    case RCODE.NOTAUTH:
      throw transferFailure(
        'refused',
        `does not allow transfers of ${zone} from here: the request was refused (${rcodeName(message.rcode)})`,
      )
    default:
      throw transferFailure('not-authoritative', `has no valid answer for ${zone} (${rcodeName(message.rcode)})`)
  }
}

export const malformed = (problem: string) => transferFailure('malformed', `sent an invalid zone transfer: ${problem}`)

/** The zone from the records of a full transfer. */
export function readZone(zone: DomainName, transferred: readonly WireRecord[]): TransferredZone {
  const records: ServedRecord[] = []
  for (const record of transferred) {
    if (isAtOrBelow(record.name, zone) && record.data !== null) records.push(servedRecord(record))
  }
  return { soa: soaFields(records[0]?.data ?? ''), records, outOfZone: transferred.length - records.length, differences: null }
}

export const servedRecord = ({ name, writtenOwner, type, ttl, data }: WireRecord): ServedRecord => ({
  name,
  writtenOwner,
  type,
  ttl: ttl as Ttl,
  data: data ?? '',
})

/** The fields of SOA rdata. */
export function soaFields(data: string): SoaFields {
  const [, mailbox, serial, ...times] = rdataFields(data)
  const [refresh, retry, expire, minimum] = times.map(Number)
  return { mailbox, serial: serialNumber(Number(serial)), refresh, retry, expire, minimum } as SoaFields
}
