/** What the scripted Cloudflare refuses, and how it pages and batches. */
import { expect, test } from 'vitest'
import { createReplay, type Exchange, readRecording } from '../replay.ts'
import { openService, serviceTests } from '../service-tests.ts'
import { CLOUDFLARE_ZONE } from '../services.ts'
import { createCloudflare } from './service.ts'

const RECORDS = `/zones/${CLOUDFLARE_ZONE.id}/dns_records`
const A = { type: 'A', name: 'www.example.com', content: '192.0.2.1', ttl: 300 }
const CNAME = { type: 'CNAME', name: 'www', content: 'other.example.com', ttl: 1 }
const error = (status: number, code: number): object => ({ status, body: { result: null, success: false, errors: [{ code }] } })

serviceTests('cloudflare', {
  write: (record) => ['POST', RECORDS, record],
  refused: (code) => error(400, Number(code)),
  refusals: [
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
  ],
  requests: [
    ['PUT of an unknown record', ['PUT', `${RECORDS}/${'2'.repeat(32)}`, A], error(404, 81_044)],
    ['DELETE of an unknown record', ['DELETE', `${RECORDS}/${'2'.repeat(32)}`], error(404, 81_044)],
    ['an unknown zone', ['GET', `/zones/${'3'.repeat(32)}/dns_records`], error(404, 7003)],
    ['an unknown path', ['GET', '/zones-of-others'], error(400, 7000)],
    ['a wrong token', ['GET', '/zones', undefined, { authorization: 'Bearer other' }], error(403, 10_000)],
  ],
  throttled: [['GET', '/zones'], { ...error(429, 971), headers: { 'retry-after': '1' } }],
})

test('tags on the free plan, a full zone', () => {
  const { call } = openService('cloudflare', { plan: 'free', maxRecords: 1 })
  expect(call('POST', RECORDS, { ...A, tags: ['a:b'] })).toMatchObject(error(400, 9300))
  call('POST', RECORDS, A)
  expect(call('POST', RECORDS, { ...A, name: 'full' })).toMatchObject(error(400, 81_045))
})

test.each<[string, object, boolean]>([
  ['none', {}, false],
  ['another value', { ttl: 300 }, true],
  ['another field', { locked: false }, true],
  ['no field', { comment: undefined }, true],
  ['two generated values that are equal only in the recording', { modified_on: '2020-01-01T00:00:00Z' }, true],
])('a replay finds a difference: %s', (_, change, isFound) => {
  const exchange = readRecording('cloudflare')
    .flatMap(({ exchanges }) => exchanges)
    .find(({ method }) => method === 'POST') as Exchange
  const { service } = createCloudflare({ token: 'test-token', zones: [{ id: '457dd20dded351b97830cb528f507819', name: 'byemike.org' }] })
  const pattern = (field: string): RegExp | null => (field === 'id' ? /^[0-9a-f]{32}$/ : /_on$/.test(field) ? /Z$/ : null)
  const recorded = JSON.parse(exchange.response)
  const response = JSON.stringify({ ...recorded, result: { ...recorded.result, ...change } })
  const { answer, expected } = createReplay(service, { authorization: 'Bearer test-token' }, { pattern }).run({ ...exchange, response })
  if (isFound) expect(answer).not.toEqual(expected)
  else expect(answer).toEqual(expected)
})
