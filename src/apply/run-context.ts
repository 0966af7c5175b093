/** The context that all steps of a run share: its environment and options, the loaded workspace, and functions that print and ask. */
import type { Config } from '../definition/config/config.ts'
import type { LoadedSecrets } from '../definition/config/secret-guard.ts'
import type { CapabilityLookUp } from '../definition/load/lint-loaded.ts'
import type { Policies } from '../definition/policies/policy-rule.ts'
import { type Diagnostic, isError, type Severity } from '../dns/diagnostic.ts'
import type { DomainName } from '../dns/domain-name.ts'
import type { FullDate } from '../dns/ownership.ts'
import type { Allowance, DesiredZone, Policy } from '../dns/zone.ts'
import type { Preference } from '../plan/continuity.ts'
import type { Plan, ZoneOutcome } from '../plan/plan.ts'
import type { SafetyThresholds } from '../plan/safety-limits.ts'
import type { Shard } from '../plan/shards.ts'
import type { StoredTtls } from '../plan/stored-ttls.ts'
import type { OnRequest, OnThrottled, Provider } from '../providers/provider.ts'
import type { GivenTypes } from '../providers/registry.ts'
import type { ReportFormat } from '../report/formats.ts'
import type { ReportOptions } from '../report/report.ts'
import { EXIT, type ExitStatus, statusOfPlan } from './exit-status.ts'

/** The process that a run belongs to: its environment, folder, clock and secrets. */
export interface RunEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly now: () => Date
  /** The secrets that the run has loaded. */
  readonly secrets: LoadedSecrets
  /** The file with the config of the branch that a pull request is merged into, which limits the config of the run; absent for other runs. */
  readonly baseConfig?: string | undefined
  /** The variables of programs; none if absent. */
  readonly variables?: Readonly<Record<string, string>> | undefined
  /** Provider types of the caller, by names of config entries. They replace the types in the config. */
  readonly providerTypes?: GivenTypes | undefined
}

/** The progress of a run. */
export interface Progress {
  readonly phase: 'reading' | 'applying' | 'asking'
  readonly done: number
  readonly total: number
}

export type OnProgress = (progress: Progress) => void

export interface ProgressBar {
  readonly onProgress: OnProgress
  clear(): void
}

/** Prints what a run reports. The command line implements it; `apply/` does not know the terminal. */
export interface RunOutput {
  /** Writes a line. */
  say(text: string): void
  /** Writes a line that `--quiet` leaves out. */
  note(text: string): void
  /** With `atMost`, only so many lines that are not errors. */
  diagnostics(diagnostics: readonly Diagnostic[], options?: { readonly from?: Severity; readonly atMost?: number }): void
  /** Writes one error without a position. */
  error(code: Diagnostic['code'], message: string, hint?: string): void
  plan(plan: Plan, format: ReportFormat): void
  outcome(plan: Plan, outcomes: readonly ZoneOutcome[], format: ReportFormat, options?: Pick<ReportOptions, 'planShown'>): void
  progress(): ProgressBar
}

/** Options that select zones besides the arguments. */
export interface SelectionOptions {
  /** Only zones that changed since this git revision. */
  readonly since?: string | undefined
  /** Only the zones of this shard. */
  readonly shard?: Shard | undefined
  /** Whether to leave out zones with errors instead of ending the run. */
  readonly keepGoing?: boolean | undefined
  /** Whether a list of zones was given and is empty: nothing is selected. */
  readonly isEmptyList?: boolean | undefined
  /** The day in UTC, to report what has expired. A plan reports it with its zones. */
  readonly today?: FullDate | undefined
  /** What targets can store, to report the TTLs that they round before there is a plan. */
  readonly capabilities?: CapabilityLookUp | undefined
}

