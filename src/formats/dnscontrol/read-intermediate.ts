/**
 * DNSControl's intermediate JSON (`dnscontrol print-ir`): what its dnsconfig.js comes to. Bounded and never throws: what is malformed becomes
 * a diagnostic, what has no meaning here an item that is named; nothing is passed over in silence.
 */
import type { Diagnostic, SourcePosition } from '../../model/diagnostic.ts'
import { type DomainName, parseDomainName } from '../../model/domain-name.ts'
import type { ExchangedRecord, LostItem } from '../../model/exchange.ts'
import { fault } from '../../model/result.ts'
import type { Ttl } from '../../model/ttl.ts'
import type { UnmanagedSelector } from '../../model/zone.ts'
import { DEFAULT_TTL, isObject, type JsonObject, type Run, shownKey } from './json-input.ts'
import { readRecords } from './read-records.ts'
import { selectorsOf } from './unmanaged-patterns.ts'

/** One `D(…)`: a zone, or one variant of it for split horizons. */
export interface DnscontrolDomain {
  readonly name: DomainName
  /** What follows `!` in its name; empty for the only or the plain one. */
  readonly tag: string
  readonly records: readonly ExchangedRecord[]
  readonly unmanaged: readonly UnmanagedSelector[]
  readonly lost: readonly LostItem[]
}

export interface DnscontrolConfig {
  readonly domains: readonly DnscontrolDomain[]
  readonly lost: readonly LostItem[]
  readonly diagnostics: readonly Diagnostic[]
}

/** Faults that are told of one file. */
const MAX_FAULTS = 1000

/** Reads the JSON of `dnscontrol print-ir`. */
export function readIntermediate(text: string, file: string): DnscontrolConfig {
  const at = { file, line: 1, column: 1 }
  const diagnostics: Diagnostic[] = []
  const run: Run = {
    at,
    diagnostics,
    fail: (code, message) => {
      if (diagnostics.length < MAX_FAULTS) diagnostics.push({ severity: 'error', code, message, at })
    },
  }
  const lost: LostItem[] = []
  const root = parseJson(text, run)
  const domains: DnscontrolDomain[] = []
  if (isObject(root) && Array.isArray(root['domains'])) {
    for (const domain of root['domains']) readDomain(domain, run, domains)
    for (const [key, value] of Object.entries(root)) if (key !== 'domains') lost.push(...lostOfProviders(key, value, at))
  } else if (diagnostics.length === 0) run.fail('schema-type', 'the JSON has no list "domains", as dnscontrol print-ir writes it')
  return { domains, lost, diagnostics }
}

function parseJson(text: string, run: Run): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    // The text of the fault quotes the file; of it only the place is told.
    const offset = Number(/position (\d+)/.exec(String(error))?.[1] ?? Number.NaN)
    const before = Number.isNaN(offset) ? '' : text.slice(0, offset)
    const line = before.split('\n').length
    const place = Number.isNaN(offset) ? run.at : { ...run.at, line, column: offset - before.lastIndexOf('\n') }
    run.diagnostics.push({ severity: 'error', code: 'schema-type', message: 'the file is not JSON', at: place })
    return null
  }
}

