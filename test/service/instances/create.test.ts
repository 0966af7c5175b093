import { describe, expect, test } from 'vitest'
import { EMPTY, IMAGE, startClocked, WITH_VLANS, WITHOUT_VLANS } from './fixture.ts'

const { client, pass, made } = await startClocked()
const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKdpcBdmDbKpNcXcRhbGWLVLv2ZqSvVTqKWmuGL5hIPV user@host'

describe('an instance', () => {
  test('from an image is provisioned, then runs; it has two disks and a configuration profile', async () => {
    const created = await client.ok('POST', '/compute/instances', { ...IMAGE, label: 'web-1', group: 'g', tags: ['web', 'App'] })
    expect(created).toEqual({
      id: created.id,
      label: 'web-1',
      group: 'g',
      tags: ['App', 'web'],
      region: 'us-east',
      type: 'g6-standard-1',
      image: 'public/debian11',
      ipv4: [expect.stringMatching(/^198\.51\.100\.\d+$/)],
      ipv6: expect.stringMatching(/^2001:db8:[0-9a-f:]+\/128$/),
      hypervisor: 'kvm',
      host_uuid: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      status: 'provisioning',
      created: '2026-01-31T09:00:00',
      updated: '2026-01-31T09:00:00',
      watchdog_enabled: true,
      alerts: { cpu: 90, io: 10_000, network_in: 10, network_out: 10, transfer_quota: 80 },
      backups: { available: false, enabled: false, last_successful: null, schedule: { day: null, window: null } },
      specs: { disk: 51_200, gpus: 0, memory: 2048, transfer: 2000, vcpus: 1 },
    })
    const { data } = await client.ok('GET', `/compute/instances/${created.id}/configs`)
    const [{ sda, sdb, ...others }] = [data[0].devices]
    expect(data).toHaveLength(1)
    expect(data[0]).toMatchObject({ label: 'My Debian 11 Disk Profile', kernel: 'linode/grub2', root_device: '/dev/sda', interfaces: [] })
    expect([sda, sdb]).toEqual([
      { disk_id: expect.any(Number), volume_id: null },
      { disk_id: expect.any(Number), volume_id: null },
    ])
    expect(Object.values(others)).toEqual([null, null, null, null, null, null])
    await pass(9)
    expect((await client.ok('GET', `/compute/instances/${created.id}`)).status).toBe('provisioning')
    await pass(1)
    const running = await client.ok('GET', `/compute/instances/${created.id}`)
    expect(running).toEqual({ ...created, status: 'running', updated: '2026-01-31T09:00:10' })
  })

  test('without an image is offline immediately, with a default label, and stays so', async () => {
    const created = await client.ok('POST', '/compute/instances', { ...EMPTY, booted: true })
    expect(created).toMatchObject({ label: `linode${created.id}`, status: 'offline', image: null, group: '', tags: [] })
    expect(await client.ok('GET', `/compute/instances/${created.id}`)).toEqual(created)
    expect((await client.ok('GET', `/compute/instances/${created.id}/configs`)).results).toBe(0)
    await pass(86_400)
    expect((await client.ok('GET', `/compute/instances/${created.id}`)).status).toBe('offline')
  })

  test('with booted false stays offline', async () => {
    const { path } = await made({ ...IMAGE, booted: false })
    expect((await client.ok('GET', path)).status).toBe('offline')
  })

  test('gets another default label if its own is taken', async () => {
    const { id } = await made(EMPTY)
    await client.ok('POST', '/compute/instances', { ...EMPTY, label: `linode${id + 2}` })
    expect((await client.ok('POST', '/compute/instances', EMPTY)).label).toBe(`linode${id + 2}-2`)
  })

  test('attached to a VLAN has its interfaces in its first configuration profile', async () => {
    const interfaces = [{ purpose: 'public' }, { purpose: 'vlan', label: 'back-end', ipam_address: '192.0.2.5/24' }]
    const stored = [
      { purpose: 'public', label: null, ipam_address: null },
      { purpose: 'vlan', label: 'back-end', ipam_address: '192.0.2.5/24' },
    ]
    const image = await made({ ...IMAGE, region: WITH_VLANS, interfaces })
    expect((await client.ok('GET', `${image.path}/configs`)).data[0].interfaces).toEqual(stored)
    const empty = await made({ ...EMPTY, region: WITH_VLANS, interfaces })
    expect((await client.ok('POST', `${empty.path}/configs`, { label: 'first', devices: {} })).interfaces).toEqual(stored)
    expect((await client.ok('POST', `${empty.path}/configs`, { label: 'second', devices: {} })).interfaces).toEqual([])
    const named = await made({ ...EMPTY, region: WITH_VLANS, interfaces })
    expect((await client.ok('POST', `${named.path}/configs`, { label: 'own', devices: {}, interfaces: [] })).interfaces).toEqual([])
  })

  test('with a private address has it after the public one', async () => {
    const { ipv4 } = await client.ok('POST', '/compute/instances', { ...EMPTY, private_ip: true })
    expect(ipv4).toEqual([expect.stringMatching(/^(198|203)\./), expect.stringMatching(/^192\.168\./)])
  })

  test.each([
    [0, ['Debian 11 Disk 51200']],
    [1024, ['Debian 11 Disk 50176', '1024 MB Swap Image 1024']],
    [undefined, ['Debian 11 Disk 50688', '512 MB Swap Image 512']],
  ])('with a swap size of %s has disks that fill it', async (swap_size, disks) => {
    const { path } = await made({ ...IMAGE, swap_size, backups_enabled: true })
    const snapshot = await client.ok('POST', `${path}/backups`, { label: 'x' })
    expect(snapshot.disks.map(({ label, size }: { label: string; size: number }) => `${label} ${size}`)).toEqual(disks)
  })

  test('accepts a request with every field', async () => {
    const everything = { authorized_keys: [KEY], authorized_users: [], script_data: {}, script_id: null, backup_id: null, interfaces: null }
    const { path } = await made({ ...IMAGE, ...everything, tags: null, group: '', booted: true, backups_enabled: false, private_ip: false })
    expect((await client.ok('GET', path)).status).toBe('running')
  })
})

