/** After applying: the zone is read again and held against what the calls should have made of it. */
import type { Diagnostic } from '../model/diagnostic.ts'
import { type ExistingRecord, type ResourceRecord, recordKey } from '../model/record.ts'
import type { ExistingZone } from '../model/zone.ts'
import type { Change } from '../plan/change.ts'
import { differingSettings } from '../plan/domain-change.ts'
import { finalRecords } from '../plan/final-state.ts'
import type { Outcome, ZonePlan } from '../plan/plan.ts'

/** Differences named in a diagnostic. */
const SHOWN = 3

/** How what is live differs from what the calls that were applied should have made; null where it does not. */
export function unexpectedDifference(
  plan: ZonePlan,
  outcomes: readonly Outcome[],
  before: ExistingZone | null,
  live: ExistingZone | null,
): Diagnostic | null {
  const applied = plan.changes.filter((_, index) => outcomes[index]?.state === 'applied')
  const differences = [
    ...settingDifferences(applied, live),
    ...recordDifferences(finalRecords(before?.records ?? [], applied), live?.records ?? [], isDeleted(applied)),
  ]
  if (differences.length === 0) return null
  const more = differences.length > SHOWN ? `, and ${differences.length - SHOWN} more` : ''
  return {
    severity: 'error',
    code: 'apply-unconfirmed',
    message: `${plan.zone} at ${plan.target} is not what the calls should have made of it: ${differences.slice(0, SHOWN).join(', ')}${more}`,
    hint: 'somebody else changed the zone meanwhile; what they did was not overwritten. Plan again to see it',
  }
}

const isDeleted = (applied: readonly Change[]): boolean =>
  applied.some((change) => change.subject === 'domain' && change.action === 'delete')

function settingDifferences(applied: readonly Change[], live: ExistingZone | null): string[] {
  return applied.flatMap((change) => {
    if (change.subject !== 'domain' || change.desired === null) return []
    return live === null
      ? ['the zone is not there']
      : differingSettings(live.settings, change.desired).map((field) => `${field} is ${JSON.stringify(live.settings[field])}`)
  })
}

function recordDifferences(expected: readonly ResourceRecord[], live: readonly ExistingRecord[], deleted: boolean): string[] {
  const counts = new Map<string, { record: ResourceRecord; count: number }>()
  const count = (record: ResourceRecord, by: 1 | -1): void => {
    const key = `${recordKey(record)} ${record.ttl}`
    const entry = counts.get(key)
    if (entry) entry.count += by
    else counts.set(key, { record, count: by })
  }
  if (!deleted) for (const record of expected) count(record, 1)
  for (const record of live) count(record, -1)
  return [...counts.values()]
    .filter((entry) => entry.count !== 0)
    .map(
      ({ record, count: balance }) =>
        `${balance > 0 ? 'missing' : 'unexpected'} ${record.name} ${record.ttl ?? 'default'} ${record.type} ${record.data.slice(0, 100)}`,
    )
    .sort()
}
