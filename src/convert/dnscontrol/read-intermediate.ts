/**
 * DNSControl's intermediate JSON (`dnscontrol print-ir`), the result of running its dnsconfig.js. Reading is bounded and never throws:
 * malformed input becomes a diagnostic, and everything without a meaning here is reported.
 */
import type { Diagnostic, SourcePosition } from '../../base/diagnostic.ts'
import { failure } from '../../base/result.ts'
import { parseJson, quoted } from '../../base/text.ts'
import type { ImportedRecord } from '../../definition/imported-zone.ts'
import { type DomainName, parseAbsoluteName } from '../../dns/domain-name.ts'
import type { Ttl } from '../../dns/ttl.ts'
import { unmanagedTest } from '../../dns/unmanaged.ts'
import type { Policy, UnmanagedSelector } from '../../dns/zone.ts'
import { isObject, type JsonObject, positionOf } from '../../programs/dnscontrol/json-object.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'
import { selectorsForIgnore } from './ignore-patterns.ts'
import {
  DEFAULT_TTL,
  type DomainContext,
  displayKey,
  type InvalidRecord,
  isProxyOn,
  printableData,
  type ReadContext,
  readRecords,
} from './read-records.ts'

/** One `D(…)`: a zone, or one variant of a zone for split horizons. */
export interface DnscontrolDomain {
  readonly name: DomainName
  /** The call of `D`, if it is known. */
  readonly at: SourcePosition
  /** Whether it may have records that an `IGNORE` matches. */
  readonly disablesIgnoreCheck: boolean
  /** The part of its name after `!`; empty for the only or untagged one. */
  readonly tag: string
  readonly records: readonly ImportedRecord[]
  /** Records that no definition can contain. */
  readonly invalidRecords: readonly InvalidRecord[]
  readonly unmanaged: readonly UnmanagedSelector[]
  /** `upsert-only` for `NO_PURGE`, or the policy that protects what DNSControl ignores and no selector can express. */
  readonly policy: Policy | null
  readonly dropped: readonly UnsupportedFeature[]
  /** The names of its DNS providers in `creds.json`. */
  readonly providers: readonly string[]
  /** Warnings about registrar and metadata of the domain. */
  readonly warnings: readonly Diagnostic[]
}

export interface DnscontrolConfig {
  readonly domains: readonly DnscontrolDomain[]
  /** The types of DNS providers that the config itself states, by name. */
  readonly providerTypes: ReadonlyMap<string, string>
  readonly dropped: readonly UnsupportedFeature[]
  readonly diagnostics: readonly Diagnostic[]
}

/** Errors that are reported per file. */
const MAX_DIAGNOSTICS = 1000

/** Reads the JSON of `dnscontrol print-ir`. */
export const readIntermediate = (text: string, file: string): DnscontrolConfig =>
  readConfiguration((context) => readJson(text, context), file)

/** Reads a parsed configuration: that of `dnscontrol print-ir`, or the result of a program. */
export function readConfiguration(read: (context: ReadContext) => unknown, file: string): DnscontrolConfig {
  const at = { file, line: 1, column: 1 }
  const diagnostics: Diagnostic[] = []
  const context: ReadContext = {
    at,
    diagnostics,
    fail: (code, message) => {
      if (diagnostics.length < MAX_DIAGNOSTICS) diagnostics.push({ severity: 'error', code, message, at })
    },
  }
  const dropped: UnsupportedFeature[] = []
  const root = read(context)
  const domains: DnscontrolDomain[] = []
  const providerTypes = new Map<string, string>()
  if (isObject(root) && Array.isArray(root['domains'])) {
    for (const domain of root['domains']) readDomain(domain, context, domains)
    for (const [key, value] of Object.entries(root)) {
      if (key === 'dns_providers') addProviderTypes(value, providerTypes)
      if (key === 'registrars' || key === 'dns_providers') diagnostics.push(...providerMetadata(value, at))
      else if (key !== 'domains' && value !== null && !isEmpty(value))
        dropped.push({ zone: null, name: null, type: null, what: displayKey(key), at })
    }
  } else if (diagnostics.length === 0) context.fail('schema-type', 'the JSON has no list "domains", which dnscontrol print-ir writes')
  return { domains, providerTypes, dropped, diagnostics }
}

/** Without a type, DNSControl has `-`. */
function addProviderTypes(value: unknown, types: Map<string, string>): void {
  for (const entry of Array.isArray(value) ? value : []) {
    if (isObject(entry) && typeof entry['type'] === 'string' && /^[A-Z0-9_]{1,50}$/.test(entry['type']))
      types.set(String(entry['name']), entry['type'])
  }
}

