/** Prepares the names of zones at a start: fills a column of earlier versions and reports zones that overlap. */
import type { Log } from '../observability/log.ts'
import type { Database } from '../store/database.ts'
import { isPublicSuffix, listZoneNames, type NamedZone, reverseName, storeReversedNames } from '../store/zone-name-store.ts'

/** Rows per statement. */
const CHUNK = 300

/**
 * Completes the index of zone names, which an earlier version of the program did not maintain. Warns about zones that the earlier version
 * allowed: zones inside a zone of another account, and public suffixes. They keep working.
 */
export async function checkZoneNames(database: Database, log: Log): Promise<void> {
  const zones = await database.read(listZoneNames)
  const stale = zones.filter(({ domain, reversedName }) => reversedName !== reverseName(domain))
  for (let from = 0; from < stale.length; from += CHUNK) {
    await database.write((connection) => storeReversedNames(connection, stale.slice(from, from + CHUNK)))
  }
  for (const { zone, above } of findOverlaps(zones)) {
    const accounts = { account: zone.accountId, accountAbove: above.accountId }
    log.warn({ zone: zone.domain, above: above.domain, ...accounts }, 'zone is inside a zone of another account')
  }
  for (const { domain, accountId } of zones) {
    if (isPublicSuffix(domain)) log.warn({ zone: domain, account: accountId }, 'zone is a public suffix')
  }
}

/** Yields each pair of nested zones that belong to different accounts, in the order of their reversed names. */
function* findOverlaps(zones: readonly NamedZone[]): Generator<{ readonly zone: NamedZone; readonly above: NamedZone }> {
  const sorted = zones.map((zone) => ({ zone, key: reverseName(zone.domain) })).sort((a, b) => (a.key < b.key ? -1 : 1))
  // In this order, each zone is directly followed by the zones below it.
  const path: typeof sorted = []
  for (const each of sorted) {
    while (path.length > 0 && !each.key.startsWith((path.at(-1) as typeof each).key)) path.pop()
    for (const { zone: above } of path) if (above.accountId !== each.zone.accountId) yield { zone: each.zone, above }
    path.push(each)
  }
}
