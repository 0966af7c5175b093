/** Prints record values as octoDNS does. */
import { failure, ok, type Result } from '../../base/result.ts'
import { txtRdataToOctets, unescapeString } from '../../dns/character-string.ts'
import { rdataFields } from '../../dns/rdata/canonical.ts'
import { RDATA_TYPES } from '../../dns/rdata/rdata-types.ts'
import { svcParamKey, svcParamName } from '../../dns/rdata/svc-param-forms.ts'
import { parseSvcParams, type SvcParam } from '../../dns/rdata/svc-params.ts'
import { LOCATION_KEYS } from '../parse/value-forms.ts'
import { isUnambiguousText } from '../yaml/plain-scalars.ts'
import { compareNatural } from './natural-order.ts'

/** A value of an octoDNS file. A number is printed as given, so `0.50` stays `0.50`. */
export type YamlValue = string | number | boolean | null | readonly YamlValue[] | YamlMap
export interface YamlMap {
  readonly [key: string]: YamlValue
}

/** Record types of octoDNS itself (octodns/record/, version 1.22). Its providers define the others. */
export const OCTODNS_TYPES: ReadonlySet<string> = new Set(
  'A AAAA ALIAS CAA CNAME DNAME DS HTTPS LOC MX NAPTR NS OPENPGPKEY PTR SPF SRV SSHFP SVCB TLSA TXT URI URLFWD'.split(' '),
)

/** Types with a single value in octoDNS, never a list. */
export const SINGLE_VALUE_TYPES: ReadonlySet<string> = new Set(['ALIAS', 'CNAME', 'DNAME'])

/** One value of a record type of octoDNS as YAML; a failure names the part that octoDNS cannot represent. `data` is canonical. */
export function octodnsValue(type: string, data: string): Result<YamlValue> {
  if (data.startsWith('\\#')) return failure('data in the generic form of RFC 3597')
  switch (type) {
    case 'TXT':
    case 'SPF':
      return textValue(data)
    case 'LOC':
      return ok(locationValue(data))
    case 'SVCB':
    case 'HTTPS':
      return serviceValue(data)
    case 'URI':
      return uriValue(data)
    case 'NAPTR':
      return naptrValue(data)
    default:
      return ok(plainValue(type, data))
  }
}

function plainValue(type: string, data: string): YamlValue {
  const { fields } = RDATA_TYPES.get(type) as { fields: readonly { key: string; kind: string }[] }
  const texts = rdataFields(data)
  if (fields.length === 1) return texts.join('')
  const value: Record<string, YamlValue> = {}
  for (const [i, { key, kind }] of fields.entries()) {
    const text = texts[i] ?? ''
    if (kind === 'script') {
      // The last field: all strings of the rdata that are left.
      value[key] = Buffer.from(txtRdataToOctets(texts.slice(i).join(' '))).toString('utf8')
      continue
    }
    value[key] = /^u\d|^algorithm$/.test(kind) ? Number(text) : withoutQuotes(text)
  }
  return value
}

/** The text between the quotes of a string, escapes included: octoDNS passes it to zone files and providers unchanged. */
const withoutQuotes = (text: string): string => (text.startsWith('"') ? text.slice(1, -1) : text)

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * The text of a TXT value as octoDNS reads it (record/chunked.py): `\;` means `;`, `" "` is removed as the joint of two strings, and a text that begins
 * with a quote loses its first and last character.
 */
function textValue(data: string): Result<string> {
  let text: string
  try {
    text = UTF8.decode(txtRdataToOctets(data))
  } catch {
    return failure('octets that are not UTF-8 text')
  }
  const joined = text.replaceAll(';', '\\;').replace(/"(?= ")/g, '"" "')
  return ok(joined.startsWith('"') ? `"${joined}"` : joined)
}

function locationValue(data: string): YamlMap {
  const texts = data.split(' ')
  return Object.fromEntries(
    LOCATION_KEYS.map((key, i) => {
      const text = (texts[i] ?? '').replace(/m$/, '')
      return [key, key.endsWith('_direction') ? text : Number(text)]
    }),
  )
}

/** octoDNS converts URIs to lower case. */
function uriValue(data: string): Result<YamlValue> {
  const value = plainValue('URI', data) as { readonly target: string }
  return value.target === value.target.toLowerCase()
    ? ok(value)
    : failure('capital letters in the URI, which octoDNS converts to lower case')
}

/** octoDNS converts NAPTR flags to upper case. Their case has no meaning (RFC 3403 section 4.1), but the data differs. */
function naptrValue(data: string): Result<YamlValue> {
  const value = plainValue('NAPTR', data) as { readonly flags: string }
  return value.flags === value.flags.toUpperCase() ? ok(value) : failure('small letters in the flags, which octoDNS converts to upper case')
}

/** The highest service parameter key that octoDNS knows by name. */
const LAST_NAMED_KEY = 6

