/**
 * The plan of one zone at one target: desired zone, existing zone and the target's capabilities in, changes out. Pure: the same
 * inputs in any order give the same plan.
 */
import type { Diagnostic } from '../model/diagnostic.ts'
import { type ExistingRecord, rrsetKey } from '../model/record.ts'
import type { DesiredZone, ExistingZone, Policy, RefusalName } from '../model/zone.ts'
import type { Capabilities } from './capabilities.ts'
import type { Change, DomainChange, RecordChange } from './change.ts'
import { orderCalls } from './change-order.ts'
import { diffZone, type ZoneDifference } from './diff-zone.ts'
import { domainChange } from './domain-change.ts'
import { fingerprint } from './fingerprint.ts'
import { type FittedZone, fitToTarget } from './fit-to-target.ts'
import { leastCalls, type Preference } from './least-calls.ts'
import type { Call } from './pair-records.ts'
import type { CallCount, RenderedState, ZonePlan } from './plan.ts'
import { applyPolicy } from './policy.ts'
import { type SafetyThresholds, safetyRefusals } from './safety-limits.ts'
import { standingConflicts } from './standing-conflicts.ts'
import { unmanagedTest } from './unmanaged.ts'

export interface PlanInput {
  readonly desired: DesiredZone
  readonly existing: ExistingZone | null
  /** The provider's name in the config. */
  readonly target: string
  readonly capabilities: Capabilities
  readonly policy: Policy
  readonly thresholds: SafetyThresholds
  readonly allow: ReadonlySet<RefusalName>
  readonly rendered: RenderedState
  /** Data of the apex NS records the target serves by itself; null where that is not known. */
  readonly servedApexNs: readonly string[] | null
  /** What comes first where fewest calls and no interruption cannot both be had; continuity where absent. */
  readonly prefer?: Preference | undefined
}

export function makeZonePlan(input: PlanInput): ZonePlan {
  const { desired, existing, target, capabilities } = input
  const fitted = fitToTarget(desired, target, capabilities)
  const diagnostics: Diagnostic[] = [...fitted.diagnostics, ...apexNsNotice(fitted, input)]
  const existingRecords = existing?.records ?? []
  const difference = applyPolicy(compare(input, fitted, existingRecords), input.policy)
  diagnostics.push(...surplusNotices(difference, target))
  if (capabilities.cnameExclusive && !desired.absent) diagnostics.push(...standingConflicts(difference, target))
  const refusals = safetyRefusals(desired.name, difference, desired.absent && existing !== null, input.thresholds, input.allow)

  const domain = domainChange(desired.name, existing, fitted.settings, desired.absent, input.policy)
  const transferred = (fitted.settings.type ?? existing?.settings.type) === 'slave'
  const records = desired.absent || transferred ? [] : recordChanges(difference, existingRecords.length, input, diagnostics)
  const total = existingRecords.length - difference.removed.length + difference.added.length
  if (
    !desired.absent &&
    capabilities.maxRecords !== null &&
    total > capabilities.maxRecords &&
    fitted.records.length <= capabilities.maxRecords
  ) {
    const message = `${desired.name} would hold ${total} records, ${difference.unmanaged.length} of them unmanaged; ${target} holds ${capabilities.maxRecords} in a zone`
    diagnostics.push({ severity: 'error', code: 'record-limit', message, at: desired.at })
  }
  if (domain?.action === 'create') diagnostics.push(...missingSettings(domain, input))
  const changes = joinChanges(domain, records)
  return {
    zone: desired.name,
    target,
    exists: existing !== null,
    fingerprint: fingerprint(existing),
    records: {
      existing: existingRecords.length,
      desired: fitted.records.length,
      unchanged: difference.kept.length,
      unmanaged: difference.unmanaged.length,
      limit: capabilities.maxRecords,
    },
    changes,
    calls: countCalls(changes),
    refusals,
    rendered: input.rendered,
    diagnostics,
  }
}

