import { describe, expect, test } from 'vitest'
import { MASTER, startForTest } from './harness.ts'

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

// Every rule is also in record-model.test.ts, with updates and conflicts of any records.
describe('create', () => {
  test.each<[string, object, object]>([
    ['A', { type: 'A', name: 'a', target: '192.0.2.1' }, { type: 'A', name: 'a', target: '192.0.2.1' }],
    ['A at the apex without a name', { type: 'A', target: '192.0.2.1' }, { name: '' }],
    ['A at the apex with an empty name', { type: 'A', name: '', target: '192.0.2.1' }, { name: '' }],
    ['A at the apex with the name of the domain', { type: 'A', name: 'example.com', target: '192.0.2.1' }, { name: '' }],
    ['the name with the domain', { type: 'A', name: 'full.example.com', target: '192.0.2.1' }, { name: 'full' }],
    ['the name with the domain and a dot', { type: 'A', name: 'Dot.EXAMPLE.com.', target: '192.0.2.1' }, { name: 'dot' }],
    ['a name that ends like the domain', { type: 'A', name: 'xexample.com', target: '192.0.2.1' }, { name: 'xexample.com' }],
    ['underscores', { type: 'TXT', name: '_acme-challenge.x', target: 'token' }, { name: '_acme-challenge.x', target: 'token' }],
    ['a wildcard', { type: 'A', name: '*.wild', target: '192.0.2.1' }, { name: '*.wild' }],
    ['the wildcard alone', { type: 'A', name: '*', target: '192.0.2.1' }, { name: '*' }],
    ['an internationalised name', { type: 'A', name: 'Bücher', target: '192.0.2.1' }, { name: 'xn--bcher-kva' }],
    ['a name of 100 characters', { type: 'A', name: `${'a'.repeat(49)}.${'b'.repeat(50)}`, target: '192.0.2.1' }, {}],
    ['AAAA', { type: 'AAAA', name: 'a', target: '2001:DB8::1' }, { target: '2001:DB8::1' }],
    [
      'an IPv4 address with type AAAA, as a form sends it',
      { type: 'AAAA', name: 'a', target: '192.0.2.1' },
      { type: 'A', target: '192.0.2.1' },
    ],
    ['the address of the requester', { type: 'A', name: 'me', target: '[remote_addr]' }, { target: '127.0.0.1' }],
    ['NS of a delegation', { type: 'NS', name: 'sub', target: 'ns1.example.net.' }, { target: 'ns1.example.net' }],
    ['NS at the apex', { type: 'NS', target: 'ns9.example.net' }, { name: '', target: 'ns9.example.net' }],
    ['MX', { type: 'MX', target: 'Mail.example.net', priority: 255 }, { target: 'Mail.example.net', priority: 255 }],
    ['MX without a priority', { type: 'MX', name: 'p', target: 'mail.example.net' }, { priority: 0 }],
    ['MX with a single label', { type: 'MX', name: 'l', target: 'mail' }, { target: 'mail.example.com' }],
    ['MX with a single label and a dot', { type: 'MX', name: 'd', target: 'mail.' }, { target: 'mail' }],
    ['null MX', { type: 'MX', name: 'null', target: '' }, { target: '', priority: 0 }],
    ['null MX by a dot', { type: 'MX', name: 'nulldot', target: '.' }, { target: '', priority: 0 }],
    ['CNAME', { type: 'CNAME', name: 'c', target: 'www.example.net.' }, { target: 'www.example.net' }],
    ['CNAME with a single label', { type: 'CNAME', name: 'c1', target: 'www' }, { target: 'www.example.com' }],
    ['CNAME to an internationalised name', { type: 'CNAME', name: 'c2', target: 'bücher.example' }, { target: 'xn--bcher-kva.example' }],
    ['PTR', { type: 'PTR', name: '1', target: 'host.example.net.' }, { target: 'host.example.net' }],
    ['TXT stored unchanged', { type: 'TXT', target: ' "v=spf1" \\; ä 😀 \n. ' }, { target: ' "v=spf1" \\; ä 😀 \n. ' }],
    ['TXT of 65535 characters', { type: 'TXT', name: 'long', target: LONG_TEXT }, { target: LONG_TEXT }],
    ['CAA issue', { type: 'CAA', tag: 'issue', target: 'ca.example.net' }, { tag: 'issue', target: 'ca.example.net' }],
    ['CAA that forbids all issuers', { type: 'CAA', tag: 'issuewild', target: ';' }, { tag: 'issuewild', target: ';' }],
    ['CAA iodef with a mail address', { type: 'CAA', tag: 'iodef', target: 'mailto:ca@example.com' }, { tag: 'iodef' }],
    ['CAA iodef with a URL', { type: 'CAA', tag: 'iodef', target: 'https://example.com/ca?x=1' }, { tag: 'iodef' }],
    ['CAA iodef with a name', { type: 'CAA', tag: 'iodef', target: 'report.example.com' }, { tag: 'iodef' }],
    ['SRV', SRV, { ...SRV, name: '_sip._tcp' }],
    ['SRV with underscores', { ...SRV, service: '_sips', protocol: '_tcp' }, { name: '_sips._tcp', service: 'sips', protocol: 'tcp' }],
    ['SRV with more underscores', { ...SRV, service: '__sip' }, { name: '_sip._tcp', service: 'sip', protocol: 'tcp' }],
    ['SRV with a dot after the service', { ...SRV, service: 'xmpp.' }, { name: '_xmpp._tcp', service: 'xmpp' }],
    ['SRV below the apex', { ...SRV, protocol: 'tcp.sub' }, { name: '_sip._tcp.sub', protocol: 'tcp.sub' }],
    ['SRV with an ignored name', { ...SRV, name: 'ignored' }, { name: '_sip._tcp' }],
    ['SRV with a single label', { ...SRV, target: 'host' }, { target: 'host.example.com' }],
    ['SRV to an address, which is kept', { ...SRV, target: '8.8.8.8' }, { target: '8.8.8.8' }],
    ['SRV without a protocol', { ...SRV, protocol: undefined }, { name: '_sip._tcp', service: 'sip', protocol: null }],
    ['SRV with null as the protocol', { ...SRV, protocol: null }, { name: '_sip._tcp', protocol: null }],
    ['SRV with an empty protocol', { ...SRV, protocol: '' }, { name: '_sip._tcp', protocol: null }],
    ['SRV to the root', { ...SRV, target: '.' }, { target: '' }],
    ['SRV to the root, as it is returned', { ...SRV, target: '' }, { target: '' }],
    ...['A', 'AAAA', 'CNAME', 'TXT'].flatMap((type): [string, object, object][] => {
      const target = { A: '192.0.2.1', AAAA: '2001:db8::1', CNAME: 'host.example.net', TXT: 'text' }[type]
      const body = { type, name: `${type.toLowerCase()}-numbers`, target }
      return [[`${type} with numbers, which are ignored`, { ...body, priority: 7, weight: 1, port: 80 }, { ...body, ...UNSET }]]
    }),
    [
      'null for optional and unknown fields',
      { type: 'A', target: '192.0.2.1', name: null, weight: null, ttl_sec: null, more: null },
      { ...UNSET, name: '' },
    ],
    ['SRV with zeros', { ...SRV, priority: 0, weight: 0, port: 0 }, { priority: 0, weight: 0, port: 0 }],
    ['fields of other types with their defaults', { type: 'A', name: 'z', target: '192.0.2.1', ...UNSET, service: '', tag: '' }, UNSET],
    ['read-only fields, which are ignored', { type: 'A', name: 'r', target: '192.0.2.1', id: 1, created: 2, updated: [] }, { name: 'r' }],
  ])('%s', async (_name, body, expected) => {
    const record = await client.ok('POST', RECORDS, body)
    expect(record).toMatchObject(expected)
    expect(Object.keys(record).sort()).toEqual([...Object.keys(UNSET), 'created', 'id', 'name', 'target', 'type', 'updated'].sort())
    expect(await client.ok('GET', `${RECORDS}/${record.id}`)).toEqual(record)
  })

  test('identical records are separate', async () => {
    const records = await freshRecords()
    const body = { type: 'A', name: 'twin', target: '192.0.2.1' }
    const [one, two] = [await client.ok('POST', records, body), await client.ok('POST', records, body)]
    expect(one.id).not.toBe(two.id)
    expect((await client.ok('GET', records)).results).toBe(2)
  })

  const LENGTH = ['name: Length must be 1-100 characters']
  const INVALID_CHARACTERS = ['name: Name contains invalid characters', 'name: Invalid hostname']
  const HOSTNAME = ['name: Invalid hostname']
  const ADDRESS = ['target: Invalid IPv4 or IPv6 address']
  const TARGET = ['target: target is not valid']
  const NO_TARGET = ['target: target is required']
  const CAA_TARGET = ['target: You have entered an invalid target']
  const a = { type: 'A', target: '192.0.2.1' }
  const caa = { type: 'CAA', tag: 'issue', target: 'ca.example.net' }

  test.each<[string, object, string[]]>([
    ['nothing', {}, ['type: type is required']],
    ['an unknown type', { type: 'DS', target: 'x' }, ['type: Invalid record type']],
    ['a type in lower case', { type: 'a', target: 'x' }, ['type: Invalid record type']],
    ['a type that is not text', { type: 1 }, ['type: Invalid record type']],
    ['an unknown field', { ...a, flags: 0 }, ['flags: Unknown field']],
    ['a name @', { ...a, name: '@' }, INVALID_CHARACTERS],
    ['a name with a space', { ...a, name: 'a b' }, INVALID_CHARACTERS],
    ['a name with a backslash', { ...a, name: 'a\\.b' }, INVALID_CHARACTERS],
    ['a name with an empty label', { ...a, name: 'a..b' }, HOSTNAME],
    ['a label of 64 characters', { ...a, name: 'a'.repeat(64) }, HOSTNAME],
    ['an asterisk inside', { ...a, name: 'a.*' }, HOSTNAME],
    ['an asterisk as a part of a label', { ...a, name: '*a' }, HOSTNAME],
    ['an absolute name of another zone', { ...a, name: 'a.example.net.' }, HOSTNAME],
    ['the root', { ...a, name: '.' }, HOSTNAME],
    ['a name of 101 characters', { ...a, name: `${'a'.repeat(50)}.${'b'.repeat(50)}` }, LENGTH],
    ['a name of 5000 characters', { ...a, name: 'a'.repeat(5000) }, LENGTH],
    ['a name that is not text', { ...a, name: 5 }, ['name: name is not valid']],
    ['A without a target', { type: 'A' }, NO_TARGET],
    ['A with an empty target', { type: 'A', target: '' }, NO_TARGET],
    ['A with text', { type: 'A', target: 'www' }, ADDRESS],
    ['A with a short form', { type: 'A', target: '192.0.2' }, ADDRESS],
    ['A with leading zeros', { type: 'A', target: '192.000.002.001' }, ADDRESS],
    ['A with a final dot', { type: 'A', target: '192.0.2.1.' }, ADDRESS],
    ['A with IPv6', { type: 'A', target: '2001:db8::1' }, ADDRESS],
    ['AAAA with leading zeros', { type: 'AAAA', target: '192.000.002.001' }, ADDRESS],
    ['AAAA with a zone', { type: 'AAAA', target: 'fe80::1%eth0' }, ADDRESS],
    ['AAAA of a requester by IPv4', { type: 'AAAA', target: '[remote_addr]' }, ADDRESS],
    ['NS without a target', { type: 'NS' }, NO_TARGET],
    ['NS at a wildcard', { type: 'NS', name: '*.sub', target: 'ns.example.net' }, ['name: NS records cannot have wildcard names']],
    ['MX without a target', { type: 'MX' }, NO_TARGET],
    ['MX with a priority and no target', { type: 'MX', priority: 10 }, NO_TARGET],
    ['null MX with a priority', { type: 'MX', name: 'n', target: '', priority: 10 }, ['priority: priority must be 0 for a null MX record']],
    ['MX with a weight', { type: 'MX', target: 'm.example.net', weight: 1 }, ['weight: Cannot specify weight for MX record']],
    ['MX with a port', { type: 'MX', target: 'm.example.net', port: 1 }, ['port: Cannot specify port for MX record']],
    ['NS with a weight', { type: 'NS', name: 'n', target: 'ns.example.net', weight: 1 }, ['weight: Cannot specify weight for NS record']],
    ['NS with a priority', { type: 'NS', name: 'n', target: 'a.b', priority: 1 }, ['priority: Cannot specify priority for NS record']],
    ['PTR with a port', { type: 'PTR', name: '1', target: 'a.b', port: 1 }, ['port: Cannot specify port for PTR record']],
    ['CAA with a weight', { ...caa, weight: 1 }, ['weight: Cannot specify weight for CAA record']],
    ['A with a service', { ...a, service: 'sip' }, ['service: Cannot specify service for A record']],
    ['A with a protocol', { ...a, protocol: 'tcp' }, ['protocol: Cannot specify protocol for A record']],
    ['A with a tag', { ...a, tag: 'issue' }, ['tag: Cannot specify tag for A record']],
    ['CNAME without a name', { type: 'CNAME', target: 'www.example.net' }, ['name: name is required']],
    [
      'CNAME at the apex',
      { type: 'CNAME', name: 'example.com', target: 'a.example.net' },
      ['name: CNAME records cannot be at the root of the domain'],
    ],
    ['CNAME to the root', { type: 'CNAME', name: 'cr', target: '.' }, TARGET],
    ['CNAME to @', { type: 'CNAME', name: 'cr', target: '@' }, TARGET],
    ['CNAME to a name with a space', { type: 'CNAME', name: 'cr', target: 'a b' }, TARGET],
    ['CNAME to an empty label', { type: 'CNAME', name: 'cr', target: 'a..example' }, TARGET],
    ['CNAME to a name that is too long', { type: 'CNAME', name: 'cr', target: 'a.'.repeat(128) }, TARGET],
    ['CNAME to a label that is too long', { type: 'CNAME', name: 'cr', target: `${'a'.repeat(64)}.example` }, TARGET],
    ['TXT without a target', { type: 'TXT' }, NO_TARGET],
    ['TXT with an empty target', { type: 'TXT', target: '' }, NO_TARGET],
    ['TXT of 65536 characters', { type: 'TXT', target: `${LONG_TEXT}x` }, ['target: Length must be 1-65535 characters']],
    ['TXT with NUL', { type: 'TXT', target: 'a\u0000' }, ['target: target is not valid']],
    ['TXT with half a surrogate pair', { type: 'TXT', target: '\udc00' }, ['target: target is not valid']],
    ['CAA without a tag', { type: 'CAA', target: 'ca.example.net' }, ['tag: tag is required']],
    ['CAA without a target', { type: 'CAA', tag: 'issue' }, NO_TARGET],
    ['CAA with an unknown tag', { ...caa, tag: 'contactemail' }, ['tag: tag is not valid']],
    ['CAA with parameters', { ...caa, target: 'ca.example.net; a=b' }, CAA_TARGET],
    ['CAA with a final dot', { ...caa, target: 'ca.example.net.' }, CAA_TARGET],
    ['CAA issuewild with an asterisk', { ...caa, tag: 'issuewild', target: '*.example.net' }, CAA_TARGET],
    ['CAA iodef with another scheme', { ...caa, tag: 'iodef', target: 'ftp://example.net' }, CAA_TARGET],
    ['CAA iodef with ;', { ...caa, tag: 'iodef', target: ';' }, CAA_TARGET],
    ['CAA with a quote', { ...caa, tag: 'iodef', target: 'https://example.net/"' }, CAA_TARGET],
    [
      'SRV without fields',
      { type: 'SRV' },
      [
        'priority: priority is required',
        'weight: weight is required',
        'port: port is required',
        'target: target is required',
        'service: service is required',
      ],
    ],
    ['SRV with an empty service', { ...SRV, service: '' }, ['service: service is required']],
    ['SRV with a service of two labels', { ...SRV, service: 'a.b' }, ['service: service is not valid']],
    ['SRV with a service that is too long', { ...SRV, service: 's'.repeat(63) }, ['service: service is not valid']],
    ['SRV with an unknown protocol', { ...SRV, protocol: 't cp' }, ['protocol: protocol is not valid']],
    ['SRV to two dots', { ...SRV, target: '..' }, TARGET],
    ['SRV with a name that is too long', { ...SRV, service: 's'.repeat(60), protocol: `tcp.${'a'.repeat(40)}` }, LENGTH],
    ['CAA with a name that is too long', { ...caa, target: `${'a.'.repeat(127)}example` }, CAA_TARGET],
    ['CAA with a control character', { ...caa, tag: 'iodef', target: 'https://example.net/\u0001' }, CAA_TARGET],
    ['CAA with a letter beyond ASCII', { ...caa, tag: 'iodef', target: 'https://example.net/ä' }, CAA_TARGET],
    ['CAA with a URL without a host', { ...caa, tag: 'iodef', target: 'https://?x' }, CAA_TARGET],
    ['CAA with an invalid mail address', { ...caa, tag: 'iodef', target: 'mailto:ca@example..net' }, CAA_TARGET],
    ['CAA without a tag, although the target implies it', { type: 'CAA', target: 'mailto:ca@example.net' }, ['tag: tag is required']],
    ['CAA with an empty tag and a target for no tag', { ...caa, tag: '', target: 'a b' }, ['tag: tag is required', ...CAA_TARGET]],
    ['a priority of 256', { ...SRV, priority: 256 }, ['priority: priority must be between 0 and 255']],
    ['a priority below 0', { ...SRV, priority: -1 }, ['priority: priority must be between 0 and 255']],
    ['a weight of 65536', { ...SRV, weight: 65536 }, ['weight: weight must be between 0 and 65535']],
    ['a port of 65536', { ...SRV, port: 65536 }, ['port: port must be between 0 and 65535']],
    ['a port as text', { ...SRV, port: '80' }, ['port: port is not valid']],
    ['a priority as null', { ...SRV, priority: null }, ['priority: priority is required']],
    ['a type as null', { ...a, type: null }, ['type: Invalid record type']],
    ['an unknown field of 0', { ...a, ttl: 0 }, ['ttl: Unknown field']],
    ['an unknown field without text', { ...a, ttl: '' }, ['ttl: Unknown field']],
    ['a TTL as text', { ...a, ttl_sec: '300' }, ['ttl_sec: ttl_sec is not valid']],
    ['a TTL below 0', { ...a, ttl_sec: -1 }, ['ttl_sec: ttl_sec is not valid']],
    ['a TTL that is not whole', { ...a, ttl_sec: 300.5 }, ['ttl_sec: ttl_sec is not valid']],
    ['a target that is a list', { type: 'A', target: ['192.0.2.1'] }, ['target: target is not valid']],
    [
      'several schema errors',
      { type: 'X', priority: 300, ttl_sec: '1', more: 1 },
      ['more: Unknown field', 'type: Invalid record type', 'priority: priority must be between 0 and 255', 'ttl_sec: ttl_sec is not valid'],
    ],
    [
      'schema errors and semantic errors',
      { type: 'A', name: '@', target: 'x', weight: 1, ttl_sec: '1', priority: 256, more: 1 },
      [
        'more: Unknown field',
        'priority: priority must be between 0 and 255',
        'ttl_sec: ttl_sec is not valid',
        ...INVALID_CHARACTERS,
        ...ADDRESS,
      ],
    ],
    [
      'schema errors, each reported once',
      { type: 'SRV', service: 5, protocol: '', priority: '1', weight: -1, target: 'a b' },
      [
        'priority: priority is not valid',
        'weight: weight must be between 0 and 65535',
        'service: service is not valid',
        'port: port is required',
        'target: target is not valid',
      ],
    ],
    ['several semantic errors', { type: 'A', name: '@', target: 'x', weight: 1 }, [...INVALID_CHARACTERS, ...ADDRESS]],
  ])('is refused with %s', async (_name, body, problems) => {
    expect(await client.problems('POST', RECORDS, body)).toEqual(problems)
  })

  test('a missing domain is 404', async () => {
    expect((await client.call('POST', '/domains/999999/records', { type: 'A', target: '192.0.2.1' })).status).toBe(404)
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

describe('update', () => {
  test('changes only the given fields', async () => {
    const records = await freshRecords()
    now = Date.parse('2026-03-01T10:00:00Z')
    const record = await client.ok('POST', records, { ...SRV, ttl_sec: 300 })
    now += 7000
    const changed = await client.ok('PUT', `${records}/${record.id}`, { port: 5061 })
    expect(changed).toEqual({ ...record, port: 5061, updated: '2026-03-01T10:00:07' })
    expect(await client.ok('GET', `${records}/${record.id}`)).toEqual(changed)
    expect((await client.ok('GET', records.replace('/records', ''))).updated).toBe('2026-03-01T10:00:07')
  })
})

test('a record is not found in another domain, and can be deleted once', async () => {
  const [mine, other] = [await freshRecords(), await freshRecords()]
  const { id } = await client.ok('POST', mine, { type: 'A', target: '192.0.2.1' })
  for (const method of ['GET', 'PUT', 'DELETE']) expect((await client.call(method, `${other}/${id}`)).status).toBe(404)
  expect(await client.ok('DELETE', `${mine}/${id}`)).toEqual({})
  expect((await client.call('DELETE', `${mine}/${id}`)).status).toBe(404)
  expect((await client.ok('GET', mine)).results).toBe(0)
})
