/** What the scripted Cloudflare refuses, and how it pages, batches, throttles and loses answers. */
import { describe, expect, test } from 'vitest'
import { createReplay, readRecording, send } from '../replay.ts'
import { type ScriptedServer, startScriptedServer } from '../scripted-server.ts'
import type { Fields } from '../base.ts'
import type { CloudflareRecord } from './records.ts'
import { type CloudflareOptions, createCloudflare } from './service.ts'

const ZONE = '1'.repeat(32)
const RECORDS = `/zones/${ZONE}/dns_records`
const A = { type: 'A', name: 'www.example.com', content: '192.0.2.1', ttl: 300 }

interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The parsed body. */
  readonly body: {
    readonly result: Fields & CloudflareRecord
    readonly errors: readonly { readonly code: number }[]
    readonly result_info: Fields
  }
}

async function start(options: Partial<CloudflareOptions> = {}) {
  const cloudflare = createCloudflare({ token: 'test-token', zones: [{ id: ZONE, name: 'example.com' }], ...options })
  const server = await startScriptedServer(cloudflare.service)
  const call = async (method: string, path: string, body?: object, token = 'test-token'): Promise<Answered> => {
    const text = body === undefined ? '' : JSON.stringify(body)
    const answer = await send(`${server.origin}/client/v4${path}`, method, text, { authorization: `Bearer ${token}` })
    return { ...answer, body: JSON.parse(answer.body) }
  }
  return { server, call, held: () => cloudflare.records(ZONE) }
}

describe('refusals', () => {
  const CNAME = { type: 'CNAME', name: 'www', content: 'other.example.com', ttl: 1 }
  test.each<readonly [string, readonly object[], object, number]>([
    ['an equal record', [A], A, 81_058],
    ['an equal record with another TTL', [A], { ...A, ttl: 600 }, 81_058],
    ['a CNAME beside an address', [A], CNAME, 81_053],
    ['a second CNAME', [CNAME], { ...CNAME, content: 'third.example.com' }, 81_053],
    ['an address beside a CNAME', [CNAME], A, 81_054],
    ['NS beside a CNAME', [CNAME], { type: 'NS', name: 'www', content: 'ns1.example.net', ttl: 1 }, 81_056],
    ['an address that is none', [], { ...A, content: '192.0.2.256' }, 9005],
    ['an IPv6 address that is none', [], { ...A, type: 'AAAA' }, 9006],
    ['a host that is none', [], { ...CNAME, content: 'a b' }, 9007],
    ['a name that is none', [], { ...A, name: 'a b' }, 9000],
    ['an unknown type', [], { ...A, type: 'HINFO' }, 9004],
    ['a TTL below the minimum', [], { ...A, ttl: 59 }, 9021],
    ['a TTL above the maximum', [], { ...A, ttl: 86_401 }, 9021],
    ['an incomplete SRV record', [], { type: 'SRV', name: '_sip._tcp', data: { priority: 1, weight: 1, port: 1 } }, 9101],
    ['a proxied TXT record', [], { type: 'TXT', name: 'www', content: '"text"', proxied: true }, 9004],
    ['a long comment', [], { ...A, comment: 'x'.repeat(501) }, 9313],
  ])('%s', async (_, before, refused, code) => {
    const { call, held } = await start()
    for (const record of before) expect((await call('POST', RECORDS, record)).status).toBe(200)
    expect(await call('POST', RECORDS, refused)).toMatchObject({ status: 400, body: { result: null, success: false, errors: [{ code }] } })
    expect(held().length).toBe(before.length)
  })

  test.each<readonly [string, string, string, number, number]>([
    ['PUT of an unknown record', 'PUT', `${RECORDS}/${'2'.repeat(32)}`, 404, 81_044],
    ['DELETE of an unknown record', 'DELETE', `${RECORDS}/${'2'.repeat(32)}`, 404, 81_044],
    ['an unknown zone', 'GET', `/zones/${'3'.repeat(32)}/dns_records`, 404, 7003],
    ['an unknown path', 'GET', '/zones-of-others', 400, 7000],
  ])('%s', async (_, method, path, status, code) => {
    const { call } = await start()
    expect(await call(method, path, method === 'PUT' ? A : undefined)).toMatchObject({ status, body: { errors: [{ code }] } })
  })

  test('a wrong token, tags on the free plan, a full zone', async () => {
    const { call } = await start({ plan: 'free', maxRecords: 1 })
    expect(await call('GET', '/zones', undefined, 'other')).toMatchObject({ status: 403, body: { errors: [{ code: 10_000 }] } })
    expect(await call('POST', RECORDS, { ...A, tags: ['a:b'] })).toMatchObject({ status: 400, body: { errors: [{ code: 9300 }] } })
    await call('POST', RECORDS, A)
    expect(await call('POST', RECORDS, { ...A, name: 'full' })).toMatchObject({ status: 400, body: { errors: [{ code: 81_045 }] } })
  })
})

