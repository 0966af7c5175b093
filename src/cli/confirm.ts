import { createInterface } from 'node:readline'
import type { CliIo } from './io.ts'

/** Whether somebody can be asked: both ends of the conversation are a terminal. */
export const canAsk = (io: CliIo): boolean => io.stdin.isTTY === true && io.stderr.isTTY === true

export type Answer = 'yes' | 'no' | 'interrupted'

/** Asks on the terminal; only `yes` or `y` counts as consent. Ctrl-C there, and `stop`, interrupt. */
export function confirm(io: CliIo, question: string, stop: AbortSignal): Promise<Answer> {
  if (stop.aborted) return Promise.resolve('interrupted')
  const terminal = createInterface({ input: io.stdin, output: io.stderr as NodeJS.WritableStream })
  return new Promise((resolve) => {
    const interrupt = (): void => end('interrupted')
    let answered = false
    const end = (answer: Answer): void => {
      answered = true
      stop.removeEventListener('abort', interrupt)
      resolve(answer)
      terminal.close()
    }
    stop.addEventListener('abort', interrupt)
    // While readline has the terminal, Ctrl-C is a key and no signal.
    terminal.on('SIGINT', interrupt)
    terminal.on('close', () => {
      if (!answered) io.stderr.write('\n')
      end('no')
    })
    terminal.question(`${question} [y/N] `, (text) => end(/^y(?:es)?$/i.test(text.trim()) ? 'yes' : 'no'))
  })
}
