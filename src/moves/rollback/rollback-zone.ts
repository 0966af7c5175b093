/** Plans the rollback of one zone from the run's changes to it and its live state. */
import { type Diagnostic, oneLine } from '../../base/diagnostic.ts'
import { listed } from '../../base/english.ts'
import { groupBy } from '../../base/group-by.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import {
  conflictingSettings,
  contentKey,
  type DefinedRecord,
  type ExistingRecord,
  groupRrsets,
  type ResourceRecord,
  rrsetKey,
  sameRecord,
} from '../../dns/record.ts'
import { type Allowance, DEFAULT_ZONE_OPTIONS, type ExistingZone, type ZoneSettings } from '../../dns/zone.ts'
import type { Capabilities } from '../../plan/capabilities.ts'
import { changesetsOf } from '../../plan/changesets.ts'
import { applyPolicy, type ZoneDifference } from '../../plan/compare-zones.ts'
import type { Preference } from '../../plan/continuity.ts'
import { differingSettings } from '../../plan/domain-change.ts'
import { fitToTarget } from '../../plan/fit-to-target.ts'
import { type Change, type DomainChange, finalRecords, type Outcome, type ZonePlan } from '../../plan/plan.ts'
import { planDifference } from '../../plan/plan-difference.ts'
import { conflicts as cannotCoexist } from '../../plan/record-conflicts.ts'
import type { SafetyThresholds } from '../../plan/safety-limits.ts'
import { type StoredTtls, withStoredTtl } from '../../plan/stored-ttls.ts'
import { resolveUnknownOutcomes } from '../../run/apply/judge-call.ts'
import { parseSavedRecord } from '../../stored/plans/parse-saved-change.ts'

export interface RollbackRules {
  readonly capabilities: Capabilities
  readonly thresholds: SafetyThresholds
  readonly allow: ReadonlySet<Allowance>
  readonly prefer?: Preference | undefined
  /** Whether to overwrite changes that other clients made since the run. */
  readonly overwrite: boolean
  /** None if absent. */
  readonly storedTtls?: StoredTtls | undefined
}

/** The plan of a run for a zone and its outcomes. */
export interface RunOnZone {
  /** The zone before the run; null if it did not exist. */
  readonly before: ExistingZone | null
  readonly plan: ZonePlan
  readonly outcomes: readonly Outcome[]
}

export interface ZoneRollback {
  readonly plan: ZonePlan
  /** Whether all changes of the run are undone. */
  readonly whole: boolean
}

/** The changes that a run made in a zone, with unknown outcomes resolved by the live zone. */
interface RunChanges {
  readonly before: ExistingZone | null
  readonly applied: readonly Change[]
  /** The records after the run; null if the zone did not exist then. */
  readonly after: readonly ResourceRecord[] | null
}

/** The changes that undo the run, before safety limits and scheduling. */
interface Reversal {
  readonly domain: DomainChange | null
  readonly removed: readonly ExistingRecord[]
  readonly added: readonly ResourceRecord[]
  readonly kept: readonly ExistingRecord[]
  readonly rrsets: ZoneDifference['rrsets']
  /** RRsets, by `rrsetKey`, whose later changes are overwritten. Only these are checked against the safety limits. */
  readonly overwritten: ReadonlySet<string>
  readonly deletesZone: boolean
  readonly diagnostics: readonly Diagnostic[]
  readonly whole: boolean
}

export function planZoneRollback(run: RunOnZone, live: ExistingZone | null, rules: RollbackRules): ZoneRollback {
  const { zone, target } = run.plan
  const runChanges = changesOfRun(run, live, rules)
  const reversal = reversalOf(runChanges, live, run.plan, rules)
  const fitted = fitRestored(reversal, run.plan, rules.capabilities)
  const { difference, diagnostics: stays } = permitted(withoutUnchanged(reversal, fitted.added), run.plan, rules.capabilities)
  const type = fitted.settings.type ?? live?.settings.type
  const plan = planDifference({
    zone,
    target,
    existing: live,
    capabilities: rules.capabilities,
    difference,
    unmanaged: run.plan.unmanaged,
    domain: reversal.domain?.desired ? { ...reversal.domain, desired: fitted.settings } : reversal.domain,
    hasRecordCalls: !reversal.deletesZone && type !== 'slave',
    deletesZone: reversal.deletesZone,
    desiredRecords: reversal.deletesZone ? 0 : difference.kept.length + difference.added.length,
    thresholds: rules.thresholds,
    allow: rules.allow,
    unreviewed: reversal.overwritten,
    rendered: 'unavailable',
    prefer: rules.prefer,
    diagnostics: [...reversal.diagnostics, ...fitted.diagnostics, ...stays],
  })
  const { owner } = run.plan
  const whole = reversal.whole && fitted.whole && stays.length === 0
  return { plan: owner === undefined ? plan : { ...plan, owner }, whole }
}

