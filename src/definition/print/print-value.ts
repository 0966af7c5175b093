/** Prints a record value as YAML. */
import { quoteString, splitIntoStrings, txtRdataToOctets, unescapeString } from '../../dns/character-string.ts'
import { type DomainName, isAtOrBelow, relativeName } from '../../dns/domain-name.ts'
import { rdataFields } from '../../dns/rdata/canonical.ts'
import { toGenericForm } from '../../dns/rdata/generic-form.ts'
import { type FieldKind, takesRest } from '../../dns/rdata/rdata-types.ts'
import { typeCode } from '../../dns/record-type.ts'
import { collectDiagnostics, newParseState } from '../parse/parse-state.ts'
import { readValue } from '../parse/read-value.ts'
import { type FormField, LOCATION_KEYS, valueForm } from '../parse/value-forms.ts'
import type { YamlData } from '../yaml/print-yaml.ts'
import type { YamlNode } from '../yaml/yaml-node.ts'

/**
 * The value of a record in our own layout; reading it returns the same data. Data without a better form becomes octets: `\# LENGTH HEX` (RFC 3597), or
 * zone-file text for TXT. `data` must be canonical.
 */
export function printValue(type: string, data: string, zone: DomainName): YamlData {
  if (data.startsWith('\\#')) return data
  const form = valueForm(type)
  switch (form.shape) {
    case 'text':
      return textValue(data)
    case 'scalar': {
      const value = fieldValue(form.kind, data, zone)
      return value !== null && (isPlainKind(form.kind) || readsAs(type, value, data, zone)) ? value : genericValue(type, data)
    }
    case 'mapping': {
      const value = mappingValue(form.fields, data, zone)
      return value !== null && readsAs(type, value, data, zone) ? value : genericValue(type, data)
    }
    case 'location': {
      const value = locationValue(data)
      return readsAs(type, value, data, zone) ? value : genericValue(type, data)
    }
    case 'service': {
      const value = serviceValue(data, zone)
      return value !== null && readsAs(type, value, data, zone) ? value : genericValue(type, data)
    }
    default:
      return readsAs(type, data, data, zone) ? data : genericValue(type, data)
  }
}

const isPlainKind = (kind: FieldKind): boolean => kind === 'ipv4' || kind === 'ipv6' || kind === 'name'

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function utf8(octets: Uint8Array): string | null {
  try {
    return UTF8.decode(octets)
  } catch {
    return null
  }
}

/** The text of TXT if reading it would split it into the same strings; otherwise zone-file text. */
function textValue(data: string): YamlData {
  const octets = txtRdataToOctets(data)
  const text = utf8(octets)
  if (text === null || splitIntoStrings(octets).map(quoteString).join(' ') !== data) return { rdata: data }
  return withBackslashes(text)
}

/** `\;` would be read as `;`. */
const withBackslashes = (text: string): string => (text.includes('\\;') ? text.replaceAll('\\;', '\\\\;') : text)

const NUMBERS: ReadonlySet<FieldKind> = new Set<FieldKind>(['u8', 'u16', 'u32', 'seconds', 'algorithm', 'certificate-type'])

function fieldValue(kind: FieldKind, text: string, zone: DomainName): YamlData | null {
  if (kind === 'name') return targetValue(text as DomainName, zone)
  if (NUMBERS.has(kind) && /^[0-9]+$/.test(text)) return Number(text)
  if (kind === 'script') return utf8(txtRdataToOctets(text))
  if (kind !== 'string' && kind !== 'optional-string' && kind !== 'text') return text
  if (text === '') return text
  const octets = unescapeString(text.slice(1, -1))
  const plain = octets.ok ? utf8(octets.value) : null
  return plain === null ? null : withBackslashes(plain)
}

/** A name of the zone as one label or `@` if possible; otherwise the absolute name. */
export function targetValue(name: DomainName, zone: DomainName): string {
  if (name === zone) return '@'
  if (!isAtOrBelow(name, zone)) return name
  const relative = relativeName(name, zone)
  return /^[a-z0-9_-]+$/.test(relative) ? relative : name
}

function mappingValue(fields: readonly FormField[], data: string, zone: DomainName): YamlData | null {
  const tokens = rdataFields(data)
  const value: Record<string, YamlData> = {}
  let next = 0
  for (const { key, kind } of fields) {
    const taken = takesRest(kind) ? tokens.slice(next) : tokens.slice(next, next + 1)
    next += taken.length
    if (taken.length === 0) continue
    const part = fieldValue(kind, taken.join(' '), zone)
    if (part === null) return null
    value[key] = part
  }
  return value
}

function locationValue(data: string): YamlData {
  const tokens = data.split(' ').map((token) => token.replace(/m$/, ''))
  return Object.fromEntries(LOCATION_KEYS.map((key, i) => [key, isNumeric(tokens[i]) ? Number(tokens[i]) : (tokens[i] ?? '')]))
}

const isNumeric = (text = ''): boolean => /^-?[0-9]+(?:\.[0-9]+)?$/.test(text)

/** Parameters with a list of values. */
const LISTS: ReadonlySet<string> = new Set(['alpn', 'ipv4hint', 'ipv6hint', 'mandatory'])

function serviceValue(data: string, zone: DomainName): YamlData | null {
  const [priority = '', target = '', ...params] = rdataFields(data)
  const svcparams: Record<string, YamlData> = {}
  for (const param of params) {
    const cut = param.indexOf('=')
    const key = cut === -1 ? param : param.slice(0, cut)
    const text = cut === -1 ? '' : param.slice(cut + 1)
    if (text.includes('\\') || text.includes('"')) return null
    svcparams[key] = LISTS.has(key) && text.includes(',') ? text.split(',') : text
  }
  return {
    svcpriority: Number(priority),
    targetname: target === '.' ? '.' : targetValue(target as DomainName, zone),
    ...(params.length > 0 && { svcparams }),
  }
}

const NOWHERE = { file: '', line: 1, column: 1 }

/** Whether reading the value returns the data without any diagnostic. */
function readsAs(type: string, value: YamlData, data: string, zone: DomainName): boolean {
  const problems = collectDiagnostics()
  const state = newParseState('settings', zone, null, problems)
  return readValue(nodeOf(value), { type, subject: type, state }) === data && problems.diagnostics.length === 0
}

function nodeOf(value: YamlData): YamlNode {
  const at = NOWHERE
  if (Array.isArray(value)) return { kind: 'sequence', at, items: (value as readonly YamlData[]).map(nodeOf) }
  if (typeof value !== 'object') return { kind: 'scalar', at, text: String(value), plain: typeof value !== 'string' }
  const entries = Object.entries(value).map(([key, item]) => ({
    key: { kind: 'scalar', at, text: key, plain: false } as const,
    value: nodeOf(item as YamlData),
  }))
  return { kind: 'mapping', at, entries }
}

/** The octets in generic form. The type must have a code. */
function genericValue(type: string, data: string): string {
  if (typeCode(type) === null) throw new Error(`${type} ${data} has no form in a definition`)
  return toGenericForm(type, data)
}
