/** Options and context of a cutover, and the result of a step. */
import type { DomainName } from '../../dns/domain-name.ts'
import type { ExitStatus } from '../../run/context/exit-status.ts'
import type { ApplyContext, ApplySetup, Workspace } from '../../run/context/run-context.ts'
import type { Cutover } from '../../run/load/cutover-state.ts'
import type { StateFile } from '../../stored/states/state-file.ts'
import type { CopyEnds, CopyPlanOptions, CopySetup } from '../copy/run-copy.ts'

export interface CutoverOptions extends CopyPlanOptions {
  /** The providers' names in the config; absent for those of the cutover in progress. */
  readonly from?: string | undefined
  readonly to?: string | undefined
  /** The names of the new name servers; if empty, those that the new provider states. */
  readonly apexNs: readonly string[]
  /** The TTL in seconds during the move. */
  readonly lowTtl: number
  /** Addresses of the name servers to query; if empty, those that NS records name. */
  readonly fromServer: readonly string[]
  readonly toServer: readonly string[]
  readonly parentServer: readonly string[]
  /** Whether to go back to the state before. */
  readonly abort?: boolean | undefined
  /** Whether to wait for the steps to come. */
  readonly stay?: boolean | undefined
}

export interface CutoverSetup extends ApplySetup<CutoverOptions> {
  readonly output: CopySetup['output']
}

export interface CutoverWorkspace extends Workspace {
  readonly zone: DomainName
  readonly state: Cutover
  /** The state on disk before the locks were acquired; null for a new cutover. */
  readonly known: Cutover | null
  readonly file: StateFile<Cutover>
  /** An abort needs the source only, and can do without it. */
  readonly ends: { readonly [End in keyof CopyEnds]: CopyEnds[End] | undefined }
}

export type MoveContext = ApplyContext<CutoverOptions, CutoverWorkspace> & CutoverSetup

/** The context of a step. */
export type CutoverContext = MoveContext & { readonly workspace: { readonly ends: CopyEnds } }

/** The result of one step. */
export interface StepResult {
  /** `done`: go on with `state`; `pending`: wait; otherwise the run ends with this status. */
  readonly status: ExitStatus
  /** The state to keep; null after the last step. */
  readonly state: Cutover | null
  /** When to look again; null if only the user can go on. */
  readonly readyAt: Date | null
}
