/** What octoDNS's processors mean for zones that come from its configuration, and what of it is told. */

import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import type { Policy, UnmanagedSelector } from '../../dns/zone.ts'
import type { UnsupportedFeature } from '../conversion.ts'
import type { OctodnsProvider } from './octodns-provider.ts'
import type { RoutedZone } from './octodns-routes.ts'
import { type ProcessedZone, processorEffect } from './processors.ts'
import type { OctodnsConfig } from './read-octodns-config.ts'

/** What a rule says for the processors of its zones. */
export interface ZoneProcessing {
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
  const shown = zones.slice(0, NAMED_ZONES).join(', ')
  const ofZones = zones.length > NAMED_ZONES ? `${shown} and ${zones.length - NAMED_ZONES} more zones` : shown
  const kind = className === '' ? 'which the configuration does not have' : className
  return { zone: null, name: null, type: null, what: `what the processor ${name} (${kind}) does in ${ofZones}: ${what}`, at, outcome }
}
