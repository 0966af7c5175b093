/** Reads the records of DNSControl's intermediate JSON (its models/record.go): one key per field, or the data in presentation form. */
import type { Diagnostic, SourcePosition } from '../../base/diagnostic.ts'
import { failure, ok, type Result } from '../../base/result.ts'
import { quoted } from '../../base/text.ts'
import type { ImportedRecord } from '../../definition/imported-zone.ts'
import { octetsToTxtRdata, txtRdataToOctets } from '../../dns/character-string.ts'
import { type DomainName, isAtOrBelow, parseDomainName, relativeName } from '../../dns/domain-name.ts'
import { restoreMailboxCase } from '../../dns/mailbox.ts'
import { canonicalRdata, parseRdata } from '../../dns/rdata/canonical.ts'
import type { Token } from '../../dns/rdata/field.ts'
import { presentationTokens } from '../../dns/rdata/field.ts'
import { RDATA_TYPES } from '../../dns/rdata/rdata-types.ts'
import { parseRecordType } from '../../dns/record-type.ts'
import { type Ttl, ttlFromSeconds } from '../../dns/ttl.ts'
import type { UnmanagedSelector } from '../../dns/zone.ts'
import { isObject, type JsonObject, positionOf } from '../../programs/dnscontrol/json-object.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'

/** The results that `readRecords` adds to. */
export interface DomainContext extends ReadContext {
  readonly zone: DomainName
  /** Features that no definition can express. */
  readonly dropped: UnsupportedFeature[]
  /** Records with invalid data. */
  readonly invalidRecords: InvalidRecord[]
  /** Whether Cloudflare proxies records that do not say so (`CF_PROXY_DEFAULT_ON`). */
  readonly isProxied: boolean
  /** Selectors of what DNSControl manages and no definition can express: plans leave it alone. */
  readonly kept: UnmanagedSelector[]
}

/** Reads the records of a domain. Adds unsupported ones to `dropped` and malformed ones to `invalidRecords`. */
export function readRecords(records: unknown, context: DomainContext): ImportedRecord[] {
  if (records === undefined || records === null) return []
  if (!Array.isArray(records)) {
    context.fail('schema-type', `${context.zone}: records must be a list`)
    return []
  }
  const aliases = new Set<string>()
  return records.flatMap((record) => {
    if (!isObject(record)) {
      context.fail('schema-type', `${context.zone}: a record must be an object`)
      return []
    }
    const read = readRecord(aliasOf(record) ?? record, context)
    // One ALIAS record stands for the types A and AAAA.
    const key = read?.type === 'ALIAS' ? `${read.name} ${read.data}` : null
    if (read === null || (key !== null && aliases.has(key))) return []
    if (key !== null) aliases.add(key)
    return [read]
  })
}

/** An alias of Route 53 of type A or AAAA as an ALIAS record, whose TTL Route 53 does not have; null for other records. */
function aliasOf({ r53_alias: alias, ...record }: JsonObject): JsonObject | null {
  const isAlias = isObject(alias) && /^(?:A|AAAA)$/.test(textField(alias, 'type')) && !isWeighted(record)
  return record['type'] === 'R53_ALIAS' && isAlias ? { ...record, type: 'ALIAS', ttl: ALIAS_TTL } : null
}

/** The TTL in seconds that plans show for aliases of Route 53. */
const ALIAS_TTL = 60

const isWeighted = ({ meta }: JsonObject): boolean => isObject(meta) && meta['r53_set_identifier'] !== undefined

/** Whether metadata turns Cloudflare's proxy on. */
export const isProxyOn = (value: unknown): boolean => /^(?:on|full)$/i.test(String(value))

/** Types that Cloudflare proxies. */
const PROXIED_TYPES: ReadonlySet<unknown> = new Set(['A', 'AAAA', 'ALIAS', 'CNAME'])

