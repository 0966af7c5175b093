import { agreeing, counted, listed } from '../base/english.ts'
import type { DomainName } from '../dns/domain-name.ts'
import { type ResourceRecord, rrsetKey } from '../dns/record.ts'
import type { Allowance, RefusalName } from '../dns/zone.ts'
import type { ZoneDifference } from './compare-zones.ts'
import type { Refusal } from './plan.ts'

export interface SafetyThresholds {
  /** The percentage of existing RRsets that one plan may delete. */
  readonly max_delete_percent: number
  /** The percentage of existing RRsets that one plan may change. */
  readonly max_update_percent: number
  /** The percentages apply to zones with at least this many RRsets. */
  readonly min_existing: number
  /** Maximum number of RRsets that one plan may delete; absent for no limit. */
  readonly max_deletes?: number | undefined
  /** Maximum number of RRsets that one plan may change; absent for no limit. */
  readonly max_updates?: number | undefined
}

export const DEFAULT_THRESHOLDS: SafetyThresholds = { max_delete_percent: 30, max_update_percent: 30, min_existing: 10 }

export interface SafetyRules {
  readonly thresholds: SafetyThresholds
  readonly allow: ReadonlySet<Allowance>
  /**
   * Keys of the RRsets whose change was not reviewed; all RRsets if absent. The other RRsets return to an earlier state, which was reviewed at its time: their
   * number, and changes of apex NS records among them, are not limited.
   */
  readonly unreviewed?: ReadonlySet<string> | undefined
}

/** The safety limits that a difference exceeds. They look at RRsets before records are paired into updates, so that no update hides a loss. */
export function safetyRefusals(
  zone: DomainName,
  difference: ZoneDifference,
  deletesZone: boolean,
  { thresholds, allow, unreviewed }: SafetyRules,
): Refusal[] {
  const refusals: Refusal[] = []
  const refuse = (name: RefusalName, message: string | null): void => {
    if (message !== null) refusals.push({ name, message, allowed: allow.has(name) })
  }
  if (deletesZone) {
    refuse('delete-zone', `the zone ${zone} itself and all its records would be deleted`)
    return refusals
  }
  const isUnreviewed = (key: string): boolean => unreviewed === undefined || unreviewed.has(key)
  const { existing } = difference.rrsets
  const removed = difference.rrsets.removed.filter(isUnreviewed)
  const changed = difference.rrsets.changed.filter(isUnreviewed)
  const excess = (count: number, action: string, percent: number, most: number | undefined): string | null => {
    const message = `${count} of ${existing} record sets of ${zone} would ${action}`
    if (existing >= thresholds.min_existing && count * 100 > existing * percent)
      return `${message} (${Math.round((count * 100) / existing)} %); the limit is ${percent} %`
    return most !== undefined && count > most ? `${message}; the limit is ${most}` : null
  }
  const emptied = emptiedZone(zone, difference, unreviewed !== undefined && removed.length === 0)
  if (emptied !== null) refuse('empty-zone', emptied)
  else refuse('deletes', excess(removed.length, 'be deleted', thresholds.max_delete_percent, thresholds.max_deletes))
  refuse('updates', excess(changed.length, 'change', thresholds.max_update_percent, thresholds.max_updates))
  if (isUnreviewed(rrsetKey({ name: zone, type: 'NS' }))) refuse('apex-ns', apexNsChange(zone, difference))
  return refusals
}

/** The message if no existing RRset survives and the zone ends with fewer RRsets or, if that was reviewed, with none. */
function emptiedZone(zone: DomainName, { rrsets: { existing, removed }, added }: ZoneDifference, isReviewed: boolean): string | null {
  if (existing === 0 || removed.length < existing) return null
  const created = new Set(added.map(rrsetKey)).size
  if (created >= existing || (isReviewed && created > 0)) return null
  const lead = `${agreeing(existing, 'the only record set', `all ${existing} record sets`)} of ${zone} would be deleted`
  return created === 0 ? `${lead}, which leaves the zone empty` : `${lead}, and only ${counted(created, 'other')} would be created`
}

/** The message if apex NS records change in more than exact duplicates. New ones in a zone without any are no change. */
function apexNsChange(zone: DomainName, { removed, added, kept }: ZoneDifference): string | null {
  const atApex = (records: readonly ResourceRecord[]): ResourceRecord[] =>
    records.filter(({ type, name }) => type === 'NS' && name === zone)
  const [staying, leaving, arriving] = [atApex(kept), atApex(removed), atApex(added)]
  if (staying.length + leaving.length === 0) return null
  const dataOf = (...records: readonly ResourceRecord[][]): Set<string> => new Set(records.flat().map(({ data }) => data))
  const [before, after] = [dataOf(staying, leaving), dataOf(staying, arriving)]
  const isDuplicate = ({ data, ttl }: ResourceRecord): boolean => staying.some((record) => record.data === data && record.ttl === ttl)
  const changes: [data: string[], what: string][] = [
    [[...before].filter((data) => !after.has(data)), 'would be removed'],
    [[...after].filter((data) => !before.has(data)), 'would be added'],
    [[...dataOf(leaving.filter((record) => !isDuplicate(record)))].filter((data) => after.has(data)), 'would have another TTL'],
  ]
  const parts = changes.filter(([data]) => data.length > 0).map(([data, what]) => `${listed(data.sort())} ${what}`)
  return parts.length === 0 ? null : `NS records at the apex of ${zone} would change: ${parts.join(', ')}`
}
