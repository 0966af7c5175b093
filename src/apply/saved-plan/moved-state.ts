/** Describes how a zone has changed between two reads. */

import type { DomainName } from '../../dns/domain-name.ts'
import { excerpt } from '../../dns/excerpt.ts'
import { groupBy } from '../../dns/group-by.ts'
import { compareRecords, contentKey, type ExistingRecord, type ResourceRecord, recordKey } from '../../dns/record.ts'
import { unmanagedTest } from '../../dns/unmanaged.ts'
import type { ExistingZone, ZoneSettings } from '../../dns/zone.ts'
import type { Capabilities } from '../../plan/capabilities.ts'
import { differingSettings } from '../../plan/domain-change.ts'
import type { ZonePlan } from '../../plan/plan.ts'
import { finalRecords, fingerprint } from '../../plan/plan.ts'
import { conflicts } from '../../plan/record-conflicts.ts'
import { agreeing, counted } from '../../report/english.ts'

export interface MovedState {
  /** `2 records added, 1 changed`. */
  readonly summary: string
  /** One line per difference, sorted by owner. */
  readonly details: readonly string[]
}

/** Describes how a zone (null if it does not exist) differs from its earlier state; null if it does not. Unmanaged records are not compared. */
export function movedState(
  before: ExistingZone | null,
  now: ExistingZone | null,
  isUnmanaged: (record: ResourceRecord) => boolean = () => false,
): MovedState | null {
  if (before === null && now === null) return null
  if (before === null)
    return { summary: `it did not exist, and now exists with ${counted(now?.records.length ?? 0, 'record')}`, details: [] }
  if (now === null) return { summary: `it no longer exists; it had ${counted(before.records.length, 'record')}`, details: [] }
  if (fingerprint(before, isUnmanaged) === fingerprint(now, isUnmanaged)) return null
  const recreated =
    before.id === now.id ? [] : [`it was deleted and created again: its identifier is ${shownId(now.id)}, and was ${shownId(before.id)}`]
  const settings = settingDetails(before.settings, now.settings)
  const managed = (zone: ExistingZone): ExistingRecord[] => zone.records.filter((record) => !isUnmanaged(record))
  const records = recordDifferences(managed(before), managed(now))
  const figures = [
    ...recreated,
    figure(records.added.length, 'record', 'added'),
    figure(records.changed.length, 'record', 'changed'),
    figure(records.removed.length, 'record', 'removed'),
    figure(records.replaced.length, 'record', 'replaced by an equal one'),
    figure(settings.length, 'setting', 'changed'),
  ].filter((text) => text !== '')
  return { summary: figures.join(', '), details: [...settings, ...detailsOf(records)] }
}

const figure = (count: number, what: string, happened: string): string => (count === 0 ? '' : `${counted(count, what)} ${happened}`)

const shownId = (id: number | string | undefined): string => JSON.stringify(id ?? null)

function settingDetails(before: ZoneSettings, now: ZoneSettings): string[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort() as (keyof ZoneSettings)[]
  return keys.flatMap((key) => {
    const [was, is] = [JSON.stringify(before[key]), JSON.stringify(now[key])]
    return was === is ? [] : [`${key} is ${is ?? 'not set'}, and was ${was ?? 'not set'}`]
  })
}

interface RecordDifferences {
  readonly added: readonly ExistingRecord[]
  readonly removed: readonly ExistingRecord[]
  readonly changed: readonly { readonly was: ExistingRecord; readonly is: ExistingRecord }[]
  /** The same content with another identifier: deleted and created again. */
  readonly replaced: readonly { readonly was: ExistingRecord; readonly is: ExistingRecord }[]
}

/** Matches records by identifier, or by content without one. */
function recordDifferences(before: readonly ExistingRecord[], now: readonly ExistingRecord[]): RecordDifferences {
  const byId = new Map(before.flatMap((record) => (record.id === undefined ? [] : [[record.id, record] as const])))
  const changed: { was: ExistingRecord; is: ExistingRecord }[] = []
  const unmatched: ExistingRecord[] = []
  const matched = new Set<ExistingRecord>()
  for (const is of now) {
    const was = is.id === undefined ? undefined : byId.get(is.id)
    if (was === undefined || matched.has(was)) unmatched.push(is)
    else {
      matched.add(was)
      if (contentKey(was) !== contentKey(is)) changed.push({ was, is })
    }
  }
  const remaining = groupBy(
    before.filter((record) => !matched.has(record)),
    contentKey,
  )
  const added: ExistingRecord[] = []
  const replaced: { was: ExistingRecord; is: ExistingRecord }[] = []
  for (const is of unmatched) {
    const was = remaining.get(contentKey(is))?.pop()
    if (was === undefined) added.push(is)
    else if (was.id !== is.id) replaced.push({ was, is })
  }
  return { added, removed: [...remaining.values()].flat(), changed, replaced }
}

