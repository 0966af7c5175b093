import { stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { displayPath } from '../../definition/files/file-path.ts'
import { describeReadError, readText } from '../../definition/files/read-text.ts'
import { fileNameOf, splitFolderZone } from '../../definition/load/definition-name.ts'
import { noSecrets } from '../../definition/load/loaded-secrets.ts'
import { sourcePolicy } from '../../definition/load/source-policy.ts'
import { readYaml } from '../../definition/yaml/read-yaml.ts'
import { lookUp, type YamlNode } from '../../definition/yaml/yaml-node.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { Imported, UnsupportedFeature } from '../conversion.ts'
import type { Importer, ImportRequest } from '../importer.ts'
import { missingZones } from '../provider/missing-zones.ts'
import { importOctodnsConfig } from './import-octodns-config.ts'
import {
  byZone,
  findOctodnsZones,
  type OctodnsZoneFiles,
  soughtZones,
  unprintableNames,
  yamlIn,
  ZONE_FILE,
  zonesInTwo,
} from './octodns-files.ts'
import { joined, readAll, readingOf } from './octodns-zones.ts'
import { isOctodnsConfig } from './read-octodns-config.ts'

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

async function importDirectory(folder: string, request: ImportRequest): Promise<Imported> {
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
  { zones, files = [] }: Imported,
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

async function importZones(found: readonly OctodnsZoneFiles[], base: string, request: ImportRequest): Promise<Imported> {
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

const failed = (...diagnostics: Diagnostic[]): Imported => ({ zones: [], dropped: [], diagnostics })
