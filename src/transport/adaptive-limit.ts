/**
 * The number of concurrent requests to a server, found by additive increase and multiplicative decrease, like TCP's window (RFC 5681 section 3.1). A
 * window of successful responses adds one; a response that asks for fewer requests, or a timeout, halves the window. Requests that were sent before the halving do
 * not halve it again. The server may also ask for a pause, or announce how many requests it accepts until a given time. If a pause is too long to wait, requests
 * fail until it is over.
 */
import { DEFAULT_RETRY } from './retry.ts'

/** The load of the server, as far as the result of a request shows it. */
export interface TurnResult {
  /** Whether the server asked for fewer requests or did not respond in time. */
  readonly congested: boolean
  /** Milliseconds for which the server wants no requests. */
  readonly pause?: number | null
  /** The requests that the server accepts until its window ends, and the milliseconds until then. */
  readonly budget?: { readonly remaining: number; readonly resetIn: number } | null
}

/** The permission to send one request. */
export interface Turn {
  /** Must be called once, when the request has ended. */
  end(result: TurnResult): void
}

/** The server asks for a pause that is too long to wait. */
export class LimitClosed extends Error {
  /** Milliseconds until the pause ends. */
  readonly wait: number
  constructor(wait: number) {
    super(`no request for ${Math.ceil(wait / 1000)} seconds`)
    this.name = 'LimitClosed'
    this.wait = wait
  }
}

export interface AdaptiveLimit {
  /** Waits for a turn, first come, first served. Rejects with the signal's reason when it is aborted, or with `LimitClosed`. */
  enter(signal?: AbortSignal): Promise<Turn>
  /** Maximum concurrent requests now, pauses aside. */
  capacity(): number
}

export interface AdaptiveLimitOptions {
  /** Maximum milliseconds to wait for the end of a pause. */
  readonly longestPause?: number | undefined
  /** Called once with the milliseconds of each pause that users would notice. */
  readonly onPause?: ((milliseconds: number) => void) | undefined
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number
}

/** Milliseconds from which users notice a pause. */
const NOTABLE = 3000

interface Waiting {
  readonly start: () => void
  readonly refuse: (reason: unknown) => void
}

/** Creates a limit between 1 and `maximum` that starts at `maximum`. */
export function createAdaptiveLimit(
  maximum: number,
  { longestPause = DEFAULT_RETRY.maxRetryAfter, onPause, now = () => performance.now() }: AdaptiveLimitOptions = {},
): AdaptiveLimit {
  let window = maximum
  let active = 0
  /** How often the window has been halved. */
  let halvings = 0
  let pausedUntil = 0
  let closedUntil = 0
  let reportedUntil = 0
  let budget: { left: number; until: number } | null = null
  let wakeAt: number | null = null
  let timer: NodeJS.Timeout | undefined
  const queue = new Set<Waiting>()

  const capacity = (): number => Math.max(1, Math.floor(window))

  /** The time when pauses and budget permit the next request. */
  const opensAt = (): number => {
    const time = now()
    if (budget !== null && budget.until <= time) budget = null
    return Math.max(pausedUntil, budget !== null && budget.left <= 0 ? budget.until : 0)
  }
  /** Reports a pause unless it was reported before: concurrent responses ask for nearly the same pause. */
  const report = (until: number): void => {
    const wait = until - now()
    if (wait < NOTABLE || until < reportedUntil + 1000) return
    reportedUntil = until
    onPause?.(wait)
  }
  const wakeUp = (at: number): void => {
    report(at)
    if (wakeAt !== null && wakeAt <= at) return
    clearTimeout(timer)
    wakeAt = at
    timer = setTimeout(
      () => {
        wakeAt = null
        pump()
      },
      Math.max(1, Math.ceil(at - now())),
    )
  }
  const pump = (): void => {
    for (const next of queue) {
      if (active >= capacity()) return
      const at = opensAt()
      if (at > now()) {
        wakeUp(at)
        return
      }
      queue.delete(next)
      active += 1
      if (budget !== null) budget.left -= 1
      next.start()
    }
    stopTimer()
  }
  /** Stops the timer, which would keep the process alive. */
  const stopTimer = (): void => {
    clearTimeout(timer)
    wakeAt = null
  }
  const close = (pause: number): void => {
    closedUntil = Math.max(closedUntil, now() + pause)
    for (const { refuse } of queue) refuse(new LimitClosed(pause))
    queue.clear()
  }

  const turn = (): Turn => {
    const halvingsAtStart = halvings
    let ended = false
    return {
      end({ congested, pause, budget: reported }) {
        if (ended) throw new Error('a turn ended twice')
        ended = true
        active -= 1
        if (!congested) window = Math.min(maximum, window + 1 / window)
        else if (halvingsAtStart === halvings) {
          window = Math.max(1, window / 2)
          halvings += 1
        }
        if (pause && pause > longestPause) close(pause)
        else if (pause) {
          pausedUntil = Math.max(pausedUntil, now() + pause)
          // The requests that will wait are not queued yet.
          report(pausedUntil)
        }
        // The server has not counted the requests that are still on their way.
        if (reported) budget = { left: reported.remaining - active, until: now() + reported.resetIn }
        pump()
      },
    }
  }

  return {
    capacity,
    enter: (signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        if (closedUntil > now()) return reject(new LimitClosed(closedUntil - now()))
        const leave = (): void => {
          queue.delete(waiting)
          if (queue.size === 0) stopTimer()
          reject(signal?.reason)
        }
        const waiting: Waiting = {
          start: () => {
            signal?.removeEventListener('abort', leave)
            resolve(turn())
          },
          refuse: (reason) => {
            signal?.removeEventListener('abort', leave)
            reject(reason)
          },
        }
        signal?.addEventListener('abort', leave, { once: true })
        queue.add(waiting)
        pump()
      }),
  }
}
