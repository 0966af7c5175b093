/** Retries and rate limiting of requests, over a real socket. */
import { EventEmitter, once } from 'node:events'
import { describe, expect, test, vi } from 'vitest'
import type { RecordChange } from '../../../src/plan/plan.ts'
import type { Provider, ProviderError } from '../../../src/providers/provider.ts'
import { DEFAULT_RETRY } from '../../../src/transport/retry.ts'
import { makeChange } from '../../support/provider-calls.ts'
import { name } from '../../support/records.ts'
import { errors, type Handler, json, openCloud, page, CLOUD_ZONE as ZONE } from './scripted-server.ts'

/** `timeout` is in milliseconds: long, except in tests without a response. */
const serve = (handler: Handler, parallelism = 8, timeout = 15_000) => {
  const retry = { ...DEFAULT_RETRY, tries: 3, busyTries: 5, firstDelay: 1, maxDelay: 20, maxRetryAfter: 2000 }
  return openCloud(handler, { token: 'retry-token-77', parallelism, timeout, retry })
}

const data = { name: name('www.example.com.'), type: 'A', ttl: null, data: '192.0.2.1' } as const
const base = { subject: 'record', name: data.name, type: 'A', fields: [], call: 0, after: [] } as const
const CALLS = {
  read: (provider) => provider.readZone(ZONE),
  create: (provider) => makeChange(provider, ZONE, { ...base, action: 'create', id: null, existing: null, desired: data } as RecordChange),
  update: (provider) => makeChange(provider, ZONE, { ...base, action: 'update', id: 5, existing: data, desired: data } as RecordChange),
  delete: (provider) => makeChange(provider, ZONE, { ...base, action: 'delete', id: 5, existing: data, desired: null } as RecordChange),
} satisfies Record<string, (provider: Provider) => Promise<unknown>>
type Call = keyof typeof CALLS

const good: Handler = ({ method }, response) =>
  method === 'GET'
    ? json(response, 200, page([]))
    : json(response, 200, method === 'DELETE' ? {} : { id: 5, type: 'A', name: 'www', target: '192.0.2.1' })

const html = (status: number, headers: Record<string, string> = {}): Handler => {
  return (_, response) => void response.writeHead(status, { 'content-type': 'text/html', ...headers }).end('<html>no</html>')
}
const dated: Handler = (request, response, count) =>
  html(429, { date: new Date(0).toUTCString(), 'retry-after': new Date(0).toUTCString() })(request, response, count)
const reset: Handler = (_, response) => void response.socket?.resetAndDestroy()
const halfClosed: Handler = (_, response) => void response.socket?.end()
const halfAnswer: Handler = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' }).write('{"id":')
  setTimeout(() => response.socket?.destroy(), 10)
}
const silent: Handler = () => undefined
const status = (code: number): Handler => {
  return (_, response) => json(response, code, errors('reason'))
}

/** A failure of the first request, and the methods that are retried after it. */
const ALL: readonly Call[] = ['read', 'create', 'update', 'delete']
const REPEATABLE: readonly Call[] = ['read', 'update', 'delete']
const cases: readonly [name: string, first: Handler, again: readonly Call[], ambiguous?: boolean][] = [
  ['429', status(429), ALL],
  ['429 in HTML', html(429), ALL],
  ['429 with seconds', html(429, { 'retry-after': '0' }), ALL],
  ['429 with a date of the server’s clock', dated, ALL],
  ['busy', (_, response) => json(response, 400, errors('Linode busy.')), ALL],
  ['408', status(408), REPEATABLE, true],
  ['500', status(500), REPEATABLE, true],
  ['502 in HTML', html(502), REPEATABLE, true],
  ['503', status(503), REPEATABLE, true],
  ['503 during maintenance', html(503, { 'x-maintenance-mode': 'all' }), [], true],
  ['504', html(504), REPEATABLE, true],
  ['reset', reset, REPEATABLE, true],
  ['half-closed', halfClosed, REPEATABLE, true],
  ['a truncated response', halfAnswer, REPEATABLE, true],
  ['silence', silent, REPEATABLE, true],
  ['400', status(400), []],
  ['401', status(401), []],
  ['403', status(403), []],
  ['404', status(404), []],
  ['405', status(405), []],
  ['413', status(413), []],
]

describe.each(cases)('%s', (_, first, again, ambiguous = false) => {
  test.each(ALL)('%s', async (call) => {
    const handler: Handler = (request, response, count) => (count === 1 ? first : good)(request, response, count)
    const { provider, server } = await serve(handler, 8, first === silent ? 1000 : undefined)
    const result = await CALLS[call](provider).then(
      () => 'done',
      (error: ProviderError) => ({ ambiguous: error.ambiguous }),
    )
    expect(result).toEqual(again.includes(call) ? 'done' : { ambiguous: ambiguous && call !== 'read' })
    expect(server.seen).toHaveLength(again.includes(call) ? 2 : 1)
  })
})

test.each([401, 400, 429])('a refusal after a lost response does not decide the outcome of the first call: %i', async (code) => {
  const { provider } = await serve((request, response, count) => (count === 1 ? reset : status(code))(request, response, count))
  await expect(CALLS.update(provider)).rejects.toMatchObject({ ambiguous: true, status: String(code) })
})

