import { rdataToText, textToRdata } from '../../dns/character-string.ts'
import { type DomainName, relativeName } from '../../dns/domain-name.ts'
import { rdataFields } from '../../dns/rdata/canonical.ts'
import type { DefinedRecord } from '../../dns/record.ts'
import type { RrsetScope, UnmanagedSelector } from '../../dns/zone.ts'
import type { UnsupportedFeature } from '../conversion.ts'
import { DEFAULT_TTL } from './json-input.ts'
import { callArguments, DNSCONTROL_TYPES, isSoundIdn, isTarget, literal } from './record-call.ts'
import { ignoreArguments } from './unmanaged-patterns.ts'

/** What of a script stands before the first domain that needs it. */
export const AT_LABEL = `// DNSControl 4 adds ._smimecert to the label of an SMIMEA record, DNSControl 5 does not.
function AT(label, make) {
  return function (domain) {
    var record = make(domain);
    if (record.args) record.args[0] = label;
    else record.name = label;
    return record;
  };
}
`

export interface DomainToPrint {
  readonly name: DomainName
  /** Each with a TTL; SOA included. */
  readonly records: readonly DefinedRecord[]
  readonly unmanaged: readonly UnmanagedSelector[]
  /** Record sets that are left as they are. */
  readonly ignored?: readonly Pick<RrsetScope, 'name' | 'type'>[] | undefined
  /** Record sets that the file lacks stay. */
  readonly keepsUnknown: boolean
}

/** Modifiers in one array; DNSControl takes arrays for what is in them, and engines bound the arguments of a call. */
const IN_ONE_ARRAY = 1000

export interface PrintedDomain {
  readonly script: string
  /** The records that the script has, if with another TTL or its strings cut elsewhere. */
  readonly printed: ReadonlySet<DefinedRecord>
}

/** A zone as a `D(…)` of dnsconfig.js. What of it DNSControl cannot hold goes to `dropped`. */
export function printDomain(
  { name, records, unmanaged, ignored = [], keepsUnknown }: DomainToPrint,
  dropped: UnsupportedFeature[],
): PrintedDomain {
  const defaultTtl = commonestTtl(records)
  const isServer = ({ name: owner, type }: DefinedRecord): boolean => type === 'NS' && owner === name
  const servers = soundServers(records.filter(isServer), name, dropped)
  const printed = new Set(servers)
  const calls: string[] = []
  for (const record of records) {
    const call = isServer(record) ? null : printRecord(record, name, defaultTtl, dropped)
    if (call === null) continue
    calls.push(call)
    printed.add(record)
  }
  const ignores = [
    ...unmanaged.flatMap((selector) => printIgnore(selector, name, dropped) ?? []),
    ...ignored.map((rrset) => ignoreExactly(rrset, name)),
  ]
  const modifiers = [...(keepsUnknown ? ['NO_PURGE'] : []), ...ignores, ...printServers(servers, name, dropped), ...calls]
  return { script: printCall(name, defaultTtl, modifiers), printed }
}

function printCall(name: DomainName, defaultTtl: number, modifiers: readonly string[]): string {
  const head = `D(${literal(name.slice(0, -1))}, REG_NONE, DnsProvider(DSP_BIND, 0), DefaultTTL(${defaultTtl})`
  if (modifiers.length === 0) return `${head});\n`
  if (modifiers.length <= IN_ONE_ARRAY) return `${head},\n  ${modifiers.join(',\n  ')}\n);\n`
  const arrays: string[] = []
  for (let i = 0; i < modifiers.length; i += IN_ONE_ARRAY) arrays.push(`[\n  ${modifiers.slice(i, i + IN_ONE_ARRAY).join(',\n  ')}\n]`)
  return `${head}, ${arrays.join(', ')});\n`
}

/** A record set by its name, whose asterisk is no pattern. */
const ignoreExactly = ({ name, type }: Pick<RrsetScope, 'name' | 'type'>, zone: DomainName): string => {
  const label = (relativeName(name, zone) || '@').replace(/[*?[\]{}\\,!]/g, '\\$&')
  return `IGNORE(${[label, type, '*'].map(literal).join(', ')})`
}

function printIgnore(selector: UnmanagedSelector, zone: DomainName, dropped: UnsupportedFeature[]): string | null {
  const patterns = ignoreArguments(selector)
  if (patterns !== null) return `IGNORE(${patterns.map(literal).join(', ')})`
  dropped.push({
    zone,
    name: null,
    type: null,
    what: 'unmanaged records by a pattern that means something else to DNSControl',
    at: selector.at,
  })
  return null
}

