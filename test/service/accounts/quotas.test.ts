/** The quotas of an account, with concurrent requests and, on PostgreSQL, several processes. */
import { describe, expect, test } from 'vitest'
import { ROUTES } from '../../../src/service/api/routes.ts'
import type { Seed, ServiceOptions } from '../../../src/service/index.ts'
import { parseQuotas, QUOTA_NAMES, type QuotaName, quotaReason, UNLIMITED_QUOTAS } from '../../../src/service/quotas.ts'
import { countOwned } from '../../../src/service/store/account-store.ts'
import { openBesideService } from '../../../src/service/store/sqlite/open-sqlite.ts'
import { GOOD_BODIES } from '../good-bodies.ts'
import type { Client, Store } from '../harness.ts'
import { connect, filledStores, freshStore, inParallel, MASTER, ON_POSTGRES, openStore, seedFrom, startForTest } from '../harness.ts'
import { IMAGE, START } from '../instances/fixture.ts'
import { SSH_KEYS } from '../profile/ssh-key-samples.ts'
import { record, type Script, scriptedMaster, serving, soa } from '../transfers/scripted-master.ts'
import { SHARED } from './owned-objects.ts'
import { seedOfPeople, tokenOf } from './people.ts'

const HOLDINGS = QUOTA_NAMES.filter((name) => name !== 'image_octets')
let now = START
const clock = (): number => now
const MAKING = ROUTES.filter(({ method }) => method === 'POST' || method === 'PUT')
const SAVED = 'saved.example'
const NOTHING = { ...UNLIMITED_QUOTAS, ...Object.fromEntries(QUOTA_NAMES.map((name) => [name, 0])) }

/** The ids of the first account's objects for the operations. */
type Things = Readonly<
  Record<'instance' | 'saved' | 'disk' | 'backup' | 'domain' | 'record' | 'script' | 'token' | 'sshKey', number> & { image: string }
>

let things = {} as Things

/** Stores with accounts that have some objects of every kind. */
const filledStore = filledStores(async () => {
  const store = await freshStore()
  const { service } = await startForTest({
    ...store,
    clock,
    seed: seedOfPeople([SHARED], { instances: [SHARED, SAVED], images: [SHARED], scripts: [SHARED] }),
  })
  const { client: owner, close } = connect(service.baseUrl, tokenOf('owner'))
  const number = async (path: string, filter: object): Promise<number> =>
    (await owner.ok('GET', path, undefined, { 'x-filter': JSON.stringify(filter) })).data[0].id
  const instance = await number('/compute/instances', { label: SHARED })
  const [config] = (await owner.ok('GET', `/compute/instances/${instance}/configs`)).data
  const saved = await number('/compute/instances', { label: SAVED })
  const backup = await owner.ok('POST', `/compute/instances/${saved}/backups`, { label: 'snapshot' })
  const sshKey = await owner.ok('POST', '/profile/sshkeys', { label: 'first', ssh_key: SSH_KEYS['ssh-ed25519'] })
  const token = await owner.ok('POST', '/profile/tokens', { label: 'first' })
  const domain = await number('/domains', { domain: SHARED })
  const record = await owner.ok('POST', `/domains/${domain}/records`, { type: 'TXT', target: 'x' })
  const [script] = (await owner.ok('GET', '/compute/scripts')).data
  const [image] = (await owner.ok('GET', '/images', undefined, { 'x-filter': JSON.stringify({ label: SHARED }) })).data
  now += 120_000
  await service.catchUp()
  await close()
  await service.stop()

  const made = { backup: backup.id, record: record.id, script: script.id, image: image.id, token: token.id, sshKey: sshKey.id }
  things = { instance, saved, domain, disk: config.devices.sda.disk_id, ...made }
  return store
})

/** The number of objects of each kind in the first account; a service may be running on the store. */
async function holdingsOf(store: Store): Promise<Readonly<Record<string, number>>> {
  const database = store.database ? await openStore(store) : await openBesideService(store.dataFolder as string)
  try {
    return await database.read(async (connection) => {
      const counts: [string, number][] = []
      for (const name of HOLDINGS) counts.push([name, await countOwned(connection, await firstAccount(connection), name)])
      return Object.fromEntries(counts)
    })
  } finally {
    await database.close()
  }
}

