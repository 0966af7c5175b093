/** Reads a zone from a name server by transfer (AXFR). */
import { randomInt } from 'node:crypto'
import type { DomainName } from '../dns/domain-name.ts'
import type { ResourceRecord } from '../dns/record.ts'
import type { Result } from '../dns/result.ts'
import type { Ttl } from '../dns/ttl.ts'
import { decodeMessage, readSoaMailbox } from '../dns/wire/decode-message.ts'
import { encodeMessage } from '../dns/wire/encode-message.ts'
import { RCODE, rcodeName, type WireRecord } from '../dns/wire/message.ts'
import { createAxfrQuery, createAxfrReader } from '../dns/wire/transfer.ts'
import type { TsigKey } from '../dns/wire/tsig.ts'
import { createTsigVerifier, signMessage } from '../dns/wire/tsig-client.ts'
import { type DnsFailure, type DnsServer, dnsFailure, exchangeTcp, formatServer } from './dns-exchange.ts'
import { hasSignature, secondsNow } from './dns-request.ts'

export interface TransferOptions {
  /** Milliseconds per message; 10,000 if absent. */
  readonly timeout?: number
  /** Milliseconds for all messages together; sixty times `timeout` if absent. */
  readonly total?: number
  /** Octets after which a transfer fails; 64 MiB if absent. */
  readonly maxOctets?: number
  /** Records after which a transfer fails; 1,000,000 if absent. */
  readonly maxRecords?: number
  /** Signs the query and verifies the answer (RFC 8945). */
  readonly key?: TsigKey | undefined
}

/** A received record. If its data is invalid for its type, it is in the generic form (RFC 3597), and `malformed` says why. */
export interface TransferredRecord extends ResourceRecord {
  readonly malformed?: string
  /** The mailbox of the SOA record with its capital letters. */
  readonly mailbox?: string
}

/**
 * Transfers a zone by AXFR over TCP (RFC 5936). Returns its records in the order of the server; the SOA is first and appears once.
 * Rejects with a `DnsFailure`.
 */
export async function transferZone(server: DnsServer, zone: DomainName, options: TransferOptions = {}): Promise<TransferredRecord[]> {
  const { timeout = 10_000, total = 60 * timeout, maxOctets = 64 * 2 ** 20, maxRecords = 1_000_000, key } = options
  const id = randomInt(0x10000)
  const transfer = createAxfrReader(zone, id, maxRecords)
  const query = encodeMessage(createAxfrQuery(id, zone))
  const signed = key && signMessage(query, key, secondsNow())
  const verifier = key && signed && createTsigVerifier(key, signed.mac)
  const check = (verdict: Result<void> | undefined): void => {
    if (verdict && !verdict.ok) throw failure('rejected', server, zone, verdict.message)
  }
  let mailbox: string | undefined
  await exchangeTcp(server, signed?.octets ?? query, { timeout, total, octets: maxOctets }, (octets) => {
    const message = decodeMessage(octets, { lenient: true })
    if (!message.ok) throw failure('garbled', server, zone, message.message)
    // A refusal may be unsigned; a forged one does no more harm than a lost message.
    if (message.value.rcode === RCODE.NOERROR || hasSignature(message.value)) check(verifier?.accept(octets, secondsNow()))
    if (message.value.rcode !== RCODE.NOERROR) throw failure('rejected', server, zone, `the answer is ${rcodeName(message.value.rcode)}`)
    const written = transfer.records.length === 0 ? readSoaMailbox(octets) : null
    if (written?.ok) mailbox = written.value
    const progress = transfer.accept(message.value)
    if (!progress.ok) throw failure('garbled', server, zone, progress.message)
    if (progress.value === 'more') return true
    check(verifier?.finish())
    return false
  })
  const [soa, ...others] = transfer.records.flatMap(toTransferred)
  return soa === undefined ? others : [mailbox === undefined ? soa : { ...soa, mailbox }, ...others]
}

const toTransferred = ({ name, type, ttl, data, malformed }: WireRecord): TransferredRecord[] =>
  data === null ? [] : [{ name, type, ttl: ttl as Ttl, data, ...(malformed === undefined ? {} : { malformed }) }]

const failure = (reason: 'garbled' | 'rejected', server: DnsServer, zone: DomainName, problem: string): DnsFailure =>
  dnsFailure(reason, `the transfer of ${zone} from ${formatServer(server)} failed: ${problem}`)
