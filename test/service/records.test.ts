import { describe, expect, test } from 'vitest'
import { invalid, MASTER, type Refusals, refusalsOf, startForTest, titleOf, withValues } from './harness.ts'

let now = Date.parse('2026-03-01T10:00:00Z')
const { client } = await startForTest({ clock: () => now })
let fresh = 0

/** Creates records in a new domain, by default `zone-1.example`, `zone-2.example` and so on. */
async function freshRecords(name?: string): Promise<string> {
  const body = { ...MASTER, domain: name ?? `zone-${++fresh}.example` }
  return `/domains/${(await client.ok('POST', '/domains', body)).id}/records`
}

const RECORDS = await freshRecords('example.com')
const SRV = { type: 'SRV', service: 'sip', protocol: 'tcp', priority: 1, weight: 2, port: 5060, target: 'sip.example.net' }
const UNSET = { priority: 0, weight: 0, port: 0, service: null, protocol: null, tag: null, ttl_sec: 0 }
const LONG_TEXT = 'x'.repeat(65535)

/** The records of type A that names give. */
const NAMES: Readonly<Record<string, string>> = {
  ...{ '': '', 'example.com': '', a: 'a', 'full.example.com': 'full', 'Dot.EXAMPLE.com.': 'dot', 'xexample.com': 'xexample.com' },
  'example.com.example.com.': 'example.com',
  ...{ '_acme-challenge.x': '_acme-challenge.x', '*.wild': '*.wild', '*': '*', Bücher: 'xn--bcher-kva' },
  [`${'a'.repeat(49)}.${'b'.repeat(50)}`]: `${'a'.repeat(49)}.${'b'.repeat(50)}`,
}

const stores = (body: object, stored: object) => [titleOf(body), body, stored] as const

/** Bodies, and what is stored of them. */
const ACCEPTED = [
  ...Object.entries(NAMES).map(([name, stored]) => stores({ type: 'A', name, target: '192.0.2.1' }, { name: stored })),
  stores({ type: 'A', target: '192.0.2.1' }, { type: 'A', name: '', target: '192.0.2.1' }),
  stores({ type: 'AAAA', name: 'a', target: '2001:DB8::1' }, { target: '2001:DB8::1' }),
  stores({ type: 'AAAA', name: 'b', target: '192.0.2.1' }, { type: 'A' }),
  stores({ type: 'A', name: 'own', target: '[remote_addr]' }, { target: '127.0.0.1' }),
  ...Object.entries({ 0: 0, 1: 300, 1950: 300, 1951: 3600, 5400: 3600, 2419201: 2419200 }).map(([ttl, stored]) =>
    stores({ type: 'A', name: 'ttl', target: '192.0.2.1', ttl_sec: Number(ttl) }, { ttl_sec: stored }),
  ),
  stores({ type: 'A', name: 'n', target: '192.0.2.1', priority: 10, weight: 1, port: 5 }, UNSET),
  stores({ type: 'NS', name: 'sub', target: 'ns1.example.net.' }, { target: 'ns1.example.net' }),
  stores({ type: 'MX', target: 'Mail.example.net', priority: 255 }, { target: 'Mail.example.net', priority: 255 }),
  stores({ type: 'CNAME', name: 'c', target: 'www.example.net.' }, { target: 'www.example.net' }),
  stores({ type: 'CNAME', name: 'c2', target: 'bücher.example' }, { target: 'xn--bcher-kva.example' }),
  // A single label belongs to the domain, unless it ends with a dot.
  stores({ type: 'CNAME', name: 'c3', target: 'www' }, { target: 'www.example.com' }),
  stores({ type: 'CNAME', name: 'c4', target: 'www.' }, { target: 'www' }),
  stores({ type: 'PTR', name: '1', target: 'host.example.net.' }, { target: 'host.example.net' }),
  ...[' "v=spf1" \\; ä 😀 \n. ', LONG_TEXT].map((target, index) => stores({ type: 'TXT', name: `t${index}`, target }, { target })),
  stores({ type: 'CAA', tag: 'issue', target: 'ca.example.net' }, { tag: 'issue', target: 'ca.example.net' }),
  ...['mailto:ca@example.com', 'https://example.com/ca?x=1', 'report.example.com'].map((target) =>
    stores({ type: 'CAA', tag: 'iodef', target }, { tag: 'iodef', target }),
  ),
  stores(SRV, { ...SRV, name: '_sip._tcp' }),
  ...['issue', 'issuewild'].map((tag) => stores({ type: 'CAA', tag, target: ';' }, { tag, target: ';' })),
  stores({ ...SRV, name: 'x', service: '__SIP.', protocol: '_udp.sub' }, { name: '_sip._udp.sub', service: 'sip', protocol: 'udp.sub' }),
  stores({ ...SRV, service: 'xmpp.' }, { name: '_xmpp._tcp', service: 'xmpp' }),
  stores({ ...SRV, target: '8.8.8.8' }, { target: '8.8.8.8' }),
  ...[undefined, null, ''].map((protocol) => stores({ ...SRV, protocol }, { name: '_sip._tcp', service: 'sip', protocol: null })),
  // The root as it is sent, and as it is returned.
  ...['.', ''].map((target) => stores({ ...SRV, target }, { target: '' })),
  stores({ type: 'A', target: '192.0.2.1', name: null, weight: null, ttl_sec: null, more: null }, { ...UNSET, name: '' }),
  stores({ type: 'A', name: 'z', target: '192.0.2.1', ...UNSET, service: '', tag: '' }, UNSET),
  // Read-only fields are ignored.
  stores({ type: 'A', name: 'r', target: '192.0.2.1', id: 1, created: 2, updated: [] }, { name: 'r' }),
]

