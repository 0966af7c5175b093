/** Zone transfers: AXFR (RFC 5936) and IXFR (RFC 1995). */
import { failure, ok, type Result } from '../../base/result.ts'
import { type DomainName, isAtOrBelow } from '../domain-name.ts'
import { rdataFields } from '../rdata/canonical.ts'
import { lowerCaseNames } from '../rdata/letter-case.ts'
import { isNewerSerial, type SerialNumber, serialNumber } from '../serial-number.ts'
import { CLASS, createQuery, type Message, RCODE, rcodeName, type WireRecord } from './message.ts'

/** A query for a full zone transfer (RFC 5936 section 2.1). */
export const createAxfrQuery = (id: number, zone: DomainName): Message => ({ ...createQuery(id, { name: zone, type: 'AXFR' }), edns: null })

export interface AxfrReader {
  /** Accepts the next message of the answer, and returns whether it completes the answer or why it is invalid. */
  accept(message: Message): Result<'more' | 'complete'>
  /** The records so far, in the order of the answer. The SOA is first and appears once. */
  readonly records: readonly WireRecord[]
}

/**
 * Combines the messages that answer an AXFR query. The first and the last record are the same SOA (RFC 5936 section 2.2). More than
 * `maxRecords` records are an error.
 */
export function createAxfrReader(zone: DomainName, id: number, maxRecords: number): AxfrReader {
  const records: WireRecord[] = []
  let complete = false

  const acceptRecord = (record: WireRecord): string | null => {
    if (complete) return 'records follow the last SOA'
    if (record.type === 'SOA' && record.malformed !== undefined) return `${record.name} SOA: ${record.malformed}`
    if (record.class !== CLASS.IN || record.data === null) return `${record.name} ${record.type} is not a record of class IN`
    const first = records[0]
    if (!first) {
      if (record.type !== 'SOA' || record.name !== zone) return `it begins with ${record.name} ${record.type}, not with the SOA of ${zone}`
    } else if (record.type === 'SOA') {
      if (record.name !== zone || !isSameSoa(record, first)) return 'its last SOA differs from the first'
      complete = true
      return null
    }
    if (records.length === maxRecords) return `it has more than ${maxRecords} records`
    records.push(record)
    return null
  }

  const accept = (message: Message): Result<'more' | 'complete'> => {
    const problem = headerProblem(message, zone, id, 'AXFR') ?? acceptAll(message, acceptRecord)
    return problem === null ? ok(complete ? 'complete' : 'more') : failure(problem)
  }
  return { accept, records }
}

/** Passes on the answers until one is invalid, and returns why; null if all are accepted. */
function acceptAll({ answers }: Message, accept: (record: WireRecord) => string | null): string | null {
  for (const record of answers) {
    const problem = accept(record)
    if (problem !== null) return problem
  }
  return null
}

/** Why a message's header or question is invalid (RFC 5936 section 2.2.1); null if it is valid. */
function headerProblem(message: Message, zone: DomainName, id: number, type: 'AXFR' | 'IXFR'): string | null {
  if (!message.response || message.id !== id) return 'it is not a response to the query'
  if (message.rcode !== RCODE.NOERROR) return `the server answers ${rcodeName(message.rcode)}`
  if (message.truncated) return 'a message over TCP is truncated'
  // Messages after the first may omit the question.
  const [question] = message.questions
  if (question && (question.name !== zone || question.type !== type)) return 'it answers another question'
  if (message.answers.length === 0) return 'a message has no records'
  return null
}

/** A query for the changes since this SOA (RFC 1995 section 3). */
export const createIxfrQuery = (id: number, zone: DomainName, soa: WireRecord): Message => ({
  ...createQuery(id, { name: zone, type: 'IXFR' }),
  edns: null,
  authorities: [soa],
})

/** The change from one version of a zone to a later one, without the SOA records. */
export interface Difference {
  readonly removed: WireRecord[]
  readonly added: WireRecord[]
}

export type IxfrAnswer =
  /** The server has no newer version than that of the client. The SOA is the server's. */
  | { readonly kind: 'current'; readonly soa: WireRecord }
  /** The full zone. The SOA is first and appears once. */
  | { readonly kind: 'whole'; readonly records: readonly WireRecord[] }
  /** The changes from the client's version to that of the SOA. */
  | { readonly kind: 'differences'; readonly soa: WireRecord; readonly differences: readonly Difference[] }

interface IxfrReader {
  /** Accepts the next message of the answer, and returns whether it completes the answer or why it is invalid. */
  accept(message: Message): Result<'more' | 'complete'>
  /** The result; call this only after the answer is complete. */
  answer(): IxfrAnswer
}

