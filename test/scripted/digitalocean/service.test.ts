/** What the scripted DigitalOcean refuses, and how it pages, filters, throttles and loses answers. */
import { describe, expect, test } from 'vitest'
import { send } from '../replay.ts'
import { startScriptedServer } from '../scripted-server.ts'
import type { Fields } from '../base.ts'
import type { DigitalOceanRecord } from './records.ts'
import { createDigitalOcean, type DigitalOceanOptions } from './service.ts'

const RECORDS = '/domains/example.com/records'
const A = { type: 'A', name: 'www', data: '192.0.2.1', ttl: 300 }
const CNAME = { type: 'CNAME', name: 'www', data: 'other.example.com.', ttl: 300 }

interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The parsed body. */
  readonly body: Fields & { readonly domain_record: DigitalOceanRecord; readonly domain_records: DigitalOceanRecord[] }
}

async function start(options: Partial<DigitalOceanOptions> = {}) {
  const digitalOcean = createDigitalOcean({ token: 'test-token', domains: ['example.com'], ...options })
  const server = await startScriptedServer(digitalOcean.service)
  const call = async (method: string, path: string, body?: object, token = 'test-token'): Promise<Answered> => {
    const text = body === undefined ? '' : JSON.stringify(body)
    const answer = await send(`${server.origin}/v2${path}`, method, text, { authorization: `Bearer ${token}` })
    return { ...answer, body: answer.body === '' ? {} : JSON.parse(answer.body) }
  }
  return { server, call, held: () => (digitalOcean.records('example.com') ?? []).filter(({ name }) => name !== '@') }
}

describe('refusals', () => {
  test.each<readonly [string, readonly object[], object]>([
    ['a CNAME beside an address', [A], CNAME],
    ['an address beside a CNAME', [CNAME], A],
    ['a CNAME at the apex', [], { ...CNAME, name: '@' }],
    ['a target without a final dot', [], { ...CNAME, data: 'other.example.com' }],
    ['an address that is none', [], { ...A, data: '192.0.2.256' }],
    ['an unknown type', [], { ...A, type: 'LOC' }],
    ['a name that is none', [], { ...A, name: 'a b' }],
    ['a low TTL', [], { ...A, ttl: 29 }],
    ['MX without a priority', [], { type: 'MX', name: '@', data: 'mail.example.com.' }],
    ['a CAA tag that is none', [], { type: 'CAA', name: '@', flags: 0, tag: 'other', data: 'ca.example.net.' }],
    ['a CAA value with a space', [], { type: 'CAA', name: '@', flags: 0, tag: 'issue', data: 'ca.example.net; a=b.' }],
    ['an empty text', [], { type: 'TXT', name: 'www', data: '' }],
    ['a long text', [], { type: 'TXT', name: 'www', data: 'x'.repeat(520) }],
  ])('%s', async (_, before, refused) => {
    const { call, held } = await start()
    for (const one of before) expect((await call('POST', RECORDS, one)).status).toBe(201)
    expect(await call('POST', RECORDS, refused)).toMatchObject({ status: 422, body: { id: 'unprocessable_entity' } })
    expect(held().length).toBe(before.length)
  })

  test('unknown records and domains, a wrong token, a token that may only read, too many requests', async () => {
    const { call } = await start({ requestsPerPause: 5 })
    expect(await call('PUT', `${RECORDS}/1`, A)).toMatchObject({ status: 404, body: { id: 'not_found' } })
    expect(await call('GET', '/domains/missing.example/records')).toMatchObject({ status: 404 })
    expect(await call('GET', '/domains', undefined, 'other')).toMatchObject({ status: 401, body: { id: 'Unauthorized' } })
    expect(await call('POST', RECORDS, A, 'test-token-readonly')).toMatchObject({ status: 403, body: { id: 'forbidden' } })
    expect(await call('POST', '/domains', { name: 'example.com' })).toMatchObject({ status: 422 })
    expect(await call('GET', '/domains')).toMatchObject({ status: 429, headers: { 'retry-after': '1' }, body: { id: 'too_many_requests' } })
  })
})

test('names of rdata have no final dot, and the domain itself is @', async () => {
  const { call } = await start()
  expect((await call('POST', RECORDS, CNAME)).body.domain_record.data).toBe('other.example.com')
  expect((await call('POST', RECORDS, { ...CNAME, name: 'x', data: 'example.com.' })).body.domain_record.data).toBe('@')
  const caa = { type: 'CAA', name: '@', flags: 0, tag: 'issue', data: 'ca.example.net.' }
  expect((await call('POST', RECORDS, caa)).body.domain_record.data).toBe('ca.example.net')
})

test('lists have pages of at most 200 and filters', async () => {
  const { call } = await start()
  for (let host = 0; host < 205; host += 1) await call('POST', RECORDS, { ...A, name: `h${host}` })
  const { body } = await call('GET', `${RECORDS}?per_page=500&page=2`)
  expect(body.domain_records).toHaveLength(9)
  expect(body).toMatchObject({ meta: { total: 209 }, links: { pages: { prev: expect.stringContaining('page=1') } } })
  expect((await call('GET', `${RECORDS}?name=h7.example.com&type=A`)).body).toMatchObject({ domain_records: [{ name: 'h7' }], links: {} })
})

test('domains are created with NS records, and deleted; a lost answer is carried out', async () => {
  const { call, held, server } = await start()
  expect((await call('POST', '/domains', { name: 'new.example' })).status).toBe(201)
  expect((await call('GET', '/domains/new.example/records')).body.domain_records.map(({ type }) => type)).toEqual(['SOA', 'NS', 'NS', 'NS'])
  expect((await call('DELETE', '/domains/new.example')).status).toBe(204)
  expect((await call('GET', '/domains/new.example')).status).toBe(404)
  server.loseAnswers(1)
  await expect(call('POST', RECORDS, A)).rejects.toThrow()
  expect(held()).toHaveLength(1)
})
