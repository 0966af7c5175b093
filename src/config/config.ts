/** The config as values, with its defaults. */

import type { Diagnostic, SourcePosition } from '../base/diagnostic.ts'
import { agreeing } from '../base/english.ts'
import type { Environment } from '../base/environment.ts'
import { didYouMean } from '../base/nearest-word.ts'
import type { LoadedSecrets } from '../base/secret-guard.ts'
import type { PathStep } from '../definition/yaml/yaml-node.ts'
import type { DomainName } from '../dns/domain-name.ts'
import type { FullDate } from '../dns/ownership.ts'
import type { Suppression } from '../dns/suppression.ts'
import type { Ttl } from '../dns/ttl.ts'
import type { Allowance, DesiredZone, Policy, SettingPositions, UnmanagedSelector, ZoneSettings } from '../dns/zone.ts'
import type { QuarantineRule } from '../dns/zone-source.ts'
import type { SafetyThresholds } from '../plan/safety-limits.ts'
import type { Approvals } from './approvals.ts'
import type { UsageConfig } from './usage-source.ts'

/** The config with all defaults. Paths are absolute. */
export interface Config {
  /** The file as messages show it; null if there is no config file. */
  readonly file: string | null
  /** The folder that globs and paths are relative to. */
  readonly folder: string
  /** The working directory. File names in messages are relative to it. */
  readonly cwd: string
  readonly providers: ReadonlyMap<string, ProviderConfig>
  /** The variables of programs, from the command line; none if absent. */
  readonly variables?: Readonly<Record<string, string>> | undefined
  /** The day that `Date` says in programs, unless the command line gives one; null for 1970-01-01. */
  readonly programDate: FullDate | null
  /** The entries of `zones`. The first that matches a definition applies. */
  readonly zoneRules: readonly ZoneRule[]
  readonly defaults: ConfigDefaults
  readonly safety: SafetyThresholds
  readonly unsupported: DesiredZone['unsupported']
  /** The findings that are reported in no zone. */
  readonly ignore: readonly Suppression[]
  /** Whether zones whose definition was removed are deleted. */
  readonly deleteRemoved: boolean
  /** Servers that verify asks, as `address` or `address:port`; null for the NS records of the zone. */
  readonly nameservers: readonly string[] | null
  /** Where it is known how often names are queried. */
  readonly usage: UsageConfig
  /** How long record sets are kept that their source no longer has, unless the source says otherwise. */
  readonly quarantine: QuarantineRule
  /** The folder of the journal. */
  readonly journal: string
  readonly journalStore: JournalStoreConfig
  /** The files and folders with policies, relative to the folder; null for the folder `policies`, if it exists. */
  readonly policies: readonly { readonly path: string; readonly at: SourcePosition | undefined }[] | null
  /** Who must approve plans; null if nobody must. */
  readonly approvals: Approvals | null
  /** The config that `--trusted-config` names, which has the policies and approvals; null without that option. */
  readonly trusted: Config | null
  /** The config that limits that of a pull request; null for any other config. */
  readonly base: BaseConfig | null
  /** The TTL of records without one in octoDNS's layout. */
  readonly octodnsDefaultTtl: Ttl
  /** The suffix of a zone's name in the name of its folder of split octoDNS files; `.` by default. */
  readonly octodnsSplitExtension: string
  /** The absolute paths of all `file:` references. No definition is read from these files. */
  readonly secretFiles: readonly string[]
  /** The secrets of the run, which no definition may contain. */
  readonly secrets: LoadedSecrets
  /** The environment variables of the run: in a CI job, programs read only files that git tracks. Absent for a revision. */
  readonly env?: Environment | undefined
}

/** The config of the branch that a pull request is merged into. */
export interface BaseConfig {
  readonly config: Config
  /** Its rule for a definition at an absolute path; null if no enabled rule matches. */
  readonly ruleOf: (path: string, zone: Pick<DesiredZone, 'name'>) => ZoneRule | null
  /** The keys of the pull request's config whose values it replaces. */
  readonly limitedKeys: readonly string[]
}

