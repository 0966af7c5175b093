/** What the scripted Azure DNS refuses, and how it pages, throttles and loses answers. */
import { describe, expect, test } from 'vitest'
import { type Answer, send } from '../replay.ts'
import { startScriptedServer } from '../scripted-server.ts'
import { type AzureOptions, createAzure } from './service.ts'

const BASE = '/subscriptions/s/resourceGroups/dns/providers/Microsoft.Network'
const ZONE = `${BASE}/dnsZones/example.com`
const A = { TTL: 300, ARecords: [{ ipv4Address: '192.0.2.1' }] }
const CNAME = { TTL: 300, CNAMERecord: { cname: 'other.example.com' } }

interface Answered extends Pick<Answer, 'status' | 'headers'> {
  // biome-ignore lint/suspicious/noExplicitAny: bodies of any form.
  readonly body: any
}

async function start(options: Partial<AzureOptions> = {}) {
  const azure = createAzure({ subscription: 's', resourceGroup: 'dns', token: 'test-token', zones: [{ name: 'example.com' }], ...options })
  const server = await startScriptedServer(azure.service)
  const call = async (
    method: string,
    path: string,
    properties?: object,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answered> => {
    const url = `${server.origin}${path}${path.includes('?') ? '&' : '?'}api-version=2018-05-01`
    const body = properties === undefined ? '' : JSON.stringify({ properties })
    const answer = await send(url, method, body, { authorization: 'Bearer test-token', ...headers })
    return { ...answer, body: answer.body === '' ? undefined : JSON.parse(answer.body) }
  }
  return { server, call, held: () => azure.sets('example.com').length - 2 }
}

describe('refusals', () => {
  const texts = (count: number) => Array.from({ length: count }, (_, at) => ({ value: [`${at}${'x'.repeat(240)}`] }))
  test.each<readonly [string, readonly (readonly [path: string, properties: object])[], string, object]>([
    ['a CNAME beside an address', [['A/www', A]], 'CNAME/www', CNAME],
    ['an address beside a CNAME', [['CNAME/www', CNAME]], 'A/www', A],
    ['a CNAME at the apex', [], 'CNAME/@', CNAME],
    ['an address that is none', [], 'A/www', { TTL: 300, ARecords: [{ ipv4Address: '192.0.2.256' }] }],
    ['a name that is none', [], 'A/a..b', A],
    ['an unknown type', [], 'HINFO/www', A],
    ['a TTL of 0', [], 'A/www', { ...A, TTL: 0 }],
    ['no records', [], 'A/www', { TTL: 300 }],
    ['a record twice', [], 'A/www', { TTL: 300, ARecords: [A.ARecords[0], A.ARecords[0]] }],
    ['21 records', [], 'A/www', { TTL: 300, ARecords: Array.from({ length: 21 }, (_, at) => ({ ipv4Address: `192.0.2.${at}` })) }],
    ['a null MX', [], 'MX/www', { TTL: 300, MXRecords: [{ preference: 0, exchange: '.' }] }],
    ['an empty text', [], 'TXT/www', { TTL: 300, TXTRecords: [{ value: [''] }] }],
    ['a long string', [], 'TXT/www', { TTL: 300, TXTRecords: [{ value: ['x'.repeat(256)] }] }],
    ['long texts', [], 'TXT/www', { TTL: 300, TXTRecords: texts(17) }],
    ['a wildcard NS', [], 'NS/*', { TTL: 300, NSRecords: [{ nsdname: 'ns.example.net' }] }],
    ['other name servers at the apex', [], 'NS/@', { TTL: 300, NSRecords: [{ nsdname: 'ns.example.net' }] }],
  ])('%s', async (_, before, path, properties) => {
    const { call, held } = await start()
    for (const [own, sent] of before) expect((await call('PUT', `${ZONE}/${own}`, sent)).status).toBe(201)
    expect(await call('PUT', `${ZONE}/${path}`, properties)).toMatchObject({ status: 400, body: { code: 'BadRequest' } })
    expect(held()).toBe(before.length)
  })

  test('a condition that does not hold', async () => {
    const { call, held } = await start()
    const created = await call('PUT', `${ZONE}/A/www`, A, { 'if-none-match': '*' })
    expect([created.status, created.headers['etag']]).toEqual([201, created.body.etag])
    const failed = { status: 412, body: { code: 'PreconditionFailed' } }
    expect(await call('PUT', `${ZONE}/A/www`, A, { 'if-none-match': '*' })).toMatchObject(failed)
    expect(await call('PUT', `${ZONE}/A/www`, A, { 'if-match': 'other' })).toMatchObject(failed)
    expect(await call('PUT', `${ZONE}/A/new`, A, { 'if-match': 'other' })).toMatchObject(failed)
    expect(await call('DELETE', `${ZONE}/A/www`, undefined, { 'if-match': 'other' })).toMatchObject(failed)
    const updated = await call('PUT', `${ZONE}/A/www`, { ...A, TTL: 600 }, { 'if-match': created.body.etag })
    expect([updated.status, updated.body.etag === created.body.etag]).toEqual([200, false])
    expect((await call('DELETE', `${ZONE}/A/www`, undefined, { 'if-match': updated.body.etag })).status).toBe(200)
    expect([(await call('DELETE', `${ZONE}/A/www`)).status, held()]).toEqual([204, 0])
  })

  test('a wrong token, another group, an unknown zone, the record sets of the apex', async () => {
    const { call } = await start()
    expect(await call('GET', ZONE, undefined, { authorization: 'Bearer other' })).toMatchObject({ status: 401 })
    expect(await call('GET', ZONE.replace('/dns/', '/other/'))).toMatchObject({
      status: 403,
      body: { error: { code: 'AuthorizationFailed' } },
    })
    expect(await call('GET', `${BASE}/dnsZones/example.net`)).toMatchObject({ status: 404, body: { error: { code: 'ResourceNotFound' } } })
    expect(await call('DELETE', `${ZONE}/NS/@`)).toMatchObject({ status: 400 })
    expect(await call('DELETE', `${ZONE}/SOA/@`)).toMatchObject({ status: 400 })
  })
})

test('lists have pages, and a zone is deleted after the answer', async () => {
  const { call } = await start()
  for (let at = 0; at < 8; at += 1) await call('PUT', `${ZONE}/A/h${at}`, A)
  const first = await call('GET', `${ZONE}/recordsets?$top=7`)
  expect(first.body.value).toHaveLength(7)
  const { pathname, search } = new URL(first.body.nextLink)
  const second = await call('GET', pathname + search)
  expect([second.body.value.length, second.body.nextLink]).toEqual([3, undefined])
  expect((await call('DELETE', ZONE)).status).toBe(202)
  expect([(await call('GET', ZONE)).status, (await call('GET', ZONE)).status]).toEqual([200, 404])
})

test('a replacement drops metadata, and a patch keeps them', async () => {
  const { call } = await start()
  await call('PUT', `${ZONE}/A/www`, { ...A, metadata: { owner: 'web' } })
  expect((await call('PATCH', `${ZONE}/A/www`, { TTL: 600 })).body.properties).toMatchObject({ TTL: 600, metadata: { owner: 'web' } })
  expect((await call('PUT', `${ZONE}/A/www`, A)).body.properties.metadata).toBeUndefined()
})

test('too many requests are refused with a pause, and a lost answer is carried out', async () => {
  const { call, held, server } = await start({ requestsPerPause: 1 })
  await call('GET', ZONE)
  expect(await call('GET', ZONE)).toMatchObject({ status: 429, headers: { 'retry-after': '1' } })
  server.loseAnswers(1)
  await expect(call('PUT', `${ZONE}/A/www`, A)).rejects.toThrow()
  expect(held()).toBe(1)
})
