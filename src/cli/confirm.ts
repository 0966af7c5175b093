import { createInterface } from 'node:readline/promises'
import type { CliIo } from './io.ts'

/** Whether somebody can be asked: both ends of the conversation are a terminal. */
export const canAsk = (io: CliIo): boolean => io.stdin.isTTY === true && io.stderr.isTTY === true

/** Asks on the terminal; only `yes` or `y` counts as consent. */
export async function confirm(io: CliIo, question: string): Promise<boolean> {
  const terminal = createInterface({ input: io.stdin, output: io.stderr as NodeJS.WritableStream })
  try {
    const answer = await terminal.question(`${question} [y/N] `)
    return /^y(?:es)?$/i.test(answer.trim())
  } catch {
    return false
  } finally {
    terminal.close()
  }
}
