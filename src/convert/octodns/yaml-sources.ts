/** Opens the YAML sources of an octoDNS config. */
import { stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Diagnostic, SourcePosition } from '../../base/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { displayPath, isInside, resolveLinks } from '../../files/file-path.ts'
import { describeReadError } from '../../files/read-text.ts'
import type { ImportRequest } from '../importer.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'
import {
  duplicateZoneErrors,
  findOctodnsZones,
  groupByZone,
  listedOrNamed,
  type OctodnsZoneFiles,
  unprintableNameErrors,
} from './find-zone-files.ts'
import { type OctodnsProvider, TARGET_KEYS } from './octodns-provider.ts'
import type { OctodnsConfig } from './read-octodns-config.ts'

/** A YAML source with the zones in its directory. */
export interface OpenSource {
  readonly source: YamlSource
  /** The folder that the paths of its files are relative to. */
  readonly base: string
  /** Its directory, relative to the base and without symbolic links; `.` for the base itself. */
  readonly directory: string
  readonly zones: ReadonlyMap<DomainName, readonly OctodnsZoneFiles[]>
  /** The file with records that all zones share, absolute; null without one. */
  readonly sharedPath: string | null
}

export interface OpenSources {
  readonly sources: ReadonlyMap<string, OpenSource>
  readonly dropped: readonly UnsupportedFeature[]
  readonly diagnostics: readonly Diagnostic[]
}

/** Finds the zones of all YAML providers that zones use as sources. `path` is the config's. */
export async function openSources(config: OctodnsConfig, path: string, request: ImportRequest): Promise<OpenSources> {
  const dropped: UnsupportedFeature[] = []
  const diagnostics: Diagnostic[] = []
  const used = new Set(config.zones.flatMap((zone) => zone.sources))
  const yaml = [...config.providers.values()].flatMap((provider) => {
    const source = used.has(provider.name) ? readYamlSource(provider, dropped, request.env) : null
    return source === null ? [] : [{ source, at: provider.at }]
  })
  const directories = yaml.flatMap(({ source: { directory } }) => directory ?? [])
  const base = await baseOf(directories, path, request.cwd)
  const named = config.zones.flatMap(({ name }) => name ?? [])
  const found = await Promise.all(yaml.map(({ source, at }) => findIn(source, base, at, named, diagnostics)))
  // A zone that one source lists is looked up in all sources.
  const wanted = [...named, ...found.flatMap((one) => one?.found ?? []).flatMap(({ zone, listed }) => (listed === null ? [] : [zone]))]
  const sources = new Map<string, OpenSource>()
  for (const one of found) {
    if (one === null) continue
    const zones = listedOrNamed(one.found, wanted)
    diagnostics.push(...duplicateZoneErrors(zones, request.cwd))
    const { found: _, ...source } = one
    sources.set(one.source.name, { ...source, zones: groupByZone(zones) })
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
  if (source.directory === null) return fail(`the provider ${source.name} has no "directory", or its environment variable is not set`)
  const { shown } = source
  const directory = resolve(base, source.directory)
  try {
    const found = await findOctodnsZones(directory, { ...source, named })
    diagnostics.push(...(await unprintableNameErrors(directory, source.splitExtension, shown.directory)))
    const sharedPath = source.sharedFile === null ? null : join(directory, source.sharedFile)
    const isFile = sharedPath === null || (await stat(sharedPath).catch(() => null))?.isFile()
    if (!isFile) return fail(`the file ${join(shown.directory, shown.sharedFile)} of the provider ${source.name} cannot be read`)
    const own = baseFor(directory, base)
    return { source, base: own, directory: displayPath(resolveLinks(directory), resolveLinks(own)), found, sharedPath }
  } catch (error) {
    return fail(`the folder ${shown.directory} of the provider ${source.name} ${describeReadError(error)}`)
  }
}

/**
 * octoDNS resolves directories against its working directory. Tries the current folder, the config's and the one above; the first that
 * contains all of them is used.
 */
async function baseOf(directories: readonly string[], path: string, cwd: string): Promise<string> {
  const candidates = [cwd, dirname(path), dirname(dirname(path))]
  for (const folder of candidates) {
    const found = await Promise.all(
      directories.map((directory) =>
        stat(resolve(folder, directory)).then(
          (facts) => facts.isDirectory(),
          () => false,
        ),
      ),
    )
    if (found.length > 0 && found.every((is) => is)) return resolveLinks(folder)
  }
  return resolveLinks(cwd)
}

/** Files of a directory outside the base get paths relative to its parent. */
const baseFor = (directory: string, base: string): string =>
  isInside(resolveLinks(directory), base) ? base : dirname(resolveLinks(directory))

/** The settings of a YamlProvider of octoDNS. */
interface YamlSource {
  readonly name: string
  /** The value in the config or the environment; null if there is none. */
  readonly directory: string | null
  /** Directory and shared file for messages, unresolved: a value from the environment may be a secret. */
  readonly shown: { readonly directory: string; readonly sharedFile: string }
  readonly defaultTtl: number
  /** The extension of folders of split zones; null without them. */
  readonly splitExtension: string | null
  /** Whether zones may be single files too. */
  readonly hasZoneFiles: boolean
  /** The file with records that all zones share; null without one. */
  readonly sharedFile: string | null
  /** Whether an RRset replaces the same one of an earlier file or source instead of being refused. */
  readonly replaces: boolean
  /** Whether a zone may be without a file. */
  readonly ignoresMissing: boolean
  /** False if `;` in text is literal and `\;` stands for both characters. */
  readonly escapesSemicolons: boolean
}

/** octoDNS's default for `default_ttl`. */
const DEFAULT_TTL = 3600

const CLASSES: ReadonlySet<string> = new Set(['octodns.provider.yaml.YamlProvider', 'octodns.provider.yaml.SplitYamlProvider'])

const isYamlProvider = ({ className }: OctodnsProvider): boolean => CLASSES.has(className)

/** Keys that do not affect what the files of a source mean. */
const IGNORED_KEYS: readonly string[] = ['enforce_order', 'order_mode', 'supports_root_ns', 'split_catchall']

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
  ...IGNORED_KEYS,
  ...TARGET_KEYS,
])

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads a provider as a source of YAML files; null if its class is another. Settings without a counterpart are added to `dropped`. `env`
 * resolves `env/NAME` and `env/NAME/DEFAULT`.
 */
