/** Reads zones again before a saved plan, or a plan that was reviewed for long, is applied. Compares them with the state that the plan was made from. */
import pLimit from 'p-limit'
import { type Diagnostic, isError } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { excerpt } from '../../dns/excerpt.ts'
import { groupBy } from '../../dns/group-by.ts'
import { compareRecords, contentKey, type ExistingRecord, type ResourceRecord, recordKey } from '../../dns/record.ts'
import { unmanagedTest } from '../../dns/unmanaged.ts'
import type { ExistingZone, ZoneSettings } from '../../dns/zone.ts'
import type { Capabilities } from '../../plan/capabilities.ts'
import { differingSettings } from '../../plan/domain-change.ts'
import { finalRecords, fingerprint, type ZonePlan } from '../../plan/plan.ts'
import { conflicts } from '../../plan/record-conflicts.ts'
import { diagnosticOf, type Provider, type ZoneReference, type ZoneSnapshot } from '../../providers/provider.ts'
import { agreeing, counted } from '../../report/english.ts'
import type { ApplicableZone, ChangesToMake } from '../apply-zones.ts'
import { movingZones } from '../cutover/cutover-state.ts'
import { outdatedPlan } from '../journal/store/fences.ts'
import type { LockedRun } from '../locked-run.ts'
import type { PlannedZone, PlannedZones } from '../planned-zone.ts'
import { type ApplyContext, type OnProgress, type SupersededZones, withProgress } from '../run-context.ts'
import type { SavedPlan } from './saved-plan.ts'

/** Zones read concurrently. Each provider limits its requests itself. */
const ZONES_AT_ONCE = 16

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
  const superseded = await environment.superseded?.()
  return withProgress(output, async (onProgress) => {
    const read = await rereadZones(planned.zones, {
      providers: workspace.providers,
      since,
      superseded,
      outdated,
      signal: environment.interruption.signal,
      onProgress,
    })
    output.diagnostics(read.diagnostics, { also: 'with-zones' })
    return { ...planned, zones: read.zones }
  })
}

interface RereadOptions {
  readonly providers: ReadonlyMap<string, Provider>
  /** When the plans were made, worded to follow "has changed since". */
  readonly since: string
  readonly superseded: SupersededZones | undefined
  /** The plans that another run has made useless, or a cutover for now. */
  readonly outdated: ReadonlyMap<ZonePlan, Diagnostic>
  readonly signal: AbortSignal
  readonly onProgress: OnProgress
}

interface RereadZones {
  /** In the order of the plans. The plan of a zone that has changed or could not be read has an error. */
  readonly zones: readonly ApplicableZone[]
  /** The findings of all zones. */
  readonly diagnostics: readonly Diagnostic[]
}

/** Reads the zones that the plans change. */
async function rereadZones(zones: readonly PlannedZone[], options: RereadOptions): Promise<RereadZones> {
  const pending = zones.filter(({ plan }) => plan.changes.length > 0)
  const references = await findReferences(pending, options)
  const limit = pLimit(ZONES_AT_ONCE)
  let done = 0
  const found = new Set<Diagnostic>()
  const read = await Promise.all(
    zones.map((zone) =>
      zone.plan.changes.length === 0
        ? { plan: zone.plan, reference: null, existing: null }
        : limit(async () => {
            const { diagnostics, ...applicable } = await rereadZone(zone, references.get(zone.plan.target), options)
            done += 1
            options.onProgress({ phase: 'reading', done, total: pending.length })
            for (const diagnostic of diagnostics) found.add(diagnostic)
            return diagnostics.length === 0 ? applicable : { ...applicable, plan: refusedPlan(zone.plan, diagnostics) }
          }),
    ),
  )
  return { zones: read, diagnostics: [...found] }
}

const refusedPlan = (plan: ZonePlan, found: readonly Diagnostic[]): ZonePlan => ({
  ...plan,
  refused: found.filter(isError).every(({ code }) => code === 'plan-stale' || code === 'plan-outdated') ? 'moved' : 'unread',
  diagnostics: [...plan.diagnostics, ...found],
})

type References = ReadonlyMap<DomainName, ZoneReference> | Diagnostic

/** The zones of each target, or the error of the request. */
async function findReferences(
  zones: readonly PlannedZone[],
  { providers, signal }: RereadOptions,
): Promise<ReadonlyMap<string, References>> {
  const targets = [...new Set(zones.map(({ plan }) => plan.target))]
  const entries = targets.map(async (target): Promise<readonly [string, References]> => {
    const names = zones.filter(({ plan }) => plan.target === target).map(({ plan }) => plan.zone)
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
): Promise<ApplicableZone & { readonly diagnostics: readonly Diagnostic[] }> {
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
  return `${counted(more, 'unmanaged record')} more ${agreeing(more, 'leaves', 'leave')} no room for ${counted(calls.create, 'creation')}: the zone holds ${limit} records`
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
