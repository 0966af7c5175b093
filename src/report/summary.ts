/** Sentences of reports about plans and zones. */
import { type Diagnostic, oneLine } from '../base/diagnostic.ts'
import { agreeing, counted, durationText, formatCount, listed } from '../base/english.ts'
import { groupBy } from '../base/group-by.ts'
import { compareText } from '../base/text.ts'
import { type DomainName, displayName, isAtOrBelow, relativeName } from '../dns/domain-name.ts'
import { rrsetKey } from '../dns/record.ts'
import type { Action, CallCount, DeletionUsage, RenderedState, RrsetUsage, ZoneOutcome, ZonePlan } from '../plan/plan.ts'
import { type OutcomeSummary, summarizeOutcomes, type ZoneView } from './report.ts'

/** `3 to create, 1 to update, 2 to delete`. */
export const toDo = (count: Pick<CallCount, 'create' | 'update' | 'delete'>): string =>
  `${formatCount(count.create)} to create, ${formatCount(count.update)} to update, ${formatCount(count.delete)} to delete`

/** The zone's name, also in Unicode if it has A-labels, and its target. */
export const zoneTitle = (plan: Pick<ZonePlan, 'zone' | 'target'>): string => `${zoneTitleAlone(plan)} at ${oneLine(plan.target)}`

/** The zone's name, also in Unicode if it has A-labels. */
export function zoneTitleAlone({ zone }: Pick<ZonePlan, 'zone'>): string {
  const shown = displayName(zone)
  return shown === zone ? oneLine(zone) : `${oneLine(zone)} (${oneLine(shown)})`
}

/** A name relative to its zone, `@` at the apex. */
export const ownerText = (name: DomainName, zone: DomainName): string =>
  oneLine(isAtOrBelow(name, zone) ? relativeName(name, zone) || '@' : name)

/** The number of records before and after, and the limit. After an apply, only applied changes count. */
export function recordFigures({ plan: { records, changes }, outcomes }: ZoneView): string {
  const after = changes.reduce(
    (count, change, index) =>
      change.subject === 'domain' || (outcomes !== null && outcomes[index]?.state !== 'applied')
        ? count
        : count + Number(change.desired !== null) - Number(change.existing !== null),
    records.existing,
  )
  const figures = after === records.existing ? formatCount(after) : `${formatCount(records.existing)} → ${formatCount(after)}`
  const limit = records.limit === null ? '' : ` of ${formatCount(records.limit)}`
  const unmanaged = records.unmanaged === 0 ? '' : `, ${formatCount(records.unmanaged)} unmanaged`
  const noun = after === 1 && after === records.existing && records.limit === null ? 'record' : 'records'
  return `${figures}${limit} ${noun}${unmanaged}`
}

/** Whether the zone is new or to be deleted, or what became of that; null if neither. */
export function zoneState({ plan, outcomes }: ZoneView): string | null {
  const index = plan.changes.findIndex(({ subject, action }) => subject === 'domain' && action !== 'update')
  const state = outcomes?.[index]?.state
  if (!plan.exists) return index === -1 || state === undefined || state === 'applied' ? 'new zone' : 'not created'
  if (index === -1) return null
  return state === undefined ? 'to be deleted' : state === 'applied' ? 'deleted' : 'not deleted'
}

const RENDERED: Readonly<Record<RenderedState, string>> = {
  match: 'matches the records',
  stale: 'older than the records',
  differs: 'differs from the records',
  unavailable: 'not available',
}

/** How the rendered zone file compares; null if that is not worth reporting. */
export function renderedText({ rendered }: ZonePlan, verbose: boolean): string | null {
  if (!verbose && (rendered === 'match' || rendered === 'unavailable')) return null
  return `rendered zone file: ${RENDERED[rendered]}`
}

