import { txtRdataToOctets } from '../../dns/character-string.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { targetName } from '../../dns/rdata/canonical.ts'
import { RDATA_TYPES } from '../../dns/rdata/rdata-types.ts'
import type { DefinedRecord } from '../../dns/record.ts'
import { unmanagedTest } from '../../dns/unmanaged.ts'
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

/** A null MX says that the name takes no mail, and contradicts any other MX (RFC 7505 section 3). */
export function nullMxNotAlone(index: ZoneIndex): Diagnostic[] {
  return besideNull(index, 'MX').map(({ nothing, other }) => ({
    severity: 'error',
    code: 'null-mx-not-alone',
    message: `${nothing.name} has a null MX, which says it takes no mail, and also MX ${other.data}`,
    at: nothing.at,
    hint: 'remove the null MX or all other MX records',
    related: [{ message: 'another MX record', at: other.at }],
  }))
}

/** An SRV with the target `.` says that the service is not there, and contradicts any other (RFC 2782). */
export function nullSrvNotAlone(index: ZoneIndex): Diagnostic[] {
  return besideNull(index, 'SRV').map(({ nothing, other }) => ({
    severity: 'warning',
    code: 'null-srv-not-alone',
    message: `${nothing.name} has an SRV with the target ".", which says the service is not there, and also SRV ${other.data}`,
    at: nothing.at,
    hint: 'remove the record with the target "." or all others',
    related: [{ message: 'another SRV record', at: other.at }],
  }))
}

function besideNull({ rrsets }: ZoneIndex, type: string): { nothing: DefinedRecord; other: DefinedRecord }[] {
  const found: { nothing: DefinedRecord; other: DefinedRecord }[] = []
  for (const set of rrsets.values()) {
    if (set[0]?.type !== type || set.length === 1) continue
    const nothing = set.find((record) => targetName(type, record.data) === '.')
    const other = set.find((record) => targetName(type, record.data) !== '.')
    if (nothing && other) found.push({ nothing, other })
  }
  return found
}

/** The SOA record is made from the zone's settings: providers do not hold it among the records. */
export function soaInDefinition({ zone }: ZoneIndex): Diagnostic[] {
  return zone.records
    .filter((record) => record.type === 'SOA')
    .map((soa) => ({
      severity: 'error',
      code: 'soa-in-definition',
      message: `${soa.name} has an SOA record; a definition says it in the settings of the zone`,
      at: soa.at,
      hint: 'remove it, and set soa_email, refresh_sec, retry_sec and expire_sec above the records',
    }))
}

/** A record cannot be both in the definition and somebody else's. */
export function unmanagedCollision({ zone }: ZoneIndex): Diagnostic[] {
  if (zone.unmanaged.length === 0) return []
  const test = unmanagedTest(zone.unmanaged, zone.name)
  return zone.records.filter(test).map((record) => {
    const selector = zone.unmanaged.find((one) => unmanagedTest([one], zone.name)(record))
    return {
      severity: 'error',
      code: 'unmanaged-collision',
      message: `${record.name} ${record.type} is in the definition, and "unmanaged" leaves it to others`,
      at: record.at,
      hint: 'remove the record, or narrow the selector',
      ...(selector?.at && { related: [{ message: 'the selector', at: selector.at }] }),
    }
  })
}
