/** Warns of targets that cannot hold the SOA records of imported zones. */
import type { Config } from '../definition/config/config.ts'
import type { ImportedZone } from '../definition/imported-zone.ts'
import { createRuleLookup, targetsOf } from '../definition/load/configured-zone.ts'
import type { Diagnostic } from '../dns/diagnostic.ts'
import { SOA_TIMES } from '../dns/soa.ts'
import type { SoaFields } from '../dns/zone.ts'
import { capabilitiesOf } from '../providers/registry.ts'
import { counted, listed } from '../report/english.ts'

/**
 * One warning per target that cannot hold fields of the SOA records of imported zones, with the number of zones. `pathOf` returns the absolute path of
 * the definition that will be written.
 */
export function soaWarnings(zones: readonly ImportedZone[], config: Config, pathOf: (zone: ImportedZone) => string): Diagnostic[] {
  const ruleOf = createRuleLookup(config)
  const byTarget = new Map<string, { zones: number; fields: Set<string> }>()
  for (const zone of zones) {
    const rule = zone.soa === undefined ? null : ruleOf(pathOf(zone), zone)
    for (const target of rule === null ? [] : targetsOf({ targets: zone.targets ?? null }, rule, config)) {
      if (capabilitiesOf(config.providers.get(target))?.storesSoaFields !== false) continue
      const known = byTarget.get(target) ?? { zones: 0, fields: new Set() }
      for (const field of fieldsOf(zone.soa ?? {})) known.fields.add(field)
      byTarget.set(target, { ...known, zones: known.zones + 1 })
    }
  }
  return [...byTarget].map(([target, { zones: count, fields }]) => ({
    severity: 'warning',
    code: 'setting-unsupported',
    message: `${counted(count, 'zone')}: ${target} cannot hold ${listed(FIELDS.filter((field) => fields.has(field)))} of the SOA record`,
    hint: `${target} sets its own; "export zonefile" writes those of the definition`,
  }))
}

const FIELDS = ['the primary', 'the mailbox', 'the serial', 'a time of 0', 'a time above 2147483647 s', 'the TTL'] as const

function* fieldsOf(soa: SoaFields): Generator<(typeof FIELDS)[number]> {
  if (soa.primary !== undefined) yield 'the primary'
  if (soa.mailbox !== undefined) yield 'the mailbox'
  if (soa.serial !== undefined) yield 'the serial'
  for (const [field] of SOA_TIMES) if (soa[field] !== undefined) yield soa[field] === 0 ? 'a time of 0' : 'a time above 2147483647 s'
  if (soa.ttl !== undefined) yield 'the TTL'
}
