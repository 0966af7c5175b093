/** What the scripted deSEC refuses, and its pages and limits. */
import { expect, test } from 'vitest'
import { openService, serviceTests } from '../service-tests.ts'

const A = { subname: 'www', type: 'A', ttl: 3600, records: ['192.0.2.1'] }
const LIST = '/domains/example.com/rrsets/'
const DOMAINS = { domains: [{ name: 'example.com' }] }
const error = (status: number, text: string): object => ({ status, body: { detail: text } })

serviceTests('desec', {
  options: DOMAINS,
  write: (record) => ['POST', LIST, record],
  refused: (why) => ({ status: 400, body: expect.toSatisfy((body) => JSON.stringify(body).includes(String(why))) }),
  refusals: [
    ['a second RRset', [], { subname: '', type: 'NS', ttl: 3600, records: ['a.'] }, 'Another RRset'],
    ['a TTL below the minimum', [], { ...A, ttl: 60 }, 'greater than or equal to 3600'],
    ['a TTL above a day', [], { ...A, ttl: 90_000 }, 'less than or equal to 86400'],
    ['no TTL', [], { ...A, ttl: undefined }, 'This field is required'],
    ['an upper-case name', [], { ...A, subname: 'WWW' }, 'Subname can only use'],
    ['an unknown type', [], { ...A, type: 'ALIAS' }, 'currently unsupported'],
    ['a type of deSEC', [], { ...A, type: 'SOA' }, 'managed automatically'],
    ['a generic type', [], { ...A, type: 'TYPE65280' }, 'Generic type format'],
    ['a wrong address', [], { ...A, records: ['192.0.2'] }, 'malformed'],
    ['a duplicate', [], { ...A, type: 'AAAA', records: ['::1', '0::1'] }, 'semantically unique'],
    ['two CNAMEs', [], { ...A, type: 'CNAME', records: ['a.', 'b.'] }, 'multiple records'],
    ['a CNAME at the apex', [], { type: 'CNAME', ttl: 3600, records: ['a.'] }, 'empty subname'],
    ['a CNAME beside an address', [A], { ...A, type: 'CNAME', records: ['a.'] }, 'conflicting type'],
    ['a relative target', [], { ...A, type: 'CNAME', records: ['a'] }, 'fully qualified'],
    ['a target that is no host', [], { ...A, type: 'MX', records: ['10 _a.example.com.'] }, 'invalid target'],
    ['a text without quotes', [], { ...A, type: 'TXT', records: ['a'] }, 'quotation marks'],
    ['an empty record set', [], { ...A, records: [] }, 'must not be empty'],
  ],
  requests: [
    ['an unknown domain', ['GET', '/domains/example.net/'], error(404, 'No Domain matches the given query.')],
    ['the records of an unknown domain', ['GET', '/domains/example.net/rrsets/'], error(404, 'Not found.')],
    ['a wrong token', ['GET', '/domains/', undefined, { authorization: 'Token other' }], error(401, 'Invalid token.')],
    [
      'a domain that exists',
      ['POST', '/domains/', { name: 'example.com' }],
      { status: 400, body: { name: [expect.stringContaining('conflicts with an existing domain')] } },
    ],
  ],
  throttled: [
    ['GET', '/domains/'],
    { ...error(429, 'Request was throttled. Expected available in 1 second.'), headers: { 'retry-after': '1' } },
  ],
})

test('parameters of services may have quotes, and are stored in their order, most of them without', () => {
  const { call } = openService('desec', DOMAINS)
  const stored = (record: string): unknown => call('PATCH', LIST, [{ ...A, type: 'HTTPS', records: [record] }]).body[0].records
  expect(stored('1 . port="443" ALPN="h2,h3" no-default-alpn')).toEqual(['1 . alpn=h2,h3 no-default-alpn port=443'])
  expect(stored('1 . key65333="a b" ech=AAT+DQAA key1=h2')).toEqual(['1 . alpn=h2 ech="AAT+DQAA" key65333="a b"'])
})
