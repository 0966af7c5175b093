/** Records that are left to others may come and go while a plan waits, unless the target would then refuse what is planned. */
import type { DomainName } from '../../dns/domain-name.ts'
import { type ExistingRecord, type ResourceRecord, recordKey } from '../../dns/record.ts'
import { unmanagedTest } from '../../dns/unmanaged.ts'
import type { ExistingZone } from '../../dns/zone.ts'
import type { Capabilities } from '../../plan/capabilities.ts'
import type { ZonePlan } from '../../plan/plan.ts'
import { conflicts } from '../../plan/record-conflicts.ts'
import { counted } from '../../report/english.ts'
import type { MovedState } from './moved-state.ts'

/** What of the unmanaged records that came since stands in the way of a plan; null where nothing does. All records count for the limit of the target. */
export function othersInTheWay(
  plan: ZonePlan,
  before: ExistingZone | null,
  now: ExistingZone | null,
  capabilities: Capabilities,
): MovedState | null {
  if (before === null || now === null || plan.unmanaged === undefined) return null
  const full = noRoom(plan, before, now)
  const details = capabilities.cnameExclusive ? standing(plan, before, now) : []
  const summary = [
    ...(details.length === 0
      ? []
      : [`${counted(details.length, 'unmanaged record')} ${details.length === 1 ? 'stands' : 'stand'} in the way`]),
    ...(full === null ? [] : [full]),
  ].join(', ')
  return summary === '' ? null : { summary, details }
}

/**
 * The order of a plan keeps the zone within its limit given the room there was. With less room it does so only where every creation may come before any
 * deletion.
 */
function noRoom({ records: { limit }, calls }: ZonePlan, before: ExistingZone, now: ExistingZone): string | null {
  const more = now.records.length - before.records.length
  if (limit === null || more <= 0 || now.records.length + calls.create <= limit) return null
  return `${counted(more, 'unmanaged record')} more ${more === 1 ? 'leaves' : 'leave'} no room for ${counted(calls.create, 'creation')}: the zone holds ${limit} records`
}

function standing(plan: ZonePlan, before: ExistingZone, now: ExistingZone): string[] {
  const coming = new Map<DomainName, ResourceRecord[]>()
  for (const change of plan.changes) {
    if (change.subject === 'domain' || change.desired === null) continue
    const same = coming.get(change.name)
    if (same) same.push(change.desired)
    else coming.set(change.name, [change.desired])
  }
  const isUnmanaged = unmanagedTest(plan.unmanaged ?? [], plan.zone)
  const known = new Set(before.records.map(recordKey))
  return now.records.flatMap((record: ExistingRecord) => {
    const refused = coming.get(record.name)?.find((one) => conflicts(record, one))
    if (refused === undefined || known.has(recordKey(record)) || !isUnmanaged(record)) return []
    return [
      `${record.name} ${record.type} ${record.data.slice(0, 200)} stands beside ${refused.type} ${refused.data.slice(0, 200)}, which is planned`,
    ]
  })
}
