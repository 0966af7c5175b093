/** Objects that other sections of the API create: scripts, private images, SSH keys of users. */
import { afterAll, describe, expect, test } from 'vitest'
import type { Actor } from '../../../src/service/api/authenticate.ts'
import { createInstance, type InstanceBody, instanceToCreate } from '../../../src/service/api/instances/create-instance.ts'
import { RequestError } from '../../../src/service/api/request-error.ts'
import { insertAccount, insertUser } from '../../../src/service/store/account-store.ts'
import type { Database } from '../../../src/service/store/database.ts'
import { grant } from '../../../src/service/store/grant-store.ts'
import { sharedImages } from '../../../src/service/store/image-store.ts'
import { insertSshKey } from '../../../src/service/store/ssh-key-store.ts'
import { freshStore, openStore } from '../harness.ts'
import { IMAGE, START } from './fixture.ts'

const NOW = '2026-01-31T09:00:00'
const database: Database = await openStore(await freshStore())
afterAll(() => database.close())

const addUser = (accountId: number, username: string, restricted = false) =>
  database.write(async (connection) => {
    const user = { account_id: accountId, username, email: 'a@example.com', restricted: Number(restricted), created: NOW }
    return insertUser(connection, { ...user, global_grants: '["add_instances"]' })
  })
const accountId = await database.write((connection) => insertAccount(connection, NOW))
const otherAccount = await database.write((connection) => insertAccount(connection, NOW))
const owner = await addUser(accountId, 'owner')
const guest = await addUser(accountId, 'guest', true)
const stranger = await addUser(otherAccount, 'stranger')
const actorOf = (userId: number, account: number, restricted: boolean): Actor =>
  ({ accountId: account, userId, restricted, username: 'x', scopes: '*', tokenId: 1 }) as unknown as Actor
const OWNER = actorOf(owner, accountId, false)
const GUEST = actorOf(guest, accountId, true)

const addScript = (script: string, { images = ['any/all'], isPublic = false, account = accountId } = {}) =>
  database.write(async (connection) => {
    const texts = { label: 'script', description: '', images: JSON.stringify(images), rev_note: '', script, created: NOW, updated: NOW }
    const row = { account_id: account, user_id: account === accountId ? owner : stranger, is_public: Number(isPublic), ...texts }
    return (await connection.insertInto('scripts').values(row).returning('id').executeTakeFirstOrThrow()).id
  })
const addImage = (status: 'available' | 'creating' | 'pending_upload', size = 2000, account = accountId) =>
  database.write(async (connection) => {
    const row = { account_id: account, label: 'My image', description: null, created_by: 'owner', size, status, type: 'manual' as const }
    return (
      await connection
        .insertInto('images')
        .values({ ...row, expiry: null, upload_hash: null, upload_until: null, created: NOW, updated: NOW })
        .returning('id')
        .executeTakeFirstOrThrow()
    ).id
  })

const create = (body: Partial<InstanceBody>, actor = OWNER) =>
  database.write((connection) =>
    createInstance(connection, actor, instanceToCreate({ ...IMAGE, ...body }), { now: START, nowText: NOW }, sharedImages([])),
  )
const problemsOf = async (body: Partial<InstanceBody>, actor = OWNER): Promise<[string | null, string][]> => {
  try {
    await create(body, actor)
    return []
  } catch (error) {
    if (error instanceof RequestError) return error.problems.map(({ field, reason }) => [field, reason])
    throw error
  }
}

