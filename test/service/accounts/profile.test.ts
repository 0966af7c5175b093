import { describe, expect, test } from 'vitest'
import { connect, startForTest } from '../harness.ts'
import { SSH_KEYS } from '../profile/ssh-key-samples.ts'
import { seedOfPeople, tokenOf } from './people.ts'

const { service, client } = await startForTest({ seed: seedOfPeople(['one.example', 'two.example']) })
const as = (user: string, which = 'all') => connect(service.baseUrl, tokenOf(user, which)).client
const owner = as('owner')
const { 'ssh-ed25519': ED25519, 'ssh-rsa': RSA } = SSH_KEYS

describe('the profile', () => {
  test('of a new user', async () => {
    expect(await owner.ok('GET', '/profile')).toEqual({
      ...{ uid: expect.any(Number), username: 'owner', email: 'owner@example.com', email_notifications: true, timezone: 'UTC' },
      ...{ authentication_type: 'password', restricted: false, two_factor_auth: false, ip_whitelist_enabled: false },
      ...{ shell_auth_method: 'password_keys', lish_auth_method: 'password_keys', authorized_keys: null, verified_phone_number: null },
      referrals: { code: '', url: '', total: 0, completed: 0, pending: 0, credit: 0 },
    })
    expect(await client.ok('GET', '/profile')).toMatchObject({ username: 'admin' })
    expect(await as('guest').ok('GET', '/profile')).toMatchObject({ username: 'guest', restricted: true })
  })

  test.each<[string, object, object]>([
    ['email', { email: 'Other@example.org' }, { email: 'Other@example.org' }],
    ['time zone', { timezone: 'America/New_York' }, { timezone: 'America/New_York' }],
    ['a previous name of a time zone', { timezone: 'US/Eastern' }, { timezone: 'US/Eastern' }],
    ['shell access', { shell_auth_method: 'keys_only' }, { shell_auth_method: 'keys_only', lish_auth_method: 'keys_only' }],
    ['keys', { authorized_keys: [ED25519, ` ${RSA}\n`] }, { authorized_keys: [ED25519, RSA] }],
    ['omitted keys', { authorized_keys: null }, { authorized_keys: [ED25519, RSA] }],
    ['no keys', { authorized_keys: [] }, { authorized_keys: null }],
    ['the current values', { restricted: false, two_factor_auth: false, ip_whitelist_enabled: false }, { restricted: false }],
    [
      'read-only fields',
      { uid: 1, username: 'root', authentication_type: 'x', verified_phone_number: '1', referrals: {} },
      { username: 'colleague' },
    ],
  ])('accepts %s', async (_name, body, shown) => {
    const colleague = as('colleague', 'account-read_write')
    const before = await colleague.ok('GET', '/profile')
    const after = await colleague.ok('PUT', '/profile', body)
    expect(after).toEqual({ ...before, ...shown })
    expect(await colleague.ok('GET', '/profile')).toEqual(after)
  })

  test('accepts the returned profile', async () => {
    const before = await owner.ok('GET', '/profile')
    expect(await owner.ok('PUT', '/profile', before)).toEqual(before)
  })

  test.each<[string, object, string[]]>([
    ['an invalid address', { email: 'nobody' }, ['email: email is not valid']],
    ['an unknown time zone', { timezone: 'Mars/Base' }, ['timezone: timezone is not valid']],
    ['an allow list', { ip_whitelist_enabled: true }, ['ip_whitelist_enabled: ip_whitelist_enabled cannot be enabled']],
    [
      'a second factor without its code',
      { two_factor_auth: true },
      ['two_factor_auth: Two-factor authentication can only be enabled with a code of the second factor.'],
    ],
    ['two errors', { email: 'x', timezone: 'x' }, ['email: email is not valid', 'timezone: timezone is not valid']],
  ])('refuses %s', async (_name, body, problems) => expect(await owner.problems('PUT', '/profile', body)).toEqual(problems))

  test('refuses an invalid key', async () => {
    for (const key of [`command="x" ${ED25519}`, ED25519.replace('ssh-ed25519', 'ssh-rsa')]) {
      expect(await owner.problems('PUT', '/profile', { authorized_keys: [ED25519, key] })).toEqual([
        expect.stringMatching(/^authorized_keys: /),
      ])
    }
  })
})

describe('restrictions', () => {
  test('cannot be lifted by the user', async () => {
    const answer = await as('keeper').call('PUT', '/profile', { restricted: false })
    expect([answer.status, answer.body]).toEqual([403, { errors: [{ field: null, reason: 'Unauthorized' }] }])
    expect(await as('keeper').ok('GET', '/profile')).toMatchObject({ restricted: true })
    expect(await as('keeper').ok('PUT', '/profile', { restricted: true, timezone: 'Europe/Vienna' })).toMatchObject({
      timezone: 'Europe/Vienna',
    })
  })

  test('can be accepted, except by the last unrestricted user of the account', async () => {
    expect(await as('stranger').problems('PUT', '/profile', { restricted: true })).toEqual([
      'restricted: You are the only unrestricted user of the account. Make another user unrestricted first.',
    ])
    const [one, two] = await Promise.all([
      as('owner').call('PUT', '/profile', { restricted: true }),
      as('colleague').call('PUT', '/profile', { restricted: true }),
    ])
    expect([one?.status, two?.status].sort()).toEqual([200, 400])
    const resigned = as(one?.status === 200 ? 'owner' : 'colleague')
    expect((await resigned.ok('GET', '/domains')).results).toBe(0)
    expect((await resigned.call('POST', '/tags', { label: 'tag' })).status).toBe(403)
  })
})

test('grants are created with the objects of a restricted user, and deleted with them', async () => {
  const founder = as('founder')
  const granted = async () => (await founder.ok('GET', '/profile/grants')).domain
  const made = await founder.ok('POST', '/domains', { domain: 'made.example', type: 'master', soa_email: 'a@example.com' })
  const cloned = await founder.ok('POST', `/domains/${made.id}/clone`, { domain: 'cloned.example' })
  expect(await granted()).toEqual([
    { id: made.id, label: 'made.example', permissions: 'read_write' },
    { id: cloned.id, label: 'cloned.example', permissions: 'read_write' },
  ])
  await founder.ok('PUT', `/domains/${made.id}`, { domain: 'renamed.example' })
  expect((await granted())[0]).toMatchObject({ label: 'renamed.example' })
  expect((await founder.ok('GET', '/domains')).results).toBe(2)
  expect((await as('guest').ok('GET', '/domains')).results).toBe(0)
  await founder.ok('DELETE', `/domains/${cloned.id}`)
  expect((await granted()).map(({ id }: { id: number }) => id)).toEqual([made.id])
  expect((await founder.call('GET', `/domains/${cloned.id}`)).status).toBe(404)
})
