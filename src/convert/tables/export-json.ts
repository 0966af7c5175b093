import { compareRecords } from '../../dns/record.ts'
import { type DesiredZone, ZONE_SETTINGS } from '../../dns/zone.ts'
import type { Exported, Exporter } from '../conversion.ts'
import { unsupportedFeaturesOf } from '../unsupported-features.ts'

/** Version of `schemas/export.schema.json`. */
const VERSION = 1

/** Zones as one JSON document: settings, records, and who else writes records. */
export const exportJson: Exporter = (zones): Exported => {
  const document = { format: 'zonewright-zones', version: VERSION, zones: zones.map(zoneJson) }
  return {
    files: [{ path: 'zones.json', text: `${JSON.stringify(document, null, 2)}\n` }],
    isSingleFile: true,
    dropped: zones.flatMap((zone) => unsupportedFeaturesOf(zone, HELD)),
    diagnostics: [],
  }
}

const HELD = {
  settings: new Set(ZONE_SETTINGS),
  others: new Set(['absent', 'unmanaged', 'targets', 'policy', 'allow', 'apexNs', 'unsupported', 'scopes'] as const),
}

const zoneJson = (zone: DesiredZone): object => ({
  zone: zone.name,
  ...(zone.absent && { absent: true }),
  settings: Object.fromEntries(ZONE_SETTINGS.flatMap((key) => (zone.settings[key] === undefined ? [] : [[key, zone.settings[key]]]))),
  ...(zone.targets !== null && { targets: zone.targets }),
  ...(zone.policy !== null && { policy: zone.policy }),
  ...(zone.allow.length > 0 && { allow: zone.allow }),
  ...(zone.apexNs !== 'keep' && { apex_ns: zone.apexNs }),
  ...(zone.unsupported !== 'error' && { unsupported: zone.unsupported }),
  ...(zone.unmanaged.length > 0 && { unmanaged: zone.unmanaged.map(({ name, type, target }) => ({ name, type, target })) }),
  ...(zone.scopes.length > 0 && { scopes: zone.scopes }),
  records: zone.records.toSorted(compareRecords).map(({ name, type, ttl, data }) => ({ name, type, ttl, data })),
})
