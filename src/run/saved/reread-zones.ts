/** Reads zones again before a saved plan, or a plan that was reviewed for long, is applied. Compares them with the state that the plan was made from. */
import { type Diagnostic, isError } from '../../base/diagnostic.ts'
import { agreeing, counted } from '../../base/english.ts'
import { groupBy } from '../../base/group-by.ts'
import { excerpt } from '../../base/text.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { compareRecords, contentKey, type ExistingRecord, type ResourceRecord, recordKey } from '../../dns/record.ts'
import { unmanagedTest } from '../../dns/unmanaged.ts'
import type { ExistingZone, ZoneSettings } from '../../dns/zone.ts'
import type { Capabilities } from '../../plan/capabilities.ts'
import { differingSettings } from '../../plan/domain-change.ts'
import { finalRecords, fingerprint, type ZonePlan } from '../../plan/plan.ts'
import { hasChanges, type PlannedZone, type PlannedZones } from '../../plan/planned-zone.ts'
import { conflicts } from '../../plan/record-conflicts.ts'
import { diagnosticOf, type Provider, type ZoneReference, type ZoneSnapshot } from '../../providers/provider.ts'
import type { SavedPlan } from '../../stored/plans/saved-plan.ts'
import { outdatedPlan } from '../../stored/store/fences.ts'
import type { ApplicableZone, ChangesToMake } from '../apply/apply-zones.ts'
import type { LockedRun } from '../apply/locked-run.ts'
import { type ApplyContext, forEachZone, type SupersededZones } from '../context/run-context.ts'
import { movingZones } from '../load/cutover-state.ts'

/** Differences listed per zone. */
const SHOWN = 20

/** Milliseconds after which a zone is read again before it is changed. */
const LONG_PAUSE = 30_000

/**
 * Reads the zones of a saved plan. A zone that has changed since the plan was made gets an error in its plan, and so does one that another run has changed or a
 * cutover is moving, whatever it looks like.
 */
export async function rereadSavedPlan(context: ApplyContext, saved: SavedPlan, { fences }: LockedRun): Promise<ChangesToMake> {
  const isShared = context.workspace.config?.journalStore.isShared ?? false
  const made = saved.snapshot?.created ?? saved.created
  const plans = saved.zones.map(({ plan }) => plan)
  const outdated = new Map<ZonePlan, Diagnostic>(await movingZones(context.workspace.journal, plans))
  for (const plan of plans) {
    const problem = plan.changes.length === 0 ? null : outdatedPlan(fences, { isShared }, plan, made)
    if (problem !== null) outdated.set(plan, problem)
  }
  return { ...(await reread(context, saved, `the plan was made (${saved.created})`, outdated)), isSaved: true }
}

/** Reads the zones of a plan again that waited for consent for `pause` milliseconds. After a short pause, returns the plan itself. */
export const rereadAfterPause = async (context: ApplyContext, planned: ChangesToMake, pause: number): Promise<ChangesToMake> =>
  pause <= LONG_PAUSE ? planned : reread(context, planned, 'it was read for this plan')

async function reread<Planned extends PlannedZones>(
  context: ApplyContext,
  planned: Planned,
  since: string,
  outdated: ReadonlyMap<ZonePlan, Diagnostic> = new Map(),
): Promise<Planned & PlannedZones<ApplicableZone>> {
  const { output, environment, workspace } = context
  const { providers } = workspace
  const { signal } = environment.interruption
  const options = { providers, since, superseded: await environment.superseded?.(), outdated, signal }
  const pending = planned.zones.filter(hasChanges)
  const references = await findReferences(providers, pending, signal)
  const read = await forEachZone(output, 'reading', pending, (zone) => rereadZone(zone, references.get(zone.plan.target), options))
  output.diagnostics([...new Set(read.flatMap(({ diagnostics }) => diagnostics))], { also: 'with-zones' })
  const byPlan = new Map(pending.map(({ plan }, index) => [plan, read[index] as RereadZone]))
  const zones = planned.zones.map(({ plan }): ApplicableZone => {
    const { diagnostics, ...zone } = byPlan.get(plan) ?? { plan, reference: null, existing: null, diagnostics: [] }
    return diagnostics.length === 0 ? zone : { ...zone, plan: refusedPlan(plan, diagnostics) }
  })
  return { ...planned, zones }
}

