/**
 * What became of calls whose answer was lost, told by reading the zone when the others have ended: never by sending them again. A creation
 * was carried out if a record like it is there that was not there before and that no other call made; an update or deletion by the record with its
 * identifier. What shows no trace was not carried out, unless the provider may be at it yet: then it stays in doubt.
 */
import { type ExistingRecord, sameRecord } from '../dns/record.ts'
import type { Change, Outcome, RecordChange } from '../plan/plan.ts'

type Identifier = number | string

export interface ZoneReread {
  /** The records before the run. */
  readonly before: readonly ExistingRecord[]
  /** The records after the calls; null where the zone is not there. */
  readonly live: readonly ExistingRecord[] | null
  /** Whether the call of the change with this index may be carried out even later. */
  readonly mayCompleteLater: (index: number) => boolean
}

/** Settles what can be settled. Outcomes that are not in doubt stay as they are. */
export function resolveUnknownOutcomes(changes: readonly Change[], outcomes: readonly Outcome[], reading: ZoneReread): Outcome[] {
  const { before, live } = reading
  const claimed = new Set<Identifier>(before.flatMap(({ id }) => (id === undefined ? [] : [id])))
  for (const outcome of outcomes) if (outcome.state === 'applied' && outcome.id !== undefined) claimed.add(outcome.id)
  const byId = new Map((live ?? []).flatMap((record) => (record.id === undefined ? [] : [[record.id, record] as const])))
  return outcomes.map((outcome, index) => {
    const change = changes[index] as Change
    if (outcome.state !== 'unknown') return outcome
    const doubt: Doubt = { outcome, open: reading.mayCompleteLater(index) }
    if (change.subject === 'domain') return settleDomain(change.action, doubt, live)
    if (change.action === 'create') return settleCreation(change, doubt, live ?? [], claimed)
    return settleById(change, doubt, change.id === null ? undefined : byId.get(change.id))
  })
}

interface Doubt {
  readonly outcome: Extract<Outcome, { state: 'unknown' }>
  readonly open: boolean
}

const notSeen = ({ outcome: { error }, open }: Doubt): Outcome =>
  open
    ? { state: 'unknown', error: `${error}; when the zone was read again it had not been carried out, which may come yet` }
    : { state: 'failed', error: `${error}; it was not carried out` }

function settleDomain(action: Change['action'], doubt: Doubt, live: readonly ExistingRecord[] | null): Outcome {
  if (action === 'update') return doubt.outcome
  return (action === 'create') === (live !== null) ? { state: 'applied' } : notSeen(doubt)
}

function settleCreation({ desired }: RecordChange, doubt: Doubt, live: readonly ExistingRecord[], claimed: Set<Identifier>): Outcome {
  const made = live.find((record) => desired !== null && record.id !== undefined && !claimed.has(record.id) && sameRecord(record, desired))
  if (made?.id === undefined) return notSeen(doubt)
  claimed.add(made.id)
  return { state: 'applied', id: made.id }
}

function settleById({ action, id, existing, desired }: RecordChange, doubt: Doubt, now: ExistingRecord | undefined): Outcome {
  const { error } = doubt.outcome
  const applied: Outcome = { state: 'applied', id: id ?? undefined }
  if (now === undefined) return action === 'delete' ? applied : { state: 'failed', error: `${error}; somebody else deleted the record` }
  if (desired !== null && sameRecord(now, desired)) return applied
  if (existing !== null && sameRecord(now, existing)) return notSeen(doubt)
  // Whether it was carried out before somebody else came, or not at all, no reading can tell.
  return { state: 'unknown', error: `${error}; somebody else changed the record` }
}
