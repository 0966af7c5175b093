/**
 * A change in stages, so that no cache holds an old answer for long: lower the TTLs of the RRsets that will change, wait until caches have forgotten the
 * previous ones, change the records, and restore the TTLs after the low TTL has passed. This file decides what to do next; it is pure.
 */
import { type DefinedRecord, type ExistingRecord, groupRrsets, type ResourceRecord, rrsetKey } from '../../dns/record.ts'
import type { Ttl } from '../../dns/ttl.ts'
import { unmanagedTest } from '../../dns/unmanaged.ts'
import { DEFAULT_ZONE_OPTIONS, type ExistingZone } from '../../dns/zone.ts'
import { changedRrsets } from '../../plan/cached-answers.ts'
import type { Capabilities } from '../../plan/capabilities.ts'
import { undescribableReason } from '../../plan/misfits.ts'
import type { Change } from '../../plan/plan.ts'
import type { ZoneJob } from '../../plan/planned-zone.ts'

/** An RRset whose TTL is lowered. */
export interface LoweredRrset {
  readonly name: string
  readonly type: string
  /** Seconds. */
  readonly formerTtl: number
}

/** `schemas/stages.schema.json`. */
export interface Stages {
  readonly format: 'zonewright-stages'
  readonly version: 1
  readonly zone: string
  readonly target: string
  /** What the last run did. `lowering`: it began to lower the TTLs; when the last one was lowered is unknown. */
  readonly stage: 'lowering' | 'lowered' | 'changed'
  /** Seconds. */
  readonly lowTtl: number
  readonly rrsets: readonly LoweredRrset[]
  /** When the next stage may begin: ISO 8601, UTC. */
  readonly readyAt: string
}

export type NextStage =
  /** Nothing to prepare: the plan can be applied as it is. */
  | { readonly step: 'plain' }
  | { readonly step: 'lower'; readonly rrsets: readonly LoweredRrset[] }
  | { readonly step: 'wait'; readonly stage: Stages['stage']; readonly until: Date }
  | { readonly step: 'change'; readonly rrsets: readonly LoweredRrset[] }
  | { readonly step: 'restore' }

export interface StageInput {
  readonly state: Stages | null
  readonly existing: ExistingZone | null
  /** The changes of the plan to the desired zone. */
  readonly changes: readonly Change[]
  readonly capabilities: Capabilities
  /** Seconds; a TTL that the target stores, or a longer one. */
  readonly lowTtl: number
  readonly now: Date
}

export function nextStage({ state, existing, changes, capabilities, lowTtl, now }: StageInput): NextStage {
  const records = existing?.records ?? []
  const defaultTtl = existing?.settings.ttl_sec || capabilities.fallbackTtl || null
  const ttls = longestTtls(records, defaultTtl)
  const changing = changedRrsets(records, changes)
  const listed = state?.rrsets ?? []
  const mayLower = state !== null && state.stage !== 'changed' ? [...changing, ...listed.map(keyOf)] : changing
  const high = [...new Set(mayLower)].filter((key) => (ttls.get(key)?.formerTtl ?? 0) > lowTtl)
  if (changing.length > 0 && high.length > 0) {
    const lowered = new Map(listed.map((rrset) => [keyOf(rrset), rrset]))
    for (const key of high) lowered.set(key, higher(ttls.get(key) as LoweredRrset, lowered.get(key)))
    return { step: 'lower', rrsets: [...lowered.values()] }
  }
  if (state === null) return { step: 'plain' }
  // Perhaps lowered just before the run was cut off: caches may hold the former TTL from then on.
  if (state.stage === 'lowering' && changing.length > 0) return { step: 'lower', rrsets: listed }
  if (changing.length === 0 && changes.length === 0) return { step: 'plain' }
  if (now.getTime() < Date.parse(state.readyAt)) return { step: 'wait', stage: state.stage, until: new Date(state.readyAt) }
  return changing.length > 0 ? { step: 'change', rrsets: listed } : { step: 'restore' }
}

const keyOf = ({ name, type }: Pick<LoweredRrset, 'name' | 'type'>): string => `${name} ${type}`

const higher = (one: LoweredRrset, other: LoweredRrset | undefined): LoweredRrset =>
  other !== undefined && other.formerTtl > one.formerTtl ? other : one

/** The zone without RRsets that also have records which plans leave alone: an RRset has one TTL (RFC 2181 section 5.2), and it is theirs. */
export function withOwnRrsets(existing: ExistingZone, { desired }: ZoneJob, capabilities: Capabilities): ExistingZone {
  const isUnmanaged = unmanagedTest(desired.unmanaged, desired.name, { live: [existing], declared: desired.records })
  const stays = (record: ExistingRecord): boolean => isUnmanaged(record) || undescribableReason(record, desired.name, capabilities) !== null
  const shared = new Set(existing.records.filter(stays).map(rrsetKey))
  return { ...existing, records: existing.records.filter((record) => !shared.has(rrsetKey(record))) }
}

/** The longest TTL in seconds of each RRset. */
function longestTtls(records: readonly ResourceRecord[], defaultTtl: number | null): Map<string, LoweredRrset> {
  const ttls = new Map<string, LoweredRrset>()
  for (const [key, set] of groupRrsets(records)) {
    const [{ name, type }] = set as [ResourceRecord]
    ttls.set(key, { name, type, formerTtl: Math.max(...set.map(({ ttl }) => ttl ?? defaultTtl ?? 0)) })
  }
  return ttls
}

/** A job that only lowers the TTLs of these RRsets, as they exist. */
export function loweringJob(job: ZoneJob, existing: ExistingZone, rrsets: readonly LoweredRrset[], lowTtl: number): ZoneJob {
  const { name, at, unmanaged } = job.desired
  const keys = new Set(rrsets.map(keyOf))
  const records = existing.records
    .filter((record) => keys.has(rrsetKey(record)))
    .map((record): DefinedRecord => ({ name: record.name, type: record.type, ttl: lowTtl as Ttl, data: record.data, at }))
  return {
    ...job,
    desired: { ...DEFAULT_ZONE_OPTIONS, name, at, unmanaged, settings: {}, records, apexNs: 'manage' },
    policy: 'upsert-only',
    isPartial: true,
  }
}

/** The job with low TTLs for these RRsets, and for new ones at their names, which take the place of another type. */
export function changingJob(job: ZoneJob, existing: ExistingZone, rrsets: readonly LoweredRrset[], lowTtl: number): ZoneJob {
  const keys = new Set(rrsets.map(keyOf))
  const names = new Set(rrsets.map(({ name }) => name))
  const present = new Set(existing.records.map(rrsetKey))
  const isNewHere = (record: DefinedRecord): boolean => names.has(record.name) && !present.has(rrsetKey(record))
  const records = job.desired.records.map((record) =>
    (keys.has(rrsetKey(record)) || isNewHere(record)) && (record.ttl === null || record.ttl === 0 || record.ttl > lowTtl)
      ? { ...record, ttl: lowTtl as Ttl }
      : record,
  )
  return { ...job, desired: { ...job.desired, records } }
}
