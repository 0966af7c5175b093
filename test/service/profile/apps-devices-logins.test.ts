import { afterEach, expect, test } from 'vitest'
import { readSeed } from '../../../src/service/index.ts'
import { type Client, freshStore, ON_POSTGRES, openStore } from '../harness.ts'
import { DAY, MINUTE, START, startClocked, textOf } from './clocked-service.ts'
import { SSH_KEYS } from './ssh-key-samples.ts'

const daysAgo = (days: number, minutes = 0): string => textOf(START - days * DAY + minutes * MINUTE)

/** Tests advance the clock by at most half a day: after a day, expired data is deleted. */
const HALF_DAY = DAY / 2

/** A device is trusted for 30 days. */
const DEVICE_CREATED = textOf(START - 30 * DAY + HALF_DAY)

/** Users of one account, whose names and tokens end with a number. */
const usersOf = (n: number) => [
  {
    username: `alice-${n}`,
    email: 'alice@example.com',
    tokens: [{ token: `alice-${n}` }, { token: `alice-expired-${n}`, expiry: daysAgo(1) }],
    profile: PROFILE,
    ssh_keys: [{ label: 'laptop', ssh_key: SSH_KEYS['ssh-ed25519'] }],
    security_questions: [3, 4, 5].map((question_id) => ({ question_id, response: 'the answer' })),
    apps: [
      { ...DASHBOARD, client: 'c-1', tokens: [`dashboard-${n}`, `dashboard-too-${n}`] },
      { label: 'import', created: daysAgo(5), expiry: textOf(START + HALF_DAY), tokens: [`import-${n}`] },
      { label: 'ended', created: daysAgo(20), expiry: daysAgo(1), tokens: [`ended-${n}`] },
    ],
    devices: [
      { user_agent: 'Mozilla/5.0', last_remote_addr: '2001:db8::1', created: DEVICE_CREATED, last_authenticated: daysAgo(2) },
      { user_agent: 'over', created: daysAgo(30) },
    ],
    logins: [
      { datetime: daysAgo(90), ip: '192.0.2.1' },
      { datetime: daysAgo(90, 1), ip: '192.0.2.2', status: 'failed' },
      { datetime: daysAgo(1), ip: '192.0.2.3' },
      { datetime: daysAgo(1), ip: '192.0.2.3' },
    ],
  },
  { username: `bob-${n}`, email: 'bob@example.com', restricted: true, tokens: [{ token: `bob-${n}` }] },
]

const PROFILE = {
  timezone: 'Europe/Vienna',
  email_notifications: false,
  shell_auth_method: 'keys_only',
  authorized_keys: [SSH_KEYS['ssh-rsa']],
  authentication_type: 'github',
  ip_whitelist_enabled: true,
  verified_phone_number: '+12015550123',
}

const PAGES = { website: 'https://dashboard.example/', thumbnail_url: 'https://dashboard.example/icon.png' }
const DASHBOARD = { label: 'dashboard', scopes: 'account:read_only', ...PAGES, created: daysAgo(10) }

function seedOf(document: object) {
  const { seed, diagnostics } = readSeed(JSON.stringify(document), 'seed.json')
  if (seed === null) throw new Error(JSON.stringify(diagnostics))
  return seed
}

/** Accounts, each for one test. */
const seed = seedOf({ accounts: Array.from({ length: 9 }, (_, n) => ({ users: usersOf(n) })) })
const store = await freshStore()
const { as, now, pass } = await startClocked({ ...store, seed })
let accounts = 0

/** Clients of the users of the next account. */
function nextAccount() {
  accounts += 1
  const n = accounts - 1
  const [aliceName, bobName] = [`alice-${n}`, `bob-${n}`]
  return { alice: as(aliceName), bob: as(bobName), with: (token: string) => as(`${token}-${n}`), aliceName, bobName }
}

afterEach(() => pass(START - now()))

type Named = { readonly label: string; readonly id: number }

