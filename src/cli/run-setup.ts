/** Creates the setup of a run from a command's options: environment, output, and the handling of questions and signals. */
import type { ApplyOptions, ApplySetup, RunSetup, WorkspaceOptions } from '../apply/run-context.ts'
import type { CommonOptions } from './command.ts'
import { canAsk, confirm } from './confirm.ts'
import { exitAsInit, listenForInterruption } from './interruption.ts'
import type { CliIo } from './io.ts'
import { type CliOutput, createOutput } from './output.ts'
import { TOOL } from './package-info.ts'

/** For a run that changes nothing. The default of the system ends it also while the program computes, when no handler would be called. */
export function readOnlySetup<Options extends WorkspaceOptions & CommonOptions>(
  io: CliIo,
  options: Options,
): RunSetup<Options> & { readonly output: CliOutput } {
  exitAsInit()
  return { ...environmentOf(io), tool: TOOL, options, output: createOutput(io, options) }
}

/** For a run that changes zones: the first signal, or `--timeout`, stops the run after the calls in flight. */
export function applySetup<Options extends ApplyOptions & CommonOptions & { readonly timeout?: number }>(
  io: CliIo,
  options: Options,
): ApplySetup<Options> & { readonly output: CliOutput } {
  const output = createOutput(io, options)
  const release = exitAsInit()
  return {
    ...environmentOf(io),
    tool: TOOL,
    options,
    output,
    superseded: io.superseded,
    approvals: io.approvals,
    listen: () => {
      release()
      return listenForInterruption(output.say, STOPPING, { seconds: options.timeout, hangUp: true })
    },
    ask: async (question, stop) => {
      if (!canAsk(io)) return 'no-terminal'
      const answer = await confirm(io, question, stop)
      // Ends the line of the unanswered question.
      if (answer === 'interrupted') output.say('')
      return answer
    },
  }
}

const STOPPING = 'Stopping: waiting for calls in flight. Press Ctrl-C again to end at once.'

const environmentOf = ({ env, cwd, now, secrets, variables, providerTypes, baseConfig }: CliIo) => ({
  env,
  cwd,
  now,
  secrets,
  variables,
  providerTypes,
  baseConfig,
})
