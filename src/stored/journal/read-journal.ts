/** Reads the journals of runs, including killed ones: an incomplete last line is ignored. */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { failure, ok, type Result } from '../../base/result.ts'
import { compareText } from '../../base/text.ts'
import { type ProcessIdentity, processStatus } from '../../files/process-identity.ts'
import { describeReadError } from '../../files/read-text.ts'
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
  plannedChanges,
  type RunFigures,
  type ZoneEntry,
} from './journal-format.ts'
import { beginOf, endOf, entriesOf, LineTooLong, outerLinesOf } from './journal-lines.ts'

/** The outcome of a call that has none in the journal. */
const NO_RESPONSE: Outcome = { state: 'unknown', error: 'the run ended before the response arrived' }

export interface JournalledRuns {
  /** The latest first. */
  readonly runs: readonly RunRecord[]
  /** One error for each run that cannot be read. */
  readonly diagnostics: readonly Diagnostic[]
}

/** Reads all runs of a journal. For a finished run reads only the first and last line. `here` is this process. */
export function readRuns(journal: string, here: ProcessIdentity): JournalledRuns {
  const folder = join(journal, 'runs')
  const diagnostics: Diagnostic[] = []
  const runs: RunRecord[] = []
  for (const id of runIdsIn(folder, diagnostics)) {
    const read = guarded(() => readRun(join(folder, id), id, here))
    if (read.ok) runs.push(read.value)
    else diagnostics.push({ severity: 'error', code: 'journal-unreadable', message: `run ${id}: ${read.message}` })
  }
  // Run ids are only precise to the second.
  runs.sort((a, b) => compareText(a.begin.time, b.begin.time) || compareText(a.id, b.id))
  return { runs: markRolledBack(runs).reverse(), diagnostics }
}

function runIdsIn(folder: string, diagnostics: Diagnostic[]): string[] {
  try {
    return readdirSync(folder).filter(isRunId)
  } catch (error) {
    const message = `the journal in ${dirname(folder)} ${describeReadError(error)}`
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') diagnostics.push({ severity: 'error', code: 'journal-unreadable', message })
    return []
  }
}

/** The largest journal of another machine, in octets. */
const MAX_JOURNAL = 1 << 28

/**
 * Reads the run of another machine, from its folder (with the journal and the plans) or the journal in it. The folder may have any name. `here` is this
 * process.
 */
export function readForeignRun(path: string, here: ProcessIdentity): Result<RunRecord> {
  return guarded(() => {
    const facts = statSync(path)
    const folder = facts.isDirectory() ? path : dirname(path)
    const journal = facts.isDirectory() ? join(path, JOURNAL_FILE) : path
    if (basename(journal) !== JOURNAL_FILE) return failure(`it is not the file ${JOURNAL_FILE} of a run`)
    if (facts.isDirectory() && existsSync(join(path, 'runs')))
      return failure('it is the journal of many runs: name one of the folders in "runs"')
    const file = statSync(journal)
    if (!file.isFile()) return failure('its journal is not a file')
    if (file.size > MAX_JOURNAL) return failure(`its journal has ${file.size} octets; at most ${MAX_JOURNAL} are read`)
    return readRun(folder, null, here)
  })
}

/** Reads one run; with an `id`, its journal must be of that run. Throws the system's error. */
function readRun(folder: string, id: string | null, here: ProcessIdentity): Result<RunRecord> {
  const path = join(folder, JOURNAL_FILE)
  const { first, last } = outerLinesOf(path)
  const begin = first === null ? failure('its journal has no first line') : beginOf(first, id)
  if (!begin.ok) return begin
  const end = last === null ? null : endOf(last)
  if (end === null) return readUnfinished(folder, begin.value, here)
  const { time, status, applied, failed, skipped, unknown } = end
  const figures = { applied, failed, skipped, unknown }
  const state = endedState(end, begin.value)
  return ok({ id: begin.value.run, folder, begin: begin.value, last: time, status, figures, state, rolledBackBy: [] })
}

const plannedInAll = ({ zones }: BeginEntry): number => zones.reduce((sum, { calls }) => sum + plannedChanges(calls), 0)

/** The exit statuses after SIGHUP, SIGINT and SIGTERM: 128 plus the signal's number. */
const BY_SIGNAL: ReadonlySet<number> = new Set([129, 130, 143])

function endedState({ status, applied, unknown }: EndEntry, begin: BeginEntry): RunState {
  if (applied.total === plannedInAll(begin)) return 'applied'
  if (BY_SIGNAL.has(status)) return 'interrupted'
  return applied.total === 0 && unknown === 0 ? 'failed' : 'partial'
}

/** Reads all lines of a run without an end: it is running, or it was killed. */
function readUnfinished(folder: string, begin: BeginEntry, here: ProcessIdentity): Result<RunRecord> {
  const collected = collectZones(entriesOf(join(folder, JOURNAL_FILE)), begin)
  if (!collected.ok) return collected
  const { zones, last } = collected.value
  const known = countFigures(
    zones.flatMap(({ outcomes, actions }) =>
      outcomes.flatMap((outcome, change) => (outcome ? [[actions[change] ?? 'update', outcome.state] as const] : [])),
    ),
  )
  const figures = { ...known, skipped: plannedInAll(begin) - known.applied.total - known.failed - known.unknown }
  const state = processStatus(begin.process, here) === 'running' ? 'running' : 'interrupted'
  return ok({ id: begin.run, folder, begin, last, status: null, figures, state, rolledBackBy: [] })
}

