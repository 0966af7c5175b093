/** Reads a zone from a name server by transfer: the whole zone (AXFR), or its changes since an earlier transfer (IXFR). */
import { randomInt } from 'node:crypto'
import { failure as failed, type Result } from '../base/result.ts'
import type { DomainName } from '../dns/domain-name.ts'
import { rdataFields } from '../dns/rdata/canonical.ts'
import type { ResourceRecord } from '../dns/record.ts'
import { serialNumber } from '../dns/serial-number.ts'
import type { Ttl } from '../dns/ttl.ts'
import { decodeMessage, readSoaMailbox } from '../dns/wire/decode-message.ts'
import { encodeMessage } from '../dns/wire/encode-message.ts'
import { CLASS, type Message, RCODE, rcodeName, type WireRecord } from '../dns/wire/message.ts'
import { applyDifferences, createAxfrQuery, createAxfrReader, createIxfrQuery, createIxfrReader } from '../dns/wire/transfer.ts'
import type { TsigKey } from '../dns/wire/tsig.ts'
import { createTsigVerifier, signMessage } from '../dns/wire/tsig-client.ts'
import { type DnsFailure, type DnsServer, dnsFailure, exchangeTcp, formatServer, hasSignature, secondsNow } from './dns-exchange.ts'

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
  const id = randomInt(0x10000)
  const reader = createAxfrReader(zone, id, options.maxRecords ?? MAX_RECORDS)
  const mailbox = await receive(server, zone, createAxfrQuery(id, zone), options, reader.accept)
  return transferredZone(reader.records, mailbox)
}

/**
 * Asks by IXFR over TCP (RFC 1995) for the changes since an earlier transfer of the zone, and returns the zone as `transferZone` does; its order may differ. Returns
 * `known` itself if the server still has that SOA record, and null if the answer does not lead from `known` to another version: the server has an older one,
 * or the differences are between others. Then only AXFR helps. Rejects with a `DnsFailure`, also if the server does not offer IXFR.
 */
export async function transferChanges(
  server: DnsServer,
  zone: DomainName,
  known: readonly TransferredRecord[],
  options: TransferOptions = {},
): Promise<readonly TransferredRecord[] | null> {
  const [soa, ...others] = known
  if (soa === undefined) return null
  const id = randomInt(0x10000)
  const { maxRecords = MAX_RECORDS } = options
  const reader = createIxfrReader(zone, id, serialNumber(Number(rdataFields(soa.data)[2])))
  const query = createIxfrQuery(id, zone, { name: zone, type: 'SOA', class: CLASS.IN, ttl: soa.ttl ?? 0, data: soa.data })
  let received = 0
  const mailbox = await receive(server, zone, query, options, (message) => {
    received += message.answers.length
    // Every record may be removed and added again.
    return received > 2 * maxRecords ? failed(`it has more than ${2 * maxRecords} records`) : reader.accept(message)
  })
  const answer = reader.answer()
  if (answer.kind === 'current') return answer.soa.data === soa.data ? known : null
  if (answer.kind === 'whole') return transferredZone(answer.records, mailbox)
  const changed = applyDifferences(zone, others, answer.differences, toTransferred)
  return changed.ok && changed.value.records.length < maxRecords ? [newestSoa(answer.soa, mailbox), ...changed.value.records] : null
}

/** Sends a query and passes every message of the answer to `accept`, until that is complete. Returns the mailbox of the first SOA record with its capital letters. */
async function receive(
  server: DnsServer,
  zone: DomainName,
  message: Message,
  { timeout = 10_000, total = 60 * timeout, maxOctets = 64 * 2 ** 20, key }: TransferOptions,
  accept: (message: Message) => Result<'more' | 'complete'>,
): Promise<string | undefined> {
  const query = encodeMessage(message)
  const signed = key && signMessage(query, key, secondsNow())
  const verifier = key && signed && createTsigVerifier(key, signed.mac)
  const check = (verdict: Result<void> | undefined): void => {
    if (verdict && !verdict.ok) throw failure('rejected', server, zone, verdict.message)
  }
  let mailbox: string | undefined
  let isFirst = true
  await exchangeTcp(server, signed?.octets ?? query, { timeout, total, octets: maxOctets }, (octets) => {
    const decoded = decodeMessage(octets, { lenient: true })
    if (!decoded.ok) throw failure('garbled', server, zone, decoded.message)
    const { rcode } = decoded.value
    // A refusal may be unsigned; a forged one does no more harm than a lost message.
    if (rcode === RCODE.NOERROR || hasSignature(decoded.value)) check(verifier?.accept(octets, secondsNow()))
    if (rcode !== RCODE.NOERROR)
      throw failure(rcode === RCODE.SERVFAIL ? 'failed' : 'rejected', server, zone, `the answer is ${rcodeName(rcode)}`)
    const written = isFirst ? readSoaMailbox(octets) : null
    isFirst = false
    if (written?.ok) mailbox = written.value
    const progress = accept(decoded.value)
    if (!progress.ok) throw failure('garbled', server, zone, progress.message)
    if (progress.value === 'more') return true
    check(verifier?.finish())
    return false
  })
  return mailbox
}

const MAX_RECORDS = 1_000_000

function transferredZone([soa, ...others]: readonly WireRecord[], mailbox: string | undefined): TransferredRecord[] {
  return soa === undefined ? [] : [newestSoa(soa, mailbox), ...others.map(toTransferred)]
}

const newestSoa = (soa: WireRecord, mailbox: string | undefined): TransferredRecord => ({
  ...toTransferred(soa),
  ...(mailbox === undefined ? {} : { mailbox }),
})

/** Readers of transfers refuse records without data. */
const toTransferred = ({ name, type, ttl, data, malformed }: WireRecord): TransferredRecord => ({
  name,
  type,
  ttl: ttl as Ttl,
  data: data ?? '',
  ...(malformed === undefined ? {} : { malformed }),
})

const failure = (reason: 'garbled' | 'rejected' | 'failed', server: DnsServer, zone: DomainName, problem: string): DnsFailure =>
  dnsFailure(reason, `the transfer of ${zone} from ${formatServer(server)} failed: ${problem}`)
