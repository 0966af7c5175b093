/** Combines a definition with the config. */
import { relative, sep } from 'node:path'
import { type Diagnostic, hasErrors } from '../base/diagnostic.ts'
import type { DomainName } from '../dns/domain-name.ts'
import { globTest } from '../dns/glob.ts'
import { rrsetKey } from '../dns/record.ts'
import { SOA_TIMES } from '../dns/soa.ts'
import type { Ttl } from '../dns/ttl.ts'
import { unmanagedTest } from '../dns/unmanaged.ts'
import type { Allowance, DesiredZone, Policy, RrsetTargets, SoaFields, ZoneSettings } from '../dns/zone.ts'
import type { OwnQuarantine, SourcedRrset } from '../dns/zone-source.ts'
import { compileGlobs } from '../files/file-glob.ts'
import type { SafetyThresholds } from '../plan/safety-limits.ts'
import { type Config, type ConfigDefaults, DEFAULT_ZONE_RULE, unknownProvider, type ZoneRule } from './config.ts'
import { limitByAll } from './limit-config.ts'

/** A zone with its definition and the settings of the config combined. */
export interface LoadedZone {
  /** With the config's defaults. */
  readonly zone: DesiredZone
  /** The definition and all files it includes, as messages show them, sorted. */
  readonly files: readonly string[]
  /** Whether only an internal network sees it. */
  readonly internal: boolean
  /** Who is responsible for it; null if neither its definition nor its rule names anybody. */
  readonly owner: string | null
  /** The names of its providers. */
  readonly targets: readonly string[]
  readonly policy: Policy
  readonly allow: ReadonlySet<Allowance>
  readonly thresholds: SafetyThresholds
  /** The servers that `verify` queries; null for the NS records of the zone. */
  readonly nameservers: readonly string[] | null
  /** The reverse zones that hold the PTR records of its addresses. */
  readonly reverseZones: readonly DomainName[]
  /** Its diagnostics, which are also among those of the run. */
  readonly diagnostics: readonly Diagnostic[]
  /** Whether it has no errors, so that it can be planned. */
  readonly valid: boolean
}

/** The first rule that applies to a zone; null if all rules that match its file are for other zones. */
export function ruleFor(zone: Pick<DesiredZone, 'name'>, rules: readonly ZoneRule[]): ZoneRule | null {
  if (rules.length === 0) return DEFAULT_ZONE_RULE
  const name = zone.name.slice(0, -1)
  return rules.find((rule) => rule.zones === null || rule.zones.some((glob) => globTest(glob)(name))) ?? null
}

/** Combines a definition with the config. The definition takes precedence, then its rule, then the config's defaults. */
export function configureZone(
  zone: DesiredZone,
  rule: ZoneRule,
  config: Config,
  files: readonly string[],
  found: readonly Diagnostic[],
): LoadedZone {
  const policy = zone.policy ?? rule.policy
  const targets = targetsOf(zone, rule, config)
  const unmanaged = unmanagedByRule(zone, rule)
  const diagnostics = [...found, ...checkTargets(zone, targets, config), ...checkSources(zone, targets, config), ...unmanaged.diagnostics]
  return {
    zone: {
      ...zone,
      policy,
      settings: settingsOf(zone, config.defaults.settings),
      settingPositions: { ...config.defaults.settingPositions, ...zone.settingPositions },
      records: withTtl(zone.records, config.defaults.ttl),
      ...defaultTtlOf(zone, config.defaults),
      ...sourcesOf(zone, config),
      apexNs: zone.apexNs === 'keep' ? (rule.apexNs ?? 'keep') : zone.apexNs,
      unmanaged: [...zone.unmanaged, ...rule.unmanaged],
      ignore: [...(zone.ignore ?? []), ...rule.ignore, ...config.ignore],
      rrsetTargets: [...zone.rrsetTargets, ...unmanaged.rrsetTargets],
      autoPtr: zone.autoPtr ?? rule.autoPtr,
      unsupported: zone.unsupported === 'skip' ? 'skip' : (rule.unsupported ?? config.unsupported),
    },
    files,
    internal: rule.internal,
    owner: zone.owner ?? rule.owner,
    targets,
    policy: policy ?? 'sync',
    allow: new Set([...zone.allow, ...rule.allow]),
    thresholds: { ...config.safety, ...rule.safety },
    nameservers: rule.nameservers ?? config.nameservers,
    reverseZones: [],
    diagnostics,
    valid: !hasErrors(diagnostics),
  }
}

