/** Records and zones whose definition says that they have expired. Nothing is deleted because of it. */
import type { Diagnostic } from '../../base/diagnostic.ts'
import type { FullDate } from '../../dns/ownership.ts'
import { rrsetKey } from '../../dns/record.ts'
import type { DesiredZone } from '../../dns/zone.ts'

/** A warning for each record set that has expired, and for the zone. `today` is the day in UTC. */
export function expiryWarnings(zone: DesiredZone, today: FullDate): Diagnostic[] {
  const { expires, owner } = zone
  const diagnostics: Diagnostic[] = []
  if (!zone.absent && expires !== undefined && expires <= today)
    diagnostics.push({
      severity: 'warning',
      code: 'zone-expired',
      message: `${zone.name} has expired on ${expires}${ownedBy(owner)}`,
      at: zone.at,
      hint: 'delete the zone with "absent: true", or set another date',
    })
  const seen = new Set<string>()
  for (const set of [...zone.records, ...(zone.sourced ?? [])]) {
    const key = rrsetKey(set)
    if (set.expires === undefined || set.expires > today || seen.has(key)) continue
    seen.add(key)
    const message = `${key} has expired on ${set.expires}${ownedBy(set.owner ?? owner)}`
    diagnostics.push({ severity: 'warning', code: 'record-expired', message, at: set.at, hint: 'remove the record, or set another date' })
  }
  return diagnostics
}

const ownedBy = (owner: string | undefined): string => (owner === undefined ? '' : ` (owner: ${owner})`)
