/** What the scripted DigitalOcean refuses, and how it pages and filters. */
import { expect, test } from 'vitest'
import { openService, serviceTests } from '../service-tests.ts'
import { TOKEN } from '../services.ts'

const RECORDS = '/domains/example.com/records'
const A = { type: 'A', name: 'www', data: '192.0.2.1', ttl: 300 }
const CNAME = { type: 'CNAME', name: 'www', data: 'other.example.com.', ttl: 300 }
const CAA = { type: 'CAA', name: '@', flags: 0, tag: 'issue', data: 'ca.example.net.' }

serviceTests('digitalocean', {
  write: (record) => ['POST', RECORDS, record],
  refused: () => ({ status: 422, body: { id: 'unprocessable_entity' } }),
  refusals: [
    ['a CNAME beside an address', [A], CNAME],
    ['an address beside a CNAME', [CNAME], A],
    ['a CNAME at the apex', [], { ...CNAME, name: '@' }],
    ['a target without a final dot', [], { ...CNAME, data: 'other.example.com' }],
    ['an address that is none', [], { ...A, data: '192.0.2.256' }],
    ['an unknown type', [], { ...A, type: 'LOC' }],
    ['a name that is none', [], { ...A, name: 'a b' }],
    ['a low TTL', [], { ...A, ttl: 29 }],
    ['MX without a priority', [], { type: 'MX', name: '@', data: 'mail.example.com.' }],
    ['a CAA tag that is none', [], { ...CAA, tag: 'other' }],
    ['a CAA value with a space', [], { ...CAA, data: 'ca.example.net; a=b.' }],
    ['an empty text', [], { type: 'TXT', name: 'www', data: '' }],
    ['a long text', [], { type: 'TXT', name: 'www', data: 'x'.repeat(520) }],
  ],
  requests: [
    ['an unknown record', ['PUT', `${RECORDS}/1`, A], { status: 404, body: { id: 'not_found' } }],
    ['an unknown domain', ['GET', '/domains/missing.example/records'], { status: 404 }],
    ['a domain that exists', ['POST', '/domains', { name: 'example.com' }], { status: 422 }],
    ['a wrong token', ['GET', '/domains', undefined, { authorization: 'Bearer other' }], { status: 401, body: { id: 'Unauthorized' } }],
    ['a read-only token', ['POST', RECORDS, A, { authorization: `Bearer ${TOKEN}-readonly` }], { status: 403, body: { id: 'forbidden' } }],
  ],
  throttled: [['GET', '/domains'], { status: 429, headers: { 'retry-after': '1' }, body: { id: 'too_many_requests' } }],
})

test.each([
  ['without a final dot', CNAME, 'other.example.com'],
  ['@ for the domain itself', { ...CNAME, name: 'x', data: 'example.com.' }, '@'],
  ['without a final dot in CAA', CAA, 'ca.example.net'],
  ['without a final dot after a semicolon', { ...CAA, data: ';.' }, ';'],
])('names of rdata are stored %s', (_, record, data) => {
  expect(openService('digitalocean').call('POST', RECORDS, record).body.domain_record.data).toBe(data)
})

test.each([
  ['www.example.com.', 'www'],
  ['example.com.', '@'],
])('the owner %s is stored relative to the domain', (name, stored) => {
  expect(openService('digitalocean').call('POST', RECORDS, { ...A, name }).body.domain_record.name).toBe(stored)
})
