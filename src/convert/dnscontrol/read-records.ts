import type { ImportedRecord } from '../../definition/imported-zone.ts'
import { presentationTokens } from '../../definition/parse/presentation-tokens.ts'
import { octetsToTxtRdata, txtRdataToOctets } from '../../dns/character-string.ts'
import type { Diagnostic, SourcePosition } from '../../dns/diagnostic.ts'
import { type DomainName, isAtOrBelow, parseDomainName } from '../../dns/domain-name.ts'
import { restoreMailboxCase } from '../../dns/mailbox.ts'
import { canonicalRdata } from '../../dns/rdata/canonical.ts'
import type { Token } from '../../dns/rdata/field.ts'
import { RDATA_TYPES } from '../../dns/rdata/rdata-types.ts'
import { failure, ok, type Result } from '../../dns/result.ts'
import { type Ttl, ttlFromSeconds } from '../../dns/ttl.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'

/**
 * Data of a record in DNSControl's intermediate JSON (its models/record.go). DNSControl 4 has a field of its own for each part of each
 * type, zero left out; DNSControl 5 has `rdata`, what a zone file has, and before that was so `comparablev3`, the same but for the serial.
 */
/**
 * The parts of each type before or after `target`, by their fields; `"` marks a string, in which DNSControl has escapes as a zone file
 * has them, `#` a number, which is 0 where it is absent.
 */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  MX: ['#mxpreference', 'target'],
  SRV: ['#srvpriority', '#srvweight', '#srvport', 'target'],
  CAA: ['#caaflag', 'caatag', '"target'],
  DS: ['#dskeytag', '#dsalgorithm', '#dsdigesttype', 'dsdigest'],
  DNSKEY: ['#dnskeyflags', '#dnskeyprotocol', '#dnskeyalgorithm', 'dnskeypublickey'],
  NAPTR: ['#naptrorder', '#naptrpreference', '"naptrflags', '"naptrservice', '"naptrregexp', 'target'],
  SOA: ['target', 'soambox', '#soaserial', '#soarefresh', '#soaretry', '#soaexpire', '#soaminttl'],
  SSHFP: ['#sshfpalgorithm', '#sshfpfingerprint', 'target'],
  TLSA: ['#tlsausage', '#tlsaselector', '#tlsamatchingtype', 'target'],
  SMIMEA: ['#smimeausage', '#smimeaselector', '#smimeamatchingtype', 'target'],
}

/** Types whose one field is `target`, as one word. */
const TARGET_ONLY: ReadonlySet<string> = new Set('A AAAA ALIAS CNAME DHCID DNAME NS OPENPGPKEY PTR'.split(' '))

/** Fields with what a zone file has of a record, one of them with DNSControl's slip of the pen. */
const PRESENTATIONS = ['rdata', 'comparablev3', 'zonefilepartial', 'zonfefilepartial']