export function readYamlSource(provider: OctodnsProvider, dropped: UnsupportedFeature[], env: Environment = {}): YamlSource | null {
  if (!isYamlProvider(provider)) return null
  const drop = (what: string): void => void dropped.push({ zone: null, name: null, type: null, what, at: provider.at })
  const settings = new Map(Object.entries(provider.settings).map(([key, value]) => [key, resolved(value, env)]))
  for (const key of settings.keys()) if (!KNOWN_KEYS.has(key)) drop(`${key} of the provider ${provider.name}`)
  const textOf = (key: string): string | null => {
    const value = settings.get(key)
    return typeof value === 'string' && value !== '' ? value : null
  }
  const writtenText = (key: string): string => String(provider.settings[key] ?? '')
  const isTrue = (key: string): boolean => isTrueValue(settings.get(key))
  const isSplit = provider.className.endsWith('.SplitYamlProvider')
  const ttl = Number(settings.get('default_ttl') ?? DEFAULT_TTL)
  const isTtl = Number.isSafeInteger(ttl) && ttl >= 0 && ttl < 2 ** 31
  if (!isTtl) drop(`default_ttl of the provider ${provider.name}, which is not a TTL`)
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

/** Resolves `env/NAME`; undefined if the variable is not set. */
function resolved(value: unknown, env: Environment): unknown {
  const [, name = '', fallback] = (typeof value === 'string' ? /^env\/([^/]+)(?:\/(.*))?$/s.exec(value) : null) ?? []
  return name === '' ? value : (env[name] ?? fallback)
}

/** octoDNS reads YAML 1.1, in which `yes` and `on` are true. */
const isTrueValue = (value: unknown): boolean =>
  value === true || (typeof value === 'string' && /^(?:true|yes|on)$/i.test(value)) || (typeof value === 'number' && value !== 0)
