/** Volumes and load balancers, which a seed creates and which appear in lists of tagged objects. */
import { describe, expect, test } from 'vitest'
import { readSeed } from '../../../src/service/index.ts'
import { deleteGrants, visibleTo } from '../../../src/service/store/grant-store.ts'
import { applySeed, type Client, connect, freshStore, invalid, openStore, seedFrom, startForTest } from '../harness.ts'

const BULK = Array.from({ length: 30 }, (_, index) => `bulk-${index}`)
const SEED = `
accounts:
  - users:
      - { username: alice, email: alice@example.com, tokens: [{ token: alice }] }
      - username: bob
        email: bob@example.com
        restricted: true
        tokens: [{ token: bob }]
        grants:
          instance: [{ label: web-1, permissions: read_only }]
          volume: [{ label: data, permissions: read_only }]
          loadbalancer: [{ label: front.web, permissions: read_write }]
    domains:
      - { domain: one.example, type: master, soa_email: hostmaster@one.example, tags: [web] }
    instances:
      - id: 1001
        label: web-1
        region: us-east
        type: g6-standard-1
        image: public/debian11
        group: front
        tags: [web]
        ipv4: [192.0.2.201, 192.0.2.202]
        private_ipv4: [192.168.200.1]
        ipv6: 2001:db8:1::1
        host_uuid: 0c9f5b1e-6f2c-4d3a-9a53-2f6a4b9a7f10
        created: 2026-01-31T09:00:00
      - { label: idle, region: eu-west, backups_enabled: true, watchdog_enabled: false }
    volumes:
      - { id: 4001, instance: web-1, label: data, region: us-east, size: 40, hardware_type: nvme, tags: [Web, dbs], created: 2026-01-31T09:00:00 }
      - { label: spare, region: eu-west, status: creating, tags: [web] }
    load_balancers:
      - id: 77
        label: front.web
        region: us-east
        ipv4: 192.0.2.7
        ipv6: 2001:db8::7
        client_conn_throttle: 20
        transfer: { in: 1.5, out: 2, total: 3.5 }
        tags: [web]
        created: 2026-01-31T10:00:00+01:00
  - users: [{ username: carol, email: carol@example.com, tokens: [{ token: carol }] }]
    volumes: [{ label: data, region: us-east, tags: [web] }]
  - users: [{ username: dave, email: dave@example.com, tokens: [{ token: dave }] }]
    domains: [${BULK.map((label) => `{ domain: ${label}.example, type: master, soa_email: a@example.com, tags: [many] }`).join()}]
    volumes: [${BULK.map((label) => `{ label: ${label}, region: us-east, tags: [many] }`).join()}]
`

const store = await freshStore()
const { service } = await startForTest({ ...store, seed: seedFrom(SEED) })
const [alice, bob, carol] = ['alice', 'bob', 'carol'].map((token) => connect(service.baseUrl, token).client) as [Client, Client, Client]
const CREATED = { created: '2026-01-31T09:00:00', updated: '2026-01-31T09:00:00' }
const VOLUME = {
  ...{ id: 4001, label: 'data', filesystem_path: '/dev/disk/by-id/scsi-0Linode_Volume_data', hardware_type: 'nvme' },
  ...{ instance_id: 1001, instance_label: 'web-1', linode_id: 1001, linode_label: 'web-1' },
  ...{ region: 'us-east', size: 40, status: 'active', tags: ['dbs', 'web'], ...CREATED },
}
const SPARE = {
  ...{ instance_id: null, instance_label: null, id: 4002, label: 'spare', status: 'creating', size: 20, hardware_type: 'hdd' },
  tags: ['web'],
}
const INSTANCE = {
  ...{ id: 1001, label: 'web-1', group: 'front', tags: ['web'], region: 'us-east', type: 'g6-standard-1', image: 'public/debian11' },
  ...{ ipv4: ['192.0.2.201', '192.0.2.202', '192.168.200.1'], ipv6: '2001:db8:1::1/128', hypervisor: 'kvm' },
  ...{ host_uuid: '0c9f5b1e-6f2c-4d3a-9a53-2f6a4b9a7f10', status: 'running', watchdog_enabled: true, ...CREATED },
  specs: { disk: 51_200, gpus: 0, memory: 2048, transfer: 2000, vcpus: 1 },
}
const BALANCER = {
  ...{ id: 77, label: 'front.web', hostname: '192.0.2.7.ip.loadbalancers.invalid', ipv4: '192.0.2.7', ipv6: '2001:db8::7' },
  ...{ region: 'us-east', client_conn_throttle: 20, transfer: { in: 1.5, out: 2, total: 3.5 }, tags: ['web'] },
  created: CREATED.created,
}

