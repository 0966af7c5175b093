import { describe, expect, test } from 'vitest'
import {
  addressCaller,
  createRateLimiter,
  DEFAULT_RATE_LIMITS,
  RateLimited,
  requestsPerMinute,
} from '../../../src/service/api/rate-limit.ts'
import { type Answer, connect, inParallel, startForTest } from '../harness.ts'
import { seedOfPeople, tokenOf } from './people.ts'

const NONE = { general: null, operation: null, failures: null }

describe('counting', () => {
  test('a window starts with its first request and ends after its seconds', () => {
    let now = 1_000_000_500
    const limiter = createRateLimiter({ ...NONE, operation: { requests: 2, seconds: 10 } }, () => now)
    const take = () => limiter.take('a', 'GET /x', undefined)
    expect(take()).toEqual({ limit: 2, remaining: 1, reset: 1_000_011 })
    now += 9_000
    expect(take()).toEqual({ limit: 2, remaining: 0, reset: 1_000_011 })
    expect(take).toThrow(expect.objectContaining({ status: 429, retryAfter: 2 }))
    now += 999
    expect(take).toThrow(RateLimited)
    now += 1
    expect(take()).toEqual({ limit: 2, remaining: 1, reset: 1_000_021 })
  })

  test('the tighter of two limits is reported; a refused request counts in neither', () => {
    let now = 0
    const limiter = createRateLimiter(
      { ...NONE, general: { requests: 5, seconds: 60 }, operation: { requests: 3, seconds: 10 } },
      () => now,
    )
    expect(limiter.take('a', 'x', undefined)).toMatchObject({ limit: 3, remaining: 2 })
    expect(limiter.take('a', 'x', undefined)).toMatchObject({ limit: 3, remaining: 1 })
    expect(limiter.take('a', 'x', undefined)).toMatchObject({ limit: 3, remaining: 0 })
    for (let again = 0; again < 5; again += 1) expect(() => limiter.take('a', 'x', undefined)).toThrow(RateLimited)
    expect(limiter.take('a', 'y', undefined)).toMatchObject({ limit: 5, remaining: 1 })
    now = 10_000
    expect(limiter.take('a', 'x', undefined)).toMatchObject({ limit: 5, remaining: 0 })
    expect(() => limiter.take('a', 'z', undefined)).toThrow(RateLimited)
    expect(limiter.take('b', 'z', undefined)).toMatchObject({ limit: 3, remaining: 2 })
  })

  test('800 requests per minute allow 1,600 per two minutes to all operations', () => {
    expect(requestsPerMinute(800)).toEqual({ general: { requests: 1600, seconds: 120 }, operation: { requests: 800, seconds: 60 } })
  })

  test('without limits there are no headers of a limit', () => {
    expect(createRateLimiter(NONE, () => 0).take('a', 'x', { requests: 1, seconds: 1 })).toBeNull()
  })

  test('a clock that is set back blocks no client', () => {
    let now = 1_000_000
    const limiter = createRateLimiter({ ...NONE, operation: { requests: 1, seconds: 10 } }, () => now)
    limiter.take('a', 'x', undefined)
    now = 1000
    expect(limiter.take('a', 'x', undefined)).toEqual({ limit: 1, remaining: 0, reset: 11 })
  })

  test('memory is limited: the least recently used counters are dropped', () => {
    const limiter = createRateLimiter({ ...NONE, operation: { requests: 1, seconds: 10 } }, () => 0, 20)
    const isNew = (caller: string): boolean => {
      try {
        return limiter.take(caller, 'x', undefined) !== null
      } catch {
        return false
      }
    }
    expect(isNew('busy')).toBe(true)
    expect(isNew('idle')).toBe(true)
    for (let other = 0; other < 100; other += 1) {
      expect(isNew(`other ${other}`)).toBe(true)
      expect(isNew('busy')).toBe(false)
    }
    expect(isNew('idle')).toBe(true)
    expect(isNew('other 99')).toBe(false)
  })

  test('many addresses do not evict the counters of tokens', () => {
    const limiter = createRateLimiter({ ...NONE, operation: { requests: 1, seconds: 10 } }, () => 0, 20)
    limiter.take(7, 'x')
    for (let other = 0; other < 1000; other += 1) limiter.take(`192.0.2.${other}`, 'x')
    expect(() => limiter.take(7, 'x')).toThrow(RateLimited)
  })
})

describe('guesses', () => {
  test('are counted per address, and a token that was valid before passes', () => {
    let now = 0
    const limiter = createRateLimiter({ ...NONE, failures: { requests: 3, seconds: 60 } }, () => now)
    limiter.succeeded('good')
    for (let guess = 0; guess < 3; guess += 1) {
      limiter.checkGuesses('192.0.2.1', `guess ${guess}`)
      limiter.failed('192.0.2.1', `guess ${guess}`)
    }
    expect(() => limiter.checkGuesses('192.0.2.1', 'guess 4')).toThrow(expect.objectContaining({ status: 429, retryAfter: 60 }))
    limiter.checkGuesses('192.0.2.1', 'good')
    limiter.checkGuesses('192.0.2.2', 'guess 4')
    limiter.failed('192.0.2.1', 'good')
    expect(() => limiter.checkGuesses('192.0.2.1', 'good')).toThrow(RateLimited)
    now = 60_000
    limiter.checkGuesses('192.0.2.1', 'guess 4')
  })

  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('%s belongs to the caller %s', (address, caller) => expect(addressCaller(address)).toBe(caller))
})

