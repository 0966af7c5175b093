/** Asks for consent on the terminal. */
import { createInterface } from 'node:readline'
import type { CliIo } from './io.ts'

/** Whether the user can be asked: standard input and standard error are a terminal. */
export const canAsk = (io: CliIo): boolean => io.stdin.isTTY === true && io.stderr.isTTY === true

export type Answer = 'yes' | 'no' | 'interrupted'

/** Asks on the terminal. Only `yes` or `y` is consent. Ctrl-C at the prompt and `stop` interrupt it. */
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
    // While readline owns the terminal, Ctrl-C is a key and not a signal.
    terminal.on('SIGINT', interrupt)
    terminal.on('close', () => {
      if (!answered) io.stderr.write('\n')
      end('no')
    })
    terminal.question(`${question} [y/N] `, (text) => end(/^y(?:es)?$/i.test(text.trim()) ? 'yes' : 'no'))
  })
}