describe('a list of tagged objects', () => {
  test('contains objects of every kind with all their fields, grouped by kind', async () => {
    const { data, ...page } = await alice.ok('GET', '/tags/WEB')
    expect(page).toEqual({ page: 1, pages: 1, results: 5 })
    const [domain] = (await alice.ok('GET', '/domains')).data
    expect(data).toEqual([
      { type: 'linode', data: expect.objectContaining(INSTANCE) },
      { type: 'domain', data: domain },
      { type: 'volume', data: VOLUME },
      { type: 'volume', data: { ...data[3].data, ...SPARE } },
      { type: 'nodebalancer', data: BALANCER },
    ])
  })

  test('is paginated, with every object once', async () => {
    const { client: dave } = connect(service.baseUrl, 'dave')
    const pages = []
    for (const page of [1, 2, 3, 4]) pages.push(await dave.ok('GET', `/tags/many?page=${page}&page_size=25`))
    expect(pages.map(({ data, pages, results }) => [data.length, pages, results])).toEqual([
      [25, 3, 60],
      [25, 3, 60],
      [10, 3, 60],
      [0, 3, 60],
    ])
    const seen = pages.flatMap(({ data }) => data.map(({ type, data }: { type: string; data: { id: number } }) => `${type} ${data.id}`))
    expect(new Set(seen).size).toBe(60)
    expect(seen.map((name) => name.split(' ')[0])).toEqual([...Array(30).fill('domain'), ...Array(30).fill('volume')])
  })

  test('shows a restricted user only granted objects', async () => {
    expect((await bob.ok('GET', '/tags/web')).data).toEqual([
      { type: 'linode', data: expect.objectContaining(INSTANCE) },
      { type: 'volume', data: VOLUME },
      { type: 'nodebalancer', data: BALANCER },
    ])
    expect((await bob.ok('GET', '/tags')).data).toEqual([{ label: 'dbs' }, { label: 'web' }])
    expect(await bob.ok('GET', '/profile/grants')).toMatchObject({
      domain: [],
      instance: [{ id: 1001, label: 'web-1', permissions: 'read_only' }],
      volume: [{ id: 4001, label: 'data', permissions: 'read_only' }],
      loadbalancer: [{ id: 77, label: 'front.web', permissions: 'read_write' }],
    })
    expect((await bob.call('POST', '/tags', { label: 'mine', loadbalancers: [77] })).status).toBe(403)
  })

  test("does not show another account's objects", async () => {
    expect((await carol.ok('GET', '/tags/web')).data).toMatchObject([{ type: 'volume', data: { label: 'data', id: 4003 } }])
    for (const body of [{ instances: [1001] }, { volumes: [4001] }, { loadbalancers: [77] }, { nodebalancers: [77] }]) {
      const [field] = Object.keys(body)
      expect(await carol.problems('POST', '/tags', { label: 'stolen', ...body })).toEqual([`${field}: ${field} is not valid`])
    }
    expect((await carol.ok('GET', '/tags')).data).toEqual([{ label: 'web' }])
  })
})

