/** The output of a command: reports on standard output; messages, diagnostics and progress on standard error. */
import { readFileSync, statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { type Diagnostic, hasErrors, isError, oneLine, type Severity } from '../base/diagnostic.ts'
import { counted, durationText, formatCount } from '../base/english.ts'
import { TOOL } from '../base/version.ts'
import { pagesOf, readJob } from '../ci/job.ts'
import { CONFIG_FILE } from '../config/config.ts'
import type { DomainName } from '../dns/domain-name.ts'
import { displayPath, isInside, resolveLinks } from '../files/file-path.ts'
import type { Misfit } from '../plan/misfits.ts'
import type { Plan, ZoneOutcome, ZonePlan } from '../plan/plan.ts'
import { countDiagnostics, renderDiagnostics } from '../report/diagnostics-report.ts'
import type { ReportFormat } from '../report/formats.ts'
import { type GroupOptions, isAbridged } from '../report/group-diagnostics.ts'
import { type History, renderHistoryJson, renderHistoryText } from '../report/history.ts'
import { misfitTable } from '../report/misfit-table.ts'
import { renderOutcome, renderPlan, renderValidation, renderVerification } from '../report/render-report.ts'
import type { ReportOptions } from '../report/report.ts'
import { type Validation, validatedText } from '../report/validation.ts'
import type { Verification } from '../report/verification.ts'
import { type FromRoot, plainLines } from '../report/workflow-command.ts'
import type { ApplyOutput, DiagnosticsOptions, Progress, ProgressBar } from '../run/context/run-context.ts'
import type { CommonOptions } from './command.ts'
import { type CliIo, COMMAND_LINE, colorOf, fitLines, isWorkflow, type TextStream, widthOf } from './io.ts'
import { readEvent } from './read-event.ts'

/** Prints reports on standard output, and everything else on standard error. Knows the format of the report. */
export interface CliOutput extends ApplyOutput {
  /** Writes text on standard output as it is. */
  print(text: string): void
  /** Writes prose on standard output, in lines that fit a terminal. Commands stay whole. */
  printProse(text: string): void
  /** Writes a report on standard output, in the format of the command if absent. In a GitHub Actions job, a text report contains no workflow command. */
  report(text: string, format?: string): void
  /** Writes a report that has these formats. */
  formatted(renderers: Readonly<Record<string, (options: ReportOptions & { readonly quiet: boolean }) => string>>): void
  /**
   * Writes diagnostics on standard error, with a count if they are many. `--quiet` leaves out all except errors. With `secret`, no source lines are shown.
   */
  diagnostics(diagnostics: readonly Diagnostic[], options?: DiagnosticsOptions & { readonly secret?: boolean }): void
  /** Writes a table of what a target does not support, on standard error. */
  misfits(zone: DomainName, target: string, misfits: readonly Misfit[]): void
  verification(verification: Verification): void
  /** Writes a document of a run that could not verify. */
  unverified(diagnostics: readonly Diagnostic[]): void
  /** Writes a validation. As text and annotations it is its diagnostics. */
  validation(validation: Validation): void
  history(history: History): void
}

/** Options for diagnostics of conversions: warnings appear despite `--quiet`, since every loss is reported. */
export const lossReportOptions = ({ quiet }: CommonOptions): { readonly from?: Severity } => (quiet === true ? { from: 'warning' } : {})

const RANK: Readonly<Record<Severity, number>> = { notice: 0, warning: 1, error: 2 }

/** The largest source file, in octets, of which lines are shown with a diagnostic. */
const MAX_FRAME_SOURCE = 20_000_000

const ALL_HINT = ' --verbose lists all.'

/** Warnings and notices shown for a plan without changes, so that it stays short. */
const SHOWN_WITHOUT_CHANGES = 4

/** Above this number of diagnostics, their counts follow. */
const COUNTED_ABOVE = 10

/** The line of a record in a plan. With `--verbose` it has the whole value, and a terminal copies it as one line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: a style begins with ESC
const RECORD_ROW = /^(?:\u001b\[[0-9;]*m)? {2}[+-] /

export function createOutput(io: CliIo, options: CommonOptions): CliOutput {
  const quiet = options.quiet === true
  const verbose = options.verbose === true
  const format = (options.format ?? 'text') as ReportFormat
  const isDocument = format !== 'text'
  let isPlanShown = false
  let bar: ProgressBar | null = null
  const say = (text: string): void => {
    bar?.clear()
    io.stderr.write(fitLines(io, io.stderr, `${oneLine(text)}\n`))
  }
  const reportOptions = (): ReportOptions => ({
    color: colorOf(io.stdout, io, options.color),
    width: io.stdout.isTTY === true && !verbose ? widthOf(io.stdout) : null,
    verbose,
    tool: TOOL,
    ...(format === 'html' && { origin: originOf(io) }),
    fromRoot: fromRoot(io),
  })
  /** Lines of the config are never shown, since they may have a secret in plain text; nor are files with a secret of the run. */
  const isConfig = (file: string): boolean =>
    basename(file) === CONFIG_FILE || (options.config !== undefined && resolve(io.cwd, file) === resolve(io.cwd, options.config))
  const framedText = (path: string): string | undefined => {
    const text = sourceText(path)
    return text === undefined || (io.secrets.guard?.find(text) ?? null) !== null ? undefined : text
  }
  const render = (
    diagnostics: readonly Diagnostic[],
    stream: TextStream,
    format: 'text' | 'github',
    groups: GroupOptions,
    secret = false,
  ): string => {
    const frames = secret ? undefined : (file: string) => (isConfig(file) ? undefined : framedText(resolve(io.cwd, file)))
    const brief = stream.isTTY !== true && !verbose
    const color = colorOf(stream, io, options.color)
    const width = stream.isTTY === true ? widthOf(stream) : null
    const text = renderDiagnostics(diagnostics, { color, width, frames, brief, calls: verbose, format, groups, fromRoot: fromRoot(io) })
    return format === 'text' ? fitLines(io, stream, text) : text
  }
  /** A pager shows a long text, with its last line first if that is its summary. */
  const write = (text: string, as: string, isSummed: boolean): void => {
    const fitted = as === 'text' ? fitLines(io, io.stdout, text, verbose ? RECORD_ROW : null) : text
    const shown = as === 'text' && isWorkflow(io) ? plainLines(fitted) : fitted
    const first = isSummed ? `${text.trimEnd().split('\n').at(-1)}\n\n` : ''
    if (as !== 'text' || options.yes === true || io.pager?.show(first + shown) !== true) io.stdout.write(shown)
  }
  const report: CliOutput['report'] = (text, as = format) => write(text, as, false)
  const reportPlan = (plan: Plan, outcomes: readonly ZoneOutcome[] | null): void => {
    // The diagnostics of a text report are already on standard error.
    const view = { ...reportOptions(), diagnostics: isDocument, planShown: outcomes !== null && isPlanShown }
    write(outcomes === null ? renderPlan(plan, format, view) : renderOutcome(plan, outcomes, format, view), format, true)
  }
  const reportVerification = (verification: Verification): void =>
    write(renderVerification(verification, format, reportOptions()), format, true)
  const onStandardError: CliOutput['diagnostics'] = (diagnostics, { from = quiet ? 'error' : 'notice', secret, atMost, also } = {}) => {
    if (isInReport(format, also)) return
    bar?.clear()
    const shown = diagnostics.filter(({ severity }) => (verbose && !quiet) || RANK[severity] >= RANK[from])
    const groups = { all: verbose, atMost: verbose ? undefined : atMost }
    io.stderr.write(render(shown, io.stderr, 'text', groups, secret))
    const abridged = isAbridged(shown, groups)
    if (abridged || shown.length > COUNTED_ABOVE) say(`${countAll(shown)}.${abridged ? ALL_HINT : ''}`)
  }
  return {
    isDocument,
    say,
    note: (text) => {
      if (!quiet) say(text)
    },
    async ask(question, stop) {
      if (!canAsk(io)) return 'no-terminal'
      await io.pager?.closed()
      const answer = await confirm(io, question, stop)
      // Ends the line of the unanswered question.
      if (answer === 'interrupted') say('')
      return answer
    },
    print: (text) => void io.stdout.write(text),
    printProse: (text) => void io.stdout.write(fitLines(io, io.stdout, text, COMMAND_LINE)),
    report,
    diagnostics: onStandardError,
    error: (code, message, hint) => onStandardError([{ severity: 'error', code, message, hint }]),
    formatted: (renderers) => report(renderers[format]?.({ ...reportOptions(), quiet }) ?? ''),
    planDiagnostics: ({ zones, diagnostics }) => {
      const inZones = isDocument ? [] : zones.flatMap((zone) => zone.diagnostics)
      const isUnchanged = zones.every(({ changes }) => changes.length === 0)
      onStandardError([...diagnostics, ...inZones], { also: 'before-zones', ...(isUnchanged && { atMost: SHOWN_WITHOUT_CHANGES }) })
    },
    plan: (plan) => reportPlan(plan, null),
    proposal: (plan) => {
      if (isDocument) return
      reportPlan(plan, null)
      isPlanShown = true
    },
    outcome: reportPlan,
    unchanged: (plan) => {
      if (isDocument) reportPlan(plan, [])
    },
    unplanned: (diagnostics) => {
      if (isDocument) reportPlan({ created: io.now().toISOString(), tool: TOOL, zones: [], diagnostics }, null)
    },
    misfits: (zone, target, misfits) => misfitTable(zone, target, misfits, verbose).forEach(say),
    validation: (validation) => {
      if (format !== 'text' && format !== 'github') return report(renderValidation(validation, format, reportOptions()))
      const { figures, diagnostics } = validation
      const shown = quiet ? diagnostics.filter((diagnostic) => diagnostic.severity !== 'notice') : diagnostics
      const groups = { all: verbose }
      report(render(shown, io.stdout, format, groups))
      if (isAbridged(shown, groups)) say(ALL_HINT.trim())
      const count = countDiagnostics(diagnostics)
      if (!quiet || count !== null) say(`${validatedText(figures)}: ${count ?? 'no problems'}.`)
    },
    verification: reportVerification,
    unverified: (diagnostics) => {
      if (isDocument) reportVerification({ zones: [], diagnostics })
    },
    history: (history) => {
      if (isDocument) return report(renderHistoryJson(history))
      onStandardError(history.diagnostics)
      if (history.runs.length > 0 || !hasErrors(history.diagnostics)) report(renderHistoryText(history, reportOptions()))
    },
    progress: () => {
      bar = progressBar(io.stderr, !quiet && io.env['TERM'] !== 'dumb', () => io.now().getTime())
      return bar
    },
  }
}

