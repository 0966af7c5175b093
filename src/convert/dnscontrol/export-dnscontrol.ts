/** Exports zones as a `dnsconfig.js` with zone files. */
import type { Diagnostic, SourcePosition } from '../../base/diagnostic.ts'
import { isRestriction } from '../../checks/accepted-losses.ts'
import { octetsToTxtRdata, txtRdataToOctets } from '../../dns/character-string.ts'
import { type DomainName, ROOT, relativeName } from '../../dns/domain-name.ts'
import { rdataFields } from '../../dns/rdata/canonical.ts'
import { type DefinedRecord, type ResourceRecord, recordKey, rrsetKey } from '../../dns/record.ts'
import { plainSelector } from '../../dns/unmanaged.ts'
import type { DesiredZone, RrsetTargets, UnmanagedSelector } from '../../dns/zone.ts'
import { parseZoneFile } from '../../dns/zone-file/parse-zone-file.ts'
import { printZoneFile } from '../../dns/zone-file/print-zone-file.ts'
import type { OutputFile } from '../../files/write-files.ts'
import type { Exporter } from '../exporter.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'
import { exportZoneFiles } from '../zone-files/export-zone-files.ts'
import { ignoreArguments } from './ignore-patterns.ts'
import { DEFAULT_TTL } from './read-records.ts'
import { callArguments, DNSCONTROL_TYPES, isAcceptedTarget, jsString, survivesIdnRoundTrip } from './record-call.ts'

const HEAD = `// Zones for DNSControl, whose BIND provider holds them in the folder zones: dnscontrol preview.
var REG_NONE = NewRegistrar('none', 'NONE');
var DSP_BIND = NewDnsProvider('bind', 'BIND');
`

const CREDENTIALS = `{
  "none": {"TYPE": "NONE"},
  "bind": {"TYPE": "BIND", "directory": "zones"}
}
`

/** Whether DNSControl accepts the zone name: `!` would begin a tag, and the part before a slash (RFC 2317) becomes a folder. */
const isDomain = (name: DomainName): boolean =>
  name !== ROOT && survivesIdnRoundTrip(name) && !/[\\!]/.test(name) && name.split('/').every((part) => /^[^/.]/.test(part))

/**
 * Exports a `dnsconfig.js` and, with the same content, each zone as the zone file of DNSControl's BIND provider: the desired and the
 * existing state. A record that DNSControl does not support is in neither, because DNSControl stops at a zone file that contains one.
 */