describe('batches', () => {
  test('are carried out in the order deletes, patches, puts, posts, and keep what a patch does not name', async () => {
    const { call, held } = await start()
    const first = (await call('POST', RECORDS, A)).body.result
    const second = (await call('POST', RECORDS, { ...A, name: 'other', comment: 'kept', proxied: true })).body.result
    const cname = { type: 'CNAME', name: 'www', content: 'x.example.com', ttl: 300 }
    const body = { posts: [cname], patches: [{ id: second.id, content: '192.0.2.9' }], deletes: [{ id: first.id }] }
    const answer = await call('POST', `${RECORDS}/batch`, body)
    expect(answer.status).toBe(200)
    expect(answer.body.result).toMatchObject({
      deletes: [{ id: first.id }],
      patches: [{ id: second.id }],
      puts: [],
      posts: [{ content: cname.content }],
    })
    expect(held().map(({ name, content, comment, proxied }) => ({ name, content, comment, proxied }))).toEqual([
      { name: 'www.example.com', content: 'x.example.com', comment: null, proxied: false },
      { name: 'other.example.com', content: '192.0.2.9', comment: 'kept', proxied: true },
    ])
  })

  test('change nothing if one operation is refused, or if they are too large', async () => {
    const { call, held } = await start({ plan: 'free' })
    await call('POST', RECORDS, A)
    const before = held()
    const refused = { deletes: before.map(({ id }) => ({ id })), posts: [{ ...A, content: 'none' }] }
    expect((await call('POST', `${RECORDS}/batch`, refused)).status).toBe(400)
    const posts = Array.from({ length: 201 }, (_, host) => ({ ...A, name: `h${host}` }))
    expect((await call('POST', `${RECORDS}/batch`, { posts })).status).toBe(400)
    expect(held()).toEqual(before)
    expect((await call('POST', `${RECORDS}/batch`, { posts: posts.slice(1) })).status).toBe(200)
    expect(held().length).toBe(201)
  })
})

test('lists have pages', async () => {
  const { call } = await start()
  await call('POST', `${RECORDS}/batch`, { posts: Array.from({ length: 25 }, (_, host) => ({ ...A, name: `h${host}` })) })
  const { body } = await call('GET', `${RECORDS}?per_page=10&page=3`)
  expect(body.result).toHaveLength(5)
  expect(body.result_info).toEqual({ page: 3, per_page: 10, count: 5, total_count: 25, total_pages: 3 })
})

test('too many requests are refused with a pause, and a lost answer is carried out', async () => {
  const { call, held, server } = await start({ requestsPerPause: 2 })
  await call('GET', '/zones')
  await call('GET', '/zones')
  expect(await call('GET', '/zones')).toMatchObject({ status: 429, headers: { 'retry-after': '1' } })
  server.loseAnswers(1)
  await expect(call('POST', RECORDS, A)).rejects.toThrow()
  expect(held().length).toBe(1)
  expect(server.requests.length).toBe(4)
})

test('a replay finds each kind of difference', async () => {
  const [exchange] = readRecording('cloudflare').flatMap(({ exchanges }) => exchanges.filter(({ method }) => method === 'POST'))
  if (exchange === undefined) throw new Error('no exchange')
  const { server } = await start({ zones: [{ id: '457dd20dded351b97830cb528f507819', name: 'byemike.org' }] })
  const generated = { pattern: (field: string) => (field === 'id' ? /^[0-9a-f]{32}$/ : /_on$/.test(field) ? /Z$/ : null) }
  const differs = async (change: object, run: ScriptedServer = server): Promise<boolean> => {
    const replay = createReplay(run.origin, { authorization: 'Bearer test-token' }, generated)
    const body = JSON.stringify({ ...JSON.parse(exchange.request ?? ''), name: `n${Math.random()}`.replace('.', '') })
    const recorded = JSON.parse(exchange.response)
    const result = { ...recorded.result, name: `${JSON.parse(body).name}.byemike.org`, ...change }
    const { answer, expected } = await replay.run({ ...exchange, request: body, response: JSON.stringify({ ...recorded, result }) })
    try {
      expect(answer).toEqual(expected)
      return false
    } catch {
      return true
    }
  }
  expect(await differs({})).toBe(false)
  expect(await differs({ ttl: 300 })).toBe(true)
  expect(await differs({ locked: false })).toBe(true)
  expect(await differs({ comment: undefined })).toBe(true)
  expect(await differs({ modified_on: '2020-01-01T00:00:00Z' })).toBe(true)
})

test('zones are created in the account of the token, once, and deleted', async () => {
  const { call } = await start({ account: '2'.repeat(32) })
  const account = { id: '2'.repeat(32) }
  const denied = await call('POST', '/zones', { name: 'example.net', account: { id: '3'.repeat(32) } })
  expect(denied).toMatchObject({ status: 403, body: { errors: [{ code: 0 }] } })
  const created = await call('POST', '/zones', { name: 'example.net', account, jump_start: false })
  expect(created).toMatchObject({ status: 200, body: { result: { name: 'example.net', status: 'pending', account } } })
  expect(await call('POST', '/zones', { name: 'example.net', account })).toMatchObject({ status: 400, body: { errors: [{ code: 1061 }] } })
  expect((await call('GET', `/zones?account.id=${account.id}`)).body.result).toMatchObject([{ name: 'example.net' }])
  expect(await call('DELETE', `/zones/${created.body.result.id}`)).toMatchObject({
    status: 200,
    body: { result: { id: created.body.result.id } },
  })
  expect((await call('GET', '/zones?name=example.net')).body.result).toEqual([])
})
