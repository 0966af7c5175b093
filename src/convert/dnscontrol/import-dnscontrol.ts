/** Imports zones of DNSControl from its intermediate JSON, TSV or zone files. */
import { dirname, resolve } from 'node:path'
import { type Diagnostic, hasErrors, isError } from '../../base/diagnostic.ts'
import type { ImportedRecord, ImportedZone } from '../../definition/imported-zone.ts'
import { type DomainName, parseDomainName } from '../../dns/domain-name.ts'
import { splitSoa } from '../../dns/soa.ts'
import { unmanagedTest } from '../../dns/unmanaged.ts'
import type { Policy, SoaFields, UnmanagedSelector, ZoneSettings } from '../../dns/zone.ts'
import { displayPath } from '../../files/file-path.ts'
import { readText } from '../../files/read-text.ts'
import { sourcePolicy } from '../../files/source-policy.ts'
import { removeDuplicateRecords, zoneFileDefinition } from '../../load/zone-file-definition.ts'
import { type DerivedSelectors, isInseparable, splitByRules, unmanagedSelectorsFor } from '../definable-records.ts'
import { type ImportedZones, type Importer, type ImportRequest, missingZones } from '../importer.ts'
import { droppedRecord, recordsOutside, type UnsupportedFeature } from '../unsupported-features.ts'
import { convertDnscontrolTargets } from './convert-targets.ts'
import { commentedFeatures, isTsv, readTsv, splitZones } from './get-zones.ts'
import { programZones } from './program-zones.ts'
import { type DnscontrolConfig, type DnscontrolDomain, readConfiguration, readIntermediate } from './read-intermediate.ts'
import type { InvalidRecord } from './read-records.ts'

