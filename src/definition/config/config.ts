import type { SourcePosition } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import type { Ttl } from '../../dns/ttl.ts'
import type { DesiredZone, Policy, RefusalName, SettingPlaces, UnmanagedSelector, ZoneSettings } from '../../dns/zone.ts'
import type { SafetyThresholds } from '../../plan/safety-limits.ts'
import type { PathStep } from '../yaml/yaml-node.ts'
import type { LoadedSecrets } from './secret-guard.ts'

/** The config file, with every default filled in. Paths are absolute; names of files for messages are from the working directory. */
export interface Config {
  /** The file as messages name it; null where there is none and all is default. */
  readonly file: string | null
  /** The folder that globs and paths start from. */
  readonly folder: string
  /** The folder that names of files in messages start from. */
  readonly cwd: string
  readonly providers: ReadonlyMap<string, ProviderConfig>
  /** Which definitions go where; the first that matches decides. */
  readonly rules: readonly ConfigRule[]
  readonly defaults: ConfigDefaults
  readonly safety: SafetyThresholds
  readonly unsupported: DesiredZone['unsupported']
  /** Servers that verify asks, as `address` or `address:port`; null for the NS records of the zone. */
  readonly nameservers: readonly string[] | null
  readonly journal: string
  readonly octodnsDefaultTtl: Ttl
  readonly octodnsSplitExtension: string
  /** Files that `file:` references name, absolute: no definition may be read from them. */
  readonly secretFiles: readonly string[]
  /** The secrets of the run, which no definition may hold. */
  readonly secrets: LoadedSecrets
}

export interface ProviderConfig {
  readonly name: string
  readonly type: string
  /** All settings but `type`, as JSON values. Secrets are references still, see `resolveSecret`. */
  readonly settings: Readonly<Record<string, unknown>>
  readonly at: SourcePosition
  /** The place of a setting, or of the nearest thing to it that is there: `placeOf('tsig', 'secret')`. */
  readonly placeOf: (...path: readonly PathStep[]) => SourcePosition
}

/** One entry of `zones`. */
export interface ConfigRule {
  /** Globs over paths from the config's folder; those that begin with `!` take out what others match. */
  readonly files: readonly string[]
  /** Globs over canonical zone names without the final dot; null for all zones. */
  readonly zones: readonly string[] | null
  /** What the zone in the rule's one file is called; null where the file says it. */
  readonly zoneName: DomainName | null
  readonly enabled: boolean
  /** Null where the definition or the only provider decides. */
  readonly targets: readonly string[] | null
  readonly policy: Policy | null
  readonly allow: readonly RefusalName[]
  readonly unsupported: DesiredZone['unsupported'] | null
  readonly apexNs: DesiredZone['apexNs'] | null
  /** Beside those that definitions have themselves. */
  readonly unmanaged: readonly UnmanagedSelector[]
  readonly safety: Partial<SafetyThresholds>
  readonly nameservers: readonly string[] | null
  readonly at: SourcePosition | null
}

/** What zones have whose definition does not say it. */
export interface ConfigDefaults {
  readonly settings: ZoneSettings
  /** Where they are said. */
  readonly settingsAt?: SettingPlaces | undefined
  /** For records without a TTL; null for the zone's own default. */
  readonly ttl: Ttl | null
}

export const CONFIG_FILE = 'zonewright.yaml'

/** The globs of a rule that has none, and of a config without rules. */
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
