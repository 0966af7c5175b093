/** Delays and limits for retries of failed requests. */
import { setTimeout as delay } from 'node:timers/promises'

/** How often to retry a request, and how long to wait. */
export interface RetryPolicy {
  /** Maximum attempts of a failing request, including the first. */
  readonly tries: number
  /** Maximum attempts, including the first, if the server answers 429 or asks to repeat the request later. */
  readonly busyTries: number
  /** Milliseconds before the second attempt; doubled for each further one. */
  readonly firstDelay: number
  /** Maximum milliseconds to wait if the server names no time. */
  readonly maxDelay: number
  /** If the server asks to wait for more milliseconds than this, the request fails. */
  readonly maxRetryAfter: number
}

/** Five attempts take about three seconds, enough for a server to restart. Ten take over a minute, the usual window of a rate limit. */
export const DEFAULT_RETRY: RetryPolicy = {
  tries: 5,
  busyTries: 10,
  firstDelay: 200,
  maxDelay: 30_000,
  maxRetryAfter: 300_000,
}

/** Milliseconds to wait after an attempt (the first is 1): `retryAfter`, or if it is null, exponential backoff times a random factor from 0.5 to 1. */
export function retryDelay(policy: RetryPolicy, attempt: number, retryAfter: number | null, random: () => number): number {
  if (retryAfter !== null) return retryAfter
  const ceiling = Math.min(policy.firstDelay * 2 ** (attempt - 1), policy.maxDelay)
  return ceiling * (0.5 + random() / 2)
}

/** Milliseconds of a `Retry-After` header, in seconds or as an HTTP date (RFC 9110 section 10.2.3); null if it is missing or malformed. */
export function parseRetryAfter(header: string | undefined, now: number): number | null {
  if (header === undefined) return null
  if (/^[0-9]{1,9}$/.test(header.trim())) return Number(header) * 1000
  // Date.parse would accept `-5` and `1.5`, so the text must have a time of day.
  const date = /[0-9]:[0-9]{2}/.test(header) ? Date.parse(header) : Number.NaN
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

/**
 * Reads how many requests a rate limit still allows, and the milliseconds until it resets. The headers are `X-RateLimit-Remaining` and `X-RateLimit-Reset`
 * (seconds since 1970); `now` is the server's time. Null if a header is missing or malformed, or if the reset is in the past or more than an hour ahead.
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

/** Waits. If the signal is aborted, rejects with its reason. */
export async function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  await delay(milliseconds, undefined, signal ? { signal } : {})
}
