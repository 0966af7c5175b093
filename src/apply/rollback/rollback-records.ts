/**
 * The records of a rollback: a three-way merge per record set of the state before the run, the state after it (base) and the live state. A set that the run
 * did not change stays. A set that is still as the run left it is restored. A set that is already as before needs nothing. Any other set was changed again
 * since: it is a conflict, and stays unless it is overwritten.
 */
import type { DomainName } from '../../dns/domain-name.ts'
import { type ExistingRecord, groupRrsets, type ResourceRecord, rrsetKey } from '../../dns/record.ts'
import type { ZoneDifference } from '../../plan/compare-zones.ts'
import { conflicts } from '../../plan/record-conflicts.ts'

export interface RecordStates {
  readonly before: readonly ResourceRecord[]
  /** After the run. */
  readonly base: readonly ResourceRecord[]
  readonly live: readonly ExistingRecord[]
}

export interface RecordRollback {
  readonly removed: readonly ExistingRecord[]
  readonly added: readonly ResourceRecord[]
  readonly kept: readonly ExistingRecord[]
  readonly rrsets: ZoneDifference['rrsets']
  /** Conflicting sets (see `rrsetKey`) that are restored nevertheless. */
  readonly overwritten: ReadonlySet<string>
  /** Sets that the run changed and that were changed again, or cannot coexist with the rest of their name. */
  readonly conflicts: readonly RrsetConflict[]
  /** Sets that only other clients changed since the run. */
  readonly others: readonly RrsetChange[]
}

export interface RrsetChange {
  readonly name: DomainName
  readonly type: string
  readonly base: readonly ResourceRecord[]
  readonly live: readonly ResourceRecord[]
}

/** `changed`: by the run and again since. `beside`: the former records cannot coexist with records that were added at their name. */
export interface RrsetConflict extends RrsetChange {
  readonly reason: 'changed' | 'beside'
}

/** The three states of one record set. */
interface States {
  readonly name: DomainName
  readonly type: string
  readonly before: readonly ResourceRecord[]
  readonly base: readonly ResourceRecord[]
  readonly live: readonly ExistingRecord[]
  decision: 'keep' | 'restore' | 'conflict'
  reason: RrsetConflict['reason']
}

/** Merges the records, in linear time. `exclusive`: whether a CNAME must be alone at its name. */
export function rollBackRecords(states: RecordStates, exclusive: boolean, overwrite: boolean): RecordRollback {
  const sets = statesOf(states)
  for (const set of sets) set.decision = decide(set)
  if (exclusive) resolveNames(sets, overwrite)
  const conflicts = sets.filter(({ decision }) => decision === 'conflict')
  const isRestored = (set: States): boolean => set.decision === 'restore' || (overwrite && set.decision === 'conflict')
  const result = { removed: [] as ExistingRecord[], added: [] as ResourceRecord[], kept: [] as ExistingRecord[] }
  const removedSets: string[] = []
  const changed: string[] = []
  for (const set of sets) {
    const { removed, added, kept } = isRestored(set) ? between(set.live, set.before) : { removed: [], added: [], kept: set.live }
    for (const record of removed) result.removed.push(record)
    for (const record of added) result.added.push(record)
    for (const record of kept) result.kept.push(record)
    if (set.live.length === 0 || removed.length + added.length === 0) continue
    if (kept.length + added.length === 0) removedSets.push(rrsetKey(set))
    else changed.push(rrsetKey(set))
  }
  const existing = sets.filter(({ live }) => live.length > 0).length
  const others = sets.filter((set) => set.decision === 'keep' && isSame(set.before, set.base) && !isSame(set.live, set.base))
  const overwritten = new Set(overwrite ? conflicts.map(rrsetKey) : [])
  return { ...result, rrsets: { existing, removed: removedSets, changed }, overwritten, conflicts, others }
}

function statesOf({ before, base, live }: RecordStates): States[] {
  const groups = { before: groupRrsets(before), base: groupRrsets(base), live: groupRrsets(live) }
  const keys = new Set([...groups.before.keys(), ...groups.base.keys(), ...groups.live.keys()])
  return [...keys].map((key) => {
    const set = { before: groups.before.get(key) ?? [], base: groups.base.get(key) ?? [], live: groups.live.get(key) ?? [] }
    const { name, type } = (set.live[0] ?? set.base[0] ?? set.before[0]) as ResourceRecord
    return { name, type, ...set, decision: 'keep', reason: 'changed' }
  })
}

function decide({ before, base, live }: States): States['decision'] {
  if (isSame(before, base) || isSame(live, before)) return 'keep'
  return isSame(live, base) ? 'restore' : 'conflict'
}

const contentKey = ({ ttl, data }: ResourceRecord): string => `${ttl} ${data}`

/** Whether two states of a set have the same TTLs and data. Duplicates are ignored, since they are not worth restoring. */
function isSame(a: readonly ResourceRecord[], b: readonly ResourceRecord[]): boolean {
  if (a === b) return true
  const [contents, others] = [new Set(a.map(contentKey)), new Set(b.map(contentKey))]
  return contents.size === others.size && [...contents].every((content) => others.has(content))
}

/**
 * If restored records cannot coexist with others at their name, nothing is restored at that name, since half a rollback would be neither state; with
 * `overwrite`, the whole name is restored.
 */
function resolveNames(sets: readonly States[], overwrite: boolean): void {
  const byName = new Map<DomainName, States[]>()
  for (const set of sets) {
    const list = byName.get(set.name)
    if (list) list.push(set)
    else byName.set(set.name, [set])
  }
  for (const list of byName.values()) {
    const isRestored = (set: States): boolean => set.decision === 'restore' || (overwrite && set.decision === 'conflict')
    const returning = list.filter((set) => isRestored(set) && set.before.length > 0)
    const staying = list.filter((set) => !isRestored(set) && set.live.length > 0)
    const clashes = returning.some((set) =>
      staying.some((other) => conflicts(set.before[0] as ResourceRecord, other.live[0] as ResourceRecord)),
    )
    if (!clashes) continue
    const involved = overwrite ? staying.filter(({ before, live }) => !isSame(live, before)) : list.filter(isRestored)
    for (const set of involved) {
      if (set.decision !== 'conflict') set.reason = 'beside'
      set.decision = 'conflict'
    }
  }
}

/** The changes from the live set to the former one. Equal records are kept, and no record is added twice. */
function between(live: readonly ExistingRecord[], before: readonly ResourceRecord[]): Pick<RecordRollback, 'removed' | 'added' | 'kept'> {
  const wanted = new Map(before.map((record) => [contentKey(record), record]))
  const kept: ExistingRecord[] = []
  const removed: ExistingRecord[] = []
  for (const record of live) {
    if (wanted.delete(contentKey(record))) kept.push(record)
    else removed.push(record)
  }
  const present = new Set(kept.map(({ data }) => data))
  const added = [...wanted.values()].filter(({ data }) => !present.has(data) && present.add(data))
  return { removed, added, kept }
}
