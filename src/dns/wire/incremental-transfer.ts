/** Incremental zone transfer (RFC 1995) of one who asks: the query, and the messages that answer it. */
import type { DomainName } from '../domain-name.ts'
import { rdataFields } from '../rdata/canonical.ts'
import { failure, ok, type Result } from '../result.ts'
import { isNewerSerial, type SerialNumber, serialNumber } from '../serial-number.ts'
import { CLASS, createQuery, type Message, type WireRecord } from './message.ts'
import { headerProblem } from './transfer.ts'

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

export type IncrementalAnswer =
  /** The server has no newer version. */
  | { readonly kind: 'current' }
  /** The whole zone, as AXFR gives it: the SOA first and once. */
  | { readonly kind: 'whole'; readonly records: readonly WireRecord[] }
  /** Steps from the asker's version to that of the SOA. */
  | { readonly kind: 'differences'; readonly soa: WireRecord; readonly differences: readonly Difference[] }

export interface IncrementalReader {
  /** Takes the next message of the answer; says whether it was the last one, or what is wrong with it. */
  accept(message: Message): Result<'more' | 'complete'>
  /** To be called after the last message. */
  answer(): IncrementalAnswer
}

/** Puts together the messages that answer an IXFR query from a zone's version with this serial (RFC 1995 section 4). */
export function createIncrementalReader(zone: DomainName, id: number, serial: SerialNumber): IncrementalReader {
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