test('a new tag is added to objects of all kinds, or to none of them', async () => {
  const [{ id }] = (await alice.ok('GET', '/domains')).data
  const before = await alice.ok('GET', '/tags/web')
  const missing = { label: 'all', domains: [id], instances: [1001, 7], volumes: [4001, 9], loadbalancers: [77, 78] }
  expect(await alice.problems('POST', '/tags', missing)).toEqual(['instances', 'volumes', 'loadbalancers'].map(invalid))
  expect(await alice.ok('GET', '/tags/web')).toEqual(before)
  expect((await alice.call('GET', '/tags/all')).status).toBe(404)

  const all = { label: 'all', domains: [id], linodes: [1001], volumes: [4001], loadbalancers: [77], nodebalancers: [77] }
  expect(await alice.ok('POST', '/tags', all)).toEqual({ label: 'all' })
  const { data } = await alice.ok('GET', '/tags/all')
  expect(data.map(({ type, data }: { type: string; data: { id: number } }) => [type, data.id])).toEqual([
    ['linode', 1001],
    ['domain', id],
    ['volume', 4001],
    ['nodebalancer', 77],
  ])
  expect(data[0].data.tags).toEqual(['all', 'web'])
  expect(data[0].data.updated > INSTANCE.updated).toBe(true)
  expect(data[2].data.tags).toEqual(['all', 'dbs', 'web'])
  expect(data[2].data.updated > VOLUME.updated).toBe(true)
  expect(await alice.ok('DELETE', '/tags/ALL')).toEqual({})
  expect((await alice.ok('GET', '/tags/dbs')).data[0].data.tags).toEqual(['dbs', 'web'])
  expect((await alice.call('GET', '/tags/all')).status).toBe(404)
})

test('deleting an instance deletes its tags and grants, and keeps its volumes', async () => {
  const { data } = await alice.ok('GET', '/compute/instances')
  const idle: { id: number } = data.find(({ label }: { label: string }) => label === 'idle')
  await alice.ok('PUT', `/compute/instances/${idle.id}`, { tags: ['lonely', 'web'] })
  await alice.ok('DELETE', `/compute/instances/${idle.id}`)
  expect((await alice.call('GET', '/tags/lonely')).status).toBe(404)
  expect((await alice.ok('GET', '/tags')).data).not.toContainEqual({ label: 'lonely' })

  await alice.ok('DELETE', '/compute/instances/1001')
  const left = await alice.ok('GET', '/tags/web')
  expect(left.data.map(({ type }: { type: string }) => type)).toEqual(['domain', 'volume', 'volume', 'nodebalancer'])
  expect(left.data[1].data).toMatchObject({ id: 4001, instance_id: null, instance_label: null })
  expect((await bob.ok('GET', '/profile/grants')).instance).toEqual([])
})

