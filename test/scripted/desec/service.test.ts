/** What the scripted deSEC refuses, and its pages, limits and lost answers. */
import { describe, expect, test } from 'vitest'
import { send } from '../replay.ts'
import { startScriptedServer } from '../scripted-server.ts'
import { createDesec, type DesecOptions } from './service.ts'

const A = { subname: 'www', type: 'A', ttl: 3600, records: ['192.0.2.1'] }
const LIST = '/domains/example.com/rrsets/'

async function start(options: Partial<DesecOptions> = {}) {
  const desec = createDesec({ token: 'test-token', domains: [{ name: 'example.com' }], ...options })
  const server = await startScriptedServer(desec.service)
  const call = async (method: string, path: string, body?: unknown, token = 'test-token') => {
    const answer = await send(`${server.origin}/api/v1${path}`, method, body === undefined ? '' : JSON.stringify(body), {
      authorization: `Token ${token}`,
    })
    return { status: answer.status, headers: answer.headers, body: answer.body === '' ? null : JSON.parse(answer.body) }
  }
  return { call, server, held: () => desec.rrsets('example.com') ?? [] }
}

describe('refusals', () => {
  test.each<readonly [string, string, string, unknown, number, RegExp]>([
    ['a second RRset', 'POST', LIST, { subname: '', type: 'NS', ttl: 3600, records: ['a.'] }, 400, /Another RRset/],
    ['a TTL below the minimum', 'POST', LIST, { ...A, ttl: 60 }, 400, /greater than or equal to 3600/],
    ['a TTL above a day', 'POST', LIST, { ...A, ttl: 90_000 }, 400, /less than or equal to 86400/],
    ['no TTL', 'POST', LIST, { ...A, ttl: undefined }, 400, /This field is required/],
    ['an upper-case name', 'POST', LIST, { ...A, subname: 'WWW' }, 400, /Subname can only use/],
    ['an unknown type', 'POST', LIST, { ...A, type: 'ALIAS' }, 400, /currently unsupported/],
    ['a type of deSEC', 'POST', LIST, { ...A, type: 'SOA' }, 400, /managed automatically/],
    ['a generic type', 'POST', LIST, { ...A, type: 'TYPE65280' }, 400, /Generic type format/],
    ['a wrong address', 'POST', LIST, { ...A, records: ['192.0.2'] }, 400, /malformed/],
    ['a duplicate', 'POST', LIST, { ...A, type: 'AAAA', records: ['::1', '0::1'] }, 400, /semantically unique/],
    ['two CNAMEs', 'POST', LIST, { ...A, type: 'CNAME', records: ['a.', 'b.'] }, 400, /multiple records/],
    ['a CNAME at the apex', 'POST', LIST, { type: 'CNAME', ttl: 3600, records: ['a.'] }, 400, /conflicting type|empty subname/],
    ['a relative target', 'POST', LIST, { ...A, type: 'CNAME', records: ['a'] }, 400, /fully qualified/],
    ['a target that is no host', 'POST', LIST, { ...A, type: 'MX', records: ['10 _a.example.com.'] }, 400, /invalid target/],
    ['a text without quotes', 'POST', LIST, { ...A, type: 'TXT', records: ['a'] }, 400, /quotation marks/],
    ['an empty record set', 'POST', LIST, { ...A, records: [] }, 400, /must not be empty/],
    ['an unknown domain', 'GET', '/domains/example.net/', undefined, 404, /No Domain matches the given query/],
    ['the records of an unknown domain', 'GET', '/domains/example.net/rrsets/', undefined, 404, /"Not found\."/],
    ['a domain that exists', 'POST', '/domains/', { name: 'example.com' }, 400, /conflicts with an existing domain/],
  ])('%s', async (_, method, path, body, status, text) => {
    const { call } = await start()
    const answer = await call(method, path, body)
    expect([answer.status, JSON.stringify(answer.body)]).toEqual([status, expect.stringMatching(text)])
  })

  test('a wrong token, and a token without rights', async () => {
    const { call } = await start({ denied: ['write', 'create', 'delete'] })
    expect(await call('GET', '/domains/', undefined, 'other')).toMatchObject({ status: 401, body: { detail: 'Invalid token.' } })
    expect((await call('POST', LIST, A)).status).toBe(403)
    expect((await call('POST', '/domains/', { name: 'example.net' })).status).toBe(403)
    expect((await call('DELETE', '/domains/example.com/')).status).toBe(403)
  })
})

