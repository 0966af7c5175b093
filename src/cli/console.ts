import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Diagnostic, Severity } from '../model/diagnostic.ts'
import type { Plan, ZoneOutcome } from '../plan/plan.ts'
import { renderDiagnostics } from '../report/diagnostics-report.ts'
import { type ReportFormat, renderOutcome, renderPlan } from '../report/render-report.ts'
import type { ReportOptions } from '../report/report.ts'
import type { CommonOptions } from './common-options.ts'
import { type CliIo, colorOf, type TextStream, widthOf } from './io.ts'
import { type ProgressBar, progressBar } from './progress-bar.ts'

/** What commands say, and where: reports on standard output, everything else on standard error. */
export interface Console {
  /** A line on standard error. */
  say(text: string): void
  /** Text on standard output. */
  print(text: string): void
  /** Diagnostics on standard error, those of lower severity left out with `--quiet`; on `stream` instead where they are the report. */
  diagnostics(
    diagnostics: readonly Diagnostic[],
    options?: { readonly from?: Severity; readonly stream?: TextStream; readonly format?: 'text' | 'github' },
  ): void
  plan(plan: Plan, format: ReportFormat): void
  outcome(plan: Plan, outcomes: readonly ZoneOutcome[], format: ReportFormat): void
  progress(): ProgressBar
}

const RANK: Readonly<Record<Severity, number>> = { notice: 0, warning: 1, error: 2 }

/** Octets of a source file that is shown around a fault. */
const MAX_FRAME_SOURCE = 20_000_000

export function createConsole(io: CliIo, options: CommonOptions): Console {
  const quiet = options.quiet === true
  const verbose = options.verbose === true
  const reportOptions = (): ReportOptions => ({
    color: colorOf(io.stdout, io, options.color),
    width: io.stdout.isTTY === true && !verbose ? widthOf(io.stdout) : null,
    verbose,
  })
  return {
    say: (text) => void io.stderr.write(`${text}\n`),
    print: (text) => void io.stdout.write(text),
    diagnostics(diagnostics, { from = quiet ? 'error' : 'notice', stream = io.stderr, format = 'text' } = {}) {
      const shown = diagnostics.filter((diagnostic) => RANK[diagnostic.severity] >= RANK[from])
      const frames = stream.isTTY === true || verbose ? (file: string) => sourceText(resolve(io.cwd, file)) : undefined
      stream.write(renderDiagnostics(shown, { color: colorOf(stream, io, options.color), frames, format }))
    },
    // In a text report the diagnostics are on standard error already.
    plan: (plan, format) => void io.stdout.write(renderPlan(plan, format, { ...reportOptions(), diagnostics: format !== 'text' })),
    outcome: (plan, outcomes, format) =>
      void io.stdout.write(renderOutcome(plan, outcomes, format, { ...reportOptions(), diagnostics: format !== 'text' })),
    progress: () => progressBar(io.stderr, !quiet, () => io.now().getTime()),
  }
}

function sourceText(path: string): string | undefined {
  try {
    const text = readFileSync(path, 'utf8')
    return text.length > MAX_FRAME_SOURCE ? undefined : text
  } catch {
    return undefined
  }
}
