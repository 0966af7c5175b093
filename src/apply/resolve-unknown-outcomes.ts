/**
 * Resolves calls without a response by reading the zone after all other calls, never by sending them again. A creation was applied if an equal record exists
 * that did not exist before and that no other call created. An update or deletion is judged by the record with its identifier. A call without a trace was
 * not applied, unless the provider may still complete it: then it stays unknown.
 */
import { type ExistingRecord, sameRecord } from '../dns/record.ts'
import type { Change, Outcome, RecordChange } from '../plan/plan.ts'

type Identifier = number | string

export interface ZoneReread {
  /** The records before the run. */
  readonly before: readonly ExistingRecord[]
  /** The records after the calls; null if the zone does not exist. */
  readonly live: readonly ExistingRecord[] | null
  /** Whether the provider may still complete the call of the change with this index. */
  readonly mayCompleteLater: (index: number) => boolean
}

/** Resolves unknown outcomes as far as possible. Other outcomes stay as they are. */
export function resolveUnknownOutcomes(changes: readonly Change[], outcomes: readonly Outcome[], reading: ZoneReread): Outcome[] {
  const { before, live } = reading
  const claimed = new Set<Identifier>(before.flatMap(({ id }) => (id === undefined ? [] : [id])))
  for (const outcome of outcomes) if (outcome.state === 'applied' && outcome.id !== undefined) claimed.add(outcome.id)
  const byId = new Map((live ?? []).flatMap((record) => (record.id === undefined ? [] : [[record.id, record] as const])))
  return outcomes.map((outcome, index) => {
    const change = changes[index] as Change
    if (outcome.state !== 'unknown') return outcome
    const unknown: Unknown = { outcome, open: reading.mayCompleteLater(index) }
    if (change.subject === 'domain') return resolveDomain(change.action, unknown, live)
    if (change.action === 'create') return resolveCreation(change, unknown, live ?? [], claimed)
    return resolveById(change, unknown, change.id === null ? undefined : byId.get(change.id))
  })
}

interface Unknown {
  readonly outcome: Extract<Outcome, { state: 'unknown' }>
  readonly open: boolean
}

const notSeen = ({ outcome: { error }, open }: Unknown): Outcome =>
  open
    ? { state: 'unknown', error: `${error}; when the zone was read again it had not been applied, but it still may be` }
    : { state: 'failed', error: `${error}; it was not applied` }

function resolveDomain(action: Change['action'], unknown: Unknown, live: readonly ExistingRecord[] | null): Outcome {
  if (action === 'update') return unknown.outcome
  return (action === 'create') === (live !== null) ? { state: 'applied' } : notSeen(unknown)
}

function resolveCreation({ desired }: RecordChange, unknown: Unknown, live: readonly ExistingRecord[], claimed: Set<Identifier>): Outcome {
  const created = live.find(
    (record) => desired !== null && record.id !== undefined && !claimed.has(record.id) && sameRecord(record, desired),
  )
  if (created?.id === undefined) return notSeen(unknown)
  claimed.add(created.id)
  return { state: 'applied', id: created.id }
}

function resolveById({ action, id, existing, desired }: RecordChange, unknown: Unknown, now: ExistingRecord | undefined): Outcome {
  const { error } = unknown.outcome
  const applied: Outcome = { state: 'applied', id: id ?? undefined }
  if (now === undefined) return action === 'delete' ? applied : { state: 'failed', error: `${error}; another client deleted the record` }
  if (desired !== null && sameRecord(now, desired)) return applied
  if (existing !== null && sameRecord(now, existing)) return notSeen(unknown)
  // Reading cannot show whether the call was applied before the other change, or not at all.
  return { state: 'unknown', error: `${error}; another client changed the record` }
}