test('a seed sets settings, keys and answers of users', async () => {
  const { alice } = nextAccount()
  expect(await alice.ok('GET', '/profile')).toMatchObject(PROFILE)
  expect((await alice.ok('GET', '/profile/sshkeys')).data).toEqual([
    { id: expect.any(Number), label: 'laptop', ssh_key: SSH_KEYS['ssh-ed25519'], created: textOf(START) },
  ])
  expect((await alice.ok('GET', '/profile/security-questions')).security_questions[3].response).toBe('the answer')
  expect((await alice.ok('POST', '/profile/tfa-enable')).secret).toHaveLength(32)
  // An enabled whitelist stays until it is disabled, permanently.
  expect(await alice.ok('PUT', '/profile', { ip_whitelist_enabled: true })).toMatchObject({ ip_whitelist_enabled: true })
  expect(await alice.ok('PUT', '/profile', { ip_whitelist_enabled: false })).toMatchObject({ ip_whitelist_enabled: false })
  expect(await alice.problems('PUT', '/profile', { ip_whitelist_enabled: true })).toEqual([
    'ip_whitelist_enabled: ip_whitelist_enabled cannot be enabled',
  ])
})

test('apps are listed until their access expires, and can be filtered', async () => {
  const { alice, bob } = nextAccount()
  const { data } = await alice.ok('GET', '/profile/apps')
  expect(data).toEqual([
    { ...DASHBOARD, id: expect.any(Number), expiry: null },
    {
      ...{ id: expect.any(Number), label: 'import', scopes: '*', website: '', thumbnail_url: null },
      ...{ created: daysAgo(5), expiry: textOf(START + HALF_DAY) },
    },
  ])
  const found = async (filter: object): Promise<string[]> =>
    (await alice.ok('GET', '/profile/apps', undefined, { 'x-filter': JSON.stringify(filter) })).data.map(({ label }: Named) => label)
  expect(await found({ created: { '+gt': daysAgo(6) } })).toEqual(['import'])
  expect(await found({ expiry: null })).toEqual(['dashboard'])
  expect(await found({ expiry: { '+lte': textOf(START + HALF_DAY) } })).toEqual(['import'])
  expect(await found({ '+order_by': 'created', '+order': 'desc' })).toEqual(['import', 'dashboard'])
  expect(await found({ '+order_by': 'expiry' })).toEqual(['dashboard', 'import'])
  const [, { id }] = data
  expect(await alice.ok('GET', `/profile/apps/${id}`)).toEqual(data[1])
  for (const method of ['GET', 'DELETE']) expect((await bob.call(method, `/profile/apps/${id}`)).status).toBe(404)
  expect((await bob.ok('GET', '/profile/apps')).results).toBe(0)
  pass(HALF_DAY)
  expect((await alice.ok('GET', '/profile/apps')).results).toBe(1)
  for (const method of ['GET', 'DELETE']) expect((await alice.call(method, `/profile/apps/${id}`)).status).toBe(404)
})

test("an app's tokens act within its scopes, and not beyond its access", async () => {
  const { alice, aliceName, with: withToken } = nextAccount()
  const [dashboard, other, imports] = ['dashboard', 'dashboard-too', 'import'].map(withToken) as [Client, Client, Client]
  expect(await dashboard.ok('GET', '/profile')).toMatchObject({ username: aliceName })
  expect((await dashboard.call('PUT', '/profile', {})).status).toBe(401)
  expect((await withToken('ended').call('GET', '/profile')).status).toBe(401)
  // The tokens belong to the app: the user cannot list, rename or revoke them as personal access tokens.
  const tokens = (await alice.ok('GET', '/profile/tokens')).data.map(({ label }: Named) => label)
  expect(tokens).toEqual(['seed', 'seed'])
  const ids = (await alice.ok('GET', '/profile/tokens')).data.map(({ id }: Named) => id)
  for (let id = ids[0] - 4; id < ids[1] + 8; id += 1) {
    const { status, body } = await imports.call('GET', `/profile/tokens/${id}`)
    if (status === 200) expect(body.label).toBe('seed')
  }
  const [{ id }] = (await alice.ok('GET', '/profile/apps')).data
  expect(await alice.ok('DELETE', `/profile/apps/${id}`)).toEqual({})
  for (const client of [dashboard, other]) expect((await client.call('GET', '/profile')).status).toBe(401)
  expect((await alice.call('DELETE', `/profile/apps/${id}`)).status).toBe(404)
  expect((await imports.call('GET', '/profile')).status).toBe(200)
  pass(HALF_DAY)
  expect((await imports.call('GET', '/profile')).status).toBe(401)
})

