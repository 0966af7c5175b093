/**
 * After applying: reads the zone again, resolves unknown outcomes, and reports differences from the expected result. If the responses to all calls state what the
 * target stores, they are that reading, and no further request is made.
 */
import type { Diagnostic } from '../../base/diagnostic.ts'
import { append } from '../../base/group-by.ts'
import { excerpt } from '../../base/text.ts'
import {
  conflictingSettings,
  contentKey,
  type ExistingRecord,
  isApexNs,
  type ResourceRecord,
  rrsetKey,
  sameRecord,
} from '../../dns/record.ts'
import { unmanagedTest } from '../../dns/unmanaged.ts'
import type { ExistingZone } from '../../dns/zone.ts'
import type { Changeset } from '../../plan/changesets.ts'
import { differingSettings } from '../../plan/domain-change.ts'
import type { Change, Outcome, ZoneOutcome, ZonePlan } from '../../plan/plan.ts'
import { type StoredTtls, storedTtls, storedTtlWarnings, withStoredTtl } from '../../plan/stored-ttls.ts'
import {
  diagnosticOf,
  type Provider,
  type ProviderCallOptions,
  type ProviderError,
  type ZoneReference,
  type ZoneSnapshot,
} from '../../providers/provider.ts'
import { sleep } from '../../transport/retry.ts'
import type { ChangeResult } from './apply-call.ts'
import { withResolvedReasons } from './call-graph.ts'
import { resolveUnknownOutcomes } from './judge-call.ts'

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

/** Maximum differences listed per zone. */
const SHOWN = 20

const HINT = 'changes by other clients were kept; plan again to see them'

/** A record that should exist. */
interface Expected {
  readonly record: ExistingRecord
  /** Whether this run created or changed it. */
  readonly own: boolean
}

interface Difference {
  readonly own: boolean
  readonly text: string
}

/** Compares the zone with the expected result of the calls, where the target may store other TTLs. Returns a diagnostic for each difference. */
export function unexpectedDifferences(
  plan: ZonePlan,
  outcomes: readonly Outcome[],
  before: ExistingZone | null,
  live: ExistingZone | null,
  ttls: StoredTtls = new Map(),
): Diagnostic[] {
  const isUnmanaged = unmanagedTest(plan.unmanaged ?? [], plan.zone, { live: [before, live] })
  const { certain: wanted, possible } = expectedRecords(plan, outcomes, before?.records ?? [])
  const certain = wanted.map((one) => (one.own ? { ...one, record: withStoredTtl(one.record, ttls) } : one))
  // A target may give a new zone its own name servers.
  const hasOwnNs = before === null && !certain.some(({ record }) => isApexNs(record, plan.zone))
  const managed = (records: readonly ExistingRecord[]): ExistingRecord[] =>
    records.filter((record) => !isUnmanaged(record) && !(hasOwnNs && isApexNs(record, plan.zone)))
  const differences = [
    ...settingDifferences(plan, outcomes, live),
    ...recordDifferences(
      certain.filter(({ record, own }) => own || !isUnmanaged(record)),
      possible,
      managed(before === null ? withoutGivenNs(plan, certain, live?.records ?? []) : (live?.records ?? [])),
    ),
  ]
  const shown = differences.slice(0, SHOWN).map(({ own, text }) => diagnostic(plan, own, text))
  const rest = differences.length - SHOWN
  return rest > 0
    ? [
        ...shown,
        diagnostic(
          plan,
          differences.slice(SHOWN).some(({ own }) => own),
          `there are ${rest} more differences`,
        ),
      ]
    : shown
}

/** Without the apex NS records that a service gives a new zone, if the plan has none. */
function withoutGivenNs({ zone }: ZonePlan, expected: readonly Expected[], live: readonly ExistingRecord[]): readonly ExistingRecord[] {
  return expected.some(({ record }) => isApexNs(record, zone)) ? live : live.filter((record) => !isApexNs(record, zone))
}

const diagnostic = ({ zone, target }: ZonePlan, own: boolean, text: string): Diagnostic => ({
  severity: own ? 'error' : 'warning',
  code: own ? 'apply-unconfirmed' : 'apply-drift',
  message: `${zone} at ${target}: ${text}`,
  hint: HINT,
})

/** The records that should exist after the calls, and the records that may exist because an outcome is unknown. */
function expectedRecords(
  { changes }: ZonePlan,
  outcomes: readonly Outcome[],
  before: readonly ExistingRecord[],
): { certain: Expected[]; possible: ResourceRecord[] } {
  /** How many records with this identity are changed: a target without identifiers may hold the same record more than once. */
  const touched = new Map<number | string, number>()
  const certain: Expected[] = []
  const possible: ResourceRecord[] = []
  let zoneDeleted = false
  for (const [index, change] of changes.entries()) {
    const outcome = outcomes[index]
    const applied = outcome?.state === 'applied'
    if (change.subject === 'domain') zoneDeleted ||= change.action === 'delete' && applied
    if (change.subject === 'domain' || !outcome || (!applied && outcome.state !== 'unknown')) continue
    if (change.existing) {
      const key = identity({ ...change.existing, id: change.id ?? undefined })
      touched.set(key, (touched.get(key) ?? 0) + 1)
      if (!applied) possible.push(change.existing)
    }
    if (!change.desired) continue
    if (!applied) {
      possible.push(change.desired)
      continue
    }
    const id = change.action === 'create' ? outcome.id : (change.id ?? undefined)
    certain.push({ record: id === undefined ? change.desired : { ...change.desired, id }, own: true })
  }
  if (zoneDeleted) return { certain: [], possible: [] }
  const stay = before.filter((record) => {
    const left = touched.get(identity(record)) ?? 0
    if (left > 0) touched.set(identity(record), left - 1)
    return left === 0
  })
  return { certain: [...stay.map((record): Expected => ({ record, own: false })), ...certain], possible }
}

