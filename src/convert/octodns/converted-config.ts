/** Converts a config of octoDNS to a `zonewright.yaml`. */
import { type Diagnostic, isError } from '../../base/diagnostic.ts'
import { listed } from '../../base/english.ts'
import { CONFIG_FILE } from '../../config/config.ts'
import { readConfig } from '../../config/read-config.ts'
import { printText } from '../../definition/print/octodns-value.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { plainSelector } from '../../dns/unmanaged.ts'
import type { Policy, UnmanagedSelector } from '../../dns/zone.ts'
import { checkSettings } from '../../providers/registry.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'
import type { ConvertedSafety, ConvertedTarget, OctodnsProvider } from './octodns-provider.ts'
import { type ProcessedZone, processorEffect } from './processor-effects.ts'
import type { OctodnsConfig } from './read-octodns-config.ts'
import type { RoutedZone } from './route-zones.ts'

/** Definitions with the same targets and options. */
export interface ConvertedRule {
  /** Paths relative to the config's folder. */
  readonly files: readonly string[]
  readonly targets: readonly string[]
  readonly safety?: ConvertedSafety | undefined
  readonly skipsUnsupported?: boolean | undefined
  /** False if the zones are never to be changed. */
  readonly isEnabled?: boolean | undefined
  readonly policy?: Policy | null | undefined
  readonly unmanaged?: readonly UnmanagedSelector[] | undefined
  readonly autoPtr?: boolean | undefined
}

export interface ConvertedConfig {
  /** The octoDNS config that it is converted from. */
  readonly from: string
  readonly defaultTtl: number
  readonly splitExtension: string | null
  readonly targets: readonly Pick<ConvertedTarget, 'name' | 'settings'>[]
  readonly rules: readonly ConvertedRule[]
}

/** Returns the text of a `zonewright.yaml`. */
export function printConvertedConfig({ from, defaultTtl, splitExtension, targets, rules }: ConvertedConfig): string {
  let text = `# Converted from ${from.replace(/[^ -~]/g, '?')}, an octoDNS config.\n`
  text += printProviders(targets)
  text += rules.length === 0 ? 'zones: []\n' : 'zones:\n'
  for (const rule of rules) {
    text += `  - files:\n${rule.files.map((file) => `      - ${printText(file)}\n`).join('')}`
    if (rule.isEnabled === false) text += '    enabled: false\n'
    // Without this key, the only provider would be the target.
    text += `    targets: [${rule.targets.map(printText).join(', ')}]\n`
    if (rule.policy) text += `    policy: ${rule.policy}\n`
    const limits = Object.entries(rule.safety ?? {})
    if (limits.length > 0) text += `    safety: {${limits.map(([key, percent]) => `${key}: ${percent}`).join(', ')}}\n`
    if (rule.skipsUnsupported) text += '    unsupported: skip\n'
    if (rule.autoPtr) text += '    auto_ptr: true\n'
    const selectors = (rule.unmanaged ?? []).map((selector) => flowValue({ ...plainSelector(selector) }))
    if (selectors.length > 0) text += `    unmanaged:\n${selectors.map((selector) => `      - ${selector}\n`).join('')}`
  }
  text += `octodns_default_ttl: ${defaultTtl}\n`
  return splitExtension === null ? text : `${text}octodns_split_extension: ${printText(splitExtension)}\n`
}

/** The `providers:` of a config. */
export const printProviders = (targets: ConvertedConfig['targets']): string =>
  targets.length === 0
    ? 'providers: {}\n'
    : `providers:\n${targets.map(({ name, settings }) => `  ${printText(name)}: ${flowValue(settings)}\n`).join('')}`

/** Why a config with this provider does not load; null if it does. */
export function providerProblem(target: ConvertedConfig['targets'][number]): string | null {
  const { config, diagnostics } = readConfig(printProviders([target]), { file: CONFIG_FILE, folder: '/', cwd: '/' })
  return [...diagnostics, ...[...(config?.providers.values() ?? [])].flatMap(checkSettings)].find(isError)?.message ?? null
}

