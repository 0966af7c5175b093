import type { Action, Outcome } from '../../plan/plan.ts'
import type { RunFigures } from './journal-entry.ts'

/** Counts outcomes; each is given with what its change does. */
export function countFigures(outcomes: Iterable<readonly [Action, Outcome['state']]>): RunFigures {
  const applied = { create: 0, update: 0, delete: 0, total: 0 }
  const others = { failed: 0, skipped: 0, unknown: 0 }
  for (const [action, state] of outcomes) {
    if (state !== 'applied') {
      others[state] += 1
      continue
    }
    applied[action] += 1
    applied.total += 1
  }
  return { applied, ...others }
}
