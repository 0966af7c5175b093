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

/** Definitions that go to the same targets. */
export interface ConvertedRule {
  /** Paths from the config's folder. */
  readonly files: readonly string[]
  readonly targets: readonly string[]
  readonly safety?: ConvertedSafety | undefined
  readonly skipsUnsupported?: boolean | undefined
  /** False where nothing is ever to be done to the zones. */
  readonly isEnabled?: boolean | undefined
  readonly policy?: Policy | null | undefined
  readonly unmanaged?: readonly UnmanagedSelector[] | undefined
}

export interface ConvertedConfig {
  /** The file it was made from. */
  readonly from: string
  readonly defaultTtl: number
  readonly splitExtension: string | null
  readonly targets: readonly Pick<ConvertedTarget, 'name' | 'settings'>[]
  readonly rules: readonly ConvertedRule[]
}

/** The text of a `zonewright.yaml`. */
export function printConvertedConfig({ from, defaultTtl, splitExtension, targets, rules }: ConvertedConfig): string {
  let text = `# Made from ${from.replace(/[^ -~]/g, '?')}, a configuration of octoDNS.\n`
  text +=
    targets.length === 0
      ? '# None of its targets has a provider here: add one, and name it in the targets below.\nproviders: {}\n'
      : 'providers:\n'
  for (const { name, settings } of targets) {
    text += `  ${printText(name)}: ${flowMap(settings)}\n`
  }
  text += rules.length === 0 ? 'zones: []\n' : 'zones:\n'
  for (const rule of rules) {
    text += `  - files:\n${rule.files.map((file) => `      - ${printText(file)}\n`).join('')}`
    if (rule.isEnabled === false) text += '    enabled: false\n'
    // Without the key they would go to the only provider.
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

/** What octoDNS's processors mean for zones that come from its configuration, and what of it is told. */
/** What a rule says for the processors of its zones. */
interface ZoneProcessing {
  readonly unmanaged: readonly UnmanagedSelector[]
  readonly policy: Policy | null
}

export interface Processing {
  /** For one zone; what it loses is noted. */
  readonly of: (routed: RoutedZone, zone: ProcessedZone) => ZoneProcessing
  /** What all zones so far have lost, each thing once with the zones it is of. */
  readonly dropped: () => UnsupportedFeature[]
  /** Of each processor that no zone has. */
  readonly unused: readonly Diagnostic[]
}

/** Zones that are named where all have lost the same. */
const NAMED_ZONES = 5

interface Loss {
  readonly processor: Pick<OctodnsProvider, 'name' | 'className'> & { readonly at: UnsupportedFeature['at'] }
  readonly what: string
  readonly outcome: string
  readonly zones: DomainName[]
}

export function processingOf({ processors, everywhere, zones }: OctodnsConfig): Processing {
  const losses = new Map<string, Loss>()
  return {
    of: ({ entry, processors: own, others }, zone) => {
      const effects = [...everywhere.before, ...own, ...everywhere.after].map((name) => {
        const processor = processors.get(name) ?? { name, className: '', settings: {}, at: entry.at }
        const effect = processorEffect(processor, zone)
        if (effect.dropped !== null) {
          const key = JSON.stringify([name, effect.dropped])
          const loss = losses.get(key) ?? { processor, ...effect.dropped, zones: [] }
          loss.zones.push(zone.name)
          losses.set(key, loss)
        }
        return effect
      })
      const unmanaged = new Map(effects.flatMap((effect) => effect.unmanaged).map((selector) => [JSON.stringify(selector), selector]))
      // What exists and is nobody's may be in the definition, too, where a processor has taken it out of octoDNS's sight.
      const isExposed = effects.some(({ takesOut }) => takesOut) && effects.some(({ policy }) => policy === 'upsert-only')
      const policies = new Set([others, isExposed ? 'create-only' : null, ...effects.map(({ policy }) => policy)])
      return { unmanaged: [...unmanaged.values()], policy: POLICIES.find((policy) => policies.has(policy)) ?? null }
    },
    dropped: () => [...losses.values()].map(lostItem),
    unused: unused(),
  }

  function unused(): Diagnostic[] {
    const used = new Set([...everywhere.before, ...everywhere.after, ...zones.flatMap((entry) => entry.processors)])
    return [...processors.values()]
      .filter(({ name }) => !used.has(name))
      .map(({ name, at }) => ({
        severity: 'warning',
        code: 'import-aside',
        message: `the processor ${name}, which no zone has, is not taken over`,
        at,
      }))
  }
}

/** The most careful first. */
const POLICIES: readonly Policy[] = ['create-only', 'upsert-only']

function lostItem({ processor: { name, className, at }, what, outcome, zones }: Loss): UnsupportedFeature {
  const kind = className === '' ? 'which the configuration does not have' : className
  return {
    zone: null,
    name: null,
    type: null,
    what: `what the processor ${name} (${kind}) does in ${listed(zones, NAMED_ZONES)}: ${what}`,
    at,
    outcome,
  }
}

interface Ruling {
  readonly targets: ReadonlyMap<string, ConvertedTarget | null>
  readonly sources: ReadonlyMap<string, OpenSource>
  readonly processing: Processing
  readonly dropped: UnsupportedFeature[]
}

/** Zones by where they go and how carefully, in the order of the configuration. */
export function groupRules(wanted: readonly RoutedZone[], read: readonly ReadOctodnsZone[], run: Ruling): ConvertedRule[] {
  const groups = new Map<string, ConvertedRule & { readonly files: string[] }>()
  for (const [i, routed] of wanted.entries()) {
    const one = read[i]
    if (!one || one.zone === null) continue
    const rule = ruleOf(routed, one.zone, run)
    const key = JSON.stringify(rule)
    const group = groups.get(key) ?? { ...rule, files: [] }
    group.files.push(one.place)
    groups.set(key, group)
  }
  return [...groups.values()]
}

/** Where a zone goes. Where its targets differ in how careful they are, the most careful counts. */
function ruleOf(routed: RoutedZone, zone: ImportedZone, { targets, sources, processing, dropped }: Ruling): Omit<ConvertedRule, 'files'> {
  const { name, entry, own } = routed
  const lose = (what: string, outcome?: string): void =>
    void dropped.push({ zone: name, name: null, type: null, what, at: own.at, outcome })
  if (own.isDryRun) lose('always-dry-run', 'its rule has "enabled: false", and no plan is made of it')
  const made = entry.targets.flatMap((target) => {
    const known = targets.get(target)
    // Providers that nothing here stands for are told once, not for each zone.
    if (known === undefined && sources.has(target)) lose(`its target ${target}, a directory of files`)
    else if (known === undefined) lose(`its target ${JSON.stringify(target)}, which is no provider there`)
    return known && !known.isDryRun ? known : []
  })
  const limit = (key: keyof ConvertedTarget['safety']): number | undefined => {
    const given = [...new Set(made.map(({ safety }) => safety[key] ?? DEFAULT_LIMIT))].sort((a, b) => a - b)
    if (given.length > 1 && own.safety[key] === undefined)
      lose(`limits of its targets that differ (${given.join(', ')} %); all have the lowest`)
    return own.safety[key] ?? (given[0] === DEFAULT_LIMIT ? undefined : given[0])
  }
  const [deletes, updates] = [limit('max_delete_percent'), limit('max_update_percent')]
  const lenient = made.filter(({ skipsUnsupported }) => skipsUnsupported)
  if (lenient.length > 0 && lenient.length < made.length)
    lose(`strict_supports: false of some of its targets only (${lenient.map((target) => target.name).join(', ')})`)
  return {
    targets: made.map((target) => target.name),
    safety: {
      ...(deletes !== undefined && { max_delete_percent: deletes }),
      ...(updates !== undefined && { max_update_percent: updates }),
    },
    skipsUnsupported: made.length > 0 && lenient.length === made.length,
    ...(own.isDryRun && { isEnabled: false }),
    ...processing.of(routed, zone),
  }
}

/** What both programs take for a limit where nothing is said, in percent. */
const DEFAULT_LIMIT = 30