function detailsOf({ added, removed, changed, replaced }: RecordDifferences): string[] {
  const lines: { record: ResourceRecord; text: string }[] = [
    ...added.map((record) => ({ record, text: `added ${describeRecord(record)}` })),
    ...removed.map((record) => ({ record, text: `removed ${describeRecord(record)}` })),
    ...changed.map(({ was, is }) => ({ record: was, text: `changed ${describeRecord(was)} to ${describeRecord(is)}` })),
    ...replaced.map(({ was, is }) => ({
      record: was,
      text: `replaced ${describeRecord(was)} by an equal one: its identifier is ${shownId(is.id)}, and was ${shownId(was.id)}`,
    })),
  ]
  return lines.sort((a, b) => compareRecords(a.record, b.record)).map(({ text }) => text)
}

const describeRecord = ({ name, type, ttl, data }: ResourceRecord): string => `${name} ${ttl ?? 'default'} ${type} ${excerpt(data, 200)}`

/** Whether a zone is now as if all changes of its plan had been applied to its earlier state. */
export function isAsPlanned({ zone, changes, unmanaged = [] }: ZonePlan, before: ExistingZone | null, now: ExistingZone | null): boolean {
  const own = changes.find((change) => change.subject === 'domain')
  if (now === null) return own?.action === 'delete'
  if (own?.subject === 'domain' && (own.desired === null || differingSettings(now.settings, own.desired).length > 0)) return false
  const isUnmanaged = unmanagedTest(unmanaged, zone, { live: [before, now] })
  const contents = (records: readonly ResourceRecord[]): string =>
    records
      .filter((record) => !isUnmanaged(record))
      .map(contentKey)
      .sort()
      .join('\n')
  return contents(finalRecords(before?.records ?? [], changes)) === contents(now.records)
}

/**
 * Describes unmanaged records that were added since and obstruct a plan; null if none do. Unmanaged records may change while a plan waits, unless the target
 * would then refuse a planned record. All records count for the limit of the target.
 */
export function obstructiveUnmanagedRecords(
  plan: ZonePlan,
  before: ExistingZone | null,
  now: ExistingZone | null,
  capabilities: Capabilities,
): MovedState | null {
  if (before === null || now === null || plan.unmanaged === undefined) return null
  const full = limitProblem(plan, before, now)
  const details = capabilities.cnameExclusive ? conflictingRecords(plan, before, now) : []
  const summary = [
    ...(details.length === 0
      ? []
      : [`${counted(details.length, 'unmanaged record')} ${agreeing(details.length, 'is', 'are')} in conflict with the plan`]),
    ...(full === null ? [] : [full]),
  ].join(', ')
  return summary === '' ? null : { summary, details }
}

/**
 * The order of a plan keeps the zone within its limit for the number of records it was made with. With more records, it does so only if all creations fit
 * before any deletion.
 */
function limitProblem({ records: { limit }, calls }: ZonePlan, before: ExistingZone, now: ExistingZone): string | null {
  const more = now.records.length - before.records.length
  if (limit === null || more <= 0 || now.records.length + calls.create <= limit) return null
  return `${counted(more, 'unmanaged record')} more ${agreeing(more, 'leaves', 'leave')} no room for ${counted(calls.create, 'creation')}: the zone holds ${limit} records`
}

function conflictingRecords(plan: ZonePlan, before: ExistingZone, now: ExistingZone): string[] {
  const planned = new Map<DomainName, ResourceRecord[]>()
  for (const change of plan.changes) {
    if (change.subject === 'domain' || change.desired === null) continue
    const same = planned.get(change.name)
    if (same) same.push(change.desired)
    else planned.set(change.name, [change.desired])
  }
  const isUnmanaged = unmanagedTest(plan.unmanaged ?? [], plan.zone, { live: [before, now] })
  const known = new Set(before.records.map(recordKey))
  return now.records.flatMap((record: ExistingRecord) => {
    const refused = planned.get(record.name)?.find((one) => conflicts(record, one))
    if (refused === undefined || known.has(recordKey(record)) || !isUnmanaged(record)) return []
    return [
      `${record.name} ${record.type} ${record.data.slice(0, 200)} conflicts with the planned ${refused.type} ${refused.data.slice(0, 200)}`,
    ]
  })
}
