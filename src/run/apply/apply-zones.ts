/** Applies the plans of zones concurrently. Stops targets that fail, and does not overwrite changes of other clients. */
import pLimit, { type LimitFunction } from 'p-limit'
import { excerpt } from '../../base/text.ts'
import { type ExistingRecord, type ResourceRecord, rrsetKey, sameRecord } from '../../dns/record.ts'
import { type Changeset, changesetsOf, type RrsetChange, rrsetImage, sameImage } from '../../plan/changesets.ts'
import type { Outcome, RecordChange, ZoneOutcome } from '../../plan/plan.ts'
import type { PlannedZone, PlannedZones } from '../../plan/planned-zone.ts'
import { type Provider, type ProviderCallOptions, ProviderError, type ZoneReference, type ZoneSnapshot } from '../../providers/provider.ts'
import type { GivenApprovals } from '../../stored/approvals/approvals-of-plan.ts'
import type { RolledBackRun } from '../../stored/journal/journal-format.ts'
import type { ZoneReading } from '../read/open-zones.ts'
import { applyDivided, type ChangeResult, createReread } from './apply-call.ts'
import { runGraph, skipped, stopReason } from './call-graph.ts'
import { indexRecords, type RecordIndex } from './judge-call.ts'
import { readBack } from './read-back.ts'

/** Milliseconds to wait after a connection broke, so that the server can finish. */
const RECOVERY_PAUSE = 300

/** A zone to apply. */
export interface ApplicableZone extends PlannedZone {
  readonly reference: ZoneReference | null
  readonly existing: ZoneSnapshot | null
  /** When the zone was read, by `performance.now()`. If absent, it is read again before an update or deletion. */
  readonly readAt?: number | undefined
  /** See `ProviderCallOptions`. */
  readonly lastSerial?: ProviderCallOptions['lastSerial']
}

/** The changes of a run. */
export interface ChangesToMake extends PlannedZones<ApplicableZone> {
  /** Whether this is a saved plan, whose diagnostics were reported when it was made. */
  readonly isSaved?: boolean
  /** Who has approved the saved plan. */
  readonly approvals?: GivenApprovals | undefined
  /** The run that a rollback takes back. */
  readonly rollsBack?: RolledBackRun
}

export interface ApplyZonesOptions {
  readonly providers: ReadonlyMap<string, Provider>
  /** Stops the run: calls in flight finish, no further call is sent. A text as its reason becomes the reason of skipped changes. */
  readonly stop?: AbortSignal | undefined
  /** Cancels calls in flight. */
  readonly abort?: AbortSignal | undefined
  readonly recoveryPause?: number | undefined
  /** Milliseconds after a read of a zone until it is read again before an update or deletion; 10,000 if absent. */
  readonly freshFor?: number | undefined
  /** Milliseconds that reading back may take after the run was stopped. */
  readonly lastReading?: number | undefined
  /** Called before each call is sent, repetitions included. Returns why it must not be sent; null if it may. */
  readonly onCall?: ((zone: ApplicableZone, call: Changeset) => string | null | Promise<string | null>) | undefined
  /** See `ProviderCallOptions`. */
  readonly mayWrite?: ProviderCallOptions['mayWrite']
  readonly run?: ProviderCallOptions['run']
  /** Called when a change ends. Reading back may resolve an unknown outcome later. */
  readonly onOutcome?: ((zone: ApplicableZone, index: number, outcome: Outcome) => void) | undefined
  /** Called when a zone has been read back. */
  readonly onZone?: ((zone: ApplicableZone, outcome: ZoneOutcome) => void) | undefined
}

/** Applies zones concurrently; a failure in one does not stop another. Returns one outcome per zone, in the same order. */
export function applyZones(zones: readonly ApplicableZone[], options: ApplyZonesOptions): Promise<ZoneOutcome[]> {
  const watches = new Map<string, TargetWatch>()
  for (const { plan } of zones) {
    const provider = options.providers.get(plan.target)
    if (!provider) throw new Error(`no provider ${plan.target}`)
    if (!watches.has(plan.target)) watches.set(plan.target, watchTarget(provider))
  }
  return Promise.all(
    zones.map(async (zone) => {
      const outcome = await applyZone(zone, watches.get(zone.plan.target) as TargetWatch, options)
      options.onZone?.(zone, outcome)
      return outcome
    }),
  )
}

