import { describe, expect, test } from 'vitest'
import { DEFAULT_RETRY, parseRateLimit, parseRetryAfter, retryDelay } from '../../src/transport/retry.ts'

const NOW = Date.parse('2030-01-01T00:00:00Z')

test.each<[string | undefined, number | null]>([
  [undefined, null],
  ['', null],
  ['0', 0],
  ['98', 98_000],
  [' 3 ', 3000],
  ['-5', null],
  ['1.5', null],
  ['1e3', null],
  ['soon', null],
  ['9'.repeat(30), null],
  ['Tue, 01 Jan 2030 00:00:07 GMT', 7000],
  ['Tuesday, 01-Jan-30 00:00:07 GMT', 7000],
  ['Tue Jan  1 00:00:07 2030 GMT', 7000],
  ['Mon, 31 Dec 2029 23:59:00 GMT', 0],
])('Retry-After: %j is %j', (header, milliseconds) => expect(parseRetryAfter(header, NOW)).toBe(milliseconds))

describe('X-RateLimit', () => {
  const reset = String(NOW / 1000 + 30)
  test.each<[Record<string, string>, ReturnType<typeof parseRateLimit>]>([
    [
      { 'x-ratelimit-remaining': '398', 'x-ratelimit-reset': reset },
      { remaining: 398, resetIn: 30_000 },
    ],
    [
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset },
      { remaining: 0, resetIn: 30_000 },
    ],
    [{ 'x-ratelimit-remaining': '0' }, null],
    [{ 'x-ratelimit-reset': reset }, null],
    [{ 'x-ratelimit-remaining': '-1', 'x-ratelimit-reset': reset }, null],
    [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '30' }, null],
    [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(NOW / 1000 - 1) }, null],
    [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(NOW / 1000 + 86_400) }, null],
  ])('%j', (headers, expected) => expect(parseRateLimit(headers, NOW)).toEqual(expected))
})

test('doubles waits with jitter up to the maximum; uses the wait of the server unchanged', () => {
  const delays = (random: () => number): number[] => [1, 2, 3, 4, 20].map((attempt) => retryDelay(DEFAULT_RETRY, attempt, null, random))
  expect(delays(() => 0)).toEqual([100, 200, 400, 800, 15_000])
  expect(delays(() => 1)).toEqual([200, 400, 800, 1600, 30_000])
  expect(retryDelay(DEFAULT_RETRY, 3, 98_000, () => 0)).toBe(98_000)
})
