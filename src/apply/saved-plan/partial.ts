/** `apply PLANFILE --partial`: zones that have changed since the plan was made are left out and do not hold up the others. */
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { agreeing, counted, listed } from '../../report/english.ts'
import type { ChangesToMake } from '../apply-zones.ts'
import { EXIT, type ExitStatus, statusOfPlan } from '../exit-status.ts'
import { type PlannedZone, type PlannedZones, planOf } from '../planned-zone.ts'

/** The error for `--partial` without a saved plan: a plan that is made and applied in one run has no zones to leave out. */
export const PARTIAL_WITHOUT_PLAN: Diagnostic = {
  severity: 'error',
  code: 'usage',
  message: '--partial is for saved plans only',
  hint: 'save one with "zonewright plan --out plan.json"; without a plan file, name the zones to apply',
}

/** The changes without the zones that have changed or could not be read. */
export const withoutRefusedZones = (planned: ChangesToMake): ChangesToMake => ({
  ...planned,
  zones: planned.zones.filter((zone) => !isRefused(zone)),
})

const isRefused = ({ plan }: PlannedZone): boolean => plan.refused !== undefined

/** The status for the zones that were left out. `applied`: whether the run changed any other. */
export function statusOfRefusedZones(planned: PlannedZones, applied: boolean): ExitStatus {
  const status = statusOfPlan(planOf({ ...planned, zones: planned.zones.filter(isRefused), diagnostics: [] }))
  return status === EXIT.failure && applied ? EXIT.partial : status
}

/** Names the zones that were left out; null if none was. */
export function refusedZonesText({ zones }: PlannedZones): string | null {
  const names = zones.filter(isRefused).map(({ plan }) => `${plan.zone} at ${plan.target}`)
  if (names.length === 0) return null
  return `Not applied: ${counted(names.length, 'zone')} that ${agreeing(names.length, 'has', 'have')} changed since the plan was made or could not be read: ${listed(names, MAX_NAMED)}. Plan ${agreeing(names.length, 'it', 'them')} again.`
}

const MAX_NAMED = 100
