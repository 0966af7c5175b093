/** `zonewright report`: renders a saved plan, a report or a run of the journal again. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { PLAN_KEY } from '../../config/resolve-secret.ts'
import { ownProcess } from '../../files/process-identity.ts'
import { mergeReports } from '../../report/report.ts'
import { EXIT, type ExitStatus } from '../../run/context/exit-status.ts'
import { loadRunConfig } from '../../run/load/run-config.ts'
import { readRuns } from '../../stored/journal/read-journal.ts'
import { findRun, lastRun, readRunReport } from '../../stored/journal/runs.ts'
import { type AnyReport, type ReadReport, readReport } from '../../stored/plans/read-report.ts'
import { fetchJournal } from '../../stored/store/fetch-journal.ts'
import { type CommonOptions, type SetAction, subcommand, withConfigOption, withExamples, withFormatOption } from '../command.ts'
import type { CliIo } from '../io.ts'
import { type CliOutput, createOutput } from '../output.ts'

interface ReportOptions extends CommonOptions {
  readonly last?: boolean
}

export function configure(command: Command, setAction: SetAction): void {
  withConfigOption(command)
    .argument('[file-or-run]', 'a saved plan, what --format json wrote, or a run of the journal')
    .option('--last', 'the latest run that changed something')
  withExamples(command, 'report plan.json --format html', 'report --last')
  setAction(withFormatOption(command, 'plan'), report)
  const merged = subcommand(command, 'merge', 'merge the reports of several jobs into one')
  setAction(withFormatOption(merged.argument('<file...>', 'saved plans, or what plan or apply --format json wrote'), 'plan'), merge)
}

/** `zonewright report [file-or-run]`. Contacts no server; reads the config only for a run. */
async function report(io: CliIo, [name]: readonly [string | undefined], options: ReportOptions): Promise<ExitStatus> {
  const output = createOutput(io, options)
  if ((name === undefined) !== (options.last === true)) {
    output.error('usage', 'name a file or a run, or give --last', 'such as "zonewright report plan.json --format html"')
    return EXIT.failure
  }
  const path = name === undefined ? null : resolve(io.cwd, name)
  const isFile = path !== null && (existsSync(path) || /[/\\]|\.json$/i.test(name ?? ''))
  const read = isFile ? await readReport(path, name as string, io.env[PLAN_KEY] || null) : await readRun(io, name, options)
  output.diagnostics(read.diagnostics)
  if (read.report === null) return EXIT.failure
  print(read.report, output)
  return EXIT.done
}

/** `zonewright report merge FILE…`: one report of the zones of all files. Contacts no server. */
async function merge(io: CliIo, [files]: readonly [string[]], options: ReportOptions): Promise<ExitStatus> {
  const output = createOutput(io, options)
  const read = await Promise.all(files.map((file) => readReport(resolve(io.cwd, file), file, io.env[PLAN_KEY] || null)))
  output.diagnostics(read.flatMap(({ diagnostics }) => diagnostics))
  if (read.some(({ report: one }) => one === null)) return EXIT.failure
  const reports = read.flatMap(({ report: one }) => (one?.kind === 'plan' ? one : []))
  if (reports.length < files.length) {
    output.error('usage', 'only reports of plans and applies are merged', 'render those of verify and validate one by one')
    return EXIT.failure
  }
  const merged = mergeReports(reports)
  if (!merged.ok) {
    output.error('usage', merged.message, 'name the report of each shard once')
    return EXIT.failure
  }
  print({ kind: 'plan', ...merged.value }, output)
  return EXIT.done
}

function print(report: AnyReport, output: CliOutput): void {
  if (report.kind === 'validation') output.validation(report.validation)
  else if (report.kind === 'verification') {
    const { zones, diagnostics } = report.verification
    output.diagnostics([...diagnostics, ...zones.flatMap((zone) => zone.diagnostics)], { also: 'before-zones' })
    output.verification(report.verification)
  } else {
    const { plan, outcomes } = report
    output.diagnostics([...plan.diagnostics, ...plan.zones.flatMap(({ diagnostics }) => diagnostics)], { also: 'with-zones' })
    if (outcomes === null) output.plan(plan)
    else output.outcome(plan, outcomes)
  }
}

/** The run with that name, or the last. */
async function readRun(io: CliIo, name: string | undefined, { config: file }: ReportOptions): Promise<ReadReport> {
  const { config, diagnostics } = await loadRunConfig(io, file, { packages: false, programs: false })
  if (config === null) return { report: null, diagnostics }
  const unread = await fetchJournal({ ...io, config, journal: config.journal })
  if (unread !== null) return { report: null, diagnostics: [unread] }
  const { runs } = readRuns(config.journal, ownProcess())
  const found = name === undefined ? lastRun(runs) : findRun(runs, name)
  const missing = name === undefined ? {} : { message: `there is neither a file ${name} nor a run of that name` }
  if (found.run === null) return { report: null, diagnostics: [{ ...found.diagnostic, ...missing }] }
  const run = await readRunReport(found.run)
  if (run.ok) return { report: { kind: 'plan', ...run.value }, diagnostics: [] }
  return { report: null, diagnostics: [{ severity: 'error', code: 'journal-unreadable', message: run.message }] }
}