const firstAccount = async (connection: Parameters<typeof countOwned>[0]): Promise<number> =>
  (await connection.selectFrom('users').select('account_id').where('username', '=', 'owner').executeTakeFirstOrThrow()).account_id

/** Creates an object of each kind; the argument numbers the request. */
type Make = (number: number, things: Things) => readonly [method: string, path: string, body: object]

const OPERATIONS: readonly (readonly [name: string, quota: QuotaName, make: Make])[] = [
  ['create a domain', 'domains', (n) => ['POST', '/domains', { ...MASTER, domain: `new-${n}.example` }]],
  ['create a slave', 'domains', (n) => ['POST', '/domains', { type: 'slave', domain: `new-${n}.example`, master_ips: ['192.0.2.1'] }]],
  ['import a domain', 'domains', (n) => ['POST', '/domains/import', { domain: `new-${n}.example`, remote_nameserver: '127.0.0.1' }]],
  ['clone a domain', 'domains', (n, { domain }) => ['POST', `/domains/${domain}/clone`, { domain: `new-${n}.example` }]],
  ['create an instance', 'instances', (n) => ['POST', '/compute/instances', { ...IMAGE, label: `new-${n}` }]],
  [
    'create an instance from a backup',
    'instances',
    (n, { backup }) => ['POST', '/compute/instances', { region: 'us-east', type: 'g6-standard-1', label: `new-${n}`, backup_id: backup }],
  ],
  [
    'clone an instance',
    'instances',
    (n, { instance }) => ['POST', `/compute/instances/${instance}/clone`, { label: `new-${n}`, region: 'us-east', type: 'g6-standard-1' }],
  ],
  ['start an upload', 'images', (n) => ['POST', '/images/upload', { label: `new-${n}`, region: 'us-east' }]],
  ['create an image from a disk', 'images', (n, { disk }) => ['POST', '/images', { disk_id: disk, label: `new-${n}` }]],
  ['create a script', 'scripts', (n) => ['POST', '/compute/scripts', { label: `new-${n}`, images: ['any/all'], script: '#!/bin/sh' }]],
  ['add an SSH key', 'ssh_keys', (n) => ['POST', '/profile/sshkeys', { label: `new-${n}`, ssh_key: SSH_KEYS['ssh-ed25519'] }]],
  ['create a token', 'tokens', (n) => ['POST', '/profile/tokens', { label: `new-${n}` }]],
  ['create a tag', 'tags', (n) => ['POST', '/tags', { label: `new-${n}` }]],
  ['create a domain with a tag', 'tags', (n) => ['POST', '/domains', { ...MASTER, domain: `new-${n}.example`, tags: [`new-${n}`] }]],
  ['create an instance with a tag', 'tags', (n) => ['POST', '/compute/instances', { ...IMAGE, label: `new-${n}`, tags: [`new-${n}`] }]],
]

/** Services on one store: several, as in several processes, if the database allows it. */
const startAll = (store: Store, options: Partial<ServiceOptions>) =>
  Promise.all((ON_POSTGRES ? [0, 1, 2] : [0]).map(() => startForTest({ ...store, clock, ...options })))

