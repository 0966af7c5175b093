import { serviceTests } from '../service-tests.ts'

const A = { name: 'www', type: 'A', ttl: 3600, data: '192.0.2.1' }
const RECORDS = '/dns-zones/example.com/records'
const add = (...records: readonly unknown[]): object => ({ add: { records } })

serviceTests('scaleway', {
  write: (record) => ['PATCH', RECORDS, { changes: [add(record)] }],
  refused: () => ({ status: 400, body: { type: 'invalid_arguments', message: 'invalid argument(s)' } }),
  refusals: [
    ['an unknown type', [], { ...A, type: 'DHCID' }],
    ['a wrong address', [], { ...A, data: '192.0.2' }],
    ['a TTL below a minute', [], { ...A, ttl: 59 }],
    ['a malformed name', [], { ...A, name: 'a..b' }],
    ['an empty text', [], { ...A, type: 'TXT', data: '' }],
    ['a CNAME beside an address', [A], { ...A, type: 'CNAME', data: 'a.example.net.' }],
    ['an identical record', [A], A],
  ],
  requests: [
    ['a wrong key', ['GET', RECORDS, undefined, { 'x-auth-token': 'other' }], { status: 401, body: { type: 'denied_authentication' } }],
    ['an unknown zone', ['GET', '/dns-zones/example.net/records'], { status: 403, body: { message: 'domain not found' } }],
    ['an unknown record', ['PATCH', RECORDS, { changes: [{ delete: { id: 'none' } }] }], { status: 404, body: { type: 'not_found' } }],
    ['a page of 1,001 records', ['GET', `${RECORDS}?page_size=1001`], { status: 400 }],
  ],
  throttled: [['GET', RECORDS], { status: 429, body: { type: 'too_many_requests' } }],
})