/** Combines the messages that answer an IXFR query from a client with this serial (RFC 1995 section 4). */
export function createIxfrReader(zone: DomainName, id: number, serial: SerialNumber): IxfrReader {
  let state: 'first' | 'second' | 'whole' | 'removed' | 'added' | 'complete' = 'first'
  let final: WireRecord | null = null
  /** The serial that the current change leads to. */
  let reached = serial
  const records: WireRecord[] = []
  const differences: Difference[] = []

  const beginStep = (record: WireRecord): string | null => {
    if (serialOf(record) !== reached) return `a difference begins with serial ${serialOf(record)}, not ${reached}`
    differences.push({ removed: [], added: [] })
    state = 'removed'
    return null
  }

  const acceptSoa = (record: WireRecord, last: WireRecord): string | null => {
    if (record.name !== zone) return `it has an SOA of ${record.name}`
    const isFinal = isSameSoa(record, last)
    switch (state) {
      case 'removed':
        reached = serialOf(record)
        state = 'added'
        return null
      case 'added':
        if (reached !== serialOf(last)) return beginStep(record)
        break
      case 'second':
        if (!isFinal) return beginStep(record)
        records.push(last)
    }
    if (!isFinal) return 'its last SOA differs from the first'
    state = 'complete'
    return null
  }

  const acceptRecord = (record: WireRecord): string | null => {
    if (state === 'complete') return 'records follow the last SOA'
    if (record.class !== CLASS.IN || record.data === null) return `${record.name} ${record.type} is not a record of class IN`
    if (final === null) {
      if (record.type !== 'SOA' || record.name !== zone) return `it begins with ${record.name} ${record.type}, not with the SOA of ${zone}`
      final = record
      state = 'second'
      return null
    }
    if (record.type === 'SOA') return acceptSoa(record, final)
    if (state === 'second') {
      state = 'whole'
      records.push(final)
    }
    const step = differences.at(-1)
    const list = state === 'removed' ? step?.removed : state === 'added' ? step?.added : records
    list?.push(record)
    return null
  }

  return {
    accept: (message) => {
      const problem = headerProblem(message, zone, id, 'IXFR') ?? acceptAll(message, acceptRecord)
      if (problem !== null) return failure(problem)
      // A single SOA that is not newer is a complete answer (RFC 1995 section 2).
      if (state === 'second' && final !== null && !isNewerSerial(serialOf(final), serial)) state = 'complete'
      return ok(state === 'complete' ? 'complete' : 'more')
    },
    answer: () => {
      if (final === null) throw new Error('the answer is not complete')
      if (differences.length > 0) return { kind: 'differences', soa: final, differences }
      return records.length > 0 ? { kind: 'whole', records } : { kind: 'current', soa: final }
    },
  }
}

/**
 * Applies differences in order to the records of a zone, the SOA not among them. Records outside the zone are skipped and counted. Fails if a removed record is
 * missing or an added one exists: then the differences are between other versions.
 */
export function applyDifferences<R extends Pick<WireRecord, 'name' | 'type' | 'data'>>(
  zone: DomainName,
  current: readonly R[],
  differences: readonly Difference[],
  toRecord: (record: WireRecord) => R,
): Result<{ readonly records: readonly R[]; readonly outOfZone: number }> {
  const records = new Map<string, R>()
  for (const record of current) {
    const key = keyOf(record)
    if (!records.has(key)) records.set(key, record)
  }
  let outOfZone = 0
  for (const { removed, added } of differences) {
    for (const record of removed) {
      if (!isAtOrBelow(record.name, zone)) continue
      if (!records.delete(keyOf(record))) return failure(`it removes ${record.name} ${record.type}, which is not in the zone`)
    }
    for (const record of added) {
      if (!isAtOrBelow(record.name, zone)) {
        outOfZone += 1
        continue
      }
      const key = keyOf(record)
      if (records.has(key)) return failure(`it adds ${record.name} ${record.type}, which is already in the zone`)
      records.set(key, toRecord(record))
    }
  }
  return ok({ records: [...records.values()], outOfZone })
}

const keyOf = ({ name, type, data }: Pick<WireRecord, 'name' | 'type' | 'data'>): string =>
  `${name} ${type} ${lowerCaseNames(type, data ?? '')}`

const isSameSoa = (a: WireRecord, b: WireRecord): boolean => lowerCaseNames('SOA', a.data ?? '') === lowerCaseNames('SOA', b.data ?? '')

const serialOf = ({ data }: WireRecord): SerialNumber => serialNumber(Number(rdataFields(data ?? '')[2]))
