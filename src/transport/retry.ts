/** How often and when to repeat a failed request. */
import { setTimeout as delay } from 'node:timers/promises'

/** How often to retry a request, and how long to wait. */
export interface RetryPolicy {
  /** Attempts of a failing request, the first included. */
  readonly tries: number
  /** Attempts of a request that the server answers with 429 or asks to repeat later, the first included. */
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

/** Milliseconds to wait after attempt `attempt` (the first is 1): as the server asks, otherwise exponential backoff times a random factor from 0.5 to 1. */
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
  await delay(milliseconds, undefined, signal ? { signal } : {})
}