describe('create', () => {
  test.each(ACCEPTED)('%s', async (_title, body, expected) => {
    const record = await client.ok('POST', RECORDS, body)
    expect(record).toMatchObject(expected)
    expect(Object.keys(record).sort()).toEqual([...Object.keys(UNSET), 'created', 'id', 'name', 'target', 'type', 'updated'].sort())
    expect(await client.ok('GET', `${RECORDS}/${record.id}`)).toEqual(record)
    // What was read can be sent back, and is not parsed again.
    expect(await client.ok('PUT', `${RECORDS}/${record.id}`, record)).toEqual(record)
  })

  test('identical records are separate', async () => {
    const records = await freshRecords()
    const body = { type: 'A', name: 'twin', target: '192.0.2.1' }
    const [one, two] = [await client.ok('POST', records, body), await client.ok('POST', records, body)]
    expect(one.id).not.toBe(two.id)
    expect((await client.ok('GET', records)).results).toBe(2)
  })

  const ADDRESS = 'target: Invalid IPv4 or IPv6 address'
  const TARGET = invalid('target')
  const a = { type: 'A', target: '192.0.2.1' }
  const mx = { type: 'MX', target: 'mail.example.net' }
  const caa = { type: 'CAA', tag: 'issue', target: 'ca.example.net' }
  const iodef = { type: 'CAA', tag: 'iodef' }
  const named = (...names: readonly unknown[]): object[] => withValues(a, 'name', ...names)
  const leading = (body: object, ...targets: readonly unknown[]): object[] => withValues(body, 'target', ...targets)

  const REFUSED: Refusals = [
    ['type: type is required', {}],
    ['type: Invalid record type', { type: 'X', target: 'x' }],
    [['name: Name contains invalid characters', 'name: Invalid hostname'], ...named('a b', '@')],
    ['name: Invalid hostname', ...named('a..b', '.', 'a.', 'a.example.net.', 'a.*', 'x'.repeat(64))],
    [invalid('name'), ...named(5)],
    ['priority: priority must be between 0 and 255', ...withValues(mx, 'priority', 256, -1)],
    [invalid('priority'), ...withValues(mx, 'priority', 0.5, '1')],
    ['port: port must be between 0 and 65535', { ...SRV, port: 65536 }],
    [invalid('ttl_sec'), ...withValues(a, 'ttl_sec', -1, 0.5)],
    ['priority: Cannot specify priority for NS record', { type: 'NS', name: 'sub', target: 'ns.example.net', priority: 1 }],
    ['weight: Cannot specify weight for MX record', { ...mx, weight: 1 }],
    ['port: Cannot specify port for MX record', { ...mx, port: 1 }],
    ...['service', 'protocol'].map(
      (field) => [`${field}: Cannot specify ${field} for TXT record`, { type: 'TXT', target: 'x', [field]: 'sip' }] as const,
    ),
    ['tag: Cannot specify tag for A record', { ...a, tag: 'issue' }],
    ['name: CNAME records cannot be at the root of the domain', { type: 'CNAME', name: '', target: 'www.example.net' }],
    ['name: NS records cannot have wildcard names', { type: 'NS', name: '*.x', target: 'ns.example.net' }],
    ['priority: priority must be 0 for a null MX record', { ...mx, name: 'null', target: '.', priority: 5 }],
    ['tag: tag is required', { type: 'CAA', target: 'ca.example.net' }],
    [invalid('tag'), { ...caa, tag: 'x' }],
    ['service: service is required', { ...SRV, service: '_' }],
    [invalid('protocol'), { ...SRV, protocol: 'a b' }],
    ['name: Length must be 1-100 characters', ...named(`${'a'.repeat(50)}.${'b'.repeat(50)}`, 'a'.repeat(5000))],
    ['name: Length must be 1-100 characters', { ...SRV, service: 's'.repeat(60), protocol: `tcp.${'a'.repeat(40)}` }],
    ['target: target is required', ...['A', 'NS', 'MX', 'TXT'].map((type) => ({ type })), { type: 'CAA', tag: 'issue' }],
    [ADDRESS, ...leading({ type: 'AAAA' }, 'fe80::1%eth0', '2001:db8::g'), ...leading(a, '192.0.2.01', '2001:db8::1')],
    ['name: name is required', { type: 'CNAME', target: 'www.example.net' }],
    [TARGET, ...leading({ type: 'CNAME', name: 'cr' }, '@', 'a.'.repeat(128), 'a..b', '*.a.b', `${'x'.repeat(64)}.b`)],
    [TARGET, ...leading({ type: 'TXT' }, 'a\u0000', '\udc00'), { ...SRV, target: '..' }, { type: 'A', target: ['192.0.2.1'] }],
    ['target: Length must be 1-65535 characters', { type: 'TXT', target: `${LONG_TEXT}x` }],
    ...[
      ...leading(caa, 'mailto:ca@example.net', 'ca.example.net; a=b', 'ca.example.net.', `${'a.'.repeat(127)}example`),
      { ...caa, tag: 'issuewild', target: '*.example.net' },
      ...leading(iodef, 'ftp://example.net', ';', 'https://example.net/"', 'https://example.net/\u0001', 'https://example.net/ä'),
      ...leading(iodef, 'https://?x', 'mailto:ca@example..net'),
    ].map((body) => ['target: You have entered an invalid target', body] as const),
    [['priority', 'weight', 'port', 'target', 'service'].map((field) => `${field}: ${field} is required`), { type: 'SRV' }],
    [invalid('service'), { ...SRV, service: 'a.b' }, { ...SRV, service: 's'.repeat(63) }],
    [
      ['type: Invalid record type', 'priority: priority must be between 0 and 255', 'ttl_sec: ttl_sec is not valid'],
      { type: 'X', priority: 300, ttl_sec: '1' },
    ],
    // Each error is reported once.
    [
      [
        ...['priority: priority is not valid', 'weight: weight must be between 0 and 65535', 'service: service is not valid'],
        ...['port: port is required', TARGET],
      ],
      { type: 'SRV', service: 5, protocol: '', priority: '1', weight: -1, target: 'a b' },
    ],
  ]

  test.each(refusalsOf(REFUSED))('%s is refused', async (_title, body, problems) => {
    expect(await client.problems('POST', RECORDS, body)).toEqual(problems)
  })

  test('a slave accepts and lists no records', async () => {
    const slave = await client.ok('POST', '/domains', { type: 'slave', domain: 'slave.example', master_ips: ['192.0.2.53'] })
    const reason = 'Records of a slave domain come from its master servers and cannot be changed here.'
    const records = `/domains/${slave.id}/records`
    expect(await client.problems('POST', records, { type: 'A', target: '192.0.2.1' })).toEqual([reason])
    expect(await client.problems('DELETE', `${records}/1`)).toEqual([reason])
    expect(await client.problems('PUT', `${records}/1`, {})).toEqual([reason])
    expect(await client.ok('GET', records)).toEqual({ data: [], page: 1, pages: 1, results: 0 })
  })
})

