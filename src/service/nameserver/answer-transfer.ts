/**
 * Outgoing zone transfers: AXFR (RFC 5936) and IXFR (RFC 1995).
 *
 * The recent differences of zones, for incremental transfers (RFC 1995). They are kept in memory and start with the version that was loaded at
 * startup, so a secondary that has that version never needs a full transfer. Each process keeps the differences between the versions that it has
 * served; a secondary with any other version gets the full zone.
 *
 * A difference compares two versions exactly as they are transferred, so applying it to one gives the other. Consecutive differences are condensed
 * into one (RFC 1995 section 6): a record that one adds and a later one removes is in neither list.
 */
import type { DomainName } from '../../dns/domain-name.ts'
import { canonicalAddress } from '../../dns/ip-address.ts'
import { META_TYPE } from '../../dns/record-type.ts'
import { isNewerSerial, serialNumber } from '../../dns/serial-number.ts'
import { reserveHeader, writeHeader } from '../../dns/wire/encode-message.ts'
import { CLASS, FLAG, RCODE } from '../../dns/wire/message.ts'
import type { TsigKey } from '../../dns/wire/tsig.ts'
import { createWriter, resetWriter, rewindWriter, writtenOctets } from '../../dns/wire/writer.ts'
import { emptyAnswer, type NamedRrset } from './answer.ts'
import { type Query, writeEmptyResponse, writeQuestion, writeRecord, writeResponse, writeResponseOpt } from './messages.ts'
import { createRrsetFinder, type Rrset, type ZoneData, type ZoneNode } from './zone-data.ts'

/** The changes from one version of a zone to a later one. The lists do not include the SOA records. */
export interface ZoneDifference {
  /** The SOA of the earlier version. */
  readonly from: Rrset
  readonly removed: readonly NamedRrset[]
  readonly added: readonly NamedRrset[]
}

export interface HistoryLimits {
  /** Maximum number of differences per zone. */
  readonly differences: number
  /** Approximate maximum memory in octets per zone. */
  readonly zoneOctets: number
  /** Approximate maximum memory in octets for all zones. */
  readonly octets: number
}

export const HISTORY_LIMITS: HistoryLimits = { differences: 100, zoneOctets: 4 * 1024 * 1024, octets: 64 * 1024 * 1024 }

interface Step extends ZoneDifference {
  readonly fromSerial: number
  readonly zone: DomainName
  readonly octets: number
  /** Number of records without the SOA records. */
  readonly count: number
}

/** Up to this many records, steps are condensed even if the zone has fewer. With more, a full transfer is cheaper. */
const MAX_CONDENSED_RECORDS = 5_000

export function createZoneHistory(limits: HistoryLimits) {
  /** The steps of each zone in order: each starts with the version at which the previous one ends. */
  const steps = new Map<DomainName, Step[]>()
  /** All steps, oldest first. */
  const all = new Set<Step>()
  let octets = 0

  const dropFirst = (zoneSteps: Step[]): void => {
    const step = zoneSteps.shift()
    if (step === undefined || !all.delete(step)) return
    octets -= step.octets
    if (zoneSteps.length === 0) steps.delete(step.zone)
  }

  const forget = (name: DomainName): void => {
    const zoneSteps = steps.get(name) ?? []
    while (zoneSteps.length > 0) dropFirst(zoneSteps)
  }

  const add = (step: Step): void => {
    const zoneSteps = steps.get(step.zone) ?? []
    steps.set(step.zone, zoneSteps)
    zoneSteps.push(step)
    all.add(step)
    octets += step.octets
    let zoneOctets = zoneSteps.reduce((sum, other) => sum + other.octets, 0)
    while (zoneSteps.length > limits.differences || zoneOctets > limits.zoneOctets) {
      zoneOctets -= zoneSteps[0]?.octets ?? 0
      dropFirst(zoneSteps)
    }
    // The oldest step overall is also the oldest of its zone.
    for (const oldest of all) {
      if (octets <= limits.octets) break
      dropFirst(steps.get(oldest.zone) ?? [])
    }
  }

  return {
    /** Records the difference between a version of a zone and its successor. */
    record: (existing: ZoneData, zone: ZoneData) => {
      const difference = copyData(differenceOf(existing, zone))
      const isEmpty = difference.removed.length === 0 && difference.added.length === 0
      if (existing.serial === zone.serial && isEmpty) return
      // Secondaries ignore a version that is not newer, and one serial must not mean two versions.
      if (!isNewerSerial(serialNumber(zone.serial), serialNumber(existing.serial))) return forget(zone.name)
      add({ ...difference, fromSerial: existing.serial, zone: zone.name, octets: octetsOf(difference), count: countOf(difference) })
    },
    /**
     * The difference from the version with this serial to the zone. Null if it is unknown, if it is not smaller than the zone, or if it has to be
     * computed from more than `maxRecords` records.
     */
    since: (zone: ZoneData, serial: number, maxRecords = Number.POSITIVE_INFINITY): ZoneDifference | null => {
      const zoneSteps = steps.get(zone.name) ?? []
      const first = zoneSteps.findIndex(({ fromSerial }) => fromSerial === serial)
      if (first === -1) return null
      const missing = zoneSteps.slice(first)
      const count = missing.reduce((sum, step) => sum + step.count, 0)
      // Check before the work, because a client can ask very often.
      if (count > maxRecords || (count > MAX_CONDENSED_RECORDS && !isSmallerThan(count, zone))) return null
      const difference = condense(missing)
      return isSmallerThan(countOf(difference), zone) ? difference : null
    },
    forget,
  }
}

