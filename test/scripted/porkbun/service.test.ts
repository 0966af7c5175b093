/** What the scripted Porkbun refuses, that it answers as the real one did, and that records of URL forwards are left alone. */
import { expect, test } from 'vitest'
import { APPLY, startCloudScene, TOKEN } from '../../providers/scripted-scene.ts'
import { expectEnd } from '../../support/cli.ts'
import { replayTests } from '../replay-tests.ts'
import { serviceTests } from '../service-tests.ts'
import { createPorkbun, type PorkbunRecord } from './service.ts'

const KEYS = { apikey: TOKEN, secretapikey: TOKEN }
const A = { type: 'A', name: 'www', content: '192.0.2.1', ttl: '600' }
const CNAME = { type: 'CNAME', name: 'www', content: 'other.example.com', ttl: '600' }

serviceTests('porkbun', {
  write: (record) => ['POST', '/dns/create/example.com', { ...KEYS, ...(record as object) }],
  refused: () => ({ status: 400, body: { status: 'ERROR', message: expect.stringContaining('unable to create') } }),
  refusals: [
    ['a CNAME beside an address', [A], CNAME],
    ['a record twice', [A], A],
    ['a text that ends with a space', [], { ...A, type: 'TXT', content: 'text ' }],
    ['NS at the apex', [], { ...CNAME, type: 'NS', name: '' }],
  ],
  requests: [
    ['an unknown record', ['POST', '/dns/delete/example.com/1', KEYS], { status: 400, body: { message: 'Invalid record ID.' } }],
    ['an unknown domain', ['POST', '/dns/retrieve/missing.example', KEYS], { status: 400, body: { message: 'Invalid domain.' } }],
    ['a wrong key', ['POST', '/ping', { ...KEYS, apikey: 'x' }], { status: 400, body: { status: 'ERROR' } }],
  ],
  throttled: [['POST', '/ping', KEYS], { status: 503, body: expect.stringContaining('openresty') }],
})

replayTests('porkbun', {
  size: [26, 140],
  generated: {
    pattern: (field) => (field === 'id' ? /^\d{9}$/ : null),
    keyOf: (field) => (field === 'records' ? (item) => `${item['type']} ${item['name']} ${item['content']}` : null),
  },
  seed({ exchanges }) {
    const records: readonly PorkbunRecord[] = JSON.parse(exchanges[1]?.response ?? '').records
    return { service: createPorkbun({ keys: null, domains: ['example.xyz'], records }).service, shared: records.map(({ id }) => id) }
  },
})

test('records of URL forwards are shown and left alone, and low TTLs become 600', async () => {
  const target = { content: 'uixie.porkbun.com', ttl: '600', prio: '0', notes: null }
  const records = [
    ['1', 'ALIAS', 'go.example.com'],
    ['2', 'CNAME', '*.go.example.com'],
    ['3', 'CNAME', 'old.example.com'],
  ] as const
  const scene = await startCloudScene('porkbun', {
    definition: '  www: {type: A, ttl: 60, value: 192.0.2.1}\n',
    forwards: ['go'],
    records: records.map(([id, type, name]) => ({ id, type, name, ...target })),
  })
  expectEnd(await scene.run(APPLY), 0, { said: /go\.example\.com\. ALIAS.*belongs to a URL forward/, err: 'rounds TTL 60 up to 600' })
  expect(scene.scripted.records('example.com').map(({ name, ttl }) => `${name} ${ttl}`)).toEqual([
    'go.example.com 600',
    '*.go.example.com 600',
    'www.example.com 600',
  ])
})