/** The key `ech`: octoDNS 1.22 crashes on every value of it. */
const ECH = 5
const MANDATORY = 0
const PORT = 3
const LISTS: ReadonlySet<number> = new Set([MANDATORY, 1, 4, 6])

/** Characters that octoDNS, which does not escape values, can write to a zone file. */
const BARE = /^[!#-'*+./0-:<-[\]-~-]+$/

function serviceValue(data: string): Result<YamlValue> {
  const [priority = '', target = '', ...tokens] = rdataFields(data)
  const params = parseSvcParams(tokens)
  if (!params.ok) return params
  const svcparams: Record<string, YamlValue> = {}
  for (const [i, param] of params.value.entries()) {
    const value = param.key > LAST_NAMED_KEY ? genericParam(param) : namedParam(param.key, tokens[i] ?? '')
    if (!value.ok) return failure(`the service parameter ${svcParamName(param.key)}`)
    svcparams[paramName(param.key)] = value.value
  }
  const value: Record<string, YamlValue> = { svcpriority: Number(priority), targetname: target }
  if (tokens.length > 0) value['svcparams'] = svcparams
  return ok(value)
}

const paramName = (key: number): string => (key > LAST_NAMED_KEY ? `key${key}` : svcParamName(key))

/** A parameter named by its number: its octets as text (RFC 9460 section 2.1). */
function genericParam({ value }: SvcParam): Result<YamlValue> {
  if (value.length === 0) return ok(null)
  const text = Buffer.from(value).toString('latin1')
  return BARE.test(text) ? ok(text) : failure('')
}

function namedParam(key: number, token: string): Result<YamlValue> {
  const cut = token.indexOf('=')
  if (cut === -1) return ok(null)
  if (key === ECH) return failure('')
  const octets = unescapeString(withoutQuotes(token.slice(cut + 1)))
  const text = octets.ok ? Buffer.from(octets.value).toString('latin1') : ''
  if (!text.split(',').every((item) => BARE.test(item))) return failure('')
  if (key === MANDATORY) return ok(text.split(',').map(mandatoryName))
  return ok(LISTS.has(key) ? text.split(',') : key === PORT ? Number(text) : text)
}

/** octoDNS accepts unknown keys only as numbers. */
function mandatoryName(name: string): string {
  const key = svcParamKey(name)
  return key === null ? name : paramName(key)
}

// Prints YAML as octoDNS requires it.

/** Prints a mapping as block YAML with `indent`, its keys in the order that octoDNS's `enforce_order` requires at every depth. */
export function printMap(map: YamlMap, indent: string): string {
  let text = ''
  for (const key of Object.keys(map).sort(compareNatural)) text += `${indent}${printText(key)}:${printBelow(map[key] ?? null, indent)}`
  return text
}

/** Prints what follows a key: a scalar on its line, or a collection on the lines below. Lists are not indented, as octoDNS writes them. */
function printBelow(value: YamlValue, indent: string): string {
  if (value === null) return ' null\n'
  if (typeof value === 'string') return ` ${printText(value)}\n`
  if (typeof value !== 'object') return ` ${value}\n`
  if (isList(value)) return value.length === 0 ? ' []\n' : `\n${value.map((item) => printItem(item, indent)).join('')}`
  return Object.keys(value).length === 0 ? ' {}\n' : `\n${printMap(value, `${indent}  `)}`
}

function printItem(item: YamlValue, indent: string): string {
  if (item === null || typeof item !== 'object' || isList(item) || Object.keys(item).length === 0)
    return `${indent}-${printBelow(item, `${indent}  `)}`
  return `${indent}- ${printMap(item, `${indent}  `).slice(indent.length + 2)}`
}

const isList = (value: YamlValue): value is readonly YamlValue[] => Array.isArray(value)

/** Text that every reader accepts without quotes, in block and flow style. */
const PLAIN = /^[A-Za-z0-9_/.=~](?:[A-Za-z0-9_/.=~+@$-]|:(?=[A-Za-z0-9])| (?=[A-Za-z0-9_/.=~+@$-]))*$/

/** Printable text that is safe between single quotes. */
const QUOTABLE = /^[\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff\u0370-\u058f\u3040-\ud7ff]*$/

/** Prints text as a one-line YAML scalar that readers of YAML 1.1 (PyYAML, which octoDNS uses) and 1.2 both read as that text. */
export function printText(text: string): string {
  if (PLAIN.test(text) && isUnambiguousText(text)) return text
  return QUOTABLE.test(text) ? `'${text.replaceAll("'", "''")}'` : doubleQuoted(text)
}

function doubleQuoted(text: string): string {
  let printed = ''
  for (const character of text) {
    const code = character.codePointAt(0) as number
    if (character === '"' || character === '\\') printed += `\\${character}`
    else if (code >= 0x20 && code <= 0x7e) printed += character
    else if (code <= 0xff) printed += `\\x${hex(code, 2)}`
    else printed += code <= 0xffff ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`
  }
  return `"${printed}"`
}

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, '0')