/** The outcomes of every zone of a run, in the order of the run's zones. */
export function readRunZones({ folder, begin }: RunRecord): Result<readonly JournalledZone[]> {
  return guarded(() => {
    const collected = collectZones(entriesOf(join(folder, JOURNAL_FILE)), begin)
    return collected.ok ? ok(collected.value.zones) : collected
  })
}

interface CollectedZone extends JournalledZone {
  readonly outcomes: (Outcome | null)[]
  readonly actions: Action[]
  readBack: JournalledZone['readBack']
  diagnostics: JournalledZone['diagnostics']
}

function collectZones(
  entries: Iterable<Result<JournalEntry>>,
  begin: BeginEntry,
): Result<{ readonly zones: readonly CollectedZone[]; readonly last: string }> {
  const zones = begin.zones.map((): CollectedZone => ({ outcomes: [], actions: [], readBack: 'not-read', diagnostics: [] }))
  let last = begin.time
  for (const entry of entries) {
    if (!entry.ok) return entry
    const line = entry.value
    last = line.time
    if (line.event === 'begin' || line.event === 'end') continue
    const zone = zones[line.zone]
    const planned = begin.zones[line.zone]
    if (zone === undefined || planned === undefined)
      return failure(`a line of its journal names zone ${line.zone}; it has ${zones.length} zones`)
    if (changesOf(line).some((change) => change >= plannedChanges(planned.calls)))
      return failure(`a line of its journal names a change that the plan of ${planned.zone} does not have`)
    note(line, zone)
  }
  return ok({ zones, last })
}

const changesOf = (line: CallEntry | OutcomeEntry | ZoneEntry): number[] =>
  line.event === 'outcome' ? [line.change] : (line.event === 'call' ? line.changes : line.resolved).map(({ change }) => change)

function note(line: CallEntry | OutcomeEntry | ZoneEntry, zone: CollectedZone): void {
  switch (line.event) {
    case 'call':
      for (const { change, action } of line.changes) {
        zone.actions[change] = action
        zone.outcomes[change] = NO_RESPONSE
      }
      return
    case 'outcome':
      zone.outcomes[line.change] = line.outcome
      return
    case 'zone':
      for (const { change, outcome } of line.resolved) zone.outcomes[change] = outcome
      zone.readBack = line.readBack
      zone.diagnostics = line.diagnostics
  }
}

/** Turns a system error into a failure. */
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
 * Adds its rollbacks to each run. Takes the runs in chronological order. A rollback follows its run, so runs are visited from the end: a rollback that was
 * itself rolled back is ignored.
 */
function markRolledBack(runs: readonly RunRecord[]): RunRecord[] {
  const effective = new Map<string, { whole: boolean; by: string[] }>()
  return runs
    .toReversed()
    .map((run): RunRecord => {
      const { whole = false, by = [] } = effective.get(run.id) ?? {}
      const { rollsBack } = run.begin
      if (rollsBack !== null && run.figures.applied.total > 0 && !whole) {
        const entry = effective.get(rollsBack.run) ?? { whole: false, by: [] }
        entry.whole ||= rollsBack.whole && run.state === 'applied'
        entry.by.unshift(run.id)
        effective.set(rollsBack.run, entry)
      }
      return { ...run, rolledBackBy: by, state: whole ? 'rolled-back' : run.state }
    })
    .reverse()
}

/**
 * `applied`: all changes were applied. `failed`: none. `partial`: some. `interrupted`: a signal ended the run, or it was killed. `running`: it has not
 * ended. `rolled-back`: later rollbacks undid all changes.
 */
type RunState = 'applied' | 'failed' | 'partial' | 'interrupted' | 'running' | 'rolled-back'

export interface RunRecord {
  readonly id: string
  /** The absolute path of the folder with its journal and plans. */
  readonly folder: string
  readonly begin: BeginEntry
  /** The time of its end, or else of its last line (ISO 8601). */
  readonly last: string
  /** The exit status; null without an end. */
  readonly status: number | null
  readonly figures: RunFigures
  readonly state: RunState
  /** The rollbacks of it that changed something and were not rolled back, oldest first. */
  readonly rolledBackBy: readonly string[]
}

/** The outcomes of one zone of a run. */
interface JournalledZone {
  /** In the order of the zone's changes; null for a change that was not started. */
  readonly outcomes: readonly (Outcome | null)[]
  readonly readBack: ZoneOutcome['readBack']
  readonly diagnostics: readonly DiagnosticDocument[]
}

/** The outcome of every change of a plan. A change that an unfinished run had not started is skipped. */
export const outcomesOf = ({ changes }: ZonePlan, { outcomes }: JournalledZone): Outcome[] =>
  changes.map((_, index) => outcomes[index] ?? { state: 'skipped', because: 'the run ended first' })
