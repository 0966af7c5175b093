import { serviceTests } from '../service-tests.ts'
import { HETZNER_ZONE, TOKEN } from '../services.ts'

const { id: ID } = HETZNER_ZONE
const RRSETS = `/zones/${ID}/rrsets`
const rrset = (name: string, type: string, ...values: string[]) => ({ name, type, ttl: 300, records: values.map((value) => ({ value })) })
const A = rrset('www', 'A', '192.0.2.1')
const CNAME = rrset('www', 'CNAME', 'other')
const error = (status: number, code: string): object => ({ status, body: { error: { code } } })
const NOT_FOUND = error(404, 'not_found')
const INVALID = error(422, 'invalid_input')

serviceTests('hetzner', {
  options: { zones: [HETZNER_ZONE, { id: 2, name: 'copied.example', mode: 'secondary' as const }] },
  write: (record) => ['POST', RRSETS, record],
  refused: (why) => (why === '' ? INVALID : error(409, String(why))),
  refusals: [
    ['an RRset that exists', [A], A, 'uniqueness_error'],
    ['a CNAME beside an address', [A], CNAME],
    ['an address beside a CNAME', [CNAME], A],
    ['a CNAME with two records', [], rrset('www', 'CNAME', 'a', 'b')],
    ['a CNAME at the apex', [], rrset('@', 'CNAME', 'other')],
    ['an address that is none', [], rrset('www', 'A', '192.0.2.256')],
    ['equal records', [], rrset('www', 'A', '192.0.2.1', '192.0.2.1')],
    ['a text without quotes', [], rrset('www', 'TXT', 'text')],
    ['a string of 256 octets', [], rrset('www', 'TXT', `"${'x'.repeat(256)}"`)],
    ['no records', [], rrset('www', 'A')],
    ['an unknown type', [], rrset('www', 'LOC', '1 N 1 E 1m')],
    ['a name in upper case', [], rrset('WWW', 'A', '192.0.2.1')],
    ['a name that ends with the zone', [], rrset('www.example.com', 'A', '192.0.2.1')],
    ['a low TTL', [], { ...A, ttl: 59 }],
  ],
  requests: [
    ['an unknown zone', ['GET', '/zones/missing.example'], NOT_FOUND],
    ['an unknown RRset', ['DELETE', `${RRSETS}/www/A`], NOT_FOUND],
    ['changes of an unknown RRset', ['POST', `${RRSETS}/www/A/actions/set_records`, { records: [{ value: '192.0.2.1' }] }], NOT_FOUND],
    ['no records', ['POST', `${RRSETS}/@/NS/actions/set_records`, { records: [] }], INVALID],
    ['the RRsets of a secondary zone', ['GET', '/zones/2/rrsets'], error(422, 'incorrect_zone_mode')],
    ['a zone that exists', ['POST', '/zones', { name: 'example.com', mode: 'primary' }], error(409, 'uniqueness_error')],
    ['a secondary without primaries', ['POST', '/zones', { name: 'new.example', mode: 'secondary' }], INVALID],
    ['an unknown path', ['GET', '/servers'], NOT_FOUND],
    ['a wrong token', ['GET', '/zones', undefined, { authorization: 'Bearer other' }], error(401, 'unauthorized')],
    ['a token that may only read', ['POST', RRSETS, A, { authorization: `Bearer ${TOKEN}-readonly` }], error(403, 'token_readonly')],
  ],
  throttled: [['GET', '/zones'], error(429, 'rate_limit_exceeded')],
})
