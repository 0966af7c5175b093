/** Converts a zone of a provider to a definition whose plan is empty. */
import type { Config } from '../../definition/config/config.ts'
import type { ImportedRecord, ImportedZone } from '../../definition/imported-zone.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { type DomainName, relativeName } from '../../dns/domain-name.ts'
import { type ExistingRecord, recordKey, statedSettings } from '../../dns/record.ts'
import type { Ttl } from '../../dns/ttl.ts'
import type { ExistingZone, UnplannedRecord, ZoneComment } from '../../dns/zone.ts'
import { undescribableReason } from '../../plan/undescribable.ts'
import {
  type DefinableRecords,
  type DerivedSelectors,
  definableRecords,
  isInseparable,
  type UndefinableRecord,
  unmanagedSelectorsFor,
  type ZoneTarget,
} from '../definable-records.ts'
import { definableSettings } from '../definable-settings.ts'
import { otherClients } from '../other-clients.ts'
import { droppedRecord, shownData, type UnsupportedFeature } from '../unsupported-features.ts'

export interface ProviderZone {
  readonly zone: ImportedZone
  readonly dropped: readonly UnsupportedFeature[]
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * Converts a provider's zone to a definition whose plan is empty. Settings that the config's defaults would add are overridden, settings
 * with their default value are left out, and selectors of unmanaged records protect what no definition can contain, and the records of other clients.
 */
export function convertProviderZone(existing: ExistingZone, config: Pick<Config, 'defaults'>, zoneTarget: ZoneTarget): ProviderZone {
  const { name } = existing
  const { settings, dropped } = definableSettings(existing, config.defaults.settings, zoneTarget)
  // A slave zone gets its records from its masters.
  if (existing.settings.type === 'slave') return { zone: { name, settings, records: [] }, dropped, diagnostics: [] }
  const others = otherClients(existing)
  const own = existing.records.filter((record) => !others.isTheirs(record))
  const definable = definableRecords(existing, withoutDuplicates(own), zoneTarget)
  const derived = unmanagedSelectorsFor(name, definable)
  const records = definable.records.map(
    (record): ImportedRecord => ({
      name: record.name,
      type: record.type,
      ttl: ttlOf(record, config.defaults.ttl),
      data: record.data,
      ...settingsOf(record, zoneTarget),
    }),
  )
  const selectors = [...others.selectors, ...derived.selectors]
  const zone: ImportedZone = {
    name,
    settings,
    records,
    ...(selectors.length > 0 && { unmanaged: selectors }),
    comments: undefinableComment(name, definable, derived, zoneTarget),
  }
  const unplanned = (existing.unplanned ?? []).map((record) => unplannedRecord(name, record, zoneTarget))
  return {
    zone,
    diagnostics: others.diagnostics,
    dropped: [...dropped, ...unplanned, ...definable.undefinable.map((other) => undefinableRecord(name, other, derived, zoneTarget))],
  }
}

/** Keeps the first of exact duplicates: a definition can contain a record once. */
function withoutDuplicates(records: readonly ExistingRecord[]): ExistingRecord[] {
  const known = new Set<string>()
  return records.filter((record) => known.size < known.add(recordKey(record)).size)
}

/** A record without a TTL would get the default of the config. A TTL of 0 prevents that: it too means the zone's default. */
const ttlOf = ({ ttl }: ExistingRecord, defaultTtl: Ttl | null): Ttl | null => (ttl === null && defaultTtl !== null ? (0 as Ttl) : ttl)

function settingsOf(record: ExistingRecord, { capabilities }: ZoneTarget): Pick<ImportedRecord, 'providerSettings'> {
  const stated = statedSettings(record)
  if (stated.length === 0 || capabilities.recordSettings === undefined) return {}
  return { providerSettings: { [capabilities.recordSettings]: Object.fromEntries(stated) } }
}

function undefinableRecord(
  zone: DomainName,
  { record, reason }: UndefinableRecord,
  derived: DerivedSelectors,
  { target, capabilities }: ZoneTarget,
): UnsupportedFeature {
  const dropped = (outcome: string): UnsupportedFeature => droppedRecord(zone, record, reason, outcome)
  if (!isInseparable(record, derived))
    return { ...dropped(`"unmanaged" in the definition keeps it unchanged at ${target}`), restricts: false }
  if (undescribableReason(record, zone, capabilities) !== null)
    return { ...dropped(`plans leave it unchanged at ${target}`), restricts: false }
  return dropped(`no selector of "unmanaged" can separate it from managed records, so the next plan deletes it at ${target}`)
}

const unplannedRecord = (zone: DomainName, record: UnplannedRecord, { target }: ZoneTarget): UnsupportedFeature => ({
  zone,
  name: record.name,
  type: record.type,
  what: `${shownData(record.data)}: the record ${record.reason}`,
  outcome: `plans leave it unchanged at ${target}`,
  keepsRecords: true,
})

/** Records that a comment lists one by one. */
const MAX_LISTED = 20

function undefinableComment(
  zone: DomainName,
  { undefinable }: DefinableRecords,
  derived: DerivedSelectors,
  { target }: ZoneTarget,
): ZoneComment[] {
  const kept = undefinable.filter(({ record }) => !isInseparable(record, derived))
  if (kept.length === 0) return []
  const lines = kept
    .slice(0, MAX_LISTED)
    .map(({ record: { name, type, data }, reason }) => `  ${relativeName(name, zone) || '@'} ${type} ${shownData(data)}: ${reason}`)
  if (kept.length > MAX_LISTED) lines.push(`  and ${kept.length - MAX_LISTED} more`)
  return [{ name: null, text: [`Records at ${target} that no definition can contain; "unmanaged" keeps them:`, ...lines].join('\n') }]
}
