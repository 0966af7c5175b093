import { stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { CONFIG_FILE } from '../../definitions/config.ts'
import { compileGlobs } from '../../definitions/file-glob.ts'
import { displayPath, isInside, realOr } from '../../definitions/file-path.ts'
import { includeReader } from '../../definitions/include-reader.ts'
import { systemFault } from '../../definitions/read-text.ts'
import { printDefinition } from '../../formats/definition/print-definition.ts'
import { type MadeTarget, printMadeConfig, targetOf } from '../../formats/octodns/made-config.ts'
import { type OctodnsConfig, type OctodnsZoneEntry, readOctodnsConfig } from '../../formats/octodns/read-octodns-config.ts'
import { type YamlSource, yamlSourceOf } from '../../formats/octodns/yaml-source.ts'
import { zoneFileName } from '../../formats/zone-file/zone-file-name.ts'
import type { Diagnostic } from '../../model/diagnostic.ts'
import type { DomainName } from '../../model/domain-name.ts'
import type { Imported, ImportedZone, LostItem } from '../../model/exchange.ts'
import type { Ttl } from '../../model/ttl.ts'
import type { ImportRequest } from './importer.ts'
import { missingZones } from './missing-zones.ts'
import { findOctodnsZones, type OctodnsZoneFiles, zonesInTwo } from './octodns-files.ts'
import { joined, readAll, readingOf, type ZoneToRead } from './octodns-zones.ts'

/** A YAML source with what is in its directory. */
interface OpenSource {
  readonly source: YamlSource
  /** The folder that the paths of its files start from. */
  readonly base: string
  readonly zones: ReadonlyMap<DomainName, OctodnsZoneFiles>
}

interface Run {
  readonly request: ImportRequest
  readonly sources: ReadonlyMap<string, OpenSource>
  readonly targets: ReadonlyMap<string, MadeTarget | null>
  readonly lost: LostItem[]
  readonly diagnostics: Diagnostic[]
}

/** A zone with where it goes. */
interface RoutedZone extends ZoneToRead {
  readonly targets: readonly string[]
}

/** The zones that a configuration of octoDNS names, and a `zonewright.yaml` that says of them what it said. */
export async function importOctodnsConfig(path: string, text: string, request: ImportRequest): Promise<Imported> {
  const file = displayPath(path, request.cwd)
  const config = readOctodnsConfig(text, file, includeReader({ ...request.config, folder: dirname(path), cwd: request.cwd }))
  const run = await openRun(config, path, request)
  const routed = routeZones(config.zones, run)
  const wanted = routed.filter((zone) => request.zones.length === 0 || request.zones.includes(nameOf(zone)))
  const sources = [...run.sources.values()].map(({ source }) => source)
  const defaultTtl = sources[0]?.defaultTtl ?? request.config.octodnsDefaultTtl
  const splitExtension = commonExtension(sources, run)
  const imported = withCommonTtl(joined(await readAll(wanted)), wanted, defaultTtl)
  const rules = groupRules(wanted, imported, defaultTtl)
  const targets = [...run.targets.values()].filter((target) => target !== null)
  const made = printMadeConfig({ from: file, defaultTtl, splitExtension, targets, rules })
  return {
    zones: imported.zones,
    lost: [...config.lost, ...run.lost, ...imported.lost],
    diagnostics: [
      ...config.diagnostics,
      ...run.diagnostics,
      ...imported.diagnostics,
      ...missingZones(
        request.zones,
        routed.map((zone) => ({ name: nameOf(zone) })),
        file,
      ),
    ],
    files: [...(imported.files ?? []), { path: CONFIG_FILE, text: made }],
    reading: { octodnsDefaultTtl: defaultTtl as Ttl, octodnsSplitExtension: splitExtension ?? request.config.octodnsSplitExtension },
  }
}

async function openRun(config: OctodnsConfig, path: string, request: ImportRequest): Promise<Run> {
  const lost: LostItem[] = []
  const diagnostics: Diagnostic[] = []
  const yaml = [...config.providers.values()].flatMap((provider) => {
    const source = yamlSourceOf(provider, lost)
    return source === null ? [] : [{ source, at: provider.at }]
  })
  const used = new Set(config.zones.flatMap((zone) => zone.sources))
  const base = await baseOf(
    yaml.map(({ source }) => source),
    path,
    request.cwd,
  )
  const sources = new Map<string, OpenSource>()
  for (const { source, at } of yaml) {
    if (!used.has(source.name)) continue
    const directory = resolve(base, source.directory)
    try {
      const zones = await findOctodnsZones(directory, source)
      diagnostics.push(...zonesInTwo(zones, request.cwd))
      sources.set(source.name, { source, base: baseFor(directory, base), zones: new Map(zones.map((zone) => [zone.zone, zone])) })
    } catch (error) {
      const message = `the directory ${displayPath(directory, request.cwd)} of the provider ${source.name} ${systemFault(error)}`
      diagnostics.push({ severity: 'error', code: 'file-unreadable', message, at })
    }
  }
  const targets = new Map<string, MadeTarget | null>()
  for (const provider of config.providers.values()) {
    if (sources.has(provider.name)) continue
    const others = [...[...targets.values()].flatMap((made) => made?.name ?? []), ...config.providers.keys()]
    const target = targetOf(provider, lost, new Set(others.filter((name) => name !== provider.name)))
    targets.set(provider.name, target)
    if (target === null) {
      const what = `the provider ${provider.name}, a ${provider.className}`
      lost.push({ zone: null, name: null, type: null, what, at: provider.at })
    }
  }
  return { request, sources, targets, lost, diagnostics }
}

/** octoDNS takes directories from where it is started: here, beside its configuration, or above that. The first that has them counts. */
async function baseOf(sources: readonly YamlSource[], path: string, cwd: string): Promise<string> {
  const candidates = [cwd, dirname(path), dirname(dirname(path))]
  for (const folder of candidates) {
    const there = await Promise.all(
      sources.map(({ directory }) =>
        stat(resolve(folder, directory)).then(
          (facts) => facts.isDirectory(),
          () => false,
        ),
      ),
    )
    if (there.length > 0 && there.every((is) => is)) return realOr(folder)
  }
  return realOr(cwd)
}

/** A directory elsewhere comes in under its own name. */
const baseFor = (directory: string, base: string): string => (isInside(realOr(directory), base) ? base : dirname(realOr(directory)))

/** Every zone of the entries once: those with a name, what dynamic entries find, and aliases of both. */
function routeZones(entries: readonly OctodnsZoneEntry[], run: Run): RoutedZone[] {
  const routed = new Map<DomainName, RoutedZone>()
  const named = new Map(entries.flatMap((entry) => (entry.name === null ? [] : [[entry.name, entry] as const])))
  /** The entry of each zone that has sources of its own. */
  const origins = new Map<DomainName, OctodnsZoneEntry>()
  const route = (origin: DomainName, as: DomainName, entry: OctodnsZoneEntry): void => {
    const zone = routeZone(origin, as, entry, run)
    if (zone !== null) routed.set(as, { ...zone, targets: entry.targets })
  }
  for (const [name, entry] of named) if (entry.alias === null) origins.set(name, entry)
  for (const [name, entry] of origins) route(name, name, entry)
  for (const entry of entries) {
    if (entry.name !== null) continue
    const isTaken = entry.glob === null ? () => true : globTest(entry.glob)
    const names = entry.sources.flatMap((name) => [...(run.sources.get(name)?.zones.keys() ?? [])])
    for (const name of new Set(names)) {
      if (origins.has(name) || named.has(name) || !isTaken(name)) continue
      origins.set(name, entry)
      route(name, name, entry)
    }
  }
  for (const [name, entry] of named) {
    if (entry.alias === null) continue
    const origin = origins.get(entry.alias)
    if (origin === undefined) tell(run, entry, `${name} is an alias of ${entry.alias}, which the configuration does not name`)
    else route(entry.alias, name, origin)
  }
  return [...routed.values()].map((zone) => ({ ...zone, targets: zone.targets.flatMap((name) => madeTarget(name, zone, run)) }))
}

/** The name of the provider that stands for a target. Providers that nothing here stands for are told once, not for each zone. */
function madeTarget(name: string, zone: ZoneToRead, { targets, sources, lost }: Run): string[] {
  const target = targets.get(name)
  if (target === undefined) {
    const what = sources.has(name)
      ? `its target ${name}, a directory of files`
      : `its target ${JSON.stringify(name)}, which is no provider there`
    lost.push({ zone: nameOf(zone), name: null, type: null, what, at: undefined })
  }
  return target ? [target.name] : []
}

function globTest(glob: string): (name: DomainName) => boolean {
  const { matches } = compileGlobs([glob], '/')
  return (name) => matches(name)
}

const tell = (run: Run, { at }: OctodnsZoneEntry, message: string): void =>
  void run.diagnostics.push({ severity: 'error', code: 'zone-unknown', message, at })

/** The files of a zone, from the first of its sources that has it; other sources have no place here. */
function routeZone(origin: DomainName, as: DomainName, entry: OctodnsZoneEntry, run: Run): ZoneToRead | null {
  let found: ZoneToRead | null = null
  for (const name of entry.sources) {
    const open = run.sources.get(name)
    const files = open?.zones.get(origin)
    if (open && files && found === null) {
      const { defaultTtl, escapesSemicolons } = open.source
      found = { files, reading: readingOf(open.base, run.request, { defaultTtl, escapesSemicolons }), as: as === origin ? undefined : as }
    } else if (!open || files) run.lost.push({ zone: as, name: null, type: null, what: `the records of the source ${name}`, at: entry.at })
  }
  if (found === null) tell(run, entry, `no source of ${as} has a file of it`)
  return found
}

/**
 * A config says one TTL for records without any: that of the first source. A zone from a source with another is printed anew, each
 * record with its TTL.
 */
function withCommonTtl(imported: Imported, wanted: readonly RoutedZone[], ttl: number): Imported {
  const odd = new Set(wanted.filter(({ reading }) => reading.defaultTtl !== ttl).map(nameOf))
  return { ...imported, zones: imported.zones.map((zone) => (odd.has(zone.name) ? printedAnew(zone) : zone)) }
}

function printedAnew(zone: ImportedZone): ImportedZone {
  const path = zone.files?.[0]?.path ?? ''
  const name = zoneFileName(zone.name, new Set(), 'yaml')
  const folder = dirname(path).replace(/(?:^|\/)[^/]*\.$/, '')
  return {
    ...zone,
    files: [{ path: folder === '' || folder === '.' ? name : `${folder}/${name}`, text: printDefinition({ ...zone, files: undefined }) }],
  }
}

const nameOf = ({ files, as }: ZoneToRead): DomainName => as ?? files.zone

function commonExtension(sources: readonly YamlSource[], run: Run): string | null {
  const extensions = [...new Set(sources.flatMap(({ splitExtension }) => splitExtension ?? []))]
  if (extensions.length > 1)
    run.lost.push({ zone: null, name: null, type: null, what: `several values of split_extension (${extensions.join(', ')})` })
  return extensions[0] ?? null
}

/** Zones by their targets, in the order of the configuration. */
function groupRules(
  wanted: readonly RoutedZone[],
  { zones }: Imported,
  defaultTtl: number,
): { files: string[]; targets: readonly string[] }[] {
  const imported = new Map(zones.map((zone) => [zone.name, zone]))
  const groups = new Map<string, { files: string[]; targets: readonly string[] }>()
  for (const routed of wanted) {
    const zone = imported.get(nameOf(routed))
    if (zone === undefined) continue
    const path = zone.files?.[0]?.path ?? ''
    const key = routed.targets.join(' ')
    const group = groups.get(key) ?? { files: [], targets: routed.targets }
    group.files.push(routed.files.folder !== null && routed.reading.defaultTtl === defaultTtl ? dirname(path) : path)
    groups.set(key, group)
  }
  return [...groups.values()]
}
