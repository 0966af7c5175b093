import type { DomainName } from '../dns/domain-name.ts'
import { type ResourceRecord, rrsetKey } from '../dns/record.ts'
import type { RefusalName } from '../dns/zone.ts'
import type { ZoneDifference } from './compare-zones.ts'
import type { Refusal } from './plan.ts'

export interface SafetyThresholds {
  /** Percent of existing record sets that may disappear in one plan. */
  readonly max_delete_percent: number
  /** Percent of existing record sets that may change in one plan. */
  readonly max_update_percent: number
  /** The percentages count from this many existing record sets on. */
  readonly min_existing: number
  /** Record sets that may disappear in one plan, however many there are; absent for no such limit. */
  readonly max_deletes?: number | undefined
  /** Record sets that may change in one plan, however many there are; absent for no such limit. */
  readonly max_updates?: number | undefined
}

export const DEFAULT_THRESHOLDS: SafetyThresholds = { max_delete_percent: 30, max_update_percent: 30, min_existing: 10 }

export interface SafetyRules {
  readonly thresholds: SafetyThresholds
  readonly allow: ReadonlySet<RefusalName>
  /**
   * The record sets (see `rrsetKey`) whose change nobody has reviewed; all where absent. The others go back to a state that was reviewed when it was made:
   * neither their number nor a change of apex NS records is a reason to refuse.
   */
  readonly unreviewed?: ReadonlySet<string> | undefined
}

/** The safety limits a difference runs into. They look at record sets, before calls are matched, so that no clever call hides a loss. */
export function safetyRefusals(
  zone: DomainName,
  difference: ZoneDifference,
  deletesZone: boolean,
  { thresholds, allow, unreviewed }: SafetyRules,
): Refusal[] {
  const refusals: Refusal[] = []
  const refuse = (name: RefusalName, message: string): void => {
    refusals.push({ name, message, allowed: allow.has(name) })
  }
  const isUnreviewed = (key: string): boolean => unreviewed === undefined || unreviewed.has(key)
  const { existing } = difference.rrsets
  const lost = difference.rrsets.removed.filter(isUnreviewed)
  const changed = difference.rrsets.changed.filter(isUnreviewed)
  if (deletesZone) {
    refuse('delete-zone', `the zone ${zone} itself and all its records would be deleted`)
    return refusals
  }
  const emptied = emptiedZone(zone, difference, unreviewed !== undefined && lost.length === 0)
  if (emptied !== null) {
    refuse('empty-zone', emptied)
  } else {
    const reason = excess(lost.length, existing, thresholds.max_delete_percent, thresholds.max_deletes, thresholds)
    if (reason !== null) refuse('deletes', `${lost.length} of ${existing} record sets of ${zone} would be deleted${reason}`)
  }
  const reason = excess(changed.length, existing, thresholds.max_update_percent, thresholds.max_updates, thresholds)
  if (reason !== null) refuse('updates', `${changed.length} of ${existing} record sets of ${zone} would change${reason}`)
  const apexNs = isUnreviewed(rrsetKey({ name: zone, type: 'NS' })) ? apexNsChange(zone, difference) : null
  if (apexNs !== null) refuse('apex-ns', apexNs)
  return refusals
}

/** How far a number of record sets is beyond its limits, in words; null where it is not. */
function excess(
  count: number,
  existing: number,
  maxPercent: number,
  maxCount: number | undefined,
  { min_existing }: SafetyThresholds,
): string | null {
  if (existing >= min_existing && count * 100 > existing * maxPercent)
    return ` (${Math.round((count * 100) / existing)} %); the limit is ${maxPercent} %`
  return maxCount !== undefined && count > maxCount ? `; the limit is ${maxCount}` : null
}

/** What becomes of a zone of which no existing record set stays and that ends with fewer of them, or if that was reviewed with none; null for any other. */
function emptiedZone(zone: DomainName, { rrsets: { existing, removed }, added }: ZoneDifference, isReviewed: boolean): string | null {
  if (existing === 0 || removed.length < existing) return null
  const come = new Set(added.map(rrsetKey)).size
  if (come >= existing || (isReviewed && come > 0)) return null
  const sets = existing === 1 ? 'the only record set' : `all ${existing} record sets`
  if (come === 0) return `${sets} of ${zone} would be deleted, which leaves the zone empty`
  return `${sets} of ${zone} would be deleted, and only ${come} ${come === 1 ? 'other' : 'others'} would come`
}

/** What becomes of NS records at the apex that are there already; null where they stay as they are, but for exact duplicates. */
function apexNsChange(zone: DomainName, { removed, added, kept }: ZoneDifference): string | null {
  const ofApex = (records: readonly ResourceRecord[]): ResourceRecord[] =>
    records.filter((record) => record.type === 'NS' && record.name === zone)
  const [stays, leaves, enters] = [ofApex(kept), ofApex(removed), ofApex(added)]
  if (stays.length + leaves.length === 0) return null
  const dataOf = (...records: readonly ResourceRecord[][]): Set<string> => new Set(records.flat().map(({ data }) => data))
  const [before, after] = [dataOf(stays, leaves), dataOf(stays, enters)]
  const isStaying = ({ data, ttl }: ResourceRecord): boolean => stays.some((record) => record.data === data && record.ttl === ttl)
  const changes: [data: string[], what: string][] = [
    [[...before].filter((data) => !after.has(data)), 'would go'],
    [[...after].filter((data) => !before.has(data)), 'would come'],
    [[...dataOf(leaves.filter((record) => !isStaying(record)))].filter((data) => after.has(data)), 'would have another TTL'],
  ]
  const parts = changes.filter(([data]) => data.length > 0).map(([data, what]) => `${data.sort().join(', ')} ${what}`)
  return parts.length === 0 ? null : `NS records at the apex of ${zone} would change: ${parts.join(', ')}`
}
