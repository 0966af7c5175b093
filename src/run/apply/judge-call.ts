/**
 * Judges by reading whether a call without a response was carried out. It was if its records are as desired, and was not if they are as expected before it.
 * Anything else is another client's work. Identifiers only narrow the search: a record is its owner, type and data.
 */
import { type ExistingRecord, groupRrsets, rrsetKey, sameRecord } from '../../dns/record.ts'
import { type Changeset, type RrsetImage, rrsetImage, sameImage } from '../../plan/changesets.ts'
import type { Change, Outcome, RecordChange } from '../../plan/plan.ts'

type Identifier = number | string

/** `conflict`: the record, RRset or zone is neither as expected nor as desired, in words that follow "another client". */
export type Verdict =
  | { readonly state: 'applied'; readonly id?: Identifier | undefined }
  | { readonly state: 'not-applied' }
  | { readonly state: 'conflict'; readonly act: string; readonly isGone: boolean }

const NOT_APPLIED: Verdict = { state: 'not-applied' }

/** Records by identifier and by RRset. */
export interface RecordIndex {
  readonly records: readonly ExistingRecord[]
  readonly byId: ReadonlyMap<Identifier, ExistingRecord>
  readonly sets: ReadonlyMap<string, readonly ExistingRecord[]>
}

export const indexRecords = (records: readonly ExistingRecord[]): RecordIndex => ({
  records,
  byId: new Map(records.flatMap((record) => (record.id === undefined ? [] : [[record.id, record] as const]))),
  sets: groupRrsets(records),
})

/**
 * One verdict per change of a call. `live`: at least all records with the owners and types of the changes. `claimed`: identifiers of records whose origin is
 * known; found creations are added.
 */
export function judgeCall(
  { changes, rrsets }: Pick<Changeset, 'changes' | 'rrsets'>,
  { sets, byId }: RecordIndex,
  claimed: Set<Identifier>,
): Verdict[] {
  const verdicts = new Map(
    rrsets.map((rrset) => {
      const now = rrsetImage(sets.get(rrsetKey(rrset)) ?? [])
      return [rrsetKey(rrset), judgeRrset(now, rrset.existing, rrset.desired)]
    }),
  )
  return changes.map((change) => {
    if (change.subject === 'domain') throw new Error('a zone is not judged by its records')
    return verdicts.get(rrsetKey(change)) ?? judgeRecord(change, sets.get(rrsetKey(change)) ?? [], byId, claimed)
  })
}

function judgeRrset(now: RrsetImage | null, existing: RrsetImage | null, desired: RrsetImage | null): Verdict {
  if (sameImage(now, desired)) return { state: 'applied' }
  if (sameImage(now, existing)) return NOT_APPLIED
  return { state: 'conflict', act: now === null ? 'deleted the records' : 'changed the records', isGone: now === null }
}

function judgeRecord(
  { action, id, existing, desired }: RecordChange,
  live: readonly ExistingRecord[],
  byId: ReadonlyMap<Identifier, ExistingRecord>,
  claimed: Set<Identifier>,
): Verdict {
  if (action === 'create') {
    const created = live.find(
      (record) => desired !== null && sameRecord(record, desired) && !(record.id !== undefined && claimed.has(record.id)),
    )
    if (created?.id !== undefined) claimed.add(created.id)
    return created === undefined ? NOT_APPLIED : { state: 'applied', id: created.id }
  }
  const now = id === null ? live.find((record) => isEither(record, existing, desired)) : byId.get(id)
  if (now === undefined)
    return action === 'delete' ? { state: 'applied', id: id ?? undefined } : { state: 'conflict', act: 'deleted the record', isGone: true }
  if (desired !== null && sameRecord(now, desired)) return { state: 'applied', id: id ?? undefined }
  if (existing !== null && sameRecord(now, existing)) return NOT_APPLIED
  return { state: 'conflict', act: 'changed the record', isGone: false }
}

const isEither = (record: ExistingRecord, ...others: readonly (RecordChange['existing'] | null)[]): boolean =>
  others.some((other) => other !== null && sameRecord(record, other))

/** A zone reread after all calls of a run. */
export interface ZoneReread {
  /** The records before the run. */
  readonly before: readonly ExistingRecord[]
  /** The records after the calls; null if the zone does not exist. */
  readonly live: readonly ExistingRecord[] | null
  /** Whether the provider may still complete the call of the change with this index. */
  readonly mayCompleteLater: (index: number) => boolean
}

/** Resolves unknown outcomes as far as possible, never by sending a call again. Other outcomes stay as they are. */
export function resolveUnknownOutcomes(calls: readonly Changeset[], outcomes: readonly Outcome[], reading: ZoneReread): Outcome[] {
  const { before, live } = reading
  const claimed = new Set<Identifier>(before.flatMap(({ id }) => (id === undefined ? [] : [id])))
  for (const outcome of outcomes) if (outcome.state === 'applied' && outcome.id !== undefined) claimed.add(outcome.id)
  const resolved = [...outcomes]
  const index = live === null ? null : indexRecords(live)
  for (const call of calls) {
    if (call.indexes.every((at) => outcomes[at]?.state !== 'unknown')) continue
    const verdicts = verdictsOf(call, index, claimed)
    for (const [position, at] of call.indexes.entries()) {
      const outcome = outcomes[at] as Outcome
      const verdict = verdicts?.[position]
      if (outcome.state === 'unknown' && verdict !== undefined)
        resolved[at] = outcomeOf(verdict, outcome.error, reading.mayCompleteLater(at))
    }
  }
  return resolved
}

/** Null if reading the zone cannot show it. */
function verdictsOf(call: Changeset, live: RecordIndex | null, claimed: Set<Identifier>): Verdict[] | null {
  const [first] = call.changes as [Change]
  if (first.subject === 'record') return judgeCall(call, live ?? indexRecords([]), claimed)
  if (first.action === 'update') return null
  if (first.action === 'create') return judgeCreation(call, live, claimed, undefined)
  return [live === null ? { state: 'applied' } : NOT_APPLIED]
}

/** One verdict per change of a call that creates a zone, alone or with records. `live`: the zone's records; null if the zone does not exist. */
export function judgeCreation(
  { changes, rrsets }: Pick<Changeset, 'changes' | 'rrsets'>,
  live: RecordIndex | null,
  claimed: Set<Identifier>,
  id: Identifier | undefined,
): Verdict[] {
  if (live === null) return changes.map(() => NOT_APPLIED)
  return [{ state: 'applied', id }, ...judgeCall({ changes: changes.slice(1), rrsets }, live, claimed)]
}

/** The outcome of a call without a response. */
export function outcomeOf(verdict: Verdict, error: string, mayCompleteLater: boolean): Outcome {
  switch (verdict.state) {
    case 'applied':
      return verdict
    case 'not-applied':
      return mayCompleteLater
        ? { state: 'unknown', error: `${error}; when the zone was read again it had not been applied, but it still may be` }
        : { state: 'failed', error: `${error}; it was not applied` }
    case 'conflict': {
      // Unless the record is gone, reading cannot show whether the call was applied before the other change, or not at all.
      const text = `${error}; another client ${verdict.act}`
      return { state: verdict.isGone ? 'failed' : 'unknown', error: text }
    }
  }
}
