/**
 * The package as a library: `import { loadDefinitions, plan, apply, verify } from 'zonewright'`. Each function does what the command of the program does, with
 * the same locks, journal, allowed hosts, approvals, policies and refusals, and returns documents of `schemas/`. Nothing is printed, and failures are
 * diagnostics in the result: a promise is rejected only by an error of this program or of a function that the caller gave.
 */
import './use-programs.ts'
import { setMaxListeners } from 'node:events'
import { resolve } from 'node:path'
import type { Diagnostic } from '../base/diagnostic.ts'
import { LEAKED, type LoadedSecrets, noSecrets, redacted, secretExposedDiagnostic } from '../base/secret-guard.ts'
import { TOOL } from '../base/version.ts'
import { contentsOf } from '../checks/policies/apply-policies.ts'
import { type ZoneDocument, zoneDocument } from '../checks/policies/policy-documents.ts'
import type { LoadedZone } from '../config/configured-zone.ts'
import { parseAllowance } from '../dns/zone.ts'
import type { Plan } from '../plan/plan.ts'
import { isInMemory, typesOfValues } from '../providers/registry.ts'
import { type DiagnosticDocument, diagnosticDocument, type PlanDocument, planDocument } from '../report/plan-document.ts'
import { diagnosticsOf, type RunDocument, type RunResult } from '../report/run-document.ts'
import { type ValidationDocument, validationDocument } from '../report/validation.ts'
import { type VerificationDocument, verificationDocument } from '../report/verification.ts'
import { EXIT, type ExitStatus } from '../run/context/exit-status.ts'
import { GRACE, type Interruption } from '../run/context/run-context.ts'
import { runApply } from '../run/run-apply.ts'
import { runPlan } from '../run/run-plan.ts'
import { runVerify } from '../run/run-verify.ts'
import {
  APPLY_CHECKS,
  type ApplyOptions,
  type Checks,
  LOAD_CHECKS,
  type LoadOptions,
  optionProblems,
  PLAN_CHECKS,
  type PlanOptions,
  VERIFY_CHECKS,
  type VerifyOptions,
} from './options.ts'
import { type FlowOutput, type RecordedRun, recordRun } from './run.ts'
import { runValidate } from './run-validate.ts'

export type { DiagnosticCode } from '../base/diagnostic-codes.ts'
export type { ApplyOptions, LoadOptions, PlanOptions, VerifyOptions } from './options.ts'
export type { DiagnosticDocument, PlanDocument, RunDocument, RunResult, ValidationDocument, VerificationDocument, ZoneDocument }

/** What every function returns. */
export interface Outcome {
  /**
   * `done`; `pending`: the plan has changes, or the zones differ; `refused`: by a safety limit, a policy of approvals, or because a saved plan is stale; `partial`:
   * only some changes were applied; `failed`: `diagnostics` has an error, or a zone differs from its plan after the changes; `interrupted`: by `signal`.
   */
  readonly result: RunResult
  /** Every error, warning and notice of the run, each once. */
  readonly diagnostics: readonly DiagnosticDocument[]
}

/** What functions return that contact providers. */
export interface RunOutcome extends Outcome {
  /** The run in figures: `schemas/run.schema.json`. */
  readonly run: RunDocument
}

export interface LoadResult extends Outcome {
  /** `schemas/validation.schema.json`. */
  readonly validation: ValidationDocument
  /** The zones without errors, with the settings of the config, as policies see them. */
  readonly zones: readonly ZoneDocument[]
}

export interface PlanResult extends RunOutcome {
  /** `schemas/plan.schema.json`. */
  readonly plan: PlanDocument
}

export interface ApplyResult extends RunOutcome {
  /** `schemas/plan.schema.json`, with the outcome of each change if anything was applied. */
  readonly plan: PlanDocument
}

export interface VerifyResult extends RunOutcome {
  /** `schemas/verification.schema.json`. */
  readonly verification: VerificationDocument
}

/** Reads and checks definitions and policies, like `zonewright validate`. Contacts no server. */
export async function loadDefinitions(options: LoadOptions = {}): Promise<LoadResult> {
  const given = await setupOf(options, LOAD_CHECKS)
  const { run: _, ...result } = await resultOf(given, await runOf(given, 'validate', runValidate), ({ validation, diagnostics }) => ({
    validation: validationDocument(validation ?? { figures: { files: 0, zones: 0, records: 0 }, zones: [], diagnostics }),
    zones: validation === null ? [] : given.kept.loaded.flatMap(zoneOf),
  }))
  return result
}