/**
 * The RRsets of a definition that a selector of the config matches. They are skipped with a warning: the config covers many zones, some of which may
 * define such records. (A match with the definition's own selectors is an error.)
 */
function unmanagedByRule(zone: DesiredZone, { unmanaged }: ZoneRule): { rrsetTargets: RrsetTargets[]; diagnostics: Diagnostic[] } {
  const rrsetTargets = new Map<string, RrsetTargets>()
  const diagnostics: Diagnostic[] = []
  const test = unmanagedTest(unmanaged, zone.name)
  for (const record of unmanaged.length === 0 ? [] : zone.records) {
    const { name, type, at } = record
    if (rrsetTargets.has(rrsetKey(record)) || !test(record)) continue
    rrsetTargets.set(rrsetKey(record), { name, type, ignored: true, included: [], excluded: [] })
    const selector = unmanaged.find((one) => unmanagedTest([one], zone.name)(record))
    diagnostics.push({
      severity: 'warning',
      code: 'unmanaged-collision',
      message: `${name} ${type} is in the definition, but "unmanaged" in the config matches it, so the target is not changed`,
      at,
      hint: 'remove the record, or narrow the selector',
      ...(selector?.at && { related: [{ message: 'the selector', at: selector.at }] }),
    })
  }
  return { rrsetTargets: [...rrsetTargets.values()], diagnostics }
}

/** The providers of a zone: its own, otherwise those of its rule, otherwise the only one in the config. */
export function targetsOf(zone: Pick<DesiredZone, 'targets'>, rule: ZoneRule, config: Config): readonly string[] {
  const targets = zone.targets ?? rule.targets
  if (targets !== null) return [...new Set(targets)]
  return config.providers.size === 1 ? [...config.providers.keys()] : []
}

/** Reports missing and unknown targets. Without a config there are no providers to check. */
function checkTargets(zone: DesiredZone, targets: readonly string[], config: Config): Diagnostic[] {
  if (config.file === null) return []
  if (targets.length === 0) {
    const common = { severity: 'error', code: 'target-missing' } as const
    if (config.providers.size > 0) {
      const hint = 'add "targets" to the definition, or to a rule under "zones" in the config'
      return [{ ...common, message: `${zone.name} has no target: nothing says which provider it belongs to`, at: zone.at, hint }]
    }
    const message = `the config has no providers, so ${zone.name} has no target`
    const hint = 'write the provider of the zone below "providers:", as docs/configuration.md shows'
    return [{ ...common, message, at: { file: config.file, line: 1, column: 1 }, hint }]
  }
  const positionOf = (target: string) => zone.settingPositions?.targets?.[zone.targets?.indexOf(target) ?? -1] ?? zone.at
  return targets
    .filter((target) => !config.providers.has(target))
    .map((target) => unknownProvider(target, config.providers.keys(), positionOf(target)))
}

/** Reports sources at unknown providers, and a zone that is its own source. Without a config there are no providers to check. */
function checkSources({ name, sourced = [], sources = [] }: DesiredZone, targets: readonly string[], config: Config): Diagnostic[] {
  if (config.file === null) return []
  const inventories = sourced.map(({ query, at }) => ({ provider: query.provider, zone: query.kind === 'zone' ? query.zone : null, at }))
  return [...inventories, ...sources].flatMap(({ provider, zone, at }): Diagnostic[] => {
    if (provider === null) return []
    if (!config.providers.has(provider)) return [unknownProvider(provider, config.providers.keys(), at)]
    if (zone !== name || !targets.includes(provider)) return []
    const message = `${name} at ${provider} cannot be its own source`
    return [{ severity: 'error', code: 'source-itself', message, at, hint: 'name another zone or another provider' }]
  })
}