/** The config for zones of another program. `glob` names their definitions. A run ends at a zone without a target, so those in `idle` are disabled. */
export function printNewConfig(
  from: string,
  targets: readonly Pick<ConvertedTarget, 'name' | 'settings'>[],
  glob: string,
  { idle, reason = 'no target is known', after = '    targets: []\n' }: { idle: readonly DomainName[]; reason?: string; after?: string },
): string {
  const rule = `  - files: [${printText(glob)}]\n`
  const names = [...new Set(idle)].map((name) => printText(name.slice(0, -1)))
  const disabled = names.length === 0 ? '' : `${rule}    zone: [${names.join(', ')}]\n    enabled: false # ${reason}\n`
  return `# Converted from ${from.replace(/[^ -~]/g, '?')}.\n${printProviders(targets)}zones:\n${disabled}${rule}${after}`
}

/** Prints a JSON value as YAML in flow style. */
export function flowValue(value: unknown): string {
  if (typeof value === 'string') return printText(value)
  if (Array.isArray(value)) return `[${value.map(flowValue).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  return `{${Object.entries(value)
    .map(([key, item]) => `${printText(key)}: ${flowValue(item)}`)
    .join(', ')}}`
}

/** What the processors of a zone mean for its rule. */
interface ZoneProcessing {
  readonly unmanaged: readonly UnmanagedSelector[]
  readonly policy: Policy | null
}

export interface Processing {
  /** Converts the processors of one zone and collects what is dropped. */
  readonly forZone: (routed: Omit<RoutedZone, 'parts'>, zone: ProcessedZone) => ZoneProcessing
  /** What all zones so far have dropped: each item once, with its zones. */
  readonly dropped: () => UnsupportedFeature[]
  /** A warning per processor that no zone uses. */
  readonly unused: readonly Diagnostic[]
}

/** Zones that a message lists. */
const MAX_ZONES = 5

interface DroppedEffect {
  readonly processor: Pick<OctodnsProvider, 'name' | 'className'> & { readonly at: UnsupportedFeature['at'] }
  readonly what: string
  readonly outcome: string
  readonly keepsRecords?: true
  readonly zones: DomainName[]
}

export function createProcessing({ processors, globalProcessors, zones }: OctodnsConfig): Processing {
  const droppedEffects = new Map<string, DroppedEffect>()
  return {
    forZone: ({ entry, processors: own, unreadSourcePolicy }, zone) => {
      const effects = [...globalProcessors.before, ...own, ...globalProcessors.after].map((name) => {
        const processor = processors.get(name) ?? { name, className: '', settings: {}, at: entry.at }
        const effect = processorEffect(processor, zone)
        if (effect.dropped !== null) {
          const key = JSON.stringify([name, effect.dropped])
          const known = droppedEffects.get(key) ?? { processor, ...effect.dropped, zones: [] }
          known.zones.push(zone.name)
          droppedEffects.set(key, known)
        }
        return effect
      })
      const unmanaged = new Map(effects.flatMap((effect) => effect.unmanaged).map((selector) => [JSON.stringify(selector), selector]))
      // With a source-only filter, the definition may contain record sets that another processor leaves to their owner at the target.
      const isInseparable = effects.some(({ hidesRecords }) => hidesRecords) && effects.some(({ policy }) => policy === 'upsert-only')
      const policies = new Set([unreadSourcePolicy, isInseparable ? 'create-only' : null, ...effects.map(({ policy }) => policy)])
      return { unmanaged: [...unmanaged.values()], policy: POLICIES.find((policy) => policies.has(policy)) ?? null }
    },
    dropped: () => [...droppedEffects.values()].map(droppedEffect),
    unused: unused(),
  }

  function unused(): Diagnostic[] {
    const used = new Set([...globalProcessors.before, ...globalProcessors.after, ...zones.flatMap((entry) => entry.processors)])
    return [...processors.values()]
      .filter(({ name }) => !used.has(name))
      .map(({ name, at }) => ({
        severity: 'warning',
        code: 'import-aside',
        message: `the processor ${name} is not imported, because no zone uses it`,
        at,
      }))
  }
}

/** The most restrictive first. */
const POLICIES: readonly Policy[] = ['create-only', 'upsert-only']

function droppedEffect({ processor: { name, className, at }, what, outcome, keepsRecords, zones }: DroppedEffect): UnsupportedFeature {
  const kind = className === '' ? 'which the config does not define' : className
  return {
    zone: null,
    name: null,
    type: null,
    what: `the effect of the processor ${name} (${kind}) on ${listed(zones, MAX_ZONES)}: ${what}`,
    at,
    outcome,
    keepsRecords,
  }
}
