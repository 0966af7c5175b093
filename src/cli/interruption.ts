/** Signals and time limits: how Ctrl-C, SIGTERM, SIGHUP and `--timeout` end a run. */
import { isatty } from 'node:tty'
import { EXIT, type ExitStatus } from '../run/context/exit-status.ts'
import { GRACE, type Interruption } from '../run/context/run-context.ts'

/** Whether SIGHUP does not end a service: it reads files again then, or has no terminal that could have closed, so that the signal asks to reload. */
export const survivesHangup = (words: readonly string[]): boolean =>
  !isatty(0) || words.some((word) => /^--(?:tls-cert|tsig-keys)(?:=|$)/.test(word))

const EXIT_STATUS = { SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated, SIGHUP: EXIT.hungUp } as const

type Signal = keyof typeof EXIT_STATUS

const TERMINATING: readonly Signal[] = ['SIGINT', 'SIGTERM']

function listen(signals: readonly Signal[], handle: (ended: ExitStatus) => void): () => void {
  const handlers = signals.map((signal) => [signal, () => handle(EXIT_STATUS[signal])] as const)
  for (const [signal, handler] of handlers) process.on(signal, handler)
  return () => {
    for (const [signal, handler] of handlers) process.off(signal, handler)
  }
}

export interface InterruptionOptions {
  /** The time limit of the run. */
  readonly seconds?: number | undefined
  /** Whether a closed terminal (SIGHUP) stops the run. */
  readonly hangUp?: boolean
}

/** Listens for Ctrl-C and SIGTERM. The first one stops the run, which finishes its calls in flight; a second one ends the program at once. */
export function listenForInterruption(
  say: (text: string) => void,
  message: string,
  { seconds, hangUp = false }: InterruptionOptions = {},
): Interruption {
  const controller = new AbortController()
  const aborter = new AbortController()
  const timers: NodeJS.Timeout[] = []
  if (seconds !== undefined) {
    const over = `the time of the run, ${seconds} s, is over`
    const end = (): void => {
      if (controller.signal.aborted) return
      say(`The ${seconds} s of --timeout are over: stopping after the open requests.`)
      controller.abort(over)
    }
    timers.push(
      setTimeout(end, seconds * 1000),
      setTimeout(() => aborter.abort(over), seconds * 1000 + GRACE),
    )
    // The timers must not keep the process alive.
    for (const timer of timers) timer.unref()
  }
  let status: ExitStatus | null = null
  const release = listen(hangUp ? [...TERMINATING, 'SIGHUP'] : TERMINATING, (ended) => {
    // Both the shell and the kernel send SIGHUP when a terminal closes.
    if (status !== null && ended === EXIT.hungUp) return
    if (status !== null) process.exit(ended)
    status = ended
    say(message)
    controller.abort('the run was interrupted')
  })
  return {
    signal: controller.signal,
    abort: aborter.signal,
    status: () => status,
    release: () => {
      for (const timer of timers) clearTimeout(timer)
      release()
    },
  }
}

/** Does work that Ctrl-C and SIGTERM end at once, together with the program. The work cleans up on exit (`cleanAtExit`). */
export async function endedBySignals<T>(work: () => Promise<T>): Promise<T> {
  const release = exitOnSignal(() => undefined)
  try {
    return await work()
  } finally {
    release()
  }
}

/** Makes Ctrl-C and SIGTERM end the program at once, after `clean`, until the returned function is called. */
export const exitOnSignal = (clean: () => void): (() => void) =>
  listen(TERMINATING, (ended) => {
    clean()
    process.exit(ended)
  })

/** Process 1 of a container has no default for signals: makes them end it, until the returned function is called. */
export const exitAsInit = (): (() => void) => (process.pid === 1 ? exitOnSignal(() => undefined) : () => undefined)
