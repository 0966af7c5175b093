/**
 * The records of a rollback, three-way and by record set: what was there before the run (goal), what the run left (base), what is live now. A set that
 * the run did not change is as it is. One that it changed and that is still as it left it goes back; one that is as before already needs nothing; one
 * that is neither was changed by both, and is left alone unless it is to be overwritten.
 */
import type { DomainName } from '../../dns/domain-name.ts'
import { type ExistingRecord, groupRrsets, type ResourceRecord, rrsetKey } from '../../dns/record.ts'
import type { ZoneDifference } from '../../plan/compare-zones.ts'
import { conflicts } from '../../plan/record-conflicts.ts'

export interface RecordStates {
  readonly before: readonly ResourceRecord[]
  /** What the run left. */
  readonly base: readonly ResourceRecord[]
  readonly live: readonly ExistingRecord[]
}

export interface RecordRollback {
  readonly removed: readonly ExistingRecord[]
  readonly added: readonly ResourceRecord[]
  readonly kept: readonly ExistingRecord[]
  readonly rrsets: ZoneDifference['rrsets']
  /** Sets (see `rrsetKey`) that others changed since and that go back nevertheless. */
  readonly overwritten: ReadonlySet<string>
  /** Sets that the run changed and that stay as they are, or are overwritten. */
  readonly conflicts: readonly RrsetConflict[]
  /** Sets that only others changed since. */
  readonly others: readonly RrsetChange[]
}

export interface RrsetChange {
  readonly name: DomainName
  readonly type: string
  readonly base: readonly ResourceRecord[]
  readonly live: readonly ResourceRecord[]
}

/** `changed`: by the run and again since. `beside`: what was there before cannot stand beside what others put at its name. */
export interface RrsetConflict extends RrsetChange {
  readonly reason: 'changed' | 'beside'
}

/** One record set in its three states. */
interface States {
  readonly name: DomainName
  readonly type: string
  readonly before: readonly ResourceRecord[]
  readonly base: readonly ResourceRecord[]
  readonly live: readonly ExistingRecord[]
  decision: 'stays' | 'back' | 'conflict'
  reason: RrsetConflict['reason']
}

/** What takes the records back. Linear in their number. `exclusive`: whether a CNAME must be alone at its name. */
export function rollBackRecords(states: RecordStates, exclusive: boolean, overwrite: boolean): RecordRollback {
  const sets = statesOf(states)
  for (const set of sets) set.decision = decide(set)
  if (exclusive) settleNames(sets, overwrite)
  const conflicts = sets.filter(({ decision }) => decision === 'conflict')
  const goesBack = (set: States): boolean => set.decision === 'back' || (overwrite && set.decision === 'conflict')
  const result = { removed: [] as ExistingRecord[], added: [] as ResourceRecord[], kept: [] as ExistingRecord[] }
  const removedSets: string[] = []
  const changed: string[] = []
  for (const set of sets) {
    const { removed, added, kept } = goesBack(set) ? between(set.live, set.before) : { removed: [], added: [], kept: set.live }
    for (const record of removed) result.removed.push(record)
    for (const record of added) result.added.push(record)
    for (const record of kept) result.kept.push(record)
    if (set.live.length === 0 || removed.length + added.length === 0) continue
    if (kept.length + added.length === 0) removedSets.push(rrsetKey(set))
    else changed.push(rrsetKey(set))
  }
  const existing = sets.filter(({ live }) => live.length > 0).length
  const others = sets.filter((set) => set.decision === 'stays' && isSame(set.before, set.base) && !isSame(set.live, set.base))
  const overwritten = new Set(overwrite ? conflicts.map(rrsetKey) : [])
  return { ...result, rrsets: { existing, removed: removedSets, changed }, overwritten, conflicts, others }
}

function statesOf({ before, base, live }: RecordStates): States[] {
  const groups = { before: groupRrsets(before), base: groupRrsets(base), live: groupRrsets(live) }
  const keys = new Set([...groups.before.keys(), ...groups.base.keys(), ...groups.live.keys()])
  return [...keys].map((key) => {
    const set = { before: groups.before.get(key) ?? [], base: groups.base.get(key) ?? [], live: groups.live.get(key) ?? [] }
    const { name, type } = (set.live[0] ?? set.base[0] ?? set.before[0]) as ResourceRecord
    return { name, type, ...set, decision: 'stays', reason: 'changed' }
  })
}

function decide({ before, base, live }: States): States['decision'] {
  if (isSame(before, base) || isSame(live, before)) return 'stays'
  return isSame(live, base) ? 'back' : 'conflict'
}

const contentKey = ({ ttl, data }: ResourceRecord): string => `${ttl} ${data}`

/** Whether two states of a set hold the same TTLs and data. A duplicate is a fault that nobody wants back: it does not count. */
function isSame(a: readonly ResourceRecord[], b: readonly ResourceRecord[]): boolean {
  if (a === b) return true
  const [contents, others] = [new Set(a.map(contentKey)), new Set(b.map(contentKey))]
  return contents.size === others.size && [...contents].every((content) => others.has(content))
}

/**
 * Where what comes back could not stand beside what is left at its name, nothing that the run did there is taken back, since half of it would be neither
 * the one state nor the other; or, overwriting, the whole name goes back.
 */
function settleNames(sets: readonly States[], overwrite: boolean): void {
  const byName = new Map<DomainName, States[]>()
  for (const set of sets) {
    const list = byName.get(set.name)
    if (list) list.push(set)
    else byName.set(set.name, [set])
  }
  for (const list of byName.values()) {
    const goesBack = (set: States): boolean => set.decision === 'back' || (overwrite && set.decision === 'conflict')
    const returning = list.filter((set) => goesBack(set) && set.before.length > 0)
    const staying = list.filter((set) => !goesBack(set) && set.live.length > 0)
    const clashes = returning.some((set) =>
      staying.some((other) => conflicts(set.before[0] as ResourceRecord, other.live[0] as ResourceRecord)),
    )
    if (!clashes) continue
    const involved = overwrite ? staying.filter(({ before, live }) => !isSame(live, before)) : list.filter(goesBack)
    for (const set of involved) {
      if (set.decision !== 'conflict') set.reason = 'beside'
      set.decision = 'conflict'
    }
  }
}

/** What makes the live set the one before: records that are equal stay. No record comes twice. */
function between(live: readonly ExistingRecord[], before: readonly ResourceRecord[]): Pick<RecordRollback, 'removed' | 'added' | 'kept'> {
  const wanted = new Map(before.map((record) => [contentKey(record), record]))
  const kept: ExistingRecord[] = []
  const removed: ExistingRecord[] = []
  for (const record of live) {
    if (wanted.delete(contentKey(record))) kept.push(record)
    else removed.push(record)
  }
  const there = new Set(kept.map(({ data }) => data))
  const added = [...wanted.values()].filter(({ data }) => !there.has(data) && there.add(data))
  return { removed, added, kept }
}