/** Options that select zones and providers. */
export interface WorkspaceOptions extends SelectionOptions {
  /** The config file; searched upward if absent. */
  readonly config?: string | undefined
  /** Only this target. */
  readonly target?: string | undefined
  /** Safety limits to lift. */
  readonly allow?: readonly string[] | undefined
  /** Concurrent requests per target. */
  readonly parallelism?: number | undefined
  /** Sources of usage, instead of those of the config. */
  readonly usage?: readonly string[] | undefined
  readonly prefer?: Preference | undefined
  /** Whether the policies of the config apply to the zones. */
  readonly checksPolicies?: boolean | undefined
  /** The git revision that has the policies; the working tree if absent. */
  readonly policiesFrom?: string | undefined
  /** The config that policies and approvals come from, that of the base branch; the config itself if absent. */
  readonly trustedConfig?: string | undefined
}

export interface PlanOptions extends WorkspaceOptions {
  readonly format: ReportFormat
}

export interface ApplyOptions extends PlanOptions {
  /** Whether to apply without asking. */
  readonly yes?: boolean | undefined
  /** Seconds to wait for another run that holds a zone. */
  readonly wait?: number | undefined
  /** Whether zones of a saved plan that have changed do not hold up the others. */
  readonly partial?: boolean | undefined
}

/** The values that a command passes to a run. */
export interface RunSetup<Options extends WorkspaceOptions = PlanOptions> extends RunEnvironment {
  /** Program and version, for plans and journals. */
  readonly tool: string
  readonly options: Options
  readonly output: RunOutput
  /** Counts the requests of the run; absent if nobody asks. */
  readonly onRequest?: OnRequest | undefined
}

export type Answer = 'yes' | 'no' | 'interrupted' | 'no-terminal'

/** Zones that later commits of a branch describe otherwise. */
export interface SupersededZones {
  readonly names: ReadonlySet<DomainName>
  readonly branch: string
}

/** The values that a command passes to a run that changes zones. */
export interface ApplySetup<Options extends ApplyOptions = ApplyOptions> extends RunSetup<Options> {
  readonly ask: (question: string, stop: AbortSignal) => Promise<Answer>
  /** Starts to listen for signals and to count the time of the run. */
  readonly listen: () => Interruption
  /** Looks up the zones of a saved plan that are not applied, once all its zones are locked. */
  readonly superseded?: (() => Promise<SupersededZones>) | undefined
  /** Texts with approvals of a saved plan, besides the files beside it. */
  readonly approvals?: readonly string[] | undefined
}

/** The early end of a run, by a signal or a time limit. */
export interface Interruption {
  /** Aborted by the first signal or when the time is over: no further call is sent. Its reason is a text. */
  readonly signal: AbortSignal
  /** Aborted some seconds after the time is over: calls in flight are cancelled. */
  readonly abort: AbortSignal
  /** The exit status for the signal received; null without one. */
  status(): ExitStatus | null
  /** Stops listening. */
  release(): void
}

/** One zone at one target: the unit that a run plans, applies or verifies. */
export interface ZoneJob {
  readonly desired: DesiredZone
  /** The provider's name in the config. */
  readonly target: string
  /** The names of all targets of the zone; only that one if absent. */
  readonly targets?: readonly string[] | undefined
  readonly policy: Policy
  /** Who is responsible for the zone; null if its rule names nobody, absent if it has no definition. */
  readonly owner?: string | null | undefined
  readonly thresholds: SafetyThresholds
  /** Whether continuity or fewest calls matters more if they exclude each other; continuity if absent. */
  readonly prefer?: Preference | undefined
  readonly allow: ReadonlySet<Allowance>
  /** The name servers that `verify` queries; those of the NS records if null or absent. */
  readonly nameservers?: readonly string[] | null | undefined
  /** Whether the zone is deleted because its definition was removed; false if absent. It is no part of the plan if it does not exist. */
  readonly isRemoved?: boolean | undefined
  /** Whether the desired zone has only what changes, so that its plan does not name the records that it leaves; false if absent. */
  readonly isPartial?: boolean | undefined
  /** TTLs that the target has replaced by others in earlier runs; absent if there are none. */
  readonly storedTtls?: StoredTtls | undefined
}

/** Which removed zones are looked up. */
export interface RemovedLookup {
  readonly signal?: AbortSignal | undefined
  /** Whether to look up those of a target; all if absent. */
  readonly only?: ((target: string) => boolean) | undefined
}