/** `CF_PROXY_ON` (`full` once also meant Railgun), `CF_COMMENT` and `CF_TAGS`, whose texts are empty if there is none. */
function cloudflareSettings({ type, meta }: JsonObject, isProxied: boolean): Pick<ImportedRecord, 'providerSettings'> {
  const textOf = (key: string): string => (isObject(meta) ? String(meta[key] ?? '') : '')
  const [comment, tags] = [textOf('cloudflare_comment'), textOf('cloudflare_tags')]
  const settings = {
    ...(isProxyOn(textOf('cloudflare_proxy') || (isProxied && PROXIED_TYPES.has(type) ? 'on' : '')) && { proxied: true }),
    ...(comment !== '' && { comment }),
    ...(tags !== '' && { tags: tags.split(',') }),
  }
  return Object.keys(settings).length === 0 ? {} : { providerSettings: { cloudflare: settings } }
}

function readRecord(record: JsonObject, context: DomainContext): ImportedRecord | null {
  const { zone, dropped } = context
  const label = String(record['name'] ?? '@')
  const type = String(record['type'] ?? '')
  const at = positionOf(record['filepos'], context.at)
  const place = at === context.at && typeof record['filepos'] === 'string' ? ` (dnsconfig.js ${record['filepos'].slice(0, 40)})` : ''
  const name = parseDomainName(label === '' ? '@' : label, zone)
  if (!name.ok || !isAtOrBelow(name.value, zone)) {
    const reason = name.ok ? 'the name is not in the zone' : name.message
    dropped.push({
      zone,
      name: null,
      type: null,
      what: `the record ${displayKey(label)} ${displayKey(type)}${place}: ${reason}`,
      at,
    })
    return null
  }
  const drop = (what: string, keepsRecords = false): void =>
    void dropped.push({ zone, name: name.value, type: type === '' ? null : displayKey(type), what, at, keepsRecords })
  const weighted = isWeighted(record)
  if (!RDATA_TYPES.has(type) || weighted) {
    const what = weighted ? 'a weighted record' : `a record of DNSControl's type ${displayKey(type)}`
    drop(`${what}, with the target ${quoted(String(record['target'] ?? ''))}`)
    const owner = relativeName(name.value, zone).replaceAll('*', '\\*') || '@'
    context.kept.push(...keptTypes(type, record, weighted).map((kept) => ({ name: owner, type: kept })))
    return null
  }
  if (record['ensure_absent'] === true) {
    drop('a record that ENSURE_ABSENT_REC deletes', true)
    return null
  }
  for (const key of Object.keys(record)) if (!IGNORED_KEYS.has(key)) drop(`the field ${displayKey(key)}`)
  for (const [key, value] of Object.entries(isObject(record['meta']) ? record['meta'] : {})) {
    const isKnownProxy = key === 'cloudflare_proxy' && /^(?:on|full|off)$/i.test(String(value))
    if (!IGNORED_METADATA.has(key) && !isKnownProxy)
      drop(`the metadata ${displayKey(key)}${/key|token|secret/i.test(key) ? '' : ` (${quoted(String(value))})`}`, true)
  }
  const data = readRdata(type, record, originOf(record['subdomain'], zone))
  const seconds = record['ttl'] ?? 0
  const ttl = ttlFromSeconds(typeof seconds === 'number' ? seconds || DEFAULT_TTL : Number.NaN)
  if (data.ok && ttl.ok)
    return { name: name.value, type, ttl: ttl.value, data: data.value, at, ...cloudflareSettings(record, context.isProxied) }
  const reason = data.ok ? (ttl.ok ? '' : ttl.message) : data.message
  const text = data.ok ? data.value : printableData(rawData(type, record))
  context.invalidRecords.push({ record: { name: name.value, type, ttl: null, data: text, at }, reason: `${reason}${place}` })
  return null
}

/** The types of the records that a record of DNSControl's own type has at its provider. Redirects and rules are no records. */
function keptTypes(type: string, record: JsonObject, weighted: boolean): readonly string[] {
  if (weighted && RDATA_TYPES.has(type)) return [type]
  const alias = record['r53_alias'] ?? record['azure_alias']
  if (isObject(alias)) return parseRecordType(textField(alias, 'type')).ok ? [textField(alias, 'type')] : []
  return /^(?:AKAMAI|BUNNY_DNS|CLOUDNS_WR|FRAME|NS1_URLFWD|PORKBUN_URLFWD|URL)/.test(type) ? ['A', 'AAAA', 'CNAME'] : []
}

