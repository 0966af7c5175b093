/** Outgoing zone transfers: AXFR (RFC 5936) and IXFR (RFC 1995). */
import type { DomainName } from '../../dns/domain-name.ts'
import { canonicalAddress } from '../../dns/ip-address.ts'
import { META_TYPE } from '../../dns/record-type.ts'
import { isNewerSerial, serialNumber } from '../../dns/serial-number.ts'
import { reserveHeader, writeHeader } from '../../dns/wire/encode-message.ts'
import { CLASS, FLAG, RCODE } from '../../dns/wire/message.ts'
import type { TsigKey } from '../../dns/wire/tsig.ts'
import { createWriter, resetWriter, rewindWriter, writtenOctets } from '../../dns/wire/writer.ts'
import { emptyAnswer, type NamedRrset } from './answer.ts'
import type { Query } from './parse-request.ts'
import { writeEmptyResponse, writeQuestion, writeRecord, writeResponse, writeResponseOpt } from './write-response.ts'
import type { Rrset, ZoneData } from './zone-data.ts'
import type { ZoneDifference } from './zone-history.ts'

/** The sender of a message. */
export interface Client {
  readonly transport: 'udp' | 'tcp'
  /** As the operating system reports it. */
  readonly address: string
}

/** Messages of a zone transfer, built one at a time as they are sent. */
export interface Transfer {
  /** The next message; null after the last one; `broken` after an error: the connection must be closed so that a partial zone is not accepted. */
  next(): Buffer | null | 'broken'
  /** Call it after the last message, or to abort the transfer. */
  end(): void
}

/** The outcome of a transfer request, for the log. */
export interface TransferNote {
  readonly zone: DomainName
  readonly address: string
  /** `SOA`: only the zone's SOA record; `refused`: the address or the key is not allowed. */
  readonly outcome: 'AXFR' | 'IXFR' | 'SOA' | 'refused'
  readonly serial: number
  /** The name of the key that signed the request; null for none. */
  readonly key: DomainName | null
}

/** The parts of the server that `answerTransfer` uses. */
export interface TransferSource {
  readonly transferZone: (name: DomainName) => TransferZone | undefined
  readonly slots: TransferSlots
  readonly onTransfer: (note: TransferNote) => void
}

/** A zone that can be transferred. */
export interface TransferZone {
  readonly data: ZoneData
  /** Whether this address may transfer the zone with a request signed by this key; null for an unsigned request. */
  readonly allows: (address: string, signedBy: TsigKey | null) => boolean
  /** The difference from the version with this serial, from at most `maxRecords` records; null if only the full zone can be sent. */
  readonly since: (serial: number, maxRecords: number) => ZoneDifference | null
}

/** Largest difference that is computed for a UDP response, in records. A response has room for fewer than a hundred. */
const UDP_RECORDS = 500

/** Limits concurrent transfers, because each keeps a version of a zone in memory. */
export interface TransferSlots {
  /** False if all slots are in use. */
  acquire(): boolean
  release(): void
}

export function createTransferSlots(count: number): TransferSlots {
  let free = count
  return {
    acquire: () => {
      if (free <= 0) return false
      free -= 1
      return true
    },
    release: () => {
      free += 1
    },
  }
}

/**
 * Answers AXFR (RFC 5936) and IXFR (RFC 1995). IXFR gets the difference from the client's version; the full zone if the difference is unknown
 * or not smaller; or only the SOA if the client is up to date or, over UDP, the difference does not fit. Refuses clients that the zone does not
 * allow; local addresses get no special treatment. `limit` is the maximum size in octets of a single-message response.
 */
export function answerTransfer(
  query: Query,
  client: Client,
  signedBy: TsigKey | null,
  limit: number,
  { transferZone, slots, onTransfer }: TransferSource,
): Buffer | Transfer {
  if (query.class !== CLASS.IN) return writeEmptyResponse(query, RCODE.REFUSED)
  const isIncremental = query.code === META_TYPE.IXFR
  const zone = transferZone(query.name)
  if (!zone) return writeEmptyResponse(query, RCODE.NOTAUTH)
  // There is no AXFR over UDP (RFC 5936 section 4.2).
  if (client.transport === 'udp' && !isIncremental) return writeEmptyResponse(query, RCODE.FORMERR)
  const { data } = zone
  const address = canonicalAddress(client.address) ?? ''
  const note = (outcome: TransferNote['outcome']): void =>
    onTransfer({ zone: data.name, address, outcome, serial: data.serial, key: signedBy?.name ?? null })
  if (!zone.allows(address, signedBy)) {
    note('refused')
    return writeEmptyResponse(query, RCODE.REFUSED)
  }
  const soa = [{ name: data.name, rrset: data.soa }]
  if (isIncremental && query.serial !== null) {
    const isNewer = isNewerSerial(serialNumber(data.serial), serialNumber(query.serial))
    const difference = isNewer ? zone.since(query.serial, client.transport === 'udp' ? UDP_RECORDS : Number.POSITIVE_INFINITY) : null
    const sections = difference && differenceSections(data, difference)
    if (!isNewer || client.transport === 'udp') {
      const message = sections && writeSections(query, sections, limit)
      const isWhole = message !== null && !isTruncated(message)
      note(isWhole ? 'IXFR' : 'SOA')
      return isWhole ? message : writeSections(query, soa, limit)
    }
    if (sections) {
      note('IXFR')
      return startTransfer(query, recordsOf(sections), slots)
    }
  }
  note('AXFR')
  return startTransfer(query, fullZoneRecords(data), slots)
}

