import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import type { RecordChange } from '../../../src/plan/plan.ts'
import { makeChange } from '../../support/provider-calls.ts'
import { name } from '../../support/records.ts'
import { errors, type Handler, json, openCloud, page, CLOUD_ZONE as ZONE } from './scripted-server.ts'

const TOKEN = 'secret-token-0123456789'
const RETRY = { tries: 3, busyTries: 3, firstDelay: 1, maxDelay: 50, maxRetryAfter: 5000 }
const providerOf = (handler: Handler, timeout = 20_000) => openCloud(handler, { token: TOKEN, timeout, retry: RETRY })

const failure = async (promise: Promise<unknown>): Promise<{ code: string; message: string; ambiguous: boolean; hint?: string }> => {
  try {
    await promise
  } catch (error) {
    return error as { code: string; message: string; ambiguous: boolean }
  }
  throw new Error('it did not fail')
}

const record = (id: number, more: object = {}): object => ({
  id,
  type: 'A',
  name: `n${id}`,
  target: '192.0.2.1',
  ttl_sec: 0,
  priority: 0,
  weight: 0,
  port: 0,
  service: null,
  protocol: null,
  tag: null,
  ...more,
})

const creation: RecordChange = {
  action: 'create',
  subject: 'record',
  id: null,
  name: name('www.example.com.'),
  type: 'A',
  existing: null,
  desired: { name: name('www.example.com.'), type: 'A', ttl: null, data: '192.0.2.1' },
  fields: [],
  call: 0,
  after: [],
}

