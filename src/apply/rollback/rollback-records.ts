/**
 * The records of a rollback: a three-way merge per RRset. The common ancestor is the state after the run. The rollback changes it to the state before the
 * run; other clients may have changed it to the live state. An RRset that the run did not change stays. An RRset that is still as after the run is restored. An
 * RRset that is as before the run again needs nothing. Any other RRset was changed again since: it is a conflict, and stays unless it is overwritten.
 */

import { type Diagnostic, oneLine } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { groupBy } from '../../dns/group-by.ts'
import { conflictingSettings, type ExistingRecord, groupRrsets, type ResourceRecord, rrsetKey } from '../../dns/record.ts'
import type { ZoneDifference } from '../../plan/compare-zones.ts'
import type { ZonePlan } from '../../plan/plan.ts'
import { conflicts as cannotCoexist } from '../../plan/record-conflicts.ts'
import { listed } from '../../report/english.ts'

export interface RecordStates {
  readonly before: readonly ResourceRecord[]
  readonly after: readonly ResourceRecord[]
  readonly live: readonly ExistingRecord[]
}

export interface RecordRollback {
  readonly removed: readonly ExistingRecord[]
  readonly added: readonly ResourceRecord[]
  readonly kept: readonly ExistingRecord[]
  readonly rrsets: ZoneDifference['rrsets']
  /** The conflicting RRsets that are restored nevertheless, by `rrsetKey`. */
  readonly overwritten: ReadonlySet<string>
  /** RRsets that the run changed and that were changed again, or that cannot coexist with others at their name. */
  readonly conflicts: readonly RrsetConflict[]
  /** RRsets that only other clients changed since the run. */
  readonly changedByOthers: readonly RrsetChange[]
}

export interface RrsetChange {
  readonly name: DomainName
  readonly type: string
  readonly after: readonly ResourceRecord[]
  readonly live: readonly ResourceRecord[]
}

/** `changed-again`: by the run, and again since. `cannot-coexist`: the former records conflict with records that were added at their name. */
export interface RrsetConflict extends RrsetChange {
  readonly reason: 'changed-again' | 'cannot-coexist'
}

/** The three states of one RRset, and what the merge does with it. */
interface RrsetStates {
  readonly name: DomainName
  readonly type: string
  readonly before: readonly ResourceRecord[]
  readonly after: readonly ResourceRecord[]
  readonly live: readonly ExistingRecord[]
  decision: 'keep' | 'restore' | 'conflict'
  reason: RrsetConflict['reason']
}

export interface MergeRules {
  /** Whether the provider refuses a CNAME beside other records. */
  readonly cnameExclusive: boolean
  /** Whether to restore conflicting RRsets. */
  readonly overwrite: boolean
}

/** Merges the records, in linear time. */
export function rollBackRecords(states: RecordStates, { cnameExclusive, overwrite }: MergeRules): RecordRollback {
  const sets = groupStates(states)
  for (const set of sets) set.decision = decide(set)
  if (cnameExclusive) resolveClashes(sets, overwrite)
  const conflicting = sets.filter(({ decision }) => decision === 'conflict')
  const result = { removed: [] as ExistingRecord[], added: [] as ResourceRecord[], kept: [] as ExistingRecord[] }
  const removedSets: string[] = []
  const changed: string[] = []
  for (const set of sets) {
    const { removed, added, kept } = isRestored(set, overwrite)
      ? changesFromLive(set.live, set.before)
      : { removed: [], added: [], kept: set.live }
    for (const record of removed) result.removed.push(record)
    for (const record of added) result.added.push(record)
    for (const record of kept) result.kept.push(record)
    if (set.live.length === 0 || removed.length + added.length === 0) continue
    if (kept.length + added.length === 0) removedSets.push(rrsetKey(set))
    else changed.push(rrsetKey(set))
  }
  const liveRrsets = sets.filter(({ live }) => live.length > 0).length
  const changedByOthers = sets.filter((set) => set.decision === 'keep' && isSame(set.before, set.after) && !isSame(set.live, set.after))
  const overwritten = new Set(overwrite ? conflicting.map(rrsetKey) : [])
  return {
    ...result,
    rrsets: { existing: liveRrsets, removed: removedSets, changed },
    overwritten,
    conflicts: conflicting,
    changedByOthers,
  }
}

const isRestored = ({ decision }: RrsetStates, overwrite: boolean): boolean =>
  decision === 'restore' || (overwrite && decision === 'conflict')

/** The states of every RRset that one of the three states has. */
function groupStates({ before, after, live }: RecordStates): RrsetStates[] {
  const groups = { before: groupRrsets(before), after: groupRrsets(after), live: groupRrsets(live) }
  const keys = new Set([...groups.before.keys(), ...groups.after.keys(), ...groups.live.keys()])
  return [...keys].map((key) => {
    const set = { before: groups.before.get(key) ?? [], after: groups.after.get(key) ?? [], live: groups.live.get(key) ?? [] }
    const { name, type } = (set.live[0] ?? set.after[0] ?? set.before[0]) as ResourceRecord
    return { name, type, ...set, decision: 'keep', reason: 'changed-again' }
  })
}

