import type { Diagnostic } from '../../dns/diagnostic.ts'
import { type DomainName, isAtOrBelow } from '../../dns/domain-name.ts'
import { type ResourceRecord, recordKey } from '../../dns/record.ts'
import { isMetaType } from '../../dns/wire/type-code.ts'
import type { TransferredRecord } from '../../transport/dns-transfer.ts'
import type { UnsupportedFeature } from '../conversion.ts'
import { excerpt } from '../excerpt.ts'

/** Repetitions that are told one by one. */
const TOLD = 100

export interface TransferredRecords {
  /** Those of the zone, each once, in the order they came. */
  readonly records: readonly ResourceRecord[]
  readonly dropped: readonly UnsupportedFeature[]
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * What of a transfer is of its zone. A server may send what is not; nobody is to take it for that (RFC 5936 section 3.5). Of records that are equal in
 * owner, type and data there is one, the first with its TTL (RFC 2181 section 5).
 */
export function transferredRecords(zone: DomainName, all: readonly TransferredRecord[]): TransferredRecords {
  const firsts = new Map<string, ResourceRecord>()
  const records: ResourceRecord[] = []
  const dropped: UnsupportedFeature[] = []
  const repeated: Diagnostic[] = []
  for (const record of all) {
    const { name, type } = record
    const strange = strangeness(record, zone)
    const first = strange === null ? firsts.get(recordKey(record)) : undefined
    if (strange !== null) dropped.push({ zone, name, type, what: strange })
    else if (first !== undefined) repeated.push(tellRepetition(zone, record, first))
    else {
      firsts.set(recordKey(record), record)
      records.push(record)
    }
  }
  const untold = repeated.length - TOLD
  const more: Diagnostic[] = untold > 0 ? [warning(`${untold} more records came again in the transfer of ${zone}`)] : []
  return { records, dropped, diagnostics: [...repeated.slice(0, TOLD), ...more] }
}

function strangeness({ name, type, data, malformed }: TransferredRecord, zone: DomainName): string | null {
  if (!isAtOrBelow(name, zone)) return `a record that is not in ${zone}`
  if (malformed !== undefined) return `${excerpt(data)}: data that are none of its type: ${malformed}`
  return isMetaType(type) ? `${excerpt(data)}: no zone has records of this type (RFC 6895 section 3.1)` : null
}

function tellRepetition(zone: DomainName, { name, type, data, ttl }: ResourceRecord, first: ResourceRecord): Diagnostic {
  const ttls = ttl === first.ttl ? '' : `, with TTL ${first.ttl}, not ${ttl}`
  return warning(`the transfer of ${zone} has ${name} ${type} ${excerpt(data)} again; it is taken once (RFC 2181 section 5)${ttls}`)
}

const warning = (message: string): Diagnostic => ({ severity: 'warning', code: 'record-duplicate', message })
