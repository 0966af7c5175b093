import { setTimeout as wait } from 'node:timers/promises'

/** How often and how patiently something is tried again. */
export interface RetryPolicy {
  /** Tries in all, the first included. */
  readonly tries: number
  /** Milliseconds before the second try; doubled for each one after it. */
  readonly firstDelay: number
  /** Milliseconds a single wait may take, whatever the server asks for. */
  readonly maxDelay: number
}

export const DEFAULT_RETRY: RetryPolicy = { tries: 5, firstDelay: 200, maxDelay: 30_000 }

/** Milliseconds to wait before try `attempt + 1` (attempts count from 1): exponential with full jitter above one half, or what the server asks for. */
export function retryDelay(policy: RetryPolicy, attempt: number, retryAfter: number | null, random: () => number): number {
  if (retryAfter !== null) return Math.min(retryAfter, policy.maxDelay)
  const ceiling = Math.min(policy.firstDelay * 2 ** (attempt - 1), policy.maxDelay)
  return ceiling * (0.5 + random() / 2)
}

/** Milliseconds a `Retry-After` header asks for: seconds or an HTTP date (RFC 9110 section 10.2.3); null where there is none or it is unreadable. */
export function parseRetryAfter(header: string | undefined, now: number): number | null {
  if (header === undefined) return null
  if (/^[0-9]{1,6}$/.test(header.trim())) return Number(header) * 1000
  const date = Date.parse(header)
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

/** Waits, or ends early with the signal's reason. */
export async function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  await wait(milliseconds, undefined, signal ? { signal } : {})
}