/** Makes a zone's calls in their order, concurrently if it allows, then reads the zone back. */
async function applyZone(zone: ApplicableZone, watch: TargetWatch, options: ApplyZonesOptions): Promise<ZoneOutcome> {
  const { plan, existing } = zone
  const { provider } = watch
  const ended = new AbortController()
  const stop = AbortSignal.any([watch.stop, ended.signal, ...(options.stop ? [options.stop] : [])])
  const { abort: signal, mayWrite, run } = options
  const callOptions: ProviderCallOptions = { stop, signal, mayWrite, run, lastSerial: zone.lastSerial }
  const records = existing?.records ?? []
  const calls = changesetsOf(plan.changes, records, provider.capabilities.calls)
  const claimed = new Set(records.flatMap(({ id }) => (id === undefined ? [] : [id])))
  const reread = createReread(provider, callOptions)
  const findLateChange = lateChangeFinder(provider, zone, callOptions, options.freshFor)
  const recoveryPause = options.recoveryPause ?? RECOVERY_PAUSE
  const results = new Map<number, ChangeResult>()
  let { reference } = zone

  const perform = async (call: Changeset): Promise<readonly Outcome[]> => {
    // The call may have waited for calls of other zones.
    if (stop.aborted) return skipped(call, stopReason(stop))
    const late = await findLateChange(call, reference)
    if (stop.aborted) return skipped(call, stopReason(stop))
    if (late !== null) return call.indexes.map(() => ({ state: 'failed', error: late }))
    const onCall = async (sent: Changeset): Promise<string | null> => (await options.onCall?.(zone, sent)) ?? null
    const made = await applyDivided(call, {
      provider,
      reference,
      existing: records,
      options: callOptions,
      reread,
      claimed,
      recoveryPause,
      onCall,
    })
    const [first] = made as [ChangeResult]
    watch.note(first.outcome.state === 'applied' ? null : (first.error ?? null))
    if (first.error?.code === 'provider-forbidden') ended.abort(`${provider.name} does not allow changes in ${plan.zone} with this token`)
    if (first.zone) reference = first.zone
    return made.map((result, position) => {
      results.set(call.indexes[position] as number, result)
      if (!result.error?.notSent || result.outcome.state !== 'failed') return result.outcome
      return { state: 'skipped', because: stop.aborted ? stopReason(stop) : result.error.message }
    })
  }
  const outcomes = await runGraph(calls, (call) => watch.slots(perform, call), {
    concurrency: provider.parallelism,
    stop,
    onOutcome: (index, outcome) => options.onOutcome?.(zone, index, outcome),
  })
  return readBack({ plan, calls, existing, provider, reference, outcomes, results }, { ...options, recoveryPause })
}

/** Consecutive calls without a usable response, in addition to the concurrent ones, after which a target is considered unreachable. */
const SILENT_CALLS = 8

/** The state of one target during a run. */
interface TargetWatch {
  readonly provider: Provider
  /** Limits the concurrent calls of all zones of the target. */
  readonly slots: LimitFunction
  /** Aborted once no further call can succeed. Its reason is a text. */
  readonly stop: AbortSignal
  /** Records the result of a call; null is success. */
  note(error: ProviderError | null): void
}

/** Stops a target that refuses the token or does not respond, so that its other zones do not fail slowly. */
function watchTarget(provider: Provider): TargetWatch {
  const controller = new AbortController()
  let silent = 0
  return {
    provider,
    slots: pLimit(provider.capabilities.calls.oneAtATime ? 1 : provider.parallelism),
    stop: controller.signal,
    note(error) {
      if (error?.notSent) return
      if (error?.code === 'provider-unauthorized') controller.abort(`${provider.name} refused the token`)
      silent = error !== null && isSilence(error) ? silent + 1 : 0
      if (silent >= SILENT_CALLS + provider.parallelism) controller.abort(`${provider.name} did not respond to ${silent} requests in a row`)
    },
  }
}

const isSilence = ({ code }: ProviderError): boolean => /^provider-(?:unreachable|timeout|failed|garbled|rate-limited)$/.test(code)

/** Milliseconds for which a read is fresh. */
const FRESH_FOR = 10_000

/** A read is fresh for at least this many times its duration, so that a large zone is not read all the time. */
const FRESH_DURATIONS = 10