describe('a script', () => {
  test('runs if it supports the image, and counts its deployments', async () => {
    const script_id = await addScript('#!/bin/sh\n', { images: ['public/debian11', 'public/arch'] })
    const { id } = await create({ script_id })
    await create({ script_id, image: 'public/arch' })
    expect(await problemsOf({ script_id, image: 'public/centos7' })).toEqual([
      ['image', 'The requested distribution is not supported by this stackscript.'],
    ])
    const { script, instance } = await database.read(async (connection) => ({
      script: await connection.selectFrom('scripts').select('deployments_total').where('id', '=', script_id).executeTakeFirstOrThrow(),
      instance: await connection.selectFrom('instances').select('script_id').where('id', '=', id).executeTakeFirstOrThrow(),
    }))
    expect([script.deployments_total, instance.script_id]).toEqual([2, script_id])
  })

  test('must belong to the account or be public, and be granted to a restricted user', async () => {
    const NOT_VALID = [['script_id', 'script_id is not valid']]
    const theirs = await addScript('#!/bin/sh', { account: otherAccount })
    const open = await addScript('#!/bin/sh', { account: otherAccount, isPublic: true })
    const own = await addScript('#!/bin/sh')
    expect(await problemsOf({ script_id: theirs })).toEqual(NOT_VALID)
    expect(await problemsOf({ script_id: open })).toEqual([])
    expect(await problemsOf({ script_id: open }, GUEST)).toEqual([])
    expect(await problemsOf({ script_id: own }, GUEST)).toEqual(NOT_VALID)
    await database.write((connection) => grant(connection, guest, 'script', own, 'read_only'))
    expect(await problemsOf({ script_id: own }, GUEST)).toEqual([])
  })

  const UDF = [
    '#!/bin/sh',
    '# <UDF name="needed" label="Needed"/>',
    '# <UDF name="optional" label="Optional" default="x"/>',
    '# <UDF name="one" label="One" oneOf="a, b" default="a"/>',
    '# <UDF name="many" label="Many" manyOf="a,b,c" default=""/>',
  ].join('\n')

  test.each<[object, string[][]]>([
    [{ needed: 'x' }, []],
    [{ needed: '', one: 'b', many: 'a,c', more: { than: 'asked' } }, []],
    [{ needed: 'x', many: '' }, []],
    [{}, [['script_data.needed', 'script_data.needed is required']]],
    [{ needed: 1 }, [['script_data.needed', 'script_data.needed must be a string']]],
    [{ needed: 'x', one: 'c' }, [['script_data.one', 'script_data.one allows only: a, b']]],
    [{ needed: 'x', many: 'a,d' }, [['script_data.many', 'script_data.many allows only: a,b,c']]],
  ])('with fields accepts or refuses %j', async (script_data, problems) => {
    const script_id = await addScript(UDF)
    expect(await problemsOf({ script_id, script_data: script_data as Record<string, unknown> })).toEqual(problems)
  })
})

test('a private image is deployed if it is available, belongs to the account and fits', async () => {
  const NOT_VALID = [['image', 'image is not valid']]
  const available = await addImage('available')
  const image = `private/${available}`
  const instance = await create({ image })
  expect(instance.image).toBe(image)
  const labels = await database.read((connection) =>
    connection.selectFrom('disks').select(['label', 'size']).where('instance_id', '=', instance.id).orderBy('id').execute(),
  )
  expect(labels).toEqual([
    { label: 'My image Disk', size: 50_688 },
    { label: '512 MB Swap Image', size: 512 },
  ])
  for (const other of [await addImage('creating'), await addImage('pending_upload'), await addImage('available', 1, otherAccount)])
    expect(await problemsOf({ image: `private/${other}` })).toEqual(NOT_VALID)
  expect(await problemsOf({ image }, GUEST)).toEqual(NOT_VALID)
  await database.write((connection) => grant(connection, guest, 'image', available, 'read_only'))
  expect(await problemsOf({ image }, GUEST)).toEqual([])
  expect(await problemsOf({ image: `private/${await addImage('available', 60_000)}` })).toEqual([
    ['type', 'The image needs 60000 MB, and the type has 51200 MB.'],
  ])
})

test('users of the account can be authorized by their keys', async () => {
  const KEYLESS = [['authorized_users', 'Every user of authorized_users must have SSH keys.']]
  expect(await problemsOf({ authorized_users: ['guest'] })).toEqual(KEYLESS)
  await database.write((connection) => insertSshKey(connection, guest, { label: 'key', key: 'ssh-ed25519 AAAA' }, NOW))
  expect(await problemsOf({ authorized_users: ['guest'] })).toEqual([])
  expect(await problemsOf({ authorized_users: ['guest', 'owner'] })).toEqual(KEYLESS)
  expect(await problemsOf({ authorized_users: ['guest', 'stranger'] })).toEqual([['authorized_users', 'authorized_users is not valid']])
})

test('no secret of a request is stored', async () => {
  const root_pass = 'a secret that nobody keeps'
  const { id } = await create({ root_pass, authorized_keys: [] })
  const tables = ['instances', 'disks', 'configs', 'jobs'] as const
  const rows = await database.read(async (connection) =>
    Promise.all(tables.map((table) => connection.selectFrom(table).selectAll().execute())),
  )
  expect(rows[0]?.some((row) => row.id === id)).toBe(true)
  expect(JSON.stringify(rows)).not.toContain(root_pass)
})
