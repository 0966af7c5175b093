/** Runs a command and then tells others about it: notifications and a file of metrics. Neither changes the exit status. */
import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import { EXIT, type ExitStatus } from '../apply/exit-status.ts'
import type { NotifyOptions } from '../apply/notify/notify.ts'
import type { RunSetup, WorkspaceOptions } from '../apply/run-context.ts'
import { redacted } from '../definition/config/secret-guard.ts'
import { writeFileAtomically } from '../definition/files/replace-files.ts'
import { writeProblem } from '../definition/files/write-problem.ts'
import type { Diagnostic } from '../dns/diagnostic.ts'
import type { Plan, ZoneOutcome } from '../plan/plan.ts'
import type { RunDocument, Traffic } from '../report/run-document.ts'
import type { Verification } from '../report/verification.ts'
import type { CliOutput } from './output.ts'

export interface ObserveOptions extends NotifyOptions {
  readonly metricsFile?: string | undefined
}

type ObservedSetup = RunSetup<WorkspaceOptions & ObserveOptions> & { readonly output: CliOutput }

/** Runs the work of a command with its setup. An option that cannot be used ends the command before it begins. */
export async function observed<Setup extends ObservedSetup>(
  command: string,
  setup: Setup,
  run: (setup: Setup) => Promise<ExitStatus>,
): Promise<ExitStatus> {
  const { options, output, env } = setup
  const { notify = [], metricsFile } = options
  if (notify.length === 0 && metricsFile === undefined) return run(setup)
  // Most runs need none of this.
  const [{ openNotifier }, { runDocument }] = await Promise.all([import('../apply/notify/notify.ts'), import('../report/run-document.ts')])
  const { notifier, diagnostics } = await openNotifier(setup, options)
  if (notifier === null) {
    output.diagnostics(diagnostics)
    return EXIT.failure
  }
  const record = startRecord(setup)
  let exitStatus: ExitStatus = EXIT.failure
  try {
    exitStatus = await run(record.setup)
    return exitStatus
  } finally {
    const document = runDocument({
      ...record.state,
      redact: (text) => redacted(setup.secrets, text),
      id: randomUUID(),
      command,
      tool: setup.tool,
      ended: setup.now(),
      exitStatus,
      job: jobOf(env),
    })
    const problems = [...(await notifier.send(document)), ...(await writeMetrics(setup, metricsFile, document))]
    output.diagnostics(problems, { from: 'warning' })
  }
}

interface RecordState {
  readonly started: Date
  plan: Plan | null
  outcomes: readonly ZoneOutcome[] | null
  verification: Verification | null
  readonly diagnostics: Diagnostic[]
  readonly traffic: Map<string, Traffic>
}

/** The setup with functions that also keep what they print. */
function startRecord<Setup extends ObservedSetup>(setup: Setup): { readonly setup: Setup; readonly state: RecordState } {
  const { output } = setup
  const state: RecordState = {
    started: setup.now(),
    plan: null,
    outcomes: null,
    verification: null,
    diagnostics: [],
    traffic: new Map(),
  }
  const recording: CliOutput = {
    ...output,
    diagnostics(diagnostics, options) {
      state.diagnostics.push(...diagnostics)
      output.diagnostics(diagnostics, options)
    },
    error(code, message, hint) {
      state.diagnostics.push({ severity: 'error', code, message, hint })
      output.error(code, message, hint)
    },
    plan(plan, format) {
      state.plan = plan
      output.plan(plan, format)
    },
    outcome(plan, outcomes, format, options) {
      state.plan = plan
      state.outcomes = outcomes
      output.outcome(plan, outcomes, format, options)
    },
    verification(verification, format) {
      state.verification = verification
      output.verification(verification, format)
    },
  }
  const onRequest = (provider: string, isRetry: boolean): void => {
    const traffic = state.traffic.get(provider) ?? { requests: 0, retries: 0 }
    traffic.requests += 1
    if (isRetry) traffic.retries += 1
    state.traffic.set(provider, traffic)
  }
  return { setup: { ...setup, output: recording, onRequest }, state }
}

/** Other users may read the file, since the collector of the node exporter runs as one of them. */
const METRICS_MODE = 0o644

async function writeMetrics({ cwd }: ObservedSetup, file: string | undefined, document: RunDocument): Promise<readonly Diagnostic[]> {
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
function jobOf(env: ObservedSetup['env']): string | null {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: run, CI_JOB_URL: gitlab, BUILD_URL: jenkins } = env
  const text = server && repository && run ? `${server}/${repository}/actions/runs/${run}` : (gitlab ?? jenkins ?? '')
  return text.length <= 1000 && /^https?:\/\/[\x21-\x7e]+$/.test(text) ? text : null
}