test('a deleted app is refused by every process immediately', async () => {
  const { alice, with: withToken } = nextAccount()
  const other = ON_POSTGRES ? (await startClocked(store)).as(`dashboard-${accounts - 1}`) : withToken('dashboard')
  expect((await other.call('GET', '/profile')).status).toBe(200)
  await alice.ok('DELETE', `/profile/apps/${(await alice.ok('GET', '/profile/apps')).data[0].id}`)
  expect((await other.call('GET', '/profile')).status).toBe(401)
})

test('devices are trusted until their session ends or they are deleted', async () => {
  const { alice, bob } = nextAccount()
  const { data } = await alice.ok('GET', '/profile/devices')
  expect(data).toEqual([
    {
      id: expect.any(Number),
      created: DEVICE_CREATED,
      expiry: textOf(START + HALF_DAY),
      last_authenticated: daysAgo(2),
      last_remote_addr: '2001:db8::1',
      user_agent: 'Mozilla/5.0',
    },
  ])
  const path = `/profile/devices/${data[0].id}`
  expect(await alice.ok('GET', path)).toEqual(data[0])
  for (const method of ['GET', 'DELETE']) expect((await bob.call(method, path)).status).toBe(404)
  pass(HALF_DAY)
  for (const method of ['GET', 'DELETE']) expect((await alice.call(method, path)).status).toBe(404)
  pass(-MINUTE)
  expect(await alice.ok('DELETE', path)).toEqual({})
  expect((await alice.ok('GET', '/profile/devices')).results).toBe(0)
})

test('logins of the last 90 days are listed', async () => {
  const { alice, bob, aliceName, bobName } = nextAccount()
  const { data } = await alice.ok('GET', '/profile/logins')
  const login = { id: expect.any(Number), username: aliceName, restricted: false }
  const own = { ...login, datetime: textOf(START), ip: '127.0.0.1', status: 'successful' }
  expect(data).toEqual([
    { ...login, datetime: daysAgo(90, 1), ip: '192.0.2.2', status: 'failed' },
    { ...login, datetime: daysAgo(1), ip: '192.0.2.3', status: 'successful' },
    { ...login, datetime: daysAgo(1), ip: '192.0.2.3', status: 'successful' },
    own,
  ])
  const path = `/profile/logins/${data[0].id}`
  expect(await alice.ok('GET', path)).toEqual(data[0])
  expect((await bob.call('GET', path)).status).toBe(404)
  expect((await bob.ok('GET', '/profile/logins')).data).toEqual([{ ...own, username: bobName, restricted: true }])
  pass(MINUTE)
  expect((await alice.call('GET', path)).status).toBe(404)
  expect((await alice.ok('GET', '/profile/logins')).results).toBe(3)
})