describe('over HTTP', async () => {
  let time = Date.parse('2026-01-01T00:00:00.250Z')
  const { service } = await startForTest({
    seed: seedOfPeople(['one.example']),
    clock: () => time,
    rateLimits: { ...requestsPerMinute(5), failures: { requests: 4, seconds: 60 } },
  })
  const as = (user: string, which?: string) => connect(service.baseUrl, tokenOf(user, which)).client
  const limitOf = ({ headers }: { headers: Readonly<Record<string, unknown>> }) =>
    ['limit', 'remaining', 'reset'].map((name) =>
      headers[`x-ratelimit-${name}`] === undefined ? null : Number(headers[`x-ratelimit-${name}`]),
    )
  const end = Date.parse('2026-01-01T00:01:01Z') / 1000

  test('a token uses up its requests, then waits', async () => {
    const owner = as('owner')
    for (let left = 4; left >= 0; left -= 1) {
      const answer = await owner.call('GET', '/domains')
      expect([answer.status, ...limitOf(answer), answer.headers['retry-after']]).toEqual([200, 5, left, end, undefined])
    }
    const refused = await owner.call('GET', '/domains')
    expect([refused.status, refused.body]).toEqual([429, { errors: [{ field: null, reason: 'Too many requests' }] }])
    expect([...limitOf(refused), refused.headers['retry-after']]).toEqual([5, 0, end, '61'])
    expect((await owner.call('GET', '/profile')).status).toBe(200)
    expect((await as('owner', 'domains-read_only').call('GET', '/domains')).status).toBe(200)
    time += 61_000
    expect((await owner.call('GET', '/domains')).status).toBe(200)
  })

  test('an operation has one limit for all values of its path parameters', async () => {
    const colleague = as('colleague')
    const statuses = []
    for (let id = 1; id <= 6; id += 1) statuses.push((await colleague.call('GET', `/domains/${900 + id}`)).status)
    expect(statuses).toEqual([404, 404, 404, 404, 404, 429])
  })

  test('stops the guessing of tokens, except for tokens that were valid before', async () => {
    time += 600_000
    const statuses = []
    for (let guess = 0; guess < 6; guess += 1) statuses.push((await as(`guess-${guess}`).call('GET', '/profile')).status)
    expect(statuses).toEqual([401, 401, 401, 401, 429, 429])
    expect((await as('owner').call('GET', '/profile')).status).toBe(200)
    expect((await as('reader').call('GET', '/profile')).status).toBe(429)
    time += 61_000
    expect((await as('reader').call('GET', '/profile')).status).toBe(200)
  })
})

describe('by default', async () => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  const { client } = await startForTest({ rateLimits: {}, clock: () => now })
  const headersOf = ({ headers }: Answer) =>
    ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'retry-after'].map((name) => Number(headers[name] ?? -1))
  const inSeconds = (seconds: number): number => now / 1000 + seconds
  const TOO_MANY = { errors: [{ field: null, reason: 'Too many requests' }] }

  test('the limits are those of the hosting service', () => {
    expect(DEFAULT_RATE_LIMITS).toEqual({
      general: { requests: 1600, seconds: 120 },
      operation: { requests: 800, seconds: 60 },
      failures: { requests: 1000, seconds: 60 },
    })
  })

  test('instances can be created ten times in 30 seconds', async () => {
    const body = { region: 'us-east', type: 'g6-nanode-1' }
    const statuses = await inParallel(14, 14, async () => (await client.call('POST', '/compute/instances', body)).status)
    expect(statuses.sort()).toEqual([...Array(10).fill(200), ...Array(4).fill(429)])
    const refused = await client.call('POST', '/compute/instances', body)
    expect([refused.body, ...headersOf(refused)]).toEqual([TOO_MANY, 10, 0, inSeconds(30), 30])
    expect((await client.ok('GET', '/compute/instances')).results).toBe(10)
  })

  test('an operation can be called 800 times a minute with a token, regardless of other requests', async () => {
    const { headers } = await client.call('GET', '/regions/us-east')
    expect([headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']]).toEqual(['800', '799'])
    // Without a token, the address has its own limit.
    const nobody = await client.call('GET', '/regions/us-east', undefined, { authorization: '' })
    expect([nobody.status, ...headersOf(nobody).slice(0, 2)]).toEqual([401, 800, 799])
  })
})

describe('requests that need no token', async () => {
  let time = Date.parse('2026-01-01T00:00:00Z')
  const { service } = await startForTest({ rateLimits: requestsPerMinute(5), clock: () => time })

  test.each<[string, string, string]>([
    ['the description', 'GET', '/v4/openapi.json'],
    ['an open operation', 'GET', '/v4/regions'],
    ['an operation that needs one', 'GET', '/v4/profile'],
    ['an upload', 'PUT', `/uploads/${'k'.repeat(43)}`],
  ])('are counted per address: %s', async (_name, method, path) => {
    time += 600_000
    const { client } = connect(new URL(path, service.baseUrl).href, '')
    const reset = String(time / 1000 + 60)
    for (let left = 4; left >= 0; left -= 1) {
      const { status, headers } = await client.call(method, '')
      expect([status === 429, headers['x-ratelimit-remaining'], headers['x-ratelimit-reset']]).toEqual([false, String(left), reset])
    }
    const { status, body, headers } = await client.call(method, '')
    expect([status, body]).toEqual([429, { errors: [{ field: null, reason: 'Too many requests' }] }])
    const [limit, left] = [headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']]
    expect([headers['retry-after'], limit, left, headers['x-ratelimit-reset']]).toEqual(['60', '5', '0', reset])
  })
})
