import { txtRdataToOctets } from '../../dns/character-string.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { RDATA_TYPES } from '../../dns/rdata/rdata-types.ts'
import type { DefinedRecord } from '../../dns/record.ts'
import type { ZoneIndex } from './zone-index.ts'

/** Octets of a UDP answer that passes everywhere without fragments: what resolvers ask for since DNS Flag Day 2020. */
const SAFE_MESSAGE_OCTETS = 1232

/** Octets of any DNS message, less header, question and an OPT record. */
const LARGEST_RRSET_OCTETS = 65_535 - 300

/** Octets of a record in an answer besides its rdata: compressed owner, type, class, TTL, length. */
const RECORD_OVERHEAD_OCTETS = 12

/** Two records of equal owner, type and data are one record (RFC 2181 section 5). */
export function recordDuplicate({ rrsets }: ZoneIndex): Diagnostic[] {
  const diagnostics: Diagnostic[] = []
  for (const set of rrsets.values()) {
    if (set.length === 1) continue
    const first = new Map<string, DefinedRecord>()
    for (const record of set) {
      const earlier = first.get(record.data)
      if (!earlier) first.set(record.data, record)
      else diagnostics.push(duplicate(record, earlier))
    }
  }
  return diagnostics
}

const duplicate = (record: DefinedRecord, earlier: DefinedRecord): Diagnostic => ({
  severity: 'error',
  code: 'record-duplicate',
  message: `${record.name} has the ${record.type} record ${shorten(record.data)} twice`,
  at: record.at,
  hint: 'remove one of the two',
  related: [{ message: 'the same record', at: earlier.at }],
})

/** CNAME (RFC 2181 section 10.1), DNAME (RFC 6672 section 2.4), SOA and ALIAS: at most one at a name. */
export function singletonMultiple({ rrsets }: ZoneIndex): Diagnostic[] {
  const diagnostics: Diagnostic[] = []
  for (const set of rrsets.values()) {
    if (set.length === 1) continue
    const [first, ...rest] = set
    if (!first || !RDATA_TYPES.get(first.type)?.singleton) continue
    const other = rest.find((record) => record.data !== first.data)
    if (!other) continue
    diagnostics.push({
      severity: 'error',
      code: 'singleton-multiple',
      message: `${first.name} has ${rest.length + 1} ${first.type} records; a name has at most one`,
      at: other.at,
      related: [{ message: `the first ${first.type} record`, at: first.at }],
    })
  }
  return diagnostics
}

/**
 * The TTLs of an RRset are the same, or caches cut them down to the lowest (RFC 2181 section 5.2). Those of signatures are each that of the records
 * it covers (RFC 4034 section 3).
 */
export function ttlMixed({ rrsets }: ZoneIndex): Diagnostic[] {
  const diagnostics: Diagnostic[] = []
  for (const set of rrsets.values()) {
    const [first, ...rest] = set
    if (rest.length === 0 || first?.type === 'RRSIG') continue
    const other = first && rest.find((record) => record.ttl !== first.ttl)
    if (!first || !other) continue
    diagnostics.push({
      severity: 'warning',
      code: 'ttl-mixed',
      message: `the ${first.type} records of ${first.name} have different TTLs: ${first.ttl ?? 'default'} and ${other.ttl ?? 'default'}`,
      at: other.at,
      hint: 'give all records of one name and type the same TTL',
      related: [{ message: `TTL ${first.ttl ?? 'default'}`, at: first.at }],
    })
  }
  return diagnostics
}

/** A long TXT value makes answers that do not fit a UDP message: resolvers must ask again over TCP. */
export function txtLong({ zone }: ZoneIndex): Diagnostic[] {
  const diagnostics: Diagnostic[] = []
  for (const record of zone.records) {
    if (record.type !== 'TXT' || record.data.length <= SAFE_MESSAGE_OCTETS) continue
    const octets = txtRdataToOctets(record.data).length
    if (octets <= SAFE_MESSAGE_OCTETS) continue
    diagnostics.push({
      severity: 'warning',
      code: 'txt-long',
      message: `the TXT value of ${record.name} has ${octets} octets; answers with more than ${SAFE_MESSAGE_OCTETS} need TCP, which not every network lets through`,
      at: record.at,
    })
  }
  return diagnostics
}

/** An RRset travels in one message, so one that is larger than any message cannot be asked for. */
export function rrsetTooLarge({ rrsets }: ZoneIndex): Diagnostic[] {
  const diagnostics: Diagnostic[] = []
  for (const set of rrsets.values()) {
    const first = set[0]
    if (!first || set.length * RECORD_OVERHEAD_OCTETS + textLength(set) <= LARGEST_RRSET_OCTETS) continue
    const octets = set.reduce((sum, record) => sum + RECORD_OVERHEAD_OCTETS + leastRdataOctets(record), 0)
    if (octets <= LARGEST_RRSET_OCTETS) continue
    diagnostics.push({
      severity: 'error',
      code: 'rrset-too-large',
      message: `the ${set.length} ${first.type} records of ${first.name} take at least ${octets} octets together; a DNS message holds 65535`,
      at: first.at,
    })
  }
  return diagnostics
}

const textLength = (set: readonly DefinedRecord[]): number => set.reduce((sum, record) => sum + Math.max(record.data.length, 16), 0)

/** A lower bound of the octets of rdata, exact where sets grow large in practice. */
function leastRdataOctets({ type, data }: DefinedRecord): number {
  if (type === 'A') return 4
  if (type === 'AAAA') return 16
  if (type === 'TXT' || type === 'SPF') {
    const { length } = txtRdataToOctets(data)
    return length + Math.max(1, Math.ceil(length / 255))
  }
  // A quarter: text that is all escapes takes four characters for an octet.
  return Math.floor(data.length / 4)
}

const shorten = (data: string): string => (data.length > 80 ? `${data.slice(0, 80)}…` : data)
