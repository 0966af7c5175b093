import { describe, expect, test } from 'vitest'
import { invalid, MASTER, type Refusals, refusalsOf, startForTest, withValues } from './harness.ts'

const NOW = '2026-03-01T10:00:00'
let now = Date.parse(`${NOW}Z`)
const { client } = await startForTest({ clock: () => now })
let number = 0
const freshName = (): string => {
  number += 1
  return `zone-${number}.example`
}
const NO_MASTER = 'master_ips: You need at least one master DNS server IP address for this zone.'
const create = (settings: object = {}) => client.ok('POST', '/domains', { ...MASTER, domain: freshName(), ...settings })

describe('create', () => {
  test('a master with only the required fields', async () => {
    const body = await client.ok('POST', '/domains', { ...MASTER, domain: 'plain.example' })
    const texts = { domain: 'plain.example', group: '', errors: '', description: '', soa_email: 'hostmaster@example.com' }
    const times = { retry_sec: 0, expire_sec: 0, refresh_sec: 0, ttl_sec: 0, created: NOW, updated: NOW }
    const lists = { tags: [], master_ips: [], axfr_ips: [] }
    expect(body).toEqual({ id: expect.any(Number), type: 'master', status: 'active', ...texts, ...times, ...lists })
    expect(await client.ok('GET', `/domains/${body.id}`)).toEqual(body)
  })

  test('every setting', async () => {
    const settings = {
      ...{ domain: 'full.example', type: 'master', status: 'disabled', description: 'd'.repeat(253), group: 'g'.repeat(50) },
      ...{ tags: ['abc', 'x'.repeat(50)], soa_email: "o'hara+dns@example.com", master_ips: ['192.0.2.53'] },
      ...{ axfr_ips: ['192.0.2.1', '2001:db8::1'], expire_sec: 604800, refresh_sec: 300, retry_sec: 3600, ttl_sec: 7200 },
    }
    expect(await client.ok('POST', '/domains', settings)).toMatchObject(settings)
  })

  test('a slave', async () => {
    const slave = { domain: 'slave.example', type: 'slave', master_ips: ['192.0.2.53', '2001:db8::53'] }
    expect(await client.ok('POST', '/domains', slave)).toMatchObject({ ...slave, soa_email: '', status: 'active' })
  })

  test.each([
    ['Upper.Example', 'upper.example'],
    ['dotted.example.', 'dotted.example'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['invalid', 'invalid'],
    ['_acme-challenge.host.example', '_acme-challenge.host.example'],
    ['2.0.192.in-addr.arpa', '2.0.192.in-addr.arpa'],
    ['example.xn--vermgensberatung-pwb', 'example.xn--vermgensberatung-pwb'],
    [`${'a'.repeat(63)}.example`, `${'a'.repeat(63)}.example`],
    [`${`${'a'.repeat(60)}.`.repeat(4)}example`, `${`${'a'.repeat(60)}.`.repeat(4)}example`],
  ])('%s is stored as %s', async (domain, stored) => {
    expect((await client.ok('POST', '/domains', { ...MASTER, domain })).domain).toBe(stored)
  })

  test('read-only fields are ignored, null lists become empty', async () => {
    const body = await create({ id: 'x', created: 5, errors: ['?'], tags: null, master_ips: null, axfr_ips: null })
    expect(body).toMatchObject({ tags: [], master_ips: [], axfr_ips: [], errors: '', created: '2026-03-01T10:00:00' })
    expect(body.id).toEqual(expect.any(Number))
  })

  const fine = { ...MASTER, domain: 'fine.example' }
  const given = (field: string, ...values: readonly unknown[]) => withValues(fine, field, ...values)
  const ADDRESS = 'axfr_ips: Invalid IPv4 or IPv6 address'
  const REFUSED: Refusals = [
    [['domain: domain is required', 'type: type is required'], {}],
    ['type: type is required', { domain: 'fine.example', soa_email: 'a@b.example' }],
    [invalid('type'), ...given('type', 'MASTER')],
    ['soa_email: soa_email required when type=master', ...given('soa_email', undefined, '')],
    [invalid('soa_email'), ...given('soa_email', 'nobody', '"a b"@example.com', 'a\n@example.com', `${'a'.repeat(64)}@example.com`)],
    [NO_MASTER, { domain: 'fine.example', type: 'slave' }],
    ['domain: Length must be 1-253 characters', ...given('domain', '', `${'a.'.repeat(124)}example`)],
    [invalid('domain'), ...given('domain', `${'a'.repeat(64)}.example`, 'a b.example', 'a..example', '-a.example', '*.example.com')],
    [invalid('domain'), ...given('domain', '192.0.2.1', '\\097.example')],
    [invalid('status'), ...given('status', 'edit_mode')],
    ['description: Length must be 1-253 characters', ...given('description', 'd'.repeat(254))],
    [invalid('description'), ...given('description', 'a\u0000b')],
    // Half a surrogate pair.
    [invalid('group'), ...given('group', '\ud800')],
    ['group: Length must be 1-50 characters', ...given('group', 'g'.repeat(51))],
    ['tags: Length must be 3-50 characters', ...given('tags', ['abc', 'ab'], ['a'.repeat(51)])],
    [invalid('tags'), ...given('tags', 'web', [5])],
    [ADDRESS, ...given('axfr_ips', ['192.0.2.1', '192.0.2'], ['192.0.2.0/24'])],
    ['axfr_ips: Length must be 0-1000 characters', ...given('axfr_ips', new Array(91).fill('203.0.113.1'))],
    ['master_ips: Length must be 0-1000 characters', ...given('master_ips', new Array(91).fill('203.0.113.1'))],
    [invalid('ttl_sec'), ...given('ttl_sec', '300')],
    [invalid('retry_sec'), ...given('retry_sec', 1.5)],
    [invalid('expire_sec'), ...given('expire_sec', -1)],
    [[invalid('domain'), invalid('soa_email'), ADDRESS, NO_MASTER], { type: 'slave', domain: 'a', soa_email: 'x', axfr_ips: ['x'] }],
    // Errors of the schema come first.
    [
      [invalid('group'), invalid('ttl_sec'), invalid('domain'), invalid('soa_email'), NO_MASTER],
      { type: 'slave', domain: '-', soa_email: 'x', group: 2, ttl_sec: -1 },
    ],
    [['type: type is required', ADDRESS], { domain: 'fine.example', axfr_ips: ['x'] }],
    [['domain: domain is required', invalid('type'), invalid('group')], { type: 1, group: 2 }],
  ]

  test.each(refusalsOf(REFUSED))('%s is refused', async (_title, body, problems) => {
    expect(await client.problems('POST', '/domains', body)).toEqual(problems)
  })

  test('a null field that is optional or unknown is the same as an absent one', async () => {
    expect(await create({ description: null, refresh_sec: null, later: null })).toMatchObject({ description: '', refresh_sec: 0 })
  })

  test('addresses of exactly 1000 characters are accepted', async () => {
    const axfr_ips = [...new Array(90).fill('203.0.113.1'), '203.0.113.9'].slice(0, 90).concat('192.0.2.10')
    expect(axfr_ips.join('').length).toBe(1000)
    expect((await create({ axfr_ips })).axfr_ips).toEqual(axfr_ips)
  })

  test('a name is in use in any letter case and spelling', async () => {
    await client.ok('POST', '/domains', { ...MASTER, domain: 'größe.example' })
    for (const domain of ['xn--gre-6ka8i.example', 'XN--GRE-6KA8I.EXAMPLE.', 'größe.example'])
      expect(await client.problems('POST', '/domains', { ...MASTER, domain })).toEqual(['domain: DNS zone already exists.'])
  })
})

describe('times', () => {
  // Given, and stored.
  const cases =
    '0:0 1:300 300:300 301:3600 3601:7200 86399:86400 86400:86400 1209601:2419200 2419200:2419200 2419201:2419200 2147483648:2419200'
  test.each(cases.split(' ').map((pair) => pair.split(':').map(Number) as [number, number]))(
    '%i is rounded up to %i',
    async (given, stored) => {
      const times = { expire_sec: given, refresh_sec: given, retry_sec: given, ttl_sec: given }
      const rounded = { expire_sec: stored, refresh_sec: stored, retry_sec: stored, ttl_sec: stored }
      expect(await create(times)).toMatchObject(rounded)
      const other = await create({ expire_sec: 300, refresh_sec: 300, retry_sec: 300, ttl_sec: 300 })
      expect(await client.ok('PUT', `/domains/${other.id}`, times)).toMatchObject(rounded)
    },
  )
})

test('tags ignore case and are returned sorted', async () => {
  const first = await create({ tags: ['zebra', 'Apple', 'apple', 'mango'] })
  expect(first.tags).toHaveLength(3)
  expect(first.tags.map((tag: string) => tag.toLowerCase())).toEqual(['apple', 'mango', 'zebra'])
  const second = await create({ tags: ['ZEBRA'] })
  expect(second.tags).toEqual(['zebra'])
  await client.ok('PUT', `/domains/${first.id}`, { tags: [] })
  await client.ok('PUT', `/domains/${second.id}`, { tags: ['other'] })
  expect((await create({ tags: ['ZEBRA'] })).tags).toEqual(['ZEBRA'])
})

describe('update', () => {
  test('changes only the given fields', async () => {
    now = Date.parse('2026-03-01T10:00:00Z')
    const domain = await create({ description: 'before', tags: ['one'], axfr_ips: ['192.0.2.1'], ttl_sec: 300 })
    now += 5000
    const changed = await client.ok('PUT', `/domains/${domain.id}`, { description: 'after' })
    expect(changed).toEqual({ ...domain, description: 'after', updated: '2026-03-01T10:00:05' })
    expect(await client.ok('GET', `/domains/${domain.id}`)).toEqual(changed)
  })

  test('null lists are kept, empty lists and texts clear', async () => {
    const domain = await create({ description: 'd', group: 'g', tags: ['one'], axfr_ips: ['192.0.2.1'], master_ips: ['192.0.2.2'] })
    const same = await client.ok('PUT', `/domains/${domain.id}`, { tags: null, axfr_ips: null, master_ips: null })
    expect(same).toMatchObject({ tags: ['one'], axfr_ips: ['192.0.2.1'], master_ips: ['192.0.2.2'] })
    const cleared = await client.ok('PUT', `/domains/${domain.id}`, { description: '', group: '', tags: [], axfr_ips: [], master_ips: [] })
    expect(cleared).toMatchObject({ description: '', group: '', tags: [], axfr_ips: [], master_ips: [] })
  })

  test('accepts the complete returned domain', async () => {
    const settings = { tags: ['Two', 'one'], soa_email: "o'x@bücher.example", ttl_sec: 301, status: 'disabled', axfr_ips: ['2001:DB8::1'] }
    const slave = { type: 'slave', domain: freshName(), master_ips: ['192.0.2.53'] }
    for (const domain of [await create(settings), await client.ok('POST', '/domains', slave)])
      expect(await client.ok('PUT', `/domains/${domain.id}`, domain)).toEqual(domain)
  })

  test('renames the domain, and the records keep their names', async () => {
    const domain = await create()
    await client.ok('POST', `/domains/${domain.id}/records`, { type: 'A', name: 'www', target: '192.0.2.1' })
    const name = freshName()
    expect((await client.ok('PUT', `/domains/${domain.id}`, { domain: name })).domain).toBe(name)
    expect((await client.ok('GET', `/domains/${domain.id}/records`)).data).toMatchObject([{ name: 'www' }])
    expect((await create({ domain: domain.domain })).domain).toBe(domain.domain)
  })

  const EMAIL = 'soa_email: soa_email required when type=master'
  const REFUSED: Refusals = [
    ['type: type cannot be changed', { type: 'slave' }],
    [EMAIL, { soa_email: '' }],
    [invalid('domain'), { domain: 'x' }],
    [[invalid('ttl_sec'), 'master_ips: Invalid IPv4 or IPv6 address', EMAIL], { ttl_sec: '300', soa_email: '', master_ips: ['x'] }],
  ]

  test.each(refusalsOf(REFUSED))('%s is refused', async (_title, body, problems) => {
    const domain = await create()
    expect(await client.problems('PUT', `/domains/${domain.id}`, body)).toEqual(problems)
    expect(await client.ok('GET', `/domains/${domain.id}`)).toEqual(domain)
  })

  test("is refused with another domain's name, and accepted with its own", async () => {
    const [one, two] = [await create(), await create()]
    expect(await client.problems('PUT', `/domains/${one.id}`, { domain: two.domain })).toEqual(['domain: DNS zone already exists.'])
    expect(await client.ok('PUT', `/domains/${one.id}`, { domain: one.domain.toUpperCase() })).toMatchObject({ domain: one.domain })
  })

  test('is refused if the name is too long for the records', async () => {
    const domain = await create()
    await client.ok('POST', `/domains/${domain.id}/records`, { type: 'TXT', name: `${'a'.repeat(60)}.b`, target: 'x' })
    const long = `${`${'c'.repeat(49)}.`.repeat(4)}example`
    expect(await client.problems('PUT', `/domains/${domain.id}`, { domain: long })).toEqual([
      'domain: domain is too long for the names of its records',
    ])
    expect(await client.problems('POST', `/domains/${domain.id}/clone`, { domain: long })).toEqual([
      'domain: domain is too long for the names of its records',
    ])
    expect((await client.ok('GET', '/domains', undefined, { 'x-filter': JSON.stringify({ domain: long }) })).results).toBe(0)
  })

  test('a slave keeps at least one master', async () => {
    const slave = await client.ok('POST', '/domains', { domain: freshName(), type: 'slave', master_ips: ['192.0.2.53'] })
    expect(await client.problems('PUT', `/domains/${slave.id}`, { type: 'slave', master_ips: [] })).toEqual([NO_MASTER])
    expect(await client.ok('PUT', `/domains/${slave.id}`, { type: 'slave', master_ips: ['192.0.2.54'] })).toMatchObject({
      master_ips: ['192.0.2.54'],
    })
  })
})

test('delete deletes the records, and IDs are never reused', async () => {
  const domain = await create()
  await client.ok('POST', `/domains/${domain.id}/records`, { type: 'A', target: '192.0.2.1' })
  expect(await client.ok('DELETE', `/domains/${domain.id}`)).toEqual({})
  for (const path of ['', '/records', '/zone-file']) expect((await client.call('GET', `/domains/${domain.id}${path}`)).status).toBe(404)
  expect((await client.call('DELETE', `/domains/${domain.id}`)).status).toBe(404)
  const again = await create({ domain: domain.domain })
  expect(again.id).toBeGreaterThan(domain.id)
  expect((await client.ok('GET', `/domains/${again.id}/records`)).results).toBe(0)
})

describe('clone', () => {
  test('copies settings and records with new ids', async () => {
    const settings = { status: 'disabled', description: 'd', group: 'g', tags: ['one', 'two'], axfr_ips: ['192.0.2.1'], ttl_sec: 300 }
    const source = await create(settings)
    const records = [
      { type: 'A', name: 'www', target: '192.0.2.1', ttl_sec: 300 },
      { type: 'SRV', service: 'sip', protocol: 'tcp', priority: 1, weight: 2, port: 3, target: 'sip.example.com' },
      { type: 'CAA', tag: 'issue', target: 'ca.example.net' },
    ]
    for (const record of records) await client.ok('POST', `/domains/${source.id}/records`, record)
    now += 60_000
    const clone = await client.ok('POST', `/domains/${source.id}/clone`, { domain: freshName() })
    const stamp = { created: clone.created, updated: clone.updated }
    expect(clone.created > source.created).toBe(true)
    expect(clone).toEqual({ ...source, id: clone.id, domain: clone.domain, status: 'active', ...stamp })
    expect(clone.id).not.toBe(source.id)
    const [original, copied] = await Promise.all([source.id, clone.id].map((id) => client.ok('GET', `/domains/${id}/records`)))
    expect(copied.results).toBe(3)
    const content = (page: typeof original) =>
      page.data.map(({ id: _, created: _c, updated: _u, ...rest }: { id: number; created: string; updated: string }) => rest)
    expect(content(copied)).toEqual(content(original))
    expect(copied.data.every(({ created }: { created: string }) => created === clone.created)).toBe(true)
  })

  const REFUSED: Refusals = [
    ['domain: domain is required', {}],
    [invalid('domain'), { domain: 'x' }],
    ['domain: DNS zone already exists.', { domain: 'plain.example' }],
  ]

  test.each(refusalsOf(REFUSED))('%s is refused', async (_title, body, problems) => {
    const source = await create()
    expect(await client.problems('POST', `/domains/${source.id}/clone`, body)).toEqual(problems)
  })
})
