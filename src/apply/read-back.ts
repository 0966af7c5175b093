/**
 * After applying: reads the zone again, resolves unknown outcomes, and reports differences from the expected result. If the responses to all calls state what the
 * target stores, they are that reading, and no further request is made.
 */
import type { Diagnostic } from '../dns/diagnostic.ts'
import { type ExistingRecord, rrsetKey } from '../dns/record.ts'
import type { ExistingZone } from '../dns/zone.ts'
import type { Changeset } from '../plan/changesets.ts'
import type { Change, Outcome, ZoneOutcome, ZonePlan } from '../plan/plan.ts'
import { storedTtls, storedTtlWarnings } from '../plan/stored-ttls.ts'
import {
  diagnosticOf,
  type Provider,
  type ProviderCallOptions,
  type ProviderError,
  type ZoneReference,
  type ZoneSnapshot,
} from '../providers/provider.ts'
import { sleep } from '../transport/retry.ts'
import type { ChangeResult } from './apply-call.ts'
import { withResolvedReasons } from './call-graph.ts'
import { resolveUnknownOutcomes } from './judge-call.ts'
import { alteredText, unexpectedDifferences } from './unexpected-differences.ts'

/** Milliseconds that reading may take after the run was stopped. */
const LAST_READING = 10_000

/** A zone after its calls. */
export interface AppliedZone {
  readonly plan: ZonePlan
  readonly calls: readonly Changeset[]
  /** The zone before the calls. */
  readonly existing: ZoneSnapshot | null
  readonly provider: Provider
  readonly reference: ZoneReference | null
  readonly outcomes: readonly Outcome[]
  /** By the index of the change. */
  readonly results: ReadonlyMap<number, ChangeResult>
}

export interface ReadBackOptions {
  /** Stops the run. */
  readonly stop?: AbortSignal | undefined
  /** Cancels calls in flight. */
  readonly abort?: AbortSignal | undefined
  /** Milliseconds to wait first if an outcome is unknown. */
  readonly recoveryPause: number
  readonly lastReading?: number | undefined
}

/** Compares a zone after its calls with the plan: as the responses state it, or as it is read. If no call can have changed it, the zone is not read. */
export async function readBack(applied: AppliedZone, options: ReadBackOptions): Promise<ZoneOutcome> {
  const { plan, calls, existing, outcomes, results } = applied
  const noticed = noticedByCalls(plan, results)
  const mayHaveChanged = outcomes.some((outcome, index) => concernsState(outcome, results.get(index)?.error))
  if (!mayHaveChanged) return { plan, outcomes, readBack: 'not-read', diagnostics: noticed }
  const stated = statedZone(applied)
  if (stated !== null) return compared(applied, outcomes, stated, noticed)
  const deadline = createReadingDeadline(options)
  const mayCompleteLater = (index: number): boolean =>
    results.get(index)?.mayCompleteLater ?? results.get(index)?.error?.mayCompleteLater ?? false
  try {
    if (outcomes.some(({ state }) => state === 'unknown')) await sleep(options.recoveryPause)
    const live = await readAgain(applied, { stop: deadline.signal, signal: options.abort })
    const reread = { before: existing?.records ?? [], live: live?.records ?? null, mayCompleteLater }
    const resolved = withResolvedReasons(calls, outcomes, resolveUnknownOutcomes(calls, outcomes, reread))
    return compared(applied, resolved, live, noticed)
  } catch (error) {
    return { plan, outcomes, readBack: 'not-read', diagnostics: [...noticed, diagnosticOf(error)] }
  } finally {
    deadline.clear()
  }
}

function compared(
  { plan, existing }: AppliedZone,
  outcomes: readonly Outcome[],
  live: ExistingZone | null,
  noticed: readonly Diagnostic[],
): ZoneOutcome {
  const sent = plan.changes.flatMap((change, index) =>
    change.subject === 'record' && change.desired !== null && outcomes[index]?.state === 'applied' ? [change.desired] : [],
  )
  const ttls = storedTtls(sent, live?.records ?? [])
  const differences = unexpectedDifferences(plan, outcomes, existing, live, ttls)
  const isEqual = outcomes.every(({ state }) => state === 'applied') && differences.length === 0
  const diagnostics = [...noticed, ...storedTtlWarnings(`${plan.zone} at ${plan.target}`, sent, ttls), ...differences]
  return { plan, outcomes, readBack: isEqual ? 'equal' : 'different', storedTtls: ttls, diagnostics }
}

