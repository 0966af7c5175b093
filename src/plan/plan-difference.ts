/** The plan that closes a difference between existing and desired records: safety limits, calls, and their order. */
import type { Diagnostic, SourcePosition } from '../base/diagnostic.ts'
import { counted, listed } from '../base/english.ts'
import type { DomainName } from '../dns/domain-name.ts'
import { conflictingSettings, type ExistingRecord, type ResourceRecord } from '../dns/record.ts'
import { plainSelector, unmanagedTest } from '../dns/unmanaged.ts'
import type { ExistingZone, UnmanagedSelector, ZoneSettings } from '../dns/zone.ts'
import { cachedAnswersOf } from './cached-answers.ts'
import type { CallRules, Capabilities } from './capabilities.ts'
import { carryOneByOne, carryRecords, carryRrsets, carryTogether, fitInOneCall } from './carry-changes.ts'
import { totalCalls } from './changesets.ts'
import type { ZoneDifference } from './compare-zones.ts'
import type { Preference } from './continuity.ts'
import { impactOf } from './impact.ts'
import { type Call, compareCalls, pairRecords, pairWithinRrsets, recordOf } from './pair-records.ts'
import {
  type CallCount,
  type Change,
  changedFields,
  type DomainChange,
  fingerprint,
  type RecordChange,
  type RenderedState,
  type ZonePlan,
} from './plan.ts'
import { type SafetyRules, safetyRefusals } from './safety-limits.ts'
import { type InterruptionReason, scheduleCalls } from './schedule.ts'

export interface DifferenceInput extends SafetyRules {
  readonly zone: DomainName
  /** The position of the zone's diagnostics; absent if no file defines the zone. */
  readonly at?: SourcePosition | undefined
  readonly existing: ExistingZone | null
  /** The provider's name in the config. */
  readonly target: string
  readonly capabilities: Capabilities
  /** Added records are as the target stores them. */
  readonly difference: ZoneDifference
  readonly domain: DomainChange | null
  readonly unmanaged?: readonly UnmanagedSelector[] | undefined
  /** Whether records are changed by calls. False if they are created and deleted together with the zone, or come from masters. */
  readonly hasRecordCalls: boolean
  readonly deletesZone: boolean
  /** Managed records of the desired zone. */
  readonly desiredRecords: number
  readonly rendered: RenderedState
  /** Continuity if absent. */
  readonly prefer?: Preference | undefined
  /** Diagnostics found so far. */
  readonly diagnostics: readonly Diagnostic[]
}

export function planDifference(input: DifferenceInput): ZonePlan {
  const { zone, existing, target, capabilities, difference, domain } = input
  const diagnostics = [...input.diagnostics]
  const existingCount = existing?.records.length ?? 0
  const records = input.hasRecordCalls ? recordChanges(difference, existing?.records ?? [], input, diagnostics) : []
  diagnostics.push(...(input.deletesZone ? recordsOfOthers(input) : recordLimitProblems(input, existingCount)))
  const changes = joinChanges(domain, records, capabilities.calls)
  // A saved plan has no other records, and is checked against itself.
  const state = existing && { ...existing, unplanned: [] }
  const unmanaged = untouchedSelectors(changes, input.unmanaged ?? [], zone, state)
  const impact = impactOf(existing, changes, difference.rrsets)
  const cached = existing && cachedAnswersOf(existing.records, changes, zoneTtlOf(existing.settings, capabilities))
  return {
    zone,
    target,
    exists: existing !== null,
    fingerprint: fingerprint(existing, unmanagedTest(unmanaged, zone, { live: [state] })),
    ...(unmanaged.length === 0 ? {} : { unmanaged }),
    records: {
      existing: existingCount,
      desired: input.desiredRecords,
      unchanged: difference.kept.length,
      unmanaged: difference.unmanaged.length,
      limit: capabilities.maxRecords,
    },
    ...defaultTtlOf(input, changes),
    ...(cached === null ? {} : { cachedAnswers: cached }),
    ...(impact === null ? {} : { impact }),
    changes,
    calls: countCalls(changes),
    refusals: safetyRefusals(zone, difference, input.deletesZone, input),
    rendered: input.rendered,
    diagnostics,
  }
}

