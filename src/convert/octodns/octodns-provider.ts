/** Converts a provider of an octoDNS config. */
import type { SourcePosition } from '../../dns/diagnostic.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'

/** Limits of a plan in percent of the record sets; absent if octoDNS's config has none. */
export interface ConvertedSafety {
  readonly max_delete_percent?: number
  readonly max_update_percent?: number
}

/** The provider of a `zonewright.yaml` that replaces one of octoDNS. */
export interface ConvertedTarget {
  readonly name: string
  /** The keys in the order to print; null if no provider of ours has its class. */
  readonly settings: Readonly<Record<string, unknown>> | null
  readonly safety: ConvertedSafety
  /** Whether unsupported records are skipped with a warning instead of refused. */
  readonly skipsUnsupported: boolean
  /** Whether octoDNS only plans for it and never applies. */
  readonly isDryRun: boolean
}

/** Our provider for a class of octoDNS, and its settings. */
const COUNTERPARTS: readonly { readonly pattern: RegExp; readonly settings: Readonly<Record<string, string>> }[] = [
  { pattern: /(?:^|\.)LinodeProvider$/, settings: { type: 'cloud', preset: 'linode' } },
]

/** Keys that any octoDNS provider may have as a target (its provider/base.py). */
export const TARGET_KEYS = [
  'apply_disabled',
  'update_pcent_threshold',
  'delete_pcent_threshold',
  'strict_supports',
  'root_ns_warnings',
] as const

/** Keys that are converted, or that only affect warnings. */
const CARRIED_KEYS: ReadonlySet<string> = new Set([
  'token',
  'update_pcent_threshold',
  'delete_pcent_threshold',
  'strict_supports',
  'root_ns_warnings',
  'apply_disabled',
])

export interface TargetOptions {
  /** Names of other providers. */
  readonly takenNames?: ReadonlySet<string> | undefined
  /** Names of secret handlers other than `env`. */
  readonly secretHandlers?: ReadonlySet<string> | undefined
}

/** Converts a provider; null if its class has no counterpart. A secret becomes a reference to an environment variable, never plain text. */
export function convertTarget(
  provider: OctodnsProvider,
  dropped: UnsupportedFeature[],
  { takenNames = new Set(), secretHandlers = new Set() }: TargetOptions = {},
): ConvertedTarget | null {
  const counterpart = COUNTERPARTS.find(({ pattern }) => pattern.test(provider.className))
  if (counterpart === undefined) return null
  const drop = (what: string): void => void dropped.push({ zone: null, name: null, type: null, what, at: provider.at })
  const { settings } = provider
  const token = secretOf(provider, 'token', secretHandlers, drop)
  for (const key of Object.keys(settings)) if (!CARRIED_KEYS.has(key)) drop(`${key} of the provider ${provider.name}`)
  const name = freeName(provider.name, takenNames)
  if (name !== provider.name) drop(`the name of the provider ${JSON.stringify(provider.name)}: it becomes ${name}`)
  return { name, settings: { ...counterpart.settings, token }, ...commonSettings(provider, dropped) }
}

/** A target of a class without a counterpart: under its own name, or as the provider `other`. */
export function foreignTarget(
  provider: OctodnsProvider,
  other: Pick<ConvertedTarget, 'name' | 'settings'> | null,
  dropped: UnsupportedFeature[],
): ConvertedTarget {
  return { ...(other ?? { name: freeName(provider.name, new Set()), settings: null }), ...commonSettings(provider, dropped) }
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

/** Converts a secret to a reference: `env/NAME` keeps its variable; anything else gets a variable that the user must set. */
function secretOf({ name, settings }: OctodnsProvider, key: string, handlers: ReadonlySet<string>, drop: (what: string) => void): string {
  const given = String(settings[key] ?? '')
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
