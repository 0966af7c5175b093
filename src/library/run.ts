/** Runs each flow and keeps what it reports as values. The functions of the package and the commands run their flows here. */
import { randomUUID } from 'node:crypto'
import type { Diagnostic } from '../base/diagnostic.ts'
import { redacted } from '../base/secret-guard.ts'
import type { Plan, ZoneOutcome } from '../plan/plan.ts'
import type { OnRequest } from '../providers/provider.ts'
import type { RunDocument, Traffic } from '../report/run-document.ts'
import type { Validation } from '../report/validation.ts'
import type { Verification } from '../report/verification.ts'
import { EXIT, type ExitStatus } from '../run/context/exit-status.ts'
import type { ApplyOutput, RunEnvironment, RunSetup } from '../run/context/run-context.ts'
import type { VerifyOutput } from '../run/run-verify.ts'
import { failureOf } from './failure.ts'
import type { ValidateOutput } from './run-validate.ts'

/** Receives the reports of every flow. */
export interface FlowOutput extends ApplyOutput, VerifyOutput, ValidateOutput {}

export interface FlowSetup extends RunSetup {
  readonly output: FlowOutput
}

/** What a run reported. */
interface Reports {
  /** Null if the run could not plan, or verified. */
  readonly plan: Plan | null
  /** Null for a plan that was not applied. */
  readonly outcomes: readonly ZoneOutcome[] | null
  readonly verification: Verification | null
  readonly validation: Validation | null
  /** Those that the run reported beside its plan, verification or validation. They may be in it, too. */
  readonly diagnostics: readonly Diagnostic[]
}

/** A run that has ended. */
export interface RecordedRun extends Reports {
  readonly exitStatus: ExitStatus
  readonly ended: Date
  /** What was thrown that is no failure of a provider, a name server or the system; null if nothing was. */
  readonly error: { readonly thrown: unknown } | null
  /** The run in figures. */
  document(): Promise<RunDocument>
}

type Kept = { -readonly [Key in keyof Reports]: Reports[Key] } & { readonly diagnostics: Diagnostic[] }

/** Runs a flow with an environment and an output that also keep what it does and reports. Throws nothing. */
export async function recordRun<Setup extends FlowSetup>(
  command: string,
  setup: Setup,
  flow: (setup: Setup) => Promise<ExitStatus>,
): Promise<RecordedRun> {
  const { environment } = setup
  const started = environment.now()
  const kept: Kept = { plan: null, outcomes: null, verification: null, validation: null, diagnostics: [] }
  const traffic = new Map<string, Traffic>()
  const onRequest: OnRequest = (provider, isRetry) => {
    const counted = traffic.get(provider) ?? { requests: 0, retries: 0 }
    counted.requests += 1
    if (isRetry) counted.retries += 1
    traffic.set(provider, counted)
  }
  const output = keeping(setup.output, kept, environment)
  let exitStatus: ExitStatus = EXIT.failure
  let error: RecordedRun['error'] = null
  try {
    exitStatus = await flow({ ...setup, environment: { ...environment, onRequest }, output })
  } catch (thrown) {
    const failure = failureOf(thrown)
    if (failure === null) error = { thrown }
    else output.diagnostics([failure])
  }
  if (environment.signal?.aborted) exitStatus = EXIT.interrupted
  const { env, now, secrets, tool } = environment
  const ended = now()
  const document = async (): Promise<RunDocument> =>
    (await import('../report/run-document.ts')).runDocument({
      ...{ ...kept, traffic, id: randomUUID(), command, tool, started, ended, exitStatus, job: jobOf(env) },
      redact: (text) => redacted(secrets, text),
    })
  return { ...kept, exitStatus, ended, error, document }
}

/** The output, which also keeps every report. */
function keeping(output: FlowOutput, kept: Kept, { now, tool }: RunEnvironment): FlowOutput {
  const keepPlan = (plan: Plan, outcomes: Reports['outcomes']): void => {
    kept.plan = plan
    kept.outcomes = outcomes ?? kept.outcomes
  }
  const own: FlowOutput = {
    ...output,
    diagnostics(diagnostics, options) {
      kept.diagnostics.push(...diagnostics)
      output.diagnostics(diagnostics, options)
    },
    error: (code, message, hint) => own.diagnostics([{ severity: 'error', code, message, hint }]),
    plan(plan) {
      keepPlan(plan, null)
      output.plan(plan)
    },
    proposal(plan) {
      keepPlan(plan, null)
      output.proposal(plan)
    },
    outcome(plan, outcomes) {
      keepPlan(plan, outcomes)
      output.outcome(plan, outcomes)
    },
    unchanged(plan) {
      keepPlan(plan, output.isDocument ? [] : null)
      output.unchanged(plan)
    },
    unplanned(diagnostics) {
      if (output.isDocument) keepPlan({ created: now().toISOString(), tool, zones: [], diagnostics }, null)
      output.unplanned(diagnostics)
    },
    verification(verification) {
      kept.verification = verification
      output.verification(verification)
    },
    unverified(diagnostics) {
      if (output.isDocument) kept.verification = { zones: [], diagnostics }
      output.unverified(diagnostics)
    },
    validation(validation, zones) {
      kept.validation = validation
      output.validation(validation, zones)
    },
  }
  return own
}

/** The page of the CI job, as GitHub, GitLab and Jenkins name it. */
function jobOf(env: RunEnvironment['env']): string | null {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: run, CI_JOB_URL: gitlab, BUILD_URL: jenkins } = env
  const text = server && repository && run ? `${server}/${repository}/actions/runs/${run}` : (gitlab ?? jenkins ?? '')
  return text.length <= 1000 && /^https?:\/\/[\x21-\x7e]+$/.test(text) ? text : null
}