function defaultTtlOf({ existing, domain, capabilities }: DifferenceInput, changes: readonly Change[]): Pick<ZonePlan, 'defaultTtl'> {
  const followsDefault = (record: ResourceRecord | null): boolean => record !== null && record.ttl === null
  const isNeeded = changes.some(
    (change) => change.subject === 'record' && (followsDefault(change.existing) || followsDefault(change.desired)),
  )
  if (!isNeeded || !capabilities.ttlDefault) return {}
  const live = existing?.settings ?? {}
  const desired = zoneTtlOf({ ...live, ...domain?.desired }, capabilities)
  return { defaultTtl: { existing: existing && zoneTtlOf(live, capabilities), desired } }
}

/** The TTL in seconds of records without one; null if it is unknown. */
const zoneTtlOf = (settings: ZoneSettings, { fallbackTtl }: Capabilities): number | null => settings.ttl_sec || fallbackTtl || null

/** An error if deleting the zone would delete records that plans leave alone. The records of a slave stay at its masters. */
function recordsOfOthers({ zone, at, target, existing, difference }: DifferenceInput): Diagnostic[] {
  const kept = existing?.settings.type === 'slave' ? [] : [...(existing?.unplanned ?? []), ...difference.undescribable]
  if (kept.length === 0) return []
  const names = listed(
    kept.map(({ name, type, reason }) => `${name} ${type} (${reason})`),
    MAX_LISTED,
  )
  const message = `${zone} at ${target}: deleting the zone would delete ${counted(kept.length, 'record')} that plans leave alone: ${names}`
  return [{ severity: 'error', code: 'record-unplanned', message, at, hint: `delete them at ${target} first, or keep the zone` }]
}

/** An error if unmanaged and desired records together exceed the limit. If the desired ones alone do, `fitToTarget` has reported it. */
function recordLimitProblems(
  { zone, at, target, capabilities, difference, desiredRecords }: DifferenceInput,
  existingCount: number,
): Diagnostic[] {
  const { maxRecords } = capabilities
  const total = existingCount - difference.removed.length + difference.added.length
  if (maxRecords === null || total <= maxRecords || desiredRecords > maxRecords) return []
  const message = `${zone} would have ${total} records, ${difference.unmanaged.length} of them unmanaged; ${target} supports ${maxRecords} per zone`
  return [{ severity: 'error', code: 'record-limit', message, at }]
}

/** Maximum number of names in one message. */
const MAX_LISTED = 20

function recordChanges(
  difference: ZoneDifference,
  existing: readonly ExistingRecord[],
  { capabilities, prefer = 'continuity', zone, at }: DifferenceInput,
  diagnostics: Diagnostic[],
): RecordChange[] {
  const { calls: rules, maxRecords } = capabilities
  const { removed, added } = difference
  if (removed.length === 0 && added.length === 0) return []
  const headroom = maxRecords === null ? Number.POSITIVE_INFINITY : maxRecords - existing.length
  const pair = rules.unit === 'rrset' || rules.movesRecords === false ? pairWithinRrsets : pairRecords
  const pairs = rules.unit === 'record' && rules.maxUnits === 1 ? null : pair(removed, added)
  if (pairs !== null) {
    const changes = pairs.sort(compareCalls).map((call) => recordChange(call, []))
    // A call that is carried out as a whole, or that the target orders itself, needs no order and no split.
    if (fitInOneCall(changes, existing, rules, zone)) return carryTogether(changes)
    if (rules.unit === 'rrset') {
      const carried = carryRrsets(changes, existing, rules, headroom, zone)
      noteInterruption(carried.interrupted, carried.isLimited ? 'room' : 'order')
      return [...carried.changes]
    }
  }
  const { calls, after, splits, isProvedMinimal, interrupted, isExact } = scheduleCalls(difference, prefer, headroom, pair)
  if (!isProvedMinimal) {
    const message = `${zone}: ${counted(splits, 'update is', 'updates are')} split into two requests; the number of requests is not proved minimal`
    diagnostics.push({ severity: 'notice', code: 'calls-not-proved', message, at })
  }
  for (const [reason, names] of interrupted) noteInterruption(names, reason, isExact)
  const changes = calls.map((call, index) => recordChange(call, after[index] as number[]))
  return rules.maxUnits === 1 ? carryOneByOne(changes) : carryRecords(changes, rules)

  function noteInterruption(names: readonly string[], reason: InterruptionReason, isCertain = true): void {
    if (names.length === 0) return
    const why: Record<InterruptionReason, string> = {
      calls: 'fewer calls come first',
      room: `the zone has room for ${counted(Math.max(0, headroom), 'more record')}`,
      order: isCertain ? 'no order avoids it' : 'no order was found that avoids it',
    }
    const message = `${zone}: ${listed(names, MAX_LISTED)} may lack records for a moment, since ${why[reason]}`
    diagnostics.push({ severity: 'notice', code: 'interruption', message, at })
  }
}