const ALIAS = { type: 'CNAME', name: 'a', target: 'www.example.net' }
const HOST = { type: 'A', name: 'a', target: '192.0.2.1' }
const MAIL = { type: 'MX', target: 'mail.example.net', priority: 10 }
const NO_MAIL = { type: 'MX', target: '' }
type Request = [method: string, path: string, body: object]
const CNAME_CONFLICT = 'name: Record conflict - CNAMES must be unique'

test.each<[there: object, body: object, problem: string | null]>([
  [HOST, ALIAS, CNAME_CONFLICT],
  [ALIAS, HOST, CNAME_CONFLICT],
  [ALIAS, { ...ALIAS, target: 'other.example.net' }, CNAME_CONFLICT],
  [NO_MAIL, MAIL, 'type: Cannot add a new MX record for a domain that already advertises a null MX record.'],
  [MAIL, NO_MAIL, 'type: Cannot add a null MX record for a domain that has other MX records.'],
  [MAIL, { ...MAIL, priority: 20 }, null],
  [MAIL, { ...NO_MAIL, name: 'a' }, null],
])('beside %j, %j is refused with %s, also as an update', async (there, body, problem) => {
  const { name = '' } = body as { name?: string }
  for (const isUpdate of [false, true]) {
    const records = await freshRecords()
    await client.ok('POST', records, there)
    let request: Request = ['POST', records, body]
    if (isUpdate) {
      const { id } = await client.ok('POST', records, { ...body, name: 'other' })
      request = ['PUT', `${records}/${id}`, { name }]
    }
    if (problem === null) await client.ok(...request)
    else expect(await client.problems(...request)).toEqual([problem])
  }
})