/** The NS records at the apex whose targets DNSControl takes. */
function soundServers(servers: readonly DefinedRecord[], zone: DomainName, dropped: UnsupportedFeature[]): DefinedRecord[] {
  return servers.filter(({ data, at }) => {
    const isSound = isTarget(data) && isSoundIdn(data)
    const what = isTarget(data) ? NOT_PUNYCODE : 'a target with characters that DNSControl refuses'
    if (!isSound) dropped.push({ zone, name: zone, type: 'NS', what, at })
    return isSound
  })
}

/** NS records at the apex are `NAMESERVER`, all with one TTL. */
function printServers(servers: readonly DefinedRecord[], zone: DomainName, dropped: UnsupportedFeature[]): string[] {
  const ttls = [...new Set(servers.map(({ ttl }) => ttl ?? DEFAULT_TTL))].sort((a, b) => a - b)
  const [lowest] = ttls
  if (lowest === undefined) return []
  const lose = (what: string, at?: UnsupportedFeature['at']): void => void dropped.push({ zone, name: zone, type: 'NS', what, at })
  if (ttls.length > 1) lose(`TTLs that differ (${ttls.join(', ')}); all have the lowest`, servers[0]?.at)
  if (lowest === 0) lose('a TTL of 0', servers[0]?.at)
  return [`NAMESERVER_TTL(${lowest || DEFAULT_TTL})`, ...servers.map(({ data }) => `NAMESERVER(${literal(data)})`)]
}

function printRecord(record: DefinedRecord, zone: DomainName, defaultTtl: number, dropped: UnsupportedFeature[]): string | null {
  const { name, type, data, ttl, at } = record
  const lose = (what: string): null => {
    dropped.push({ zone, name, type, what, at })
    return null
  }
  if (!DNSCONTROL_TYPES.has(type)) return lose(`a record of type ${type}, which DNSControl has no function for`)
  const label = relativeName(name, zone) || '@'
  if (label.includes('\\')) return lose('a name with escaped characters')
  if (![label, ...rdataFields(data)].every((text) => text.startsWith('"') || isSoundIdn(text))) return lose(NOT_PUNYCODE)
  if (isReverse(zone) && (`.${label}.`.endsWith(`.${zone}`) || (type === 'PTR' && isAddress(label))))
    return lose('a name that DNSControl takes for another in a reverse zone')
  if (type === 'CNAME' && name === data) return lose('a CNAME that leads to itself')
  if (type === 'CNAME' && label === '@') return lose('a CNAME at the apex')
  if (type === 'SOA' && label !== '@') return lose('an SOA record below the apex')
  const printed = callArguments(type, data)
  if (!printed.ok) return lose(printed.message)
  if (type === 'TXT' && textToRdata(rdataToText(data)) !== data) lose('where its strings are cut')
  if (type === 'TXT' && data.includes('\\\\')) lose('a backslash in text, which DNSControl 5 takes for an escape')
  if (ttl === 0) lose('a TTL of 0')
  const own = ttl !== 0 && ttl !== null && ttl !== defaultTtl ? [`TTL(${ttl})`] : []
  // DNSControl takes a label that ends like the zone for a slip.
  const doubled = `${label}.`.endsWith(zone) ? ["{skip_fqdn_check: 'true'}"] : []
  const call = `${type}(${[literal(label), ...printed.value, ...own, ...doubled].join(', ')})`
  return type === 'SMIMEA' ? `AT(${literal(label)}, ${call})` : call
}

const NOT_PUNYCODE = 'a name with a label xn-- that is not one of IDNA'

const isReverse = (zone: DomainName): boolean => /\.(?:in-addr|ip6)\.arpa\.$/.test(zone)

/** Whether DNSControl turns the label of a PTR record around as an address. */
const isAddress = (label: string): boolean => /^\d{1,3}(?:\.\d{1,3}){3}$/.test(label) || label.includes(':')

function commonestTtl(records: readonly DefinedRecord[]): number {
  const counts = new Map<number, number>()
  for (const { ttl } of records) if (ttl !== null && ttl !== 0) counts.set(ttl, (counts.get(ttl) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0]?.[0] ?? DEFAULT_TTL
}