/** Whether the records after the changes equal the plan's result, as they were read or as the responses state them; null if that is not worth reporting. */
export function readBackText({ readBack, outcomes }: ZoneView, verbose: boolean): string | null {
  if (readBack === 'different') return 'the zone differs from the planned result'
  if (readBack === 'equal') return verbose ? 'confirmed: the zone equals the planned result' : null
  return outcomes?.some(({ state }) => state === 'applied' || state === 'unknown') ? 'the zone could not be read again' : null
}

/**
 * What a plan does to a zone, or what an apply did: `1 to create, 2 to update (3 requests; an update is one - and one +)`, or
 * `1 created, 1 updated (2 requests); 1 failed, 2 skipped`.
 */
export function changeFigures(view: ZoneView): string {
  if (view.plan.changes.length === 0) return 'no changes'
  return view.outcomes === null ? plannedFigures(view.plan) : appliedFigures(summarizeOutcomes([view]))
}

function plannedFigures({ calls, changes }: ZonePlan): string {
  const actions = ['create', 'update', 'delete'] as const
  const parts = actions.flatMap((action) => (calls[action] === 0 ? [] : [`${formatCount(calls[action])} to ${action}`]))
  const updatesRecords = changes.some(({ subject, action }) => subject === 'record' && action === 'update')
  return `${parts.join(', ')} (${counted(calls.total, 'request')}${updatesRecords ? '; an update is one - and one +' : ''})`
}

function appliedFigures(summary: OutcomeSummary): string {
  const { applied } = summary
  const done = (['create', 'update', 'delete'] as const).flatMap((action) =>
    applied[action] === 0 ? [] : [`${formatCount(applied[action])} ${DONE[action]}`],
  )
  const parts = [...(done.length === 0 ? [] : [`${done.join(', ')} (${counted(applied.calls, 'request')})`]), ...unappliedFigures(summary)]
  return done.length === 0 ? `nothing applied: ${parts.join(', ')}` : parts.join('; ')
}

/** `2 failed, 1 skipped` as one text, or none. */
export function unappliedFigures({ failed, unknown, skipped }: OutcomeSummary): string[] {
  const parts = Object.entries({ failed, unknown, skipped }).flatMap(([state, count]) =>
    count === 0 ? [] : [`${formatCount(count)} ${state}`],
  )
  return parts.length === 0 ? [] : [parts.join(', ')]
}

export const ACTIONS = ['create', 'update', 'delete'] as const satisfies readonly Action[]

const DONE: Readonly<Record<Action, string>> = { create: 'created', update: 'updated', delete: 'deleted' }

/** What each action will do, or did. */
export const actionLabels = (isDone: boolean): Readonly<Record<Action, string>> =>
  isDone ? DONE : { create: 'to create', update: 'to update', delete: 'to delete' }

/** Above this number of zones, the same deletion is one line. */
const MOST_EQUAL = 10

/** What a plan deletes, or an apply deleted: a heading, and a line per zone or record; one for the same record in many zones. */
export function deletions(views: readonly ZoneView[]): { readonly title: string; readonly lines: readonly string[] } {
  const found = views.flatMap(({ plan, outcomes }) => {
    const usageOf = takeUsageNotes(plan)
    return plan.changes
      .filter(({ action }, index) => action === 'delete' && (outcomes === null || outcomes[index]?.state === 'applied'))
      .map((change) => {
        const used = change.subject === 'domain' ? zoneUsageNote(plan) : usageOf(change)
        const { ttl, data } = (change.subject === 'record' ? change.existing : null) ?? { ttl: null, data: '' }
        const what = change.type === null ? ['and all its records'] : [...(ttl === null ? [] : [String(ttl)]), change.type, data]
        return { plan, change, text: what.map(oneLine).join(' ') + (used === null ? '' : ` (${used})`) }
      })
  })
  const zones = found.filter(({ change }) => change.subject === 'domain').length
  const records = found.length - zones
  const counts = [...(zones > 0 ? [counted(zones, 'zone')] : []), ...(records > 0 ? [counted(records, 'record')] : [])]
  const equal = groupBy(found, ({ plan, change, text }) => `${change.subject} ${ownerText(change.name, plan.zone)} ${text}`)
  return {
    title: `${views.every(({ outcomes }) => outcomes === null) ? 'To delete' : 'Deleted'}: ${listed(counts)}`,
    lines: [...equal.values()].flatMap((some) => {
      const [first] = some
      if (first === undefined || first.change.subject === 'domain' || some.length <= MOST_EQUAL)
        return some.map(({ change, text }) => `- ${oneLine(change.name)} ${text}`)
      const of = listed(
        some.map(({ plan }) => zoneTitle(plan)),
        ZONES_SHOWN,
      )
      return `- ${ownerText(first.change.name, first.plan.zone)} ${first.text} in ${counted(some.length, 'zone')}: ${of}`
    }),
  }
}

