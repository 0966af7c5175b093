/** Reads what runs wrote, also runs that were killed: a last line that was torn is as good as none. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type ProcessIdentity, processStatus } from '../../definition/files/process-identity.ts'
import { describeReadError } from '../../definition/files/read-text.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { failure, ok, type Result } from '../../dns/result.ts'
import type { Action, Outcome, ZoneOutcome, ZonePlan } from '../../plan/plan.ts'
import type { DiagnosticDocument } from '../../report/plan-document.ts'
import {
  type BeginEntry,
  type CallEntry,
  countFigures,
  type EndEntry,
  isRunId,
  JOURNAL_FILE,
  type JournalEntry,
  type OutcomeEntry,
  type RunFigures,
  type ZoneEntry,
} from './journal-format.ts'
import { beginOf, endOf, entriesOf, LineTooLong, outerLinesOf } from './journal-lines.ts'

/** Of a call that has no outcome in the journal of a run that is over. */
const NO_ANSWER: Outcome = { state: 'unknown', error: 'the run ended before the answer came' }

export interface JournalledRuns {
  /** The latest first. */
  readonly runs: readonly RunRecord[]
  /** One error for each run that cannot be read. */
  readonly diagnostics: readonly Diagnostic[]
}

/** All runs of a journal. Of a run that ended only the outer lines are read. `here` is the process that asks. */
export function readRuns(journal: string, here: ProcessIdentity): JournalledRuns {
  const folder = join(journal, 'runs')
  const diagnostics: Diagnostic[] = []
  const runs: RunRecord[] = []
  for (const id of existsSync(folder) ? readdirSync(folder).filter(isRunId) : []) {
    const read = readRun(join(folder, id), id, here)
    if (read.ok) runs.push(read.value)
    else diagnostics.push({ severity: 'error', code: 'journal-unreadable', message: `run ${id}: ${read.message}` })
  }
  // Names tell the second only.
  runs.sort((a, b) => compareText(a.begin.time, b.begin.time) || compareText(a.id, b.id))
  return { runs: markRolledBack(runs).reverse(), diagnostics }
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

function readRun(folder: string, id: string, here: ProcessIdentity): Result<RunRecord> {
  const path = join(folder, JOURNAL_FILE)
  return guarded(() => {
    const { first, last } = outerLinesOf(path)
    const begin = first === null ? failure('its journal has no first line') : beginOf(first, id)
    if (!begin.ok) return begin
    const end = last === null ? null : endOf(last)
    if (end === null) return readUnfinished(path, id, begin.value, here)
    const { time, status, applied, failed, skipped, unknown } = end
    const figures = { applied, failed, skipped, unknown }
    return ok({ id, begin: begin.value, last: time, status, figures, state: endedState(end, begin.value), rolledBackBy: [] })
  })
}

const planned = ({ zones }: BeginEntry): number => zones.reduce((sum, { calls }) => sum + calls.total, 0)

/** The statuses of a run that SIGHUP, SIGINT or SIGTERM ended: 128 and the signal's number. */
const BY_SIGNAL: ReadonlySet<number> = new Set([129, 130, 143])

function endedState({ status, applied, unknown }: EndEntry, begin: BeginEntry): RunState {
  if (applied.total === planned(begin)) return 'applied'
  if (BY_SIGNAL.has(status)) return 'interrupted'
  return applied.total === 0 && unknown === 0 ? 'failed' : 'partial'
}

/** A run without an end: it goes on, or it was killed. All its lines tell what it did. */
function readUnfinished(path: string, id: string, begin: BeginEntry, here: ProcessIdentity): Result<RunRecord> {
  const gathered = gatherZones(entriesOf(path), begin)
  if (!gathered.ok) return gathered
  const { zones, last } = gathered.value
  const known = countFigures(
    zones.flatMap(({ outcomes, actions }) =>
      outcomes.flatMap((outcome, change) => (outcome ? [[actions[change] ?? 'update', outcome.state] as const] : [])),
    ),
  )
  const figures = { ...known, skipped: planned(begin) - known.applied.total - known.failed - known.unknown }
  const state = processStatus(begin.process, here) === 'running' ? 'running' : 'interrupted'
  return ok({ id, begin, last, status: null, figures, state, rolledBackBy: [] })
}

/** How the changes of every zone of a run ended, in the order of the run's zones. */
export function readRunZones(journal: string, { id, begin }: RunRecord): Result<readonly JournalledZone[]> {
  return guarded(() => {
    const gathered = gatherZones(entriesOf(join(journal, 'runs', id, JOURNAL_FILE)), begin)
    return gathered.ok ? ok(gathered.value.zones) : gathered
  })
}

interface GatheredZone extends JournalledZone {
  readonly outcomes: (Outcome | null)[]
  readonly actions: Action[]
  readBack: JournalledZone['readBack']
  diagnostics: JournalledZone['diagnostics']
}

function gatherZones(
  entries: Iterable<Result<JournalEntry>>,
  begin: BeginEntry,
): Result<{ readonly zones: readonly GatheredZone[]; readonly last: string }> {
  const zones = begin.zones.map((): GatheredZone => ({ outcomes: [], actions: [], readBack: 'not-read', diagnostics: [] }))
  let last = begin.time
  for (const entry of entries) {
    if (!entry.ok) return entry
    const line = entry.value
    last = line.time
    if (line.event === 'begin' || line.event === 'end') continue
    const zone = zones[line.zone]
    const of = begin.zones[line.zone]
    if (zone === undefined || of === undefined) return failure(`a line of its journal is of zone ${line.zone}, and it has ${zones.length}`)
    const changes = line.event === 'zone' ? line.settled.map(({ change }) => change) : [line.change]
    if (changes.some((change) => change >= of.calls.total))
      return failure(`a line of its journal is of a change that ${of.zone} does not have`)
    note(line, zone)
  }
  return ok({ zones, last })
}

function note(line: CallEntry | OutcomeEntry | ZoneEntry, zone: GatheredZone): void {
  switch (line.event) {
    case 'call':
      zone.actions[line.change] = line.action
      zone.outcomes[line.change] = NO_ANSWER
      return
    case 'outcome':
      zone.outcomes[line.change] = line.outcome
      return
    case 'zone':
      for (const { change, outcome } of line.settled) zone.outcomes[change] = outcome
      zone.readBack = line.readBack
      zone.diagnostics = line.diagnostics
  }
}

/** What the system says is no fault of the program. */
function guarded<T>(read: () => Result<T>): Result<T> {
  try {
    return read()
  } catch (error) {
    if (error instanceof LineTooLong) return failure(`its journal has ${error.message}`)
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    return failure(`its journal ${describeReadError(error)}`)
  }
}

/**
 * Says of each run which rollbacks took it back. Runs come in the order of time, and a rollback comes after what it rolls back, so from the end: one
 * that is itself taken back does not count.
 */
function markRolledBack(runs: readonly RunRecord[]): RunRecord[] {
  const standing = new Map<string, { whole: boolean; by: string[] }>()
  return runs
    .toReversed()
    .map((run): RunRecord => {
      const { whole = false, by = [] } = standing.get(run.id) ?? {}
      const { rollsBack } = run.begin
      if (rollsBack !== null && run.figures.applied.total > 0 && !whole) {
        const entry = standing.get(rollsBack.run) ?? { whole: false, by: [] }
        entry.whole ||= rollsBack.whole && run.state === 'applied'
        entry.by.unshift(run.id)
        standing.set(rollsBack.run, entry)
      }
      return { ...run, rolledBackBy: by, state: whole ? 'rolled-back' : run.state }
    })
    .reverse()
}

/** What a run was and what it came to, as its journal tells. */
/**
 * `applied`: all that was planned. `failed`: nothing of it. `partial`: some of it. `interrupted`: it was ended from outside, or vanished. `running`: it
 * has not ended yet. `rolled-back`: later rollbacks took all of it back.
 */
type RunState = 'applied' | 'failed' | 'partial' | 'interrupted' | 'running' | 'rolled-back'

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
interface JournalledZone {
  /** In the order of the zone's changes; null for one that was not begun. */
  readonly outcomes: readonly (Outcome | null)[]
  readonly readBack: ZoneOutcome['readBack']
  readonly diagnostics: readonly DiagnosticDocument[]
}

/** The outcome of every change of a plan. What an unfinished run had not begun is skipped. */
export const outcomesOf = ({ changes }: ZonePlan, { outcomes }: JournalledZone): Outcome[] =>
  changes.map((_, index) => outcomes[index] ?? { state: 'skipped', because: 'the run ended before it' })
