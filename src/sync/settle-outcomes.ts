/**
 * What became of calls whose answer was lost, told by reading the zone: never by sending them again. A creation was carried out if a record like it
 * is there that was not there before and that no other call made; an update or deletion by the record with its identifier.
 */
import { type ExistingRecord, type ResourceRecord, recordKey } from '../model/record.ts'
import type { Change, RecordChange } from '../plan/change.ts'
import type { Outcome } from '../plan/plan.ts'

type Identifier = number | string

const sameContent = (a: ResourceRecord, b: ResourceRecord): boolean => a.ttl === b.ttl && recordKey(a) === recordKey(b)

/** Settles what can be settled; `live` are the records read after the calls, null where the zone is gone. */
export function settleOutcomes(
  changes: readonly Change[],
  outcomes: readonly Outcome[],
  before: readonly ExistingRecord[],
  live: readonly ExistingRecord[] | null,
): Outcome[] {
  const claimed = new Set<Identifier>(before.flatMap(({ id }) => (id === undefined ? [] : [id])))
  for (const outcome of outcomes) if (outcome.state === 'applied' && outcome.id !== undefined) claimed.add(outcome.id)
  const byId = new Map((live ?? []).flatMap((record) => (record.id === undefined ? [] : [[record.id, record] as const])))
  return outcomes.map((outcome, index) => {
    const change = changes[index] as Change
    if (outcome.state !== 'unknown') return outcome
    if (change.subject === 'domain') return settleDomain(change.action, outcome, live)
    if (change.action === 'create') return settleCreation(change, outcome, live ?? [], claimed)
    return settleById(change, outcome, change.id === null ? undefined : byId.get(change.id))
  })
}

type Unknown = Extract<Outcome, { state: 'unknown' }>

const notCarriedOut = ({ error }: Unknown): Outcome => ({ state: 'failed', error: `${error}; it was not carried out` })

function settleDomain(action: Change['action'], outcome: Unknown, live: readonly ExistingRecord[] | null): Outcome {
  if (action === 'update') return outcome
  return (action === 'create') === (live !== null) ? { state: 'applied' } : notCarriedOut(outcome)
}

function settleCreation({ desired }: RecordChange, outcome: Unknown, live: readonly ExistingRecord[], claimed: Set<Identifier>): Outcome {
  const made = live.find((record) => desired !== null && record.id !== undefined && !claimed.has(record.id) && sameContent(record, desired))
  if (made?.id === undefined) return notCarriedOut(outcome)
  claimed.add(made.id)
  return { state: 'applied', id: made.id }
}

function settleById({ action, id, existing, desired }: RecordChange, outcome: Unknown, now: ExistingRecord | undefined): Outcome {
  const applied: Outcome = { state: 'applied', id: id ?? undefined }
  if (now === undefined) return action === 'delete' ? applied : { state: 'failed', error: `${outcome.error}; the record is gone` }
  if (desired !== null && sameContent(now, desired)) return applied
  return existing !== null && sameContent(now, existing)
    ? notCarriedOut(outcome)
    : { state: 'failed', error: `${outcome.error}; somebody else changed the record` }
}
