import { randomInt } from 'node:crypto'
import { decodeMessage } from '../formats/wire/decode-message.ts'
import { encodeMessage } from '../formats/wire/encode-message.ts'
import { RCODE, rcodeName } from '../formats/wire/message.ts'
import { createAxfrQuery, createTransferReader } from '../formats/wire/transfer.ts'
import type { DomainName } from '../model/domain-name.ts'
import type { ResourceRecord } from '../model/record.ts'
import { toRecords } from './dns-client.ts'
import { type DnsFailure, dnsFailure } from './dns-client-failure.ts'
import { type DnsServer, formatServer } from './dns-client-server.ts'
import { exchangeTcp } from './dns-client-tcp.ts'

export interface TransferOptions {
  /** Milliseconds to wait for each message; 10,000 if absent. */
  readonly timeout?: number
  /** Records after which a transfer is given up; 1,000,000 if absent. */
  readonly maxRecords?: number
}

/**
 * Reads a whole zone by AXFR over TCP (RFC 5936): its records in the order the server sent them, the SOA first and once. Rejects
 * with a `DnsFailure`.
 */
export async function transferZone(server: DnsServer, zone: DomainName, options: TransferOptions = {}): Promise<ResourceRecord[]> {
  const { timeout = 10_000, maxRecords = 1_000_000 } = options
  const id = randomInt(0x10000)
  const transfer = createTransferReader(zone, id, maxRecords)
  await exchangeTcp(server, encodeMessage(createAxfrQuery(id, zone)), timeout, (octets) => {
    const message = decodeMessage(octets)
    if (!message.ok) throw failure('garbled', server, zone, message.message)
    if (message.value.rcode !== RCODE.NOERROR) throw failure('rejected', server, zone, `the answer is ${rcodeName(message.value.rcode)}`)
    const progress = transfer.accept(message.value)
    if (!progress.ok) throw failure('garbled', server, zone, progress.message)
    return progress.value === 'more'
  })
  return toRecords(transfer.records)
}

const failure = (reason: 'garbled' | 'rejected', server: DnsServer, zone: DomainName, problem: string): DnsFailure =>
  dnsFailure(reason, `the transfer of ${zone} from ${formatServer(server)} failed: ${problem}`)
