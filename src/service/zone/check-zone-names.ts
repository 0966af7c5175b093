import type { Log } from '../observability/log.ts'
import type { Database } from '../store/database.ts'
import { isPublicSuffix, listZoneNames, type NamedZone, reverseName, storeReversedNames } from '../store/zone-name-store.ts'

/** Rows of one statement. */
const CHUNK = 300

/**
 * Brings the index of the zones' names up to date, which an earlier version of the program does not keep, and warns of zones that it has
 * let through: those inside a zone of another account, and those that are a public suffix. They keep working.
 */
export async function checkZoneNames(database: Database, log: Log): Promise<void> {
  const zones = await database.read(listZoneNames)
  const stale = zones.filter(({ domain, reversedName }) => reversedName !== reverseName(domain))
  for (let from = 0; from < stale.length; from += CHUNK) {
    await database.write((connection) => storeReversedNames(connection, stale.slice(from, from + CHUNK)))
  }
  for (const { zone, above } of findOverlaps(zones)) {
    const accounts = { account: zone.accountId, accountAbove: above.accountId }
    log.warn({ zone: zone.domain, above: above.domain, ...accounts }, 'zone lies inside a zone of another account')
  }
  for (const { domain, accountId } of zones) {
    if (isPublicSuffix(domain)) log.warn({ zone: domain, account: accountId }, 'zone is a public suffix')
  }
}

/** Each pair of zones of different accounts of which one lies below the other, in the order of their reversed names. */
function* findOverlaps(zones: readonly NamedZone[]): Generator<{ readonly zone: NamedZone; readonly above: NamedZone }> {
  const sorted = zones.map((zone) => ({ zone, key: reverseName(zone.domain) })).sort((a, b) => (a.key < b.key ? -1 : 1))
  // In this order a zone comes right before all that lies below it.
  const path: typeof sorted = []
  for (const each of sorted) {
    while (path.length > 0 && !each.key.startsWith((path.at(-1) as typeof each).key)) path.pop()
    for (const { zone: above } of path) if (above.accountId !== each.zone.accountId) yield { zone: each.zone, above }
    path.push(each)
  }
}
