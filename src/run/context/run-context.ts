/** The context that all steps of a run share is four values: its environment, options, workspace and output. */
import pLimit from 'p-limit'
import { type Diagnostic, isError, type Severity } from '../../base/diagnostic.ts'
import type { LoadedSecrets } from '../../base/secret-guard.ts'
import type { Policies } from '../../checks/policies/policy-rule.ts'
import type { Config } from '../../config/config.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import type { FullDate } from '../../dns/ownership.ts'
import type { CapabilityLookUp } from '../../load/lint-loaded.ts'
import type { Preference } from '../../plan/continuity.ts'
import type { Plan, ZoneOutcome } from '../../plan/plan.ts'
import { type PlannedZones, planOf, withDiagnostics, type ZoneJob } from '../../plan/planned-zone.ts'
import type { Shard } from '../../plan/shards.ts'
import type { OnRequest, OnThrottled, Provider } from '../../providers/provider.ts'
import type { GivenTypes } from '../../providers/registry.ts'
import { EXIT, type ExitStatus, statusOfPlan } from './exit-status.ts'

/** The process that a run belongs to: its environment, folder, clock and secrets. */
export interface ProcessEnvironment {
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
  /** Whether the config must have an entry for each of them; false if absent. */
  readonly needsTypes?: boolean | undefined
  /** The folder of the journal, instead of that of the config. */
  readonly journal?: string | undefined
  /** Counts the requests of the run; absent if nobody asks. */
  readonly onRequest?: OnRequest | undefined
  /** Looks up the zones of a saved plan that are not applied, once all its zones are locked. */
  readonly superseded?: (() => Promise<SupersededZones>) | undefined
  /** Texts with approvals of a saved plan, besides the files beside it. */
  readonly approvals?: readonly string[] | undefined
}

export interface RunEnvironment extends ProcessEnvironment {
  /** Program and version, for plans and journals. */
  readonly tool: string
  /** Aborted when the caller stops a run that changes nothing. A run that changes zones listens to its `Interruption`. */
  readonly signal?: AbortSignal | undefined
}

export interface ApplyEnvironment extends RunEnvironment {
  /** Starts to listen for signals and to count the time of the run. */
  readonly listen: () => Interruption
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

export interface DiagnosticsOptions {
  readonly from?: Severity | undefined
  /** Only so many lines that are not errors. */
  readonly atMost?: number | undefined
  /** Where a document shows them, too: before its zones, or with them. Formats whose readers would see them twice leave them out here. */
  readonly also?: 'before-zones' | 'with-zones' | undefined
}

/** Prints what a run reports, in the format that the command line names. */
export interface RunOutput {
  /** Whether the report is one document at the end of the run. Text is printed during the run. */
  readonly isDocument: boolean
  /** Writes a line. */
  say(text: string): void
  /** Writes a line that `--quiet` leaves out. */
  note(text: string): void
  diagnostics(diagnostics: readonly Diagnostic[], options?: DiagnosticsOptions): void
  /** Writes one error without a position. */
  error(code: Diagnostic['code'], message: string, hint?: string): void
  /** Writes the diagnostics of a plan that its report does not show. */
  planDiagnostics(plan: Plan): void
  /** Reports a plan. */
  plan(plan: Plan): void
  /** Shows a plan that may be applied. A document shows it with its outcome. */
  proposal(plan: Plan): void
  outcome(plan: Plan, outcomes: readonly ZoneOutcome[]): void
  /** Ends a document of a run that changed nothing. */
  unchanged(plan: Plan): void
  /** Writes a document of a run that could not plan. */
  unplanned(diagnostics: readonly Diagnostic[]): void
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

export interface ApplyOptions extends WorkspaceOptions {
  /** Whether to apply without asking. */
  readonly yes?: boolean | undefined
  /** Seconds to wait for another run that holds a zone. */
  readonly wait?: number | undefined
  /** Whether zones of a saved plan that have changed do not hold up the others. */
  readonly partial?: boolean | undefined
  /** Whether the argument is a plan file; found out if absent. */
  readonly isPlanFile?: boolean | undefined
}

/** The values that a command passes to a run. */
export interface RunSetup<Options extends WorkspaceOptions = WorkspaceOptions> {
  readonly environment: RunEnvironment
  readonly options: Options
  readonly output: RunOutput
}

export type Answer = 'yes' | 'no' | 'interrupted' | 'no-terminal'

/** Zones that later commits of a branch describe otherwise. */
export interface SupersededZones {
  readonly names: ReadonlySet<DomainName>
  readonly branch: string
}

export interface ApplyOutput extends RunOutput {
  ask(question: string, stop: AbortSignal): Promise<Answer>
}

/** The values that a command passes to a run that changes zones. */
export interface ApplySetup<Options extends ApplyOptions = ApplyOptions> extends RunSetup<Options> {
  readonly environment: ApplyEnvironment
  readonly output: ApplyOutput
}

/** Milliseconds that calls in flight and reading back may take after a run was stopped. */
export const GRACE = 10_000

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
export interface RunContext<Options extends WorkspaceOptions = WorkspaceOptions> extends RunSetup<Options> {
  readonly workspace: Workspace
}

/** What `openRun` adds to a run that changes zones. */
interface OpenedRun<Loaded extends Workspace = Workspace> {
  readonly environment: ApplyEnvironment & { readonly interruption: Interruption }
  readonly workspace: Loaded
}

/** A run that changes zones. */
export type ApplyContext<Options extends ApplyOptions = ApplyOptions, Loaded extends Workspace = Workspace> = ApplySetup<Options> &
  OpenedRun<Loaded>

/** A failure if the run leaves out zones with errors. */
export const statusOfLeftOut = ({ leftOut = [] }: Pick<Workspace, 'leftOut'>): ExitStatus => (leftOut.some(isError) ? 1 : 0)

/** Creates the context of a run that changes zones, and listens for signals from here on. */
export const openRun = <Setup extends ApplySetup, Loaded extends Workspace>(
  setup: Setup,
  workspace: Loaded,
): Setup & OpenedRun<Loaded> => ({
  ...setup,
  environment: { ...setup.environment, interruption: setup.environment.listen() },
  workspace,
})

export async function closeRun({ environment, workspace }: OpenedRun): Promise<void> {
  environment.interruption.release()
  await workspace.close()
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

/** Does work for each item, so many at once, with a progress bar. */
export const forEachZone = <Item, Result>(
  output: RunOutput,
  phase: Progress['phase'],
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
  atOnce = 16,
): Promise<Result[]> =>
  withProgress(output, (onProgress) => {
    const limit = pLimit(atOnce)
    let done = 0
    const workOn = async (item: Item): Promise<Result> => {
      const result = await work(item)
      done += 1
      onProgress({ phase, done, total: items.length })
      return result
    }
    return Promise.all(items.map((item) => limit(() => workOn(item))))
  })

/** Reports that a server asks for a pause, so that the program does not seem to hang. */
export const reportThrottling =
  (output: Pick<RunOutput, 'note'>): OnThrottled =>
  (provider, milliseconds) =>
    output.note(`${provider} asks to wait for ${Math.ceil(milliseconds / 1000)} s.`)

/** The plan with the errors of what the run leaves out, as reports show it. They do not keep the plan from being applied. */
export function withLeftOut<Planned extends PlannedZones>(planned: Planned, { leftOut = [] }: Pick<Workspace, 'leftOut'>): Planned {
  const keepsGoing = leftOut.some(isError) && statusOfPlan(planOf(planned)) === EXIT.done
  return { ...withDiagnostics(planned, leftOut), ...(keepsGoing && { keepsGoing }) }
}