/** The part that a target permits where plans only create records, and a warning of what stays. */
function permitted(
  difference: ZoneDifference,
  { zone, target }: ZonePlan,
  { onlyCreates }: Capabilities,
): { readonly difference: ZoneDifference; readonly diagnostics: readonly Diagnostic[] } {
  if (onlyCreates === undefined || difference.removed.length === 0) return { difference, diagnostics: [] }
  const names = listed([...new Set(difference.removed.map(rrsetKey))].sort(), SHOWN)
  const message = `${zone} at ${target}: plans only create records, because ${onlyCreates}, and keep ${names}`
  const warning: Diagnostic = { severity: 'warning', code: 'rollback-conflict', message, hint: 'change them at the service' }
  return { difference: applyPolicy(difference, 'create-only'), diagnostics: [warning] }
}

function changesOfRun({ before, plan: { changes }, outcomes }: RunOnZone, live: ExistingZone | null, rules: RollbackRules): RunChanges {
  const records = before?.records ?? []
  const resolved = resolveUnknownOutcomes(changesetsOf(changes, records, rules.capabilities.calls), outcomes, {
    before: records,
    live: live?.records ?? null,
    mayCompleteLater: () => false,
  })
  const liveKeys = new Set(live?.records.map(contentKey))
  // A change of settings with an unknown outcome is compared field by field, like an applied one.
  const applied = changes.flatMap((change, index) => {
    const state = resolved[index]?.state
    if (state !== 'applied' && !(state === 'unknown' && change.subject === 'domain' && change.action === 'update')) return []
    if (change.subject === 'domain' || change.desired === null) return [change]
    // The target may have stored another TTL.
    const stored = withStoredTtl(change.desired, rules.storedTtls ?? new Map())
    return [liveKeys.has(contentKey(stored)) ? { ...change, desired: stored } : change]
  })
  const domain = applied.find(({ subject }) => subject === 'domain')
  const isThere = domain?.action === 'create' || (before !== null && domain?.action !== 'delete')
  return { before, applied, after: isThere ? finalRecords(records, applied) : null }
}

const NOTHING = {
  domain: null,
  removed: [],
  added: [],
  overwritten: new Set<string>(),
  deletesZone: false,
  diagnostics: [],
  whole: true,
} as const

function reversalOf(runChanges: RunChanges, live: ExistingZone | null, plan: ZonePlan, rules: RollbackRules): Reversal {
  const { before, after } = runChanges
  const liveRecords = (live?.records ?? []) as readonly ExistingRecord[]
  const unchanged = { ...NOTHING, kept: liveRecords, rrsets: { existing: 0, removed: [], changed: [] } }
  if (before === null) {
    if (after === null || live === null) return unchanged
    return deletionOf(runChanges, live, plan, rules, unchanged)
  }
  if (live === null) {
    const isConflict = after !== null && !rules.overwrite
    if (isConflict)
      return { ...unchanged, whole: false, diagnostics: [conflict(plan, 'the run changed it, and it was deleted since', rules)] }
    const created = { ...creationOf(before), added: before.records }
    return after === null ? created : { ...created, diagnostics: [conflict(plan, 'it was deleted since the run', rules)] }
  }
  if (after === null && !rules.overwrite)
    return { ...unchanged, whole: false, diagnostics: [conflict(plan, 'the run deleted it, and it was created again since', rules)] }
  return restoreZone(runChanges, before, live, plan, rules)
}

/** Deletes a zone that the run created, or leaves it if others have changed it. */
function deletionOf(
  { applied, after }: RunChanges,
  live: ExistingZone,
  plan: ZonePlan,
  rules: RollbackRules,
  unchanged: Reversal,
): Reversal {
  const creation = applied.find(({ subject }) => subject === 'domain') as DomainChange
  const records = rollBackRecords(
    { before: after ?? [], after: after ?? [], live: live.records },
    { cnameExclusive: false, overwrite: false },
  )
  const settings = differingSettings(live.settings, creation.desired ?? {})
  const changes = [...records.changedByOthers.map((set) => describeRrset(set)), ...settings.map((field) => `its ${field}`)]
  if (changes.length > 0 && !rules.overwrite) {
    const what = `the run created it, and another client changed ${shortList(changes)} since`
    return { ...unchanged, whole: false, diagnostics: [conflict(plan, what, rules)] }
  }
  const domain: DomainChange = {
    action: 'delete',
    subject: 'domain',
    name: plan.zone,
    type: null,
    id: live.id ?? null,
    existing: live.settings,
    desired: null,
    fields: [],
    call: 0,
    after: [],
  }
  const diagnostics =
    changes.length === 0 ? [] : [conflict(plan, `another client changed ${shortList(changes)} since the run created it`, rules)]
  return { ...NOTHING, domain, kept: live.records, rrsets: records.rrsets, deletesZone: true, diagnostics }
}