interface ParsedSource {
  readonly zones: readonly ZoneToConvert[]
  /** The types of DNS providers that the source states, by name. */
  readonly providerTypes: ReadonlyMap<string, string>
  readonly dropped: readonly UnsupportedFeature[]
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * Imports zones of DNSControl from its program (`dnsconfig.js`), from the JSON of `dnscontrol print-ir`, or from the output of `get-zones` with `--format=zone` or
 * `tsv`. A program stays the definition, unless it is converted.
 */
export const importDnscontrol: Importer = async (request) => {
  const { source, zones: wanted, cwd } = request
  const path = resolve(cwd, source)
  const file = displayPath(path, cwd)
  if (/\.js$/i.test(file) && request.options.convert !== true) return keepProgram(path, file, request)
  const parsed = /\.js$/i.test(file) ? await convertProgram(path, file, request) : await readSource(path, file, request)
  const zones = parsed.zones.filter(({ name }) => wanted.length === 0 || wanted.some((one) => withoutTag(one) === name))
  const dropped = parsed.dropped.filter(({ zone }) => zone === null || zones.some(({ name }) => name === zone))
  const paid = paidProviders(zones)
  const targets = await convertDnscontrolTargets(zones, parsed.providerTypes, request, paid)
  const imported = zones.map((zone) => convertDnscontrolZone(zone, targets.names, file))
  return {
    zones: imported.map(({ zone }) => zone),
    dropped: [...dropped, ...imported.flatMap((one) => one.dropped)],
    diagnostics: [...parsed.diagnostics, ...imported.flatMap((one) => one.diagnostics), ...targets.diagnostics],
    newConfig: targets.newConfig,
  } satisfies ImportedZones
}

/** Runs a dnsconfig.js; null if it fails. */
async function runProgram(path: string, { cwd, config }: ImportRequest) {
  const { runDnsconfigFile } = await import('../../programs/load-program.ts')
  const { file, folder } = config.file === null ? { file: null, folder: dirname(path) } : config
  return runDnsconfigFile(path, { ...config, file, folder, cwd })
}

/** A config for a program that stays the definition, with what plans of it will leave alone. */
async function keepProgram(path: string, file: string, request: ImportRequest): Promise<ImportedZones> {
  const hint = '--convert writes definitions'
  const message = `zones and -o are for definitions in YAML, but ${file} stays the definition of all its zones`
  if (request.zones.length > 0 || request.options.out !== undefined)
    return { zones: [], dropped: [], diagnostics: [{ severity: 'error', code: 'usage', message, hint }] }
  const { config, diagnostics } = await runProgram(path, request)
  if (config === null || hasErrors(diagnostics)) return { zones: [], dropped: [], diagnostics }
  const { domains, providerTypes, diagnostics: aside } = readConfiguration(() => config, file)
  const made = programZones(config, file)
  if (hasErrors(made.diagnostics)) return { zones: [], dropped: [], diagnostics: made.diagnostics }
  const targets = await convertDnscontrolTargets(domains, providerTypes, request, paidProviders(domains), path)
  const { file: known } = request.config
  const add = `${known} is not changed: add {files: [${file}]} to its zones, unless it has it`
  const existing: Diagnostic[] = known === null ? [] : [{ severity: 'notice', code: 'import-aside', message: add }]
  // Loading the new config reports errors.
  const warnings = made.zones.flatMap((one) => one.diagnostics.filter((found) => !isError(found)))
  return {
    zones: domains.map((domain) => convertDnscontrolZone(domain, targets.names, file).zone),
    dropped: [],
    diagnostics: [...diagnostics, ...aside, ...warnings, ...targets.diagnostics, ...existing],
    newConfig: targets.newConfig,
    keepsSource: true,
  }
}

async function convertProgram(path: string, file: string, request: ImportRequest): Promise<ParsedSource> {
  const { config, diagnostics } = await runProgram(path, request)
  if (config === null || hasErrors(diagnostics)) return { zones: [], providerTypes: new Map(), dropped: [], diagnostics }
  const parsed = parseConfiguration(
    readConfiguration(() => config, file),
    file,
    request.zones,
  )
  return { ...parsed, diagnostics: [...diagnostics, ...parsed.diagnostics] }
}

async function readSource(path: string, file: string, { zones: wanted, config }: ImportRequest): Promise<ParsedSource> {
  const text = await readText(path, file, sourcePolicy(config, 'allowed'))
  if (text.ok) return parseSource(text.text, file, wanted)
  return { zones: [], providerTypes: new Map(), dropped: [], diagnostics: [{ severity: 'error', ...text.problem }] }
}

/** The providers that have records which need a paid plan of Cloudflare. */
const paidProviders = (zones: readonly ZoneToConvert[]): ReadonlySet<string> =>
  new Set(zones.flatMap(({ providers = [], records }) => (records.some(needsPaidPlan) ? providers : [])))

/** The start of a domain in a DNSControl script, which no zone file contains. */
const SCRIPT = /^[ \t]*D(?:_EXTEND)?\(\s*["'`\w]/m

function parseSource(text: string, file: string, wanted: readonly DomainName[]): ParsedSource {
  if (SCRIPT.test(text.slice(0, 100_000))) {
    const message = `${file} is a program of DNSControl, but its name does not end in .js`
    const hint = 'rename it to dnsconfig.js'
    return { zones: [], providerTypes: new Map(), dropped: [], diagnostics: [{ severity: 'error', code: 'file-format', message, hint }] }
  }
  const start = text.trimStart()
  if (start.startsWith('{') || start.startsWith('[')) return parseConfiguration(readIntermediate(text, file), file, wanted)
  const read = isTsv(text) ? readTsv(text, file) : readZoneFiles(text, file)
  return { ...read, providerTypes: new Map(), diagnostics: [...read.diagnostics, ...missingZones(wanted, read.zones, file)] }
}

function parseConfiguration(
  { domains, providerTypes, dropped, diagnostics }: DnscontrolConfig,
  file: string,
  wanted: readonly DomainName[],
): ParsedSource {
  const chosen = chooseVariants(domains, wanted)
  const variants = domains.flatMap((domain) => [{ name: domain.name }, { name: parseTaggedName(domain) }])
  return {
    zones: chosen.domains,
    providerTypes,
    dropped: [...dropped, ...chosen.domains.flatMap((domain) => domain.dropped), ...chosen.dropped],
    diagnostics: [...diagnostics, ...missingZones(wanted, variants, file)],
  }
}

/** Reads concatenated zone files. Positions are those in the whole text. */
function readZoneFiles(text: string, file: string): Omit<ParsedSource, 'providerTypes'> {
  const zones: ZoneToConvert[] = []
  const dropped: UnsupportedFeature[] = []
  const diagnostics: Diagnostic[] = []
  for (const part of splitZones(text)) {
    if (part.text.trim() === '') continue
    const { zone, outside, diagnostics: found } = zoneFileDefinition('\n'.repeat(part.linesBefore) + part.text, null, { file })
    diagnostics.push(...found)
    for (const { line, type, what } of commentedFeatures(part.text))
      dropped.push({ zone: zone?.name ?? null, name: null, type, what, at: { file, line: part.linesBefore + line, column: 1 } })
    if (zone === null) continue
    dropped.push(...recordsOutside(outside, zone.name))
    zones.push({ name: zone.name, records: zone.records, settings: zone.settings, soa: zone.soa })
  }
  return { zones, dropped, diagnostics }
}

/**
 * Chooses one variant of each zone: the one requested as `example.com!inside`, else the one without a tag, else the first. Two cannot
 * coexist until each has its own targets. The others are no loss if the chosen one was requested by its tag.
 */
function chooseVariants(
  domains: readonly DnscontrolDomain[],
  wanted: readonly DomainName[],
): { readonly domains: readonly DnscontrolDomain[]; readonly dropped: readonly UnsupportedFeature[] } {
  const chosen = new Map<DomainName, DnscontrolDomain>()
  const isNamed = (domain: DnscontrolDomain): boolean => wanted.includes(parseTaggedName(domain))
  const isRequested = (domain: DnscontrolDomain): boolean => domain.tag !== '' && isNamed(domain)
  for (const domain of domains) {
    const known = chosen.get(domain.name)
    if (known === undefined || isRequested(domain) || (domain.tag === '' && !isRequested(known))) chosen.set(domain.name, domain)
  }
  const isLoss = (domain: DnscontrolDomain, other: DnscontrolDomain): boolean =>
    domain !== other && (isNamed(domain) || !isRequested(other))
  const dropped = domains
    .filter((domain) => isLoss(domain, chosen.get(domain.name) ?? domain))
    .map(({ name, tag }) => ({
      zone: name,
      name: null,
      type: null,
      what: `a second variant of a zone (${JSON.stringify(tag)}): import it separately, as ${taggedName(name, tag)}`,
    }))
  return { domains: [...chosen.values()], dropped }
}

const taggedName = (name: DomainName, tag: string): string => `${name.slice(0, -1)}${tag === '' ? '' : `!${tag}`}`

function parseTaggedName({ name, tag }: DnscontrolDomain): DomainName {
  const parsed = parseDomainName(`${taggedName(name, tag)}.`)
  return parsed.ok ? parsed.value : name
}

/** The name without a tag. */
function withoutTag(name: DomainName): DomainName {
  const parsed = parseDomainName(name.replace(/\\?!.*$/, '.'))
  return name.includes('!') && parsed.ok ? parsed.value : name
}

/** A zone as a DNSControl format describes it. */
interface ZoneToConvert {
  readonly name: DomainName
  readonly records: readonly ImportedRecord[]
  readonly invalidRecords?: readonly InvalidRecord[]
  readonly unmanaged?: readonly UnmanagedSelector[]
  /** The policy for plans; absent or null for `sync`. */
  readonly policy?: Policy | null
  /** Settings that do not come from an SOA record. */
  readonly settings?: ZoneSettings
  /** With `settings`: the fields of its SOA record that they cannot express. */
  readonly soa?: SoaFields | undefined
  /** DNSControl's names of its DNS providers. */
  readonly providers?: readonly string[]
  /** Warnings about the zone rather than its records. */
  readonly warnings?: readonly Diagnostic[]
}

interface DnscontrolZone {
  readonly zone: ImportedZone
  readonly dropped: readonly UnsupportedFeature[]
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * Converts a zone to what a definition can express; its SOA record becomes settings. A record that no definition can contain is reported,
 * and selectors of unmanaged records keep it. The same applies to a record that an `IGNORE` matches, which DNSControl accepts if its check
 * is disabled.
 */
function convertDnscontrolZone(read: ZoneToConvert, targetNames: ReadonlyMap<string, string>, file: string): DnscontrolZone {
  const { name, invalidRecords = [], unmanaged = [], settings, providers = [] } = read
  const targets = [...new Set(providers.flatMap((provider) => targetNames.get(provider) ?? []))]
  const at = { file, line: 1, column: 1 }
  const soa = read.records.find((record) => record.type === 'SOA' && record.name === name)
  const { records: all, diagnostics } = removeDuplicateRecords(
    read.records.filter((record) => record !== soa).map((record) => ({ ...record, at: record.at ?? at })),
  )
  const isIgnored = unmanagedTest(unmanaged, name)
  const ignored = all.filter(isIgnored)
  const { records, undefinable: refused } = splitByRules(
    name,
    all.filter((record) => !isIgnored(record)),
  )
  const undefinable: readonly InvalidRecord[] = [...invalidRecords, ...refused]
  const derived = unmanagedSelectorsFor(name, { records, undefinable })
  const zone: ImportedZone = {
    name,
    ...(settings === undefined && soa ? splitSoa(soa) : { settings: settings ?? {}, soa: read.soa }),
    records,
    unmanaged: [...unmanaged, ...derived.selectors],
    ...(read.policy && { policy: read.policy }),
    ...(targets.length > 0 && { targets }),
  }
  return {
    zone,
    dropped: [
      ...ignored.map((record) => ({ ...droppedRecord(name, record, 'an IGNORE matches it', KEPT), restricts: false })),
      ...undefinable.map(({ record, reason }) => droppedRecord(name, record, reason, outcomeOf(record, derived))),
    ],
    diagnostics: [...diagnostics, ...(read.warnings ?? [])],
  }
}

/** Whether Cloudflare's plan `free` would refuse the tags or the comment of a record. */
const needsPaidPlan = ({ providerSettings }: ImportedRecord): boolean =>
  providerSettings?.['cloudflare']?.['tags'] !== undefined || String(providerSettings?.['cloudflare']?.['comment'] ?? '').length > 100

const KEPT = 'it is left out, and "unmanaged" keeps it unchanged'

const outcomeOf = (record: ImportedRecord, derived: DerivedSelectors): string =>
  isInseparable(record, derived)
    ? 'it is left out; no selector of "unmanaged" can separate it from managed records, so plans delete it'
    : KEPT
