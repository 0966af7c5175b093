import { stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { isInside, resolveLinks } from '../../definition/files/file-path.ts'
import { describeReadError } from '../../definition/files/read-text.ts'
import type { Diagnostic, SourcePosition } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import type { ImportRequest } from '../importer.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'
import { byZone, findOctodnsZones, type OctodnsZoneFiles, soughtZones, unprintableNames, zonesInTwo } from './find-zone-files.ts'
import { type OctodnsProvider, TARGET_KEYS } from './octodns-provider.ts'
import type { OctodnsConfig } from './read-octodns-config.ts'

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

/** What a YamlProvider of octoDNS says of its files. */
interface YamlSource {
  readonly name: string
  /** As it is written, or as the environment has it; null where nothing says it. */
  readonly directory: string | null
  /** Directory and shared file for messages: as they are written. What a variable of the environment holds may be a secret. */
  readonly shown: { readonly directory: string; readonly sharedFile: string }
  readonly defaultTtl: number
  /** What folders of split zones end in; null without them. */
  readonly splitExtension: string | null
  /** Whether zones stand in single files, too. */
  readonly hasZoneFiles: boolean
  /** A file in the directory whose records every zone has; null without one. */
  readonly sharedFile: string | null
  /** Whether an RRset takes the place of the same one of a file or source before, instead of being refused. */
  readonly replaces: boolean
  /** Whether a zone may have no file. */
  readonly ignoresMissing: boolean
  /** False where `;` in a text stands for itself and `\;` for both characters. */
  readonly escapesSemicolons: boolean
}

/** What octoDNS's `default_ttl` is where nothing is said. */
const DEFAULT_TTL = 3600

const CLASSES: ReadonlySet<string> = new Set(['octodns.provider.yaml.YamlProvider', 'octodns.provider.yaml.SplitYamlProvider'])

const isYamlProvider = ({ className }: OctodnsProvider): boolean => CLASSES.has(className)

/** Keys that do not change what the files of a source mean. */
const IDLE_KEYS: readonly string[] = ['enforce_order', 'order_mode', 'supports_root_ns', 'split_catchall']

const KNOWN_KEYS: ReadonlySet<string> = new Set([
  'directory',
  'default_ttl',
  'split_extension',
  'extension',
  'disable_zonefile',
  'shared_filename',
  'populate_should_replace',
  'ignore_missing_zones',
  'escaped_semicolons',
  ...IDLE_KEYS,
  ...TARGET_KEYS,
])

type Environment = Readonly<Record<string, string | undefined>>

/**
 * A provider as a source of YAML files; null for one of another class. What of it has no counterpart goes to `dropped`. `env` is where
 * `env/NAME` and `env/NAME/DEFAULT` are looked up.
 */
export function yamlSourceOf(provider: OctodnsProvider, dropped: UnsupportedFeature[], env: Environment = {}): YamlSource | null {
  if (!isYamlProvider(provider)) return null
  const lose = (what: string): void => void dropped.push({ zone: null, name: null, type: null, what, at: provider.at })
  const settings = new Map(Object.entries(provider.settings).map(([key, value]) => [key, resolved(value, env)]))
  for (const key of settings.keys()) if (!KNOWN_KEYS.has(key)) lose(`${key} of the provider ${provider.name}`)
  const textOf = (key: string): string | null => {
    const value = settings.get(key)
    return typeof value === 'string' && value !== '' ? value : null
  }
  const writtenText = (key: string): string => String(provider.settings[key] ?? '')
  const isTrue = (key: string): boolean => isTrueValue(settings.get(key))
  const isSplit = provider.className.endsWith('.SplitYamlProvider')
  const ttl = Number(settings.get('default_ttl') ?? DEFAULT_TTL)
  const isTtl = Number.isSafeInteger(ttl) && ttl >= 0 && ttl < 2 ** 31
  if (!isTtl) lose(`default_ttl of the provider ${provider.name}, which is no TTL`)
  return {
    name: provider.name,
    directory: textOf('directory'),
    shown: { directory: writtenText('directory'), sharedFile: writtenText('shared_filename') },
    defaultTtl: isTtl ? ttl : DEFAULT_TTL,
    splitExtension: isSplit ? (textOf('extension') ?? '.') : textOf('split_extension'),
    hasZoneFiles: !isSplit && !isTrue('disable_zonefile'),
    sharedFile: textOf('shared_filename'),
    replaces: isTrue('populate_should_replace'),
    ignoresMissing: isTrue('ignore_missing_zones'),
    escapesSemicolons: (settings.get('escaped_semicolons') ?? null) === null || isTrue('escaped_semicolons'),
  }
}

/** A value with `env/NAME` in its place; undefined where the environment has none. */
function resolved(value: unknown, env: Environment): unknown {
  const [, name = '', fallback] = (typeof value === 'string' ? /^env\/([^/]+)(?:\/(.*))?$/s.exec(value) : null) ?? []
  return name === '' ? value : (env[name] ?? fallback)
}

/** octoDNS reads YAML 1.1, where `yes` and `on` are booleans too. */
const isTrueValue = (value: unknown): boolean =>
  value === true || (typeof value === 'string' && /^(?:true|yes|on)$/i.test(value)) || (typeof value === 'number' && value !== 0)
