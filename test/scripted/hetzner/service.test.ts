/** What the scripted Hetzner refuses, and how it pages, locks, protects, throttles, loses answers and runs actions. */
import { describe, expect, test } from 'vitest'
import { send } from '../replay.ts'
import { startScriptedServer } from '../scripted-server.ts'
import type { Fields } from '../base.ts'
import { createHetzner, type HetznerOptions } from './service.ts'
import { defaultRrsets } from './zones.ts'

const ID = 53_091
const RRSETS = `/zones/${ID}/rrsets`
const rrset = (name: string, type: string, ...values: readonly string[]): object => ({
  name,
  type,
  ttl: 300,
  records: values.map((value) => ({ value })),
})
const A = rrset('www', 'A', '192.0.2.1')

interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The parsed body. */
  readonly body: Fields & {
    readonly error: Fields
    readonly action: { readonly id: number }
    readonly zone: { readonly id: number }
    readonly rrsets: unknown[]
    readonly actions: Fields[]
  }
}

async function start(options: Partial<HetznerOptions> = {}) {
  const zones = [
    { id: ID, name: 'example.com' },
    { id: 2, name: 'copied.example', mode: 'secondary' as const },
  ]
  const hetzner = createHetzner({ token: 'test-token', zones, rrsets: defaultRrsets(ID), ...options })
  const server = await startScriptedServer(hetzner.service)
  const call = async (method: string, path: string, body?: object, token = 'test-token'): Promise<Answered> => {
    const text = body === undefined ? '' : JSON.stringify(body)
    const answer = await send(`${server.origin}/v1${path}`, method, text, { authorization: `Bearer ${token}` })
    return { ...answer, body: JSON.parse(answer.body) }
  }
  const held = (): string[] => hetzner.rrsets(ID).flatMap(({ id, records }) => records.map(({ value }) => `${id} ${value}`))
  return { server, call, hetzner, held }
}

describe('refusals', () => {
  const CNAME = rrset('www', 'CNAME', 'other')
  test.each<readonly [string, readonly object[], object, number, string]>([
    ['an RRset that exists', [A], A, 409, 'uniqueness_error'],
    ['a CNAME beside an address', [A], CNAME, 422, 'invalid_input'],
    ['an address beside a CNAME', [CNAME], A, 422, 'invalid_input'],
    ['a CNAME with two records', [], rrset('www', 'CNAME', 'a', 'b'), 422, 'invalid_input'],
    ['a CNAME at the apex', [], rrset('@', 'CNAME', 'other'), 422, 'invalid_input'],
    ['an address that is none', [], rrset('www', 'A', '192.0.2.256'), 422, 'invalid_input'],
    ['equal records', [], rrset('www', 'A', '192.0.2.1', '192.0.2.1'), 422, 'invalid_input'],
    ['a text without quotes', [], rrset('www', 'TXT', 'text'), 422, 'invalid_input'],
    ['a string of 256 octets', [], rrset('www', 'TXT', `"${'x'.repeat(256)}"`), 422, 'invalid_input'],
    ['no records', [], rrset('www', 'A'), 422, 'invalid_input'],
    ['an unknown type', [], rrset('www', 'LOC', '1 N 1 E 1m'), 422, 'invalid_input'],
    ['a name in upper case', [], rrset('WWW', 'A', '192.0.2.1'), 422, 'invalid_input'],
    ['a name that ends with the zone', [], rrset('www.example.com', 'A', '192.0.2.1'), 422, 'invalid_input'],
    ['a low TTL', [], { ...A, ttl: 59 }, 422, 'invalid_input'],
  ])('%s', async (_, before, refused, status, code) => {
    const { call, held } = await start()
    for (const one of before) expect((await call('POST', RRSETS, one)).status).toBe(201)
    const count = held().length
    expect(await call('POST', RRSETS, refused)).toMatchObject({ status, body: { error: { code } } })
    expect(held().length).toBe(count)
  })

  test.each<readonly [string, string, string, object | undefined, number, string]>([
    ['an unknown zone', 'GET', '/zones/missing.example', undefined, 404, 'not_found'],
    ['an unknown RRset', 'DELETE', `${RRSETS}/www/A`, undefined, 404, 'not_found'],
    ['changes of an unknown RRset', 'POST', `${RRSETS}/www/A/actions/set_records`, { records: [{ value: '192.0.2.1' }] }, 404, 'not_found'],
    ['no records', 'POST', `${RRSETS}/@/NS/actions/set_records`, { records: [] }, 422, 'invalid_input'],
    ['the RRsets of a secondary zone', 'GET', '/zones/2/rrsets', undefined, 422, 'incorrect_zone_mode'],
    ['a zone that exists', 'POST', '/zones', { name: 'example.com', mode: 'primary' }, 409, 'uniqueness_error'],
    ['a secondary without primaries', 'POST', '/zones', { name: 'new.example', mode: 'secondary' }, 422, 'invalid_input'],
    ['an unknown path', 'GET', '/servers', undefined, 404, 'not_found'],
  ])('%s', async (_, method, path, body, status, code) => {
    const { call } = await start()
    expect(await call(method, path, body)).toMatchObject({ status, body: { error: { code } } })
  })

  test('a wrong token, a token that may only read, a locked zone, too many requests', async () => {
    const { call } = await start({ locked: 1, requestsPerPause: 4 })
    expect(await call('GET', '/zones', undefined, 'other')).toMatchObject({ status: 401, body: { error: { code: 'unauthorized' } } })
    expect(await call('POST', RRSETS, A, 'test-token-readonly')).toMatchObject({ status: 403, body: { error: { code: 'token_readonly' } } })
    expect(await call('POST', RRSETS, A)).toMatchObject({ status: 423, body: { error: { code: 'locked' } } })
    expect((await call('POST', RRSETS, A)).status).toBe(201)
    expect(await call('GET', '/zones')).toMatchObject({ status: 429, body: { error: { code: 'rate_limit_exceeded' } } })
  })

  test('changes of what is protected', async () => {
    const { call, held } = await start()
    await call('POST', RRSETS, A)
    await call('POST', `${RRSETS}/www/A/actions/change_protection`, { change: true })
    await call('POST', `/zones/${ID}/actions/change_protection`, { delete: true })
    const before = held()
    for (const [method, path] of [
      ['DELETE', `${RRSETS}/www/A`],
      ['POST', `${RRSETS}/www/A/actions/set_records`],
      ['DELETE', `/zones/${ID}`],
    ] as const)
      expect(await call(method, path, method === 'POST' ? { records: [{ value: '192.0.2.2' }] } : undefined)).toMatchObject({
        status: 423,
        body: { error: { code: 'protected' } },
      })
    expect(held()).toEqual(before)
  })
})

