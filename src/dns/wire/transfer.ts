import type { DomainName } from '../domain-name.ts'
import { failure, ok, type Result } from '../result.ts'
import { CLASS, createQuery, type Message, RCODE, rcodeName, type WireRecord } from './message.ts'

/** A query for a whole zone (RFC 5936 section 2.1). */
export const createAxfrQuery = (id: number, zone: DomainName): Message => ({ ...createQuery(id, { name: zone, type: 'AXFR' }), edns: null })

export interface TransferReader {
  /** Takes the next message of the answer; says whether it was the last one, or what is wrong with it. */
  accept(message: Message): Result<'more' | 'complete'>
  /** The records so far: the SOA first and once, the others in the order they came. */
  readonly records: readonly WireRecord[]
}

/**
 * Puts together the messages that answer an AXFR query: any number of them, the first record and the last the same SOA
 * (RFC 5936 section 2.2). `maxRecords` bounds what is kept.
 */
export function createTransferReader(zone: DomainName, id: number, maxRecords: number): TransferReader {
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
