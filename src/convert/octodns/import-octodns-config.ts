import { dirname } from 'node:path'
import { CONFIG_FILE } from '../../definition/config/config.ts'
import { displayPath } from '../../definition/files/file-path.ts'
import type { ImportedZone } from '../../definition/imported-zone.ts'
import { includeReader } from '../../definition/load/include-reader.ts'
import type { Ttl } from '../../dns/ttl.ts'
import type { Imported, UnsupportedFeature } from '../conversion.ts'
import type { ImportRequest } from '../importer.ts'
import { missingZones } from '../provider/missing-zones.ts'
import { type ConvertedRule, printConvertedConfig } from './converted-config.ts'
import { type ConvertedTarget, targetOf } from './converted-target.ts'
import { type Processing, processingOf } from './octodns-processors.ts'
import { type RoutedZone, routeZones } from './octodns-routes.ts'
import { type OpenSource, openSources } from './octodns-sources.ts'
import { joined, readAll } from './octodns-zones.ts'
import { type OctodnsConfig, readOctodnsConfig } from './read-octodns-config.ts'
import type { ReadOctodnsZone } from './read-octodns-zone.ts'

/** The zones that a configuration of octoDNS names, and a `zonewright.yaml` that says of them what it said. */
export async function importOctodnsConfig(path: string, text: string, request: ImportRequest): Promise<Imported> {
  const file = displayPath(path, request.cwd)
  const config = readOctodnsConfig(text, file, includeReader({ ...request.config, folder: dirname(path), cwd: request.cwd }))
  const opened = await openSources(config, path, request)
  const routes = routeZones(config, opened.sources, request)
  const wanted = routes.zones.filter(({ name }) => request.zones.length === 0 || request.zones.includes(name))
  const dropped: UnsupportedFeature[] = []
  const targets = makeTargets(config, opened.sources, dropped)
  const sources = [...opened.sources.values()].map(({ source }) => source)
  const defaultTtl = sources[0]?.defaultTtl ?? request.config.octodnsDefaultTtl
  const splitExtension = commonExtension(sources)
  const reading = {
    octodnsDefaultTtl: defaultTtl as Ttl,
    octodnsSplitExtension: splitExtension ?? request.config.octodnsSplitExtension,
  }
  const read = await readAll(wanted, reading)
  const imported = joined(read)
  const processing = processingOf(config)
  const rules = groupRules(wanted, read, { targets, sources: opened.sources, processing, dropped })
  dropped.push(...renamedScopes(imported, targets))
  const made = printConvertedConfig({
    from: file,
    defaultTtl,
    splitExtension,
    targets: [...targets.values()].filter((target) => target !== null),
    rules,
  })
  return {
    zones: imported.zones,
    dropped: [...config.dropped, ...opened.dropped, ...routes.dropped, ...dropped, ...processing.dropped(), ...imported.dropped],
    diagnostics: [
      ...config.diagnostics,
      ...processing.unused,
      ...opened.diagnostics,
      ...routes.diagnostics,
      ...imported.diagnostics,
      ...missingZones(request.zones, routes.zones, file),
    ],
    files: [...(imported.files ?? []), { path: CONFIG_FILE, text: made }],
    reading,
  }
}

/** Our provider for each of theirs that is no source of files; null where nothing here stands for it, which is told once. */
function makeTargets(
  { providers, secretHandlers }: OctodnsConfig,
  sources: ReadonlyMap<string, OpenSource>,
  dropped: UnsupportedFeature[],
): Map<string, ConvertedTarget | null> {
  const targets = new Map<string, ConvertedTarget | null>()
  for (const provider of providers.values()) {
    if (sources.has(provider.name)) continue
    const taken = new Set([...[...targets.values()].flatMap((made) => made?.name ?? []), ...providers.keys()])
    taken.delete(provider.name)
    const target = targetOf(provider, dropped, { taken, secretHandlers })
    targets.set(provider.name, target)
    if (target !== null) continue
    const what = `the provider ${provider.name} of the class ${provider.className}`
    dropped.push({ zone: null, name: null, type: null, what, at: provider.at })
  }
  return targets
}

