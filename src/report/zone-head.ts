import { oneLine } from '../dns/diagnostic.ts'
import { displayName } from '../dns/domain-name.ts'
import type { RenderedState, ZonePlan } from '../plan/plan.ts'
import { counted, formatCount } from './counts.ts'
import type { ZoneView } from './report.ts'

/** The zone's name; one with A-labels also as Unicode. */
export function zoneTitle({ zone, target }: ZonePlan): string {
  const shown = displayName(zone)
  const unicode = shown === zone ? '' : ` (${oneLine(shown)})`
  return `${oneLine(zone)}${unicode} at ${oneLine(target)}`
}

/** How many records the zone has and will have, of how many it may hold. */
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

/** What is said of the zone as a whole: that it is new or goes. */
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

/** How the rendered zone file compares; null where there is nothing to say unless everything is to be said. */
export function renderedText({ rendered }: ZonePlan, verbose: boolean): string | null {
  if (!verbose && (rendered === 'match' || rendered === 'unavailable')) return null
  return `rendered zone file: ${RENDERED[rendered]}`
}

/** What reading the records again after the changes showed; null where there is nothing to say. */
export function readBackText({ readBack, outcomes }: ZoneView, verbose: boolean): string | null {
  if (readBack === 'different') return 'read again: the records are not what the plan makes'
  if (readBack === 'equal') return verbose ? 'read again: the records are what the plan makes' : null
  return outcomes?.some(({ state }) => state === 'applied' || state === 'unknown') ? 'read again: not possible' : null
}

/** `1 to create, 2 to delete (3 calls)`: only what there is. */
export function callFigures({ calls }: ZonePlan): string {
  const actions = ['create', 'update', 'delete'] as const
  const parts = actions.flatMap((action) => (calls[action] === 0 ? [] : [`${formatCount(calls[action])} to ${action}`]))
  return `${parts.join(', ')} (${counted(calls.total, 'call')})`
}

/** Whether a reader who wants no more than he needs must see the zone. */
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
