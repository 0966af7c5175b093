/** Creates the setup of a run from a command's options: environment, output, and the handling of questions and signals. */
import type { ApplyOptions, ApplySetup, RunSetup, WorkspaceOptions } from '../apply/run-context.ts'
import type { CommonOptions } from './command.ts'
import { canAsk, confirm } from './confirm.ts'
import { exitOnSignal, listenForInterruption } from './interruption.ts'
import type { CliIo } from './io.ts'
import { type CliOutput, createOutput } from './output.ts'
import { TOOL } from './package-info.ts'

/** For a run that changes nothing: while it shows progress, Ctrl-C and SIGTERM end the program. */
export function readOnlySetup<Options extends WorkspaceOptions & CommonOptions>(
  io: CliIo,
  options: Options,
): RunSetup<Options> & { readonly output: CliOutput } {
  const output = createOutput(io, options)
  const progress: CliOutput['progress'] = () => {
    const bar = output.progress()
    const release = exitOnSignal(bar.clear)
    const clear = (): void => {
      release()
      bar.clear()
    }
    return { ...bar, clear }
  }
  return { ...environmentOf(io), tool: TOOL, options, output: { ...output, progress } }
}

/** For a run that changes zones: the first signal, or `--timeout`, stops the run after the calls in flight. */
export function applySetup<Options extends ApplyOptions & CommonOptions & { readonly timeout?: number }>(
  io: CliIo,
  options: Options,
): ApplySetup<Options> & { readonly output: CliOutput } {
  const output = createOutput(io, options)
  return {
    ...environmentOf(io),
    tool: TOOL,
    options,
    output,
    superseded: io.superseded,
    approvals: io.approvals,
    listen: () => listenForInterruption(output.say, STOPPING, { seconds: options.timeout, hangUp: true }),
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

const environmentOf = ({ env, cwd, now, secrets, providerTypes, baseConfig }: CliIo) => ({
  env,
  cwd,
  now,
  secrets,
  providerTypes,
  baseConfig,
})