test('a change that may be applied stays unknown if its retry is not sent', async () => {
  let seen = 0
  const stop = new AbortController()
  // The update fails during the pause that the read causes, and the run is stopped before the pause ends.
  const paused = new EventEmitter()
  const pause = once(paused, 'pause')
  const { provider } = await serve((request, response, count) => {
    if (request.method !== 'PUT') {
      response.on('finish', () => paused.emit('pause'))
      return html(503, { 'retry-after': '2' })(request, response, count)
    }
    seen += 1
    void pause.then(() => {
      setTimeout(() => response.socket?.resetAndDestroy(), 30)
      setTimeout(() => stop.abort(), 230)
    })
  }, 2)
  const change = { ...base, action: 'update', id: 5, existing: data, desired: data } as RecordChange
  const update = makeChange(provider, ZONE, change, { stop: stop.signal })
  const read = provider.readZone(ZONE, { stop: stop.signal })
  await expect(update).rejects.toMatchObject({ ambiguous: true, notSent: false })
  await expect(read).rejects.toThrow()
  expect(seen).toBe(1)
})

test('removes every part of the token that a server repeats from messages', async () => {
  const reasons = [`${'x'.repeat(490)}retry-token-77`, 'You are not authorized to use this endpoint.']
  const { provider } = await serve((_, response) =>
    json(response, 401, { errors: reasons.map((reason) => ({ reason })) }, { 'x-oauth-scopes': 'retry-token-77' }),
  )
  const error = (await CALLS.create(provider).catch((thrown: unknown) => thrown)) as ProviderError
  expect(error.message).toContain('xxx***')
  expect(error.hint).toContain('it has ***')
  expect(`${error.message} ${error.hint}`).not.toMatch(/retry-tok|token-77/)
})

describe('rate limiting', () => {
  test('pauses all requests if the server asks for a pause', async () => {
    const times: number[] = []
    const { provider } = await serve((request, response, count) => {
      times.push(performance.now())
      return count === 1 ? html(429, { 'retry-after': '1' })(request, response, count) : good(request, response, count)
    }, 1)
    await Promise.all([CALLS.read(provider), CALLS.create(provider), CALLS.update(provider)])
    expect(times).toHaveLength(4)
    expect(Math.min(...times.slice(1)) - (times[0] as number)).toBeGreaterThan(980)
  })
  test('ignores Retry-After in a successful response', async () => {
    const { provider } = await serve((_, res) => json(res, 200, page([]), { 'retry-after': '98', 'x-ratelimit-remaining': '398' }))
    await CALLS.read(provider)
    // A pause of 98 seconds would be too long to wait for.
    await CALLS.read(provider)
  })
  test('does not wait for too long a pause', async () => {
    const { provider, server } = await serve(html(429, { 'retry-after': '3600' }))
    await expect(CALLS.read(provider)).rejects.toMatchObject({ message: expect.stringContaining('it asks to wait for 3,600 seconds') })
    expect(server.seen).toHaveLength(1)
  })
  test('sends nothing until the reset, by the server’s clock, if no requests remain', async () => {
    const clock = Date.UTC(2031, 0, 1)
    const times: number[] = []
    const { provider } = await serve((_, response, count) => {
      times.push(performance.now())
      const limits = { 'x-ratelimit-remaining': count === 1 ? '0' : '50', 'x-ratelimit-reset': String(clock / 1000 + 1) }
      json(response, 200, page([]), { date: new Date(clock).toUTCString(), ...limits })
    })
    await CALLS.read(provider)
    await CALLS.read(provider)
    expect((times[1] as number) - (times[0] as number)).toBeGreaterThan(900)
  })
  // That it rises again is a test of the limit (test/transport/adaptive-limit.test.ts).
  test('reduces concurrency after refusals', async () => {
    const held: (() => void)[] = []
    let [wave, most] = [1, 0]
    const { provider } = await serve((request, response, count) => {
      const own = wave
      if (own === 3) return good(request, response, count)
      held.push(() =>
        own === 1 ? json(response, 429, errors('Too many requests'), { 'retry-after': '0' }) : good(request, response, count),
      )
      if (own === 2) most = Math.max(most, held.length)
    }, 8)
    const calls = Promise.all(Array.from({ length: 8 }, () => CALLS.create(provider)))
    const answerAfter = async (count: number): Promise<void> => {
      await vi.waitFor(() => expect(held).toHaveLength(count), { timeout: 20_000, interval: 10 })
      wave += 1
      for (const one of held.splice(0)) one()
    }
    await answerAfter(8)
    await answerAfter(4)
    await calls
    expect(most).toBe(4)
  })
})

test('ignores a response to another request and closes its connection', async () => {
  const sockets = new Set<unknown>()
  const { provider } = await serve((request, response, count) => {
    sockets.add(response.socket)
    if (count === 2) json(response, 200, { id: 9, type: 'A', name: 'other', target: '192.0.2.1' })
    else void good(request, response, count)
  }, 1)
  await CALLS.read(provider)
  await expect(CALLS.update(provider)).rejects.toMatchObject({ code: 'provider-garbled', ambiguous: true })
  expect(sockets.size).toBe(1)
  await CALLS.read(provider)
  expect(sockets.size).toBe(2)
})

test('finds few or many records by owner and type, with filters of limited size', async () => {
  const { provider, server } = await serve((_, response) => json(response, 200, page([])))
  const like = Array.from({ length: 300 }, (_, index) => ({ ...data, name: name(`host-${index}.example.com.`) }))
  await provider.findRecords?.(ZONE, [...like, { ...data, name: name('_sip._tcp.example.com.'), type: 'SRV' }])
  const filters = server.seen.map(({ headers }) => String(headers['x-filter']))
  expect(Math.max(...filters.map((filter) => filter.length))).toBeLessThanOrEqual(4000)
  const asked = filters.flatMap((filter) => (JSON.parse(filter) as { '+or': { name?: string; type: string }[] })['+or'])
  expect(asked).toHaveLength(301)
  expect(asked[0]).toEqual({ type: 'A', name: 'host-0' })
  expect(asked.at(-1)).toEqual({ type: 'SRV' })
})
