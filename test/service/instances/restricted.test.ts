import { expect, test } from 'vitest'
import { readSeed } from '../../../src/service/index.ts'
import { connect } from '../harness.ts'
import { EMPTY, IMAGE, startClocked } from './fixture.ts'

const user = (username: string, grants?: object) => ({
  ...{ username, email: `${username}@example.com`, restricted: grants !== undefined, tokens: [{ token: username }] },
  ...(grants ? { grants } : {}),
})
const { seed } = readSeed(
  JSON.stringify({
    accounts: [
      {
        users: [
          user('owner'),
          user('maker', {
            global: { add_instances: true },
            volume: [
              { label: 'granted', permissions: 'read_write' },
              { label: 'seen', permissions: 'read_only' },
            ],
          }),
        ],
        volumes: [
          { id: 1, label: 'granted', region: 'us-east' },
          { id: 2, label: 'seen', region: 'us-east' },
          { id: 3, label: 'elsewhere', region: 'eu-west' },
        ],
      },
    ],
  }),
  'people.yaml',
)
const { service, pass } = await startClocked({ seed })
const as = (token: string) => connect(service.baseUrl, token).client
const [owner, maker] = [as('owner'), as('maker')]
const ids = async (client: typeof owner): Promise<number[]> =>
  (await client.ok('GET', '/compute/instances')).data.map(({ id }: { id: number }) => id)
const statusOf = async (...call: Parameters<typeof owner.call>): Promise<number> => (await maker.call(...call)).status
const theirs = await owner.ok('POST', '/compute/instances', { ...IMAGE, backups_enabled: true, tags: ['owned'] })
await pass(30)
const theirPath = `/compute/instances/${theirs.id}`
const backup = await owner.ok('POST', `${theirPath}/backups`, { label: 'theirs' })
await pass(60)

test('with add_instances has full access to its own instances, and sees no others', async () => {
  const made = await maker.ok('POST', '/compute/instances', IMAGE)
  await pass(20)
  expect(await ids(maker)).toEqual([made.id])
  expect(await ids(owner)).toContain(made.id)
  const path = `/compute/instances/${made.id}`
  await maker.ok('PUT', path, { group: 'mine' })
  const clone = await maker.ok('POST', `${path}/clone`, {})
  await pass(30)
  expect(await ids(maker)).toEqual([made.id, clone.id])
  expect((await maker.ok('GET', '/profile/grants')).instance).toEqual([
    { id: made.id, label: made.label, permissions: 'read_write' },
    { id: clone.id, label: clone.label, permissions: 'read_write' },
  ])
  await maker.ok('DELETE', path)
  expect((await maker.ok('GET', '/profile/grants')).instance).toHaveLength(1)
})

test('cannot change tags of instances, but can send the existing ones', async () => {
  expect(await statusOf('POST', '/compute/instances', { ...EMPTY, tags: ['mine'] })).toBe(403)
  const { id } = await maker.ok('POST', '/compute/instances', { ...EMPTY, tags: [] })
  const path = `/compute/instances/${id}`
  await owner.ok('PUT', path, { tags: ['one', 'two'] })
  for (const tags of [['one'], ['one', 'two', 'three'], []]) expect(await statusOf('PUT', path, { tags })).toBe(403)
  expect((await maker.ok('PUT', path, { tags: ['Two', 'one'], group: 'g' })).tags).toEqual(['one', 'two'])
})

test('reaches no object without a grant through any operation', async () => {
  const { id } = await maker.ok('POST', '/compute/instances', { ...EMPTY, type: 'g6-standard-2', backups_enabled: true })
  await pass(20)
  const path = `/compute/instances/${id}`
  // As the target of a clone or restore, or the source of a new instance.
  expect(await statusOf('POST', `${path}/clone`, { instance_id: theirs.id })).toBe(403)
  const own = await maker.ok('POST', `${path}/backups`, { label: 'own' })
  await pass(60)
  expect(await statusOf('POST', `${path}/backups/${own.id}/restore`, { instance_id: theirs.id })).toBe(403)
  expect(await statusOf('POST', '/compute/instances', { ...IMAGE, image: undefined, backup_id: backup.id })).toBe(403)
  expect(await statusOf('POST', `${path}/backups/${backup.id}/restore`, { instance_id: id })).toBe(404)
  expect(await statusOf('GET', theirPath)).toBe(403)
  expect((await owner.ok('GET', theirPath)).status).toBe('running')
})

test('can use only volumes with write access as devices', async () => {
  const { id } = await maker.ok('POST', '/compute/instances', EMPTY)
  const path = `/compute/instances/${id}/configs`
  const profile = (volume: number) => ({ label: 'volume', devices: { sda: { volume_id: volume } } })
  expect((await maker.ok('POST', path, profile(1))).devices.sda).toEqual({ disk_id: null, volume_id: 1 })
  const problem = ['devices.sda.volume_id: devices.sda.volume_id is not valid']
  for (const volume of [2, 3]) expect(await maker.problems('POST', path, profile(volume))).toEqual(problem)
  expect((await owner.call('POST', path, profile(2))).status).toBe(200)
  expect(await owner.problems('POST', path, profile(3))).toEqual(problem)
})
