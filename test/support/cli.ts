import { PassThrough } from 'node:stream'
import { expect } from 'vitest'
import { noSecrets } from '../../src/base/secret-guard.ts'
import type { CliIo } from '../../src/cli/io.ts'
import { runCli } from '../../src/cli/program.ts'
import type { GivenTypes } from '../../src/providers/registry.ts'

export type CliResult = { readonly status: number; readonly stdout: string; readonly stderr: string }

export interface CliSetting {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly now?: () => Date
  /** The text of standard input. */
  readonly input?: string
  /** The columns of a terminal for both outputs; without it, there is no terminal. */
  readonly columns?: number
  /** Provider types instead of those of config entries, by name. */
  readonly providerTypes?: GivenTypes
}

/** Runs the program in this process, with no terminal. */
export async function cli(
  args: readonly string[],
  { cwd, env = {}, now = () => new Date(), input = '', columns, providerTypes }: CliSetting,
) {
  const written = { stdout: '', stderr: '' }
  const stream = (name: 'stdout' | 'stderr'): CliIo['stdout'] => ({
    write: (text) => {
      written[name] += text
      return true
    },
    ...(columns !== undefined && { isTTY: true, columns }),
  })
  const stdin = new PassThrough()
  stdin.end(input)
  const [stdout, stderr] = [stream('stdout'), stream('stderr')]
  const status = await runCli(args, { stdout, stderr, stdin, env, cwd, now, secrets: noSecrets(), providerTypes })
  return { status, ...written }
}

type Validator = { (document: unknown): boolean; errors?: readonly object[] | null }

/** The JSON document on standard output; expects it to match its schema. */
export function documentIn({ stdout }: Pick<CliResult, 'stdout'>, validate: Validator) {
  const document = JSON.parse(stdout)
  expect([validate(document), validate.errors]).toEqual([true, null])
  return document
}

/** Texts of a stream: parts of it, or expressions that match. An empty text expects an empty stream. */
type Shown = string | RegExp | readonly (string | RegExp)[]

/** Expects an exit status, and texts of standard error, of standard output, or of both together (`said`). Returns the result. */
export function expectEnd<R extends { readonly status: number | null; readonly stdout: string; readonly stderr: string }>(
  result: R,
  status: number,
  { err = [], out = [], said = [] }: { readonly err?: Shown; readonly out?: Shown; readonly said?: Shown } = {},
): R {
  expect(result.status, result.stderr + result.stdout).toBe(status)
  for (const [written, shown] of [
    [result.stderr, err],
    [result.stdout, out],
    [result.stdout + result.stderr, said],
  ] as const)
    for (const text of [shown].flat())
      if (text === '') expect(written).toBe('')
      else expect(written).toMatch(text)
  return result
}
