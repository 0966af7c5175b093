/** What the scripted Vultr refuses, and that it answers as the real one did. */
import { replayTests } from '../replay-tests.ts'
import { serviceTests } from '../service-tests.ts'
import { createVultr, type VultrDomain, type VultrRecord } from './service.ts'

const RECORDS = '/domains/example.com/records'
const A = { type: 'A', name: 'www', data: '192.0.2.1', ttl: 300 }
const CNAME = { type: 'CNAME', name: 'www', data: 'other.example.com', ttl: 300 }
const TXT = { type: 'TXT', name: 'www', data: '"text"', ttl: 300 }

serviceTests('vultr', {
  write: (record) => ['POST', RECORDS, record],
  refused: (why) => ({ status: 400, body: { error: `Invalid record: ${why}`, status: 400 } }),
  refusals: [
    ['a CNAME beside an address', [A], CNAME, 'cname'],
    ['an address beside a CNAME', [CNAME], A, 'cname'],
    ['a CNAME at the apex', [], { ...CNAME, name: '' }, 'cname'],
    ['a record twice', [A], A, 'double'],
    ['an unknown type', [], { ...A, type: 'LOC' }, 'type'],
    ['a name that is none', [], { ...A, name: 'a b' }, 'name'],
    ['a low TTL', [], { ...A, ttl: 59 }, 'ttl'],
    ['MX with a priority that is none', [], { ...CNAME, type: 'MX', priority: -1 }, 'priority'],
    ['an address that is none', [], { ...A, data: '192.0.2.256' }, 'data'],
    ['a text without quotes', [], { ...TXT, data: 'text' }, 'data'],
    ['a text with quotes inside', [], { ...TXT, data: '"a"b"' }, 'data'],
  ],
  requests: [
    ['an unknown record', ['PATCH', `${RECORDS}/1`, A], { status: 404, body: { status: 404 } }],
    ['an unknown domain', ['GET', '/domains/missing.example/records'], { status: 404 }],
    ['a domain that exists', ['POST', '/domains', { domain: 'example.com' }], { status: 400 }],
    [
      'a wrong token',
      ['GET', '/domains', undefined, { authorization: 'Bearer other' }],
      { status: 401, body: { error: 'Invalid API token.' } },
    ],
    ['a page', ['GET', `${RECORDS}?per_page=1`], { body: { meta: { total: 2, links: { next: 'bmV4dF9fMQ==', prev: '' } } } }],
    [
      'the next page',
      ['GET', `${RECORDS}?per_page=1&cursor=bmV4dF9fMQ==`],
      { body: { records: [{ data: 'ns2.vultr.com' }], meta: { links: { next: '' } } } },
    ],
  ],
  throttled: [['GET', '/domains'], { status: 429, headers: { 'retry-after': '1' } }],
})

replayTests('vultr', {
  size: [26, 117],
  generated: { pattern: (field) => (field === 'id' ? /^[0-9a-f-]{36}$/ : null) },
  seed({ exchanges }) {
    const bodies = exchanges.flatMap(({ response }) => (response === '' ? [] : [JSON.parse(response)]))
    const domains: readonly VultrDomain[] = bodies[0].domains
    const records: readonly VultrRecord[] = bodies.find((body) => body.records)?.records
    const shared = records.map(({ id }) => id)
    return { service: createVultr({ token: 'test-token', domains, records }).service, shared }
  },
})
