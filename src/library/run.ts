/** Runs each flow and keeps what it reports as values. The functions of the package and the commands run their flows here. */
import type { Diagnostic } from '../base/diagnostic.ts'
import type { DiagnosticCode } from '../base/diagnostic-codes.ts'
import { isSecretExposed, redacted } from '../base/secret-guard.ts'
import type { Plan } from '../plan/plan.ts'
import type { OnRequest } from '../providers/provider.ts'
import type { Reported, RunDocument, Traffic } from '../report/run-document.ts'
import { EXIT, type ExitStatus } from '../run/context/exit-status.ts'
import type { ApplyOutput, RunEnvironment, RunSetup } from '../run/context/run-context.ts'
import type { VerifyOutput } from '../run/run-verify.ts'
import type { ValidateOutput } from './run-validate.ts'

/** Receives the reports of every flow. */
export interface FlowOutput extends ApplyOutput, VerifyOutput, ValidateOutput {}

export interface FlowSetup extends RunSetup {
  readonly output: FlowOutput
}

/** What a run reported. */
type Reports = Required<Reported>

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
      ...{ ...kept, traffic, id: crypto.randomUUID(), command, tool, started, ended, exitStatus, job: jobOf(env) },
      redact: (text) => redacted(secrets, text),
    })
  return { ...kept, exitStatus, ended, error, document }
}

/** The output, which also keeps every report. */
function keeping(output: FlowOutput, kept: Kept, { now, tool }: RunEnvironment): FlowOutput {
  const { isDocument } = output
  const also =
    <Args extends readonly unknown[]>(first: (...args: Args) => void, report: (...args: Args) => void) =>
    (...args: Args): void => {
      first(...args)
      report(...args)
    }
  const keep =
    <Key extends keyof Reports>(key: Key) =>
    (value: Kept[Key]): void => {
      kept[key] = value
    }
  const keepPlan = (plan: Plan, outcomes: Reports['outcomes'] = null): void => {
    kept.plan = plan
    kept.outcomes = outcomes ?? kept.outcomes
  }
  const unplanned = (diagnostics: Plan['diagnostics']): void => keepPlan({ created: now().toISOString(), tool, zones: [], diagnostics })
  const diagnostics = also<Parameters<FlowOutput['diagnostics']>>((found) => void kept.diagnostics.push(...found), output.diagnostics)
  return {
    ...output,
    diagnostics,
    error: (code, message, hint) => diagnostics([{ severity: 'error', code, message, hint }]),
    plan: also(keepPlan, output.plan),
    proposal: also(keepPlan, output.proposal),
    outcome: also(keepPlan, output.outcome),
    unchanged: also((plan) => keepPlan(plan, isDocument ? [] : null), output.unchanged),
    unplanned: also((found) => isDocument && unplanned(found), output.unplanned),
    verification: also(keep('verification'), output.verification),
    unverified: also((found) => isDocument && keep('verification')({ zones: [], diagnostics: found }), output.unverified),
    validation: also(keep('validation'), output.validation),
  }
}

/** The page of the CI job, as GitHub, GitLab and Jenkins name it. */
function jobOf(env: RunEnvironment['env']): string | null {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: run, CI_JOB_URL: gitlab, BUILD_URL: jenkins } = env
  const text = server && repository && run ? `${server}/${repository}/actions/runs/${run}` : (gitlab ?? jenkins ?? '')
  return text.length <= 1000 && /^https?:\/\/[\x21-\x7e]+$/.test(text) ? text : null
}

/** The diagnostic of a failure that no flow expects: of a provider, whose errors have one, a name server or the system, or of a secret that was not written. Null for any other error. */
export function failureOf(error: unknown): Diagnostic | null {
  if (isSecretExposed(error)) return error.diagnostic
  const { message, code, syscall, severity, hint } = Object(error) as NodeJS.ErrnoException & Partial<Pick<Diagnostic, 'severity' | 'hint'>>
  if (code === 'DNS_FAILURE') return { severity: 'error', code: 'nameserver-failed', message }
  if (syscall !== undefined) return { severity: 'error', code: 'system-failed', message }
  if (severity !== undefined && code !== undefined) return { severity, code: code as DiagnosticCode, message, hint }
  return null
}
