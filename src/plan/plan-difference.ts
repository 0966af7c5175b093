/** From what stands between the records a zone has and those it should have to the plan that closes it: safety limits, calls, their order. Pure. */
import type { Diagnostic, SourcePosition } from '../dns/diagnostic.ts'
import type { DomainName } from '../dns/domain-name.ts'
import { unmanagedTest } from '../dns/unmanaged.ts'
import type { ExistingZone, UnmanagedSelector } from '../dns/zone.ts'
import type { Preference } from './break-cycles.ts'
import type { Capabilities } from './capabilities.ts'
import type { ZoneDifference } from './compare-zones.ts'
import { compileChanges, compiledCalls } from './compile-changes.ts'
import { type Call, compareCalls, pairRecords } from './pair-records.ts'
import type { CallCount, Change, DomainChange, RecordChange, RenderedState, ZonePlan } from './plan.ts'
import { fingerprint } from './plan.ts'
import { type SafetyRules, safetyRefusals } from './safety-limits.ts'
import { type InterruptionReason, scheduleCalls } from './schedule.ts'

export interface DifferenceInput extends SafetyRules {
  readonly zone: DomainName
  /** What diagnostics point at; absent where no file says what the zone should be. */
  readonly at?: SourcePosition | undefined
  readonly existing: ExistingZone | null
  /** The provider's name in the config. */
  readonly target: string
  readonly capabilities: Capabilities
  /** What is added is as the target stores it. */
  readonly difference: ZoneDifference
  /** The change to the zone itself. */
  readonly domain: DomainChange | null
  /** Which records the difference leaves to others. */
  readonly unmanaged?: readonly UnmanagedSelector[] | undefined
  /** Whether records have calls of their own; they have none where they come and go with the zone. */
  readonly records: 'changed' | 'left'
  /** Whether the zone is wanted no more. */
  readonly deletesZone: boolean
  /** Managed records the zone should have. */
  readonly desiredRecords: number
  readonly rendered: RenderedState
  /** What comes first where fewest calls and no interruption cannot both be had; continuity where absent. */
  readonly prefer?: Preference | undefined
  /** What was found on the way to the difference. */
  readonly diagnostics: readonly Diagnostic[]
}

export function planDifference(input: DifferenceInput): ZonePlan {
  const { zone, existing, target, capabilities, difference, domain } = input
  const diagnostics = [...input.diagnostics]
  const existingCount = existing?.records.length ?? 0
  const records = input.records === 'left' ? [] : recordChanges(difference, existingCount, input, diagnostics)
  if (!input.deletesZone) diagnostics.push(...overLimit(input, existingCount))
  const changes = joinChanges(domain, records)
  const unmanaged = untouchedSelectors(changes, input.unmanaged ?? [], zone)
  return {
    zone,
    target,
    exists: existing !== null,
    fingerprint: fingerprint(existing, unmanagedTest(unmanaged, zone)),
    ...(unmanaged.length === 0 ? {} : { unmanaged }),
    records: {
      existing: existingCount,
      desired: input.desiredRecords,
      unchanged: difference.kept.length,
      unmanaged: difference.unmanaged.length,
      limit: capabilities.maxRecords,
    },
    changes,
    calls: { ...countCalls(changes), total: totalCalls(input, changes) },
    refusals: safetyRefusals(zone, difference, input.deletesZone, input),
    rendered: input.rendered,
    diagnostics,
  }
}

/** The calls the target needs: as many as there are changes where it takes them one by one, else what they compile to. */
function totalCalls({ zone, existing, capabilities: { granularity } }: DifferenceInput, changes: readonly Change[]): number {
  if (granularity === 'record') return changes.length
  return compiledCalls(compileChanges(granularity, zone, existing?.records ?? [], changes), changes)
}

/** Records the zone would have beyond what the target holds. A definition that alone has too many was told so when it was fitted. */
function overLimit({ zone, at, target, capabilities, difference, desiredRecords }: DifferenceInput, existingCount: number): Diagnostic[] {
  const { maxRecords } = capabilities
  const total = existingCount - difference.removed.length + difference.added.length
  if (maxRecords === null || total <= maxRecords || desiredRecords > maxRecords) return []
  const message = `${zone} would hold ${total} records, ${difference.unmanaged.length} of them unmanaged; ${target} holds ${maxRecords} in a zone`
  return [{ severity: 'error', code: 'record-limit', message, at }]
}

