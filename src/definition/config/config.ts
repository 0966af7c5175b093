import type { SourcePosition } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import type { Ttl } from '../../dns/ttl.ts'
import type { DesiredZone, Policy, RefusalName, SettingPlaces, UnmanagedSelector, ZoneSettings } from '../../dns/zone.ts'
import type { SafetyThresholds } from '../../plan/safety-limits.ts'
import type { PathStep } from '../yaml/yaml-node.ts'
import type { LoadedSecrets } from './secret-guard.ts'

/** The config with all defaults. Paths are absolute; file names for messages are relative to the working directory. */
export interface Config {
  /** The file as messages show it; null if there is no config file. */
  readonly file: string | null
  /** The folder that globs and paths are relative to. */
  readonly folder: string
  /** The folder that file names in messages are relative to. */
  readonly cwd: string
  readonly providers: ReadonlyMap<string, ProviderConfig>
  /** The entries of `zones`; the first that matches a definition applies. */
  readonly rules: readonly ConfigRule[]
  readonly defaults: ConfigDefaults
  readonly safety: SafetyThresholds
  readonly unsupported: DesiredZone['unsupported']
  /** Servers that verify asks, as `address` or `address:port`; null for the NS records of the zone. */
  readonly nameservers: readonly string[] | null
  readonly journal: string
  readonly octodnsDefaultTtl: Ttl
  readonly octodnsSplitExtension: string
  /** The files of `file:` references, absolute: no definition may be read from them. */
  readonly secretFiles: readonly string[]
  /** The secrets of the run, which no definition may contain. */
  readonly secrets: LoadedSecrets
}

export interface ProviderConfig {
  readonly name: string
  readonly type: string
  /** All settings except `type`, as JSON values. Secrets are unresolved references, see `resolveSecret`. */
  readonly settings: Readonly<Record<string, unknown>>
  readonly at: SourcePosition
  /** The position of a setting, or of its nearest existing parent: `placeOf('tsig', 'secret')`. */
  readonly placeOf: (...path: readonly PathStep[]) => SourcePosition
}

/** One entry of `zones`. */
export interface ConfigRule {
  /** Globs for paths relative to the config's folder; those that begin with `!` exclude paths. */
  readonly files: readonly string[]
  /** Globs for canonical zone names without the final dot; null for all zones. */
  readonly zones: readonly string[] | null
  /** The name of the zone, if the rule names one file and one zone; otherwise null. */
  readonly zoneName: DomainName | null
  readonly enabled: boolean
  /** Null if the definition or the only provider decides. */
  readonly targets: readonly string[] | null
  readonly policy: Policy | null
  readonly allow: readonly RefusalName[]
  readonly unsupported: DesiredZone['unsupported'] | null
  readonly apexNs: DesiredZone['apexNs'] | null
  /** In addition to the definition's own selectors. */
  readonly unmanaged: readonly UnmanagedSelector[]
  readonly safety: Partial<SafetyThresholds>
  readonly nameservers: readonly string[] | null
  readonly at: SourcePosition | null
}

/** Defaults for settings that a definition does not have. */
export interface ConfigDefaults {
  readonly settings: ZoneSettings
  /** The positions of the settings. */
  readonly settingsAt?: SettingPlaces | undefined
  /** For records without a TTL; null for the zone's own default. */
  readonly ttl: Ttl | null
}

export const CONFIG_FILE = 'zonewright.yaml'

/** The globs of a rule without `files`, and of a config without rules. */
export const DEFAULT_FILES: readonly string[] = ['zones/**/*']

export const DEFAULT_RULE: ConfigRule = {
  files: DEFAULT_FILES,
  zones: null,
  zoneName: null,
  enabled: true,
  targets: null,
  policy: null,
  allow: [],
  unsupported: null,
  apexNs: null,
  unmanaged: [],
  safety: {},
  nameservers: null,
  at: null,
}
