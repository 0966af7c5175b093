import type { ImportedRecord } from '../../definition/imported-zone.ts'
import { type DomainName, isAtOrBelow, parseDomainName } from '../../dns/domain-name.ts'
import { RDATA_TYPES } from '../../dns/rdata/rdata-types.ts'
import { ttlFromSeconds } from '../../dns/ttl.ts'
import type { UnsupportedFeature } from '../conversion.ts'
import { DEFAULT_TTL, isObject, type JsonObject, plainData, type Run, shownKey, type UnsupportedRecord } from './json-input.ts'
import { DATA_FIELDS, rdataOfRecord, wordsOfRecord } from './rdata-of-record.ts'

/** Keys of a record that say where it comes from, or the same once more. */
const IDLE_KEYS: ReadonlySet<string> = new Set([
  ...'type typenum name ttl meta subdomain filepos name_raw name_unicode comparable fields'.split(' '),
  ...DATA_FIELDS,
])

/** Metadata with which DNSControl speaks to itself. */
const IDLE_META: ReadonlySet<string> = new Set(['orig_custom_type', 'skip_fqdn_check', 'txtSplitAlgorithm'])

/** What is gathered of the records of a domain. */
export interface RecordsRun extends Run {
  readonly zone: DomainName
  /** What has no meaning here. */
  readonly dropped: UnsupportedFeature[]
  /** What has no data that are valid. */
  readonly unknownSettings: UnsupportedRecord[]
}

/** The records of a domain. */
export function readRecords(records: unknown, run: RecordsRun): ImportedRecord[] {
  if (records === undefined || records === null) return []
  if (!Array.isArray(records)) {
    run.fail('schema-type', `${run.zone}: records is a list`)
    return []
  }
  return records.flatMap((record) => {
    if (isObject(record)) return readRecord(record, run) ?? []
    run.fail('schema-type', `${run.zone}: a record is an object`)
    return []
  })
}

function readRecord(record: JsonObject, run: RecordsRun): ImportedRecord | null {
  const { zone, dropped } = run
  const label = String(record['name'] ?? '@')
  const type = String(record['type'] ?? '')
  const place = typeof record['filepos'] === 'string' ? ` (dnsconfig.js ${record['filepos'].slice(0, 40)})` : ''
  const name = parseDomainName(label === '' ? '@' : label, zone)
  if (!name.ok || !isAtOrBelow(name.value, zone)) {
    const why = name.ok ? 'the name is not in the zone' : name.message
    dropped.push({ zone, name: null, type: null, what: `the record ${shownKey(label)} ${shownKey(type)}${place}: ${why}`, at: run.at })
    return null
  }
  const lose = (what: string): void =>
    void dropped.push({ zone, name: name.value, type: type === '' ? null : shownKey(type), what, at: run.at })
  if (!RDATA_TYPES.has(type)) {
    lose(`a record of DNSControl's type ${shownKey(type)}, which leads to ${JSON.stringify(String(record['target'] ?? '').slice(0, 60))}`)
    return null
  }
  if (record['ensure_absent'] === true) {
    lose('a record that ENSURE_ABSENT_REC wants away')
    return null
  }
  for (const key of Object.keys(record)) if (!IDLE_KEYS.has(key)) lose(`the field ${shownKey(key)}`)
  for (const [key, value] of Object.entries(isObject(record['meta']) ? record['meta'] : {})) {
    const isUnproxied = key === 'cloudflare_proxy' && /^off$/i.test(String(value))
    if (!IDLE_META.has(key) && !isUnproxied) lose(`the metadata ${shownKey(key)} (${JSON.stringify(String(value).slice(0, 60))})`)
  }
  const data = rdataOfRecord(type, record, originOf(record['subdomain'], zone))
  const seconds = record['ttl'] ?? 0
  const ttl = ttlFromSeconds(typeof seconds === 'number' ? seconds || DEFAULT_TTL : Number.NaN)
  if (data.ok && ttl.ok) return { name: name.value, type, ttl: ttl.value, data: data.value, at: run.at }
  const why = data.ok ? (ttl.ok ? '' : ttl.message) : data.message
  const text = data.ok ? data.value : plainData(wordsOfRecord(type, record))
  run.unknownSettings.push({ record: { name: name.value, type, ttl: null, data: text, at: run.at }, why: `${why}${place}` })
  return null
}

/** What completes names in data: of a record that `D_EXTEND` has put below a subdomain, that. */
function originOf(subdomain: unknown, zone: DomainName): DomainName {
  const name = typeof subdomain === 'string' && subdomain !== '' ? parseDomainName(subdomain, zone) : null
  return name?.ok && isAtOrBelow(name.value, zone) ? name.value : zone
}
