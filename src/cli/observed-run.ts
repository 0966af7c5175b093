/** Runs a flow and then tells others about it: notifications and a file of metrics. Neither changes the exit status. */
import { resolve } from 'node:path'
import type { Diagnostic } from '../base/diagnostic.ts'
import { writeFileAtomically } from '../files/replace-files.ts'
import { writeProblem } from '../files/write-problem.ts'
import { type FlowSetup, recordRun } from '../library/run.ts'
import type { RunDocument } from '../report/run-document.ts'
import { EXIT, type ExitStatus } from '../run/context/exit-status.ts'
import type { NotifyOptions } from '../run/notify.ts'
import type { CommonOptions } from './command.ts'
import type { CliIo } from './io.ts'

export interface ObserveOptions extends NotifyOptions {
  readonly metricsFile?: string | undefined
}

/** Returns the exit status of the run. An option that cannot be used ends the command before it begins. */
export async function observed<Setup extends FlowSetup>(
  command: string,
  io: CliIo,
  setup: Setup & { readonly options: ObserveOptions & CommonOptions },
  flow: (setup: Setup) => Promise<ExitStatus>,
): Promise<ExitStatus> {
  const { options, output } = setup
  const { notify = [], metricsFile } = options
  // Most runs send nothing.
  const opened = notify.length === 0 ? null : await (await import('../run/notify.ts')).openNotifier(io, options)
  if (opened !== null && opened.notifier === null) {
    output.diagnostics(opened.diagnostics)
    return EXIT.failure
  }
  const recorded = await recordRun(command, setup, flow)
  io.onRun?.(recorded)
  if (opened !== null || metricsFile !== undefined) {
    const document = await recorded.document()
    const problems = [...((await opened?.notifier?.send(document)) ?? []), ...(await writeMetrics(io, metricsFile, document))]
    output.diagnostics(problems, { from: 'warning' })
  }
  if (recorded.error !== null) throw recorded.error.thrown
  return recorded.exitStatus
}

/** Other users may read the file, since the collector of the node exporter runs as one of them. */
const METRICS_MODE = 0o644

async function writeMetrics({ cwd }: CliIo, file: string | undefined, document: RunDocument): Promise<readonly Diagnostic[]> {
  if (file === undefined) return []
  const { runMetrics } = await import('../report/run-metrics.ts')
  try {
    await writeFileAtomically(resolve(cwd, file), runMetrics(document), METRICS_MODE)
    return []
  } catch (error) {
    return [{ ...writeProblem(error, file), severity: 'warning' }]
  }
}