/** One error per reason why changes of a zone failed or have an unknown result: many changes may share it. */
export function changeFailures({ plan, outcomes }: Pick<ZoneOutcome, 'plan' | 'outcomes'>): Diagnostic[] {
  const found = new Map<string, Diagnostic>()
  for (const outcome of outcomes) {
    if (outcome.state !== 'failed' && outcome.state !== 'unknown') continue
    const message = `${zoneTitle(plan)}: ${outcome.state}: ${outcome.error}`
    found.set(message, { severity: 'error', code: `change-${outcome.state}`, message })
  }
  return [...found.values()]
}

/** What a request was for, in its error: it differs for each change. */
const REQUEST = /\b(?:creating|updating|deleting) \S+(?: [A-Z0-9-]+)?: /

/** A line per reason why changes were not applied, skipped ones last. */
export function unappliedReasons(views: readonly ZoneView[]): { readonly isFailure: boolean; readonly text: string }[] {
  const found = views.flatMap(({ plan, outcomes }) =>
    (outcomes ?? []).flatMap((outcome) => {
      if (outcome.state === 'applied') return []
      const reason = `${outcome.state}: ${oneLine(outcome.state === 'skipped' ? outcome.because : outcome.error)}`
      return [{ zone: zoneTitle(plan), isFailure: outcome.state !== 'skipped', reason }]
    }),
  )
  return [...groupBy(found, ({ reason }) => reason.replace(REQUEST, ''))]
    .map(([common, some]) => {
      const reason = some.every((one) => one.reason === some[0]?.reason) ? some[0]?.reason : common
      const zones = listed([...new Set(some.map(({ zone }) => zone))], ZONES_SHOWN)
      return { isFailure: some.some(({ isFailure }) => isFailure), text: `${counted(some.length, 'change')} in ${zones} ${reason}` }
    })
    .sort((a, b) => Number(b.isFailure) - Number(a.isFailure))
}

/** `caches may keep old answers for 1 h (www A)`; null if no old answer becomes wrong. */
export function cachedAnswersText({ zone, cachedAnswers }: ZonePlan): string | null {
  if (cachedAnswers === undefined) return null
  const { seconds, name, type } = cachedAnswers
  return `caches may keep old answers for ${durationText(seconds)} (${ownerText(name, zone)} ${type})`
}

/** What a line about a zone says besides its calls: its state, records, cached answers, and differences found when it was read. */
export const zoneFacts = (view: ZoneView, verbose: boolean): string[] =>
  [
    zoneState(view),
    recordFigures(view),
    cachedAnswersText(view.plan),
    renderedText(view.plan, verbose),
    readBackText(view, verbose),
  ].filter((fact) => fact !== null)

/** Whether a report that is not verbose shows the zone on its own. */
export const hasSection = ({ plan }: ZoneView): boolean => plan.changes.length > 0 || plan.refusals.length > 0

/** Zones named in a line about several. */
const ZONES_SHOWN = 3

