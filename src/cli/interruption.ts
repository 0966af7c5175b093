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

const SIGNALS = Object.keys(STATUS) as (keyof typeof STATUS)[]

function listen(handle: (ended: ExitStatus) => void): () => void {
  const handlers = SIGNALS.map((signal) => [signal, () => handle(STATUS[signal])] as const)
  for (const [signal, handler] of handlers) process.on(signal, handler)
  return () => {
    for (const [signal, handler] of handlers) process.off(signal, handler)
  }
}

/** Listens for Ctrl-C and SIGTERM. The first one stops the run, which may finish what is under way; a second one ends the program at once. */
export function listenForInterruption(say: (text: string) => void, message: string): Interruption {
  const controller = new AbortController()
  let status: ExitStatus | null = null
  const release = listen((ended) => {
    if (status !== null) process.exit(ended)
    status = ended
    say(message)
    controller.abort()
  })
  return { signal: controller.signal, status: () => status, release }
}

/** For work that leaves nothing half-done: Ctrl-C and SIGTERM end the program at once, after `clean`. The function given back ends that. */
export const exitOnSignal = (clean: () => void): (() => void) =>
  listen((ended) => {
    clean()
    process.exit(ended)
  })
