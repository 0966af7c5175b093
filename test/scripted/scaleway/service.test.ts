/** What the scripted Scaleway refuses, and its pages, changes, limits and lost answers. */
import { describe, expect, test } from 'vitest'
import { send } from '../replay.ts'
import { startScriptedServer } from '../scripted-server.ts'
import { createScaleway, type ScalewayOptions } from './service.ts'

const A = { name: 'www', type: 'A', ttl: 3600, data: '192.0.2.1' }
const ZONE = '/dns-zones/example.com'
const RECORDS = `${ZONE}/records`

async function start(options: Partial<ScalewayOptions> = {}) {
  const scaleway = createScaleway({ token: 'test-key', zones: [{ domain: 'example.com' }], ...options })
  const server = await startScriptedServer(scaleway.service)
  const call = async (method: string, path: string, body?: unknown, token = 'test-key') => {
    const sent = body === undefined ? '' : JSON.stringify(body)
    const answer = await send(`${server.origin}/domain/v2beta1${path}`, method, sent, { 'x-auth-token': token })
    return { status: answer.status, headers: answer.headers, body: JSON.parse(answer.body) }
  }
  const change = (...changes: readonly object[]) => call('PATCH', RECORDS, { changes })
  const held = () => (scaleway.records('example.com') ?? []).filter(({ type }) => type !== 'NS')
  return { call, change, held, server, zone: (name: string) => scaleway.records(name) }
}

const add = (...records: readonly object[]): object => ({ add: { records } })

describe('refusals', () => {
  test.each<readonly [string, object]>([
    ['an unknown type', { ...A, type: 'DHCID' }],
    ['a wrong address', { ...A, data: '192.0.2' }],
    ['a TTL below a minute', { ...A, ttl: 59 }],
    ['a malformed name', { ...A, name: 'a..b' }],
    ['an empty text', { ...A, type: 'TXT', data: '' }],
    ['a CNAME beside an address', { ...A, type: 'CNAME', data: 'a.example.net.' }],
    ['an identical record', A],
  ])('%s', async (_, record) => {
    const { change, held } = await start()
    await change(add(A))
    expect(await change(add(record))).toMatchObject({ status: 400, body: { type: 'invalid_arguments', message: 'invalid argument(s)' } })
    expect(held()).toHaveLength(1)
  })

  test('a wrong key, a key without rights, unknown zones and records', async () => {
    const { call, change } = await start()
    expect(await call('GET', RECORDS, undefined, 'other')).toMatchObject({ status: 401, body: { type: 'denied_authentication' } })
    expect(await call('GET', '/dns-zones/example.net/records')).toMatchObject({ status: 403, body: { message: 'domain not found' } })
    expect(await change({ delete: { id: 'none' } })).toMatchObject({ status: 404, body: { type: 'not_found' } })
    const reader = await start({ readOnly: true })
    expect(await reader.change(add(A))).toMatchObject({ status: 403, body: { type: 'permissions_denied' } })
  })
})

describe('changes', () => {
  test('are carried out in their order, and keep identifiers', async () => {
    const { change, held } = await start()
    const { body } = await change(add(A, { ...A, name: 'old' }))
    const [www, old] = body.records
    const answer = await change(
      { delete: { id: old.id } },
      { set: { id: www.id, records: [{ ...A, data: '192.0.2.9', comment: 'kept' }] } },
      add({ ...A, name: 'old', type: 'CNAME', data: 'www' }),
    )
    expect(answer.body.records).toMatchObject([{ id: www.id, data: '192.0.2.9', comment: 'kept' }, { data: 'www.example.com.' }])
    expect(held().map(({ name, type, data }) => `${name} ${type} ${data}`)).toEqual(['www A 192.0.2.9', 'old CNAME www.example.com.'])
  })

  test('name records by fields, as octoDNS does, and return all records on request', async () => {
    const { call, change, held } = await start()
    await change(add(A, { ...A, data: '192.0.2.2' }))
    const body = {
      changes: [{ set: { idFields: { name: 'www', type: 'A' }, records: [{ ...A, data: '192.0.2.3' }] } }],
      return_all_records: true,
    }
    expect((await call('PATCH', RECORDS, body)).body.records).toHaveLength(3)
    expect(held().map(({ data }) => data)).toEqual(['192.0.2.3'])
    await change({ delete: { id_fields: { name: 'www', type: 'A' } } })
    expect(held()).toEqual([])
  })

  test('change nothing if one is refused', async () => {
    const { change, held } = await start()
    await change(add(A))
    const before = held()
    expect((await change({ clear: {} }, add({ ...A, data: 'none' }))).status).toBe(400)
    expect(held()).toEqual(before)
  })

  test('relative names and targets belong to the zone, texts get quotes', async () => {
    const { change, held } = await start()
    await change(
      add(
        { ...A, name: 'a.example.com.' },
        { ...A, name: 'b.example.com' },
        { ...A, name: '@', type: 'MX', data: '10 mail' },
        { ...A, name: 't', type: 'TXT', data: 'say "hi"' },
      ),
    )
    expect(held().map(({ name, data, priority }) => [name, data, priority])).toEqual([
      ['a', '192.0.2.1', 0],
      ['b.example.com', '192.0.2.1', 0],
      ['', '10 mail.example.com.', 10],
      ['t', '"say \\"hi\\""', 0],
    ])
  })
})

test('zones are listed by name and project, created below a domain and deleted', async () => {
  const { call, zone } = await start()
  expect(await call('POST', '/dns-zones', { domain: 'example.com', subdomain: 'dev' })).toMatchObject({
    status: 200,
    body: { status: 'active' },
  })
  expect((await call('POST', '/dns-zones', { domain: 'example.com', subdomain: 'dev' })).status).toBe(409)
  expect((await call('POST', '/dns-zones', { domain: 'example.net', subdomain: 'dev' })).status).toBe(403)
  const { body } = await call('GET', '/dns-zones?dns_zones=dev.example.com&dns_zones=none.example.com')
  expect(body).toMatchObject({ total_count: 1, dns_zones: [{ domain: 'example.com', subdomain: 'dev' }] })
  expect((await call('GET', '/dns-zones?project_id=none')).body.total_count).toBe(0)
  expect(await call('DELETE', '/dns-zones/dev.example.com')).toMatchObject({ status: 200, body: {} })
  expect(zone('dev.example.com')).toBeNull()
})

test('lists have pages, by name', async () => {
  const { call, change } = await start()
  await change(add(...Array.from({ length: 25 }, (_, host) => ({ ...A, name: `h${String(host).padStart(2, '0')}` }))))
  const first = (await call('GET', RECORDS)).body
  expect([first.total_count, first.records.length]).toEqual([27, 20])
  const third = (await call('GET', `${RECORDS}?page=3&page_size=10`)).body
  expect(third.records.map(({ name }: { name: string }) => name)).toEqual(['h18', 'h19', 'h20', 'h21', 'h22', 'h23', 'h24'])
  expect((await call('GET', `${RECORDS}?page_size=1001`)).status).toBe(400)
})

test('too many requests and too early changes are refused, and a lost answer is carried out', async () => {
  const { call, change, held, server } = await start({ requestsPerPause: 2, transient: 1 })
  expect(await change(add(A))).toMatchObject({ status: 409, body: { type: 'transient_state' } })
  await call('GET', RECORDS)
  expect(await call('GET', RECORDS)).toMatchObject({ status: 429, body: { type: 'too_many_requests' } })
  server.loseAnswers(1)
  await expect(change(add(A))).rejects.toThrow()
  expect(held()).toHaveLength(1)
})
