/** What the scripted Scaleway refuses, and its pages and changes. */
import { describe, expect, test } from 'vitest'
import { type Answered, openService, serviceTests } from '../service-tests.ts'

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

test.each([
  ['a key without rights', { readOnly: true }, { status: 403, body: { type: 'permissions_denied' } }],
  ['a change that comes too early', { transient: 1 }, { status: 409, body: { type: 'transient_state' } }],
])('%s', (_, options, refused) => {
  expect(openService('scaleway', options).call('PATCH', RECORDS, { changes: [add(A)] })).toMatchObject(refused)
})

describe('changes', () => {
  const start = () => {
    const { call, held, scripted } = openService('scaleway')
    const change = (...changes: readonly object[]): Answered => call('PATCH', RECORDS, { changes })
    return { call, change, held, records: () => (scripted.records('example.com') ?? []).filter(({ type }) => type !== 'NS') }
  }

  test('are carried out in their order, and keep identifiers', () => {
    const { change, held } = start()
    const [www, old] = change(add(A, { ...A, name: 'old' })).body.records
    const { body } = change(
      { delete: { id: old.id } },
      { set: { id: www.id, records: [{ ...A, data: '192.0.2.9', comment: 'kept' }] } },
      add({ ...A, name: 'old', type: 'CNAME', data: 'www' }),
    )
    expect(body.records).toMatchObject([{ id: www.id, data: '192.0.2.9', comment: 'kept' }, { data: 'www.example.com.' }])
    expect(held()).toEqual(['www 3600 IN A 192.0.2.9', 'old 3600 IN CNAME www.example.com.'])
  })

  test('name records by fields, as octoDNS does, and return all records on request', () => {
    const { call, change, held } = start()
    change(add(A, { ...A, data: '192.0.2.2' }))
    const changes = [{ set: { idFields: { name: 'www', type: 'A' }, records: [{ ...A, data: '192.0.2.3' }] } }]
    expect(call('PATCH', RECORDS, { changes, return_all_records: true }).body.records).toHaveLength(3)
    expect(held()).toEqual(['www 3600 IN A 192.0.2.3'])
    change({ delete: { id_fields: { name: 'www', type: 'A' } } })
    expect(held()).toEqual([])
  })

  test('change nothing if one is refused', () => {
    const { change, held } = start()
    change(add(A))
    expect(change({ clear: {} }, add({ ...A, data: 'none' })).status).toBe(400)
    expect(held()).toHaveLength(1)
  })

  test('types may be in lower case, relative names and targets belong to the zone, texts get quotes', () => {
    const { change, records } = start()
    const mail = { ...A, name: '@', type: 'MX', data: '10 mail' }
    const text = { ...A, name: 't', type: 'TXT', data: 'say "hi"' }
    change(add({ ...A, type: 'a', name: 'a.example.com.' }, { ...A, name: 'b.example.com' }, mail, text))
    expect(records().map(({ name, type, data, priority }) => [name, type, data, priority])).toEqual([
      ['a', 'A', '192.0.2.1', 0],
      ['b.example.com', 'A', '192.0.2.1', 0],
      ['', 'MX', '10 mail.example.com.', 10],
      ['t', 'TXT', '"say \\"hi\\""', 0],
    ])
  })
})
