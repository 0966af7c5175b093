/** Converts a provider of an octoDNS config. */
import type { SourcePosition } from '../../dns/diagnostic.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'
import { nativeConversion } from './native-targets.ts'

/** Limits of a plan in percent of the record sets; absent if octoDNS's config has none. */
export interface ConvertedSafety {
  readonly max_delete_percent?: number
  readonly max_update_percent?: number
}

/** The provider of a `zonewright.yaml` that replaces one of octoDNS. */
export interface ConvertedTarget {
  readonly name: string
  /** The keys in the order to print. */
  readonly settings: Readonly<Record<string, unknown>>
  /** Whether octoDNS's class runs in Python, because no native provider has its class and options. */
  readonly needsPython: boolean
  /** The option because of which the native provider with its class is not used. */
  readonly lacks?: string | undefined
  readonly safety: ConvertedSafety
  /** Whether unsupported records are skipped with a warning instead of refused. */
  readonly skipsUnsupported: boolean
  /** Whether octoDNS only plans for it and never applies. */
  readonly isDryRun: boolean
}

/** Keys that any octoDNS provider may have as a target (its provider/base.py). */
export const TARGET_KEYS = [
  'apply_disabled',
  'update_pcent_threshold',
  'delete_pcent_threshold',
  'strict_supports',
  'root_ns_warnings',
] as const

const COMMON_KEYS: ReadonlySet<string> = new Set(TARGET_KEYS)

export interface TargetOptions {
  /** Names of other providers. */
  readonly takenNames?: ReadonlySet<string> | undefined
  /** Names of secret handlers other than `env`. */
  readonly secretHandlers?: ReadonlySet<string> | undefined
}

/** The name of a Python class with its module. */
const CLASS = /^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)+$/

/**
 * Converts a provider to a native one, or to one that runs octoDNS's class; null if its class is not the name of one. A secret becomes a reference to an environment
 * variable, never plain text.
 */
export function convertTarget(
  provider: OctodnsProvider,
  dropped: UnsupportedFeature[],
  { takenNames = new Set(), secretHandlers = new Set() }: TargetOptions = {},
): ConvertedTarget | null {
  if (!CLASS.test(provider.className) || provider.className.length > 200) return null
  const drop = (what: string): void => void dropped.push({ zone: null, name: null, type: null, what, at: provider.at })
  const native = nativeSettings(provider, secretHandlers)
  const lacks = typeof native === 'string' ? native : undefined
  const isNative = native !== null && typeof native !== 'string'
  const settings = isNative ? native.settings : classSettings(provider, secretHandlers, drop)
  for (const what of isNative ? native.dropped : []) drop(what)
  const name = freeName(provider.name, takenNames)
  if (name !== provider.name) drop(`the name of the provider ${JSON.stringify(provider.name)}: it becomes ${name}`)
  return { name, settings, needsPython: !isNative, lacks, ...commonSettings(provider, dropped) }
}

/** The settings of a native provider, and what they leave out; the option that it lacks, or null if there is none for the class. */
function nativeSettings(
  provider: OctodnsProvider,
  handlers: ReadonlySet<string>,
): { readonly settings: ConvertedTarget['settings']; readonly dropped: readonly string[] } | string | null {
  const convert = nativeConversion(provider.className)
  if (convert === null) return null
  const dropped: string[] = []
  const left = new Map(Object.entries(provider.settings).filter(([key, value]) => !COMMON_KEYS.has(key) && value !== null))
  let lacks: string | undefined
  const take = (key: string): unknown => {
    const value = left.get(key)
    left.delete(key)
    return value
  }
  const reference = (key: string): string => secretReference(provider, key, String(take(key) ?? ''), handlers, (what) => dropped.push(what))
  const settings = convert({
    secret: (key) => (left.has(key) ? reference(key) : undefined),
    requiredSecret: reference,
    plain(key) {
      const value = take(key)
      if (value === undefined) return undefined
      if (isReference(String(value), handlers)) lacks ??= `${key}: ${String(value)}`
      else if (!['string', 'number', 'boolean'].includes(typeof value)) lacks ??= key
      return String(value)
    },
    text(key, own) {
      const [, variable] = /^env\/([A-Za-z_][A-Za-z0-9_]*)$/.exec(String(left.get(key))) ?? []
      if (variable === undefined) return this.plain(key)
      left.delete(key)
      return variable === own ? undefined : `env:${variable}`
    },
    flag(key) {
      const value = take(key)
      return value === undefined ? undefined : !/^(?:false|no|off|0|)$/i.test(String(value))
    },
    list(key) {
      const value = take(key)
      if (value !== undefined && !Array.isArray(value)) lacks ??= key
      return Array.isArray(value) ? value.map(String) : undefined
    },
    ignore(...keys) {
      for (const key of keys) if (take(key) !== undefined) dropped.push(`${key} of the provider ${provider.name}`)
    },
  })
  if (typeof settings === 'string') return settings in provider.settings ? settings : `${settings}, which is not set`
  if (lacks !== undefined || left.size > 0) return lacks ?? [...left.keys()].join(', ')
  return { settings: Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)), dropped }
}

/** Options that are secrets by their name, with everything below them. */
const SECRET_KEY = /(?:token|secret|password|passwd|passphrase|credential|api_?key|(?:^|[_-])key)s?$/i

