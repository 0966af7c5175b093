/** What a provider supports, in words: for the report of `providers` and for docs/providers.md. */
import { agreeing, counted, formatCount, listed } from '../base/english.ts'
import type { DomainName } from '../dns/domain-name.ts'
import { RDATA_TYPES } from '../dns/rdata/rdata-types.ts'
import { SOA_TIMES } from '../dns/soa.ts'
import type { Capabilities } from '../plan/capabilities.ts'

/** Record types that a target refuses although it has no list of types, with the reason. */
export interface RefusedTypes {
  /** Sorted. */
  readonly types: readonly string[]
  /** Whether they are refused only at the apex. */
  readonly atApex: boolean
  readonly reason: string
}

/** The subjects of the facts, in the order of reports. */
export const CAPABILITY_SUBJECTS = {
  call: 'a call carries',
  whole: 'a plan is applied as a whole',
  conflict: "another client's change",
  newZones: 'new zones',
  types: 'record types',
  ttls: 'TTLs',
  limit: 'records in a zone',
  soa: 'SOA record',
  apexNs: 'NS records at the apex',
  settings: 'zone settings',
} as const

export type CapabilitySubject = keyof typeof CAPABILITY_SUBJECTS

/** One phrase per subject, without a final period. */
export function describeCapabilities(capabilities: Capabilities): Readonly<Record<CapabilitySubject, string>> {
  const { readOnly = false, onlyCreates, calls, maxRecords } = capabilities
  return {
    call: readOnly
      ? 'nothing: zones are only read'
      : `${callText(calls)}${onlyCreates === undefined ? '' : `, which is only created: ${onlyCreates}`}`,
    whole: readOnly ? '–' : wholeText(calls),
    conflict: readOnly ? '–' : calls.hasPrecondition ? 'makes the call fail (precondition)' : 'may be overwritten',
    newZones: newZonesText(capabilities),
    types: typesText(capabilities),
    ttls: ttlText(capabilities),
    limit: maxRecords === null ? 'no limit' : `at most ${formatCount(maxRecords)}`,
    soa: soaText(capabilities),
    apexNs: capabilities.servesApexNs
      ? 'managed by the target, which does not list them'
      : capabilities.needsApexNs
        ? 'required in the definition'
        : 'kept unless the definition has some',
    settings: settingsText(capabilities),
  }
}

function callText({ unit, maxUnits, maxOctets, maxValues }: Capabilities['calls']): string {
  const word = unit === 'rrset' ? 'record set' : 'record'
  const units = maxUnits === null ? `any number of ${word}s` : maxUnits === 1 ? `one ${word}` : `up to ${counted(maxUnits, word)}`
  if (maxValues !== undefined) return `up to ${counted(maxValues.count, 'record')}, those before and after the change together`
  return maxOctets === null ? units : `${units}, up to ${counted(maxOctets, 'octet')}`
}

function wholeText({ atomic, maxUnits, maxOctets }: Capabilities['calls']): string {
  if (!atomic) return 'no, and a call may be carried out in part'
  if (maxUnits !== null) return 'no, each call on its own'
  return maxOctets === null ? 'yes' : 'yes, if it fits into one call'
}

function newZonesText({ createsZones, calls, neededToCreate }: Capabilities): string {
  if (!createsZones) return 'cannot be created'
  const how = calls.createsZoneWithRecords ? 'created together with their records' : 'created empty, then filled'
  const needed = neededToCreate.master.length === 0 ? '' : `; ${listed(neededToCreate.master)} required`
  return how + needed
}

function typesText(capabilities: Capabilities): string {
  if (capabilities.types !== null) return [...capabilities.types].sort().join(' ')
  const refused = refusedTypes(capabilities).map(
    ({ types, atApex, reason }) => `${types.join(' ')}${atApex ? ' at the apex' : ''} (${reason})`,
  )
  return refused.length === 0 ? 'all' : `all except ${refused.join('; ')}`
}

/** The common types that the target's rules refuse, whatever their data: one entry per reason. Empty if the target lists its types. */
export function refusedTypes({ types, rules }: Capabilities): readonly RefusedTypes[] {
  if (types !== null) return []
  const zone = 'example.com.' as DomainName
  const refusal = (type: string, name: string): string | null => {
    const at = { file: '', line: 1, column: 1 }
    const record = { name: name as DomainName, type, ttl: null, data: '', at }
    for (const rule of rules) {
      try {
        const { record: kept, diagnostics } = rule(record, zone)
        const [found] = diagnostics.filter(({ code }) => code === 'type-unsupported')
        if (kept === null && found !== undefined) return found.message.replace(/^\S+ \S+: /, '')
      } catch {
        // The record has no data. A rule that reads the data is not about the type alone.
      }
    }
    return null
  }
  const groups = new Map<string, { types: string[]; atApex: boolean; reason: string }>()
  for (const type of [...RDATA_TYPES.keys(), 'TYPE65534'].sort()) {
    const everywhere = refusal(type, 'www.example.com.')
    const reason = everywhere ?? refusal(type, zone)
    if (reason === null) continue
    const key = `${everywhere === null} ${reason}`
    const group = groups.get(key) ?? { types: [], atApex: everywhere === null, reason }
    group.types.push(type)
    groups.set(key, group)
  }
  return [...groups.values()]
}

function ttlText({ ttlSteps, ttlDefault, fallbackTtl }: Capabilities): string {
  const values = ttlSteps === null ? 'any' : `the nearest of ${ttlSteps.map(formatCount).join(' ')}`
  const fallback = fallbackTtl === undefined ? 'the default of the target' : `${formatCount(fallbackTtl)} s`
  return ttlDefault
    ? `${values}; a record without one follows the default of the zone, or ${fallback}`
    : `${values}; a record without one gets the default of the definition, or ${fallback}`
}

/** The settings that are fields of the SOA record. */
const SOA_SETTINGS: readonly string[] = ['soa_email', ...SOA_TIMES.map(([, setting]) => setting)]

function soaText({ settings, storesSoaFields, readOnly }: Capabilities): string {
  const fields = [...settings].filter((setting) => SOA_SETTINGS.includes(setting)).sort()
  if (fields.length === 0) return "the target's own"
  const verb = readOnly ? 'compared' : 'set'
  return `${listed(fields)} ${agreeing(fields.length, 'is', 'are')} ${verb}${storesSoaFields ? '; other fields too' : ''}`
}

function settingsText({ settings, fixedSettings }: Capabilities): string {
  if (settings.size === 0) return 'none'
  const fixed = fixedSettings.size === 0 ? '' : `; ${listed([...fixedSettings].sort())} cannot change later`
  return `${[...settings].sort().join(' ')}${fixed}`
}
