import { stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { CONFIG_FILE } from '../../definition/config/config.ts'
import { displayPath } from '../../definition/files/file-path.ts'
import { describeReadError, readText } from '../../definition/files/read-text.ts'
import { fileNameOf, splitFolderZone } from '../../definition/load/definition-name.ts'
import { includeReader } from '../../definition/load/include-reader.ts'
import { noSecrets } from '../../definition/load/loaded-secrets.ts'
import { sourcePolicy } from '../../definition/load/source-policy.ts'
import { readYaml } from '../../definition/yaml/read-yaml.ts'
import { lookUp, type YamlNode } from '../../definition/yaml/yaml-node.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { Ttl } from '../../dns/ttl.ts'
import type { Importer, ImportRequest } from '../importer.ts'
import { type ImportedZones, missingZones } from '../importer.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'
import { joined, readAll, readingOf } from './assemble-zones.ts'
import { groupRules, printConvertedConfig, processingOf } from './converted-config.ts'
import {
  byZone,
  findOctodnsZones,
  type OctodnsZoneFiles,
  soughtZones,
  unprintableNames,
  yamlIn,
  ZONE_FILE,
  zonesInTwo,
} from './find-zone-files.ts'
import { type ConvertedTarget, targetOf } from './octodns-provider.ts'
import { isOctodnsConfig, type OctodnsConfig, readOctodnsConfig } from './read-octodns-config.ts'
import { routeZones } from './route-zones.ts'
import { type OpenSource, openSources } from './yaml-sources.ts'

/** Zones of octoDNS: from a directory of YAML files, from one such file, or from octoDNS's configuration. The files are taken as they are. */
export const importOctodns: Importer = async (request) => {
  const path = resolve(request.cwd, request.source)
  const shown = displayPath(path, request.cwd)
  try {
    if ((await stat(path)).isDirectory()) return await importDirectory(path, request)
  } catch (error) {
    return failed({ severity: 'error', code: 'file-unreadable', message: `${shown} ${describeReadError(error)}` })
  }
  // The configuration of octoDNS may hold a token itself; it is no definition.
  const text = await readText(path, shown, sourcePolicy({ ...request.config, secrets: noSecrets() }, 'allowed'))
  if (!text.ok) return failed({ severity: 'error', ...text.problem })
  if (isOctodnsConfig(text.text)) return importOctodnsConfig(path, text.text, request)
  const name = fileNameOf(basename(path))
  if (name?.kind === 'yaml' && name.zone !== null)
    return importZones([{ zone: name.zone, folder: null, paths: [path], listed: name.zone }], dirname(path), request)
  const message = `${shown} is neither a configuration of octoDNS nor named after its zone`
  return failed({
    severity: 'error',
    code: 'file-format',
    message,
    hint: 'name the directory of the zones, or the file with providers: and zones:',
  })
}

async function importDirectory(folder: string, request: ImportRequest): Promise<ImportedZones> {
  const { config, zones } = request
  const layout = { splitExtension: config.octodnsSplitExtension, hasZoneFiles: true, named: zones }
  const unprintable = await unprintableNames(folder, layout.splitExtension, displayPath(folder, request.cwd))
  const found = soughtZones(await findOctodnsZones(folder, layout), zones)
  if (found.length > 0) {
    const imported = await importZones(found, folder, request)
    const left = zones.length > 0 ? { dropped: [], diagnostics: [] } : await leftOut(folder, imported, request)
    return {
      ...imported,
      dropped: [...imported.dropped, ...left.dropped],
      diagnostics: [...unprintable, ...imported.diagnostics, ...left.diagnostics],
    }
  }
  const message = `${displayPath(folder, request.cwd)} has no zones of octoDNS: files such as example.com.yaml, or folders such as example.com.`
  return failed({ severity: 'error', code: 'no-definitions', message }, ...unprintable)
}

/**
 * A word for each file and folder that could be meant for a zone and is none by its name. A file of records with one dot in its name is a zone
 * to octoDNS only where its configuration names it, or what other zones share: its records are lost.
 */
async function leftOut(
  folder: string,
  { zones, files = [] }: ImportedZones,
  { config, cwd }: ImportRequest,
): Promise<{ readonly dropped: readonly UnsupportedFeature[]; readonly diagnostics: readonly Diagnostic[] }> {
  const extension = config.octodnsSplitExtension
  const policy = sourcePolicy({ ...config, folder, cwd })
  const taken = new Set([...zones.flatMap((zone) => zone.files ?? []), ...files].map(({ path }) => path))
  const rest = (await yamlIn(folder)).filter(({ name, isFolder }) =>
    isFolder ? splitFolderZone(name, extension) === null : !taken.has(name) && !(ZONE_FILE.test(name) && fileNameOf(name)?.zone),
  )
  const dropped: UnsupportedFeature[] = []
  const diagnostics: Diagnostic[] = []
  for (const { name, isFolder } of rest) {
    const shown = displayPath(join(folder, name), cwd)
    const text = isFolder || ZONE_FILE.test(name) ? null : await readText(join(folder, name), shown, policy)
    if (text?.ok && isRecordMap(text.text)) {
      const what = `the records of ${shown}, which is not taken for a zone, since its name has one dot only`
      dropped.push({ zone: null, name: null, type: null, what, outcome: 'they are left out; name the zone or the file to have them' })
      continue
    }
    const message = isFolder
      ? `the folder ${shown} has YAML files but does not end in ${JSON.stringify(extension)}, as a split zone would`
      : `${shown} is not taken for a zone, since its name ${ZONE_FILE.test(name) ? 'is no domain name' : 'has one dot only'}`
    const hint = isFolder
      ? 'set octodns_split_extension in zonewright.yaml, or name the configuration of octoDNS instead of the folder'
      : 'name the file itself if it is one'
    diagnostics.push({ severity: 'warning', code: 'file-format', message, hint })
  }
  return { dropped, diagnostics }
}

/** Whether every name of a mapping has records: at least a type. */
function isRecordMap(text: string): boolean {
  const { root } = readYaml(text, { file: '', resolveInclude: (_, at) => ({ kind: 'mapping', at, entries: [] }) })
  const isRecord = (node: YamlNode): boolean => node.kind === 'mapping' && lookUp(node, 'type') !== undefined
  if (root?.kind !== 'mapping' || root.entries.length === 0) return false
  return root.entries.every(
    ({ value }) => isRecord(value) || (value.kind === 'sequence' && value.items.length > 0 && value.items.every(isRecord)),
  )
}

async function importZones(found: readonly OctodnsZoneFiles[], base: string, request: ImportRequest): Promise<ImportedZones> {
  const { octodnsDefaultTtl } = request.config
  const wanted = found.filter(({ zone }) => request.zones.length === 0 || request.zones.includes(zone))
  const reading = readingOf(base, request, { defaultTtl: octodnsDefaultTtl, escapesSemicolons: true })
  const zones = [...byZone(wanted)].flatMap(([name, entries]) => {
    const [first, ...rest] = entries.map((files) => ({ files, reading, replaces: false, isShared: false }))
    return first === undefined ? [] : [{ name, parts: [first, ...rest] as const }]
  })
  const imported = joined(await readAll(zones, request.config))
  return {
    ...imported,
    diagnostics: [
      ...zonesInTwo(wanted, request.cwd),
      ...imported.diagnostics,
      ...missingZones(
        request.zones,
        found.map(({ zone }) => ({ name: zone })),
        request.source,
      ),
    ],
  }
}

const failed = (...diagnostics: Diagnostic[]): ImportedZones => ({ zones: [], dropped: [], diagnostics })

/** The zones that a configuration of octoDNS names, and a `zonewright.yaml` that says of them what it said. */
async function importOctodnsConfig(path: string, text: string, request: ImportRequest): Promise<ImportedZones> {
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
    octodnsSettings: reading,
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

/** What folders of split zones end in: the first that a config can have. Zones in folders of another are written anew. */
const commonExtension = (sources: readonly { readonly splitExtension: string | null }[]): string | null =>
  sources.find(({ splitExtension }) => splitExtension !== null && /^[A-Za-z0-9._-]{1,32}$/.test(splitExtension))?.splitExtension ?? null

/** RRsets that are only for a provider, or not for it, whose name is another here. */
function renamedScopes({ zones }: ImportedZones, targets: ReadonlyMap<string, ConvertedTarget | null>): UnsupportedFeature[] {
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