/** Fields of a record that hold parts of its data, of every type. */
const DATA_FIELDS: ReadonlySet<string> = new Set([
  'target',
  'txtstrings',
  'svcpriority',
  'svcparams',
  ...PRESENTATIONS,
  ...Object.values(FIELDS).flatMap((fields) => fields.map((field) => field.replace(/^[#"]/, ''))),
  ...'locversion locsize lochorizpre locvertpre loclatitude loclongitude localtitude'.split(' '),
])

/** The canonical data of a record of a type that is known here. Names without a dot at their end belong to `origin`. */
function rdataOfRecord(type: string, record: JsonObject, origin: DomainName): Result<string> {
  if (type === 'TXT') return textOf(record)
  if (isObject(record['rdata']) && presentationOf(record) === null) return failure('its rdata is not the text of a zone file')
  const tokens = tokensOf(type, record)
  if (!tokens.ok) return tokens
  if (type === 'SOA') return soaOf(tokens.value, origin)
  return canonicalRdata(type, tokens.value, (text) => parseDomainName(text, origin))
}

/** Data of an SOA record, its mailbox with the capital letters it has. */
function soaOf(tokens: readonly Token[], origin: DomainName): Result<string> {
  const mailbox = mailboxText(tokens[1]?.text ?? '')
  const whole = tokens.map((token, i) => (i === 1 ? word(mailbox) : token))
  const data = canonicalRdata('SOA', whole, (text) => parseDomainName(text, origin))
  return data.ok ? ok(restoreMailboxCase(data.value, mailbox)) : data
}

/** Data that are none of the type, in the words they have. */
function wordsOfRecord(type: string, record: JsonObject): string {
  const presentation = presentationOf(record)
  if (presentation !== null) return presentation
  const fields = FIELDS[type] ?? ['target']
  return fields
    .map((field) => (field.startsWith('#') ? numberField(record, field.slice(1)) : textField(record, field.replace(/^"/, ''))))
    .join(' ')
    .trim()
}

/** The text of a TXT record: its strings, its target, or in the newest form what a zone file has of it. */
function textOf(record: JsonObject): Result<string> {
  const { txtstrings, target } = record
  const text = Array.isArray(txtstrings) ? txtstrings.join('') : target
  const presentation = presentationOf(record)
  if (typeof text === 'string' && (text !== '' || presentation === null)) return ok(octetsToTxtRdata(Buffer.from(text, 'utf8')))
  if (presentation === null) return failure('has no text')
  const tokens = presentationTokens(presentation)
  const data = tokens.ok ? canonicalRdata('TXT', tokens.value, () => failure('has no names')) : tokens
  return data.ok ? ok(octetsToTxtRdata(txtRdataToOctets(data.value))) : data
}

/** What a zone file has of the record; null where that is not said. */
function presentationOf(record: JsonObject): string | null {
  for (const key of PRESENTATIONS) {
    const text = record[key]
    if (typeof text === 'string' && text !== '') return record['type'] === 'SOA' ? text.replace(/^(\S+ \S+) X /, '$1 0 ') : text
  }
  return null
}

/** The mailbox of an SOA record. DNSControl completes it with nothing, whether or not it ends in a dot, and takes an address as well. */
function mailboxText(text: string): string {
  const [, local, domain] = /^([^@\\]+)@(.+)$/.exec(text) ?? []
  const name = local === undefined ? text : `${local.replaceAll('.', '\\.')}.${domain}`
  return name.includes('.') && !name.endsWith('.') ? `${name}.` : name
}

function tokensOf(type: string, record: JsonObject): Result<Token[]> {
  const fields = FIELDS[type]
  const presentation = presentationOf(record)
  if (presentation !== null) return presentationTokens(presentation)
  if (fields !== undefined) return ok(fields.map((field) => fieldToken(field, record)))
  const target = textField(record, 'target')
  if (TARGET_ONLY.has(type)) return ok([word(target)])
  if (type === 'SVCB' || type === 'HTTPS') {
    const params = presentationTokens(textField(record, 'svcparams'))
    return params.ok ? ok([word(numberField(record, 'svcpriority')), word(target), ...params.value]) : params
  }
  return presentationTokens(type === 'LOC' && typeof record['loclatitude'] === 'number' ? locationOf(record) : target)
}

/** A location of its numbers (RFC 1876 section 2), which DNSControl holds; `target` is only what was written. */
function locationOf(record: JsonObject): string {
  const number = (key: string): number => Number(numberField(record, key))
  const angle = (key: string, hemispheres: string): string => {
    const thousandths = Math.abs(number(key) - 2 ** 31)
    const seconds = (thousandths % 60_000) / 1000
    const direction = hemispheres[number(key) < 2 ** 31 ? 1 : 0]
    return `${Math.floor(thousandths / 3_600_000)} ${Math.floor(thousandths / 60_000) % 60} ${seconds.toFixed(3)} ${direction}`
  }
  const metres = (key: string): string => `${(((number(key) >> 4) * 10 ** (number(key) & 15)) / 100).toFixed(2)}m`
  const altitude = `${(number('localtitude') / 100 - 100_000).toFixed(2)}m`
  const precisions = [metres('locsize'), metres('lochorizpre'), metres('locvertpre')].join(' ')
  return `${angle('loclatitude', 'NS')} ${angle('loclongitude', 'EW')} ${altitude} ${precisions}`
}

function fieldToken(field: string, record: JsonObject): Token {
  const key = field.replace(/^[#"]/, '')
  if (field.startsWith('#')) return word(numberField(record, key))
  return field.startsWith('"') ? { text: quotable(textField(record, key)), quoted: true } : word(textField(record, key))
}

/** Text as it may stand between quotes: its escapes are kept, what is none (`\1`) is what it looks like. */
const quotable = (text: string): string =>
  text.replace(/\\(?:[01][0-9]{2}|2[0-4][0-9]|25[0-5]|[^0-9])|[\\"]/gs, (part) => (part.length === 1 ? `\\${part}` : part))

const word = (text: string): Token => ({ text, quoted: false })

const textField = (record: JsonObject, key: string): string => (typeof record[key] === 'string' ? record[key] : '')

const numberField = (record: JsonObject, key: string): string =>
  String(typeof record[key] === 'number' ? record[key] : (record[key] ?? 0)).slice(0, 20)

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

export type JsonObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)

/** What the readers of a configuration share. */
export interface Run {
  readonly at: SourcePosition
  readonly diagnostics: Diagnostic[]
  readonly fail: (code: Diagnostic['code'], message: string) => void
}

/** A record whose name and type are known, and whose data or TTL no definition can have. */
export interface UnsupportedRecord {
  /** Its data as they stand; what is not printable ASCII of them is `*`. */
  readonly record: ImportedRecord
  /** Why, in words that follow its data. */
  readonly why: string
}

/** Data as they stand, for a message and for a selector of them. */
export const plainData = (text: string): string => text.slice(0, 1000).replace(/[^ -~]+/g, '*')

/** A key from outside as part of a message: short and on one line. */
export const shownKey = (key: string): string => (/^[\w.-]{1,255}$/.test(key) ? key : JSON.stringify(key.slice(0, 60)))

/** What DNSControl gives records without a TTL (its models/record.go). */
export const DEFAULT_TTL = 300 as Ttl
