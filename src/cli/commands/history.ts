/** `zonewright history`: options and output; the journal is read in `stored/journal/`. */
import type { Command } from 'commander'
import { type Diagnostic, hasErrors } from '../../base/diagnostic.ts'
import { counted } from '../../base/english.ts'
import { ownProcess } from '../../files/process-identity.ts'
import { writeProblem } from '../../files/write-problem.ts'
import type { History, RunView } from '../../report/history.ts'
import { EXIT, type ExitStatus } from '../../run/context/exit-status.ts'
import { loadRunConfig } from '../../run/load/run-config.ts'
import type { RunRecord } from '../../stored/journal/read-journal.ts'
import { type JournalledRuns, readRuns } from '../../stored/journal/read-journal.ts'
import { findRun, lastRun, pruneRuns, readRunReport } from '../../stored/journal/runs.ts'
import { fetchJournal, markRunning, removeStoredRuns } from '../../stored/store/fetch-journal.ts'
import { StoreError } from '../../stored/store/journal-store.ts'
import type { StoreContext } from '../../stored/store/open-store.ts'
import { type CommonOptions, positiveInteger, type SetAction, withConfigOption, withExamples, withFormatOption } from '../command.ts'
import type { CliIo } from '../io.ts'
import { type CliOutput, createOutput } from '../output.ts'

interface HistoryOptions extends CommonOptions {
  readonly last?: boolean
  /** Runs to keep. */
  readonly prune?: number
}

export function configure(command: Command, setAction: SetAction): void {
  withConfigOption(command)
    .argument('[run]', 'a run, or a prefix of its name')
    .option('--last', 'the latest run that changed something')
    .option('--prune <keep>', 'remove all runs except this many of the latest', positiveInteger)
  withExamples(command, 'history', 'history --last')
  setAction(withFormatOption(command, 'history'), history)
}

/** `zonewright history [run]`: lists runs, or shows one with its plan and outcomes. Contacts no server. */
async function history(io: CliIo, [name]: readonly [string | undefined], options: HistoryOptions): Promise<ExitStatus> {
  const output = createOutput(io, options)
  const { config, diagnostics } = await loadRunConfig(io, options.config, { packages: false, programs: false })
  output.diagnostics(diagnostics, { from: 'error' })
  if (config === null) return EXIT.failure
  if ([name !== undefined, options.last === true, options.prune !== undefined].filter(Boolean).length > 1) {
    output.error('usage', 'a run, --last and --prune exclude each other', 'give one of them')
    return EXIT.failure
  }
  const context = { ...io, config, journal: config.journal }
  const unread = await fetchJournal(context)
  const local = readRuns(config.journal, ownProcess())
  const { runs, problem } = unread === null ? await markRunning(context, local.runs) : { runs: local.runs, problem: unread }
  const read = { runs, diagnostics: [...(problem === null ? [] : [problem]), ...local.diagnostics] }
  if (options.prune !== undefined) {
    // A run that was not fetched is not known, nor is one that may still run.
    if (problem === null) return prune(context, output, read, options.prune)
    output.diagnostics(read.diagnostics)
    return EXIT.failure
  }
  const asked = await select(read, name, options)
  output.history(asked)
  return hasErrors(asked.diagnostics) ? EXIT.failure : EXIT.done
}

async function select(read: JournalledRuns, name: string | undefined, { last }: HistoryOptions): Promise<History> {
  if (name === undefined && !last) return { runs: read.runs.map(runView), diagnostics: read.diagnostics }
  const found = name === undefined ? lastRun(read.runs) : findRun(read.runs, name)
  // A run that cannot be read may be the requested one.
  if (found.run === null) return { runs: [], diagnostics: [found.diagnostic, ...read.diagnostics] }
  const detail = await readRunReport(found.run)
  const runs = [runView(found.run)]
  return detail.ok ? { runs, diagnostics: [], detail: detail.value } : { runs, diagnostics: [unreadable(detail.message)] }
}

const unreadable = (message: string): Diagnostic => ({ severity: 'error', code: 'journal-unreadable', message })

async function prune(
  context: StoreContext & Pick<CliIo, 'now'>,
  output: CliOutput,
  { runs, diagnostics }: JournalledRuns,
  keep: number,
): Promise<ExitStatus> {
  output.diagnostics(diagnostics)
  try {
    const removed = pruneRuns(context.journal, runs, keep, context.now())
    await removeStoredRuns(context, removed)
    output.print(`Removed ${counted(removed.length, 'run')}.\n`)
  } catch (error) {
    output.diagnostics([error instanceof StoreError ? unwritten(error) : writeProblem(error, context.journal)])
    return EXIT.failure
  }
  return hasErrors(diagnostics) ? EXIT.failure : EXIT.done
}

const unwritten = ({ message, hint }: StoreError): Diagnostic => ({ severity: 'error', code: 'journal-failed', message, hint })

/** A run for reports. */
function runView({ id, begin, last, status, figures, state, rolledBackBy }: RunRecord): RunView {
  const ended = status === null ? null : last
  return {
    run: id,
    command: begin.command,
    tool: begin.tool,
    process: begin.process.pid,
    host: begin.process.host,
    began: begin.time,
    ended,
    milliseconds: ended === null ? null : Math.max(0, Date.parse(ended) - Date.parse(begin.time)),
    status,
    state,
    rollsBack: begin.rollsBack?.run ?? null,
    rolledBackBy,
    approvedBy: begin.approvedBy ?? [],
    zones: begin.zones,
    ...figures,
  }
}