function readJson(text: string, context: ReadContext): unknown {
  try {
    return parseJson(text)
  } catch (error) {
    // The error message quotes the file, so only its position is used.
    const offset = Number(/position (\d+)/.exec(String(error))?.[1] ?? Number.NaN)
    const before = Number.isNaN(offset) ? '' : text.slice(0, offset)
    const line = before.split('\n').length
    const place = Number.isNaN(offset) ? context.at : { ...context.at, line, column: offset - before.lastIndexOf('\n') }
    const message = 'the file is not JSON, or a text in it is not valid Unicode'
    context.diagnostics.push({ severity: 'error', code: 'schema-type', message, at: place })
    return null
  }
}

/** Warns of the metadata of providers and registrars, on which no record depends. Their names are reported per domain. */
function providerMetadata(value: unknown, at: SourcePosition): Diagnostic[] {
  return (Array.isArray(value) ? value : []).flatMap((entry) => {
    if (!isObject(entry) || !isObject(entry['meta'])) return []
    return Object.keys(entry['meta'])
      .filter((name) => !IGNORED_PROVIDER_METADATA.has(name))
      .map((name) => ({
        severity: 'warning',
        code: 'import-aside',
        message: `the metadata ${displayKey(name)} of the provider ${displayKey(String(entry['name']))} is not imported`,
        at,
      }))
  })
}

/** Which kinds of records a provider manages; the records themselves show that. */
const IGNORED_PROVIDER_METADATA: ReadonlySet<string> = new Set(['manage_redirects', 'manage_single_redirects', 'manage_workers'])

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || value === false || (typeof value === 'object' && Object.keys(value).length === 0)

/** Keys that are read elsewhere or carry no information. */
const IGNORED_KEYS: ReadonlySet<string> = new Set([
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
  'external_dns_prefix',
  'rawrecords',
  'filepos',
])

function readDomain(domain: unknown, context: ReadContext, domains: DnscontrolDomain[]): void {
  if (!isObject(domain)) {
    context.fail('schema-type', 'a domain must be an object')
    return
  }
  const [plain = '', ownTag] = String(domain['name'] ?? '').split('!', 2)
  const name = parseAbsoluteName(plain)
  if (!name.ok || name.value === '.') {
    context.fail('zone-name', `the domain ${displayKey(plain)}: ${name.ok ? 'it has no name' : name.message}`)
    return
  }
  const zone = name.value
  const at = positionOf(domain['filepos'], context.at)
  if (!isEmpty(domain['rawrecords'])) {
    context.fail('schema-type', `${zone} has records that DNSControl has not processed (rawrecords): write the JSON without --raw`)
    return
  }
  const dropped: UnsupportedFeature[] = []
  const invalidRecords: InvalidRecord[] = []
  // Settings of a domain lose no record.
  const drop = (what: string, outcome?: string): void =>
    void dropped.push({ zone, name: null, type: null, what, at, outcome, keepsRecords: true })
  const warnings: Diagnostic[] = []
  const warn = (message: string, hint?: string): void =>
    void warnings.push({ severity: 'warning', code: 'import-aside', message: `${zone}: ${message}`, at, hint })
  const meta = isObject(domain['meta']) ? domain['meta'] : {}
  const kept: UnmanagedSelector[] = []
  const isProxied = isProxyOn(meta['cloudflare_proxy_default'])
  const ofRecords: DomainContext = { ...context, zone, dropped, invalidRecords, kept, isProxied }
  const records = [...readNameservers(domain['nameservers'], meta, ofRecords), ...readRecords(domain['records'], ofRecords)]
  const left = readUnmanaged(domain, drop, warn)
  for (const [key, value] of Object.entries(domain)) {
    // With the policy sync, a plan deletes every record that the program does not make.
    if (key === 'recordsabsent' && !isEmpty(value)) {
      if (left.policy !== null) drop('the records that ENSURE_ABSENT deletes', STAYS_PRESENT)
    } else if (key === 'auto_dnssec' && isOff(value)) warn('AUTODNSSEC_OFF is not imported', 'disable signing at the provider')
    else if (!IGNORED_KEYS.has(key) && !isEmpty(value))
      drop((Object.hasOwn(KEY_WORDS, key) && KEY_WORDS[key]) || `the setting ${displayKey(key)} (${quoteValue(value)})`)
  }
  for (const [key, value] of Object.entries(meta)) {
    const isRead = key === 'ns_ttl' && isServersTtl(value) && records.some(({ name, type }) => name === zone && type === 'NS')
    if (key.startsWith('dnscontrol_') || isRead || (key === 'cloudflare_proxy_default' && isProxied)) continue
    const what = `the metadata ${displayKey(key)} (${quoteValue(value)})`
    // R53_ZONE: among hosted zones of one name, such as a public and a private one.
    if (key === 'zone_id') drop(what, 'choose the hosted zone with "zone_ids", or with "zone_type", of its provider')
    else if (RECORDS_META.test(key) && !isOff(value)) drop(what)
    else warn(`${what} is not imported`)
  }
  warnAboutProviders(domain, warn)
  const tag = String(domain['tag'] ?? meta['dnscontrol_tag'] ?? ownTag ?? '')
  domains.push({
    name: zone,
    at,
    disablesIgnoreCheck: domain['unmanaged_disable_safety_check'] === true,
    tag,
    records,
    invalidRecords,
    unmanaged: [...left.selectors, ...kept.filter((one) => !records.some(unmanagedTest([one], zone)))],
    policy: left.policy,
    providers: isObject(domain['dnsProviders']) ? Object.keys(domain['dnsProviders']) : [],
    dropped,
    warnings,
  })
}

