import type { DomainName } from '../model/domain-name.ts'
import type { ExistingRecord } from '../model/record.ts'
import type { RefusalName } from '../model/zone.ts'
import type { ZoneDifference } from './diff-zone.ts'
import type { Refusal } from './plan.ts'

export interface SafetyThresholds {
  /** Percent of existing record sets that may disappear in one plan. */
  readonly max_delete_percent: number
  /** Percent of existing record sets that may change in one plan. */
  readonly max_update_percent: number
  /** The percentages count from this many existing record sets on. */
  readonly min_existing: number
}

export const DEFAULT_THRESHOLDS: SafetyThresholds = { max_delete_percent: 30, max_update_percent: 30, min_existing: 10 }

/** The safety limits a difference runs into. They look at record sets, before calls are matched, so that no clever call hides a loss. */
export function safetyRefusals(
  zone: DomainName,
  difference: ZoneDifference,
  deletesZone: boolean,
  thresholds: SafetyThresholds,
  allow: ReadonlySet<RefusalName>,
): Refusal[] {
  const refusals: Refusal[] = []
  const refuse = (name: RefusalName, message: string): void => {
    refusals.push({ name, message, allowed: allow.has(name) })
  }
  const { existing, lost, changed } = difference.rrsets
  if (deletesZone) {
    refuse('delete-zone', `the zone ${zone} itself and all its records would be deleted`)
    return refusals
  }
  if (existing > 0 && lost.length === existing && difference.added.length === 0) {
    refuse('empty-zone', `all ${existing} record sets of ${zone} would be deleted, which leaves the zone empty`)
  } else if (existing >= thresholds.min_existing && lost.length * 100 > existing * thresholds.max_delete_percent) {
    refuse(
      'deletes',
      `${lost.length} of ${existing} record sets of ${zone} would be deleted (${percent(lost.length, existing)}); the limit is ${thresholds.max_delete_percent} %`,
    )
  }
  if (existing >= thresholds.min_existing && changed.length * 100 > existing * thresholds.max_update_percent) {
    refuse(
      'updates',
      `${changed.length} of ${existing} record sets of ${zone} would change (${percent(changed.length, existing)}); the limit is ${thresholds.max_update_percent} %`,
    )
  }
  const isApexNs = (record: { name: DomainName; type: string }): boolean => record.type === 'NS' && record.name === zone
  const apexNs = difference.removed.filter(isApexNs) as ExistingRecord[]
  if (apexNs.length > 0)
    refuse('apex-ns', `NS records at the apex of ${zone} would change: ${apexNs.map((record) => record.data).join(', ')} would go`)
  return refusals
}

const percent = (part: number, whole: number): string => `${Math.round((part * 100) / whole)} %`
