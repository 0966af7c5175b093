/** The exit statuses of the program. */
import { hasErrors, isError } from '../../base/diagnostic.ts'
import type { Plan, ZoneOutcome } from '../../plan/plan.ts'

/** The exit statuses of the program; a journal records that of its run. If several apply, the precedence is 1, 4, 3, 2. */
export const EXIT = {
  done: 0,
  /** Invalid input or a failure; also `apply` without consent. */
  failure: 1,
  /** Changes pending (`plan --detailed-exitcode`), differences found (`verify`), files to rewrite (`fmt --check`). */
  pending: 2,
  /** A safety limit refuses, or the zone of a saved plan has changed. */
  refused: 3,
  /** Only some of the changes were applied. */
  partial: 4,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const

export type ExitStatus = (typeof EXIT)[keyof typeof EXIT]

const PRECEDENCE: readonly ExitStatus[] = [
  EXIT.terminated,
  EXIT.interrupted,
  EXIT.hungUp,
  EXIT.failure,
  EXIT.partial,
  EXIT.refused,
  EXIT.pending,
]

/** The status with the highest precedence. */
export const worstOf = (statuses: Iterable<ExitStatus>): ExitStatus => {
  const all = new Set(statuses)
  return PRECEDENCE.find((status) => all.has(status)) ?? EXIT.done
}

/** Errors that refuse a plan. */
const REFUSALS: ReadonlySet<string> = new Set(['plan-stale', 'plan-outdated', 'not-approved'])

/** The status of a plan before it is applied: a failure, a refusal, or done. A saved plan that is stale or not approved is a refusal. */
export function statusOfPlan({ diagnostics, zones }: Plan): ExitStatus {
  const errors = [...diagnostics, ...zones.flatMap((zone) => zone.diagnostics)].filter(isError)
  if (errors.some(({ code }) => !REFUSALS.has(code))) return EXIT.failure
  const isRefused = zones.some(({ refusals }) => refusals.some(({ allowed }) => !allowed))
  return isRefused || errors.length > 0 ? EXIT.refused : EXIT.done
}

/** Done if everything was applied and confirmed, partial if some changes were applied, otherwise a failure. */
export function statusOfOutcomes(zones: readonly ZoneOutcome[]): ExitStatus {
  const states = zones.flatMap(({ outcomes }) => outcomes.map(({ state }) => state))
  const applied = states.filter((state) => state === 'applied').length
  const isUnconfirmed = zones.some((zone) => isComplete(zone) && (zone.readBack === 'different' || hasErrors(zone.diagnostics)))
  if (applied === states.length) return isUnconfirmed ? EXIT.failure : EXIT.done
  const incomplete = applied > 0 || states.includes('unknown') ? EXIT.partial : EXIT.failure
  return worstOf([incomplete, isUnconfirmed ? EXIT.failure : EXIT.done])
}

const isComplete = ({ outcomes }: ZoneOutcome): boolean => outcomes.every(({ state }) => state === 'applied')
