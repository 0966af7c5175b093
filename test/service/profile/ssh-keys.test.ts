import { expect, test } from 'vitest'
import { sshKeysOfUsers } from '../../../src/service/store/ssh-key-store.ts'
import { seedOfPeople, tokenOf } from '../accounts/people.ts'
import { connect, freshStore, openStore, startForTest } from '../harness.ts'
import { SSH_KEYS } from './ssh-key-samples.ts'

const PATH = '/profile/sshkeys'
const { 'ssh-ed25519': ED25519, 'ssh-rsa': RSA } = SSH_KEYS
const store = await freshStore()
const { service } = await startForTest({ ...store, seed: seedOfPeople([]) })
const as = (user: string) => connect(service.baseUrl, tokenOf(user)).client

test('an invalid SSH key is refused with its errors', async () => {
  const client = as('colleague')
  const isNone = 'A key must be an SSH public key of type ssh-dss, ssh-rsa, ecdsa-sha2-nistp, ssh-ed25519, sk-ecdsa-sha2-nistp256.'
  expect(await client.problems('POST', PATH, { label: 'x', ssh_key: 'ssh-ed25519 x' })).toEqual([`ssh_key: ${isNone}`])
})

test('only their user can add, list, rename and delete SSH keys', async () => {
  const [guest, owner] = [as('guest'), as('owner')]
  expect(await guest.ok('GET', PATH)).toEqual({ data: [], page: 1, pages: 1, results: 0 })
  const first = await guest.ok('POST', PATH, { label: 'laptop', ssh_key: ` ${ED25519}\n` })
  expect(first).toEqual({
    id: expect.any(Number),
    label: 'laptop',
    ssh_key: ED25519,
    created: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}$/),
  })
  const second = await guest.ok('POST', PATH, { label: 'x'.repeat(64), ssh_key: RSA })
  expect(await guest.ok('GET', PATH)).toEqual({ data: [first, second], page: 1, pages: 1, results: 2 })
  expect((await guest.ok('GET', PATH, undefined, { 'x-filter': '{"label":"Laptop"}' })).data).toEqual([first])
  expect(await guest.ok('GET', `${PATH}/${first.id}`)).toEqual(first)
  // A returned key can be sent back; the key itself does not change.
  expect(await guest.ok('PUT', `${PATH}/${first.id}`, { ...first, label: 'desktop', ssh_key: RSA })).toEqual({ ...first, label: 'desktop' })
  expect(await guest.ok('PUT', `${PATH}/${first.id}`, {})).toEqual({ ...first, label: 'desktop' })
  for (const [method, body] of [['GET'], ['PUT', { label: 'taken' }], ['DELETE']] as const)
    expect((await owner.call(method, `${PATH}/${first.id}`, body)).status).toBe(404)
  expect(await guest.ok('DELETE', `${PATH}/${first.id}`)).toEqual({})
  for (const method of ['GET', 'DELETE']) expect((await guest.call(method, `${PATH}/${first.id}`)).status).toBe(404)
  expect((await guest.ok('GET', PATH)).data).toEqual([second])
  await service.stop()

  const database = await openStore(store)
  const keys = await database.read(async (connection) => {
    const { account_id } = await connection
      .selectFrom('users')
      .select('account_id')
      .where('username', '=', 'guest')
      .executeTakeFirstOrThrow()
    return sshKeysOfUsers(connection, account_id, ['guest', 'owner', 'stranger', 'nobody', 'guest'])
  })
  await database.close()
  // The stranger belongs to another account.
  expect([...keys].sort()).toEqual([
    ['guest', [RSA]],
    ['owner', []],
  ])
})