interface RereadOptions {
  readonly providers: ReadonlyMap<string, Provider>
  /** When the plans were made, worded to follow "has changed since". */
  readonly since: string
  readonly superseded: SupersededZones | undefined
  /** The plans that another run has made useless, or a cutover for now. */
  readonly outdated: ReadonlyMap<ZonePlan, Diagnostic>
  readonly signal: AbortSignal
}

interface RereadZone extends ApplicableZone {
  /** Empty if the zone has not changed. */
  readonly diagnostics: readonly Diagnostic[]
}

const refusedPlan = (plan: ZonePlan, found: readonly Diagnostic[]): ZonePlan => ({
  ...plan,
  refused: found.filter(isError).every(({ code }) => code === 'plan-stale' || code === 'plan-outdated') ? 'moved' : 'unread',
  diagnostics: [...plan.diagnostics, ...found],
})

type References = ReadonlyMap<DomainName, ZoneReference> | Diagnostic

/** The existing zones of each target, or the error of the request. */
export async function findReferences(
  providers: ReadonlyMap<string, Provider>,
  zones: readonly Pick<PlannedZone, 'plan'>[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, References>> {
  const entries = [...groupBy(zones, ({ plan }) => plan.target)].map(async ([target, own]): Promise<readonly [string, References]> => {
    const names = own.map(({ plan }) => plan.zone)
    try {
      return [target, await providerOf(providers, target).findZones(names, { signal })]
    } catch (error) {
      return [target, diagnosticOf(error)]
    }
  })
  return new Map(await Promise.all(entries))
}

function providerOf(providers: RereadOptions['providers'], target: string): Provider {
  const provider = providers.get(target)
  if (!provider) throw new Error(`no provider ${target}`)
  return provider
}

async function rereadZone(
  { plan, existing }: PlannedZone,
  references: References | undefined,
  options: RereadOptions,
): Promise<RereadZone> {
  const notRead = (problem: Diagnostic) => ({ plan, reference: null, existing: null, diagnostics: [problem] })
  if (options.superseded?.names.has(plan.zone)) return notRead(supersededDiagnostic(plan, options.superseded))
  if (references === undefined) throw new Error(`no zones of ${plan.target}`)
  if (!(references instanceof Map)) return notRead(references as Diagnostic)
  const reference = references.get(plan.zone) ?? null
  try {
    const provider = providerOf(options.providers, plan.target)
    const readAt = performance.now()
    const live = reference && (await provider.readZone(reference, { signal: options.signal }))
    const moved =
      movedState(existing, live, unmanagedTest(plan.unmanaged ?? [], plan.zone, { live: [existing, live] })) ??
      obstructiveUnmanagedRecords(plan, existing, live, provider.capabilities)
    const outdated = options.outdated.get(plan)
    if (moved === null && outdated !== undefined) return notRead(outdated)
    if (moved === null) return { plan: recounted(plan, live), reference, existing: live, readAt, diagnostics: [] }
    return {
      plan,
      reference,
      existing: live,
      diagnostics: [...staleDiagnostics(plan, existing, live, moved, options.since), ...noticeOf(outdated)],
    }
  } catch (error) {
    return notRead(diagnosticOf(error))
  }
}

/** Names the run that has changed the zone, beside what has changed. */
const noticeOf = (outdated: Diagnostic | undefined): Diagnostic[] =>
  outdated === undefined ? [] : [{ severity: 'notice', code: 'plan-stale', message: outdated.message }]

/** Updates the record counts of a plan whose zone has not changed: the number of unmanaged records may have. */
function recounted(plan: ZonePlan, live: ExistingZone | null): ZonePlan {
  const { records } = plan
  const more = live === null ? 0 : live.records.length - records.existing
  return more === 0 ? plan : { ...plan, records: { ...records, existing: records.existing + more, unmanaged: records.unmanaged + more } }
}

const supersededDiagnostic = ({ zone }: ZonePlan, { branch }: SupersededZones): Diagnostic => ({
  severity: 'error',
  code: 'plan-stale',
  message: `the definition of ${zone} has changed since the plan was made: a later commit on ${branch} describes the zone otherwise`,
  hint: 'the job of the later commit plans and applies it',
})

/** An error, and a notice for each of the first differences. */
function staleDiagnostics(
  plan: ZonePlan,
  before: ExistingZone | null,
  live: ZoneSnapshot | null,
  { summary, details }: MovedState,
  since: string,
): Diagnostic[] {
  const about = `${plan.zone} at ${plan.target}`
  const done = isAsPlanned(plan, before, live)
  return [
    {
      severity: 'error',
      code: 'plan-stale',
      message: `${about} has changed since ${since}: ${summary}${details.length > SHOWN ? `; the first ${SHOWN} differences are shown` : ''}`,
      hint: done ? 'the zone already is as planned: the plan has been applied' : 'plan again and review the changes',
    },
    ...details.slice(0, SHOWN).map((detail): Diagnostic => ({ severity: 'notice', code: 'plan-stale', message: `${about}: ${detail}` })),
  ]
}

interface MovedState {
  /** `2 records added, 1 changed`. */
  readonly summary: string
  /** One line per difference, sorted by owner. */
  readonly details: readonly string[]
}

/** Describes how a zone (null if it does not exist) differs from its earlier state; null if it does not. Unmanaged records are not compared. */
export function movedState(
  before: ExistingZone | null,
  now: ExistingZone | null,
  isUnmanaged: (record: ResourceRecord) => boolean = () => false,
): MovedState | null {
  if (before === null && now === null) return null
  if (before === null)
    return { summary: `it did not exist, and now exists with ${counted(now?.records.length ?? 0, 'record')}`, details: [] }
  if (now === null) return { summary: `it no longer exists; it had ${counted(before.records.length, 'record')}`, details: [] }
  if (fingerprint(before, isUnmanaged) === fingerprint(now, isUnmanaged)) return null
  const recreated =
    before.id === now.id ? [] : [`it was deleted and created again: its identifier is ${shownId(now.id)}, and was ${shownId(before.id)}`]
  const settings = settingDetails(before.settings, now.settings)
  const managed = (zone: ExistingZone): ExistingRecord[] => zone.records.filter((record) => !isUnmanaged(record))
  const records = recordDifferences(managed(before), managed(now))
  const figures = [
    ...recreated,
    figure(records.added.length, 'record', 'added'),
    figure(records.changed.length, 'record', 'changed'),
    figure(records.removed.length, 'record', 'removed'),
    figure(records.replaced.length, 'record', 'replaced by an equal one'),
    figure(settings.length, 'setting', 'changed'),
  ].filter((text) => text !== '')
  return { summary: figures.join(', '), details: [...settings, ...detailsOf(records)] }
}

const figure = (count: number, what: string, happened: string): string => (count === 0 ? '' : `${counted(count, what)} ${happened}`)

const shownId = (id: number | string | undefined): string => JSON.stringify(id ?? null)

function settingDetails(before: ZoneSettings, now: ZoneSettings): string[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort() as (keyof ZoneSettings)[]
  return keys.flatMap((key) => {
    const [was, is] = [JSON.stringify(before[key]), JSON.stringify(now[key])]
    return was === is ? [] : [`${key} is ${is ?? 'not set'}, and was ${was ?? 'not set'}`]
  })
}

interface RecordDifferences {
  readonly added: readonly ExistingRecord[]
  readonly removed: readonly ExistingRecord[]
  readonly changed: readonly { readonly was: ExistingRecord; readonly is: ExistingRecord }[]
  /** The same content with another identifier: deleted and created again. */
  readonly replaced: readonly { readonly was: ExistingRecord; readonly is: ExistingRecord }[]
}

/** Matches records by identifier, or by content without one. */
function recordDifferences(before: readonly ExistingRecord[], now: readonly ExistingRecord[]): RecordDifferences {
  const byId = new Map(before.flatMap((record) => (record.id === undefined ? [] : [[record.id, record] as const])))
  const changed: { was: ExistingRecord; is: ExistingRecord }[] = []
  const unmatched: ExistingRecord[] = []
  const matched = new Set<ExistingRecord>()
  for (const is of now) {
    const was = is.id === undefined ? undefined : byId.get(is.id)
    if (was === undefined || matched.has(was)) unmatched.push(is)
    else {
      matched.add(was)
      if (contentKey(was) !== contentKey(is)) changed.push({ was, is })
    }
  }
  const remaining = groupBy(
    before.filter((record) => !matched.has(record)),
    contentKey,
  )
  const added: ExistingRecord[] = []
  const replaced: { was: ExistingRecord; is: ExistingRecord }[] = []
  for (const is of unmatched) {
    const was = remaining.get(contentKey(is))?.pop()
    if (was === undefined) added.push(is)
    else if (was.id !== is.id) replaced.push({ was, is })
  }
  return { added, removed: [...remaining.values()].flat(), changed, replaced }
}

function detailsOf({ added, removed, changed, replaced }: RecordDifferences): string[] {
  const lines: { record: ResourceRecord; text: string }[] = [
    ...added.map((record) => ({ record, text: `added ${describeRecord(record)}` })),
    ...removed.map((record) => ({ record, text: `removed ${describeRecord(record)}` })),
    ...changed.map(({ was, is }) => ({ record: was, text: `changed ${describeRecord(was)} to ${describeRecord(is)}` })),
    ...replaced.map(({ was, is }) => ({
      record: was,
      text: `replaced ${describeRecord(was)} by an equal one: its identifier is ${shownId(is.id)}, and was ${shownId(was.id)}`,
    })),
  ]
  return lines.sort((a, b) => compareRecords(a.record, b.record)).map(({ text }) => text)
}

const describeRecord = ({ name, type, ttl, data }: ResourceRecord): string => `${name} ${ttl ?? 'default'} ${type} ${excerpt(data, 200)}`

/** Whether a zone is now as if all changes of its plan had been applied to its earlier state. */
function isAsPlanned({ zone, changes, unmanaged = [] }: ZonePlan, before: ExistingZone | null, now: ExistingZone | null): boolean {
  const own = changes.find((change) => change.subject === 'domain')
  if (now === null) return own?.action === 'delete'
  if (own?.subject === 'domain' && (own.desired === null || differingSettings(now.settings, own.desired).length > 0)) return false
  const isUnmanaged = unmanagedTest(unmanaged, zone, { live: [before, now] })
  const contents = (records: readonly ResourceRecord[]): string =>
    records
      .filter((record) => !isUnmanaged(record))
      .map(contentKey)
      .sort()
      .join('\n')
  return contents(finalRecords(before?.records ?? [], changes)) === contents(now.records)
}

/**
 * Describes unmanaged records that were added since and obstruct a plan; null if none do. Unmanaged records may change while a plan waits, unless the target
 * would then refuse a planned record. All records count for the limit of the target.
 */
export function obstructiveUnmanagedRecords(
  plan: ZonePlan,
  before: ExistingZone | null,
  now: ExistingZone | null,
  capabilities: Capabilities,
): MovedState | null {
  if (before === null || now === null || plan.unmanaged === undefined) return null
  const full = limitProblem(plan, before, now)
  const details = capabilities.cnameExclusive ? conflictingRecords(plan, before, now) : []
  const summary = [
    ...(details.length === 0
      ? []
      : [`${counted(details.length, 'unmanaged record')} ${agreeing(details.length, 'is', 'are')} in conflict with the plan`]),
    ...(full === null ? [] : [full]),
  ].join(', ')
  return summary === '' ? null : { summary, details }
}

/**
 * The order of a plan keeps the zone within its limit for the number of records it was made with. With more records, it does so only if all creations fit
 * before any deletion.
 */
function limitProblem({ records: { limit }, calls }: ZonePlan, before: ExistingZone, now: ExistingZone): string | null {
  const more = now.records.length - before.records.length
  if (limit === null || more <= 0 || now.records.length + calls.create <= limit) return null
  return `${counted(more, 'unmanaged record')} more ${agreeing(more, 'leaves', 'leave')} no room for ${counted(calls.create, 'creation')}: the zone can have ${limit} records`
}

function conflictingRecords(plan: ZonePlan, before: ExistingZone, now: ExistingZone): string[] {
  const planned = new Map<DomainName, ResourceRecord[]>()
  for (const change of plan.changes) {
    if (change.subject === 'domain' || change.desired === null) continue
    const same = planned.get(change.name)
    if (same) same.push(change.desired)
    else planned.set(change.name, [change.desired])
  }
  const isUnmanaged = unmanagedTest(plan.unmanaged ?? [], plan.zone, { live: [before, now] })
  const known = new Set(before.records.map(recordKey))
  return now.records.flatMap((record: ExistingRecord) => {
    const refused = planned.get(record.name)?.find((one) => conflicts(record, one))
    if (refused === undefined || known.has(recordKey(record)) || !isUnmanaged(record)) return []
    return [
      `${record.name} ${record.type} ${record.data.slice(0, 200)} conflicts with the planned ${refused.type} ${refused.data.slice(0, 200)}`,
    ]
  })
}
