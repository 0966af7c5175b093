import { resolve } from 'node:path'
import { displayPath } from '../../definition/files/file-path.ts'
import { readText } from '../../definition/files/read-text.ts'
import type { ImportedRecord, ImportedZone } from '../../definition/imported-zone.ts'
import { withoutRepeats } from '../../definition/load/repeated-records.ts'
import { sourcePolicy } from '../../definition/load/source-policy.ts'
import { settingsOfSoa, zoneFileDefinition } from '../../definition/load/zone-file-definition.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { type DomainName, parseDomainName } from '../../dns/domain-name.ts'
import { unmanagedTest } from '../../dns/unmanaged.ts'
import type { Policy, UnmanagedSelector, ZoneSettings } from '../../dns/zone.ts'
import { type DerivedSelectors, isExposed, recordsWithinRules, unmanagedSelectorsFor } from '../definable-records.ts'
import { checkSoaSettings } from '../definable-settings.ts'
import type { Importer } from '../importer.ts'
import { type ImportedZones, missingZones } from '../importer.ts'
import { excerpt, type UnsupportedFeature } from '../unsupported-features.ts'
import { commentedItems, isTsv, readTsv, zoneParts } from './get-zones.ts'
import { type DnscontrolDomain, readIntermediate } from './read-intermediate.ts'
import type { UnsupportedRecord } from './read-records.ts'

interface Read {
  readonly zones: readonly ZoneToConvert[]
  readonly dropped: readonly UnsupportedFeature[]
  readonly diagnostics: readonly Diagnostic[]
}

/** Zones of DNSControl: the JSON of `dnscontrol print-ir`, or what `get-zones` writes with `--format=zone` or `tsv`. */
export const importDnscontrol: Importer = async ({ source, zones: wanted, cwd, config }) => {
  const path = resolve(cwd, source)
  const file = displayPath(path, cwd)
  const text = await readText(path, file, sourcePolicy(config, 'allowed'))
  if (!text.ok) return { zones: [], dropped: [], diagnostics: [{ severity: 'error', ...text.problem }] }
  const read = readAny(text.text, file, wanted)
  const zones = read.zones.filter(({ name }) => wanted.length === 0 || wanted.some((one) => plainName(one) === name))
  const dropped = read.dropped.filter(({ zone }) => zone === null || zones.some(({ name }) => name === zone))
  const imported = zones.map((zone) => zoneOfDnscontrol(zone, file))
  const missing = missingZones(wanted.map(plainName), read.zones, file)
  return {
    zones: imported.map(({ zone }) => zone),
    dropped: [...dropped, ...imported.flatMap((one) => one.dropped)],
    diagnostics: [...read.diagnostics, ...missing, ...imported.flatMap((one) => one.diagnostics)],
  } satisfies ImportedZones
}

