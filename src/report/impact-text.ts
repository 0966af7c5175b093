/** The lines with which a report leads: deleted zones, names without answers, mail and name servers, zones that change as a whole, and how long caches keep old answers. */
import { oneLine } from '../base/diagnostic.ts'
import { agreeing, counted, durationText, listed } from '../base/english.ts'
import { isEmptyImpact } from '../plan/impact.ts'
import type { CachedAnswers, Impact, NameAndType } from '../plan/plan.ts'
import type { ZoneView } from './report.ts'
import { zoneTitle } from './summary.ts'

/** Maximum number of names in a line. */
const NAMES_SHOWN = 10

/** The impact of what a plan changes, or of what an apply changed; null if there is none. */
export function impactOfView({ plan: { impact, changes }, outcomes }: ZoneView): Impact | null {
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
  // A name that no change concerns is an alias of one that a change does.
  const isLost = (one: NameAndType): boolean => isDeleted || (!open.has(keyOf(one)) && (done.has(keyOf(one)) || isAllApplied))
  const applied: Impact = {
    stopsAnswering: impact.stopsAnswering.flatMap(({ name, types, isGone }) => {
      const lost = types.filter((type) => isLost({ name, type }))
      return lost.length === 0 ? [] : [{ name, types: lost, isGone: isGone && lost.length === types.length }]
    }),
    mail: impact.mail.filter(isTouched),
    nameservers: impact.nameservers.filter(isTouched),
    changesAll: impact.changesAll && isAllApplied,
  }
  return isEmptyImpact(applied) ? null : applied
}

const keyOf = ({ name, type }: NameAndType): string => `${name} ${type}`

interface Impacts {
  /** Names without answers, with the types if only some have none. */
  readonly lost: readonly string[]
  readonly mail: readonly string[]
  readonly nameservers: readonly string[]
  /** Zones that are deleted, and others that change as a whole. */
  readonly deleted: readonly string[]
  readonly zones: readonly string[]
}

/** The impacts of all zones. What happens to a zone at several targets is said once. */
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
    lost: distinct(({ stopsAnswering }) =>
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
  const { deleted, lost, mail, nameservers, zones } = impactsOf(views)
  const records = [...(mail.length > 0 ? ['mail'] : []), ...(nameservers.length > 0 ? ['name server'] : [])]
  const parts = [
    ...(deleted.length === 0
      ? []
      : [
          `${counted(deleted.length, 'zone')} ${isDone ? agreeing(deleted.length, 'was', 'were') : agreeing(deleted.length, 'is', 'are')} deleted`,
        ]),
    ...(lost.length === 0
      ? []
      : [`${counted(lost.length, 'name')} ${isDone ? 'stopped' : agreeing(lost.length, 'stops', 'stop')} answering`]),
    ...(records.length === 0 ? [] : [`${listed(records)} records ${isDone ? 'changed' : 'change'}`]),
    ...(zones.length === 0 ? [] : [`${isDone ? 'all records changed' : 'all records change'} in ${counted(zones.length, 'zone')}`]),
  ]
  return parts.length === 0 ? null : parts.join(', ')
}

/** One line per kind of impact, and one about caches; none if there is nothing to say. */
export function impactLines(views: readonly ZoneView[]): string[] {
  const isDone = views.some(({ outcomes }) => outcomes !== null)
  const { deleted, lost, mail, nameservers, zones } = impactsOf(views)
  const line = (title: string, items: readonly string[]): string[] =>
    items.length === 0 ? [] : [`${title}: ${listed(items, NAMES_SHOWN)}`]
  return [
    ...line(isDone ? 'Zones deleted with all records' : 'Deletes zones with all records', deleted),
    ...line(isDone ? 'Stopped answering' : 'Stops answering', lost),
    ...line(isDone ? 'Mail records changed' : 'Mail records change', mail),
    ...line(isDone ? 'Name server records changed' : 'Name server records change', nameservers),
    ...line(isDone ? 'All records changed' : 'All records change', zones),
    ...cacheLine(views),
  ]
}

/** How long caches may keep old answers, of the zone where that is longest. */
function cacheLine(views: readonly ZoneView[]): string[] {
  const [longest] = views.flatMap(changedCachedAnswers).sort((a, b) => b.seconds - a.seconds)
  if (longest === undefined) return []
  return [`Caches may keep old answers for ${durationText(longest.seconds)} (${oneLine(longest.name)} ${longest.type})`]
}

/** The answers that a plan makes wrong, or an apply made wrong. */
export const changedCachedAnswers = ({ plan: { cachedAnswers }, outcomes }: ZoneView): CachedAnswers[] =>
  cachedAnswers === undefined || outcomes?.every(({ state }) => state !== 'applied') ? [] : [cachedAnswers]