/** One line per state of the rendered zone file, for zones that are not shown on their own. */
export function renderedStates(others: readonly ZoneView[]): { readonly state: RenderedState; readonly text: string }[] {
  return (['differs', 'stale'] as const).flatMap((state) => {
    const plans = others.filter(({ plan }) => plan.rendered === state).map(({ plan }) => plan)
    return plans.length === 0
      ? []
      : [{ state, text: `rendered zone file ${RENDERED[state]}: ${listed(plans.map(zoneTitle), ZONES_SHOWN)}` }]
  })
}

// Zones by owner.

interface OwnerGroup<Zone> {
  /** Null for the zones that nobody owns. */
  readonly owner: string | null
  readonly zones: readonly Zone[]
}

/** The zones in groups by owner, in their order, those without an owner last. One group if no zone has an owner. */
export function groupByOwner<Zone>(zones: readonly Zone[], ownerOf: (zone: Zone) => string | null | undefined): OwnerGroup<Zone>[] {
  return [...groupBy(zones, (zone) => ownerOf(zone) ?? null)]
    .map(([owner, of]) => ({ owner, zones: of }))
    .sort((a, b) => (a.owner === null ? 1 : b.owner === null ? -1 : compareText(a.owner, b.owner)))
}

/** The heading of a group. */
export const ownerTitle = (owner: string | null): string => (owner === null ? 'No owner' : oneLine(owner))

// How often the record sets that a plan deletes are queried, in words. Text contains no control characters.

/** A function that returns the note of a record set that the plan deletes, the first time that it is called for that record set; null for others. */
export function takeUsageNotes({ usage }: ZonePlan): (rrset: { readonly name: string; readonly type: string }) => string | null {
  if (usage === undefined) return () => null
  const notes = new Map(usage.deletions.map((one) => [rrsetKey(one), one]))
  return (rrset) => {
    const key = `${rrset.name} ${rrset.type}`
    const found = notes.get(key)
    notes.delete(key)
    return found === undefined ? null : noteOf(found, usage)
  }
}

function noteOf({ state, count, lastAsked }: RrsetUsage, { from, to }: DeletionUsage): string {
  if (state === 'not-asked') return `never queried from ${timeOf(from)} to ${timeOf(to)}`
  const asked = `queried ${formatCount(count)} ${agreeing(count, 'time', 'times')} since ${timeOf(from)}, last at ${timeOf(lastAsked)}`
  if (state === 'replaced') return lastAsked === null ? 'other records answer in its place' : `${asked}; other records answer in its place`
  if (state === 'unknown') return lastAsked === null ? 'unknown whether it is queried' : `unknown whether it is in use: ${asked}`
  return asked
}

/** A line for each record set that the plan deletes, in reports that have no table of changes. */
export const usageLines = (plan: ZonePlan): string[] => {
  const noteOfSet = takeUsageNotes(plan)
  return (plan.usage?.deletions ?? []).map((one) => `${oneLine(one.name)} ${oneLine(one.type)} to delete: ${noteOfSet(one)}`)
}

/** The note of a zone that the plan deletes; null without usage. */
export function zoneUsageNote({ usage }: ZonePlan): string | null {
  if (usage === undefined) return null
  const { deletions, from, to } = usage
  const sets = counted(deletions.length, 'record set')
  const asked = deletions.filter(({ lastAsked }) => lastAsked !== null)
  const [last] = [...asked].sort((a, b) => ((a.lastAsked ?? '') < (b.lastAsked ?? '') ? 1 : -1))
  if (last !== undefined)
    return `${formatCount(asked.length)} of its ${sets} queried since ${timeOf(from)}, last ${oneLine(last.name)} ${oneLine(last.type)} at ${timeOf(last.lastAsked)}`
  if (deletions.some(({ state }) => state === 'unknown')) return `unknown whether its ${sets} are queried`
  return `none of its ${sets} queried from ${timeOf(from)} to ${timeOf(to)}`
}

const timeOf = (time: string | null): string => oneLine(time ?? 'an unknown time')