/** What the target needs to know of a new zone and the definition does not say. */
function missingSettings({ desired: settings }: DomainChange, { desired, target, capabilities }: PlanInput): Diagnostic[] {
  const needed = capabilities.neededToCreate[settings?.type ?? 'master'].filter((field) => isBlank(settings?.[field]))
  return needed.map((field) => ({
    severity: 'error',
    code: 'schema-missing-key',
    message: `${desired.name} is new at ${target}, which needs ${field} to create it`,
    at: desired.at,
    hint: `set "${field}" in the definition, or under "defaults" in the config`,
  }))
}

const isBlank = (value: unknown): boolean => value === undefined || value === '' || (Array.isArray(value) && value.length === 0)

function compare(input: PlanInput, fitted: FittedZone, existing: readonly ExistingRecord[]): ZoneDifference {
  const selected = unmanagedTest(input.desired.unmanaged, input.desired.name)
  const apexNsKey = fitted.apexNs === null ? null : rrsetKey({ name: input.desired.name, type: 'NS' })
  return diffZone(existing, fitted.records, (record) => {
    if (selected(record)) return true
    if (record.type === 'NS' && apexNsKey !== null && rrsetKey(record) === apexNsKey) return true
    return fitted.leftAlone.size > 0 && fitted.leftAlone.has(rrsetKey(record))
  })
}

function apexNsNotice(fitted: FittedZone, { servedApexNs, target, desired }: PlanInput): Diagnostic[] {
  if (fitted.apexNs === null || fitted.apexNs.length === 0) return []
  const wanted = fitted.apexNs.map((record) => record.data).sort()
  if (servedApexNs !== null && JSON.stringify([...servedApexNs].sort()) === JSON.stringify(wanted)) return []
  const served = servedApexNs === null || servedApexNs.length === 0 ? 'its own' : servedApexNs.join(', ')
  const message = `${target} serves ${served} as NS of ${desired.name}; the definition's ${wanted.join(', ')} are left out`
  return [
    { severity: 'notice', code: 'apex-ns-kept', message, at: fitted.apexNs[0]?.at, hint: 'set "apex_ns: manage" to have them as records' },
  ]
}

const surplusNotices = (difference: ZoneDifference, target: string): Diagnostic[] =>
  difference.surplus.map((record) => ({
    severity: 'notice',
    code: 'surplus-duplicate',
    message: `${target} holds ${record.name} ${record.type} ${record.data} more than once; what is too much is deleted`,
  }))

function recordChanges(difference: ZoneDifference, existingCount: number, input: PlanInput, diagnostics: Diagnostic[]): RecordChange[] {
  if (difference.removed.length === 0 && difference.added.length === 0) return []
  const { capabilities, prefer = 'continuity', desired } = input
  const least = leastCalls(difference, prefer)
  const headroom = capabilities.maxRecords === null ? Number.POSITIVE_INFINITY : Math.max(0, capabilities.maxRecords - existingCount)
  const order = orderCalls(least, headroom)
  if (!least.proved) {
    const message = `${desired.name}: ${least.splits} updates are split into two calls each; whether fewer would do was not proved`
    diagnostics.push({ severity: 'notice', code: 'calls-not-proved', message, at: desired.at })
  }
  if (order.interruptions > 0) {
    const why =
      prefer === 'calls'
        ? 'fewer calls come first'
        : headroom < Number.POSITIVE_INFINITY && order.limited
          ? `the zone has room for ${headroom} more records`
          : 'no order avoids it'
    const message = `${desired.name}: ${order.interruptions} changes may leave names without records for a moment, since ${why}`
    diagnostics.push({ severity: 'notice', code: 'interruption', message, at: desired.at })
  }
  return least.calls.map((call, index) => recordChange(call, order.after[index] as number[]))
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
    desired: desired && { name: desired.name, type: desired.type, ttl: desired.ttl, data: desired.data },
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
