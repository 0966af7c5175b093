import { describe, expect, test } from 'vitest'
import { readRegionResolvers } from '../../../src/service/index.ts'
import { connect, startForTest } from '../harness.ts'

const FILE = `us-east: { ipv4: [198.51.100.1, 198.51.100.2], ipv6: ['2001:db8::53'] }\n`
const { resolvers } = readRegionResolvers(FILE, 'resolvers.yaml')
if (resolvers === null) throw new Error('the file is not valid')
const { service, client } = await startForTest({ regionResolvers: resolvers })
const { client: nobody } = connect(service.baseUrl, '')
const filtered = (path: string, filter: object) => nobody.ok('GET', path, undefined, { 'x-filter': JSON.stringify(filter) })

describe('kernels', () => {
  test('more than 300 are listed on several pages, each once, without a token', async () => {
    const first = await nobody.ok('GET', '/compute/kernels')
    expect(first).toMatchObject({ page: 1, pages: 4 })
    expect(first.results).toBeGreaterThan(300)
    const pages = await Promise.all([1, 2, 3, 4].map((page) => nobody.ok('GET', `/compute/kernels?page=${page}`)))
    const ids = pages.flatMap(({ data }) => data.map(({ id }: { id: string }) => id))
    expect(new Set(ids).size).toBe(first.results)
    expect(ids).toEqual(expect.arrayContaining(['linode/latest-64bit', 'linode/latest-32bit', 'linode/grub2']))
    expect((await nobody.ok('GET', '/compute/kernels?page=5')).data).toEqual([])
  })

  test('the latest is an alias of a release', async () => {
    const [latest] = (await filtered('/compute/kernels', { label: { '+contains': 'latest 64 bit' } })).data
    const conditions = { version: latest.version, architecture: 'X86_64', kvm: true, pvops: 'true', deprecated: false }
    const { data } = await filtered('/compute/kernels', { ...conditions, '+order_by': 'label' })
    expect(data.map(({ id }: { id: string }) => id)).toEqual(['linode/5.15.26-x86_64', latest.id])
    expect(latest).toMatchObject({ built: data[0].built, deprecated: false, kvm: true, pvops: true })
    expect(latest.label).toBe(`Latest 64 bit (${data[0].label})`)
  })

  test('are read by id, whose slash may be encoded', async () => {
    const [kernel] = (await nobody.ok('GET', '/compute/kernels')).data
    for (const path of ['/compute/kernels/', '/linode/kernels/'])
      for (const id of [kernel.id, encodeURIComponent(kernel.id)]) expect(await nobody.ok('GET', path + id)).toEqual(kernel)
    expect((await nobody.call('GET', '/compute/kernels/linode/none')).status).toBe(404)
  })
})

describe('instance types', () => {
  test('are listed and read with prices, without a token', async () => {
    const { data, results } = await nobody.ok('GET', '/linode/types')
    expect(results).toBe(28)
    expect(data[1]).toEqual({
      ...{ id: 'g6-standard-1', label: 'Linode 2GB', class: 'standard', vcpus: 1, memory: 2048, disk: 51_200, transfer: 2000, gpus: 0 },
      ...{ network_out: 2000, price: { hourly: 0.018, monthly: 12 }, successor: null },
      addons: { backups: { price: { hourly: 0.004, monthly: 2.5 } } },
    })
    for (const type of data) expect(await nobody.ok('GET', `/compute/types/${type.id}`)).toEqual(type)
    expect((await nobody.call('GET', '/compute/types/g9-none')).status).toBe(404)
    const { data: large } = await filtered('/compute/types', { class: 'gpu', vcpus: { '+gt': 16 }, '+order_by': 'gpus', '+order': 'desc' })
    expect(large.map(({ id }: { id: string }) => id)).toEqual(['g1-gpu-rtx6000-4', 'g1-gpu-rtx6000-3'])
  })
})

test('an account can use all services of all regions', async () => {
  const { data } = await client.ok('GET', '/account/availability')
  const [{ id, capabilities }] = (await nobody.ok('GET', '/regions')).data
  expect(data[0]).toEqual({ region: id, available: capabilities, unavailable: [] })
  expect(await client.ok('GET', `/account/availability/${id}`)).toEqual(data[0])
  expect((await client.call('GET', '/account/availability/nowhere')).status).toBe(404)
  const account = await client.ok('GET', '/account')
  expect(account).toMatchObject({ email: 'admin@example.invalid', balance: 0, capabilities: expect.arrayContaining(capabilities) })
  expect(account.active_since).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/)
})

describe('regions', () => {
  test('are listed and read without a token', async () => {
    const { data, results } = await nobody.ok('GET', '/regions')
    expect(results).toBe(12)
    for (const region of data) expect(await nobody.ok('GET', `/regions/${region.id}`)).toEqual(region)
    const london = data.find(({ id }: { id: string }) => id === 'eu-west')
    expect(london).toMatchObject({ label: 'London, UK', country: 'uk', status: 'ok' })
    expect(london.capabilities).toContain('Linodes')
    expect(london.resolvers.ipv4.split(',')).toHaveLength(10)
    expect(london.resolvers.ipv6.split(',')).toHaveLength(10)
    expect((await nobody.call('GET', '/regions/nowhere')).status).toBe(404)
  })

  test('share no resolver', async () => {
    const { data } = await nobody.ok('GET', '/regions')
    const all = data.flatMap(({ resolvers: { ipv4, ipv6 } }: { resolvers: Record<string, string> }) => `${ipv4},${ipv6}`.split(','))
    expect(new Set(all).size).toBe(all.length)
  })

  test('show the resolvers of the installation', async () => {
    expect((await nobody.ok('GET', '/regions/us-east')).resolvers).toEqual({ ipv4: '198.51.100.1,198.51.100.2', ipv6: '2001:db8::53' })
  })

  test.each([
    ['no mapping', '- us-east', ['1:1 resolvers must be a mapping with regions as keys']],
    ['no region', 'us-north: {ipv4: []}', ['1:1 there is no region "us-north"']],
    ['no lists', 'us-east: 192.0.2.1', ['1:10 a region must be a mapping with the keys ipv4 and ipv6']],
    ['another key', 'us-east: {ip: []}', ['1:11 a region can only have the keys ipv4 and ipv6']],
    [
      'other families',
      'us-east:\n  ipv4: [192.0.2.1, 2001:db8::1]\n  ipv6: [1::2::3, fe80::1%eth0, [x]]',
      ['2:21 not an IPv4 address', '3:10 not an IPv6 address', '3:19 not an IPv6 address', '3:33 not an IPv6 address'],
    ],
    ['too many', `us-east: {ipv4: [${Array(33).fill('192.0.2.1').join()}]}`, ['1:17 ipv4 must be a list of at most 32 addresses']],
  ])('a file of resolvers with %s is refused', (_name, text, expected) => {
    const { resolvers: none, diagnostics } = readRegionResolvers(text, 'resolvers.yaml')
    expect(none).toBeNull()
    expect(
      diagnostics.map(({ code, message, at }) => (code === 'resolvers-invalid' ? `${at?.line}:${at?.column} ${message}` : code)),
    ).toEqual(expected)
  })
})