/** The sources with the defaults of the config. The records of a zone have their own TTL. */
function sourcesOf({ sourced, sources }: DesiredZone, { defaults, quarantine }: Config): Pick<DesiredZone, 'sourced' | 'sources'> {
  const ruled = <S extends { readonly quarantine?: OwnQuarantine | undefined }>(source: S): S => ({
    ...source,
    quarantine: { ...quarantine, ...source.quarantine },
  })
  const withDefaults = (one: SourcedRrset): SourcedRrset =>
    ruled(one.query.kind === 'zone' ? one : { ...one, ttl: one.ttl ?? defaults.ttl })
  return { ...(sourced && { sourced: sourced.map(withDefaults) }), ...(sources && { sources: sources.map(ruled) }) }
}

/** Defaults that do not apply to slave zones, since the master defines them. */
const OF_MASTERS: ReadonlySet<string> = new Set(['soa_email', 'ttl_sec', 'refresh_sec', 'retry_sec', 'expire_sec'])

function defaultTtlOf({ defaultTtl }: DesiredZone, { ttl, ttlAt }: ConfigDefaults): Pick<DesiredZone, 'defaultTtl'> {
  if (defaultTtl !== undefined || ttl === null || ttlAt === undefined) return {}
  return { defaultTtl: { ttl, at: ttlAt } }
}

function settingsOf(zone: DesiredZone, defaults: ZoneSettings): ZoneSettings {
  if (zone.absent) return zone.settings
  if (zone.settings.type !== 'slave') return { ...withoutTimesOf(zone.soa, defaults), ...zone.settings }
  return { ...Object.fromEntries(Object.entries(defaults).filter(([key]) => !OF_MASTERS.has(key))), ...zone.settings }
}

/** The defaults without the times that the definition states in `soa`. */
const withoutTimesOf = (soa: SoaFields | undefined, defaults: ZoneSettings): ZoneSettings =>
  soa === undefined
    ? defaults
    : { ...defaults, ...Object.fromEntries(SOA_TIMES.flatMap(([field, key]) => (soa[field] === undefined ? [] : [[key, undefined]]))) }

function withTtl<R extends { readonly ttl: Ttl | null }>(records: readonly R[], ttl: Ttl | null): readonly R[] {
  return ttl === null ? records : records.map((record) => (record.ttl === null ? { ...record, ttl } : record))
}

/** A function that returns the rule for a definition at an absolute path; null if no enabled rule matches, so that it would not be read. */
export function createRuleLookup(config: Config): (path: string, zone: Pick<DesiredZone, 'name'>) => ZoneRule | null {
  const rules = config.zoneRules.map((rule) => ({ rule, globs: compileGlobs(rule.files, config.folder) }))
  return (path, zone) => {
    const fromFolder = relative(config.folder, path).split(sep).join('/')
    const matching = rules.filter(({ globs }) => globs.matches(fromFolder)).map(({ rule }) => rule)
    const rule = matching.length === 0 ? null : ruleFor(zone, matching)
    return rule?.enabled ? limitedRule(rule, config, path, zone) : null
  }
}

/**
 * The rule itself, unless the config is that of a pull request: then limited by the rule of the base branch. A file that no rule there matches may have been
 * moved, so all rules there that may be for its zone limit it.
 */
export function limitedRule(rule: ZoneRule, { base }: Config, path: string, zone: Pick<DesiredZone, 'name'>): ZoneRule {
  if (base === null) return rule
  const found = base.ruleOf(path, zone)
  const candidates = base.config.zoneRules.filter((one) => ruleFor(zone, [one]) !== null)
  return limitByAll(rule, found === null ? [...candidates, DEFAULT_ZONE_RULE] : [found], base.config)
}
