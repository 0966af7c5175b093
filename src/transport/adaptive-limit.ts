/**
 * How many requests may be under way at one server, found out while they are: additive increase and multiplicative decrease, as TCP
 * finds its window (RFC 5681 section 3.1). A window's worth of good answers makes room for one more; an answer that asks for less, or
 * none in time, halves the room. Requests that were under way when the room was halved say nothing new: they do not halve it again.
 * Beside that the server may ask for a pause, or tell how many requests it still takes until when; both hold for all requests. A pause that
 * is longer than anybody waits is not waited for: whoever asks for a turn meanwhile is turned away, and the server is left in peace.
 */

import { DEFAULT_RETRY } from './retry.ts'

/** What a request showed about the server. */
export interface TurnResult {
  /** The server asked for fewer requests or did not answer in time. */
  readonly congested: boolean
  /** Milliseconds for which the server wants no request at all. */
  readonly pause?: number | null
  /** Requests the server takes until its window ends, and the milliseconds until then. */
  readonly budget?: { readonly remaining: number; readonly resetIn: number } | null
}

/** The leave to send one request. */
export interface Turn {
  /** To be called once, when the request has ended. */
  end(result: TurnResult): void
}

/** No turn is given, since the server wants no request for longer than is waited. */
export class LimitClosed extends Error {
  /** Milliseconds until it is open again. */
  readonly wait: number
  constructor(wait: number) {
    super(`no request for ${Math.ceil(wait / 1000)} seconds`)
    this.name = 'LimitClosed'
    this.wait = wait
  }
}

export interface AdaptiveLimit {
  /** Waits for a turn, first come, first served. Rejects with the signal's reason once that is aborted, and with `LimitClosed`. */
  enter(signal?: AbortSignal): Promise<Turn>
  /** Requests that may be under way now, pauses aside. */
  capacity(): number
}

export interface AdaptiveLimitOptions {
  /** Milliseconds of the longest pause that is waited for. */
  readonly longestPause?: number | undefined
  /** Told of a wait that the server asks for and that somebody might wonder about, with its milliseconds; once for each. */
  readonly onPause?: ((milliseconds: number) => void) | undefined
  /** Milliseconds of a clock that only goes forward. */
  readonly now?: () => number
}

/** Milliseconds from which a wait is told. */
const NOTABLE = 3000

interface Waiting {
  readonly begin: () => void
  readonly refuse: (reason: unknown) => void
}

/** A limit that starts at `most` and never leaves 1 to `most`. */
export function createAdaptiveLimit(
  most: number,
  { longestPause = DEFAULT_RETRY.maxRetryAfter, onPause, now = () => performance.now() }: AdaptiveLimitOptions = {},
): AdaptiveLimit {
  let window = most
  let active = 0
  /** Counts the halvings. */
  let era = 0
  let pausedUntil = 0
  let closedUntil = 0
  let toldUntil = 0
  let budget: { left: number; until: number } | null = null
  let wakeAt: number | null = null
  let timer: NodeJS.Timeout | undefined
  const queue = new Set<Waiting>()

  const room = (): number => Math.max(1, Math.floor(window))

  /** When the next request may begin, as far as pauses and budget go. */
  const opensAt = (): number => {
    const time = now()
    if (budget !== null && budget.until <= time) budget = null
    return Math.max(pausedUntil, budget !== null && budget.left <= 0 ? budget.until : 0)
  }
  /** Answers to requests that were under way together ask for the same wait, if not to the millisecond. */
  const tell = (until: number): void => {
    const wait = until - now()
    if (wait < NOTABLE || until < toldUntil + 1000) return
    toldUntil = until
    onPause?.(wait)
  }
  const wakeUp = (at: number): void => {
    tell(at)
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
      if (active >= room()) return
      const at = opensAt()
      if (at > now()) {
        wakeUp(at)
        return
      }
      queue.delete(next)
      active += 1
      if (budget !== null) budget.left -= 1
      next.begin()
    }
    rest()
  }
  /** Nobody waits: a timer would only keep the process alive. */
  const rest = (): void => {
    clearTimeout(timer)
    wakeAt = null
  }
  const close = (pause: number): void => {
    closedUntil = Math.max(closedUntil, now() + pause)
    for (const { refuse } of queue) refuse(new LimitClosed(pause))
    queue.clear()
  }

  const turn = (): Turn => {
    const begunIn = era
    let ended = false
    return {
      end({ congested, pause, budget: told }) {
        if (ended) throw new Error('a turn ended twice')
        ended = true
        active -= 1
        if (!congested) window = Math.min(most, window + 1 / window)
        else if (begunIn === era) {
          window = Math.max(1, window / 2)
          era += 1
        }
        if (pause && pause > longestPause) close(pause)
        else if (pause) {
          pausedUntil = Math.max(pausedUntil, now() + pause)
          // Who is to wait has not come back to the queue yet.
          tell(pausedUntil)
        }
        // The server had not counted those that are still on their way.
        if (told) budget = { left: told.remaining - active, until: now() + told.resetIn }
        pump()
      },
    }
  }

  return {
    capacity: room,
    enter: (signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        if (closedUntil > now()) return reject(new LimitClosed(closedUntil - now()))
        const leave = (): void => {
          queue.delete(waiting)
          if (queue.size === 0) rest()
          reject(signal?.reason)
        }
        const waiting: Waiting = {
          begin: () => {
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