function differenceOf(existing: ZoneData, zone: ZoneData): ZoneDifference {
  const removed: NamedRrset[] = []
  const added: NamedRrset[] = []
  for (const node of zone.nodes()) compareNode(existing.find(node.name), node, node.name === zone.name, removed, added)
  for (const node of existing.nodes()) {
    if (!zone.find(node.name)) for (const rrset of node.rrsets) removed.push({ name: node.name, rrset })
  }
  return { from: existing.soa, removed, added }
}

function compareNode(
  existing: ZoneNode | undefined,
  { name, rrsets }: ZoneNode,
  isApex: boolean,
  removed: NamedRrset[],
  added: NamedRrset[],
): void {
  const existingRrsets = existing?.rrsets ?? []
  const isSoa = ({ type }: Rrset): boolean => isApex && type === 'SOA'
  const [findBefore, findNow] = [createRrsetFinder(existingRrsets), createRrsetFinder(rrsets)]
  for (const rrset of rrsets) {
    const before = isSoa(rrset) ? rrset : findBefore(rrset)
    if (before === undefined) added.push({ name, rrset })
    else if (before !== rrset) compareRrsets(name, before, rrset, removed, added)
  }
  for (const rrset of existingRrsets) if (!isSoa(rrset) && findNow(rrset) === undefined) removed.push({ name, rrset })
}

function compareRrsets(name: DomainName, existing: Rrset, rrset: Rrset, removed: NamedRrset[], added: NamedRrset[]): void {
  if (existing.ttl !== rrset.ttl || existing.writtenOwner !== rrset.writtenOwner) {
    removed.push({ name, rrset: existing })
    added.push({ name, rrset })
    return
  }
  const isEqual = existing.data.length === rrset.data.length && existing.data.every((data, i) => data === rrset.data[i])
  if (isEqual) return
  const [before, after] = [new Set(existing.data), new Set(rrset.data)]
  const dataRemoved = existing.data.filter((data) => !after.has(data))
  const dataAdded = rrset.data.filter((data) => !before.has(data))
  if (dataRemoved.length > 0) removed.push({ name, rrset: { ...existing, data: dataRemoved, octets: null } })
  if (dataAdded.length > 0) added.push({ name, rrset: { ...rrset, data: dataAdded, octets: null } })
}

/** Copies the data of a difference. Strings parsed from a zone's text are slices of it, so without copies each difference would keep the whole text in memory. */
function copyData({ from, removed, added }: ZoneDifference): ZoneDifference {
  const copyText = (text: string): string => Buffer.from(text).toString()
  const copy = (rrset: Rrset): Rrset => {
    const writtenOwner = rrset.writtenOwner && copyText(rrset.writtenOwner)
    return { ...rrset, writtenOwner, data: rrset.data.map(copyText), octets: null }
  }
  const copies = (sections: readonly NamedRrset[]): NamedRrset[] => sections.map(({ name, rrset }) => ({ name, rrset: copy(rrset) }))
  return { from: copy(from), removed: copies(removed), added: copies(added) }
}

/** Approximate memory in octets of a record without its name and data. */
const RECORD_OCTETS = 100

const octetsOf = ({ removed, added }: ZoneDifference): number => {
  let octets = RECORD_OCTETS
  for (const { name, rrset } of [...removed, ...added]) for (const data of rrset.data) octets += RECORD_OCTETS + name.length + data.length
  return octets
}

/** Combines consecutive differences into one. */
function condense(steps: readonly Step[]): ZoneDifference {
  const [first] = steps as [Step, ...Step[]]
  if (steps.length === 1) return first
  const removed = new Map<string, NamedRrset>()
  const added = new Map<string, NamedRrset>()
  for (const step of steps) {
    for (const [key, record] of singleRecords(step.removed)) if (!added.delete(key)) removed.set(key, record)
    for (const [key, record] of singleRecords(step.added)) if (!removed.delete(key)) added.set(key, record)
  }
  return { from: first.from, removed: [...removed.values()], added: [...added.values()] }
}

function* singleRecords(sections: readonly NamedRrset[]): Generator<[string, NamedRrset], void> {
  for (const { name, rrset } of sections) {
    for (const data of rrset.data) {
      yield [`${rrset.writtenOwner ?? name} ${rrset.code} ${rrset.ttl} ${data}`, { name, rrset: { ...rrset, data: [data], octets: null } }]
    }
  }
}

/** The number of records in a difference, without the SOA records. */
const countOf = ({ removed, added }: ZoneDifference): number =>
  [...removed, ...added].reduce((sum, { rrset }) => sum + rrset.data.length, 0)

/** Whether a difference of `count` records has fewer records than the zone, SOA records included. */
function isSmallerThan(count: number, zone: ZoneData): boolean {
  let remaining = count + 2
  for (const { rrsets } of zone.nodes()) {
    for (const { data } of rrsets) remaining -= data.length
    if (remaining < 0) return true
  }
  return false
}

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
interface TransferZone {
  readonly data: ZoneData
  /** Whether this address may transfer the zone with a request signed by this key; null for an unsigned request. */
  readonly allows: (address: string, signedBy: TsigKey | null) => boolean
  /** The difference from the version with this serial, from at most `maxRecords` records; null if only the full zone can be sent. */
  readonly since: (serial: number, maxRecords: number) => ZoneDifference | null
}

/** Largest difference that is computed for a UDP response, in records. A response has room for fewer than a hundred. */
const UDP_RECORDS = 500

/** Limits concurrent transfers, because each keeps a version of a zone in memory. */
interface TransferSlots {
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
  for (const { name, rrsets } of zone.nodes()) {
    for (const rrset of rrsets) {
      if (rrset.type === 'SOA' && name === zone.name) continue
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