const long = 'x'.repeat(65_536)
const labelProblem = (reason: string) => [`label: ${reason}`]
const ends = labelProblem('A label must begin and end with a letter or digit.')
const twice = labelProblem('A label cannot have two hyphens, underscores or dots in a row.')

test('script data that is nested too deep is refused', async () => {
  const body = `{"region": "us-east", "type": "g6-nanode-1", "script_data": {"a": ${'['.repeat(400_000)}${']'.repeat(400_000)}}}`
  expect(await client.problems('POST', '/compute/instances', body)).toEqual(['script_data: script_data is not valid'])
})

test.each<[string, object, string[]]>([
  ['an unknown region and type', { region: 'nowhere', type: 'g0' }, ['region: region is not valid', 'type: type is not valid']],
  ['label with space', { ...EMPTY, label: 'a b' }, labelProblem('Only letters, digits, hyphens, underscores and dots can be in a label.')],
  ['a label that begins with a dot', { ...EMPTY, label: '.web' }, ends],
  ['a label that ends with a hyphen', { ...EMPTY, label: 'web-' }, ends],
  ['two hyphens', { ...EMPTY, label: 'a--b' }, twice],
  ['two underscores', { ...EMPTY, label: 'a__b' }, twice],
  ['two dots', { ...EMPTY, label: 'a..b' }, twice],
  ['a label that is taken', { ...EMPTY, label: 'taken' }, labelProblem('Label must be unique among your linodes')],
  ['an image without a password', { ...IMAGE, root_pass: undefined }, ['root_pass: root_pass is required']],
  ['a common password', { ...IMAGE, root_pass: 'Password1' }, ['root_pass: Password does not meet strength requirement']],
  ['an invalid image', { ...IMAGE, image: 'public/none' }, ['image: image is not valid']],
  ['an invalid private image', { ...IMAGE, image: 'private/1' }, ['image: image is not valid']],
  ['an invalid key', { ...IMAGE, authorized_keys: [KEY, 'ssh-rsa x'] }, ['authorized_keys: authorized_keys is not valid']],
  ['an invalid user', { ...IMAGE, authorized_users: ['nobody'] }, ['authorized_users: authorized_users is not valid']],
  ['keyless user', { ...IMAGE, authorized_users: ['admin'] }, ['authorized_users: Every user of authorized_users must have SSH keys.']],
  ['a script without an image', { ...EMPTY, script_id: 1, root_pass: 'correct horse' }, ['image: image is required']],
  ['a script without a password', { ...EMPTY, script_id: 1 }, ['root_pass: root_pass is required', 'image: image is required']],
  ['an invalid script', { ...IMAGE, script_id: 999 }, ['script_id: script_id is not valid']],
  ['much script data', { ...EMPTY, script_data: { a: long } }, ['script_data: Length must be 0-65535 characters']],
  ['an invalid backup', { ...EMPTY, backup_id: 999 }, ['backup_id: backup_id is not valid']],
  ['a backup and an image', { ...IMAGE, backup_id: 1 }, ['image: image cannot be used together with backup_id']],
  [
    'a backup and a script',
    { ...EMPTY, root_pass: 'correct horse', backup_id: 1, script_id: 1 },
    ['script_id: script_id cannot be used together with backup_id'],
  ],
  ['much swap', { ...IMAGE, swap_size: 50_000 }, ['swap_size: swap_size must be between 0 and 49900']],
  ['four interfaces', { ...EMPTY, interfaces: Array(4).fill({ purpose: 'public' }) }, ['interfaces: At most 3 interfaces can be given.']],
  ['no VLAN name', { ...EMPTY, region: WITH_VLANS, interfaces: [{ purpose: 'vlan' }] }, ['interfaces.label: interfaces.label is required']],
  [
    'a VLAN with invalid values',
    { ...EMPTY, region: WITH_VLANS, interfaces: [{ purpose: 'vlan', label: 'a--b', ipam_address: '192.0.2.1' }] },
    [
      'interfaces.label: The name of a VLAN must have 1 to 64 letters, digits and single hyphens.',
      'interfaces.ipam_address: interfaces.ipam_address is not valid',
    ],
  ],
  [
    'a public interface with values',
    { ...EMPTY, interfaces: [{ purpose: 'public', label: 'x', ipam_address: '192.0.2.1/24' }] },
    [
      'interfaces.label: A public interface cannot have a label.',
      'interfaces.ipam_address: A public interface cannot have an ipam_address.',
    ],
  ],
  [
    'a VLAN in a region without VLANs',
    { ...EMPTY, region: WITHOUT_VLANS, interfaces: [{ purpose: 'vlan', label: 'a' }] },
    ["interfaces: This Linode's region does not support VLANs at this time."],
  ],
  ['schema errors and semantic errors', { ...IMAGE, label: 'a--b', swap_size: 'x' }, ['swap_size: swap_size is not valid', ...twice]],
])('%s is refused, and creates nothing', async (_name, body, problems) => {
  const { status } = await client.call('POST', '/compute/instances', { ...EMPTY, label: 'taken' })
  expect([200, 400]).toContain(status)
  const before = await client.ok('GET', '/compute/instances')
  expect(await client.problems('POST', '/compute/instances', body)).toEqual(problems)
  expect((await client.ok('GET', '/compute/instances')).results).toBe(before.results)
})