describe('zone lookup', () => {
  const domain = (id: number, text: string): object => ({ id, domain: text, type: 'master', status: 'active', soa_email: 'a@example.com' })
  it('finds a few zones with one filter', async () => {
    const { provider, server } = await providerOf((_, res) => json(res, 200, page([domain(1, 'example.com'), domain(2, 'example.net')])))
    const found = await provider.findZones([name('example.com.'), name('example.net.')])
    expect([...found.values()].map((zone) => zone.id)).toEqual([1, 2])
    expect(server.seen.map((one) => one.headers['x-filter'])).toEqual(['{"+or":[{"domain":"example.com"},{"domain":"example.net"}]}'])
    expect(server.seen[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`)
  })
  it('searches the full list, ignoring letter case, for zones that the filter does not find', async () => {
    const { provider, server } = await providerOf((request, response) =>
      json(response, 200, page(request.headers['x-filter'] ? [] : [domain(1, 'Example.COM')])),
    )
    expect((await provider.findZones([name('example.com.')])).get(name('example.com.'))?.id).toBe(1)
    expect(server.seen).toHaveLength(2)
  })
  it('reads the list once for many zones', async () => {
    const names = Array.from({ length: 300 }, (_, index) => name(`a-rather-long-name-${index}.example.`))
    const { provider, server } = await providerOf((_, res) => json(res, 200, page(names.map((one, i) => domain(i, one.slice(0, -1))))))
    expect((await provider.findZones(names)).size).toBe(300)
    expect(server.seen).toHaveLength(1)
  })
})

describe('reading records', () => {
  it('needs 24 requests for 12,000 records, all pages after the first concurrently', async () => {
    let active = 0
    let answer = (): void => undefined
    const fiveAtOnce = new Promise<void>((resolve) => {
      answer = resolve
    })
    const { provider, server } = await providerOf(async (request, response) => {
      const number = Number(request.query.get('page'))
      active += 1
      if (active > 4) answer()
      // Without five requests at once, no page after the first is answered.
      if (number > 1) await fiveAtOnce
      active -= 1
      const data = Array.from({ length: 500 }, (_, index) => record(number * 1000 + index))
      json(response, 200, page(data, number, 24, 12_000))
    })
    expect((await provider.readZone(ZONE)).records).toHaveLength(12_000)
    expect(server.seen).toHaveLength(24)
    expect(server.seen.every((one) => one.query.get('page_size') === '500')).toBe(true)
  })
  it('repeats a list read if the list changed meanwhile', async () => {
    const { provider, server } = await providerOf((request, response, count) => {
      const number = Number(request.query.get('page'))
      // During the first read a record is deleted between two pages, so one record is missed.
      if (count <= 2) json(response, 200, page([record(number === 1 ? 1 : 3)], number, 2, number === 1 ? 3 : 2))
      else json(response, 200, page([record(number === 1 ? 2 : 3)], number, 2, 2))
    })
    expect((await provider.readZone(ZONE)).records.map(({ id }) => id)).toEqual([2, 3])
    expect(server.seen).toHaveLength(4)
  })
  it('fails for a list that changes during every read', async () => {
    const { provider } = await providerOf((_, response, count) => json(response, 200, page([record(1)], 1, 1, count + 1)))
    expect(await failure(provider.readZone(ZONE))).toMatchObject({ code: 'provider-garbled' })
  })
  it('computes the age of the last change with the server’s clock', async () => {
    const { provider } = await providerOf((_, response) =>
      json(response, 200, page([record(1, { updated: '2026-01-01T00:00:00' })]), { date: 'Thu, 01 Jan 2026 00:01:00 GMT' }),
    )
    expect((await provider.readZone(ZONE)).millisecondsSinceLastChange).toBe(60_000)
  })
})

describe('failures', () => {
  const html = '<html><body>Bad gateway</body></html>'
  const plain = (response: ServerResponse, status: number, type: string, text: string): void =>
    void response.writeHead(status, { 'content-type': type }).end(text)
  const cases: [name: string, code: string, requests: number, handler: Handler, says?: RegExp | undefined, hint?: RegExp][] = [
    ['401', 'unauthorized', 1, (_, r) => json(r, 401, errors('Invalid Token')), /Invalid Token/],
    [
      'a token without scope',
      'forbidden',
      1,
      (_, r) =>
        json(r, 401, errors('Your OAuth token is not authorized to use this endpoint.'), {
          'x-oauth-scopes': 'linodes:read_only',
          'x-accepted-oauth-scopes': 'domains:read_only',
        }),
      undefined,
      /needs domains:read_only, it has linodes:read_only/,
    ],
    ['403', 'forbidden', 1, (_, r) => json(r, 403, errors('Unauthorized'))],
    ['404', 'not-found', 1, (_, r) => json(r, 404, errors('Not found'))],
    ['400 of a field', 'rejected', 1, (_, r) => json(r, 400, errors('Cannot filter on foo', 'X-Filter')), /X-Filter: Cannot filter/],
    ['500, retried', 'failed', 3, (_, r) => json(r, 500, errors('Internal server error'))],
    ['502 in HTML', 'failed', 3, (_, r) => plain(r, 502, 'text/html', html), /text\/html/],
    ['endless 429', 'rate-limited', 3, (_, r) => json(r, 429, errors('Too many requests'), { 'retry-after': '0' })],
    ['429 in HTML', 'rate-limited', 3, (_, r) => plain(r, 429, 'text/html', html)],
    ['HTML with status 200', 'garbled', 1, (_, r) => plain(r, 200, 'text/html', html), /not JSON/],
    ['JSON with the wrong content type', 'garbled', 1, (_, r) => plain(r, 200, 'text/plain', '{}')],
    ['truncated JSON', 'garbled', 1, (_, r) => plain(r, 200, 'application/json', '{"data": [{'), /malformed JSON/],
    ['JSON of another shape', 'garbled', 1, (_, r) => json(r, 200, { data: [{ id: 'x' }], page: 1, pages: 1, results: 1 })],
    ['a record without a type', 'garbled', 1, (_, r) => json(r, 200, page([record(1, { type: undefined })]))],
    ['a target that is a number', 'garbled', 1, (_, r) => json(r, 200, page([record(1, { target: 5 })]))],
    ['a redirect', 'garbled', 1, (_, r) => void r.writeHead(302, { location: 'http://192.0.2.1/' }).end(), /redirect/],
    ['another protocol', 'garbled', 1, (_, r) => void r.socket?.end('SSH-2.0-OpenSSH_9.2\r\n')],
    ['endless headers', 'garbled', 1, (_, r) => void r.socket?.end(`HTTP/1.1 200 OK\r\n${'x-a: b\r\n'.repeat(1e5)}\r\n`)],
    ['a broken connection', 'failed', 3, (_, r) => void r.destroy()],
    ['no response', 'timeout', 3, () => undefined],
    ['the token in the response', 'rejected', 1, (_, r) => json(r, 400, errors(`bad ${TOKEN}`)), /bad \*\*\*/],
  ]
  it.each(cases)('%s', async (_, code, requests, handler, says, hint) => {
    const { provider, server } = await providerOf(handler, code === 'timeout' ? 200 : undefined)
    const error = await failure(provider.readZone(ZONE))
    expect(error.code).toBe(`provider-${code}`)
    expect(server.seen).toHaveLength(requests)
    expect(error.message).toContain('cloud: reading the records of example.com.')
    expect(error.message).not.toContain(TOKEN)
    if (says) expect(error.message).toMatch(says)
    if (hint) expect(error.hint).toMatch(hint)
  })
  it('a missing server', async () => {
    const { provider, server } = await providerOf(() => undefined)
    await server.close()
    expect(await failure(provider.listZones())).toMatchObject({ code: 'provider-unreachable', ambiguous: false })
  })
})

describe('changes', () => {
  it('are not created twice if the response is lost', async () => {
    const { provider, server } = await providerOf((_, response) => void response.destroy())
    expect(await failure(makeChange(provider, ZONE, creation))).toMatchObject({ ambiguous: true })
    expect(server.seen).toHaveLength(1)
  })
  it('are created again after 429, which had no effect', async () => {
    const { provider, server } = await providerOf((_, response, count) =>
      count === 1
        ? json(response, 429, errors('Too many requests'), { 'retry-after': '0' })
        : json(response, 200, record(5, { name: 'www' })),
    )
    expect(await makeChange(provider, ZONE, creation)).toEqual({ changes: [{ id: 5 }] })
    expect(server.seen.map((one) => one.body)).toEqual([
      { type: 'A', name: 'www', target: '192.0.2.1', ttl_sec: 0 },
      { type: 'A', name: 'www', target: '192.0.2.1', ttl_sec: 0 },
    ])
  })
  it('are deleted if a repeated deletion finds no record', async () => {
    const { provider } = await providerOf((_, res, count) => (count === 1 ? void res.destroy() : json(res, 404, errors('Not found'))))
    const deletion: RecordChange = { ...creation, action: 'delete', id: 9, existing: creation.desired, desired: null }
    expect(await makeChange(provider, ZONE, deletion)).toEqual({})
  })
  it('fail if the first deletion finds no record', async () => {
    const { provider } = await providerOf((_, response) => json(response, 404, errors('Not found')))
    const deletion: RecordChange = { ...creation, action: 'delete', id: 9, existing: creation.desired, desired: null }
    expect(await failure(makeChange(provider, ZONE, deletion))).toMatchObject({ code: 'provider-not-found', ambiguous: false })
  })
})