/** The config, zones and providers that a run has loaded before it sends anything. */
export interface Workspace {
  /** Null if the config cannot be used, or was not needed. */
  readonly config: Config | null
  readonly jobs: readonly ZoneJob[]
  readonly providers: ReadonlyMap<string, Provider>
  /** The absolute path of the journal's folder; empty without a config. */
  readonly journal: string
  /** Whether nothing may be contacted, not even the store of the journal; false if absent. */
  readonly isOffline?: boolean | undefined
  /** The diagnostics of loading. After an error, no request may be sent. */
  readonly diagnostics: readonly Diagnostic[]
  /** What the run leaves out: zones that a cutover is moving, and with `--keep-going`, definitions with errors. Errors decide its exit status. */
  readonly leftOut?: readonly Diagnostic[] | undefined
  /** Whether a definition describes a zone at a target, or may, because it is disabled or has errors. Absent if not all zones of the config are selected. */
  readonly isDescribed?: ((name: DomainName, target: string) => boolean) | undefined
  /** Looks up the zones that no definition describes any more: a warning for each. Absent if none is known. */
  readonly nameRemoved?: ((lookup?: RemovedLookup) => Promise<readonly Diagnostic[]>) | undefined
  /** Null if there are none, absent if they were not loaded. */
  readonly policies?: Policies | null | undefined
  close(): Promise<void>
}

/** A run that plans. */
export interface RunContext<Options extends WorkspaceOptions = PlanOptions> extends RunSetup<Options>, Workspace {}

/** A run that changes zones, created once by `openRun`. */
export interface ApplyContext<Options extends ApplyOptions = ApplyOptions> extends ApplySetup<Options>, Workspace {
  readonly interruption: Interruption
}

/** The plan with the errors of what the run leaves out, as reports show it. They do not keep the plan from being applied. */
export function withLeftOut(plan: Plan, { leftOut = [] }: Pick<Workspace, 'leftOut'>): Plan {
  if (leftOut.length === 0) return plan
  const mayApply = leftOut.some(isError) && statusOfPlan(plan) === EXIT.done
  return { ...plan, diagnostics: [...plan.diagnostics, ...leftOut], ...(mayApply && { keepsGoing: true }) }
}

/** A failure if the run leaves out zones with errors. */
export const statusOfLeftOut = ({ leftOut = [] }: Pick<Workspace, 'leftOut'>): ExitStatus => (leftOut.some(isError) ? 1 : 0)

/** Creates the context of a run that changes zones, and listens for signals from here on. */
export const openRun = <Setup extends ApplySetup, Loaded extends Workspace>(
  setup: Setup,
  loaded: Loaded,
): Setup & Loaded & { readonly interruption: Interruption } => ({ ...setup, ...loaded, interruption: setup.listen() })

export async function closeRun({ interruption, close }: Pick<ApplyContext, 'interruption' | 'close'>): Promise<void> {
  interruption.release()
  await close()
}

/** Does work that shows a progress bar. */
export async function withProgress<T>(output: RunOutput, work: (onProgress: OnProgress) => Promise<T>): Promise<T> {
  const bar = output.progress()
  try {
    return await work(bar.onProgress)
  } finally {
    bar.clear()
  }
}

/** Whether the report is text, which grows during the run. The other formats are one document at its end. */
export const isTextReport = ({ options }: { readonly options: PlanOptions }): boolean => options.format === 'text'

/** Whether the report is for the log of a GitHub job, where it shows all diagnostics: the standard error of the job is in the same log. */
export const isGithubReport = ({ options }: { readonly options: PlanOptions }): boolean => options.format === 'github'

/** Reports that a server asks for a pause, so that the program does not seem to hang. */
export const reportThrottling =
  (output: Pick<RunOutput, 'note'>): OnThrottled =>
  (provider, milliseconds) =>
    output.note(`${provider} asks to wait for ${Math.ceil(milliseconds / 1000)} s.`)