test('an image needs enough disk space', async () => {
  const body = { ...IMAGE, type: 'g6-nanode-1', swap_size: 0, image: 'public/gentoo' }
  expect((await client.call('POST', '/compute/instances', body)).status).toBe(200)
  expect(await client.problems('POST', '/compute/instances', { ...body, swap_size: 25_600 })).toEqual([
    'swap_size: swap_size must be between 0 and 19300',
  ])
})

test('the list can be filtered by the fields of the API', async () => {
  const { id } = await made({ ...IMAGE, label: 'Filter-Me', group: 'filtered', tags: ['Found'] })
  const { ipv4 } = await client.ok('GET', `/compute/instances/${id}`)
  const found = async (filter: object) =>
    (await client.ok('GET', '/compute/instances', undefined, { 'x-filter': JSON.stringify(filter) })).data.map((e: { id: number }) => e.id)
  for (const filter of [
    { id },
    { label: 'filter-me' },
    { group: 'filtered' },
    { tags: 'found' },
    { ipv4: ipv4[0] },
    { '+and': [{ region: 'us-east' }, { image: 'public/debian11' }, { label: { '+contains': 'ilter' } }] },
    { id: { '+gte': id } },
  ])
    expect([filter, await found(filter)]).toEqual([filter, [id]])
  expect(await found({ image: null, '+order_by': 'id', '+order': 'desc' })).not.toContain(id)
  expect(await client.ok('GET', '/compute/instances?page_size=25&page=2')).toMatchObject({ page: 2, results: expect.any(Number) })
})