interface Ruling {
  readonly targets: ReadonlyMap<string, ConvertedTarget | null>
  readonly sources: ReadonlyMap<string, OpenSource>
  readonly processing: Processing
  readonly dropped: UnsupportedFeature[]
}

/** Zones by where they go and how carefully, in the order of the configuration. */
function groupRules(wanted: readonly RoutedZone[], read: readonly ReadOctodnsZone[], run: Ruling): ConvertedRule[] {
  const groups = new Map<string, ConvertedRule & { readonly files: string[] }>()
  for (const [i, routed] of wanted.entries()) {
    const one = read[i]
    if (!one || one.zone === null) continue
    const rule = ruleOf(routed, one.zone, run)
    const key = JSON.stringify(rule)
    const group = groups.get(key) ?? { ...rule, files: [] }
    group.files.push(one.place)
    groups.set(key, group)
  }
  return [...groups.values()]
}

/** Where a zone goes. Where its targets differ in how careful they are, the most careful counts. */
function ruleOf(routed: RoutedZone, zone: ImportedZone, { targets, sources, processing, dropped }: Ruling): Omit<ConvertedRule, 'files'> {
  const { name, entry, own } = routed
  const lose = (what: string, outcome?: string): void =>
    void dropped.push({ zone: name, name: null, type: null, what, at: own.at, outcome })
  if (own.isDryRun) lose('always-dry-run', 'its rule has "enabled: false", and no plan is made of it')
  const made = entry.targets.flatMap((target) => {
    const known = targets.get(target)
    // Providers that nothing here stands for are told once, not for each zone.
    if (known === undefined && sources.has(target)) lose(`its target ${target}, a directory of files`)
    else if (known === undefined) lose(`its target ${JSON.stringify(target)}, which is no provider there`)
    return known && !known.isDryRun ? known : []
  })
  const limit = (key: keyof ConvertedTarget['safety']): number | undefined => {
    const given = [...new Set(made.map(({ safety }) => safety[key] ?? DEFAULT_LIMIT))].sort((a, b) => a - b)
    if (given.length > 1 && own.safety[key] === undefined)
      lose(`limits of its targets that differ (${given.join(', ')} %); all have the lowest`)
    return own.safety[key] ?? (given[0] === DEFAULT_LIMIT ? undefined : given[0])
  }
  const [deletes, updates] = [limit('max_delete_percent'), limit('max_update_percent')]
  const lenient = made.filter(({ skipsUnsupported }) => skipsUnsupported)
  if (lenient.length > 0 && lenient.length < made.length)
    lose(`strict_supports: false of some of its targets only (${lenient.map((target) => target.name).join(', ')})`)
  return {
    targets: made.map((target) => target.name),
    safety: {
      ...(deletes !== undefined && { max_delete_percent: deletes }),
      ...(updates !== undefined && { max_update_percent: updates }),
    },
    skipsUnsupported: made.length > 0 && lenient.length === made.length,
    ...(own.isDryRun && { isEnabled: false }),
    ...processing.of(routed, zone),
  }
}

/** What both programs take for a limit where nothing is said, in percent. */
const DEFAULT_LIMIT = 30

/** What folders of split zones end in: the first that a config can have. Zones in folders of another are written anew. */
const commonExtension = (sources: readonly { readonly splitExtension: string | null }[]): string | null =>
  sources.find(({ splitExtension }) => splitExtension !== null && /^[A-Za-z0-9._-]{1,32}$/.test(splitExtension))?.splitExtension ?? null

/** RRsets that are only for a provider, or not for it, whose name is another here. */
function renamedScopes({ zones }: Imported, targets: ReadonlyMap<string, ConvertedTarget | null>): UnsupportedFeature[] {
  const renamed = new Map([...targets].flatMap(([name, target]) => (target === null || target.name === name ? [] : [[name, target.name]])))
  if (renamed.size === 0) return []
  return zones.flatMap((zone) =>
    (zone.scopes ?? []).flatMap(({ name, type, included, excluded }) =>
      [...new Set([...included, ...excluded])].flatMap((provider) => {
        const made = renamed.get(provider)
        const what = `that it is for the provider ${JSON.stringify(provider)} or not, which is called ${made} here`
        return made === undefined ? [] : [{ zone: zone.name, name, type, what, at: undefined }]
      }),
    ),
  )
}