function recordChanges(
  difference: ZoneDifference,
  existingCount: number,
  input: DifferenceInput,
  diagnostics: Diagnostic[],
): RecordChange[] {
  if (difference.removed.length === 0 && difference.added.length === 0) return []
  const { capabilities, prefer = 'continuity', zone, at } = input
  // What is carried out as a whole interrupts nothing and needs no order, so that no update is ever split.
  if (capabilities.granularity === 'message' || capabilities.granularity === 'file')
    return pairRecords(difference.removed, difference.added)
      .sort(compareCalls)
      .map((call) => recordChange(call, []))
  const headroom = capabilities.maxRecords === null ? Number.POSITIVE_INFINITY : capabilities.maxRecords - existingCount
  const planned = scheduleCalls(difference, prefer, headroom)
  if (!planned.isProvedMinimal) {
    const updates = planned.splits === 1 ? '1 update is' : `${planned.splits} updates are`
    const message = `${zone}: ${updates} split into two calls; the number of calls is not proved minimal`
    diagnostics.push({ severity: 'notice', code: 'calls-not-proved', message, at })
  }
  const why: Record<InterruptionReason, string> = {
    calls: 'fewer calls come first',
    room: `the zone has room for ${Math.max(0, headroom)} more records`,
    order: 'no order avoids it',
  }
  for (const [reason, names] of planned.interrupted) {
    const message = `${zone}: ${listed(names)} may lack records for a moment, since ${why[reason]}`
    diagnostics.push({ severity: 'notice', code: 'interruption', message, at })
  }
  return planned.calls.map((call, index) => recordChange(call, planned.after[index] as number[]))
}

/** Names that a message lists; how many more there are is said. */
const MOST_LISTED = 20

function listed(names: readonly string[]): string {
  const more = names.length - MOST_LISTED
  const shown = names.slice(0, MOST_LISTED).join(', ')
  return more > 0 ? `${shown} and ${more} more names` : shown
}

function recordChange({ existing, desired, split }: Call, after: readonly number[]): RecordChange {
  const fields: ('name' | 'ttl' | 'data')[] = []
  if (existing && desired) {
    if (existing.name !== desired.name) fields.push('name')
    if (existing.ttl !== desired.ttl) fields.push('ttl')
    if (existing.data !== desired.data) fields.push('data')
  }
  const subject = desired ?? existing
  if (!subject) throw new Error('a call without records')
  return {
    action: existing === null ? 'create' : desired === null ? 'delete' : 'update',
    subject: 'record',
    name: subject.name,
    type: subject.type,
    id: existing?.id ?? null,
    existing: existing && { name: existing.name, type: existing.type, ttl: existing.ttl, data: existing.data },
    desired: desired && {
      name: desired.name,
      type: desired.type,
      ttl: desired.ttl,
      data: desired.data,
      ...(desired.source !== undefined && { source: desired.source }),
    },
    fields,
    after,
    ...(split === undefined ? {} : { split }),
  }
}

/** A new zone comes before its records; a zone's settings change first of all. */
function joinChanges(domain: Change | null, records: readonly RecordChange[]): Change[] {
  if (domain === null) return [...records]
  const waits = domain.action === 'create' ? [0] : []
  return [domain, ...records.map((change) => ({ ...change, after: [...waits, ...change.after.map((index) => index + 1)] }))]
}

export function countCalls(changes: readonly Change[]): CallCount {
  const count = { create: 0, update: 0, delete: 0, total: changes.length }
  for (const change of changes) count[change.action] += 1
  return count
}

/**
 * The selectors whose records may come and go while changes wait to be applied, without their places. None where the zone is deleted, with all that is in
 * it, and where a change is itself of a record they select: of that nothing may move.
 */
export function untouchedSelectors(
  changes: readonly Change[],
  selectors: readonly UnmanagedSelector[],
  zone: DomainName,
): readonly UnmanagedSelector[] {
  const isUnmanaged = unmanagedTest(selectors, zone)
  const reached = changes.some((change) =>
    change.subject === 'domain'
      ? change.action === 'delete'
      : (change.existing !== null && isUnmanaged(change.existing)) || (change.desired !== null && isUnmanaged(change.desired)),
  )
  return reached ? [] : selectors.map(({ at, ...selector }) => selector)
}