const identity = (record: ExistingRecord): number | string => record.id ?? contentKey(record)

function settingDifferences({ changes }: ZonePlan, outcomes: readonly Outcome[], live: ExistingZone | null): Difference[] {
  return changes.flatMap((change, index) => {
    if (change.subject !== 'domain' || outcomes[index]?.state !== 'applied') return []
    if (change.desired === null) return live === null ? [] : [{ own: true, text: 'the zone was deleted and exists again' }]
    if (live === null) return [{ own: true, text: 'the zone does not exist' }]
    return differingSettings(live.settings, change.desired).map((field) => ({
      own: true,
      text: `${field} is ${JSON.stringify(live.settings[field])} instead of ${JSON.stringify(change.desired?.[field])}`,
    }))
  })
}

/** Matches both sides by content, as multisets, then the rest by identifier. */
function recordDifferences(
  certain: readonly Expected[],
  possible: readonly ResourceRecord[],
  live: readonly ExistingRecord[],
): Difference[] {
  const unmatched = new Map<string, ExistingRecord[]>()
  for (const record of live) append(unmatched, contentKey(record), record)
  const found = certain.map((expected) => ({ ...expected, live: take(unmatched, contentKey(expected.record), expected.record.id) }))
  const missing = found.filter((expected) => expected.live === undefined)
  for (const record of possible) take(unmatched, contentKey(record), undefined)
  const unexpected = new Map([...unmatched.values()].flat().map((record) => [identity(record), record]))
  const known = new Set(certain.map(({ record }) => contentKey(record)))
  return [
    ...missing.map(({ record, own }) => missingDifference(record, own, unexpected)),
    ...found.flatMap(({ record, own, live: now }) => (own && now !== undefined ? recordSettingDifferences(record, now) : [])),
    ...[...unexpected.values()].map((record) => ({ own: known.has(contentKey(record)), text: appeared(record, known) })),
  ].sort((a, b) => Number(b.own) - Number(a.own) || (a.text < b.text ? -1 : 1))
}

const recordSettingDifferences = (record: ExistingRecord, now: ExistingRecord): Difference[] =>
  conflictingSettings(record, now).map((key) => ({
    own: true,
    text: `${key} of ${subject(record)} ${dataOf(record)} is ${JSON.stringify(now.settings?.[key])} instead of ${JSON.stringify(record.settings?.[key])}`,
  }))

function missingDifference(record: ExistingRecord, own: boolean, unexpected: Map<number | string, ExistingRecord>): Difference {
  const now = record.id === undefined ? undefined : unexpected.get(record.id)
  if (now) unexpected.delete(identity(now))
  if (own) {
    const is = now === undefined ? 'but does not exist' : `but is ${dataOf(now, record)}`
    return { own, text: `${subject(record)} was set to ${dataOf(record)}, ${is}` }
  }
  const what =
    now === undefined
      ? `deleted ${subject(record)} ${dataOf(record)}`
      : `changed ${subject(record)} from ${dataOf(record)} to ${dataOf(now, record)}`
  return { own, text: `another client ${what} meanwhile` }
}

const appeared = (record: ExistingRecord, known: ReadonlySet<string>): string =>
  known.has(contentKey(record))
    ? `${subject(record)} ${dataOf(record)} exists more than once`
    : `another client created ${subject(record)} ${dataOf(record)} meanwhile`

const subject = ({ name, type }: ResourceRecord): string => `${name} ${type}`

/** Data with the TTL, and with the owner if it is not that of `beside`. */
function dataOf(record: ResourceRecord, beside: ResourceRecord = record): string {
  const data = excerpt(record.data, 100)
  const ttl = record.ttl === null ? '' : ` (TTL ${record.ttl})`
  return `${record.name === beside.name ? '' : `${subject(record)} `}${data}${ttl}`
}

/** Removes one record with this content, preferably the one with the identifier, and returns it; undefined without one. */
function take(map: Map<string, ExistingRecord[]>, key: string, id: number | string | undefined): ExistingRecord | undefined {
  const list = map.get(key)
  if (!list || list.length === 0) return undefined
  const index = list.length === 1 || id === undefined ? -1 : list.findIndex((record) => record.id === id)
  return list.splice(index === -1 ? list.length - 1 : index, 1)[0]
}

/** Describes how the stored record differs from the record sent; null if it does not. */
const alteredText = (sent: ResourceRecord, stored: ResourceRecord): string | null =>
  sameRecord(sent, stored)
    ? null
    : `${subject(sent)} was sent as ${dataOf(sent)}${settingsText(sent)} and stored as ${dataOf(stored, sent)}${settingsText(stored)}`

const settingsText = ({ settings }: ResourceRecord): string => (settings === undefined ? '' : ` ${JSON.stringify(settings)}`)
