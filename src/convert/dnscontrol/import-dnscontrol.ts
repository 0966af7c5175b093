import { resolve } from 'node:path'
import { displayPath } from '../../definition/files/file-path.ts'
import { readText } from '../../definition/files/read-text.ts'
import { sourcePolicy } from '../../definition/load/source-policy.ts'
import { zoneFileDefinition } from '../../definition/load/zone-file-definition.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { type DomainName, parseDomainName } from '../../dns/domain-name.ts'
import type { Imported, UnsupportedFeature } from '../conversion.ts'
import type { Importer } from '../importer.ts'
import { missingZones } from '../provider/missing-zones.ts'
import { type ZoneToConvert, zoneOfDnscontrol } from './dnscontrol-zone.ts'
import { commentedItems, zoneParts } from './get-zones-file.ts'
import { type DnscontrolDomain, readIntermediate } from './read-intermediate.ts'
import { isTsv, readTsv } from './read-tsv.ts'

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
  } satisfies Imported
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
