import { describe, expect, test } from 'vitest'
import { EMPTY, IMAGE, startClocked, WITH_VLANS, WITHOUT_VLANS } from './fixture.ts'

const { client, pass, made } = await startClocked()
const BUSY = ['Linode busy.']
const CLONING = ['Linode is cloning. Please wait for cloning to finish before deleting.']
const configsOf = async (path: string) => (await client.ok('GET', `${path}/configs`)).data
const pathOf = ({ id }: { id: number }): string => `/compute/instances/${id}`

describe('a clone to a new instance', () => {
  test('has the configuration, disks, group and tags of its source, and is offline', async () => {
    const source = await made({ ...IMAGE, tags: ['web'], group: 'g' })
    const clone = await client.ok('POST', `${source.path}/clone`, {})
    expect(clone).toMatchObject({ label: `linode${clone.id}`, status: 'offline', region: 'us-east', type: 'g6-standard-1' })
    expect(clone).toMatchObject({ image: 'public/debian11', tags: ['web'], group: 'g', backups: { enabled: false } })
    expect(clone.ipv4).toHaveLength(1)
    expect((await client.ok('GET', source.path)).status).toBe('cloning')
    const [theirs] = await configsOf(source.path)
    const [ours, ...more] = await configsOf(pathOf(clone))
    expect(more).toEqual([])
    const { id, devices, created: _c, updated: _u, ...same } = ours
    expect(theirs).toMatchObject(same)
    expect(id).not.toBe(theirs.id)
    for (const slot of ['sda', 'sdb']) expect(devices[slot].disk_id).toBeGreaterThan(theirs.devices.sdb.disk_id)
    await pass(20)
    expect((await client.ok('GET', source.path)).status).toBe('running')
    expect(await client.ok('POST', `${pathOf(clone)}/boot`)).toEqual({})
  })

  test('follows its request', async () => {
    const source = await made(IMAGE)
    const body = { region: 'eu-west', type: 'g6-standard-2', label: 'my-clone', group: '', private_ip: true, backups_enabled: true }
    const clone = await client.ok('POST', `${source.path}/clone`, body)
    expect(clone).toMatchObject({ region: 'eu-west', type: 'g6-standard-2', label: 'my-clone', group: '', backups: { enabled: true } })
    expect(clone.ipv4).toHaveLength(2)
  })

  test('has the named profiles with their disks, and the additional disks', async () => {
    const { path } = await made(IMAGE)
    const [image] = await configsOf(path)
    const { sda, sdb } = image.devices
    await client.ok('POST', `${path}/configs`, { label: 'root only', devices: { sda } })
    const tried = async (body: object) => {
      const clone = await client.ok('POST', `${path}/clone`, { ...body, backups_enabled: true })
      await pass(20)
      const snapshot = await client.ok('POST', `${pathOf(clone)}/backups`, { label: 'x' })
      return [snapshot.configs, snapshot.disks.map(({ filesystem }: { filesystem: string }) => filesystem)]
    }
    const label = 'My Debian 11 Disk Profile'
    const rootOnly = (await configsOf(path))[1].id
    expect(await tried({})).toEqual([
      [label, 'root only'],
      ['ext4', 'swap'],
    ])
    expect(await tried({ configs: [] })).toEqual([[], []])
    expect(await tried({ configs: [rootOnly] })).toEqual([['root only'], ['ext4']])
    expect(await tried({ configs: [rootOnly], disks: [sdb.disk_id] })).toEqual([['root only'], ['ext4', 'swap']])
    expect(await tried({ configs: [], disks: [sda.disk_id] })).toEqual([[], ['ext4']])
  })

  test.each<[string, object, string[]]>([
    ['an invalid region', { region: 'nowhere' }, ['region: region is not valid']],
    ['an invalid type', { type: 'x' }, ['type: type is not valid']],
    ['a type too small', { type: 'g6-nanode-1' }, ['type: There is insufficient space: the disks need 51200 MB, and 25600 MB are free.']],
    ['a label that is taken', { label: 'taken' }, ['label: Label must be unique among your linodes']],
    ['an invalid label', { label: 'a--b' }, ['label: A label cannot have two hyphens, underscores or dots in a row.']],
    ['profiles and disks that it lacks', { configs: [999], disks: [999] }, ['configs: configs is not valid', 'disks: disks is not valid']],
    ['an invalid instance', { instance_id: 9999 }, ['instance_id: instance_id is not valid']],
  ])('of %s is refused, and nothing is created', async (_name, body, problems) => {
    await client.call('POST', '/compute/instances', { ...EMPTY, label: 'taken' })
    const { path } = await made(IMAGE)
    const { results } = await client.ok('GET', '/compute/instances')
    expect(await client.problems('POST', `${path}/clone`, body)).toEqual(problems)
    expect((await client.ok('GET', '/compute/instances')).results).toBe(results)
    expect((await client.ok('GET', path)).status).toBe('running')
  })

  test('with a VLAN needs a region with VLANs', async () => {
    const { path } = await made({ ...IMAGE, region: WITH_VLANS, interfaces: [{ purpose: 'vlan', label: 'v' }] })
    expect(await client.problems('POST', `${path}/clone`, { region: WITHOUT_VLANS })).toEqual([
      "region: This Linode's region does not support VLANs at this time.",
    ])
    expect((await client.ok('POST', `${path}/clone`, { region: WITHOUT_VLANS, configs: [] })).region).toBe(WITHOUT_VLANS)
    // The same holds for interfaces that wait for the first profile.
    const empty = await made({ ...EMPTY, region: WITH_VLANS, interfaces: [{ purpose: 'vlan', label: 'v' }] })
    expect(await client.problems('POST', `${empty.path}/clone`, { region: WITHOUT_VLANS })).toHaveLength(1)
    const clone = await client.ok('POST', `${empty.path}/clone`, {})
    const { interfaces } = await client.ok('POST', `${pathOf(clone)}/configs`, { label: 'first', devices: {} })
    expect(interfaces).toMatchObject([{ purpose: 'vlan', label: 'v' }])
  })
})