/** Reads the zones and plans what an apply would change, like `zonewright plan`. */
export async function plan(options: PlanOptions = {}): Promise<PlanResult> {
  const given = await setupOf(options, PLAN_CHECKS)
  return resultOf(given, await runOf(given, 'plan', runPlan), planReport)
}

/** Plans and applies, or applies a saved plan, like `zonewright apply`. */
export async function apply(options: ApplyOptions = {}): Promise<ApplyResult> {
  const given = await setupOf(options, APPLY_CHECKS)
  return resultOf(given, await runOf(given, 'apply', runApply), planReport)
}

/** Compares definitions with the records of their targets, the rendered zone files and the answers of name servers, like `zonewright verify`. */
export async function verify(options: VerifyOptions = {}): Promise<VerifyResult> {
  const given = await setupOf(options, VERIFY_CHECKS)
  return resultOf(given, await runOf(given, 'verify', runVerify), ({ verification, diagnostics }) => ({
    verification: verificationDocument(verification ?? { zones: [], diagnostics }),
  }))
}

type AllOptions = LoadOptions & PlanOptions & ApplyOptions & VerifyOptions

type Given = Awaited<ReturnType<typeof setupOf>>

/** What a run leaves beside its reports: the loaded zones, why it was declined, and what functions of the caller threw. */
interface Kept {
  readonly loaded: LoadedZone[]
  readonly declined: Diagnostic[]
  readonly thrown: unknown[]
}

/** The setup of a run from the options of a caller, and what is wrong with them. */
async function setupOf(given: AllOptions, checks: Checks) {
  const problems = optionProblems(given, checks)
  // Values of another form are not touched.
  const options: AllOptions = problems.length > 0 ? {} : given
  const { env = process.env, variables, zones, planFile, confirm, ...own } = options
  const secrets = noSecrets()
  // Every request in flight listens. Node.js warns of more than ten listeners.
  const signal = options.signal && AbortSignal.any([options.signal])
  if (signal !== undefined) setMaxListeners(0, signal)
  if (planFile !== undefined && zones !== undefined)
    problems.push({ severity: 'error', code: 'usage', message: 'planFile has its own zones, so it does not go with zones' })
  if (checks !== LOAD_CHECKS && own.journal === undefined && Object.values(own.providers ?? {}).some(isInMemory))
    problems.push({ severity: 'error', code: 'usage', message: 'a provider in memory needs the option journal', hint: NEEDS_JOURNAL })
  const values = problems.length > 0 ? { types: undefined, diagnostics: problems } : await typesOfValues(options.providers ?? {})
  const kept: Kept = { loaded: [], declined: [], thrown: [] }
  const setup = {
    environment: {
      ...{ env, variables, signal, secrets, providerTypes: values.types, needsTypes: true, journal: own.journal, tool: TOOL },
      cwd: resolve(options.cwd ?? process.cwd()),
      now: options.now ?? (() => new Date()),
      listen: () => interruptionOf(signal),
    },
    options: {
      ...{ ...own, dns: own.dns ?? true, nameserver: own.nameservers ?? [], detailedExitcode: true },
      ...{ isEmptyList: zones?.length === 0, isPlanFile: planFile !== undefined, yes: confirm === undefined },
      allow: own.allow?.map((one) => parseAllowance(one)).flatMap((one) => (one.ok ? one.value : [])),
    },
    output: outputOf(options, secrets, kept),
  }
  return { setup, args: planFile === undefined ? (zones ?? []) : [planFile], problems: values.diagnostics, kept }
}

const NEEDS_JOURNAL = 'name a temporary folder: the journal of the config says what was done to the real zones'

/** Runs a flow, unless an option is wrong or the caller has stopped it already. */
const runOf = (
  { setup, args, problems }: Given,
  command: string,
  flow: (setup: Given['setup'], args: readonly string[]) => Promise<ExitStatus>,
): Promise<RecordedRun> =>
  recordRun(command, setup, async (own) => {
    if (problems.length === 0 && own.environment.signal?.aborted !== true) return flow(own, args)
    own.output.diagnostics(problems)
    return EXIT.failure
  })

/** Stops a run with the signal of its caller, and then cancels calls that do not end. */
function interruptionOf(given: AbortSignal | undefined): Interruption {
  const controller = new AbortController()
  const aborter = new AbortController()
  setMaxListeners(0, controller.signal, aborter.signal)
  let timer: NodeJS.Timeout | undefined
  const stop = (): void => {
    controller.abort('the run was interrupted')
    timer = setTimeout(() => aborter.abort('the run was interrupted'), GRACE)
  }
  if (given?.aborted) stop()
  given?.addEventListener('abort', stop)
  return {
    signal: controller.signal,
    abort: aborter.signal,
    status: () => (controller.signal.aborted ? EXIT.interrupted : null),
    release: () => {
      given?.removeEventListener('abort', stop)
      clearTimeout(timer)
    },
  }
}