describe('an instance, a volume or a load balancer of a seed', () => {
  const account = (rest: object): string => JSON.stringify({ accounts: [{ users: [{ username: 'u', email: 'u@example.com' }], ...rest }] })
  const instance = (rest: object): string => account({ instances: [{ label: 'web-1', region: 'us-east', ...rest }] })
  const volume = (rest: object): string => account({ volumes: [{ label: 'data', region: 'us-east', ...rest }] })
  const balancer = (rest: object): string => account({ load_balancers: [{ label: 'web', region: 'us-east', ipv4: '192.0.2.1', ...rest }] })
  const problemsOf = (text: string): string[] =>
    readSeed(text, 'seed.yaml').diagnostics.map(({ message }) => message.replace('accounts.', ''))

  test('is refused with the errors of the schema', () => {
    const volumes = [{ label: 'v'.repeat(33) }, { label: 'a--b' }, { status: 'lost' }, { tags: ['ab'] }, { linode_id: 1 }]
    expect(problemsOf(account({ volumes: volumes.map((more) => ({ label: 'data', region: 'us-east', ...more })) }))).toEqual([
      ...['Length must be 1-32 characters', 'is not valid', 'is not valid'].map((why, i) => `volumes.label${i === 0 ? ':' : ''} ${why}`),
      ...['volumes.status is not valid', 'volumes.tags: Length must be 3-50 characters', 'volumes.linode_id: Unknown field'],
    ])
    expect(problemsOf(volume({ label: undefined }))).toEqual(['volumes.label is required'])
    expect(problemsOf(balancer({ label: 'lb', client_conn_throttle: 21 }))).toEqual(
      expect.arrayContaining([
        'load_balancers.label: Length must be 3-32 characters',
        'load_balancers.client_conn_throttle must be between 0 and 20',
      ]),
    )
  })

  test.each([
    [volume({ region: 'moon' }), 'volumes.region: there is no region "moon"'],
    [volume({ created: 'today' }), 'volumes.created: not a time such as 2030-01-31T09:00:00'],
    [balancer({ ipv4: '192.0.2' }), 'load_balancers.ipv4: "192.0.2" is not an IPv4 address'],
    [balancer({ ipv6: 'fe80::1%eth0' }), 'load_balancers.ipv6: "fe80::1%eth0" is not an IPv6 address'],
    [instance({ label: 'a--b' }), 'instances.label: A label cannot have two hyphens, underscores or dots in a row.'],
    [instance({ type: 'big' }), 'instances.type: there is no instance type "big"'],
    [instance({ image: 'public/none' }), 'instances.image: there is no public image "public/none"'],
    [instance({ ipv4: ['198.51.100.1'] }), 'instances.ipv4: this address belongs to the region ap-west'],
    [instance({ private_ipv4: ['192.168'] }), 'instances.private_ipv4: "192.168" is not an IPv4 address'],
  ])('of %s is refused: %s', (text, problem) => expect(problemsOf(text)).toEqual([problem]))

  test('is refused with values in use', () => {
    const volumes = [1, 2].map(() => ({ id: 1, label: 'data', region: 'us-east' }))
    const problems = ['volumes.label: this label is already in the file', 'volumes.id: this id is already in the file']
    expect(problemsOf(account({ volumes })).sort()).toEqual(problems.sort())
  })

  test.each<[object, string]>([
    [{ volumes: [{ id: 4001, label: 'another', region: 'us-east' }] }, 'cannot have the id 4001'],
    [{ load_balancers: [{ id: 77, label: 'another', region: 'us-east', ipv4: '192.0.2.9' }] }, 'cannot have the id 77'],
    [{ volumes: [{ label: 'another', region: 'us-east', instance: 'no-such' }] }, 'the account has no such instance'],
  ])('%j conflicts with those of the database: %s', async (rest, message) => {
    await service.stop()
    const database = await openStore(store)
    await expect(applySeed(database, account(rest))).rejects.toThrow(message)
    await database.close()
  })

  test('is not changed by the next start, and its grants are deleted with it', async () => {
    const { service: again } = await startForTest({ ...store, seed: seedFrom(SEED.replace('size: 40', 'size: 50')) })
    const { client } = connect(again.baseUrl, 'alice')
    expect((await client.ok('GET', '/tags/web')).data).toHaveLength(5)
    expect((await client.ok('GET', '/tags/dbs')).data[0].data.size).toBe(40)
    await again.stop()

    const database = await openStore(store)
    await database.write(async (connection) => {
      await deleteGrants(connection, 'volume', 4001)
      await deleteGrants(connection, 'loadbalancer', 77)
    })
    const seen = await database.read(async (connection) => {
      const { id: userId, account_id: accountId } = await connection
        .selectFrom('users')
        .select(['id', 'account_id'])
        .where('username', '=', 'bob')
        .executeTakeFirstOrThrow()
      const viewer = { accountId, userId, restricted: true }
      const volumes = (restricted: boolean) =>
        connection
          .selectFrom('volumes')
          .select('id')
          .where(visibleTo({ ...viewer, restricted }, 'volume'))
          .orderBy('id')
      const balancers = connection.selectFrom('load_balancers').select('id').where(visibleTo(viewer, 'loadbalancer'))
      return [await volumes(true).execute(), await balancers.execute(), await volumes(false).execute()]
    })
    await database.close()
    expect(seen).toEqual([[], [], [{ id: 4001 }, { id: 4002 }]])
  })
})