// A domain or an instance with a new tag needs both quotas, so tags have a service of their own.
describe.each([['tags'], HOLDINGS.filter((name) => name !== 'tags')].map((names) => ({ names })))('at the quota', async ({ names }) => {
  const store = await filledStore()
  const held = await holdingsOf(store)
  const quotas = Object.fromEntries(names.map((name) => [name, (held[name] as number) + 2]))
  const started = await startAll(store, { peerPort: await scriptedMaster(anyZone, { keep: true }), quotas })
  // The quota belongs to the account, not to the user or token.
  const clients = started.flatMap(({ service }) => ['owner', 'colleague'].map((user) => connect(service.baseUrl, tokenOf(user)).client))

  test.each(names)('%s are refused, regardless of how they are created', async (quota) => {
    const operations = OPERATIONS.filter((operation) => operation[1] === quota)
    const limit = quotas[quota] as number
    const reason = quotaReason(quota as QuotaName, limit)
    expect(reason).toContain(` ${limit} `)
    const askFor = (index: number) => {
      const [name, , make] = operations[index % operations.length] as (typeof OPERATIONS)[number]
      const client = clients[Math.floor(index / operations.length) % clients.length] as Client
      return client.call(...make(index, things)).then(({ status, body }) => [name, status, status === 200 ? null : body.errors])
    }
    const atOnce = await inParallel(operations.length * 4, 8, askFor)
    const later = await inParallel(operations.length, 1, (index) => askFor(100 * operations.length + index))
    expect(atOnce.filter(([, status]) => status === 200)).toHaveLength(2)
    for (const [name, status, errors] of [...atOnce.filter((outcome) => outcome[1] !== 200), ...later])
      expect([name, status, errors]).toEqual([name, 400, [{ field: null, reason }]])
    // Another account has its own quota.
    const stranger = connect(started[0]?.service.baseUrl as string, tokenOf('stranger')).client
    expect((await stranger.call(...(operations[0] as (typeof OPERATIONS)[number])[2](99, things))).status).toBe(200)
    expect((await holdingsOf(store))[quota]).toBe(limit)
  })
})

test('deleting one object allows one new object', async () => {
  const { client } = await startForTest({ quotas: { domains: 1 } })
  const { id } = await client.ok('POST', '/domains', { ...MASTER, domain: 'one.example' })
  const two = { ...MASTER, domain: 'two.example' }
  expect(await client.problems('POST', '/domains', two)).toEqual(['An account can have at most 1 domains.'])
  await client.ok('DELETE', `/domains/${id}`)
  await client.ok('POST', '/domains', two)
})

describe('quotas of single accounts', () => {
  const seedWith = (quotas: string): Seed =>
    seedFrom(
      `accounts: [{quotas: ${quotas}, users: [{username: ann, email: ann@example.com, tokens: [{token: ann}]}], domains: [{domain: seeded.example, type: slave, master_ips: [192.0.2.1]}]}]`,
    )

  test('come from a seed, which may exceed them, and replace those of an earlier start', async () => {
    const store = await freshStore()
    const outcomes: unknown[] = []
    for (const quotas of ['{domains: 0}', '{domains: 3}', '{scripts: 1}', '{domains: null}']) {
      const { service } = await startForTest({ ...store, bootstrapToken: 'root', seed: seedWith(quotas), quotas: { domains: 1 } })
      const [ann, root] = ['ann', 'root'].map((token) => connect(service.baseUrl, token).client) as [Client, Client]
      const create = async (client: Client, count: number): Promise<number> => {
        const answers = await inParallel(count, 4, (index) =>
          client.call('POST', '/domains', { ...MASTER, domain: `${client === ann ? 'ann' : 'root'}-${outcomes.length}-${index}.example` }),
        )
        return answers.filter(({ status }) => status === 200).length
      }
      outcomes.push([quotas, await create(ann, 4), await create(root, 2)])
      await service.stop()
    }
    expect(outcomes).toEqual([
      ['{domains: 0}', 0, 1],
      ['{domains: 3}', 2, 0],
      ['{scripts: 1}', 0, 0],
      ['{domains: null}', 4, 0],
    ])
  })

  test.each([
    ['{domain: 1}', /quotas/],
    ['{domains: many}', /quotas/],
    ['{domains: -1}', /quotas/],
  ])('%s is refused', (quotas, message) => expect(() => seedWith(quotas)).toThrow(message))
})