/** An output for several plans of one run. Text is printed at once; a document must be the only one, so `print` writes it at the end, with the last plan of each zone. */
export function oneReport(io: CliIo, options: CommonOptions): { readonly output: CliOutput; print(): void } {
  const errors: Diagnostic[] = []
  const output = createOutput(io, options)
  if (!output.isDocument) return { output, print: () => undefined }
  const zones = new Map<string, ZonePlan>()
  const outcomes = new Map<string, ZoneOutcome>()
  const created = io.now().toISOString()
  const keyOf = ({ zone, target }: ZonePlan): string => JSON.stringify([zone, target])
  const keep = (plan: Plan, of: readonly ZoneOutcome[]): void => {
    for (const zone of plan.zones) {
      zones.set(keyOf(zone), zone)
      outcomes.delete(keyOf(zone))
    }
    for (const outcome of of) outcomes.set(keyOf(outcome.plan), outcome)
  }
  const print = (): void => {
    const plans = [...zones.values()]
    const known = new Set([...plans, ...outcomes.values()].flatMap((zone) => zone.diagnostics.map(({ message }) => message)))
    const others = errors.filter(({ message }) => !known.has(message))
    output.outcome({ created, tool: TOOL, zones: plans, diagnostics: others }, [...outcomes.values()])
  }
  const own: Partial<CliOutput> = {
    diagnostics(diagnostics, more) {
      if (!isInReport(options.format, more?.also)) errors.push(...diagnostics.filter(isError))
      output.diagnostics(diagnostics, more)
    },
    planDiagnostics(plan) {
      if (!isInReport(options.format, 'before-zones')) errors.push(...plan.diagnostics.filter(isError))
      output.planDiagnostics(plan)
    },
    outcome: keep,
    unchanged: (plan) => keep(plan, []),
    unplanned: () => undefined,
  }
  return { output: { ...output, ...own }, print }
}