test('a change is visible at once, keeps comments and labels, and its action ends later', async () => {
  const { call, hetzner } = await start({ stepsOf: () => [50] })
  const commented = { ...A, labels: { team: 'web' }, records: [{ value: '192.0.2.1', comment: 'first' }] }
  const { body } = await call('POST', RRSETS, commented)
  expect(body.action).toMatchObject({ status: 'running', progress: 0 })
  await call('POST', `${RRSETS}/www/A/actions/add_records`, { records: [{ value: '192.0.2.2' }] })
  await call('POST', `${RRSETS}/www/A/actions/change_ttl`, { ttl: null })
  expect(hetzner.rrsets(ID)[0]).toMatchObject({ ttl: null, labels: { team: 'web' }, records: [{ comment: 'first' }, { comment: '' }] })
  const path = `/zones/actions?id=${body.action.id}`
  expect((await call('GET', path)).body.actions).toMatchObject([{ status: 'running', progress: 50 }])
  expect((await call('GET', path)).body.actions).toMatchObject([{ status: 'success', progress: 100, error: null }])
})

test('an action that fails reverts its change', async () => {
  const { call, held } = await start({ fails: () => true, stepsOf: () => [] })
  const before = held().filter((line) => !line.includes('SOA'))
  const { body } = await call('POST', RRSETS, A)
  const failed = { action: { status: 'error', error: { code: 'action_failed' } } }
  expect((await call('GET', `/zones/actions/${body.action.id}`)).body).toMatchObject(failed)
  expect(held().filter((line) => !line.includes('SOA'))).toEqual(before)
})

test('zones are created with NS and SOA records, and deleted', async () => {
  const { call, hetzner } = await start()
  const { body } = await call('POST', '/zones', { name: 'new.example', mode: 'primary', ttl: 600, rrsets: [A] })
  expect(hetzner.rrsets(body.zone.id).map(({ id }) => id)).toEqual(['www/A', '@/NS', '@/SOA'])
  expect((await call('GET', '/zones?name=new.example')).body).toMatchObject({ zones: [{ ttl: 600, record_count: 5 }] })
  expect((await call('DELETE', `/zones/${body.zone.id}`)).status).toBe(201)
  expect((await call('GET', '/zones?name=new.example')).body).toMatchObject({ zones: [] })
})

test('lists have pages of at most 100 RRsets', async () => {
  const { call } = await start()
  for (let host = 0; host < 105; host += 1) await call('POST', RRSETS, rrset(`h${host}`, 'A', '192.0.2.1'))
  const { body, headers } = await call('GET', `${RRSETS}?per_page=500&page=2`)
  expect(body.rrsets).toHaveLength(7)
  expect(body['meta']).toMatchObject({ pagination: { page: 2, per_page: 100, previous_page: 1, next_page: null, total_entries: 107 } })
  expect(headers['link']).toContain('page=1&per_page=100>; rel="prev"')
})

test('a lost answer is carried out', async () => {
  const { call, held, server } = await start()
  server.loseAnswers(1)
  await expect(call('POST', RRSETS, A)).rejects.toThrow()
  expect(held()).toContain('www/A 192.0.2.1')
})