const writeSections = (query: Query, answers: NamedRrset[], limit: number): Buffer =>
  writeResponse(query, { ...emptyAnswer(RCODE.NOERROR), authoritative: true, answers }, limit)

const isTruncated = (message: Buffer): boolean => (message.readUInt16BE(2) & FLAG.TC) !== 0

const startTransfer = (query: Query, records: Iterable<RecordInRrset>, slots: TransferSlots): Buffer | Transfer =>
  slots.acquire() ? createTransfer(transferMessages(query, records), slots) : writeEmptyResponse(query, RCODE.SERVFAIL)

function createTransfer(messages: Generator<Buffer, void>, slots: TransferSlots): Transfer {
  let ended = false
  const end = (): void => {
    if (ended) return
    ended = true
    slots.release()
  }
  return {
    next: () => {
      const message = ended ? { done: true as const, value: undefined } : messages.next()
      if (!message.done) return message.value
      end()
      return null
    },
    end,
  }
}

/** Maximum size of a message in octets: compression pointers reach no further (RFC 1035 section 4.1.4, RFC 5936 section 3.4). */
const MESSAGE_OCTETS = 16_384

/** Shared by all transfers. No transfer is suspended between the start of a message and its copy. */
const WRITER = createWriter({ size: 65_536 })

/** One record: its owner as the zone has it, its RRset and its index there. */
type RecordInRrset = readonly [owner: DomainName, rrset: Rrset, index: number]

/** The owner of an RRset as the zone has it. An answer to a query repeats the owner of the query instead. */
const ownerOf = (name: DomainName, { writtenOwner = name }: Rrset): DomainName => writtenOwner as DomainName

/** Generates the messages that send these records in response to AXFR or IXFR. Only the first one has a question and OPT. */
function* transferMessages(query: Query, records: Iterable<RecordInRrset>): Generator<Buffer, void> {
  let isFirst = true
  let count = 0
  const begin = (): void => {
    resetWriter(WRITER)
    reserveHeader(WRITER)
    if (!isFirst) return
    writeQuestion(WRITER, query)
    // A name that points to the question would get the letters of the query.
    WRITER.names?.clear()
  }
  const finish = (): Buffer => {
    const hasOpt = isFirst && query.edns !== null
    if (hasOpt && query.edns) writeResponseOpt(WRITER, query.edns, RCODE.NOERROR)
    writeHeader(WRITER, query.header.id, query.header.flags | FLAG.QR | FLAG.AA, [isFirst ? 1 : 0, count, 0, hasOpt ? 1 : 0])
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
 * A full zone in the order of AXFR (RFC 5936 section 2.2), also the fallback of IXFR (RFC 1995 section 4): the SOA, every other record once,
 * and the SOA again. All records belong to this version, even if the zone is replaced during the transfer.
 */
export function* fullZoneRecords(zone: ZoneData): Generator<RecordInRrset, void> {
  const apex = ownerOf(zone.name, zone.soa)
  yield [apex, zone.soa, 0]
  for (const { name, rrsets } of zone.nodes.values()) {
    for (const rrset of rrsets) {
      if (rrset === zone.soa) continue
      const owner = ownerOf(name, rrset)
      for (let i = 0; i < rrset.data.length; i += 1) yield [owner, rrset, i]
    }
  }
  yield [apex, zone.soa, 0]
}

/** A difference in the order of an IXFR response (RFC 1995 section 4). */
function differenceSections(zone: ZoneData, { from, removed, added }: ZoneDifference): NamedRrset[] {
  const soa = { name: zone.name, rrset: zone.soa }
  const sections = [soa, { name: zone.name, rrset: from }, ...removed, soa, ...added, soa]
  return sections.map(({ name, rrset }) => ({ name: ownerOf(name, rrset), rrset }))
}

function* recordsOf(sections: readonly NamedRrset[]): Generator<RecordInRrset, void> {
  for (const { name, rrset } of sections) for (let i = 0; i < rrset.data.length; i += 1) yield [name, rrset, i]
}
