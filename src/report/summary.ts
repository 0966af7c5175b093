/** Sentences of reports about plans and zones. */
import { hasErrors, oneLine } from '../dns/diagnostic.ts'
import { displayName } from '../dns/domain-name.ts'
import type { CallCount, Refusal, RenderedState, ZonePlan } from '../plan/plan.ts'
import { counted, formatCount } from './english.ts'
import { type Report, summarize, summarizeOutcomes, type ZoneView, zoneViews } from './report.ts'

/** The summary line: what a plan would do, or what an apply did. */
export function summaryLine(report: Report): string {
  const { zones } = report.plan
  const summary = summarize(zones)
  if (summary.calls === 0) return emptySummary(report)
  if (report.outcomes === null)
    return `Plan: ${toDo(summary)} in ${counted(summary.changedZones, 'zone')} (${counted(summary.calls, 'call')})${refused(zones)}`
  const { applied, failed, skipped, unknown } = summarizeOutcomes(zoneViews(report))
  const rest = [
    ...(failed > 0 ? [`${formatCount(failed)} failed`] : []),
    ...(skipped > 0 ? [`${formatCount(skipped)} skipped`] : []),
    ...(unknown > 0 ? [`${formatCount(unknown)} unknown`] : []),
  ].join(', ')
  if (applied.total === 0) return `Nothing applied: ${rest}${refused(zones)}`
  const done = `${formatCount(applied.create)} created, ${formatCount(applied.update)} updated, ${formatCount(applied.delete)} deleted in ${counted(applied.zones, 'zone')} (${counted(applied.total, 'call')})`
  return rest === '' ? `Applied: ${done}` : `Applied in part: ${done}; ${rest}${refused(zones)}`
}

/** `3 to create, 1 to update, 2 to delete`. */
export const toDo = (count: Pick<CallCount, 'create' | 'update' | 'delete'>): string =>
  `${formatCount(count.create)} to create, ${formatCount(count.update)} to update, ${formatCount(count.delete)} to delete`

/** The refusals that are not lifted. */
export const blockingRefusals = (zone: ZonePlan): Refusal[] => zone.refusals.filter(({ allowed }) => !allowed)

function refused(zones: readonly ZonePlan[]): string {
  const count = zones.filter((zone) => blockingRefusals(zone).length > 0).length
  return count === 0 ? '' : `; ${counted(count, 'zone')} refused`
}

function emptySummary({ plan }: Report): string {
  const invalid = plan.zones.filter(({ diagnostics }) => hasErrors(diagnostics)).length
  const matching = plan.zones.length - invalid
  const match = counted(matching, 'zone matches', 'zones match')
  if (invalid === 0)
    return hasErrors(plan.diagnostics)
      ? `No changes were planned: there are errors.${matching > 0 ? ` ${match}.` : ''}`
      : `No changes. ${match}.`
  return `No changes. ${match}; ${counted(invalid, 'zone has', 'zones have')} errors.`
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

/** `1 to create, 2 to delete (3 calls)`. */
export function callFigures({ calls }: ZonePlan): string {
  const actions = ['create', 'update', 'delete'] as const
  const parts = actions.flatMap((action) => (calls[action] === 0 ? [] : [`${formatCount(calls[action])} to ${action}`]))
  return `${parts.join(', ')} (${counted(calls.total, 'call')})`
}

/** Whether a report that is not verbose shows the zone. */
export function isNotable(view: ZoneView): boolean {
  const { plan, diagnostics } = view
  return (
    plan.changes.length > 0 ||
    plan.refusals.length > 0 ||
    diagnostics.length > 0 ||
    plan.rendered === 'differs' ||
    plan.rendered === 'stale'
  )
}