describe('at a quota of 0', async () => {
  const store = await filledStore()
  const before = await holdingsOf(store)
  const { service } = await startForTest({ ...store, clock, peerPort: await scriptedMaster(anyZone, { keep: true }), quotas: NOTHING })
  const { client } = connect(service.baseUrl, tokenOf('owner'))

  test('no declared operation creates anything', async () => {
    const named = { ...things, questions: [1, 2, 3] }
    const ids: Readonly<Record<string, string | number>> = {
      ...{ domainId: things.domain, instanceId: things.instance, backupId: things.backup, scriptId: things.script },
      ...{ imageId: things.image, recordId: things.record, tokenId: things.token, sshKeyId: things.sshKey },
    }
    const over: string[] = []
    for (const [number, route] of MAKING.entries()) {
      const name = `${route.method} ${route.path}`
      const path = route.path.includes('{backupId}') ? route.path.replace('{instanceId}', String(things.saved)) : route.path
      const place = path.replace(/\{(\w+)\}/g, (_, parameter: string) => String(ids[parameter]))
      const answer = await client.call(route.method, place, route.body && GOOD_BODIES[name]?.make(number, named))
      const passes = expect.toSatisfy((status: number) => status < 500 && ![401, 403, 404, 405].includes(status))
      expect([name, answer.status]).toEqual([name, passes])
      if (/ can have at most 0 /.test(answer.body.errors?.[0]?.reason)) over.push(name)
      now += 60_000
      await service.catchUp()
    }
    expect(over.sort()).toEqual([
      ...['POST /compute/instances', 'POST /compute/instances/{instanceId}/clone', 'POST /compute/scripts'],
      ...['POST /domains', 'POST /domains/import', 'POST /domains/{domainId}/clone', 'POST /images', 'POST /images/upload'],
      ...['POST /profile/sshkeys', 'POST /profile/tokens', 'POST /tags', 'PUT /compute/instances/{instanceId}'],
    ])
    expect(await holdingsOf(store)).toEqual(before)
  })

  test('a clone to an existing instance creates none', async () => {
    const body = { instance_id: things.saved, configs: [], disks: [] }
    expect((await client.ok('POST', `/compute/instances/${things.instance}/clone`, body)).id).toBe(things.saved)
  })

  test('an account keeps its objects and can change them', async () => {
    const { tags } = await client.ok('GET', `/domains/${things.domain}`)
    expect(tags).toEqual([`tag of ${SHARED}`])
    await client.ok('POST', `/domains/${things.domain}/records`, { type: 'A', target: '192.0.2.1' })
    await client.ok('PUT', `/domains/${things.domain}`, { description: 'changed', tags })
    expect(await client.problems('PUT', `/domains/${things.domain}`, { tags: [...tags, 'one-more'] })).toEqual([
      'An account can have at most 0 tags.',
    ])
    expect((await client.ok('GET', `/domains/${things.domain}`)).tags).toEqual(tags)
    await client.ok('POST', '/tags', { label: tags[0], instances: [things.instance] })
    await client.ok('DELETE', `/domains/${things.domain}`)
  })
})

describe('the list of quotas', () => {
  test('overrides only the given defaults', () => {
    expect(parseQuotas('domains=5000, images = none,tokens=0')).toEqual({ domains: 5000, images: null, tokens: 0 })
    for (const text of ['none', 'off']) expect(parseQuotas(text)).toEqual(UNLIMITED_QUOTAS)
  })

  test.each([
    [
      '',
      '"" is not a quota such as domains=1000; the quotas are domains, images, image_octets, instances, scripts, ssh_keys, tags, tokens',
    ],
    ['domain=1', '"domain=1" is not a quota such as domains=1000; the quotas are domains'],
    ['1000', '"1000" is not a quota such as domains=1000'],
    ['domains=1,domains=2', 'the quota domains appears twice'],
    ['domains=', 'the quota domains is not a whole number or none: ""'],
    ['domains=-1', 'the quota domains is not a whole number or none: "-1"'],
    ['domains=1e3', 'the quota domains is not a whole number or none: "1e3"'],
    ['images=25,', '"" is not a quota'],
  ])('%j is refused', (text, message) => expect(() => parseQuotas(text)).toThrow(message))
})

/** A master of any requested zone. */
const anyZone: Script = (query, ...rest) => {
  const zone = query.questions[0]?.name ?? 'example.'
  serving([soa(1, undefined, zone), record(zone, 'NS', 'ns.example.net.')])(query, ...rest)
}
