/** Runs programs in the sandbox. */
import type { ProgramResult, ProgramRun } from './sandbox.ts'

export interface Sandbox {
  /** Runs a program. One at a time; further ones wait. */
  run(program: ProgramRun): Promise<ProgramResult>
  close(): void
}

export declare function openSandbox(): Sandbox
