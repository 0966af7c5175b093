import type { LostItem } from '../../model/exchange.ts'
import type { OctodnsProvider } from './read-octodns-config.ts'

/** What a YamlProvider of octoDNS says of its files. */
export interface YamlSource {
  readonly name: string
  /** As it is written. */
  readonly directory: string
  readonly defaultTtl: number
  /** What folders of split zones end in; null without them. */
  readonly splitExtension: string | null
  /** Whether zones stand in single files, too. */
  readonly hasZoneFiles: boolean
  /** False where `;` in a text stands for itself and `\;` for both characters. */
  readonly escapesSemicolons: boolean
}

/** What octoDNS's `default_ttl` is where nothing is said. */
const DEFAULT_TTL = 3600

const CLASSES: ReadonlySet<string> = new Set(['octodns.provider.yaml.YamlProvider', 'octodns.provider.yaml.SplitYamlProvider'])

/** Keys that change neither what the files mean nor what is done with them here. */
const IDLE_KEYS: ReadonlySet<string> = new Set([
  'enforce_order',
  'order_mode',
  'populate_should_replace',
  'supports_root_ns',
  'split_catchall',
  'ignore_missing_zones',
])

const KNOWN_KEYS: ReadonlySet<string> = new Set([
  'directory',
  'default_ttl',
  'split_extension',
  'extension',
  'disable_zonefile',
  'escaped_semicolons',
  ...IDLE_KEYS,
])

/** A provider as a source of YAML files; null for one of another class. What of it has no counterpart goes to `lost`. */
export function yamlSourceOf(provider: OctodnsProvider, lost: LostItem[]): YamlSource | null {
  if (!CLASSES.has(provider.className)) return null
  const { settings } = provider
  for (const key of Object.keys(settings)) {
    if (!KNOWN_KEYS.has(key))
      lost.push({ zone: null, name: null, type: null, what: `${key} of the provider ${provider.name}`, at: provider.at })
  }
  const isSplit = provider.className.endsWith('.SplitYamlProvider')
  const extension = settings['split_extension'] ?? settings['extension'] ?? (isSplit ? '.' : null)
  const ttl = Number(settings['default_ttl'] ?? DEFAULT_TTL)
  return {
    name: provider.name,
    directory: typeof settings['directory'] === 'string' ? settings['directory'] : '.',
    defaultTtl: Number.isSafeInteger(ttl) && ttl >= 0 && ttl < 2 ** 31 ? ttl : DEFAULT_TTL,
    splitExtension: typeof extension === 'string' && extension !== '' ? extension : null,
    hasZoneFiles: !isSplit && !isTrue(settings['disable_zonefile']),
    escapesSemicolons: settings['escaped_semicolons'] === undefined || isTrue(settings['escaped_semicolons']),
  }
}

/** octoDNS reads YAML 1.1, where `yes` and `on` are booleans too. */
const isTrue = (value: unknown): boolean => value === true || (typeof value === 'string' && /^(?:true|yes|on)$/i.test(value))
