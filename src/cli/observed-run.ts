/** Runs a command and then tells others about it: notifications and a file of metrics. Neither changes the exit status. */
import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import type { Diagnostic } from '../base/diagnostic.ts'
import { redacted } from '../base/secret-guard.ts'
import { writeFileAtomically } from '../files/replace-files.ts'
import { writeProblem } from '../files/write-problem.ts'
import type { Plan, ZoneOutcome } from '../plan/plan.ts'
import type { RunDocument, Traffic } from '../report/run-document.ts'
import type { Verification } from '../report/verification.ts'
import { EXIT, type ExitStatus } from '../run/context/exit-status.ts'
import type { WorkspaceOptions } from '../run/context/run-context.ts'
import type { NotifyOptions } from '../run/notify.ts'
import type { CommonOptions } from './command.ts'
import type { CliIo } from './io.ts'
import { createOutput } from './output.ts'
import { TOOL } from './version.ts'

export interface ObserveOptions extends NotifyOptions {
  readonly metricsFile?: string | undefined
}

/** Runs the work of a command with an environment that records what it reports. An option that cannot be used ends the command before it begins. */
export async function observed(
  command: string,
  io: CliIo,
  options: ObserveOptions & WorkspaceOptions & CommonOptions,
  work: (io: CliIo) => Promise<ExitStatus>,
): Promise<ExitStatus> {
  const { notify = [], metricsFile } = options
  if (notify.length === 0 && metricsFile === undefined) return work(io)
  // Most runs need none of this.
  const [{ openNotifier }, { runDocument }] = await Promise.all([import('../run/notify.ts'), import('../report/run-document.ts')])
  const output = createOutput(io, options)
  const { notifier, diagnostics } = await openNotifier(io, options)
  if (notifier === null) {
    output.diagnostics(diagnostics)
    return EXIT.failure
  }
  const { recording, recorded } = recordRun(io)
  let exitStatus: ExitStatus = EXIT.failure
  try {
    exitStatus = await work(recording)
    return exitStatus
  } finally {
    const document = runDocument({
      ...recorded,
      redact: (text) => redacted(io.secrets, text),
      id: randomUUID(),
      command,
      tool: TOOL,
      ended: io.now(),
      exitStatus,
      job: jobOf(io.env),
    })
    const problems = [...(await notifier.send(document)), ...(await writeMetrics(io, metricsFile, document))]
    output.diagnostics(problems, { from: 'warning' })
  }
}

/** An environment that also keeps what a command reports. */
function recordRun(io: CliIo) {
  const recorded = {
    started: io.now(),
    plan: null as Plan | null,
    outcomes: null as readonly ZoneOutcome[] | null,
    verification: null as Verification | null,
    diagnostics: [] as Diagnostic[],
    traffic: new Map<string, Traffic>(),
  }
  const recording: CliIo = {
    ...io,
    onDiagnostics: (diagnostics) => recorded.diagnostics.push(...diagnostics),
    onReport(report) {
      if (report.kind === 'plan') {
        recorded.plan = report.plan
        recorded.outcomes = report.outcomes ?? recorded.outcomes
      } else if (report.kind === 'verification') recorded.verification = report.verification
      io.onReport?.(report)
    },
    onRequest(provider, isRetry) {
      const traffic = recorded.traffic.get(provider) ?? { requests: 0, retries: 0 }
      traffic.requests += 1
      if (isRetry) traffic.retries += 1
      recorded.traffic.set(provider, traffic)
    },
  }
  return { recording, recorded }
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

/** The page of the CI job, as GitHub, GitLab and Jenkins name it. */
function jobOf(env: CliIo['env']): string | null {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: run, CI_JOB_URL: gitlab, BUILD_URL: jenkins } = env
  const text = server && repository && run ? `${server}/${repository}/actions/runs/${run}` : (gitlab ?? jenkins ?? '')
  return text.length <= 1000 && /^https?:\/\/[\x21-\x7e]+$/.test(text) ? text : null
}