/** Returns why a call may no longer be made; null if it may. */
type FindLateChange = (call: Changeset, zone: ZoneReference | null) => Promise<string | null>

/**
 * Creates a finder for a zone. The read that the plan was made from is a read before the calls as long as it is fresh. If the zone cannot be read again, no
 * call that could overwrite a change is made.
 */
function lateChangeFinder(
  provider: Provider,
  { existing, readAt = Number.NEGATIVE_INFINITY }: Pick<ZoneReading, 'existing'> & { readonly readAt?: number | undefined },
  callOptions: ProviderCallOptions,
  freshFor = FRESH_FOR,
): FindLateChange {
  let staleAt = readAt + freshFor
  let reading: Promise<RecordIndex | ProviderError | null> = Promise.resolve(null)

  const read = async (zone: ZoneReference): Promise<RecordIndex | ProviderError> => {
    const begun = performance.now()
    try {
      return indexRecords((await provider.readZone(zone, callOptions)).records)
    } catch (error) {
      if (error instanceof ProviderError) return error
      throw error
    } finally {
      const now = performance.now()
      staleAt = now + Math.max(freshFor, FRESH_DURATIONS * (now - begun))
    }
  }

  return async (call, zone) => {
    if (existing === null || zone === null || !needsReading(call, provider)) return null
    if (performance.now() >= staleAt) {
      // Calls that arrive during the read wait for it.
      staleAt = Number.POSITIVE_INFINITY
      reading = read(zone)
    }
    const live = await reading
    if (live === null) return null
    if (live instanceof ProviderError) return `not sent: the zone could not be read again before it: ${live.message}`
    return call.changes[0]?.subject === 'domain' ? zoneProblem(existing.records, live.records) : recordsProblem(call, live)
  }
}

/** Whether a call could overwrite another client's change. The creation of a single record, or of a zone, overwrites nothing. */
function needsReading({ changes, rrsets }: Changeset, { capabilities }: Provider): boolean {
  const [first] = changes
  if (first?.subject === 'domain') return first.action === 'delete'
  if (capabilities.calls.hasPrecondition) return false
  return rrsets.length > 0 || changes.some(({ action }) => action !== 'create')
}

function recordsProblem({ changes, rrsets }: Changeset, { sets, byId }: RecordIndex): string | null {
  for (const rrset of rrsets) {
    const problem = rrsetProblem(rrset, sets.get(rrsetKey(rrset)) ?? [])
    if (problem !== null) return problem
  }
  if (rrsets.length > 0) return null
  for (const change of changes as readonly RecordChange[]) {
    const problem = change.id === null ? null : recordProblem(change, byId.get(change.id))
    if (problem !== null) return problem
  }
  return null
}

/** An RRset that already is as desired may be replaced. */
function rrsetProblem({ name, type, existing, desired }: RrsetChange, live: readonly ExistingRecord[]): string | null {
  const now = rrsetImage(live)
  if (sameImage(now, existing) || sameImage(now, desired)) return null
  const state = live.length === 0 ? 'deleted it' : `changed it to ${live.map(describeData).join(', ')}`
  return `not sent: another client ${state.slice(0, MAX_TEXT)} after ${name} ${type} was read for the plan`
}

/** A missing record is left to the call. A record that already is as desired may be changed. */
function recordProblem({ existing, desired }: RecordChange, now: ExistingRecord | undefined): string | null {
  if (now === undefined || existing === null || sameRecord(now, existing) || (desired !== null && sameRecord(now, desired))) return null
  return `not sent: another client changed the record to ${describeData(now)} after it was read for the plan`
}

/** A zone is not deleted if records have been added or changed since it was read. */
function zoneProblem(before: readonly ExistingRecord[], live: readonly ExistingRecord[]): string | null {
  const known = new Set(before.map(identity))
  const foreign = live.find((record) => !known.has(identity(record)))
  if (foreign === undefined) return null
  return `not sent: another client created ${foreign.name} ${foreign.type} ${describeData(foreign)} after the zone was read for the plan`
}

const identity = ({ id, name, type, ttl, data }: ExistingRecord): string => JSON.stringify([id ?? null, name, type, ttl, data])

/** Characters of the records in a message. */
const MAX_TEXT = 300

const describeData = (record: ResourceRecord): string => {
  const { ttl, data } = record
  return `${excerpt(data, 100)}${ttl === null ? '' : ` (TTL ${ttl})`}`
}