function recordChange(call: Call, after: readonly number[]): Omit<RecordChange, 'call'> {
  const { existing, desired, split } = call
  const { name, type } = recordOf(call)
  const other = existing && desired ? conflictingSettings(existing, desired) : []
  return {
    action: existing === null ? 'create' : desired === null ? 'delete' : 'update',
    subject: 'record',
    name,
    type,
    id: existing?.id ?? null,
    existing: existing && contentOf(existing, desired && other),
    desired: desired && { ...contentOf(desired, existing && other), ...(desired.source !== undefined && { source: desired.source }) },
    fields: changedFields(existing, desired),
    after,
    ...(desired?.owner === undefined ? {} : { owner: desired.owner }),
    ...(desired?.at.calledFrom === undefined ? {} : { at: desired.at }),
    ...(split === undefined ? {} : { split }),
  }
}

/** With all settings, or with those of an update that differ. */
function contentOf({ name, type, ttl, data, settings }: ResourceRecord, differing: readonly string[] | null): ResourceRecord {
  const content = { name, type, ttl, data }
  if (settings === undefined || differing?.length === 0) return content
  return { ...content, settings: differing === null ? settings : Object.fromEntries(differing.map((key) => [key, settings[key] ?? ''])) }
}

/** Changes of the zone itself come first. A new zone's records wait for it, or are created with it: the first call of records follows no other. */
function joinChanges(domain: Change | null, records: readonly RecordChange[], { createsZoneWithRecords }: CallRules): Change[] {
  if (domain === null) return [...records]
  const creates = domain.action === 'create'
  const firstCall = creates && createsZoneWithRecords ? 0 : 1
  return [
    domain,
    ...records.map((change) => {
      const call = change.call + firstCall
      const waits = creates && call > 0 ? [0] : []
      return { ...change, call, after: [...waits, ...change.after.map((index) => index + 1)] }
    }),
  ]
}

export function countCalls(changes: readonly Change[]): CallCount {
  const count = { create: 0, update: 0, delete: 0, total: totalCalls(changes) }
  for (const change of changes) count[change.action] += 1
  return count
}

/**
 * The selectors whose records may change while a plan waits to be applied, without their positions; `existing` is the zone before it. None if the plan deletes the zone with all its records,
 * or changes a record that they select: such records must not change.
 */
export function untouchedSelectors(
  changes: readonly Change[],
  selectors: readonly UnmanagedSelector[],
  zone: DomainName,
  existing: ExistingZone | null,
): readonly UnmanagedSelector[] {
  const isUnmanaged = unmanagedTest(selectors, zone, { live: [existing] })
  const isTouched = changes.some((change) =>
    change.subject === 'domain'
      ? change.action === 'delete'
      : [change.existing, change.desired].some((record) => record !== null && isUnmanaged(record)),
  )
  return isTouched ? [] : selectors.map(plainSelector)
}