/** Creates a zone that the run deleted. Empty settings are left out. */
function creationOf({ name, settings }: ExistingZone): Omit<Reversal, 'added'> {
  const isSet = ([, value]: [string, unknown]): boolean =>
    value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0)
  const desired: ZoneSettings = { type: 'master', ...Object.fromEntries(Object.entries(settings).filter(isSet)) }
  const fields = Object.keys(desired).sort() as (keyof ZoneSettings)[]
  const domain: DomainChange = {
    action: 'create',
    subject: 'domain',
    name,
    type: null,
    id: null,
    existing: null,
    desired,
    fields,
    call: 0,
    after: [],
  }
  return { ...NOTHING, domain, kept: [], rrsets: { existing: 0, removed: [], changed: [] } }
}

function restoreZone(runChanges: RunChanges, before: ExistingZone, live: ExistingZone, plan: ZonePlan, rules: RollbackRules): Reversal {
  const states = { before: before.records, after: runChanges.after ?? [], live: live.records }
  const records = rollBackRecords(states, { cnameExclusive: rules.capabilities.cnameExclusive, overwrite: rules.overwrite })
  const settings = restoreSettings(runChanges, before, live, rules.overwrite)
  const diagnostics = [
    ...settings.conflicts.map((field) =>
      conflict(plan, `its ${field} was changed by the run, and is ${JSON.stringify(live.settings[field])} since`, rules),
    ),
    ...records.conflicts.map((set) => conflict(plan, conflictText(set, rules), rules)),
    ...keptNotices(records.changedByOthers, plan),
  ]
  const whole = rules.overwrite || settings.conflicts.length + records.conflicts.length === 0
  return { ...records, domain: settings.change, deletesZone: false, diagnostics, whole }
}

/** Merges settings field by field, like records RRset by RRset. All settings of a zone that another client created again are conflicts. */
function restoreSettings(
  { applied, after }: RunChanges,
  before: ExistingZone,
  live: ExistingZone,
  overwrite: boolean,
): { readonly change: DomainChange | null; readonly conflicts: readonly (keyof ZoneSettings)[] } {
  const update = applied.find((change) => change.subject === 'domain' && change.action === 'update') as DomainChange | undefined
  const concerned = after === null ? (Object.keys(before.settings) as (keyof ZoneSettings)[]) : (update?.fields ?? [])
  const fields: (keyof ZoneSettings)[] = []
  const conflicts: (keyof ZoneSettings)[] = []
  const differs = (field: keyof ZoneSettings, settings: ZoneSettings): boolean =>
    differingSettings(live.settings, { [field]: settings[field] }).length > 0
  for (const field of concerned) {
    if (before.settings[field] === undefined || !differs(field, before.settings)) continue
    const isConflict = after === null || differs(field, update?.desired ?? {})
    if (isConflict) conflicts.push(field)
    if (overwrite || !isConflict) fields.push(field)
  }
  if (fields.length === 0) return { change: null, conflicts }
  const only = (settings: ZoneSettings): ZoneSettings => Object.fromEntries(fields.map((field) => [field, settings[field]]))
  const common = {
    action: 'update',
    subject: 'domain',
    name: live.name,
    type: null,
    id: live.id ?? null,
    fields,
    call: 0,
    after: [],
  } as const
  return { change: { ...common, existing: only(live.settings), desired: only(before.settings) }, conflicts }
}

/** Fits the restored records and settings to the target, and warns of those that it cannot store. */
function fitRestored({ added, domain }: Reversal, { zone, target }: ZonePlan, capabilities: Capabilities) {
  const at = { file: 'journal', line: 1, column: 1 }
  const diagnostics: Diagnostic[] = []
  const records = added.flatMap((record) => {
    const { source: _, settings, ...content } = record
    const parsed = parseSavedRecord(content, zone)
    const own =
      settings && capabilities.recordSettings !== undefined ? { providerSettings: { [capabilities.recordSettings]: settings } } : {}
    if (parsed.ok) return [{ ...parsed.value, ...own, at }]
    const message = `${zone} at ${target}: ${record.name} ${record.type} cannot be restored: ${parsed.message}`
    diagnostics.push({ severity: 'warning', code: 'rollback-conflict', message })
    return []
  })
  const options = { ...DEFAULT_ZONE_OPTIONS, apexNs: 'manage', unsupported: 'skip' } as const
  const fitted = fitToTarget({ ...options, name: zone, at, settings: domain?.desired ?? {}, records }, target, capabilities)
  // The position is not in a file of the user.
  for (const { at: _, ...diagnostic } of fitted.diagnostics) diagnostics.push(diagnostic)
  return { added: fitted.records, settings: fitted.settings, diagnostics, whole: fitted.records.length === added.length }
}