/** Whether the reader of a format sees diagnostics in the report. A GitHub job has standard error and the annotations of the report in one log. */
const isInReport = (format: string | undefined, also: DiagnosticsOptions['also']): boolean =>
  also !== undefined && (format === 'github' || (also === 'with-zones' && format !== undefined && format !== 'text'))

/** When a report is made, and the commit and pull request of the CI job. */
function originOf({ env, now }: CliIo): ReportOptions['origin'] {
  const job = readJob(env, readEvent)
  return { time: now().toISOString(), links: job.ok ? pagesOf(job.value) : [] }
}

/** In a GitHub job inside a repository, names files relative to its root. */
function fromRoot({ cwd, env }: CliIo): FromRoot | undefined {
  const root = env['GITHUB_WORKSPACE']
  if (!root || !isInside(resolveLinks(cwd), resolveLinks(resolve(root)))) return undefined
  return (file) => displayPath(resolve(resolveLinks(cwd), file), resolveLinks(resolve(root)))
}

/** `2 errors, 1 warning, 300 notices`. */
function countAll(diagnostics: readonly Diagnostic[]): string {
  const severities = ['error', 'warning', 'notice'] as const
  const counts = severities.map((severity) => [diagnostics.filter((one) => one.severity === severity).length, severity] as const)
  return counts.flatMap(([count, severity]) => (count === 0 ? [] : [counted(count, severity)])).join(', ')
}