/** Where the journal is kept for other machines. */
export interface JournalStoreConfig {
  /** Whether a URL names it, so that other machines are known to use it. */
  readonly isShared: boolean
  /** Null if the folder of the journal itself is the store. */
  readonly bucket: BucketConfig | null
  /** How long a run that no longer renews its lease keeps its zones, in seconds. */
  readonly leaseSeconds: number
}

/** A bucket of a service with the interface of S3. */
export interface BucketConfig {
  readonly name: string
  /** The start of all names, without a final slash; empty for the whole bucket. */
  readonly prefix: string
  /** Null for that of the environment. */
  readonly region: string | null
  /** Null for AWS. */
  readonly endpoint: URL | null
  /** The profile of the AWS config files; null for that of the environment. */
  readonly profile: string | null
  readonly at: SourcePosition
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

/** An entry of `zones`: how to treat the definitions that it matches. */
export interface ZoneRule {
  /** Globs for paths relative to the config's folder; those that begin with `!` exclude paths. */
  readonly files: readonly string[]
  /** Globs for canonical zone names without the final dot; null for all zones. */
  readonly zones: readonly string[] | null
  /** The name of the zone, if the rule names one file and one zone; otherwise null. */
  readonly zoneName: DomainName | null
  readonly enabled: boolean
  /** The team or person that is responsible for the zones; null if the rule names none. */
  readonly owner: string | null
  /** The targets; null for those of the definition, or for the only provider if it names none. */
  readonly targets: readonly string[] | null
  readonly policy: Policy | null
  readonly allow: readonly Allowance[]
  readonly unsupported: DesiredZone['unsupported'] | null
  readonly apexNs: DesiredZone['apexNs'] | null
  /** Whether the addresses of its zones get PTR records. */
  readonly autoPtr: boolean
  /** Selectors that are added to those of the definition. */
  readonly unmanaged: readonly UnmanagedSelector[]
  /** Whether only an internal network sees its zones, so that they may have private addresses. */
  readonly internal: boolean
  /** The findings that are not reported in its zones. */
  readonly ignore: readonly Suppression[]
  readonly safety: Partial<SafetyThresholds>
  /** Whether its zones are deleted when their definition is removed; null for the value of the config. */
  readonly deleteRemoved: boolean | null
  readonly nameservers: readonly string[] | null
  /** The positions of the rule and of its globs; null for the default rule. */
  readonly at: SourcePosition | null
  readonly filesAt: SourcePosition | null
}

/** Defaults for settings that a definition does not have. */
export interface ConfigDefaults {
  readonly settings: ZoneSettings
  /** The positions of the settings. */
  readonly settingPositions?: SettingPositions | undefined
  /** For records without a TTL; null for the zone's own default. */
  readonly ttl: Ttl | null
  readonly ttlAt?: SourcePosition | undefined
}

export const CONFIG_FILE = 'zonewright.yaml'

/** The globs of a rule without `files`, and of a config without rules. */
export const DEFAULT_FILES: readonly string[] = ['zones/**/*']

export const DEFAULT_ZONE_RULE: ZoneRule = {
  files: DEFAULT_FILES,
  zones: null,
  zoneName: null,
  enabled: true,
  owner: null,
  targets: null,
  policy: null,
  allow: [],
  unsupported: null,
  apexNs: null,
  autoPtr: false,
  unmanaged: [],
  internal: false,
  ignore: [],
  safety: {},
  deleteRemoved: null,
  nameservers: null,
  at: null,
  filesAt: null,
}

// The diagnostic for a target that the config does not define.

export function unknownProvider(target: string, providers: Iterable<string>, at: Diagnostic['at']): Diagnostic {
  const names = [...providers]
  return {
    severity: 'error',
    code: 'provider-unknown',
    message: `the config has no provider "${target}"`,
    at,
    hint:
      didYouMean(target, names) ??
      (names.length > 0
        ? `${agreeing(names.length, 'the only provider is', 'the providers are')} ${names.join(', ')}`
        : 'define it under "providers" in the config'),
  }
}