/** The origin for relative names in data: the subdomain that `D_EXTEND` has added, or the zone. */
function originOf(subdomain: unknown, zone: DomainName): DomainName {
  const name = typeof subdomain === 'string' && subdomain !== '' ? parseDomainName(subdomain, zone) : null
  return name?.ok && isAtOrBelow(name.value, zone) ? name.value : zone
}

/** The fields of each type in order. `"` marks a string with the escapes of a zone file, `#` a number that is 0 if absent. */
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

/** Types whose data is one token, in `target`. */
const TARGET_ONLY: ReadonlySet<string> = new Set('A AAAA ALIAS CNAME DHCID DNAME NS OPENPGPKEY PTR'.split(' '))

/** Fields with data in presentation form, one of them misspelled by DNSControl. */
const PRESENTATIONS = ['rdata', 'comparablev3', 'zonefilepartial', 'zonfefilepartial']

/** All fields that contain record data, of any type. */
const DATA_FIELDS: ReadonlySet<string> = new Set([
  'target',
  'txtstrings',
  'svcpriority',
  'svcparams',
  'luartype',
  ...PRESENTATIONS,
  ...Object.values(FIELDS).flatMap((fields) => fields.map((field) => field.replace(/^[#"]/, ''))),
  ...'locversion locsize lochorizpre locvertpre loclatitude loclongitude localtitude'.split(' '),
])

/** Reads the canonical data of a record of a known type. Relative names are completed with `origin`. */
function readRdata(type: string, record: JsonObject, origin: DomainName): Result<string> {
  if (type === 'TXT') return readTxtRdata(record)
  if (isObject(record['rdata']) && presentationOf(record) === null) return failure('its rdata is not in presentation form')
  const tokens = readTokens(type, record)
  if (!tokens.ok) return tokens
  if (type === 'SOA') return readSoaRdata(tokens.value, origin)
  return canonicalRdata(type, tokens.value, (text) => parseDomainName(text, origin))
}

/** Reads SOA data and keeps the case of the mailbox. */
function readSoaRdata(tokens: readonly Token[], origin: DomainName): Result<string> {
  const mailbox = mailboxText(tokens[1]?.text ?? '')
  const corrected = tokens.map((token, i) => (i === 1 ? word(mailbox) : token))
  const data = canonicalRdata('SOA', corrected, (text) => parseDomainName(text, origin))
  return data.ok ? ok(restoreMailboxCase(data.value, mailbox)) : data
}

/** The unparsed data of a record, for a message. */
function rawData(type: string, record: JsonObject): string {
  const presentation = presentationOf(record)
  if (presentation !== null) return presentation
  const fields = FIELDS[type] ?? ['target']
  return fields
    .map((field) => (field.startsWith('#') ? numberField(record, field.slice(1)) : textField(record, field.replace(/^"/, ''))))
    .join(' ')
    .trim()
}

/** Reads the text of a TXT record from its strings, its target or, in the newest format, its presentation form. */
function readTxtRdata(record: JsonObject): Result<string> {
  const { txtstrings, target } = record
  const text = Array.isArray(txtstrings) ? txtstrings.join('') : target
  const presentation = presentationOf(record)
  if (typeof text === 'string' && (text !== '' || presentation === null)) return ok(octetsToTxtRdata(Buffer.from(text, 'utf8')))
  if (presentation === null) return failure('it has no text')
  const data = parseRdata('TXT', presentation)
  return data.ok ? ok(octetsToTxtRdata(txtRdataToOctets(data.value))) : data
}

/** The presentation form of the record data; null if there is none. */
function presentationOf(record: JsonObject): string | null {
  for (const key of PRESENTATIONS) {
    const text = record[key]
    if (typeof text === 'string' && text !== '') return record['type'] === 'SOA' ? text.replace(/^(\S+ \S+) X /, '$1 0 ') : text
  }
  return null
}

/**
 * The mailbox of an SOA record as an absolute name. DNSControl never completes it, with or without a final dot, and accepts an e-mail
 * address too.
 */
function mailboxText(text: string): string {
  const [, local, domain] = /^([^@\\]+)@(.+)$/.exec(text) ?? []
  const name = local === undefined ? text : `${local.replaceAll('.', '\\.')}.${domain}`
  return name.includes('.') && !name.endsWith('.') ? `${name}.` : name
}

function readTokens(type: string, record: JsonObject): Result<Token[]> {
  const fields = FIELDS[type]
  const presentation = presentationOf(record)
  if (presentation !== null) return presentationTokens(presentation)
  if (fields !== undefined) return ok(fields.map((field) => fieldToken(field, record)))
  const target = textField(record, 'target')
  if (TARGET_ONLY.has(type)) return ok([word(target)])
  if (type === 'LUA') return presentationTokens(`${textField(record, 'luartype')} ${octetsToTxtRdata(Buffer.from(target, 'utf8'))}`)
  if (type === 'SVCB' || type === 'HTTPS') {
    const params = presentationTokens(textField(record, 'svcparams'))
    return params.ok ? ok([word(numberField(record, 'svcpriority')), word(target), ...params.value]) : params
  }
  return presentationTokens(type === 'LOC' && typeof record['loclatitude'] === 'number' ? locationOf(record) : target)
}

/** A location from its numeric fields (RFC 1876 section 2); `target` is only the original text. */
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
  return field.startsWith('"') ? { text: escapeQuotes(textField(record, key)), quoted: true } : word(textField(record, key))
}

/** Escapes quotation marks and stray backslashes. Keeps valid escapes. */
const escapeQuotes = (text: string): string =>
  text.replace(/\\(?:[01][0-9]{2}|2[0-4][0-9]|25[0-5]|[^0-9])|[\\"]/gs, (part) => (part.length === 1 ? `\\${part}` : part))

const word = (text: string): Token => ({ text, quoted: false })

const textField = (record: JsonObject, key: string): string => (typeof record[key] === 'string' ? record[key] : '')

const numberField = (record: JsonObject, key: string): string =>
  String(typeof record[key] === 'number' ? record[key] : (record[key] ?? 0)).slice(0, 20)

/** Keys that are read elsewhere, describe where the record came from, or repeat its data. */
const IGNORED_KEYS: ReadonlySet<string> = new Set([
  ...'type typenum name ttl meta subdomain filepos name_raw name_unicode comparable fields'.split(' '),
  ...DATA_FIELDS,
])

/** Metadata for DNSControl's internal use. */
const IGNORED_METADATA: ReadonlySet<string> = new Set([
  'cloudflare_comment',
  'cloudflare_tags',
  'flatten',
  'import_transform_skip',
  'orig_custom_type',
  'overhead1',
  'skip_fqdn_check',
  'split',
  'transform',
  'txtMaxSize',
  'txtSplitAlgorithm',
])

/** State shared by the readers of a config. */
export interface ReadContext {
  readonly at: SourcePosition
  readonly diagnostics: Diagnostic[]
  readonly fail: (code: Diagnostic['code'], message: string) => void
}

/** A record with a valid name and type, but with data or a TTL that no definition can contain. */
export interface InvalidRecord {
  /** Its unparsed data, with `*` for everything except printable ASCII. */
  readonly record: ImportedRecord
  /** The reason, worded to follow its data. */
  readonly reason: string
}

/** Unparsed data for a message and for a selector that matches it. */
export const printableData = (text: string): string => text.slice(0, 1000).replace(/[^ -~]+/g, '*')

/** A key from the input for a message: short and on one line. */
export const displayKey = (key: string): string => (/^[\w.-]{1,255}$/.test(key) ? key : quoted(key))

/** The TTL that DNSControl gives to records without one (its models/record.go). */
export const DEFAULT_TTL = 300 as Ttl
