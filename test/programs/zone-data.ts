import { compareRecords } from '../../src/dns/record.ts'
import type { DesiredZone } from '../../src/dns/zone.ts'

/** A zone without its positions, and without empty lists: what a plan depends on. */
export const zoneData = <Zone extends Pick<DesiredZone, 'records'>>(zone: Zone): object =>
  JSON.parse(JSON.stringify({ ...zone, records: zone.records.toSorted(compareRecords) }), (key, value: unknown) =>
    ['at', 'settingPositions', 'defaultTtl'].includes(key) || (Array.isArray(value) && value.length === 0) ? undefined : value,
  )