describe('a clone to an existing instance', () => {
  test('adds to its content and tags, and is busy during the clone', async () => {
    const source = await made({ ...IMAGE, type: 'g6-nanode-1', tags: ['one', 'two'] })
    const target = await made({ ...EMPTY, type: 'g6-standard-1', tags: ['two', 'three'] })
    await client.ok('POST', `${target.path}/configs`, { label: 'own', devices: {} })
    const answer = await client.ok('POST', `${source.path}/clone`, { instance_id: target.id })
    expect(answer).toMatchObject({ id: target.id, status: 'offline', tags: ['one', 'three', 'two'] })
    expect(await client.problems('POST', `${target.path}/boot`)).toEqual([expect.stringMatching(/^config_id: /)])
    expect(await client.problems('POST', `${source.path}/clone`, { instance_id: target.id })).toEqual(BUSY)
    expect(await client.problems('POST', `${target.path}/clone`, {})).toEqual(BUSY)
    for (const { path } of [source, target]) expect(await client.problems('DELETE', path)).toEqual(CLONING)
    await pass(20)
    expect((await configsOf(target.path)).map(({ label }: { label: string }) => label)).toEqual(['own', 'My Debian 11 Disk Profile'])
    for (const { path } of [source, target]) await client.ok('DELETE', path)
  })

  test('needs enough space, and another instance than the source', async () => {
    const source = await made(IMAGE)
    const full = await made(IMAGE)
    expect(await client.problems('POST', `${source.path}/clone`, { instance_id: full.id })).toEqual([
      'instance_id: There is insufficient space: the disks need 51200 MB, and 0 MB are free.',
    ])
    expect(await client.problems('POST', `${source.path}/clone`, { instance_id: source.id })).toEqual([
      'instance_id: instance_id is not valid',
    ])
    const busy = await made({ ...IMAGE, type: 'g6-standard-2' }, 0)
    expect(await client.problems('POST', `${source.path}/clone`, { instance_id: busy.id })).toEqual(BUSY)
    // One without content is ready immediately.
    const empty = await made({ ...EMPTY, type: 'g6-standard-2' }, 0)
    await client.ok('POST', `${source.path}/clone`, { instance_id: empty.id })
  })

  test('cannot exceed the limit of profiles', async () => {
    const [one, other] = [await made(EMPTY), await made(EMPTY)]
    for (let number = 1; number <= 8; number += 1) await client.ok('POST', `${one.path}/configs`, { label: `p${number}`, devices: {} })
    const pairs = [0, 1, 2, 3, 4, 5].map((turn) => (turn % 2 === 0 ? ([one, other] as const) : ([other, one] as const)))
    for (const [from, to] of pairs) {
      await client.ok('POST', `${from.path}/clone`, { instance_id: to.id })
      await pass(20)
    }
    const full = ['An instance can have at most 200 configuration profiles.']
    expect((await client.ok('GET', `${one.path}/configs`)).results).toBe(104)
    await client.ok('POST', `${one.path}/clone`, { instance_id: other.id })
    await pass(20)
    expect(await client.problems('POST', `${other.path}/clone`, { instance_id: one.id })).toEqual(full)
  })
})

test('runs at most five clones of one source, also with concurrent requests', async () => {
  const { path } = await made({ ...IMAGE, type: 'g6-nanode-1' })
  const other = await made({ ...IMAGE, type: 'g6-nanode-1' })
  const answers = await Promise.all(Array.from({ length: 12 }, () => client.call('POST', `${path}/clone`, {})))
  const refused = answers.filter(({ status }) => status === 400)
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(5)
  expect(refused).toHaveLength(7)
  for (const { body } of refused)
    expect(body.errors).toEqual([{ field: null, reason: 'At most 5 clones of an instance can run at a time.' }])
  expect((await client.call('POST', `${other.path}/clone`, {})).status).toBe(200)
  expect(await client.problems('POST', `${path}/boot`)).toEqual(BUSY)
  await pass(20)
  expect((await client.ok('GET', path)).status).toBe('running')
  expect((await client.call('POST', `${path}/clone`, {})).status).toBe(200)
  const addresses = (await client.ok('GET', '/compute/instances?page_size=500')).data.flatMap(({ ipv4 }: { ipv4: string[] }) => ipv4)
  expect(new Set(addresses).size).toBe(addresses.length)
})