function decide({ before, after, live }: RrsetStates): RrsetStates['decision'] {
  if (isSame(before, after) || isSame(live, before)) return 'keep'
  return isSame(live, after) ? 'restore' : 'conflict'
}

const ttlAndData = ({ ttl, data }: ResourceRecord): string => `${ttl} ${data}`

type Contents = ReadonlyMap<string, ResourceRecord>

function isEqualIn(records: Contents, content: string, record: ResourceRecord): boolean {
  const other = records.get(content)
  return other !== undefined && conflictingSettings(other, record).length === 0
}

/** Whether two states of an RRset have the same TTLs, data and settings. Duplicates are ignored, since they are not worth restoring. */
function isSame(a: readonly ResourceRecord[], b: readonly ResourceRecord[]): boolean {
  if (a === b) return true
  const [contents, others] = [a, b].map((records) => new Map(records.map((record) => [ttlAndData(record), record]))) as unknown as [
    Contents,
    Contents,
  ]
  return contents.size === others.size && [...contents].every(([content, record]) => isEqualIn(others, content, record))
}

/**
 * If restored records cannot coexist with others at their name, nothing is restored at that name, since a partial rollback would leave records together that
 * never existed together. With `overwrite`, the whole name is restored.
 */
function resolveClashes(sets: readonly RrsetStates[], overwrite: boolean): void {
  for (const list of groupBy(sets, ({ name }) => name).values()) {
    const returning = list.filter((set) => isRestored(set, overwrite) && set.before.length > 0)
    const staying = list.filter((set) => !isRestored(set, overwrite) && set.live.length > 0)
    const clashes = returning.some((set) =>
      staying.some((other) => cannotCoexist(set.before[0] as ResourceRecord, other.live[0] as ResourceRecord)),
    )
    if (!clashes) continue
    // With `overwrite`, the staying RRsets are restored, too; otherwise the restored ones stay.
    const involved = overwrite
      ? staying.filter(({ before, live }) => !isSame(live, before))
      : list.filter((set) => isRestored(set, overwrite))
    for (const set of involved) {
      if (set.decision !== 'conflict') set.reason = 'cannot-coexist'
      set.decision = 'conflict'
    }
  }
}

/** The changes from the live RRset to the former one. Records with equal data are one record, whatever their TTLs (RFC 2181 section 5). */
function changesFromLive(
  live: readonly ExistingRecord[],
  before: readonly ResourceRecord[],
): Pick<RecordRollback, 'removed' | 'added' | 'kept'> {
  const wanted = new Map(before.map((record) => [ttlAndData(record), record]))
  const kept: ExistingRecord[] = []
  const removed: ExistingRecord[] = []
  for (const record of live) {
    if (isEqualIn(wanted, ttlAndData(record), record) && wanted.delete(ttlAndData(record))) kept.push(record)
    else removed.push(record)
  }
  const present = new Set(kept.map(({ data }) => data))
  const added: ResourceRecord[] = []
  for (const record of wanted.values()) {
    if (!present.has(record.data)) added.push(record)
    present.add(record.data)
  }
  return { removed, added, kept }
}

/** Whether conflicting changes are overwritten. */
interface Overwriting {
  readonly overwrite: boolean
}

/** A warning that a part of the zone was changed again since the run. */
export function conflict({ zone, target }: ZonePlan, problem: string, { overwrite }: Overwriting): Diagnostic {
  const message = `${zone} at ${target}: ${problem}; it is ${overwrite ? 'overwritten' : 'left as it is'}`
  const hint = overwrite ? undefined : 'give --overwrite to restore the state before the run'
  return { severity: 'warning', code: 'rollback-conflict', message, hint }
}

export function conflictText({ reason, ...set }: RrsetConflict, { overwrite }: Overwriting): string {
  if (reason === 'changed-again') return `${set.name} ${set.type} was changed by the run, and again since: ${describeRrset(set)}`
  return overwrite
    ? `${describeRrset(set)} conflicts with what is restored`
    : `the former records at ${set.name} conflict with what was added there since, so ${set.type} is not restored`
}

/** Maximum RRsets that are listed. */
const SHOWN = 10

/** Notices about RRsets that only other clients changed since the run. */
export function keptNotices(sets: readonly RrsetChange[], { zone, target }: ZonePlan): Diagnostic[] {
  const notice = (text: string): Diagnostic => ({ severity: 'notice', code: 'rollback-kept', message: `${zone} at ${target}: ${text}` })
  const shown = sets.slice(0, SHOWN).map((set) => notice(`another client changed ${describeRrset(set)} since the run; it is kept`))
  if (sets.length <= SHOWN) return shown
  return [...shown, notice(`${sets.length - SHOWN} more record sets that others changed since are kept`)]
}

export const describeRrset = ({ name, type, after, live }: RrsetChange): string =>
  `${name} ${type} (${dataText(live)}, was ${dataText(after)})`

const dataText = (records: readonly ResourceRecord[]): string =>
  records.length === 0 ? 'nothing' : shortList(records.map(({ ttl, data }) => `${ttl === null ? '' : `${ttl} `}${data.slice(0, 60)}`))

export const shortList = (texts: readonly string[]): string => oneLine(listed(texts, 3))
