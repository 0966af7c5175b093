/** Rules for RRsets. */
import { excerpt } from '../../base/text.ts'
import { txtRdataToOctets } from '../../dns/character-string.ts'
import { targetName } from '../../dns/rdata/canonical.ts'
import { RDATA_TYPES } from '../../dns/rdata/rdata-types.ts'
import { type DefinedRecord, groupRrsets } from '../../dns/record.ts'
import { unmanagedTest } from '../../dns/unmanaged.ts'
import type { Finding, ZoneIndex } from './zone-index.ts'

/** Maximum octets of a UDP answer that no network fragments. Resolvers have requested this size since DNS Flag Day 2020. */
const SAFE_MESSAGE_OCTETS = 1232

/** Maximum octets of a DNS message without header, question and OPT record. */
const LARGEST_RRSET_OCTETS = 65_535 - 300

/** Octets that a record in an answer takes beside its rdata: compressed owner, type, class, TTL, length. */
const RECORD_OVERHEAD_OCTETS = 12

/** Reports records with the same owner, type and data: DNS treats them as one record (RFC 2181 section 5). */
export function* recordDuplicate({ rrsets }: ZoneIndex): Iterable<Finding> {
  for (const set of rrsets) {
    const first = new Map<string, DefinedRecord>()
    for (const record of set) {
      const earlier = first.get(record.data)
      if (!earlier) first.set(record.data, record)
      else yield duplicate(record, earlier)
    }
  }
}

const duplicate = (record: DefinedRecord, earlier: DefinedRecord): Finding => ({
  message: `${record.name} ${record.type}: the value ${excerpt(record.data, 80)} is given twice`,
  at: record.at,
  hint: 'remove one of them',
  related: [{ message: 'the same record', at: earlier.at }],
})

/** Reports names with several CNAME (RFC 2181 section 10.1), DNAME (RFC 6672 section 2.4), SOA or ALIAS records. */
export function* singletonMultiple({ rrsets }: ZoneIndex): Iterable<Finding> {
  for (const set of rrsets) {
    const [first, ...rest] = set
    if (!first || !RDATA_TYPES.get(first.type)?.singleton) continue
    const other = rest.find((record) => record.data !== first.data)
    if (!other) continue
    yield {
      message: `${first.name} has ${rest.length + 1} ${first.type} records; a name can have only one`,
      at: other.at,
      hint: 'keep one of them',
      related: [{ message: `the first ${first.type} record`, at: first.at }],
    }
  }
}

/**
 * Reports RRsets whose records have different TTLs: caches use the smallest for all (RFC 2181 section 5.2). RRSIG records may differ, since a
 * signature has the TTL of the records it covers (RFC 4034 section 3).
 */
export function* ttlMixed({ rrsets }: ZoneIndex): Iterable<Finding> {
  for (const set of rrsets) {
    const [first, ...rest] = set
    if (first?.type === 'RRSIG') continue
    const other = first && rest.find((record) => record.ttl !== first.ttl)
    if (!first || !other) continue
    yield {
      message: `${first.name} ${first.type}: the records have different TTLs: ${first.ttl ?? 'default'} and ${other.ttl ?? 'default'}`,
      at: other.at,
      hint: 'give all records of one name and type the same TTL',
      related: [{ message: `TTL ${first.ttl ?? 'default'}`, at: first.at }],
    }
  }
}

/** Reports TXT values that are too long for a UDP answer: resolvers must ask again over TCP. */
export function* txtLong({ ofType }: ZoneIndex): Iterable<Finding> {
  for (const record of ofType('TXT')) {
    if (record.data.length <= SAFE_MESSAGE_OCTETS) continue
    const octets = txtRdataToOctets(record.data).length
    if (octets <= SAFE_MESSAGE_OCTETS) continue
    yield {
      message: `${record.name} TXT: the value has ${octets} octets; answers over ${SAFE_MESSAGE_OCTETS} need TCP, which some networks block`,
      at: record.at,
      hint: 'shorten the value if you can',
    }
  }
}

