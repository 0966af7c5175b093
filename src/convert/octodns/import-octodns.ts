/** Imports zones of octoDNS from a folder, a file or a config. */
import { stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { noSecrets } from '../../base/secret-guard.ts'
import { CONFIG_FILE } from '../../config/config.ts'
import { readYaml } from '../../definition/yaml/read-yaml.ts'
import { lookUp, type YamlNode } from '../../definition/yaml/yaml-node.ts'
import type { Ttl } from '../../dns/ttl.ts'
import { displayPath } from '../../files/file-path.ts'
import { describeReadError, readText, similarFile } from '../../files/read-text.ts'
import { sourcePolicy } from '../../files/source-policy.ts'
import { parseFileName, splitFolderZone } from '../../load/definition-name.ts'
import { createIncludeReader } from '../../load/include-reader.ts'
import type { Importer, ImportRequest } from '../importer.ts'
import { type ImportedZones, missingZones } from '../importer.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'
import { combineZones, readOptionsFor, readZones } from './assemble-zones.ts'
import { convertAutoArpa, withoutIdleAutoArpa } from './auto-arpa.ts'
import { convertRules } from './convert-rules.ts'
import { convertTargets, placeConfig, pythonNotices, relocated, sourceNotices } from './convert-targets.ts'
import { createProcessing, printConvertedConfig } from './converted-config.ts'
import {
  duplicateZoneErrors,
  findOctodnsZones,
  groupByZone,
  LISTED_ZONE_FILE,
  listedOrNamed,
  listYamlFiles,
  type OctodnsZoneFiles,
  unprintableNameErrors,
} from './find-zone-files.ts'
import type { ConvertedTarget } from './octodns-provider.ts'
import { isOctodnsConfig, type OctodnsConfig, readOctodnsConfig } from './read-octodns-config.ts'
import { type RoutedZone, routeZones } from './route-zones.ts'
import { openSources } from './yaml-sources.ts'
import { providerTypes } from './zone-file-differences.ts'

/**
 * Imports zones of octoDNS from a folder of YAML files, one such file or an octoDNS config. Files are copied unchanged where possible.
 */
export const importOctodns: Importer = async (request) => {
  const path = resolve(request.cwd, request.source)
  const shown = displayPath(path, request.cwd)
  try {
    if ((await stat(path)).isDirectory()) return await importFolder(path, request)
  } catch (error) {
    const hint = similarFile(path, request.cwd) ?? 'name the YAML config of octoDNS, or a folder of its zones'
    return failed({ severity: 'error', code: 'file-unreadable', message: `${shown} ${describeReadError(error)}`, hint })
  }
  // An octoDNS config may contain a token. It is not a definition, so that is no error.
  const text = await readText(path, shown, sourcePolicy({ ...request.config, secrets: noSecrets() }, 'allowed'))
  if (!text.ok) return failed({ severity: 'error', ...text.problem })
  if (isOctodnsConfig(text.text)) return importOctodnsConfig(path, text.text, request)
  const name = parseFileName(basename(path))
  if (name?.kind === 'yaml' && name.zone !== null)
    return importZones([{ zone: name.zone, folder: null, paths: [path], listed: name.zone }], dirname(path), request)
  const message = `${shown} is neither an octoDNS config nor named after its zone`
  return failed({
    severity: 'error',
    code: 'file-format',
    message,
    hint: 'name the folder of the zones, or the config with providers: and zones:',
  })
}

async function importFolder(folder: string, request: ImportRequest): Promise<ImportedZones> {
  const { config, zones } = request
  const layout = { splitExtension: config.octodnsSplitExtension, hasZoneFiles: true, named: zones }
  const unprintable = await unprintableNameErrors(folder, layout.splitExtension, displayPath(folder, request.cwd))
  const found = listedOrNamed(await findOctodnsZones(folder, layout), zones)
  if (found.length > 0) {
    const imported = await importZones(found, folder, request)
    const left = zones.length > 0 ? { dropped: [], diagnostics: [] } : await reportSkipped(folder, imported, request)
    return {
      ...imported,
      dropped: [...imported.dropped, ...left.dropped],
      diagnostics: [...unprintable, ...imported.diagnostics, ...left.diagnostics],
    }
  }
  const message = `${displayPath(folder, request.cwd)} has no octoDNS zones: files such as example.com.yaml, or folders such as example.com.`
  return failed({ severity: 'error', code: 'no-definitions', message }, ...unprintable)
}

/**
 * Reports files and folders that may be meant as zones but are not named like one. octoDNS reads a file of records with one dot in its name
 * only if its config names the zone, or as records that zones share; such records are dropped.
 */
async function reportSkipped(
  folder: string,
  { zones, files = [] }: ImportedZones,
  { config, cwd }: ImportRequest,
): Promise<{ readonly dropped: readonly UnsupportedFeature[]; readonly diagnostics: readonly Diagnostic[] }> {
  const extension = config.octodnsSplitExtension
  const policy = sourcePolicy({ ...config, folder, cwd })
  const taken = new Set([...zones.flatMap((zone) => zone.files ?? []), ...files].map(({ path }) => path))
  const rest = (await listYamlFiles(folder)).filter(({ name, isFolder }) =>
    isFolder ? splitFolderZone(name, extension) === null : !taken.has(name) && !(LISTED_ZONE_FILE.test(name) && parseFileName(name)?.zone),
  )
  const dropped: UnsupportedFeature[] = []
  const diagnostics: Diagnostic[] = []
  for (const { name, isFolder } of rest) {
    const shown = displayPath(join(folder, name), cwd)
    const text = isFolder || LISTED_ZONE_FILE.test(name) ? null : await readText(join(folder, name), shown, policy)
    if (text?.ok && isRecordMap(text.text)) {
      const what = `the records of ${shown}, which is no zone because its name has only one dot`
      dropped.push({ zone: null, name: null, type: null, what, outcome: 'they are left out; name the zone or the file to import them' })
      continue
    }
    const message = isFolder
      ? `the folder ${shown} has YAML files but does not end in ${JSON.stringify(extension)}, as a split zone would`
      : `${shown} is skipped because its name ${LISTED_ZONE_FILE.test(name) ? 'is no domain name' : 'has only one dot'}`
    const hint = isFolder
      ? 'set octodns_split_extension in zonewright.yaml, or name the octoDNS config instead of the folder'
      : 'name the file itself if it is a zone'
    diagnostics.push({ severity: 'warning', code: 'file-format', message, hint })
  }
  return { dropped, diagnostics }
}

/** Whether every entry of a mapping is one record or several: each has at least a type. */
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
  const reading = readOptionsFor(base, request, { defaultTtl: octodnsDefaultTtl, escapesSemicolons: true })
  const zones = [...groupByZone(wanted)].flatMap(([name, entries]) => {
    const [first, ...rest] = entries.map((files) => ({ files, reading, replaces: false, isShared: false }))
    return first === undefined ? [] : [{ name, parts: [first, ...rest] as const }]
  })
  const imported = combineZones(await readZones(zones, request.config))
  return {
    ...imported,
    dropped: [...imported.dropped, ...imported.zones.flatMap(providerTypes)],
    diagnostics: [
      ...duplicateZoneErrors(wanted, request.cwd),
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

/** Imports the zones of an octoDNS config, and converts the config itself to a `zonewright.yaml`. */
async function importOctodnsConfig(path: string, text: string, request: ImportRequest): Promise<ImportedZones> {
  const file = displayPath(path, request.cwd)
  const stated = readOctodnsConfig(text, file, createIncludeReader({ ...request.config, folder: dirname(path), cwd: request.cwd }, 'yaml'))
  const opened = await openSources(stated, path, request)
  const givenRoutes = routeZones(stated, opened.sources, request)
  const given = withoutIdleAutoArpa(stated, givenRoutes.zones, request.zones)
  const isPartial = request.zones.length > 0
  const isWanted = ({ name }: RoutedZone): boolean => !isPartial || request.zones.includes(name)
  const isAbout = ({ zone }: UnsupportedFeature): boolean => zone === null || !isPartial || request.zones.includes(zone)
  const sources = [...opened.sources.values()].map(({ source }) => source)
  const defaultTtl = sources[0]?.defaultTtl ?? request.config.octodnsDefaultTtl
  const splitExtension = commonExtension(sources)
  const reading = {
    octodnsDefaultTtl: defaultTtl as Ttl,
    octodnsSplitExtension: splitExtension ?? request.config.octodnsSplitExtension,
  }
  const readGiven = await readZones(givenRoutes.zones.filter(isWanted), reading)
  const autoArpa = isPartial ? null : convertAutoArpa(given, givenRoutes.zones, readGiven)
  const { config, empty } = autoArpa ?? { config: given, empty: [] }
  const routes = autoArpa === null ? givenRoutes : routeZones(config, opened.sources, request)
  const wanted = [...routes.zones.filter(isWanted), ...empty.map(({ routed }) => routed)]
  const read = [...readGiven, ...empty.map((one) => one.read)]
  const dropped: UnsupportedFeature[] = [...(autoArpa?.dropped ?? [])]
  /** Parts on which no record depends. */
  const aside: UnsupportedFeature[] = []
  const base = [...opened.sources.values()][0]?.base ?? dirname(path)
  const targets = convertTargets(config, new Set(opened.sources.keys()), aside)
  const isUseless = targets.size === 0 && config.zones.some((zone) => zone.targets.length > 0)
  const imported = combineZones(read)
  const processing = createProcessing(config)
  const rules = convertRules(wanted, read, { config, targets, sources: opened.sources, processing, dropped: aside, isPartial })
  dropped.push(...droppedScopes(imported, targets))
  // Whether a class of octoDNS knows them is up to the class.
  for (const [i, { entry }] of wanted.entries())
    if (!entry.targets.some((target) => targets.get(target)?.needsPython))
      dropped.push(...[read[i]?.zone ?? []].flat().flatMap(providerTypes))
  const { folder, prefix } = placeConfig(request)
  const relocate = (target: ConvertedTarget) => relocated(target, base, folder)
  const configText = printConvertedConfig({
    from: file,
    defaultTtl,
    splitExtension,
    targets: [...targets.values()].map(relocate),
    rules: rules.map((rule) => ({
      ...rule,
      files: rule.files.map((glob) => glob.replace(/^!?/, (mark) => mark + prefix)),
      ...(autoArpa !== null && { autoPtr: true }),
    })),
  })
  return {
    zones: imported.zones,
    dropped: [
      ...[...config.dropped, ...opened.dropped, ...routes.dropped].filter(isAbout),
      ...dropped,
      ...processing.dropped(),
      ...imported.dropped,
    ],
    diagnostics: [
      ...config.diagnostics,
      ...processing.unused,
      ...pythonNotices([...targets.values()]),
      ...sourceNotices(config, new Set(opened.sources.keys()), targets, relocate),
      ...asides(aside),
      ...(isUseless ? [noTarget(file)] : []),
      ...(isPartial ? [] : listedOneByOne(config)),
      ...opened.diagnostics,
      ...routes.diagnostics,
      ...imported.diagnostics,
      ...missingZones(request.zones, routes.zones, file),
    ],
    files: imported.files,
    newConfig: isUseless ? undefined : { folder, text: configText },
    octodnsSettings: reading,
  }
}

/** A run needs a provider, so a config without one would not load. */
const noTarget = (file: string): Diagnostic => ({
  severity: 'warning',
  code: 'import-aside',
  message: `no config is written, because no target of ${file} can be a provider; its rules for zones, such as limits and processors, are not imported`,
  hint: `correct a target in ${file} as the other messages say and import again, or write ${CONFIG_FILE} with a provider and such rules`,
})

/** A warning for each dynamic entry that cannot be a rule over a folder. */
const listedOneByOne = ({ zones }: OctodnsConfig): Diagnostic[] =>
  zones
    .filter(({ name, pattern, nameGlob }) => name === null && pattern !== null && nameGlob === null)
    .map(({ at }) => ({
      severity: 'warning',
      code: 'import-aside',
      message: 'the pattern of these zones has no glob with the same meaning, so their rule lists the files of today',
      at,
      hint: 'add a rule with a glob for zones to come',
    }))

/** Warnings for parts of octoDNS's config on which no record depends. */
const asides = (dropped: readonly UnsupportedFeature[]): Diagnostic[] =>
  dropped.map(({ zone, what, at, outcome }) => ({
    severity: 'warning',
    code: 'import-aside',
    message: `${zone === null ? '' : `${zone}: `}not imported: ${what}`,
    at,
    hint: outcome,
  }))

/** The first split extension that a config can contain. Zones in folders with another one are printed as new definitions. */
const commonExtension = (sources: readonly { readonly splitExtension: string | null }[]): string | null =>
  sources.find(({ splitExtension }) => splitExtension !== null && /^[A-Za-z0-9._-]{1,32}$/.test(splitExtension))?.splitExtension ?? null

/** RRsets that name a provider whose name changes here. */
function droppedScopes({ zones }: ImportedZones, targets: ReadonlyMap<string, ConvertedTarget>): UnsupportedFeature[] {
  const renamed = new Map([...targets].flatMap(([name, target]) => (target.name === name ? [] : [[name, target.name]])))
  if (renamed.size === 0) return []
  return zones.flatMap((zone) =>
    (zone.rrsetTargets ?? []).flatMap(({ name, type, included, excluded }) =>
      [...new Set([...included, ...excluded])].flatMap((provider) => {
        const configText = renamed.get(provider)
        const what = `the provider ${JSON.stringify(provider)} in its targets, which is called ${configText} here`
        return configText === undefined ? [] : [{ zone: zone.name, name, type, what, at: undefined }]
      }),
    ),
  )
}
