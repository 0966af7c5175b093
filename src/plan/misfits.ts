/** What a target does not support as it is desired, for tables: each RRset and setting once, with the reason. */
import type { Diagnostic } from '../base/diagnostic.ts'
import { type DomainName, isAtOrBelow } from '../dns/domain-name.ts'
import { isGenericForm, parseRdata } from '../dns/rdata/canonical.ts'
import { presentationTokens } from '../dns/rdata/field.ts'
import { parseGenericForm } from '../dns/rdata/generic-form.ts'
import { RDATA_TYPES } from '../dns/rdata/rdata-types.ts'
import { type DefinedRecord, type ExistingRecord, groupRrsets, type ResourceRecord, recordKey } from '../dns/record.ts'
import type { DesiredZone } from '../dns/zone.ts'
import type { Capabilities } from './capabilities.ts'
import type { RrsetName } from './changesets.ts'
import { fitToTarget } from './fit-to-target.ts'

export interface Misfit {
  /** Null for settings of the zone. */
  readonly rrset: { readonly name: DomainName; readonly type: string } | null
  /** The number of records that are left out or stored otherwise; 0 for settings. */
  readonly records: number
  /** What happens to them; `ttl`: only the TTL changes. */
  readonly state: 'left-out' | 'changed' | 'ttl'
  /** Why, in words that others with the same cause share. */
  readonly reason: string
}

/** The misfits of a zone at a target, settings first, then RRsets in the order of the zone. */
export function misfitsOf(zone: DesiredZone, target: string, capabilities: Capabilities): Misfit[] {
  const { diagnostics } = fitToTarget({ ...zone, records: [], providerSpecific: [] }, target, capabilities)
  const settings = diagnostics.map(({ message }): Misfit => ({ rrset: null, records: 0, state: 'changed', reason: message }))
  // Without settings and limits of the zone, only the records can be misfits.
  const ofRecords: Capabilities = { ...capabilities, settings: new Set(), maxRecords: null }
  const alone: DesiredZone = { ...zone, settings: { ttl_sec: zone.settings.ttl_sec }, soa: undefined, providerSpecific: [] }
  return [...settings, ...[...groupRrsets(zone.records).values()].flatMap((set) => misfitsOfRrset(alone, set, target, ofRecords))]
}

function misfitsOfRrset(zone: DesiredZone, set: readonly DefinedRecord[], target: string, capabilities: Capabilities): Misfit[] {
  const { records, apexNs, diagnostics } = fitToTarget({ ...zone, records: set, unsupported: 'error' }, target, capabilities)
  const [first] = set as readonly [DefinedRecord]
  const rrset = { name: first.name, type: first.type }
  if ((apexNs?.length ?? 0) > 0)
    return [{ rrset, records: set.length, state: 'left-out', reason: `${target} sets its own apex NS records` }]
  const kept = new Set(records.map(recordKey))
  const leftOut = set.length - records.length
  const changed = set.filter((record) => !kept.has(recordKey(record))).length - leftOut
  const found: Misfit[] = []
  if (leftOut > 0)
    found.push({
      rrset,
      records: leftOut,
      state: 'left-out',
      reason: reasonIn(diagnostics, rrset, ({ severity }) => severity !== 'notice'),
    })
  if (changed > 0)
    found.push({ rrset, records: changed, state: 'changed', reason: reasonIn(diagnostics, rrset, ({ code }) => code !== 'ttl-rounded') })
  const otherTtl = records.find(({ ttl }) => set.every((record) => record.ttl !== null && record.ttl !== ttl))
  if (otherTtl !== undefined)
    found.push({ rrset, records: records.length, state: 'ttl', reason: `TTL ${first.ttl} becomes ${otherTtl.ttl ?? 'the default'}` })
  return found
}

function reasonIn(diagnostics: readonly Diagnostic[], rrset: RrsetName, isReason: (diagnostic: Diagnostic) => boolean): string {
  const found = diagnostics.find(isReason)
  return found?.cause?.message ?? withoutSubject(found?.message ?? '', rrset)
}

/** The message of a rule about a record, without the record at its start. */
export const withoutSubject = (message: string, { name, type }: RrsetName): string =>
  message.startsWith(`${name} ${type}: `) ? message.slice(name.length + type.length + 3) : message

// Records that no definition could describe at a target. Plans leave them alone: neither a definition nor a rollback could bring them back.

/** Follows the name, type and data of a record without `hasDefinableData`. */
export const MALFORMED = 'has data that no definition can have'

/** Whether the data has the canonical form of its type. Malformed data of a provider does not. */
export function hasDefinableData({ type, data }: ResourceRecord): boolean {
  const tokens = presentationTokens(data)
  const isGeneric = tokens.ok && isGenericForm(tokens.value) && RDATA_TYPES.has(type)
  const canonical = isGeneric ? parseGenericForm(type, tokens.value) : parseRdata(type, data)
  return canonical.ok && canonical.value === data
}

/** Why no definition could describe the record, in words that follow its name, type and data; null if one could. */
export function undescribableReason(record: ExistingRecord, zone: DomainName, { types, rules }: Capabilities): string | null {
  const { name, type, ttl, data } = record
  if (types !== null && !types.has(type)) return 'has a type that is not managed'
  if (!isAtOrBelow(name, zone)) return 'is outside the zone'
  if (!hasDefinableData(record)) return MALFORMED
  // Settings and TTLs are not part of the record: a definition states others.
  const bare = { name, type, ttl, data, at: { file: '', line: 1, column: 1 } }
  const refusal = rules.map((rule) => rule(bare, zone)).find((ruled) => ruled.record === null)
  if (refusal === undefined) return null
  return `cannot be in a definition (${withoutSubject(refusal.diagnostics[0]?.message ?? '', record)})`
}
