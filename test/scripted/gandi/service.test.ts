/** What the scripted Gandi refuses, and that it answers as the real one did. */
import { replayTests } from '../replay-tests.ts'
import { serviceTests } from '../service-tests.ts'
import { createGandi, type GandiRrset } from './service.ts'

const A = { name: 'www', type: 'A', rrset_ttl: 300, rrset_values: ['192.0.2.1'] }
const CNAME = { name: 'www', type: 'CNAME', rrset_ttl: 300, rrset_values: ['other.example.com.'] }
const DOMAIN = '/domains/example.com'

serviceTests('gandi', {
  write(record) {
    const { name, type, ...body } = record as typeof A
    return ['PUT', `${DOMAIN}/records/${encodeURIComponent(name)}/${type}`, body]
  },
  refused: (why) => ({ status: 400, body: { code: 400, errors: [{ name: why }] } }),
  refusals: [
    ['a CNAME beside an address', [A], CNAME, 'rrset_type'],
    ['an address beside a CNAME', [CNAME], A, 'rrset_type'],
    ['a CNAME at the apex', [], { ...CNAME, name: '@' }, 'rrset_type'],
    ['an unknown type', [], { ...A, type: 'DHCID' }, 'rrset_type'],
    ['a name that is none', [], { ...A, name: 'a b' }, 'rrset_name'],
    ['a low TTL', [], { ...A, rrset_ttl: 299 }, 'rrset_ttl'],
    ['a high TTL', [], { ...A, rrset_ttl: 2_592_001 }, 'rrset_ttl'],
    ['no record', [], { ...A, rrset_values: [] }, 'rrset_values'],
    ['an address that is none', [], { ...A, rrset_values: ['192.0.2.256'] }, 'rrset_values'],
    ['an empty text', [], { ...A, type: 'TXT', rrset_values: [''] }, 'rrset_values'],
  ],
  requests: [
    ['an unknown domain', ['GET', '/domains/missing.example/records'], { status: 404, body: { object: 'HTTPNotFound' } }],
    ['an unknown record set', ['DELETE', `${DOMAIN}/records/no/A`], { status: 404, body: { object: 'dns-record' } }],
    ['a second creation', ['POST', `${DOMAIN}/records/%40/NS`, { rrset_values: ['ns.example.net.'] }], { status: 409 }],
    ['a wrong token', ['GET', '/domains', undefined, { authorization: 'Bearer other' }], { status: 401 }],
    ['a page', ['GET', '/domains?page=2&per_page=1'], { status: 200, body: [], headers: { 'total-count': '1' } }],
  ],
  throttled: [['GET', '/domains'], { status: 429, headers: { 'retry-after': '1' } }],
})

replayTests('gandi', {
  size: [26, 112],
  generated: {
    pattern: () => null,
    timed: { etag: /^W\/"[0-9a-f]+-[A-Za-z0-9+/]{27}"$/, 'content-type': /^application\/json; charset=utf-8$/ },
  },
  seed({ exchanges }) {
    const list = exchanges.find(({ method, uri }) => method === 'GET' && uri.endsWith('/records'))
    const written = new Set(exchanges.flatMap(({ method, uri }) => (method === 'GET' ? [] : (uri.split('/records/')[1] ?? []))))
    const rrsets = (JSON.parse(list?.response ?? '[]') as readonly (GandiRrset & { readonly rrset_href?: string })[])
      .map(({ rrset_href: _, ...rrset }) => rrset)
      .filter(({ rrset_name: name, rrset_type: type }) => !written.has(`${name}/${type}`))
    return { service: createGandi({ token: 'test-token', domains: ['t18s.fr'], rrsets }).service, shared: [] }
  },
})
