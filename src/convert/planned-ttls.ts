import type { Config } from '../definition/config/config.ts'
import type { LoadedZone } from '../definition/load/configured-zone.ts'
import type { DesiredZone } from '../dns/zone.ts'
import { capabilitiesOf } from '../providers/registry.ts'

/**
 * The zone with its records' TTLs as a plan has them: where all of its targets take a TTL of 0 for the zone's default, such a record has none of its own.
 * Formats would have it for 0 seconds.
 */
export function withPlannedTtls(
  { zone, targets }: Pick<LoadedZone, 'zone' | 'targets'>,
  { providers }: Pick<Config, 'providers'>,
): DesiredZone {
  const takesDefault = (target: string): boolean => capabilitiesOf(providers.get(target)?.type ?? '')?.ttlDefault === true
  if (targets.length === 0 || !targets.every(takesDefault)) return zone
  return { ...zone, records: zone.records.map((record) => (record.ttl === 0 ? { ...record, ttl: null } : record)) }
}
