/**
 * The first lines of a report: deleted zones, names that stop answering, changed mail and name server records, zones in which all records change, and
 * the time for which caches keep old answers.
 */
import { oneLine } from '../base/diagnostic.ts'
import { agreeing, counted, durationText, listed } from '../base/english.ts'
import { isEmptyImpact } from '../plan/impact.ts'
import type { CachedAnswers, Impact, NameAndType } from '../plan/plan.ts'
import type { ZoneView } from './report.ts'
import { zoneTitle } from './summary.ts'

/** Maximum number of names in a line. */
const NAMES_SHOWN = 10

/** The impact of a plan, or the impact of its applied changes after an apply; null if there is none. */
function impactOfView({ plan: { impact, changes }, outcomes }: ZoneView): Impact | null {
  if (impact === undefined || outcomes === null) return impact ?? null
  const isApplied = (index: number): boolean => outcomes[index]?.state === 'applied'
  const isDeleted = changes.some(({ subject, action }, index) => subject === 'domain' && action === 'delete' && isApplied(index))
  const [done, open] = [new Set<string>(), new Set<string>()]
  changes.forEach((change, index) => {
    if (change.subject !== 'record') return
    for (const record of [change.existing, change.desired]) if (record !== null) (isApplied(index) ? done : open).add(keyOf(record))
  })
  const isTouched = (one: NameAndType): boolean => isDeleted || done.has(keyOf(one))
  const isAllApplied = changes.every((_, index) => isApplied(index))
  // A name that no change touches is an alias of a changed name.
  const hasStopped = (one: NameAndType): boolean => isDeleted || (!open.has(keyOf(one)) && (done.has(keyOf(one)) || isAllApplied))
  const applied: Impact = {
    stopsAnswering: impact.stopsAnswering.flatMap(({ name, types, isGone }) => {
      const stopped = types.filter((type) => hasStopped({ name, type }))
      return stopped.length === 0 ? [] : [{ name, types: stopped, isGone: isGone && stopped.length === types.length }]
    }),
    mail: impact.mail.filter(isTouched),
    nameservers: impact.nameservers.filter(isTouched),
    changesAll: impact.changesAll && isAllApplied,
  }
  return isEmptyImpact(applied) ? null : applied
}

const keyOf = ({ name, type }: NameAndType): string => `${name} ${type}`

interface Impacts {
  /** Names that stop answering; with their types if the name still answers for others. */
  readonly stopped: readonly string[]
  readonly mail: readonly string[]
  readonly nameservers: readonly string[]
  /** Deleted zones. */
  readonly deleted: readonly string[]
  /** Other zones in which all records change. */
  readonly zones: readonly string[]
}

/** The impacts of all zones. If a zone has the same impact at several targets, it is listed once. */
function impactsOf(views: readonly ZoneView[]): Impacts {
  const found = views.map((view) => ({ view, impact: impactOfView(view) }))
  const distinct = (textsOf: (impact: Impact, view: ZoneView) => readonly string[]): string[] => [
    ...new Set(found.flatMap(({ view, impact }) => (impact === null ? [] : textsOf(impact, view)))),
  ]
  const shown = ({ name, type }: NameAndType): string => `${oneLine(name)} ${type}`
  const isDeleted = ({ plan, outcomes }: ZoneView): boolean =>
    plan.changes.some(
      (one, at) => one.subject === 'domain' && one.action === 'delete' && (outcomes?.[at]?.state ?? 'applied') === 'applied',
    )
  return {
    deleted: views.filter(isDeleted).map(({ plan }) => zoneTitle(plan)),
    stopped: distinct(({ stopsAnswering }) =>
      stopsAnswering.map(({ name, types, isGone }) => (isGone ? oneLine(name) : `${oneLine(name)} (${types.join(', ')})`)),
    ),
    mail: distinct(({ mail }) => mail.map(shown)),
    nameservers: distinct(({ nameservers }) => nameservers.map(shown)),
    zones: distinct(({ changesAll }, view) => (changesAll && !isDeleted(view) ? [zoneTitle(view.plan)] : [])),
  }
}

/** `1 zone is deleted, 2 names stop answering, mail and name server records change`; null without an impact. */
export function impactPhrase(views: readonly ZoneView[]): string | null {
  const isDone = views.some(({ outcomes }) => outcomes !== null)
  const { deleted, stopped, mail, nameservers, zones } = impactsOf(views)
  const records = [...(mail.length > 0 ? ['mail'] : []), ...(nameservers.length > 0 ? ['name server'] : [])]
  const parts = [
    ...(deleted.length === 0
      ? []
      : [
          `${counted(deleted.length, 'zone')} ${isDone ? agreeing(deleted.length, 'was', 'were') : agreeing(deleted.length, 'is', 'are')} deleted`,
        ]),
    ...(stopped.length === 0
      ? []
      : [`${counted(stopped.length, 'name')} ${isDone ? 'stopped' : agreeing(stopped.length, 'stops', 'stop')} answering`]),
    ...(records.length === 0 ? [] : [`${listed(records)} records ${isDone ? 'changed' : 'change'}`]),
    ...(zones.length === 0 ? [] : [`${isDone ? 'all records changed' : 'all records change'} in ${counted(zones.length, 'zone')}`]),
  ]
  return parts.length === 0 ? null : parts.join(', ')
}

/** One line per kind of impact, and one about caches. Empty without an impact. */
export function impactLines(views: readonly ZoneView[]): string[] {
  const isDone = views.some(({ outcomes }) => outcomes !== null)
  const { deleted, stopped, mail, nameservers, zones } = impactsOf(views)
  const line = (title: string, items: readonly string[]): string[] =>
    items.length === 0 ? [] : [`${title}: ${listed(items, NAMES_SHOWN)}`]
  return [
    ...line(isDone ? 'Zones deleted with all records' : 'Deletes zones with all records', deleted),
    ...line(isDone ? 'Stopped answering' : 'Stops answering', stopped),
    ...line(isDone ? 'Mail records changed' : 'Mail records change', mail),
    ...line(isDone ? 'Name server records changed' : 'Name server records change', nameservers),
    ...line(isDone ? 'All records changed' : 'All records change', zones),
    ...cacheLine(views),
  ]
}

/** A line with the longest time for which caches may keep old answers; none if no answer changes. */
function cacheLine(views: readonly ZoneView[]): string[] {
  const [longest] = views.flatMap(changedCachedAnswers).sort((a, b) => b.seconds - a.seconds)
  if (longest === undefined) return []
  return [`Resolvers may return the old answer for up to ${durationText(longest.seconds)} (${oneLine(longest.name)} ${longest.type})`]
}

/** The cached answers that a plan or an apply makes wrong. */
const changedCachedAnswers = ({ plan: { cachedAnswers }, outcomes }: ZoneView): CachedAnswers[] =>
  cachedAnswers === undefined || outcomes?.every(({ state }) => state !== 'applied') ? [] : [cachedAnswers]
