import type { Diagnostic } from '../../dns/diagnostic.ts'
import { unmanagedTest } from '../../dns/unmanaged.ts'
import type { ZoneIndex } from './zone-index.ts'

/** The SOA record is made from the zone's settings: providers do not hold it among the records. */
export function soaInDefinition({ zone }: ZoneIndex): Diagnostic[] {
  return zone.records
    .filter((record) => record.type === 'SOA')
    .map((soa) => ({
      severity: 'error',
      code: 'soa-in-definition',
      message: `${soa.name} has an SOA record; a definition says it in the settings of the zone`,
      at: soa.at,
      hint: 'remove it, and set soa_email, refresh_sec, retry_sec and expire_sec above the records',
    }))
}

/** A record cannot be both in the definition and somebody else's. */
export function unmanagedCollision({ zone }: ZoneIndex): Diagnostic[] {
  if (zone.unmanaged.length === 0) return []
  const test = unmanagedTest(zone.unmanaged, zone.name)
  return zone.records.filter(test).map((record) => {
    const selector = zone.unmanaged.find((one) => unmanagedTest([one], zone.name)(record))
    return {
      severity: 'error',
      code: 'unmanaged-collision',
      message: `${record.name} ${record.type} is in the definition, and "unmanaged" leaves it to others`,
      at: record.at,
      hint: 'remove the record, or narrow the selector',
      ...(selector?.at && { related: [{ message: 'the selector', at: selector.at }] }),
    }
  })
}
