/** What the scripted Azure DNS refuses, and how it pages. */
import { expect, test } from 'vitest'
import { type Asked, openService, repeat, serviceTests } from '../service-tests.ts'
import { SUBSCRIPTION } from '../services.ts'

/** The path of a zone, or of what is in it. */
const at = (path = '', zone = 'example.com', group = 'dns'): string => {
  const base = `/subscriptions/${SUBSCRIPTION}/resourceGroups/${group}/providers/Microsoft.Network/dnsZones/${zone}${path}`
  return `${base}${path.includes('?') ? '&' : '?'}api-version=2018-05-01`
}

const A = { TTL: 300, ARecords: [{ ipv4Address: '192.0.2.1' }] }
const CNAME = { TTL: 300, CNAMERecord: { cname: 'other.example.com' } }
const NS = { TTL: 300, NSRecords: [{ nsdname: 'ns.example.net' }] }
const addresses = (count: number, address: (at: number) => string): object => ({
  TTL: 300,
  ARecords: repeat(count, (number) => ({ ipv4Address: address(number) })),
})
const texts = (...values: readonly string[]): object => ({ TTL: 300, TXTRecords: values.map((value) => ({ value: [value] })) })
const put = (path: string, properties: object, headers = {}): Asked => ['PUT', at(path), { properties }, headers]

serviceTests('azure', {
  write: (set) => put(...(set as readonly [string, object])),
  refused: () => ({ status: 400, body: { code: 'BadRequest' } }),
  refusals: [
    ['a CNAME beside an address', [['/A/www', A]], ['/CNAME/www', CNAME]],
    ['an address beside a CNAME', [['/CNAME/www', CNAME]], ['/A/www', A]],
    ['a CNAME at the apex', [], ['/CNAME/@', CNAME]],
    ['an address that is none', [], ['/A/www', addresses(1, () => '192.0.2.256')]],
    ['a name that is none', [], ['/A/a..b', A]],
    ['an unknown type', [], ['/HINFO/www', A]],
    ['a TTL of 0', [], ['/A/www', { ...A, TTL: 0 }]],
    ['no records', [], ['/A/www', { TTL: 300 }]],
    ['a record twice', [], ['/A/www', addresses(2, () => '192.0.2.1')]],
    ['21 records', [], ['/A/www', addresses(21, (number) => `192.0.2.${number}`)]],
    ['a null MX', [], ['/MX/www', { TTL: 300, MXRecords: [{ preference: 0, exchange: '.' }] }]],
    ['an empty text', [], ['/TXT/www', texts('')]],
    ['a long string', [], ['/TXT/www', texts('x'.repeat(256))]],
    ['long texts', [], ['/TXT/www', texts(...repeat(17, (number) => `${number}${'x'.repeat(240)}`))]],
    ['a wildcard NS', [], ['/NS/*', NS]],
    ['other name servers at the apex', [], ['/NS/@', NS]],
  ],
  requests: [
    ['a wrong token', ['GET', at(), undefined, { authorization: 'Bearer other' }], { status: 401 }],
    ['another group', ['GET', at('', 'example.com', 'other')], { status: 403, body: { error: { code: 'AuthorizationFailed' } } }],
    ['an unknown zone', ['GET', at('', 'example.net')], { status: 404, body: { error: { code: 'ResourceNotFound' } } }],
    ['the deletion of the name servers', ['DELETE', at('/NS/@')], { status: 400 }],
    ['the deletion of the SOA record', ['DELETE', at('/SOA/@')], { status: 400 }],
  ],
  throttled: [['GET', at()], { status: 429, headers: { 'retry-after': '1' } }],
})

test.each([
  ['https://management.azure.com/.default', 200],
  ['https://management.core.windows.net//.default', 200],
  ['https://management.azure.com.example/.default', 400],
])('a token for %s', (scope, status) => {
  const application = { tenant: 'tenant', clientId: 'client', clientSecret: 'secret' }
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'client', client_secret: 'secret', scope })
  expect(openService('azure', { application }).call('POST', '/tenant/oauth2/v2.0/token', form.toString()).status).toBe(status)
})