/** Reports RRsets that are larger than any DNS message, so that no server can answer with them. */
export function* rrsetTooLarge({ byName }: ZoneIndex): Iterable<Finding> {
  const large = [...byName.values()].filter(
    (records) => records.length * RECORD_OVERHEAD_OCTETS + textLength(records) > LARGEST_RRSET_OCTETS,
  )
  for (const set of groupRrsets(large.flat()).values()) {
    const first = set[0]
    if (!first) continue
    const octets = set.reduce((sum, record) => sum + RECORD_OVERHEAD_OCTETS + leastRdataOctets(record), 0)
    if (octets <= LARGEST_RRSET_OCTETS) continue
    yield {
      message: `${first.name} ${first.type}: the ${set.length} records take at least ${octets} octets; a DNS message has at most 65535`,
      at: first.at,
      hint: 'remove records, or spread them over several names',
    }
  }
}

const textLength = (set: readonly DefinedRecord[]): number => set.reduce((sum, record) => sum + Math.max(record.data.length, 16), 0)

/** The least possible number of rdata octets. It is exact for A, AAAA, TXT and SPF, the types with large RRsets. */
function leastRdataOctets({ type, data }: DefinedRecord): number {
  if (type === 'A') return 4
  if (type === 'AAAA') return 16
  if (type === 'TXT' || type === 'SPF') {
    const { length } = txtRdataToOctets(data)
    return length + Math.max(1, Math.ceil(length / 255))
  }
  // An escaped octet takes four characters.
  return Math.floor(data.length / 4)
}

/** Reports a null MX beside other MX records: it refuses all mail (RFC 7505 section 3). */
export function nullMxNotAlone(index: ZoneIndex): Finding[] {
  return nullTargets(index, 'MX').map(({ empty, other }) => ({
    message: `${empty.name} MX: a null MX refuses all mail, but there is also MX ${other.data}`,
    at: empty.at,
    hint: 'remove either the null MX or all other MX records',
    related: [{ message: 'another MX record', at: other.at }],
  }))
}

/** Reports an SRV with the target `.` beside other SRV records: it denies the service (RFC 2782). */
export function nullSrvNotAlone(index: ZoneIndex): Finding[] {
  return nullTargets(index, 'SRV').map(({ empty, other }) => ({
    message: `${empty.name} SRV: the target "." says that the service does not exist, but there is also SRV ${other.data}`,
    at: empty.at,
    hint: 'remove either the record with the target "." or all others',
    related: [{ message: 'another SRV record', at: other.at }],
  }))
}

/** For each RRset of the type that has the target `.` and another target: one record with each. */
function nullTargets({ rrsets }: ZoneIndex, type: string): { readonly empty: DefinedRecord; readonly other: DefinedRecord }[] {
  const found: { empty: DefinedRecord; other: DefinedRecord }[] = []
  for (const set of rrsets) {
    if (set[0]?.type !== type) continue
    const empty = set.find((record) => targetName(type, record.data) === '.')
    const other = set.find((record) => targetName(type, record.data) !== '.')
    if (empty && other) found.push({ empty, other })
  }
  return found
}

/** Reports SOA records: the settings of the zone define the SOA. */
export function soaInDefinition({ ofType }: ZoneIndex): Finding[] {
  return ofType('SOA').map((soa) => ({
    message: `${soa.name} SOA: the settings of the zone define the SOA, not a record`,
    at: soa.at,
    hint: 'remove the record and write soa_email, refresh_sec, retry_sec and expire_sec above the records',
  }))
}

/** Reports records of the definition that its own `unmanaged` selectors match. */
export function unmanagedCollision({ zone }: ZoneIndex): Finding[] {
  if (zone.unmanaged.length === 0) return []
  const test = unmanagedTest(zone.unmanaged, zone.name)
  return zone.records.filter(test).map((record) => {
    const selector = zone.unmanaged.find((one) => unmanagedTest([one], zone.name)(record))
    return {
      message: `${record.name} ${record.type} is in the definition, but a selector of "unmanaged" matches it`,
      at: record.at,
      hint: 'remove the record, or narrow the selector',
      ...(selector?.at && { related: [{ message: 'the selector', at: selector.at }] }),
    }
  })
}
