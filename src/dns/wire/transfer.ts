import type { DomainName } from '../domain-name.ts'
import { rdataFields } from '../rdata/canonical.ts'
import { failure, ok, type Result } from '../result.ts'
import { isNewerSerial, type SerialNumber, serialNumber } from '../serial-number.ts'
import { CLASS, createQuery, type Message, RCODE, rcodeName, type WireRecord } from './message.ts'

/** A query for a whole zone (RFC 5936 section 2.1). */
export const createAxfrQuery = (id: number, zone: DomainName): Message => ({ ...createQuery(id, { name: zone, type: 'AXFR' }), edns: null })

export interface AxfrReader {
  /** Takes the next message of the answer; says whether it was the last one, or what is wrong with it. */
  accept(message: Message): Result<'more' | 'complete'>
  /** The records so far: the SOA first and once, the others in the order they came. */
  readonly records: readonly WireRecord[]
}

/**
 * Puts together the messages that answer an AXFR query: any number of them, the first record and the last the same SOA
 * (RFC 5936 section 2.2). `maxRecords` bounds what is kept.
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
      if (record.name !== zone || record.data !== first.data) return 'its last SOA is not the first one'
      complete = true
      return null
    }
    if (records.length === maxRecords) return `it has more than ${maxRecords} records`
    records.push(record)
    return null
  }

  const accept = (message: Message): Result<'more' | 'complete'> => {
    const problem = headerProblem(message, zone, id, 'AXFR')
    if (problem !== null) return failure(problem)
    for (const record of message.answers) {
      const wrong = acceptRecord(record)
      if (wrong !== null) return failure(wrong)
    }
    return ok(complete ? 'complete' : 'more')
  }
  return { accept, records }
}

/** The rule of RFC 5936 section 2.2.1 that a message's header or question breaks; null for none. */
export function headerProblem(message: Message, zone: DomainName, id: number, type: 'AXFR' | 'IXFR'): string | null {
  if (!message.response || message.id !== id) return 'it is not a response to the query'
  if (message.rcode !== RCODE.NOERROR) return `the server answers ${rcodeName(message.rcode)}`
  if (message.truncated) return 'a message over TCP is truncated'
  // Messages after the first may leave the question out.
  const [question] = message.questions
  if (question && (question.name !== zone || question.type !== type)) return 'it answers another question'
  if (message.answers.length === 0) return 'a message has no records'
  return null
}

/** Incremental zone transfer (RFC 1995) of one who asks: the query, and the messages that answer it. */
/** A query for the changes of a zone since this SOA (RFC 1995 section 3). */
export const createIxfrQuery = (id: number, zone: DomainName, soa: WireRecord): Message => ({
  ...createQuery(id, { name: zone, type: 'IXFR' }),
  edns: null,
  authorities: [soa],
})

/** One step from a version of a zone to a later one, without the SOA records. */
export interface Difference {
  readonly removed: WireRecord[]
  readonly added: WireRecord[]
}

export type IxfrAnswer =
  /** The server has no newer version. */
  | { readonly kind: 'current' }
  /** The whole zone, as AXFR gives it: the SOA first and once. */
  | { readonly kind: 'whole'; readonly records: readonly WireRecord[] }
  /** Steps from the asker's version to that of the SOA. */
  | { readonly kind: 'differences'; readonly soa: WireRecord; readonly differences: readonly Difference[] }

interface IxfrReader {
  /** Takes the next message of the answer; says whether it was the last one, or what is wrong with it. */
  accept(message: Message): Result<'more' | 'complete'>
  /** To be called after the last message. */
  answer(): IxfrAnswer
}

/** Puts together the messages that answer an IXFR query from a zone's version with this serial (RFC 1995 section 4). */
export function createIxfrReader(zone: DomainName, id: number, serial: SerialNumber): IxfrReader {
  let state: 'first' | 'second' | 'whole' | 'removed' | 'added' | 'complete' = 'first'
  let final: WireRecord | null = null
  /** The serial that the step under way leads to. */
  let reached = serial
  const records: WireRecord[] = []
  const differences: Difference[] = []

  const beginStep = (record: WireRecord): string | null => {
    if (serialOf(record) !== reached) return `a step begins with the serial ${serialOf(record)}, not with ${reached}`
    differences.push({ removed: [], added: [] })
    state = 'removed'
    return null
  }

  const acceptSoa = (record: WireRecord, last: WireRecord): string | null => {
    if (record.name !== zone) return `it has an SOA of ${record.name}`
    const isFinal = record.data === last.data
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
    if (!isFinal) return 'its last SOA is not the first one'
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
      const problem = headerProblem(message, zone, id, 'IXFR')
      if (problem !== null) return failure(problem)
      for (const record of message.answers) {
        const wrong = acceptRecord(record)
        if (wrong !== null) return failure(wrong)
      }
      // An SOA alone that is not newer is the whole answer (RFC 1995 section 2).
      if (state === 'second' && final !== null && !isNewerSerial(serialOf(final), serial)) state = 'complete'
      return ok(state === 'complete' ? 'complete' : 'more')
    },
    answer: () => {
      if (final !== null && differences.length > 0) return { kind: 'differences', soa: final, differences }
      return records.length > 0 ? { kind: 'whole', records } : { kind: 'current' }
    },
  }
}

const serialOf = ({ data }: WireRecord): SerialNumber => serialNumber(Number(rdataFields(data ?? '')[2]))
