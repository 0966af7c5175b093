/** How often and when to repeat a failed request, and the deadline of a read. */
import { setTimeout as wait } from 'node:timers/promises'

/** How often to retry a request, and how long to wait. */
export interface RetryPolicy {
  /** Attempts of a failing request, the first included. */
  readonly tries: number
  /** Attempts if the server runs and asks for fewer requests. */
  readonly busyTries: number
  /** Milliseconds before the second attempt; doubled for each further one. */
  readonly firstDelay: number
  /** Maximum milliseconds of a wait that the server did not ask for. */
  readonly maxDelay: number
  /** Maximum milliseconds that a server may ask to wait. If it asks for more, the request fails. */
  readonly maxRetryAfter: number
}

/** Five attempts take about three seconds, the time of a restart. Ten take over a minute, the window of a rate limit. */
export const DEFAULT_RETRY: RetryPolicy = {
  tries: 5,
  busyTries: 10,
  firstDelay: 200,
  maxDelay: 30_000,
  maxRetryAfter: 300_000,
}

/** Milliseconds to wait before attempt `attempt + 1` (from 1): as the server asks, or exponential with jitter between one half and the whole. */
export function retryDelay(policy: RetryPolicy, attempt: number, retryAfter: number | null, random: () => number): number {
  if (retryAfter !== null) return retryAfter
  const ceiling = Math.min(policy.firstDelay * 2 ** (attempt - 1), policy.maxDelay)
  return ceiling * (0.5 + random() / 2)
}

/** Milliseconds of a `Retry-After` header, in seconds or as an HTTP date (RFC 9110 section 10.2.3); null if it is missing or malformed. */
export function parseRetryAfter(header: string | undefined, now: number): number | null {
  if (header === undefined) return null
  if (/^[0-9]{1,9}$/.test(header.trim())) return Number(header) * 1000
  // A date has a time of day; Date.parse alone would accept `-5` and `1.5`.
  const date = /[0-9]:[0-9]{2}/.test(header) ? Date.parse(header) : Number.NaN
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

/**
 * The remaining requests of a rate limit, and the milliseconds until it resets, from `X-RateLimit-Remaining` and `X-RateLimit-Reset` (seconds since 1970).
 * `now` is by the server's clock. Null if a header is missing or malformed, or if the reset is in the past or more than an hour ahead.
 */
export function parseRateLimit(
  headers: Readonly<Record<string, string>>,
  now: number,
): { readonly remaining: number; readonly resetIn: number } | null {
  const remaining = headers['x-ratelimit-remaining'] ?? ''
  const reset = headers['x-ratelimit-reset'] ?? ''
  if (!/^[0-9]{1,9}$/.test(remaining) || !/^[0-9]{9,11}$/.test(reset)) return null
  const resetIn = Number(reset) * 1000 - now
  return resetIn > 0 && resetIn <= 3_600_000 ? { remaining: Number(remaining), resetIn } : null
}

/** Waits. Rejects with the signal's reason when the signal is aborted. */
export async function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  await wait(milliseconds, undefined, signal ? { signal } : {})
}

/*
 * The deadline of a read has two clocks: the time of its own attempts and pauses, and the time since the server's last response to any request.
 * A read that waits for its turn is not late while other requests get responses. If none does, all waiting reads expire together, not one after another.
 */

/** The time of a server's last response to any request. */
export interface ResponseWatch {
  /** Notes a response. `pause`: the milliseconds for which the server wants no requests, so no response can follow earlier. */
  note(pause: number): void
  /** The time of the last response, by `now`. */
  last(): number
  readonly now: () => number
}

export function createResponseWatch(now: () => number = () => performance.now()): ResponseWatch {
  let last = Number.NEGATIVE_INFINITY
  return {
    note: (pause) => {
      last = Math.max(last, now() + pause)
    },
    last: () => last,
    now,
  }
}

export interface ReadDeadline {
  /** The remaining milliseconds, at least 0: those of the clock with fewer. */
  left(): number
  /** Adds the milliseconds of an attempt or pause. */
  spend(milliseconds: number): void
  /** A signal that is aborted when no time is left. Call `end` when it is no longer needed. */
  watch(): { readonly signal: AbortSignal; end(): void }
}

/** The deadline of a read that starts now. */
export function createReadDeadline(milliseconds: number, responses: ResponseWatch): ReadDeadline {
  const startedAt = responses.now()
  let spent = 0
  const left = (): number => {
    const silent = responses.now() - Math.max(startedAt, responses.last())
    return Math.max(0, milliseconds - Math.max(spent, silent))
  }
  return {
    left,
    spend(took) {
      spent += took
    },
    watch() {
      const over = new AbortController()
      let timer: NodeJS.Timeout
      const check = (): void => {
        const rest = left()
        if (rest <= 0) over.abort()
        else timer = setTimeout(check, Math.ceil(Math.min(rest, milliseconds)) + 1)
      }
      check()
      return { signal: over.signal, end: () => clearTimeout(timer) }
    },
  }
}