/** How a script of DNSControl begins a domain; no zone file does. */
const SCRIPT = /^[ \t]*D(?:_EXTEND)?\(\s*["'`\w]/m

function readAny(text: string, file: string, wanted: readonly DomainName[]): Read {
  if (/\.js$/i.test(file) || SCRIPT.test(text.slice(0, 100_000))) {
    const message = `${file} is a script, which DNSControl itself has to run`
    const hint = 'import what this writes: dnscontrol print-ir --out ir.json'
    return { zones: [], dropped: [], diagnostics: [{ severity: 'error', code: 'file-format', message, hint }] }
  }
  const start = text.trimStart()
  if (start.startsWith('{') || start.startsWith('[')) {
    const { domains, dropped, diagnostics } = readIntermediate(text, file)
    const chosen = chooseVariants(domains, wanted)
    return {
      zones: chosen.domains,
      dropped: [...dropped, ...chosen.domains.flatMap((domain) => domain.dropped), ...chosen.dropped],
      diagnostics,
    }
  }
  return isTsv(text) ? readTsv(text, file) : readZoneFiles(text, file)
}

/** Zone files one after another. Their lines are counted on. */
function readZoneFiles(text: string, file: string): Read {
  const zones: ZoneToConvert[] = []
  const dropped: UnsupportedFeature[] = []
  const diagnostics: Diagnostic[] = []
  for (const part of zoneParts(text)) {
    if (part.text.trim() === '') continue
    const { zone, diagnostics: found } = zoneFileDefinition('\n'.repeat(part.linesBefore) + part.text, null, { file })
    diagnostics.push(...found)
    for (const { line, type, what } of commentedItems(part.text))
      dropped.push({ zone: zone?.name ?? null, name: null, type, what, at: { file, line: part.linesBefore + line, column: 1 } })
    if (zone !== null) zones.push({ name: zone.name, records: zone.records, settings: zone.settings })
  }
  return { zones, dropped, diagnostics }
}

/**
 * One variant of each zone: the one asked for as `example.com!inside`, else that without a tag, else the first. Two cannot stand side
 * by side until each has targets of its own.
 */
function chooseVariants(
  domains: readonly DnscontrolDomain[],
  wanted: readonly DomainName[],
): { readonly domains: readonly DnscontrolDomain[]; readonly dropped: readonly UnsupportedFeature[] } {
  const chosen = new Map<DomainName, DnscontrolDomain>()
  const asked = new Set<DomainName | null>(wanted)
  for (const domain of domains) {
    const known = chosen.get(domain.name)
    if (known === undefined || asked.has(variantName(domain)) || (domain.tag === '' && !asked.has(variantName(known))))
      chosen.set(domain.name, domain)
  }
  const dropped = domains
    .filter((domain) => chosen.get(domain.name) !== domain)
    .map(({ name, tag }) => ({
      zone: name,
      name: null,
      type: null,
      what: `a second variant of a zone (${JSON.stringify(tag)}): import it by itself, as ${variant(name, tag)}`,
    }))
  return { domains: [...chosen.values()], dropped }
}

const variant = (name: DomainName, tag: string): string => `${name.slice(0, -1)}${tag === '' ? '' : `!${tag}`}`

function variantName({ name, tag }: DnscontrolDomain): DomainName | null {
  const parsed = tag === '' ? null : parseDomainName(`${variant(name, tag)}.`)
  return parsed?.ok ? parsed.value : null
}

/** The name without a tag. */
function plainName(name: DomainName): DomainName {
  const parsed = parseDomainName(name.replace(/\\?!.*$/, '.'))
  return name.includes('!') && parsed.ok ? parsed.value : name
}

/** A zone as one of DNSControl's formats has it. */
interface ZoneToConvert {
  readonly name: DomainName
  readonly records: readonly ImportedRecord[]
  readonly unknownSettings?: readonly UnsupportedRecord[]
  readonly unmanaged?: readonly UnmanagedSelector[]
  /** How careful plans are to be; all that differs is changed where it is absent or null. */
  readonly policy?: Policy | null
  /** Where they are known apart from an SOA record. */
  readonly settings?: ZoneSettings
  /** Warnings of what is said of the zone and not of its records. */
  readonly asides?: readonly Diagnostic[]
}

interface DnscontrolZone {
  readonly zone: ImportedZone
  readonly dropped: readonly UnsupportedFeature[]
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * The zone as a definition can have it: its SOA record is settings. A record that a definition cannot have is named, and selectors leave it
 * alone where it is; so is one that is of what `IGNORE` leaves to others, which DNSControl allows where its check is switched off.
 */
function zoneOfDnscontrol(read: ZoneToConvert, file: string): DnscontrolZone {
  const { name, unknownSettings = [], unmanaged = [], settings } = read
  const at = { file, line: 1, column: 1 }
  const soa = read.records.find((record) => record.type === 'SOA' && record.name === name)
  const { records: all, diagnostics } = withoutRepeats(
    read.records.filter((record) => record !== soa).map((record) => ({ ...record, at: record.at ?? at })),
  )
  const isIgnored = unmanagedTest(unmanaged, name)
  const ignored = all.filter(isIgnored)
  const { records, others } = recordsWithinRules(
    name,
    all.filter((record) => !isIgnored(record)),
  )
  const undefinable: readonly UnsupportedRecord[] = [...unknownSettings, ...others]
  const left = unmanagedSelectorsFor(name, { records, others: undefinable })
  const checked = checkSoaSettings({
    name,
    settings: settings ?? (soa ? settingsOfSoa(soa) : {}),
    records,
    unmanaged: [...unmanaged, ...left.selectors],
    ...(read.policy && { policy: read.policy }),
  })
  return {
    zone: checked.zone,
    dropped: [
      ...checked.dropped,
      ...ignored.map((record) => lostRecord(name, record, 'an IGNORE leaves it to others', LEFT)),
      ...undefinable.map(({ record, why }) => lostRecord(name, record, why, outcomeOf(record, left))),
    ],
    diagnostics: [...diagnostics, ...(read.asides ?? [])],
  }
}

const LEFT = 'it is left out, and "unmanaged" leaves it as it is'

const outcomeOf = (record: ImportedRecord, left: DerivedSelectors): string =>
  isExposed(record, left) ? 'it is left out; no selector of "unmanaged" tells it from others, so that plans delete it' : LEFT

const lostRecord = (zone: DomainName, { name, type, data, at }: ImportedRecord, why: string, outcome: string): UnsupportedFeature => ({
  zone,
  name,
  type,
  what: data === '' ? why : `${excerpt(data)}: ${why}`,
  at,
  outcome,
})
