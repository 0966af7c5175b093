/**
 * Rate limits. Requests are counted in fixed time windows: the first request without a window starts one, and requests over the limit are
 * refused until it ends. Each process has its own counters, in memory.
 */
import { isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { RequestError } from './request-error.ts'

/**
 * A map of bounded size that drops approximately the least recently used entries. Entries live in two generations: reading moves an entry to
 * the younger one, and when that is full the older one is dropped. Every operation is O(1). Deleting the oldest entries of one `Map` one by
 * one would not be: its iterator walks over the holes of earlier deletions.
 */
interface LruCache<T> {
  get(key: string): T | undefined
  set(key: string, value: T): void
  delete(key: string): void
}

/** `size` is the maximum number of entries; the newest half of that is never dropped. */
export function createLruCache<T>(size: number): LruCache<T> {
  const half = Math.max(1, Math.floor(size / 2))
  let young = new Map<string, T>()
  let old = new Map<string, T>()
  const set = (key: string, value: T): void => {
    if (young.size >= half && !young.has(key)) {
      old = young
      young = new Map()
    }
    young.set(key, value)
  }
  return {
    get: (key) => {
      const value = young.get(key)
      if (value !== undefined) return value
      const older = old.get(key)
      if (older !== undefined) set(key, older)
      return older
    },
    set,
    delete: (key) => {
      young.delete(key)
      old.delete(key)
    },
  }
}

/** A limit of `requests` per `seconds`. */
export interface RateWindow {
  readonly requests: number
  readonly seconds: number
}

export interface RateLimits {
  /** Requests of one caller to all operations together; null for no limit. A caller is a token or, without one, an address. */
  readonly general: RateWindow | null
  /** Requests of one caller to one operation, unless the operation has its own limit; null for no limit. */
  readonly operation: RateWindow | null
  /** Requests of one address with invalid tokens; null for no limit. */
  readonly failures: RateWindow | null
}

/** Limits of `requests` per minute to one operation, and twice as many per two minutes to all operations together. */
export const requestsPerMinute = (requests: number): Pick<RateLimits, 'general' | 'operation'> => ({
  general: { requests: 2 * requests, seconds: 120 },
  operation: { requests, seconds: 60 },
})

/** The limit that the hosting service behind this API documents, per caller and operation. */
const DEFAULT_REQUESTS_PER_MINUTE = 800

export const DEFAULT_RATE_LIMITS: RateLimits = {
  ...requestsPerMinute(DEFAULT_REQUESTS_PER_MINUTE),
  failures: { requests: 1000, seconds: 60 },
}

/** No limits except on requests with invalid tokens. */
export const UNLIMITED_RATES: Pick<RateLimits, 'general' | 'operation'> = { general: null, operation: null }

/** The requests that a caller has left. */
interface Allowance {
  readonly limit: number
  readonly remaining: number
  /** The end of the window, in seconds since 1970. */
  readonly reset: number
}

/** The response headers that describe an allowance. */
export const rateHeaders = (allowance: Allowance | null): Readonly<Record<string, number>> =>
  allowance === null
    ? {}
    : {
        'x-ratelimit-limit': allowance.limit,
        'x-ratelimit-remaining': allowance.remaining,
        'x-ratelimit-reset': Math.ceil(allowance.reset),
      }

/** The id of a token, or the result of `addressCaller`. */
export type Caller = number | string

export interface RateLimiter {
  /**
   * Counts a request; `own` is the operation's own limit. Returns the tightest allowance, or null if nothing is limited. Throws `RateLimited` if
   * none is left.
   */
  take(caller: Caller, operation: string, own?: RateWindow): Allowance | null
  /** Throws `RateLimited` if the address has sent too many invalid tokens, unless this token was valid before. */
  checkGuesses(address: string, hash: string): void
  failed(address: string, hash: string): void
  succeeded(hash: string): void
}

/** A request over a rate limit. */
export class RateLimited extends RequestError {
  readonly allowance: Allowance
  /** Seconds to wait, at least 1. */
  readonly retryAfter: number

  constructor(allowance: Allowance, now: number) {
    super(429, [{ field: null, reason: 'Too many requests' }])
    this.allowance = allowance
    this.retryAfter = Math.max(1, Math.ceil(allowance.reset - now / 1000))
  }
}

/**
 * Maximum number of counters for tokens, and of counters for addresses, of about 100 octets each. The least recently used are dropped. The two are
 * separate, so that a sender with many addresses cannot evict the counters of tokens.
 */
const MAX_COUNTERS = 100_000

/** Maximum number of tokens remembered as valid. */
const MAX_KNOWN = 10_000

interface Counter {
  count: number
  /** Milliseconds since 1970. */
  readonly ends: number
}

/** `clock` returns milliseconds since 1970. */
export function createRateLimiter(limits: RateLimits, clock: () => number, maxCounters = MAX_COUNTERS): RateLimiter {
  const ofTokens = createLruCache<Counter>(maxCounters)
  const ofAddresses = createLruCache<Counter>(maxCounters)
  const known = createLruCache<true>(MAX_KNOWN)

  const running = (counters: LruCache<Counter>, key: string, { seconds }: RateWindow, now: number): Counter | null => {
    const counter = counters.get(key)
    // A window that ends too far ahead means that the clock was set back.
    return counter !== undefined && counter.ends > now && counter.ends <= now + seconds * 1000 ? counter : null
  }

  const counterOf = (counters: LruCache<Counter>, key: string, window: RateWindow, now: number): Counter => {
    const counter = running(counters, key, window, now)
    if (counter !== null) return counter
    const fresh = { count: 0, ends: now + window.seconds * 1000 }
    counters.set(key, fresh)
    return fresh
  }

  return {
    take: (caller, operation, own) => {
      const now = clock()
      const counters = typeof caller === 'number' ? ofTokens : ofAddresses
      const perOperation = limits.operation === null ? null : (own ?? limits.operation)
      const counted = [
        ...(limits.general ? [{ window: limits.general, counter: counterOf(counters, `${caller}`, limits.general, now) }] : []),
        ...(perOperation ? [{ window: perOperation, counter: counterOf(counters, `${caller} ${operation}`, perOperation, now) }] : []),
      ]
      for (const { window, counter } of counted) {
        if (counter.count >= window.requests) throw new RateLimited(allowanceOf(window, counter), now)
      }
      for (const { counter } of counted) counter.count += 1
      const allowances = counted.map(({ window, counter }) => allowanceOf(window, counter))
      return allowances.reduce<Allowance | null>(
        (tightest, one) => (tightest && tightest.remaining <= one.remaining ? tightest : one),
        null,
      )
    },
    checkGuesses: (address, hash) => {
      if (limits.failures === null || known.get(hash)) return
      const now = clock()
      const counter = running(ofAddresses, failuresOf(address), limits.failures, now)
      if (counter && counter.count >= limits.failures.requests) throw new RateLimited(allowanceOf(limits.failures, counter), now)
    },
    failed: (address, hash) => {
      known.delete(hash)
      if (limits.failures !== null) counterOf(ofAddresses, failuresOf(address), limits.failures, clock()).count += 1
    },
    succeeded: (hash) => {
      if (limits.failures !== null && !known.get(hash)) known.set(hash, true)
    },
  }
}

/** The caller for an address: the IPv4 address, or the /64 of the IPv6 address, since one host may use a whole /64. */
export function addressCaller(address: string): string {
  if (isIPv4(address)) return address
  const bare = address.replace(/%.*$/, '')
  if (!ipaddr.IPv6.isValid(bare)) return address
  const parsed = ipaddr.IPv6.parse(bare)
  return parsed.isIPv4MappedAddress()
    ? parsed.toIPv4Address().toString()
    : `${parsed.parts
        .slice(0, 4)
        .map((part) => part.toString(16))
        .join(':')}::/64`
}

const failuresOf = (address: string): string => `failures ${addressCaller(address)}`

const allowanceOf = ({ requests }: RateWindow, { count, ends }: Counter): Allowance => ({
  limit: requests,
  remaining: Math.max(0, requests - count),
  reset: Math.ceil(ends / 1000),
})
