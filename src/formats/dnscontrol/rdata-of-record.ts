/** Data of a record in DNSControl's intermediate JSON (its models/record.go): a field of its own for each part of each type, zero left out. */
import { rdataToText, textToRdata } from '../../model/character-string.ts'
import { type DomainName, parseDomainName } from '../../model/domain-name.ts'
import { canonicalRdata } from '../../model/rdata/canonical.ts'
import type { Token } from '../../model/rdata/token.ts'
import { fault, ok, type Result } from '../../model/result.ts'
import { presentationTokens } from '../definition/presentation-tokens.ts'
import type { JsonObject } from './json-input.ts'

/** The parts of each type before or after `target`, by their fields; `"` marks a string, `#` a number, which is 0 where it is absent. */
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

/** Fields of a record that hold parts of its data, of every type. */
export const DATA_FIELDS: ReadonlySet<string> = new Set([
  'target',
  'txtstrings',
  'svcpriority',
  'svcparams',
  ...Object.values(FIELDS).flatMap((fields) => fields.map((field) => field.replace(/^[#"]/, ''))),
  ...'locversion locsize lochorizpre locvertpre loclatitude loclongitude localtitude'.split(' '),
])

/** The canonical data of a record of a type that is known here. Names without a dot at their end belong to `origin`. */
export function rdataOfRecord(type: string, record: JsonObject, origin: DomainName): Result<string> {
  if (type === 'TXT') return textOf(record)
  const tokens = tokensOf(type, record)
  return tokens.ok ? canonicalRdata(type, tokens.value, (text) => parseDomainName(text, origin)) : tokens
}

/** The text of a TXT record: its strings, its target, or in the newest form what a zone file has of it. */
function textOf(record: JsonObject): Result<string> {
  const { txtstrings, target } = record
  const text = Array.isArray(txtstrings) ? txtstrings.join('') : target
  const presentation = presentationOf(record)
  if (typeof text === 'string' && (text !== '' || presentation === null)) return ok(textToRdata(Buffer.from(text, 'utf8')))
  if (presentation === null) return fault('has no text')
  const tokens = presentationTokens(presentation)
  const data = tokens.ok ? canonicalRdata('TXT', tokens.value, () => fault('has no names')) : tokens
  return data.ok ? ok(textToRdata(rdataToText(data.value))) : data
}

/** What a zone file has of newer types, under a name with or without DNSControl's slip of the pen; null where that is not said. */
function presentationOf(record: JsonObject): string | null {
  const text = record['zonefilepartial'] ?? record['zonfefilepartial']
  return typeof text === 'string' && text !== '' ? text : null
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
  return presentationTokens(target)
}

function fieldToken(field: string, record: JsonObject): Token {
  const key = field.replace(/^[#"]/, '')
  if (field.startsWith('#')) return word(numberField(record, key))
  // What stands between quotes is taken as it is.
  return field.startsWith('"') ? { text: textField(record, key).replace(/[\\"]/g, '\\$&'), quoted: true } : word(textField(record, key))
}

const word = (text: string): Token => ({ text, quoted: false })

const textField = (record: JsonObject, key: string): string => (typeof record[key] === 'string' ? record[key] : '')

const numberField = (record: JsonObject, key: string): string =>
  String(typeof record[key] === 'number' ? record[key] : (record[key] ?? 0)).slice(0, 20)