/** Metadata keys that affect records: proxying, TTLs, redirects and defaults. */
const RECORDS_META = /proxy|ttl|redirect|default|ignore/i

const isOff = (value: unknown): boolean => value === false || /^(?:off|false)$/i.test(String(value))

/** Warns of the registrar, and of a domain without DNS providers. */
function warnAboutProviders({ registrar, dnsProviders }: JsonObject, warn: (message: string, hint?: string) => void): void {
  const registry = String(registrar ?? '')
  if (registry !== '' && !/^none$/i.test(registry)) warn(`the registrar ${displayKey(registry)} of DNSControl is not imported`)
  if (isObject(dnsProviders) && Object.keys(dnsProviders).length === 0)
    warn('DNSControl has no DNS provider for it and changes none of its records', DISABLED_HINT)
}

const DISABLED_HINT = 'a rule with "enabled: false" keeps it unchanged'

/** Descriptions of settings whose keys are unclear. */
const KEY_WORDS: Readonly<Record<string, string>> = {
  unmanaged_disable_safety_check: 'DISABLE_IGNORE_SAFETY_CHECK',
}

const quoteValue = (value: unknown): string => (typeof value === 'object' ? 'an object' : quoted(String(value)))

const isServersTtl = (value: unknown): boolean => /^[1-9][0-9]{0,9}$/.test(String(value)) && Number(value) < 2 ** 31

/** Reads `NAMESERVER`, the NS records at the apex. Names are absolute with or without a final dot. */
function readNameservers(nameservers: unknown, meta: JsonObject, { zone, at, invalidRecords }: DomainContext): ImportedRecord[] {
  if (!Array.isArray(nameservers)) return []
  const ttl = (isServersTtl(meta['ns_ttl']) ? Number(meta['ns_ttl']) : DEFAULT_TTL) as Ttl
  return nameservers.flatMap((server) => {
    const text = isObject(server) ? String(server['name'] ?? '') : ''
    const name = text === '' ? failure('a name server without a name') : parseAbsoluteName(text)
    if (name.ok) return [{ name: zone, type: 'NS', ttl, data: name.value, at }]
    invalidRecords.push({ record: { name: zone, type: 'NS', ttl: null, data: printableData(text), at }, reason: name.message })
    return []
  })
}

/** Reads what DNSControl ignores. A policy protects what no selector can express. */
function readUnmanaged(
  domain: JsonObject,
  drop: (what: string, outcome?: string) => void,
  warn: (message: string) => void,
): { readonly selectors: UnmanagedSelector[]; readonly policy: Policy | null } {
  let policy: Policy | null = domain['keepunknown'] === true ? 'upsert-only' : null
  /** A record set can be ignored in part only by its data, or if DNSControl's check is disabled. */
  const protect = (what: string, isInPart = domain['unmanaged_disable_safety_check'] === true): void => {
    policy = isInPart || policy === 'create-only' ? 'create-only' : 'upsert-only'
    drop(what, isInPart ? CREATE_ONLY : UPSERT_ONLY)
  }
  const patterns: unknown[] = Array.isArray(domain['unmanaged']) ? domain['unmanaged'] : []
  const ofOwner: UnmanagedSelector[] = domain['ignore_external_dns'] === true ? [{ owner: 'external-dns' }] : []
  const selectors = patterns.flatMap((pattern) => {
    if (!isObject(pattern)) {
      protect('an IGNORE without patterns')
      return []
    }
    const text = (key: string): string => (typeof pattern[key] === 'string' ? pattern[key] : '')
    const [label, types, target] = [text('label_pattern'), text('rType_pattern'), text('target_pattern')]
    const ignore = `IGNORE(${[label, types, target].map((part) => quoted(part)).join(', ')})`
    const read = selectorsForIgnore({ label, types, target })
    if (!read.ok) {
      protect(`${ignore}, for ${read.message}`, !['', '*', '**'].includes(target) || undefined)
      return []
    }
    const { ownTypes, isWider } = read.value
    if (ownTypes.length > 0) warn(`no provider here supports the types ${ownTypes.join(', ')}, which ${ignore} ignores`)
    if (isWider) drop(`${ignore} exactly`, 'the selectors of "unmanaged" match more: * takes the place of single characters')
    return read.value.selectors
  })
  return { selectors: [...ofOwner, ...selectors], policy }
}

const STAYS_PRESENT = 'its policy deletes no record set, so those that exist stay: delete them at the provider'
const UPSERT_ONLY = 'no plan deletes a record set (policy: upsert-only)'
const CREATE_ONLY = 'no plan changes an existing record set (policy: create-only)'
