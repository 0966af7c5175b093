/**
 * DNSControl's intermediate JSON (`dnscontrol print-ir`): what its dnsconfig.js comes to. Bounded and never throws: what is malformed becomes
 * a diagnostic, what has no meaning here an item that is named; nothing is passed over in silence.
 */

import type { ImportedRecord } from '../../definition/imported-zone.ts'
import type { Diagnostic, SourcePosition } from '../../dns/diagnostic.ts'
import { type DomainName, parseDomainName } from '../../dns/domain-name.ts'
import { failure } from '../../dns/result.ts'
import type { Ttl } from '../../dns/ttl.ts'
import type { Policy, UnmanagedSelector } from '../../dns/zone.ts'
import { agreeing, listed } from '../../report/english.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'
import { selectorsOf } from './ignore-patterns.ts'
import {
  DEFAULT_TTL,
  isObject,
  type JsonObject,
  plainData,
  type RecordsRun,
  type Run,
  readRecords,
  shownKey,
  type UnsupportedRecord,
} from './read-records.ts'

/** One `D(…)`: a zone, or one variant of it for split horizons. */
export interface DnscontrolDomain {
  readonly name: DomainName
  /** What follows `!` in its name; empty for the only or the plain one. */
  readonly tag: string
  readonly records: readonly ImportedRecord[]
  /** Records that no definition can have. */
  readonly unknownSettings: readonly UnsupportedRecord[]
  readonly unmanaged: readonly UnmanagedSelector[]
  /** `upsert-only` for `NO_PURGE`, and what keeps safe what DNSControl leaves to others and no selector says. */
  readonly policy: Policy | null
  readonly dropped: readonly UnsupportedFeature[]
  /** A warning of each thing that is said of the domain and not of its records: registrar, DNS providers, metadata. */
  readonly asides: readonly Diagnostic[]
}

export interface DnscontrolConfig {
  readonly domains: readonly DnscontrolDomain[]
  readonly dropped: readonly UnsupportedFeature[]
  readonly diagnostics: readonly Diagnostic[]
}

/** Faults that are told of one file. */
const MAX_DIAGNOSTICS = 1000