/**
 * The zone before the calls, with the records that the responses state in place of those that the calls changed; null if a response states none, a call
 * failed, or the zone itself was changed.
 */
function statedZone({ calls, existing, outcomes, results }: AppliedZone): ExistingZone | null {
  if (existing === null || outcomes.some(({ state }) => state !== 'applied')) return null
  const stated: ExistingRecord[] = []
  const rrsets = new Set<string>()
  const ids = new Set<number | string>()
  for (const call of calls) {
    const { storedRecords } = results.get(call.indexes[0] as number) ?? {}
    if (storedRecords === undefined || call.changes.some(({ subject }) => subject === 'domain')) return null
    // Not spread into one call: a bulk call may carry more records than a function takes arguments.
    for (const record of storedRecords) stated.push(record)
    for (const key of call.rrsets.map(rrsetKey)) {
      // Two calls may change one RRset, and only the last of them states what it is.
      if (rrsets.has(key)) return null
      rrsets.add(key)
    }
    for (const { id } of call.changes) if (id !== null) ids.add(id)
  }
  const isTouched = (record: ExistingRecord): boolean => (record.id === undefined ? rrsets.has(rrsetKey(record)) : ids.has(record.id))
  return { ...existing, records: [...existing.records.filter((record) => !isTouched(record)), ...stated] }
}

/** A signal that aborts the reading `lastReading` milliseconds after the run was stopped, or with `abort`. */
function createReadingDeadline({ stop, abort, lastReading = LAST_READING }: ReadBackOptions): {
  readonly signal: AbortSignal
  clear(): void
} {
  const expired = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const start = (): void => {
    timer = setTimeout(() => expired.abort(), lastReading)
  }
  if (stop?.aborted) start()
  else stop?.addEventListener('abort', start)
  return {
    signal: abort ? AbortSignal.any([expired.signal, abort]) : expired.signal,
    clear() {
      clearTimeout(timer)
      stop?.removeEventListener('abort', start)
    },
  }
}

/** Whether an outcome is a reason to read the zone: the call has changed it, may have, or found it changed by another client. */
const concernsState = ({ state }: Outcome, error: ProviderError | undefined): boolean =>
  state === 'applied' ||
  state === 'unknown' ||
  (state === 'failed' && (error?.code === 'provider-rejected' || error?.code === 'provider-not-found'))

/** Findings of single calls: something failed after the change, a record was already deleted, or data was stored differently. */
function noticedByCalls({ zone, target, changes }: ZonePlan, results: ReadonlyMap<number, ChangeResult>): Diagnostic[] {
  return [...results].flatMap(([index, { wasGone, stored, problems }]): Diagnostic[] => {
    const change = changes[index] as Change
    if (problems !== undefined && problems.length > 0) return [...problems]
    if (change.subject === 'domain') return []
    if (wasGone) {
      const message = `${zone} at ${target}: ${change.name} ${change.type} was to be deleted, but another client had already deleted it`
      return [{ severity: 'warning', code: 'apply-drift', message }]
    }
    // A TTL that the target replaces is reported once for all records.
    const text = stored && change.desired && alteredText({ ...change.desired, ttl: stored.ttl }, stored)
    return text ? [{ severity: 'warning', code: 'apply-altered', message: `${zone} at ${target}: ${text}` }] : []
  })
}

/** The zone as it is now; null if it does not exist. Looks up a zone whose settings were changed, or whose creation or deletion is unknown. */
async function readAgain({ plan, provider, reference, outcomes }: AppliedZone, options: ProviderCallOptions): Promise<ZoneSnapshot | null> {
  const index = plan.changes.findIndex((change) => change.subject === 'domain')
  const state = outcomes[index]?.state
  const action = plan.changes[index]?.action
  if (action === 'delete' && state === 'applied') return null
  const isKnown = index === -1 || state === 'applied' || state === 'skipped'
  const found = isKnown ? reference : (await provider.findZones([plan.zone], options)).get(plan.zone)
  return found ? provider.readZone(found, options) : null
}