function sourceText(path: string): string | undefined {
  try {
    const facts = statSync(path)
    return facts.isFile() && facts.size <= MAX_FRAME_SOURCE ? readFileSync(path, 'utf8') : undefined
  } catch {
    return undefined
  }
}

const LABELS: Record<Progress['phase'], string> = { reading: 'Reading zones', applying: 'Applying', asking: 'Asking name servers' }

/** Milliseconds before a progress bar appears, and between two updates. */
const PATIENCE = 400
const INTERVAL = 100

/** Milliseconds before the rest is estimated. */
const ESTIMATED_AFTER = 2_000

/** `, about 4 min left`: at the rate so far. Empty at the begin and at the end. */
export function estimateOfRest(elapsed: number, done: number, total: number): string {
  const seconds = Math.round(((elapsed / done) * (total - done)) / 1000)
  if (elapsed < ESTIMATED_AFTER || done === 0 || seconds < 1) return ''
  // Less exact the longer it takes.
  const step = seconds < 60 ? 1 : seconds < 3600 ? 60 : 600
  return `, about ${durationText(Math.round(seconds / step) * step)} left`
}

/** A progress bar for long work, with an estimate of the rest; shows nothing if the stream is not a terminal, or cannot erase a line. */
function progressBar(stream: TextStream, enabled: boolean, clock: () => number): ProgressBar {
  const start = clock()
  let drawnAt = 0
  let shown = false
  const clear = (): void => {
    if (shown) stream.write('\r\u001b[2K')
    shown = false
  }
  if (!enabled || stream.isTTY !== true) return { onProgress: () => undefined, clear }
  return {
    clear,
    onProgress({ phase, done, total }) {
      const now = clock()
      if (now - start < PATIENCE || (now - drawnAt < INTERVAL && done < total)) return
      drawnAt = now
      shown = true
      const width = widthOf(stream)
      const count = ` ${formatCount(done)} of ${formatCount(total)}`
      const rest = estimateOfRest(now - start, done, total)
      const text = LABELS[phase].length + count.length + rest.length < width ? count + rest : count
      const room = Math.min(30, width - LABELS[phase].length - text.length - 4)
      const filled = total === 0 ? 0 : Math.round((done / total) * Math.max(0, room))
      const bar = room > 4 ? ` [${'='.repeat(filled)}${' '.repeat(room - filled)}]` : ''
      stream.write(`\r\u001b[2K${LABELS[phase]}${bar}${text}`)
    },
  }
}

// Asks for consent on the terminal.

/** Whether the user can be asked: standard input and standard error are a terminal. */
export const canAsk = (io: CliIo): boolean => io.stdin.isTTY === true && io.stderr.isTTY === true

type Answer = 'yes' | 'no' | 'interrupted'

/** Asks on the terminal. Only `yes` or `y` is consent. Ctrl-C at the prompt and `stop` interrupt it. */
export function confirm(io: CliIo, question: string, stop: AbortSignal): Promise<Answer> {
  if (stop.aborted) return Promise.resolve('interrupted')
  const terminal = createInterface({ input: io.stdin, output: io.stderr as NodeJS.WritableStream })
  return new Promise((resolve) => {
    const interrupt = (): void => end('interrupted')
    let answered = false
    const end = (answer: Answer): void => {
      answered = true
      stop.removeEventListener('abort', interrupt)
      resolve(answer)
      terminal.close()
    }
    stop.addEventListener('abort', interrupt)
    // While readline owns the terminal, Ctrl-C is a key and not a signal.
    terminal.on('SIGINT', interrupt)
    terminal.on('close', () => {
      if (!answered) io.stderr.write('\n')
      end('no')
    })
    terminal.question(fitLines(io, io.stderr, `${question} [y/N] `), (text) => end(/^y(?:es)?$/i.test(text.trim()) ? 'yes' : 'no'))
  })
}
