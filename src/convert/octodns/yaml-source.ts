import type { UnsupportedFeature } from '../conversion.ts'
import { TARGET_KEYS } from './converted-target.ts'
import type { OctodnsProvider } from './octodns-provider.ts'

/** What a YamlProvider of octoDNS says of its files. */
export interface YamlSource {
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

export const isYamlProvider = ({ className }: OctodnsProvider): boolean => CLASSES.has(className)

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

export type Environment = Readonly<Record<string, string | undefined>>

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
