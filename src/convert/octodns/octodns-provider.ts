import type { SourcePosition } from '../../dns/diagnostic.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'

/** Limits of a plan in percent of the record sets; absent where nothing is said. */
export interface ConvertedSafety {
  readonly max_delete_percent?: number
  readonly max_update_percent?: number
}

/** A provider of ours that does the work of one of octoDNS's. */
export interface ConvertedTarget {
  readonly name: string
  /** As YAML has it: keys in order. */
  readonly settings: Readonly<Record<string, string>>
  readonly safety: ConvertedSafety
  /** Whether records it does not have are left out with a warning, not refused. */
  readonly skipsUnsupported: boolean
  /** Whether octoDNS plans for it and never applies anything. */
  readonly isDryRun: boolean
}

/** Which of our providers stands for a class of octoDNS's, and its settings of plain text. */
const OURS: readonly { readonly pattern: RegExp; readonly settings: Readonly<Record<string, string>> }[] = [
  { pattern: /(?:^|\.)LinodeProvider$/, settings: { type: 'cloud', preset: 'linode' } },
]

/** What octoDNS lets every provider say of itself as a target (its provider/base.py). */
export const TARGET_KEYS = [
  'apply_disabled',
  'update_pcent_threshold',
  'delete_pcent_threshold',
  'strict_supports',
  'root_ns_warnings',
] as const

/** Those that become rules of ours, or that change no more than warnings. */
const CARRIED_KEYS: ReadonlySet<string> = new Set([
  'token',
  'update_pcent_threshold',
  'delete_pcent_threshold',
  'strict_supports',
  'root_ns_warnings',
  'apply_disabled',
])

export interface TargetOptions {
  /** Names that other providers have. */
  readonly taken?: ReadonlySet<string> | undefined
  /** Names of secret handlers beside `env`. */
  readonly secretHandlers?: ReadonlySet<string> | undefined
}

/** Our provider for one of octoDNS's; null where there is none. A secret is carried as a reference to the environment, never as it is. */
export function targetOf(
  provider: OctodnsProvider,
  dropped: UnsupportedFeature[],
  { taken = new Set(), secretHandlers = new Set() }: TargetOptions = {},
): ConvertedTarget | null {
  const ours = OURS.find(({ pattern }) => pattern.test(provider.className))
  if (ours === undefined) return null
  const lose = (what: string): void => void dropped.push({ zone: null, name: null, type: null, what, at: provider.at })
  const { settings } = provider
  const isDryRun = !/^(?:false|no|off|0)$/i.test(String(settings['apply_disabled'] ?? 'false'))
  if (isDryRun) {
    const outcome = 'no rule has it as a target'
    dropped.push({ zone: null, name: null, type: null, what: `apply_disabled of the provider ${provider.name}`, at: provider.at, outcome })
  }
  const token = secretOf(provider, 'token', secretHandlers, lose)
  for (const key of Object.keys(settings)) if (!CARRIED_KEYS.has(key)) lose(`${key} of the provider ${provider.name}`)
  const name = freeName(provider.name, taken)
  if (name !== provider.name) lose(`the name of the provider ${JSON.stringify(provider.name)}: it becomes ${name}`)
  return {
    name,
    settings: { ...ours.settings, token },
    safety: safetyOf(settings, (key) => lose(`${key} of the provider ${provider.name}`)),
    skipsUnsupported: /^(?:false|no|off|0)$/i.test(String(settings['strict_supports'] ?? 'true')),
    isDryRun,
  }
}

/** octoDNS's limits, which are parts of one; `lose` gets the keys of those that are no such number. */
export function safetyOf(settings: Readonly<Record<string, unknown>>, lose: (key: string) => void): ConvertedSafety {
  const percent = (key: string): number | undefined => {
    const value = settings[key] ?? undefined
    if (typeof value === 'number' && value >= 0) return Math.min(100, Math.round(value * 10_000) / 100)
    if (value !== undefined) lose(key)
    return undefined
  }
  const [deletes, updates] = [percent('delete_pcent_threshold'), percent('update_pcent_threshold')]
  return {
    ...(deletes !== undefined && { max_delete_percent: deletes }),
    ...(updates !== undefined && { max_update_percent: updates }),
  }
}

/** A name that a config takes (schemas/config.schema.json), as like to the one given as may be. */
function freeName(text: string, taken: ReadonlySet<string>): string {
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

/** A secret as a reference: `env/NAME` as it is meant, everything else as a variable that is yet to be set. */
function secretOf({ name, settings }: OctodnsProvider, key: string, handlers: ReadonlySet<string>, lose: (what: string) => void): string {
  const given = String(settings[key] ?? '')
  const [, variable, fallback] = /^env\/([A-Za-z_][A-Za-z0-9_]{0,99})(\/.*)?$/s.exec(given) ?? []
  if (variable !== undefined) {
    if (fallback !== undefined) lose(`what the ${key} of the provider ${name} is where ${variable} is not set`)
    return `env:${variable}`
  }
  const stand = `${name}_${key}`
    .toUpperCase()
    .replace(/[^A-Z0-9_]/g, '_')
    .replace(/^(?=[0-9])/, '_')
    .slice(0, 100)
  const handler = given.slice(0, Math.max(0, given.indexOf('/')))
  if (handlers.has(handler)) lose(`the ${key} of the provider ${name} from the secret handler ${handler}: set ${stand} in the environment`)
  else if (given !== '') lose(`the ${key} of the provider ${name} as plain text: set ${stand} in the environment`)
  return `env:${stand}`
}

/** One entry of `providers:` in octoDNS's configuration. */
export interface OctodnsProvider {
  readonly name: string
  /** The Python class, such as `octodns.provider.yaml.YamlProvider`. */
  readonly className: string
  /** All keys but `class`, as JSON values. */
  readonly settings: Readonly<Record<string, unknown>>
  readonly at: SourcePosition
}