describe('bulk requests', () => {
  test('create, change and delete at once, also a CNAME in place of other records', async () => {
    const { call, held } = await start()
    await call('POST', LIST, [A, { ...A, subname: 'other' }])
    const cname = { subname: 'www', type: 'CNAME', ttl: 3600, records: ['a.example.net.'] }
    const answer = await call('PATCH', LIST, [
      cname,
      { subname: 'www', type: 'A', records: [] },
      { subname: 'other', type: 'A', ttl: 7200 },
    ])
    expect(answer.status).toBe(200)
    expect(held().map(({ subname, type, ttl, records }) => [subname, type, ttl, ...records])).toEqual([
      ['www', 'CNAME', 3600, 'a.example.net.'],
      ['other', 'A', 7200, '192.0.2.1'],
      ['', 'NS', 3600, 'ns1.desec.io.', 'ns2.desec.org.'],
    ])
  })

  test('change nothing if one RRset is refused, and say which', async () => {
    const { call, held } = await start()
    const before = held()
    const answer = await call('PATCH', LIST, [A, { ...A, subname: 'b', ttl: 1 }])
    expect(answer).toMatchObject({ status: 400, body: [{}, { ttl: ['Ensure this value is greater than or equal to 3600.'] }] })
    expect((await call('PATCH', LIST, [A, A])).status).toBe(400)
    expect((await call('PATCH', LIST, [A, { ...A, type: 'CNAME', records: ['a.'] }])).status).toBe(400)
    expect(held()).toEqual(before)
  })
})

test('the domain shows when it was last written', async () => {
  const { call } = await start()
  const touched = async (): Promise<string> => (await call('GET', '/domains/example.com/')).body.touched
  const first = await touched()
  expect(await touched()).toBe(first)
  await call('PATCH', LIST, [A])
  const second = await touched()
  expect(second > first).toBe(true)
  await call('DELETE', `${LIST}www/A/`)
  expect((await touched()) > second).toBe(true)
})

test('lists have pages, which new items do not move', async () => {
  const { call } = await start({ pageSize: 10 })
  await call(
    'POST',
    LIST,
    Array.from({ length: 24 }, (_, host) => ({ ...A, subname: `h${host}` })),
  )
  const refused = await call('GET', LIST)
  expect([refused.status, refused.headers['link']]).toEqual([400, expect.stringMatching(/^<[^>]+cursor=>; rel="first"$/)])
  const names: string[] = []
  let path: string | null = `${LIST}?cursor=`
  while (path !== null) {
    const { status, body, headers } = await call('GET', path)
    expect(status).toBe(200)
    names.push(...body.map(({ subname }: { subname: string }) => subname))
    if (names.length === 10) await call('POST', LIST, { ...A, subname: 'late' })
    path = /<https:\/\/desec\.io\/api\/v1([^>]+)>; rel="next"/.exec(headers['link'] ?? '')?.[1] ?? null
  }
  expect(names).toEqual([...Array.from({ length: 24 }, (_, host) => `h${23 - host}`), ''])
})

test('too many requests are refused with a pause, and a lost answer is carried out', async () => {
  const { call, held, server } = await start({ requestsPerPause: 1, pause: 50 })
  await call('GET', '/domains/')
  const body = { detail: 'Request was throttled. Expected available in 50 seconds.' }
  expect(await call('GET', '/domains/')).toMatchObject({ status: 429, headers: { 'retry-after': '50' }, body })
  server.loseAnswers(1)
  await expect(call('POST', LIST, A)).rejects.toThrow()
  expect(held()).toHaveLength(2)
})