export const exportDnscontrol: Exporter = (zones, options) => {
  const files: OutputFile[] = []
  const dropped: UnsupportedFeature[] = []
  const diagnostics: Diagnostic[] = []
  let script = HEAD
  for (const given of zones) {
    const { zone, ignored } = withoutIgnored(withLowerCaseMailbox(given))
    const keepsUnknown = zone.policy === 'upsert-only'
    const exported = exportZoneFiles([{ ...zone, unmanaged: [], policy: keepsUnknown ? null : zone.policy }], {
      ...options,
      existing: undefined,
    })
    dropped.push(...exported.dropped)
    diagnostics.push(...exported.diagnostics)
    const [file] = exported.files
    if (file === undefined) continue
    if (!isDomain(zone.name)) {
      dropped.push({
        zone: zone.name,
        name: null,
        type: null,
        what: 'a zone whose name DNSControl misreads or refuses',
        at: zone.at,
      })
      continue
    }
    const path = `zones/${zone.name.includes('/') ? `${zone.name.slice(0, -1)}.zone` : file.path}`
    if (files.some((one) => one.path === path)) {
      dropped.push({ zone: zone.name, name: null, type: null, what: `a second zone whose file is ${path}`, at: zone.at })
      continue
    }
    const positionOf = positionsOf(zone)
    const records = [...parseZoneFile(file.text, { origin: zone.name, file: path }).records].map((record) => ({
      ...record,
      at: positionOf(record),
    }))
    const domain = printDomain({ name: zone.name, records, unmanaged: zone.unmanaged, ignored, keepsUnknown }, dropped)
    dropped.push(...ignored.map(({ name, type }) => ({ zone: zone.name, name, type, what: IGNORED_RRSET, at: zone.at })))
    if (/^ {2}AT\(/m.test(domain.script) && !script.includes(AT_LABEL)) script += `\n${AT_LABEL}`
    script += `\n${domain.script}`
    const kept = records.filter((record) => record.type === 'SOA' || domain.printed.has(record))
    const isWhole = kept.length === records.length
    files.push({ path, text: isWhole ? file.text : printZoneFile(kept, { origin: zone.name, style: options.style, defaultTtl: null }) })
  }
  return {
    files: [{ path: 'dnsconfig.js', text: script }, { path: 'creds.json', text: CREDENTIALS }, ...files],
    isSingleFile: false,
    dropped,
    diagnostics,
  }
}

const IGNORED_RRSET = 'the options of an ignored record set; IGNORE keeps it unchanged'

/** The zone with its mailbox in small letters, as DNSControl writes it: otherwise the zone file would differ from dnsconfig.js. */
const withLowerCaseMailbox = (zone: DesiredZone): DesiredZone => {
  const { soa_email: email } = zone.settings
  return email === undefined ? zone : { ...zone, settings: { ...zone.settings, soa_email: email.toLowerCase() } }
}

/** Removes record sets that are ignored at all targets: DNSControl refuses a domain that contains what it ignores. */
function withoutIgnored(zone: DesiredZone): { readonly zone: DesiredZone; readonly ignored: readonly RrsetTargets[] } {
  const ignored = zone.rrsetTargets.filter((scope) => scope.ignored)
  if (ignored.length === 0) return { zone, ignored }
  const keys = new Set(ignored.map(rrsetKey))
  const records = zone.records.filter((record) => !keys.has(rrsetKey(record)))
  return { zone: { ...zone, records, rrsetTargets: zone.rrsetTargets.filter((scope) => !scope.ignored) }, ignored }
}

/** Returns the position of a record in the definition. Records that only the file has get that of the zone or of its mailbox. */
function positionsOf({ at, records, settingPositions }: DesiredZone): (record: ResourceRecord) => SourcePosition {
  const positions = new Map(records.map((record) => [recordKey(record), record.at]))
  const soaAt = settingPositions?.soa_email ?? at
  return (record) => positions.get(recordKey(record)) ?? (record.type === 'SOA' ? soaAt : at)
}

/** A helper that the script needs before its first domain with SMIMEA records. */
const AT_LABEL = `// DNSControl 4 adds ._smimecert to the label of an SMIMEA record, DNSControl 5 does not.
function AT(label, make) {
  return function (domain) {
    var record = make(domain);
    if (record.args) record.args[0] = label;
    else record.name = label;
    return record;
  };
}
`

interface DomainToPrint {
  readonly name: DomainName
  /** Each has a TTL; the SOA record is included. */
  readonly records: readonly DefinedRecord[]
  readonly unmanaged: readonly UnmanagedSelector[]
  /** Record sets to keep unchanged. */
  readonly ignored?: readonly Pick<RrsetTargets, 'name' | 'type'>[] | undefined
  /** Whether record sets that the file lacks stay. */
  readonly keepsUnknown: boolean
}

/** Modifiers per array. DNSControl flattens arrays, and JavaScript engines limit the arguments of a call. */
const MAX_MODIFIERS = 1000

interface PrintedDomain {
  readonly script: string
  /** The records in the script, even if their TTL or division into strings differs. */
  readonly printed: ReadonlySet<DefinedRecord>
}

/** Prints a zone as a `D(…)` of dnsconfig.js. Adds what DNSControl cannot express to `dropped`. */
export function printDomain(
  { name, records, unmanaged, ignored = [], keepsUnknown }: DomainToPrint,
  dropped: UnsupportedFeature[],
): PrintedDomain {
  const defaultTtl = mostCommonTtl(records)
  const isServer = ({ name: owner, type }: DefinedRecord): boolean => type === 'NS' && owner === name
  const servers = acceptedServers(records.filter(isServer), name, dropped)
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
  const head = `D(${jsString(name.slice(0, -1))}, REG_NONE, DnsProvider(DSP_BIND, 0), DefaultTTL(${defaultTtl})`
  if (modifiers.length === 0) return `${head});\n`
  if (modifiers.length <= MAX_MODIFIERS) return `${head},\n  ${modifiers.join(',\n  ')}\n);\n`
  const arrays: string[] = []
  for (let i = 0; i < modifiers.length; i += MAX_MODIFIERS) arrays.push(`[\n  ${modifiers.slice(i, i + MAX_MODIFIERS).join(',\n  ')}\n]`)
  return `${head}, ${arrays.join(', ')});\n`
}

/** An `IGNORE` of one record set: characters of its name are no wildcards. */
const ignoreExactly = ({ name, type }: Pick<RrsetTargets, 'name' | 'type'>, zone: DomainName): string => {
  const label = (relativeName(name, zone) || '@').replace(/[*?[\]{}\\,!]/g, '\\$&')
  return `IGNORE(${[label, type, '*'].map(jsString).join(', ')})`
}

function printIgnore(selector: UnmanagedSelector, zone: DomainName, dropped: UnsupportedFeature[]): string | null {
  if (selector.owner !== undefined && Object.keys(plainSelector(selector)).length === 1) return 'IGNORE_EXTERNAL_DNS()'
  const patterns = ignoreArguments(selector)
  if (patterns !== null) return `IGNORE(${patterns.map(jsString).join(', ')})`
  dropped.push({
    zone,
    name: null,
    type: null,
    what: 'unmanaged records with a pattern that means something else to DNSControl',
    at: selector.at,
  })
  return null
}

/** The NS records at the apex with targets that DNSControl accepts. */
function acceptedServers(servers: readonly DefinedRecord[], zone: DomainName, dropped: UnsupportedFeature[]): DefinedRecord[] {
  return servers.filter(({ data, at }) => {
    const isAccepted = isAcceptedTarget(data) && survivesIdnRoundTrip(data)
    const what = isAcceptedTarget(data) ? INVALID_IDN : 'a target with characters that DNSControl refuses'
    if (!isAccepted) dropped.push({ zone, name: zone, type: 'NS', what, at })
    return isAccepted
  })
}

/** Prints the NS records at the apex as `NAMESERVER`, with one TTL for all. */
function printServers(servers: readonly DefinedRecord[], zone: DomainName, dropped: UnsupportedFeature[]): string[] {
  const ttls = [...new Set(servers.map(({ ttl }) => ttl ?? DEFAULT_TTL))].sort((a, b) => a - b)
  const [lowest] = ttls
  if (lowest === undefined) return []
  const drop = (what: string, at?: UnsupportedFeature['at']): void => void dropped.push({ zone, name: zone, type: 'NS', what, at })
  if (ttls.length > 1) drop(`different TTLs (${ttls.join(', ')}); all get the lowest`, servers[0]?.at)
  if (lowest === 0) drop('a TTL of 0', servers[0]?.at)
  return [`NAMESERVER_TTL(${lowest || DEFAULT_TTL})`, ...servers.map(({ data }) => `NAMESERVER(${jsString(data)})`)]
}

function printRecord(record: DefinedRecord, zone: DomainName, defaultTtl: number, dropped: UnsupportedFeature[]): string | null {
  const { name, type, data, ttl, at } = record
  const say = (what: string): void => void dropped.push({ zone, name, type, what, at })
  const drop = (what: string): null => {
    dropped.push({ zone, name, type, what, at, restricts: isRestriction(record) })
    return null
  }
  if (!DNSCONTROL_TYPES.has(type)) return drop(`a record of type ${type}, which DNSControl has no function for`)
  const label = relativeName(name, zone) || '@'
  if (label.includes('\\')) return drop('a name with escaped characters')
  if (![label, ...rdataFields(data)].every((text) => text.startsWith('"') || survivesIdnRoundTrip(text))) return drop(INVALID_IDN)
  if (isReverse(zone) && (`.${label}.`.endsWith(`.${zone}`) || (type === 'PTR' && isAddress(label))))
    return drop('a name that DNSControl misreads in a reverse zone')
  if (type === 'CNAME' && name === data) return drop('a CNAME that points to itself')
  if (type === 'CNAME' && label === '@') return drop('a CNAME at the apex')
  if (type === 'SOA' && label !== '@') return drop('an SOA record below the apex')
  const printed = callArguments(type, data)
  if (!printed.ok) return drop(printed.message)
  if (type === 'TXT' && octetsToTxtRdata(txtRdataToOctets(data)) !== data) say('the division of its text into strings')
  if (type === 'TXT' && data.includes('\\\\')) say('a backslash in text, which DNSControl 5 reads as an escape')
  if (ttl === 0) say('a TTL of 0')
  const own = ttl !== 0 && ttl !== null && ttl !== defaultTtl ? [`TTL(${ttl})`] : []
  // DNSControl takes a label that ends like the zone for a mistake.
  const doubled = `${label}.`.endsWith(zone) ? ["{skip_fqdn_check: 'true'}"] : []
  const call = `${type}(${[jsString(label), ...printed.value, ...own, ...doubled].join(', ')})`
  return type === 'SMIMEA' ? `AT(${jsString(label)}, ${call})` : call
}

const INVALID_IDN = 'a name with a label xn-- that is not valid IDNA'

const isReverse = (zone: DomainName): boolean => /\.(?:in-addr|ip6)\.arpa\.$/.test(zone)

/** Whether DNSControl reverses the label of a PTR record as an address. */
const isAddress = (label: string): boolean => /^\d{1,3}(?:\.\d{1,3}){3}$/.test(label) || label.includes(':')

function mostCommonTtl(records: readonly DefinedRecord[]): number {
  const counts = new Map<number, number>()
  for (const { ttl } of records) if (ttl !== null && ttl !== 0) counts.set(ttl, (counts.get(ttl) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0]?.[0] ?? DEFAULT_TTL
}