/** Reads the JSON of `dnscontrol print-ir`. */
export function readIntermediate(text: string, file: string): DnscontrolConfig {
  const at = { file, line: 1, column: 1 }
  const diagnostics: Diagnostic[] = []
  const run: Run = {
    at,
    diagnostics,
    fail: (code, message) => {
      if (diagnostics.length < MAX_DIAGNOSTICS) diagnostics.push({ severity: 'error', code, message, at })
    },
  }
  const dropped: UnsupportedFeature[] = []
  const root = parseJson(text, run)
  const domains: DnscontrolDomain[] = []
  if (isObject(root) && Array.isArray(root['domains'])) {
    for (const domain of root['domains']) readDomain(domain, run, domains)
    for (const [key, value] of Object.entries(root)) if (key !== 'domains') dropped.push(...lostOfProviders(key, value, at))
  } else if (diagnostics.length === 0) run.fail('schema-type', 'the JSON has no list "domains", as dnscontrol print-ir writes it')
  return { domains, dropped, diagnostics }
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
function lostOfProviders(key: string, value: unknown, at: SourcePosition): UnsupportedFeature[] {
  const lose = (what: string): UnsupportedFeature => ({ zone: null, name: null, type: null, what, at })
  if (key !== 'registrars' && key !== 'dns_providers') return value === null || isEmpty(value) ? [] : [lose(shownKey(key))]
  return (Array.isArray(value) ? value : []).flatMap((entry) => {
    if (!isObject(entry) || !isObject(entry['meta'])) return []
    return Object.keys(entry['meta'])
      .filter((name) => !IDLE_PROVIDER_META.has(name))
      .map((name) => lose(`the metadata ${shownKey(name)} of the provider ${shownKey(String(entry['name']))}`))
  })
}

/** What a provider is to look after; the records themselves say what of it there is. */
const IDLE_PROVIDER_META: ReadonlySet<string> = new Set(['manage_redirects', 'manage_single_redirects', 'manage_workers'])

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
  'keepunknown',
  'ignore_external_dns',
  'rawrecords',
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
  if (!isEmpty(domain['rawrecords'])) {
    run.fail('schema-type', `${zone} has records that DNSControl has not read yet (rawrecords): write the JSON without --raw`)
    return
  }
  const dropped: UnsupportedFeature[] = []
  const unknownSettings: UnsupportedRecord[] = []
  const lose = (what: string, outcome?: string): void => void dropped.push({ zone, name: null, type: null, what, at: run.at, outcome })
  const asides: Diagnostic[] = []
  const tell = (message: string, hint?: string): void =>
    void asides.push({ severity: 'warning', code: 'import-aside', message: `${zone}: ${message}`, at: run.at, hint })
  const meta = isObject(domain['meta']) ? domain['meta'] : {}
  const ofRecords: RecordsRun = { ...run, zone, dropped, unknownSettings }
  const records = [...readNameservers(domain['nameservers'], meta, ofRecords), ...readRecords(domain['records'], ofRecords)]
  for (const [key, value] of Object.entries(domain)) {
    if (key === 'auto_dnssec' && isOff(value)) tell('AUTODNSSEC_OFF is not in its definition', 'switch signing off at the provider itself')
    else if (!IDLE_KEYS.has(key) && !isEmpty(value))
      lose((Object.hasOwn(KEY_WORDS, key) && KEY_WORDS[key]) || `the setting ${shownKey(key)} (${shownValue(value)})`)
  }
  for (const [key, value] of Object.entries(meta)) {
    const isRead = key === 'ns_ttl' && isServersTtl(value) && records.some(({ name, type }) => name === zone && type === 'NS')
    if (key.startsWith('dnscontrol_') || isRead) continue
    const what = `the metadata ${shownKey(key)} (${shownValue(value)})`
    if (RECORDS_META.test(key) && !isOff(value)) lose(what)
    else tell(`${what} is not in its definition`)
  }
  tellProviders(domain, tell)
  const left = readUnmanaged(domain, lose, tell)
  const tag = String(domain['tag'] ?? meta['dnscontrol_tag'] ?? ownTag ?? '')
  domains.push({ name: zone, tag, records, unknownSettings, unmanaged: left.selectors, policy: left.policy, dropped, asides })
}

/** Metadata of a domain that say something of its records: their proxies, TTLs, redirections, or what they are where nothing is said. */
const RECORDS_META = /proxy|ttl|redirect|default|ignore/i

const isOff = (value: unknown): boolean => value === false || /^(?:off|false)$/i.test(String(value))

/** The registrar and the providers, which the config's rules name here. */
function tellProviders({ registrar, dnsProviders }: JsonObject, tell: (message: string, hint?: string) => void): void {
  const registry = String(registrar ?? '')
  const providers = isObject(dnsProviders) ? Object.keys(dnsProviders) : []
  const registrars = registry === '' || /^none$/i.test(registry) ? [] : [`the registrar ${shownKey(registry)}`]
  const count = registrars.length + providers.length
  const providerText = `the DNS ${agreeing(providers.length, 'provider', 'providers')} ${providers.map(shownKey).join(', ')}`
  const parts = providers.length === 0 ? registrars : [...registrars, providerText]
  if (count > 0) tell(`${listed(parts)} of DNSControl ${agreeing(count, 'is', 'are')} not in its definition`, ROUTED)
  if (isObject(dnsProviders) && providers.length === 0)
    tell('DNSControl has no DNS provider for it, and changes none of its records', UNROUTED)
}

const ROUTED = 'the rules of zonewright.yaml say where zones go'
const UNROUTED = 'a rule with "enabled: false" leaves it as it is'

