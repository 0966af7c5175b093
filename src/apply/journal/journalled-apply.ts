import type { ZoneOutcome } from '../../plan/plan.ts'
import { type ApplicableZone, type ApplyRun, applyZones } from '../apply-plan.ts'
import type { Journal } from './write-journal.ts'

/** Applies zones and notes it in the journal of the run. From the moment a line cannot be written no call goes out any more. */
export function applyJournalled(zones: readonly ApplicableZone[], run: ApplyRun, journal: Journal): Promise<ZoneOutcome[]> {
  const unwritten = new AbortController()
  return applyZones(zones, {
    ...run,
    stop: run.stop ? AbortSignal.any([run.stop, unwritten.signal]) : unwritten.signal,
    onCall(zone, index) {
      const problem = journal.call(zone, index)
      if (problem !== null && !unwritten.signal.aborted) unwritten.abort(problem)
      run.onCall?.(zone, index)
    },
    onOutcome(zone, index, outcome) {
      journal.outcome(zone, index, outcome)
      run.onOutcome?.(zone, index, outcome)
    },
    onZone(zone, outcome) {
      journal.zone(zone, outcome)
      run.onZone?.(zone, outcome)
    },
  })
}