test('an update cannot change the type, and null keeps a value unless it can be none', async () => {
  const records = await freshRecords()
  const { id } = await client.ok('POST', records, SRV)
  const path = `${records}/${id}`
  expect(await client.problems('PUT', path, { type: 'TXT' })).toEqual(['type: type cannot be changed'])
  expect(await client.problems('PUT', path, { service: null })).toEqual(['service: service is required'])
  expect(await client.ok('PUT', path, { name: null, target: null, port: null, protocol: null })).toMatchObject({ ...SRV, protocol: null })
})

test('update changes only the given fields', async () => {
  const records = await freshRecords()
  now = Date.parse('2026-03-01T10:00:00Z')
  const record = await client.ok('POST', records, { ...SRV, ttl_sec: 300 })
  now += 7000
  const changed = await client.ok('PUT', `${records}/${record.id}`, { port: 5061 })
  expect(changed).toEqual({ ...record, port: 5061, updated: '2026-03-01T10:00:07' })
  expect(await client.ok('GET', `${records}/${record.id}`)).toEqual(changed)
  expect((await client.ok('GET', records.replace('/records', ''))).updated).toBe('2026-03-01T10:00:07')
})

test('a record is not found in another domain, and can be deleted once', async () => {
  const [mine, other] = [await freshRecords(), await freshRecords()]
  const { id } = await client.ok('POST', mine, { type: 'A', target: '192.0.2.1' })
  for (const method of ['GET', 'PUT', 'DELETE']) expect((await client.call(method, `${other}/${id}`)).status).toBe(404)
  expect(await client.ok('DELETE', `${mine}/${id}`)).toEqual({})
  expect((await client.call('DELETE', `${mine}/${id}`)).status).toBe(404)
  expect((await client.ok('GET', mine)).results).toBe(0)
})
