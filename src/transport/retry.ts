import { setTimeout as wait } from 'node:timers/promises'

/** How often and how patiently something is tried again. */
export interface RetryPolicy {
  /** Tries in all, the first included, of what fails. */
  readonly tries: number
  /** Tries in all of what the server puts off: it is at work and wants fewer requests, so that waiting helps. */
  readonly busyTries: number
  /** Milliseconds before the second try; doubled for each one after it. */
  readonly firstDelay: number
  /** Milliseconds of the longest wait of our own choice. */
  readonly maxDelay: number
  /** Milliseconds of the longest wait a server may ask for; one that asks for more is not waited for. */
  readonly maxRetryAfter: number
}

/** Five tries take some three seconds, a server that restarts; ten put off take over a minute, a window of a rate limit. */
export const DEFAULT_RETRY: RetryPolicy = {
  tries: 5,
  busyTries: 10,
  firstDelay: 200,
  maxDelay: 30_000,
  maxRetryAfter: 300_000,
}

/** Milliseconds to wait before try `attempt + 1` (attempts count from 1): exponential with full jitter above one half, or what the server asks for. */
export function retryDelay(policy: RetryPolicy, attempt: number, retryAfter: number | null, random: () => number): number {
  if (retryAfter !== null) return retryAfter
  const ceiling = Math.min(policy.firstDelay * 2 ** (attempt - 1), policy.maxDelay)
  return ceiling * (0.5 + random() / 2)
}

/** Milliseconds a `Retry-After` header asks for: seconds or an HTTP date (RFC 9110 section 10.2.3); null where there is none or it is unreadable. */
export function parseRetryAfter(header: string | undefined, now: number): number | null {
  if (header === undefined) return null
  if (/^[0-9]{1,9}$/.test(header.trim())) return Number(header) * 1000
  // A date has a time of day; Date.parse alone would take `-5` and `1.5` for dates.
  const date = /[0-9]:[0-9]{2}/.test(header) ? Date.parse(header) : Number.NaN
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

/**
 * What `X-RateLimit-Remaining` and `X-RateLimit-Reset` (seconds since 1970) tell: requests that are left, and the milliseconds until there
 * are more by the server's own clock, `now`. Null where they are missing, unreadable or of the past. No window is longer than an hour.
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

/** Waits, or ends early with the signal's reason. */
export async function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  await wait(milliseconds, undefined, signal ? { signal } : {})
}

/**
 * How long a read is waited for, all its tries together. Two clocks run: what its own tries and the pauses between them took, and how
 * long the server has answered nothing to anybody. A read that waits for its turn behind others is not late while those are answered;
 * but once nobody is, a hundred reads must not run out one after the other.
 */

/** When a server answered last, whatever it was asked. */
export interface AnswerWatch {
  /** An answer came; for `pause` milliseconds more the server wants no request, so that none can be answered. */
  note(pause: number): void
  /** The moment since which nothing was answered, by the clock. */
  last(): number
  readonly now: () => number
}

export function createAnswerWatch(now: () => number = () => performance.now()): AnswerWatch {
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
  /** Milliseconds that are left to both clocks; none left is 0. */
  left(): number
  /** Counts what a try or a pause of our own took, in milliseconds. */
  spend(milliseconds: number): void
  /** Aborted when nothing is left; `end` is to be called once nobody waits for that any more. */
  watch(): { readonly signal: AbortSignal; end(): void }
}

/** The deadline of a read that begins now. */
export function createReadDeadline(milliseconds: number, answers: AnswerWatch): ReadDeadline {
  const begun = answers.now()
  let spent = 0
  const left = (): number => {
    const silent = answers.now() - Math.max(begun, answers.last())
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
      const look = (): void => {
        const rest = left()
        if (rest <= 0) over.abort()
        else timer = setTimeout(look, Math.ceil(Math.min(rest, milliseconds)) + 1)
      }
      look()
      return { signal: over.signal, end: () => clearTimeout(timer) }
    },
  }
}