/** Of providers and registrars their names stand at the domains; what is left is their metadata. */
function lostOfProviders(key: string, value: unknown, at: SourcePosition): LostItem[] {
  const lose = (what: string): LostItem => ({ zone: null, name: null, type: null, what, at })
  if (key !== 'registrars' && key !== 'dns_providers') return value === null || isEmpty(value) ? [] : [lose(shownKey(key))]
  return (Array.isArray(value) ? value : []).flatMap((entry) => {
    if (!isObject(entry) || !isObject(entry['meta'])) return []
    return Object.keys(entry['meta']).map((name) =>
      lose(`the metadata ${shownKey(name)} of the provider ${shownKey(String(entry['name']))}`),
    )
  })
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || value === false || (typeof value === 'object' && Object.keys(value).length === 0)

/** Keys that say nothing of their own. */
const IDLE_KEYS: ReadonlySet<string> = new Set([
  'name',
  'uniquename',
  'tag',
  'records',
  'meta',
  'registrar',
  'dnsProviders',
  'nameservers',
  'unmanaged',
])

function readDomain(domain: unknown, run: Run, domains: DnscontrolDomain[]): void {
  if (!isObject(domain)) {
    run.fail('schema-type', 'a domain is an object')
    return
  }
  const [plain = '', ownTag] = String(domain['name'] ?? '').split('!', 2)
  const name = parseDomainName(plain.endsWith('.') ? plain : `${plain}.`)
  if (!name.ok || name.value === '.') {
    run.fail('zone-name', `the domain ${shownKey(plain)}: ${name.ok ? 'it has no name' : name.message}`)
    return
  }
  const zone = name.value
  const lost: LostItem[] = []
  const lose = (what: string, owner: DomainName | null = null, type: string | null = null): void =>
    void lost.push({ zone, name: owner, type, what, at: run.at })
  const meta = isObject(domain['meta']) ? domain['meta'] : {}
  const records = [...readNameservers(domain['nameservers'], meta, zone, run), ...readRecords(domain['records'], zone, lost, run)]
  for (const [key, value] of Object.entries(domain)) {
    if (!IDLE_KEYS.has(key) && !isEmpty(value))
      lose((Object.hasOwn(KEY_WORDS, key) && KEY_WORDS[key]) || `the setting ${shownKey(key)} (${shownValue(value)})`)
  }
  for (const [key, value] of Object.entries(meta)) {
    const isRead = key === 'ns_ttl' && isServersTtl(value) && records.some(({ name, type }) => name === zone && type === 'NS')
    if (!key.startsWith('dnscontrol_') && !isRead) lose(`the metadata ${shownKey(key)} (${shownValue(value)})`)
  }
  const registrar = String(domain['registrar'] ?? '')
  if (registrar !== '' && !/^none$/i.test(registrar)) lose(`the registrar ${shownKey(registrar)}`)
  const providers = isObject(domain['dnsProviders']) ? Object.keys(domain['dnsProviders']) : []
  if (providers.length > 0) lose(`its DNS providers (${providers.map(shownKey).join(', ')})`)
  const unmanaged = readUnmanaged(domain['unmanaged'], lose)
  domains.push({ name: zone, tag: String(domain['tag'] ?? meta['dnscontrol_tag'] ?? ownTag ?? ''), records, unmanaged, lost })
}

/** What settings mean, where their keys do not say it to a reader. */
const KEY_WORDS: Readonly<Record<string, string>> = {
  keepunknown: 'NO_PURGE: policy: upsert-only in the config is the same',
  recordsabsent: 'the records that ENSURE_ABSENT wants away',
  unmanaged_disable_safety_check: 'DISABLE_IGNORE_SAFETY_CHECK',
}

const shownValue = (value: unknown): string => (typeof value === 'object' ? 'an object' : JSON.stringify(String(value).slice(0, 60)))

const isServersTtl = (value: unknown): boolean => /^[1-9][0-9]{0,9}$/.test(String(value)) && Number(value) < 2 ** 31

/** `NAMESERVER`: NS records at the apex. Names come with and without the dot at their end, always absolute. */
function readNameservers(nameservers: unknown, meta: JsonObject, zone: DomainName, run: Run): ExchangedRecord[] {
  if (!Array.isArray(nameservers)) return []
  const ttl = (isServersTtl(meta['ns_ttl']) ? Number(meta['ns_ttl']) : DEFAULT_TTL) as Ttl
  return nameservers.flatMap((server) => {
    const text = isObject(server) ? String(server['name'] ?? '') : ''
    const name = text === '' ? fault('a name server without a name') : parseDomainName(text.endsWith('.') ? text : `${text}.`)
    if (name.ok) return [{ name: zone, type: 'NS', ttl, data: name.value, at: run.at }]
    run.fail('value-invalid', `${zone} NS: ${name.message}`)
    return []
  })
}

function readUnmanaged(patterns: unknown, lose: (what: string) => void): UnmanagedSelector[] {
  if (!Array.isArray(patterns)) return []
  return patterns.flatMap((pattern) => {
    if (!isObject(pattern)) {
      lose('an IGNORE without patterns')
      return []
    }
    const text = (key: string): string => (typeof pattern[key] === 'string' ? pattern[key] : '')
    const [label, types, target] = [text('label_pattern'), text('rType_pattern'), text('target_pattern')]
    const selectors = selectorsOf({ label, types, target })
    if (selectors.ok) return selectors.value
    lose(`IGNORE(${[label, types, target].map((part) => JSON.stringify(part.slice(0, 60))).join(', ')}), for ${selectors.message}`)
    return []
  })
}