test('a login is the first request of a day from an address with a personal token', async () => {
  const { alice, with: withToken } = nextAccount()
  const logins = async () =>
    (await alice.ok('GET', '/profile/logins')).data
      .filter(({ ip }: Record<string, string>) => ip === '127.0.0.1')
      .map(({ datetime, status }: Record<string, string>) => [datetime, status])
  await Promise.all(Array.from({ length: 8 }, () => alice.ok('GET', '/profile')))
  await withToken('dashboard').ok('GET', '/profile')
  expect(await logins()).toEqual([[textOf(START), 'successful']])
  for (let request = 0; request < 2; request += 1) expect((await withToken('alice-expired').call('GET', '/profile')).status).toBe(401)
  expect((await as('nobody').call('GET', '/profile')).status).toBe(401)
  expect(await logins()).toEqual([
    [textOf(START), 'successful'],
    [textOf(START), 'failed'],
  ])
  pass(HALF_DAY)
  expect(await logins()).toEqual([
    [textOf(START), 'successful'],
    [textOf(START), 'failed'],
    [textOf(START + HALF_DAY), 'successful'],
  ])
})

test('expired data is deleted once a day', async () => {
  const [someone, ...others] = usersOf(0)
  const users = [{ ...someone, devices: [{ user_agent: 'kept' }, { user_agent: 'over', created: daysAgo(30) }] }, ...others]
  const own = await freshStore()
  const { client, as, pass, catchUp, stop } = await startClocked({ ...own, seed: seedOf({ accounts: [{ users }] }) })
  const alice = as('alice-0')
  await client.ok('POST', '/profile/phone-number', { iso_code: 'US', phone_number: '2015550123' })
  await alice.ok('POST', '/profile/tfa-enable')
  for (let day = 0; day < 2; day += 1) {
    pass(DAY)
    await catchUp()
  }
  await stop()
  const database = await openStore(own)
  const left = await database.read(async (connection) => {
    const count = async (table: 'apps' | 'trusted_devices' | 'logins' | 'phone_codes'): Promise<number> =>
      (await connection.selectFrom(table).select('user_id').execute()).length
    return {
      apps: await count('apps'),
      devices: await count('trusted_devices'),
      logins: await count('logins'),
      codes: await count('phone_codes'),
      secrets: await connection.selectFrom('second_factors').select('pending').execute(),
      jobs: await connection.selectFrom('jobs').select('due').where('kind', '=', 'delete-expired').execute(),
    }
  })
  await database.close()
  // The administrator and alice have logged in once since.
  expect(left).toEqual({ apps: 1, devices: 1, logins: 4, codes: 0, secrets: [{ pending: '' }], jobs: [{ due: START + 3 * DAY }] })
})

test("a seed reports the errors of users' objects", () => {
  const users = [
    {
      username: 'carol',
      email: 'carol@example.com',
      profile: { timezone: 'Mars/Base', authorized_keys: ['x'], verified_phone_number: '0123' },
      ssh_keys: [{ label: 'x', ssh_key: 'ssh-rsa x' }],
      security_questions: [1, 1, 20].map((question_id) => ({ question_id, response: 'abc' })),
      apps: [{ label: 'x', scopes: 'everything', expiry: 'soon', website: 'javascript:alert(1)' }],
      devices: [{ user_agent: 'x', last_remote_addr: 'here' }],
      logins: [{ datetime: 'then', ip: '192.0.2' }],
    },
  ]
  const reported = (document: object): string[] => readSeed(JSON.stringify(document), 'seed.json').diagnostics.map(({ message }) => message)
  expect(reported({ accounts: [{ users }] })).toEqual([
    expect.stringContaining('verified_phone_number'),
    expect.stringContaining('website'),
    expect.stringContaining('question_id'),
  ])
  const [user] = users
  const { verified_phone_number: _, ...profile } = user?.profile ?? {}
  const apps = user?.apps.map(({ website: __, ...app }) => app)
  const security_questions = [1, 1, 2].map((question_id) => ({ question_id, response: 'abc' }))
  const problems = reported({ accounts: [{ users: [{ ...user, profile, security_questions, apps }] }] })
  for (const part of ['timezone', 'authorized_keys', 'ssh_key', 'question_id', 'scopes', 'expiry', 'last_remote_addr', 'datetime', 'ip:'])
    expect(problems.some((message) => message.includes(part))).toBe(true)
})
