import { hasErrors } from '../dns/diagnostic.ts'
import type { CallCount, Refusal, ZonePlan } from '../plan/plan.ts'
import { counted, formatCount } from './counts.ts'
import { type Report, summarize, summarizeOutcomes, zoneViews } from './report.ts'

/** The one line that says it all: what a plan would do, or what an apply did. */
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

/** The refusals that still stand. */
export const standingRefusals = (zone: ZonePlan): Refusal[] => zone.refusals.filter(({ allowed }) => !allowed)

function refused(zones: readonly ZonePlan[]): string {
  const count = zones.filter((zone) => standingRefusals(zone).length > 0).length
  return count === 0 ? '' : `; ${counted(count, 'zone')} refused`
}

function emptySummary({ plan }: Report): string {
  const invalid = plan.zones.filter(({ diagnostics }) => hasErrors(diagnostics)).length
  const matching = plan.zones.length - invalid
  const match = `${counted(matching, 'zone')} ${matching === 1 ? 'matches' : 'match'}`
  if (invalid === 0)
    return hasErrors(plan.diagnostics)
      ? `No changes were planned: there are errors.${matching > 0 ? ` ${match}.` : ''}`
      : `No changes. ${match}.`
  return `No changes. ${match}; ${counted(invalid, 'zone')} ${invalid === 1 ? 'has' : 'have'} errors.`
}