/** Leaves out changes without an effect: if the target rounds a TTL of 30 to 300, there is nothing to restore. */
function withoutUnchanged({ removed, kept, rrsets }: Reversal, added: readonly DefinedRecord[]): ZoneDifference {
  const there = new Map(removed.map((record) => [contentKey(record), record]))
  const equalOf = (record: DefinedRecord) =>
    [there.get(contentKey(record))].find((other) => other !== undefined && sameRecord(other, record))
  const stays = new Set(added.flatMap((record) => equalOf(record) ?? []))
  const removals = removed.filter((record) => !stays.has(record))
  const additions = added.filter((record) => equalOf(record) === undefined)
  const touched = new Set([...removals, ...additions].map(rrsetKey))
  return {
    removed: removals,
    added: additions,
    kept: [...kept, ...stays],
    unmanaged: [],
    undescribable: [],
    surplus: [],
    rrsets: { ...rrsets, changed: rrsets.changed.filter((key) => touched.has(key)) },
  }
}

interface RecordStates {
  readonly before: readonly ResourceRecord[]
  readonly after: readonly ResourceRecord[]
  readonly live: readonly ExistingRecord[]
}

interface RecordRollback {
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

interface RrsetChange {
  readonly name: DomainName
  readonly type: string
  readonly after: readonly ResourceRecord[]
  readonly live: readonly ResourceRecord[]
}

/** `changed-again`: by the run, and again since. `cannot-coexist`: the previous records conflict with records that were added at their name. */
interface RrsetConflict extends RrsetChange {
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

interface MergeRules {
  /** Whether the provider refuses a CNAME beside other records. */
  readonly cnameExclusive: boolean
  /** Whether to restore conflicting RRsets. */
  readonly overwrite: boolean
}

/** Merges the records, in linear time. */
function rollBackRecords(states: RecordStates, { cnameExclusive, overwrite }: MergeRules): RecordRollback {
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

/** The changes from the live RRset to the previous one. Records with equal data are one record, whatever their TTLs (RFC 2181 section 5). */
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
function conflict({ zone, target }: ZonePlan, problem: string, { overwrite }: Overwriting): Diagnostic {
  const message = `${zone} at ${target}: ${problem}; it is ${overwrite ? 'overwritten' : 'left as it is'}`
  const hint = overwrite ? undefined : 'give --overwrite to restore the state before the run'
  return { severity: 'warning', code: 'rollback-conflict', message, hint }
}

function conflictText({ reason, ...set }: RrsetConflict, { overwrite }: Overwriting): string {
  if (reason === 'changed-again') return `${set.name} ${set.type} was changed by the run, and again since: ${describeRrset(set)}`
  return overwrite
    ? `${describeRrset(set)} conflicts with what is restored`
    : `the previous records at ${set.name} conflict with what was added there since, so ${set.type} is not restored`
}

/** Maximum RRsets that are listed. */
const SHOWN = 10

/** Notices about RRsets that only other clients changed since the run. */
function keptNotices(sets: readonly RrsetChange[], { zone, target }: ZonePlan): Diagnostic[] {
  const notice = (text: string): Diagnostic => ({ severity: 'notice', code: 'rollback-kept', message: `${zone} at ${target}: ${text}` })
  const shown = sets.slice(0, SHOWN).map((set) => notice(`another client changed ${describeRrset(set)} since the run; it is kept`))
  if (sets.length <= SHOWN) return shown
  return [...shown, notice(`${sets.length - SHOWN} more record sets that others changed since are kept`)]
}

const describeRrset = ({ name, type, after, live }: RrsetChange): string => `${name} ${type} (${dataText(live)}, was ${dataText(after)})`

const dataText = (records: readonly ResourceRecord[]): string =>
  records.length === 0 ? 'nothing' : shortList(records.map(({ ttl, data }) => `${ttl === null ? '' : `${ttl} `}${data.slice(0, 60)}`))

const shortList = (texts: readonly string[]): string => oneLine(listed(texts, 3))
