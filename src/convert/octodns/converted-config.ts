import type { ImportedZone } from '../../definition/imported-zone.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import type { Policy, UnmanagedSelector } from '../../dns/zone.ts'
import { listed } from '../../report/english.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'
import type { ConvertedSafety, ConvertedTarget, OctodnsProvider } from './octodns-provider.ts'
import { printText } from './print-yaml.ts'
import { type ProcessedZone, processorEffect } from './processor-effects.ts'
import type { OctodnsConfig } from './read-octodns-config.ts'
import type { ReadOctodnsZone } from './read-octodns-zone.ts'
import type { RoutedZone } from './route-zones.ts'
import type { OpenSource } from './yaml-sources.ts'

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
  text +=
    targets.length === 0 ? '# No target has a provider here: add one and name it in the targets below.\nproviders: {}\n' : 'providers:\n'
  for (const { name, settings } of targets) {
    text += `  ${printText(name)}: ${flowMap(settings)}\n`
  }
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
    const selectors = (rule.unmanaged ?? []).map(({ name, type }) =>
      flowMap({ ...(name !== undefined && { name }), ...(type && { type }) }),
    )
    if (selectors.length > 0) text += `    unmanaged:\n${selectors.map((selector) => `      - ${selector}\n`).join('')}`
  }
  text += `octodns_default_ttl: ${defaultTtl}\n`
  return splitExtension === null ? text : `${text}octodns_split_extension: ${printText(splitExtension)}\n`
}

const flowMap = (map: Readonly<Record<string, string>>): string =>
  `{${Object.entries(map)
    .map(([key, value]) => `${key}: ${printText(value)}`)
    .join(', ')}}`

/** What the processors of a zone mean for its rule. */
interface ZoneProcessing {
  readonly unmanaged: readonly UnmanagedSelector[]
  readonly policy: Policy | null
}

export interface Processing {
  /** Converts the processors of one zone and collects what is dropped. */
  readonly forZone: (routed: RoutedZone, zone: ProcessedZone) => ZoneProcessing
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

function droppedEffect({ processor: { name, className, at }, what, outcome, zones }: DroppedEffect): UnsupportedFeature {
  const kind = className === '' ? 'which the config does not define' : className
  return {
    zone: null,
    name: null,
    type: null,
    what: `the effect of the processor ${name} (${kind}) on ${listed(zones, MAX_ZONES)}: ${what}`,
    at,
    outcome,
  }
}

interface RuleContext {
  readonly targets: ReadonlyMap<string, ConvertedTarget | null>
  readonly sources: ReadonlyMap<string, OpenSource>
  readonly processing: Processing
  readonly dropped: UnsupportedFeature[]
}

/** Groups zones into rules by targets and options, in the order of the octoDNS config. */
export function groupRules(wanted: readonly RoutedZone[], read: readonly ReadOctodnsZone[], context: RuleContext): ConvertedRule[] {
  const groups = new Map<string, ConvertedRule & { readonly files: string[] }>()
  for (const [i, routed] of wanted.entries()) {
    const one = read[i]
    if (!one || one.zone === null) continue
    const rule = ruleOf(routed, one.zone, context)
    const key = JSON.stringify(rule)
    const group = groups.get(key) ?? { ...rule, files: [] }
    group.files.push(one.path)
    groups.set(key, group)
  }
  return [...groups.values()]
}

/** The rule for a zone. If its targets differ in their limits, the strictest one is used. */
function ruleOf(
  routed: RoutedZone,
  zone: ImportedZone,
  { targets, sources, processing, dropped }: RuleContext,
): Omit<ConvertedRule, 'files'> {
  const { name, entry, ownEntry } = routed
  const drop = (what: string, outcome?: string): void =>
    void dropped.push({ zone: name, name: null, type: null, what, at: ownEntry.at, outcome })
  if (ownEntry.isDryRun) drop('always-dry-run', 'its rule has "enabled: false", so it is never planned')
  const converted = entry.targets.flatMap((target) => {
    const known = targets.get(target)
    // Providers without a counterpart are reported once, not per zone.
    if (known === undefined && sources.has(target)) drop(`its target ${target}, a directory of files`)
    else if (known === undefined) drop(`its target ${JSON.stringify(target)}, which is not a provider in the octoDNS config`)
    return known && !known.isDryRun ? known : []
  })
  const limit = (key: keyof ConvertedTarget['safety']): number | undefined => {
    const given = [...new Set(converted.map(({ safety }) => safety[key] ?? DEFAULT_LIMIT))].sort((a, b) => a - b)
    if (given.length > 1 && ownEntry.safety[key] === undefined)
      drop(`different limits of its targets (${given.join(', ')} %); all get the lowest`)
    return ownEntry.safety[key] ?? (given[0] === DEFAULT_LIMIT ? undefined : given[0])
  }
  const [deletes, updates] = [limit('max_delete_percent'), limit('max_update_percent')]
  const lenient = converted.filter(({ skipsUnsupported }) => skipsUnsupported)
  if (lenient.length > 0 && lenient.length < converted.length)
    drop(`strict_supports: false for only some of its targets (${lenient.map((target) => target.name).join(', ')})`)
  return {
    targets: converted.map((target) => target.name),
    safety: {
      ...(deletes !== undefined && { max_delete_percent: deletes }),
      ...(updates !== undefined && { max_update_percent: updates }),
    },
    skipsUnsupported: converted.length > 0 && lenient.length === converted.length,
    ...(ownEntry.isDryRun && { isEnabled: false }),
    ...processing.forZone(routed, zone),
  }
}

/** The default limit of both programs, in percent. */
const DEFAULT_LIMIT = 30
