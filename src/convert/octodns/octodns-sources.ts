import { stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { isInside, resolveLinks } from '../../definition/files/file-path.ts'
import { describeReadError } from '../../definition/files/read-text.ts'
import type { Diagnostic, SourcePosition } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import type { UnsupportedFeature } from '../conversion.ts'
import type { ImportRequest } from '../importer.ts'
import { byZone, findOctodnsZones, type OctodnsZoneFiles, soughtZones, unprintableNames, zonesInTwo } from './octodns-files.ts'
import type { OctodnsConfig } from './read-octodns-config.ts'
import { type YamlSource, yamlSourceOf } from './yaml-source.ts'

/** A YAML source with what is in its directory. */
export interface OpenSource {
  readonly source: YamlSource
  /** The folder that the paths of its files start from. */
  readonly base: string
  readonly zones: ReadonlyMap<DomainName, readonly OctodnsZoneFiles[]>
  /** The file whose records every zone has, absolute; null without one. */
  readonly sharedPath: string | null
}

export interface OpenSources {
  readonly sources: ReadonlyMap<string, OpenSource>
  readonly dropped: readonly UnsupportedFeature[]
  readonly diagnostics: readonly Diagnostic[]
}

/** Opens the YAML providers of a configuration that its zones name as sources. `path` is the configuration. */
export async function openSources(config: OctodnsConfig, path: string, request: ImportRequest): Promise<OpenSources> {
  const dropped: UnsupportedFeature[] = []
  const diagnostics: Diagnostic[] = []
  const used = new Set(config.zones.flatMap((zone) => zone.sources))
  const yaml = [...config.providers.values()].flatMap((provider) => {
    const source = used.has(provider.name) ? yamlSourceOf(provider, dropped, request.env) : null
    return source === null ? [] : [{ source, at: provider.at }]
  })
  const directories = yaml.flatMap(({ source: { directory } }) => directory ?? [])
  const base = await baseOf(directories, path, request.cwd)
  const named = config.zones.flatMap(({ name }) => name ?? [])
  const found = await Promise.all(yaml.map(({ source, at }) => findIn(source, base, at, named, diagnostics)))
  // What one source lists all are asked for.
  const sought = [...named, ...found.flatMap((one) => one?.found ?? []).flatMap(({ zone, listed }) => (listed === null ? [] : [zone]))]
  const sources = new Map<string, OpenSource>()
  for (const one of found) {
    if (one === null) continue
    const zones = soughtZones(one.found, sought)
    diagnostics.push(...zonesInTwo(zones, request.cwd))
    sources.set(one.source.name, { source: one.source, base: one.base, sharedPath: one.sharedPath, zones: byZone(zones) })
  }
  return { sources, dropped, diagnostics }
}

type FoundSource = Omit<OpenSource, 'zones'> & { readonly found: readonly OctodnsZoneFiles[] }

async function findIn(
  source: YamlSource,
  base: string,
  at: SourcePosition,
  named: readonly DomainName[],
  diagnostics: Diagnostic[],
): Promise<FoundSource | null> {
  const fail = (message: string): null => {
    diagnostics.push({ severity: 'error', code: 'file-unreadable', message, at })
    return null
  }
  if (source.directory === null) return fail(`the provider ${source.name} has no directory, or an environment variable that is not set`)
  const { shown } = source
  const directory = resolve(base, source.directory)
  try {
    const found = await findOctodnsZones(directory, { ...source, named })
    diagnostics.push(...(await unprintableNames(directory, source.splitExtension, shown.directory)))
    const sharedPath = source.sharedFile === null ? null : join(directory, source.sharedFile)
    const isFile = sharedPath === null || (await stat(sharedPath).catch(() => null))?.isFile()
    if (!isFile) return fail(`the file ${join(shown.directory, shown.sharedFile)} of the provider ${source.name} cannot be read`)
    return { source, base: baseFor(directory, base), found, sharedPath }
  } catch (error) {
    return fail(`the directory ${shown.directory} of the provider ${source.name} ${describeReadError(error)}`)
  }
}

/** octoDNS takes directories from where it is started: here, beside its configuration, or above that. The first that has them counts. */
async function baseOf(directories: readonly string[], path: string, cwd: string): Promise<string> {
  const candidates = [cwd, dirname(path), dirname(dirname(path))]
  for (const folder of candidates) {
    const there = await Promise.all(
      directories.map((directory) =>
        stat(resolve(folder, directory)).then(
          (facts) => facts.isDirectory(),
          () => false,
        ),
      ),
    )
    if (there.length > 0 && there.every((is) => is)) return resolveLinks(folder)
  }
  return resolveLinks(cwd)
}

/** A directory elsewhere comes in under its own name. */
const baseFor = (directory: string, base: string): string =>
  isInside(resolveLinks(directory), base) ? base : dirname(resolveLinks(directory))