/** What settings mean, where their keys do not say it to a reader. */
const KEY_WORDS: Readonly<Record<string, string>> = {
  external_dns_prefix: 'the prefix of IGNORE_EXTERNAL_DNS',
  recordsabsent: 'the records that ENSURE_ABSENT wants away',
  unmanaged_disable_safety_check: 'DISABLE_IGNORE_SAFETY_CHECK',
}

const shownValue = (value: unknown): string => (typeof value === 'object' ? 'an object' : JSON.stringify(String(value).slice(0, 60)))

const isServersTtl = (value: unknown): boolean => /^[1-9][0-9]{0,9}$/.test(String(value)) && Number(value) < 2 ** 31

/** `NAMESERVER`: NS records at the apex. Names come with and without the dot at their end, always absolute. */
function readNameservers(nameservers: unknown, meta: JsonObject, { zone, at, unknownSettings }: RecordsRun): ImportedRecord[] {
  if (!Array.isArray(nameservers)) return []
  const ttl = (isServersTtl(meta['ns_ttl']) ? Number(meta['ns_ttl']) : DEFAULT_TTL) as Ttl
  return nameservers.flatMap((server) => {
    const text = isObject(server) ? String(server['name'] ?? '') : ''
    const name = text === '' ? failure('a name server without a name') : parseDomainName(text.endsWith('.') ? text : `${text}.`)
    if (name.ok) return [{ name: zone, type: 'NS', ttl, data: name.value, at }]
    unknownSettings.push({ record: { name: zone, type: 'NS', ttl: null, data: plainData(text), at }, why: name.message })
    return []
  })
}

/** What DNSControl leaves to others. What no selector says of that a policy keeps safe. */
function readUnmanaged(
  domain: JsonObject,
  lose: (what: string, outcome?: string) => void,
  tell: (message: string) => void,
): { readonly selectors: UnmanagedSelector[]; readonly policy: Policy | null } {
  let policy: Policy | null = domain['keepunknown'] === true ? 'upsert-only' : null
  /** A record set may be left to others in part only by its data, or where DNSControl does not check for that. */
  const keep = (what: string, isInPart = domain['unmanaged_disable_safety_check'] === true): void => {
    policy = isInPart || policy === 'create-only' ? 'create-only' : 'upsert-only'
    lose(what, isInPart ? UNTOUCHED : UNDELETED)
  }
  if (domain['ignore_external_dns'] === true)
    keep('IGNORE_EXTERNAL_DNS: write selectors of "unmanaged" for the names that external-dns has, and take the policy out')
  const patterns: unknown[] = Array.isArray(domain['unmanaged']) ? domain['unmanaged'] : []
  const selectors = patterns.flatMap((pattern) => {
    if (!isObject(pattern)) {
      keep('an IGNORE without patterns')
      return []
    }
    const text = (key: string): string => (typeof pattern[key] === 'string' ? pattern[key] : '')
    const [label, types, target] = [text('label_pattern'), text('rType_pattern'), text('target_pattern')]
    const ignore = `IGNORE(${[label, types, target].map((part) => JSON.stringify(part.slice(0, 60))).join(', ')})`
    const read = selectorsOf({ label, types, target })
    if (!read.ok) {
      keep(`${ignore}, for ${read.message}`, !['', '*', '**'].includes(target) || undefined)
      return []
    }
    const { ownTypes, isWider } = read.value
    if (ownTypes.length > 0) tell(`no provider here has records of the types ${ownTypes.join(', ')}, which ${ignore} leaves to others`)
    if (isWider) lose(`${ignore} exactly`, '"unmanaged" leaves more to others, with * for its single characters')
    return read.value.selectors
  })
  return { selectors, policy }
}

const UNDELETED = 'no plan deletes a record set (policy: upsert-only)'
const UNTOUCHED = 'no plan touches a record set that exists (policy: create-only)'
