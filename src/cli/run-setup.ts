/** Creates the setup of a run from a command's options: environment, output, and the handling of questions and signals. */

import { TOOL } from '../base/version.ts'
import type { ApplyOptions, ApplySetup, Interruption, RunSetup, WorkspaceOptions } from '../run/context/run-context.ts'
import type { CommonOptions } from './command.ts'
import { exitAsInit, listenForInterruption } from './interruption.ts'
import type { CliIo } from './io.ts'
import { type CliOutput, createOutput } from './output.ts'

/** For a run that changes nothing. The default of the system ends it also while the program computes, when no handler would be called. */
export function readOnlySetup<Options extends WorkspaceOptions & CommonOptions>(
  io: CliIo,
  options: Options,
): RunSetup<Options> & { readonly output: CliOutput } {
  exitAsInit()
  return { environment: { ...io, tool: TOOL }, options, output: createOutput(io, options) }
}

/** For a run that changes zones: the first signal, or `--timeout`, stops the run after the open requests. */
export function applySetup<Options extends ApplyOptions & CommonOptions & { readonly timeout?: number }>(
  io: CliIo,
  options: Options,
): ApplySetup<Options> & { readonly output: CliOutput } {
  const output = createOutput(io, options)
  const release = exitAsInit()
  const listen = (): Interruption => {
    release()
    return listenForInterruption(output.say, STOPPING, { seconds: options.timeout, hangUp: true })
  }
  return { environment: { ...io, tool: TOOL, listen }, options, output }
}

const STOPPING = 'Stopping: waiting for open requests. Press Ctrl-C again to end at once.'