/** An output that prints nothing. As where texts are printed, a secret in one is redacted, and the run changes nothing more. */
function outputOf({ onMessage, onProgress, confirm }: AllOptions, secrets: LoadedSecrets, { loaded, declined, thrown }: Kept): FlowOutput {
  let proposed: Plan | null = null
  const clean = (text: string): string => {
    const shown = redacted(secrets, text)
    secrets.hasLeaked ||= shown !== text
    return shown
  }
  // A run ends as it would without the caller's functions. One that is async may be rejected while calls are sent.
  const call = async <Result>(callback: () => Result): Promise<Awaited<Result> | undefined> => {
    try {
      return await callback()
    } catch (error) {
      thrown.push(error)
      return undefined
    }
  }
  const say = (text: string): void => {
    const shown = clean(text)
    void call(() => onMessage?.(shown))
  }
  const diagnostics = (found: readonly Diagnostic[]): void => {
    for (const { message, hint } of found) clean(`${message}\n${hint ?? ''}`)
  }
  const ignore = (): void => undefined
  return {
    ...{ isDocument: true, say, note: say, diagnostics, error: ignore, plan: ignore, outcome: ignore, unchanged: ignore },
    ...{ unplanned: ignore, verification: ignore, unverified: ignore },
    planDiagnostics: (plan) => diagnostics([...plan.diagnostics, ...plan.zones.flatMap((zone) => zone.diagnostics)]),
    validation: (_, zones = []) => void loaded.push(...zones),
    proposal: (plan) => {
      proposed = plan
    },
    progress: () => ({ onProgress: (progress) => void call(() => onProgress?.(progress)), clear: ignore }),
    async ask(_, stop) {
      if (stop.aborted || proposed === null) return 'interrupted'
      const shown = planDocument(proposed)
      const stopped = new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve(), { once: true }))
      const isConfirmed = (await Promise.race([call(() => confirm?.(shown, stop)), stopped])) === true
      if (stop.aborted) return 'interrupted'
      if (!isConfirmed)
        declined.push({ severity: 'error', code: 'not-confirmed', message: 'nothing was applied: the plan was not confirmed' })
      return isConfirmed ? 'yes' : 'no'
    },
  }
}

/** The document of the plan that a run reported; one without zones if it could not plan. */
const planReport = ({ plan: made, outcomes, diagnostics, ended }: Reported): { readonly plan: PlanDocument } => ({
  plan: planDocument(made ?? { created: ended.toISOString(), tool: TOOL, zones: [], diagnostics }, outcomes),
})

const zoneOf = ({ zone, owner, targets, valid }: LoadedZone): ZoneDocument | readonly [] =>
  valid ? zoneDocument(contentsOf(zone, owner, targets)) : []

type Reported = Omit<RecordedRun, 'exitStatus' | 'error' | 'document'>

/** What a function returns. Documents that contain a secret of the run are withheld: those of a run that reported nothing take their place. */
async function resultOf<Documents extends object>(
  { setup, kept: { declined, thrown } }: Given,
  run: RecordedRun,
  build: (reported: Reported) => Documents,
): Promise<RunOutcome & Documents> {
  if (run.error !== null) throw run.error.thrown
  if (thrown.length > 0) throw thrown[0]
  const { secrets } = setup.environment
  const document = await run.document()
  const found = [...diagnosticsOf(run), ...declined].map(diagnosticDocument)
  const diagnostics = found.map(({ message, ...rest }) => ({ ...rest, message: redacted(secrets, message) }))
  const documents = build(run)
  const findSecret = (value: unknown): string | null => secrets.guard?.find(JSON.stringify(value)) ?? null
  const setting = findSecret([documents, found])
  if (setting === null && !secrets.hasLeaked) return { result: document.result, diagnostics, run: document, ...documents }
  const exposed = setting === null ? LEAKED : secretExposedDiagnostic('the result of the run, which is withheld,', setting)
  const nothing = { plan: null, outcomes: null, verification: null, validation: null, diagnostics: [exposed], ended: run.ended }
  const failed: RunDocument = { ...document, exitStatus: EXIT.failure, result: 'failed' }
  const shown = [...diagnostics.filter((one) => findSecret(one) === null), diagnosticDocument(exposed)]
  return { result: 'failed', diagnostics: shown, run: failed, ...build(nothing) }
}
