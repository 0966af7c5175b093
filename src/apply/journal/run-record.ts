/** What a run was and what it came to, as its journal tells. */
import type { Outcome, ZoneOutcome, ZonePlan } from '../../plan/plan.ts'
import type { DiagnosticDocument } from '../../report/plan-document.ts'
import type { BeginEntry, RunFigures } from './journal-entry.ts'

/**
 * `applied`: all that was planned. `failed`: nothing of it. `partial`: some of it. `interrupted`: it was ended from outside, or vanished. `running`: it
 * has not ended yet. `rolled-back`: later rollbacks took all of it back.
 */
export type RunState = 'applied' | 'failed' | 'partial' | 'interrupted' | 'running' | 'rolled-back'

export interface RunRecord {
  readonly id: string
  readonly begin: BeginEntry
  /** Time of its end, ISO 8601; of its last line where it has none. */
  readonly last: string
  /** The exit status; null where the run has no end. */
  readonly status: number | null
  readonly figures: RunFigures
  readonly state: RunState
  /** Rollbacks of it that changed something and stand, the first one first. */
  readonly rolledBackBy: readonly string[]
}

/** One zone of a run: how its changes ended as far as its journal tells, one outcome a change of its plan. */
export interface JournalledZone {
  /** In the order of the zone's changes; null for one that was not begun. */
  readonly outcomes: readonly (Outcome | null)[]
  readonly readBack: ZoneOutcome['readBack']
  readonly diagnostics: readonly DiagnosticDocument[]
}

/** The outcome of every change of a plan. What an unfinished run had not begun is skipped. */
export const outcomesOf = ({ changes }: ZonePlan, { outcomes }: JournalledZone): Outcome[] =>
  changes.map((_, index) => outcomes[index] ?? { state: 'skipped', because: 'the run ended before it' })
