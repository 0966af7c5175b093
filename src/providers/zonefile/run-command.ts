/** Runs the check and reload commands of the config: without a shell, with bounded time and output, and without the secrets of the environment. */
import { spawn } from 'node:child_process'
import { delimiter } from 'node:path'
import { oneLine } from '../../base/diagnostic.ts'
import { isCi } from '../../base/environment.ts'
import { failure, ok, type Result } from '../../base/result.ts'
import { excerpt } from '../../base/text.ts'
import { findProgram, NO_PROGRAM, programFolders } from '../../files/find-program.ts'
import { killGroup } from '../run-code.ts'

/** A program and its arguments, in which `{zone}` and `{file}` are placeholders. */
export type Command = readonly [program: string, ...args: string[]]

/** The characters of a command in one text. All others have a meaning in a shell, which is not used. */
const PLAIN_COMMAND = /^[A-Za-z0-9_{}.,:=@%+/ -]+$/

/** Parses a setting: a text that is split at blanks, or a list. */
export function parseCommand(setting: unknown): Result<Command> {
  if (typeof setting === 'string' && !PLAIN_COMMAND.test(setting))
    return failure(
      'a command with other characters than letters, digits, blanks and {}.,:=@%+/-_ is written as a list: [program, argument]',
    )
  const words = typeof setting === 'string' ? setting.split(' ').filter((word) => word !== '') : (setting as readonly string[])
  const [program, ...args] = words
  if (program === undefined || program === '') return failure('the command is empty')
  if (program.includes('{')) return failure('the program cannot be a placeholder')
  return ok([program, ...args])
}

export const hasPlaceholder = (command: Command, name: 'zone' | 'file'): boolean => command.some((word) => word.includes(`{${name}}`))

/** The command with the values of its placeholders. A value never becomes more than a part of one argument. */
export const fillIn = ([program, ...args]: Command, values: { readonly zone: string; readonly file?: string }): Command => [
  program,
  ...args.map((arg) => arg.replace(/\{(zone|file)\}/g, (whole, name: 'zone' | 'file') => values[name] ?? whole)),
]

export interface CommandRun {
  /** The folder of the config, absolute: the working directory, except in CI, where a program would take commands from files of the checkout. */
  readonly folder: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Milliseconds after which the command and its children are killed. */
  readonly timeout: number
  /** Kills the command. */
  readonly signal?: AbortSignal | undefined
}

/** The variables that a command gets. Tokens and keys of the run are in others. */
const VARIABLES = ['HOME', 'USER', 'LOGNAME', 'TMPDIR', 'TZ'] as const

/** Characters of the output that are kept, from its end, and characters of it in a message. */
const MAX_OUTPUT = 16_384
const SHOWN_OUTPUT = 600

/** Runs a command to its end. Returns null if its exit status is 0, otherwise what went wrong, in words that follow the name of the program. */
export async function runCommand([program, ...args]: Command, run: CommandRun): Promise<string | null> {
  const { env, folder, timeout, signal } = run
  const path = findProgram(program, run)
  if (path === null) return NO_PROGRAM
  if (signal?.aborted) return 'was not run, because the run was stopped'
  const own = Object.fromEntries(VARIABLES.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])))
  return new Promise((done) => {
    // In a process group of its own it does not get the Ctrl-C of the terminal, and can be killed with its children.
    const child = spawn(path, args, {
      cwd: isCi(env) ? '/' : folder,
      env: { ...own, PATH: programFolders(run).join(delimiter), LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output = (output + text).slice(-MAX_OUTPUT)
      })
    let reason: string | null = null
    const stop = (why: string): void => {
      reason ??= why
      killGroup(child)
    }
    const timer = setTimeout(() => stop(`did not end within ${timeout / 1000} s`), timeout)
    const onAbort = (): void => stop('was stopped with the run')
    signal?.addEventListener('abort', onAbort, { once: true })
    const finish = (problem: string | null): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      // A child that left its output open must not keep this program running.
      child.stdout.destroy()
      child.stderr.destroy()
      const text = excerpt(oneLine(output.trim().split('\n').slice(-5).join('; ')), SHOWN_OUTPUT)
      done(problem === null ? null : `${problem}${text === '' ? '' : `: ${text}`}`)
    }
    child.once('error', (error: NodeJS.ErrnoException) => finish(`cannot be started (${error.code ?? error.message})`))
    child.once('exit', (status, by) => {
      // The last output may still be in the pipes.
      setImmediate(() => finish(reason ?? (status === 0 ? null : status === null ? `was ended by ${by}` : `ended with status ${status}`)))
    })
  })
}