/** An address with a password. */
const SECRET_VALUE = /:\/\/[^/?#@\s]*:[^/?#@\s]+@/

/** The settings of a provider that runs octoDNS's class with all its options. */
function classSettings(
  provider: OctodnsProvider,
  handlers: ReadonlySet<string>,
  drop: (what: string) => void,
): ConvertedTarget['settings'] {
  const convert = (path: readonly string[], value: unknown, isSecret: boolean): unknown => {
    const inside = (key: string, below: unknown): unknown => convert([...path, key], below, isSecret || SECRET_KEY.test(key))
    if (Array.isArray(value)) return value.map((item, index) => inside(String(index + 1), item))
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, inside(name, item)]))
    if (typeof value === 'number' && isSecret) return convert(path, String(value), isSecret)
    if (typeof value !== 'string' || value === '') return value
    // Secrets of one name at several places have a variable each.
    return isReference(value, handlers) || isSecret || SECRET_VALUE.test(value)
      ? secretReference(provider, path.join('_'), value, handlers, drop)
      : value
  }
  const options = Object.entries(provider.settings).filter(([key]) => !COMMON_KEYS.has(key))
  return {
    type: 'octodns',
    class: provider.className,
    ...(options.length > 0 && {
      options: Object.fromEntries(options.map(([key, value]) => [key, convert([key], value, SECRET_KEY.test(key))])),
    }),
  }
}

/** The settings that any target of octoDNS may have. */
function commonSettings(
  { name, settings, at }: OctodnsProvider,
  dropped: UnsupportedFeature[],
): Pick<ConvertedTarget, 'safety' | 'skipsUnsupported' | 'isDryRun'> {
  const drop = (key: string): void => void dropped.push({ zone: null, name: null, type: null, what: `${key} of the provider ${name}`, at })
  const isDryRun = !/^(?:false|no|off|0)$/i.test(String(settings['apply_disabled'] ?? 'false'))
  if (isDryRun)
    dropped.push({ zone: null, name: null, type: null, what: `apply_disabled of the provider ${name}; no rule has it as a target`, at })
  const safety = readSafety(settings, drop)
  return { safety, skipsUnsupported: /^(?:false|no|off|0)$/i.test(String(settings['strict_supports'] ?? 'true')), isDryRun }
}

/** Reads octoDNS's limits, which are fractions. `drop` is called with the key of each invalid one. */
export function readSafety(settings: Readonly<Record<string, unknown>>, drop: (key: string) => void): ConvertedSafety {
  const percent = (key: string): number | undefined => {
    const value = settings[key] ?? undefined
    if (typeof value === 'number' && value >= 0) return Math.min(100, Math.round(value * 10_000) / 100)
    if (value !== undefined) drop(key)
    return undefined
  }
  const [deletes, updates] = [percent('delete_pcent_threshold'), percent('update_pcent_threshold')]
  return {
    ...(deletes !== undefined && { max_delete_percent: deletes }),
    ...(updates !== undefined && { max_update_percent: updates }),
  }
}

/** A valid name for the config (schemas/config.schema.json) that resembles the given one. */
export function freeName(text: string, taken: ReadonlySet<string>): string {
  const name =
    text
      .replace(/[^A-Za-z0-9_.-]/g, '-')
      .replace(/^[^A-Za-z0-9]+/, '')
      .slice(0, 55) || 'target'
  const plain = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/.test(text) ? text : name
  if (!taken.has(plain)) return plain
  let count = 2
  while (taken.has(`${name}-${count}`)) count += 1
  return `${name}-${count}`
}

/** The environment variable for a secret of a provider. */
export const variableFor = (provider: string, key: string): string =>
  `${provider}_${key}`
    .toUpperCase()
    .replace(/[^A-Z0-9_]/g, '_')
    .replace(/^(?=[0-9])/, '_')
    .slice(0, 100)

/** Whether a text refers to a variable of the environment or to another secret handler. */
const isReference = (text: string, handlers: ReadonlySet<string>): boolean =>
  text.startsWith('env/') || handlers.has(text.slice(0, Math.max(0, text.indexOf('/'))))

/** A reference to a secret: `env/NAME` keeps its variable; anything else gets a variable that the user must set. */
function secretReference(
  { name }: OctodnsProvider,
  key: string,
  given: string,
  handlers: ReadonlySet<string>,
  drop: (what: string) => void,
): string {
  const [, variable, fallback] = /^env\/([A-Za-z_][A-Za-z0-9_]{0,99})(\/.*)?$/s.exec(given) ?? []
  if (variable !== undefined) {
    if (fallback !== undefined) drop(`the default for the ${key} of the provider ${name} if ${variable} is not set`)
    return `env:${variable}`
  }
  const newVariable = variableFor(name, key)
  const handler = given.slice(0, Math.max(0, given.indexOf('/')))
  if (handlers.has(handler))
    drop(`the ${key} of the provider ${name} from the secret handler ${handler}: set ${newVariable} in the environment`)
  else if (given !== '') drop(`the ${key} of the provider ${name} as plain text: set ${newVariable} in the environment`)
  return `env:${newVariable}`
}

/** One entry of `providers:` or `processors:` in octoDNS's config. */
export interface OctodnsProvider {
  readonly name: string
  /** The Python class, such as `octodns.provider.yaml.YamlProvider`. */
  readonly className: string
  /** All keys except `class`, as JSON values. */
  readonly settings: Readonly<Record<string, unknown>>
  readonly at: SourcePosition
}
