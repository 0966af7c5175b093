/** Sentences of reports about plans and zones. */
import { hasErrors, oneLine } from '../dns/diagnostic.ts'
import { displayName, isAtOrBelow, relativeName } from '../dns/domain-name.ts'
import type { CallCount, RenderedState, ZonePlan } from '../plan/plan.ts'
import { counted, formatCount, listed } from './english.ts'
import { type Report, type Summary, summarize, summarizeOutcomes, type ZoneView, zoneViews } from './report.ts'

/** The headline of a report: errors and refusals first, then what a plan would do or what an apply did. */
export function summaryLine(report: Report): string {
  const summary = summarize(report)
  const problems = [
    ...(summary.errors > 0 ? [counted(summary.errors, 'error')] : []),
    ...(summary.refusedZones > 0 ? [`${counted(summary.refusedZones, 'zone')} refused`] : []),
  ]
  const rest = summary.calls === 0 ? unchangedText(report) : report.outcomes === null ? planText(summary) : outcomeText(report)
  if (problems.length === 0) return rest
  // A plan with a problem is not applied, not even in part.
  return `${problems.join(', ')}${report.outcomes === null ? ', nothing will be applied' : ''}. ${rest}`
}

const planText = (summary: Summary): string =>
  `Plan: ${toDo(summary)} in ${counted(summary.changedZones, 'zone')} (${counted(summary.calls, 'call')})`

function outcomeText(report: Report): string {
  const { applied, failed, skipped, unknown } = summarizeOutcomes(zoneViews(report))
  const rest = [
    ...(failed > 0 ? [`${formatCount(failed)} failed`] : []),
    ...(unknown > 0 ? [`${formatCount(unknown)} unknown`] : []),
    ...(skipped > 0 ? [`${formatCount(skipped)} skipped`] : []),
  ].join(', ')
  if (applied.total === 0) return `Nothing applied: ${rest}`
  const done = `${formatCount(applied.create)} created, ${formatCount(applied.update)} updated, ${formatCount(applied.delete)} deleted in ${counted(applied.zones, 'zone')} (${counted(applied.calls, 'call')})`
  return rest === '' ? `Applied: ${done}` : `Applied in part: ${rest}; ${done}`
}

/** `3 to create, 1 to update, 2 to delete`. */
export const toDo = (count: Pick<CallCount, 'create' | 'update' | 'delete'>): string =>
  `${formatCount(count.create)} to create, ${formatCount(count.update)} to update, ${formatCount(count.delete)} to delete`

function unchangedText({ plan }: Report): string {
  const matching = plan.zones.filter(({ diagnostics }) => !hasErrors(diagnostics)).length
  if (matching === 0 && hasErrors(plan.diagnostics)) return 'No changes were planned.'
  return `No changes. ${counted(matching, 'zone matches', 'zones match')}.`
}

/** The zone's name, also in Unicode if it has A-labels, and its target. */
export function zoneTitle({ zone, target }: ZonePlan): string {
  const shown = displayName(zone)
  const unicode = shown === zone ? '' : ` (${oneLine(shown)})`
  return `${oneLine(zone)}${unicode} at ${oneLine(target)}`
}

/** The number of records before and after, and the limit. */
export function recordFigures({ records, changes }: ZonePlan): string {
  const after = changes.reduce(
    (count, change) => count + (change.subject === 'domain' ? 0 : Number(change.desired !== null) - Number(change.existing !== null)),
    records.existing,
  )
  const figures = after === records.existing ? formatCount(after) : `${formatCount(records.existing)} → ${formatCount(after)}`
  const limit = records.limit === null ? '' : ` of ${formatCount(records.limit)}`
  const unmanaged = records.unmanaged === 0 ? '' : `, ${formatCount(records.unmanaged)} unmanaged`
  const noun = after === 1 && after === records.existing && records.limit === null ? 'record' : 'records'
  return `${figures}${limit} ${noun}${unmanaged}`
}

/** Whether the zone is new or to be deleted; null if neither. */
export function zoneState(plan: ZonePlan): string | null {
  if (!plan.exists) return 'new zone'
  return plan.changes.some((change) => change.subject === 'domain' && change.action === 'delete') ? 'to be deleted' : null
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

/** Whether the records read after the changes equal the plan's result; null if that is not worth reporting. */
export function readBackText({ readBack, outcomes }: ZoneView, verbose: boolean): string | null {
  if (readBack === 'different') return 'read again: the records are not what the plan makes'
  if (readBack === 'equal') return verbose ? 'read again: the records are what the plan makes' : null
  return outcomes?.some(({ state }) => state === 'applied' || state === 'unknown') ? 'read again: not possible' : null
}

/** `1 to create, 2 to update, 1 to delete (4 calls; an update is a - and a + in one call)`. */
export function callFigures({ calls, changes }: ZonePlan): string {
  const actions = ['create', 'update', 'delete'] as const
  const parts = actions.flatMap((action) => (calls[action] === 0 ? [] : [`${formatCount(calls[action])} to ${action}`]))
  const updatesRecords = changes.some(({ subject, action }) => subject === 'record' && action === 'update')
  return `${parts.join(', ')} (${counted(calls.total, 'call')}${updatesRecords ? '; an update is a - and a + in one call' : ''})`
}

/** `caches may hold former answers for 1 h (www A)`; null if no former answer becomes wrong. */
export function cachedAnswersText({ zone, cachedAnswers }: ZonePlan): string | null {
  if (cachedAnswers === undefined) return null
  const { seconds, name, type } = cachedAnswers
  return `caches may hold former answers for ${durationText(seconds)} (${oneLine(isAtOrBelow(name, zone) ? relativeName(name, zone) || '@' : name)} ${type})`
}

/** What a line about a zone says besides its calls: its state, records, cached answers, and differences found when it was read. */
export const zoneFacts = (view: ZoneView, verbose: boolean): string[] =>
  [
    zoneState(view.plan),
    recordFigures(view.plan),
    cachedAnswersText(view.plan),
    renderedText(view.plan, verbose),
    readBackText(view, verbose),
  ].filter((fact) => fact !== null)

const UNITS = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
] as const

/** `1 h`, `1 h 30 min`, `45 s`: the two largest units. */
export function durationText(seconds: number): string {
  const parts: string[] = []
  let rest = seconds
  for (const [size, unit] of UNITS) {
    const count = Math.floor(rest / size)
    rest -= count * size
    if (count > 0) parts.push(`${count} ${unit}`)
  }
  if (rest > 0 || parts.length === 0) parts.push(`${rest} s`)
  return parts.slice(0, 2).join(' ')
}

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
