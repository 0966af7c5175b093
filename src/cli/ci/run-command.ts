/** Runs a command of the program as a step of a CI job. */
import { Command, CommanderError } from 'commander'
import type { RecordedRun } from '../../library/run.ts'
import type { Plan } from '../../plan/plan.ts'
import { EXIT, type ExitStatus } from '../../run/context/exit-status.ts'
import { type CommandModule, type SetAction, withCommonOptions } from '../command.ts'
import type { CliIo } from '../io.ts'

/** The result of a step. */
export interface Step {
  readonly status: ExitStatus
  readonly stdout: string
  /** What the command reported; null if its arguments are wrong, and for `fmt`. */
  readonly run: RecordedRun | null
}

/** The plan that a step reported; null if it made none. */
export const planOf = ({ run }: Step): Plan | null => run?.plan ?? null

const COMMANDS = {
  validate: () => import('../commands/validate.ts'),
  fmt: () => import('../commands/fmt.ts'),
  plan: () => import('../commands/plan.ts'),
  apply: () => import('../commands/apply.ts'),
  verify: () => import('../commands/verify.ts'),
} satisfies Record<string, () => Promise<CommandModule>>

/** Runs a command. Returns its standard output and what it reported instead of printing them. Messages go to standard error. */
export async function runCommand(io: CliIo, name: keyof typeof COMMANDS, args: readonly string[]): Promise<Step> {
  let stdout = ''
  let run: RecordedRun | null = null
  let status: ExitStatus = EXIT.done
  const own: CliIo = {
    ...io,
    stdout: {
      write: (text) => {
        stdout += text
      },
    },
    onRun: (one) => {
      run = one
    },
  }
  const setAction: SetAction = (command, action) => {
    command.action(async (...parsed: unknown[]) => {
      status = await action(own, parsed.slice(0, -2) as never, command.opts() as never)
    })
  }
  const command = withCommonOptions(new Command(name))
    .exitOverride()
    .configureOutput({ outputError: (text) => io.stderr.write(`error[usage] ${name}: ${text.trim().replace(/^error: /, '')}\n`) })
  const module: CommandModule = await COMMANDS[name]()
  module.configure(command, setAction)
  try {
    await command.parseAsync([...args], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    status = EXIT.failure
  }
  return { status, stdout, run }
}
