import { EXIT, type ExitStatus } from './exit-status.ts'

/** A run that a signal may end early. */
export interface Interruption {
  /** Aborted at the first signal: nothing new begins. */
  readonly signal: AbortSignal
  /** The exit status of the signal that came; null where none did. */
  status(): ExitStatus | null
  /** Gives the signals back to the system. */
  release(): void
}

const STATUS = { SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated } as const

/** Listens for Ctrl-C and SIGTERM. The first stops the run when its calls under way have ended; a second one ends the program at once. */
export function listenForInterruption(say: (text: string) => void): Interruption {
  const controller = new AbortController()
  let status: ExitStatus | null = null
  const handle = (signal: NodeJS.Signals): void => {
    const ended = STATUS[signal as keyof typeof STATUS]
    if (status !== null) process.exit(ended)
    status = ended
    say('Stopping: calls under way are finished. Once more to stop at once.')
    controller.abort()
  }
  for (const signal of Object.keys(STATUS) as (keyof typeof STATUS)[]) process.on(signal, handle)
  return {
    signal: controller.signal,
    status: () => status,
    release: () => {
      for (const signal of Object.keys(STATUS) as (keyof typeof STATUS)[]) process.off(signal, handle)
    },
  }
}
