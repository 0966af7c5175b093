import { createHash } from 'node:crypto'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openDatabase } from '../../../src/service/service-context.ts'
import { rounds } from '../../support/random.ts'
import { type Client, connect, freshStore, startForTest, temporaryDirectory } from '../harness.ts'
import { seedOfPeople } from './people.ts'

const START = Date.parse('2026-01-01T00:00:00Z')
const NEVER = '2999-12-12T05:00:00'
let time = START
const copy = temporaryDirectory()
const store = await freshStore()
const { service, client } = await startForTest({ ...store, seed: seedOfPeople([]), bootstrapToken: 'administrator', clock: () => time })
const as = (token: string): Client => connect(service.baseUrl, token).client

describe('a new token', () => {
  test('is shown once', async () => {
    const made = await client.ok('POST', '/profile/tokens', { label: 'mine', scopes: 'domains:read_only' })
    expect(made).toEqual({
      id: expect.any(Number),
      label: 'mine',
      scopes: 'domains:read_only',
      created: '2026-01-01T00:00:00',
      expiry: NEVER,
      token: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    const shown = { ...made, token: made.token.slice(0, 16) }
    expect(await client.ok('GET', `/profile/tokens/${made.id}`)).toEqual(shown)
    expect(await client.ok('PUT', `/profile/tokens/${made.id}`, { label: 'renamed' })).toEqual({ ...shown, label: 'renamed' })
    expect((await client.ok('GET', '/profile/tokens')).data).toContainEqual({ ...shown, label: 'renamed' })
    expect((await as(made.token).call('GET', '/domains')).status).toBe(200)
  })

  test('is stored as a hash', async () => {
    const { token } = await client.ok('POST', '/profile/tokens', {})
    const database = await openBeside()
    const rows = await database.read((connection) => connection.selectFrom('tokens').selectAll().execute())
    await database.close()
    expect(JSON.stringify(rows)).not.toContain(token)
    expect(rows.map(({ hash }) => hash)).toContain(createHash('sha256').update(token).digest('hex'))
  })

  test.each<[string, object, object]>([
    ['nothing', {}, { label: expect.stringMatching(/^token-[0-9a-f]{8}$/), scopes: '*', expiry: NEVER }],
    ['all scopes', { scopes: '*' }, { scopes: '*' }],
    ['duplicate', { scopes: 'domains:read_only account:read_write domains:read_only' }, { scopes: 'domains:read_only account:read_write' }],
    ['scopes with names of others', { scopes: 'linodes:read_only events:read_only' }, { scopes: 'linodes:read_only events:read_only' }],
    ['an expiry', { expiry: '2026-02-01T00:00:00' }, { expiry: '2026-02-01T00:00:00' }],
    ['an expiry with a time zone', { expiry: '2026-02-01T01:30:00+01:30' }, { expiry: '2026-02-01T00:00:00' }],
    ['an expiry with a fraction', { expiry: '2026-02-01T00:00:00.999Z' }, { expiry: '2026-02-01T00:00:00' }],
    ['no expiry', { expiry: null }, { expiry: NEVER }],
    ['read-only fields', { id: 1, created: '2000-01-01T00:00:00', token: 'x' }, { created: '2026-01-01T00:00:00' }],
  ])('with %s', async (_name, body, shown) => {
    const made = await client.ok('POST', '/profile/tokens', body)
    expect(made).toMatchObject(shown)
    expect(made.token).toMatch(/^[0-9a-f]{64}$/)
  })

  test.each<[string, object, string[]]>([
    ['no scope', { scopes: '' }, ['scopes: scopes is not valid']],
    ['scopes that are null', { scopes: null }, ['scopes: scopes is not valid']],
    ['a misspelt field that is null', { scope: null }, ['scope: Unknown field']],
    ['an unknown family', { scopes: 'domain:read_only' }, ['scopes: scopes is not valid']],
    ['an unknown access', { scopes: 'domains:write' }, ['scopes: scopes is not valid']],
    ['commas', { scopes: 'domains:read_only,account:read_only' }, ['scopes: scopes is not valid']],
    ['two spaces', { scopes: 'domains:read_only  account:read_only' }, ['scopes: scopes is not valid']],
    ['many scopes', { scopes: 'domains:read_only '.repeat(100) }, ['scopes: scopes is not valid']],
    ['an invalid expiry', { expiry: 'tomorrow' }, ['expiry: expiry is not valid']],
    ['an expiry on a day that does not exist', { expiry: '2026-02-30T00:00:00' }, ['expiry: expiry is not valid']],
    ['an expiry now', { expiry: '2026-01-01T00:00:00' }, ['expiry: expiry must be in the future']],
    ['two errors', { scopes: 'x', expiry: '2000-01-01T00:00:00' }, ['scopes: scopes is not valid', 'expiry: expiry must be in the future']],
  ])('with %s is refused', async (_name, body, problems) => {
    expect(await client.problems('POST', '/profile/tokens', body)).toEqual(problems)
  })
})

describe('a token created with another', () => {
  const TOO_MUCH = ['scopes: A token cannot have more scopes than the one it is created with.']

  test.each<[string, string | undefined, string | null]>([
    ['account:read_write', undefined, 'account:read_write'],
    ['account:read_write', 'account:read_only', 'account:read_only'],
    ['account:read_write domains:read_write', 'domains:read_only', 'domains:read_only'],
    ['account:read_write domains:read_only', 'domains:read_write', null],
    ['account:read_write', 'domains:read_only', null],
    ['account:read_write instances:read_only', 'linodes:read_only', 'linodes:read_only'],
    ['account:read_write instances:read_only', 'linodes:read_write', null],
    ['account:read_write', 'account:read_write events:read_only', null],
  ])('%j requests %j', async (acting, scopes, given) => {
    const { token } = await client.ok('POST', '/profile/tokens', { scopes: acting })
    const body = scopes === undefined ? {} : { scopes }
    if (given === null) expect(await as(token).problems('POST', '/profile/tokens', body)).toEqual(TOO_MUCH)
    else expect(await as(token).ok('POST', '/profile/tokens', body)).toMatchObject({ scopes: given })
  })
})

describe('a token expires', () => {
  test('at its expiry', async () => {
    const { token, id } = await client.ok('POST', '/profile/tokens', { expiry: '2026-01-01T00:01:00' })
    const bearer = as(token)
    time = START + 59_999
    expect((await bearer.call('GET', '/profile')).status).toBe(200)
    time = START + 60_000
    expect((await bearer.call('GET', '/profile')).status).toBe(401)
    expect(await client.ok('GET', `/profile/tokens/${id}`)).toMatchObject({ expiry: '2026-01-01T00:01:00' })
    time = START
  })

  test('immediately on revocation, also by itself', async () => {
    const { token, id } = await client.ok('POST', '/profile/tokens', {})
    const bearer = as(token)
    expect(await bearer.ok('DELETE', `/profile/tokens/${id}`)).toEqual({})
    const after = await bearer.call('GET', '/profile')
    expect([after.status, after.body]).toEqual([401, { errors: [{ field: null, reason: 'Invalid Token' }] }])
    expect((await client.call('DELETE', `/profile/tokens/${id}`)).status).toBe(404)
    expect((await client.call('GET', `/profile/tokens/${id}`)).status).toBe(404)
  })

  test('for every request that starts afterwards', async () => {
    // More tries than these meet the limit of refused tokens per address.
    for (let round = 0; round < Math.min(rounds(20), 20); round += 1) {
      const { token, id } = await client.ok('POST', '/profile/tokens', {})
      const bearer = as(token)
      const before = Array.from({ length: 8 }, () => bearer.call('GET', '/domains'))
      await client.ok('DELETE', `/profile/tokens/${id}`)
      const after = await Promise.all(Array.from({ length: 8 }, () => bearer.call('GET', '/domains')))
      expect(after.map(({ status }) => status)).toEqual(Array(8).fill(401))
      for (const { status } of await Promise.all(before)) expect([200, 401]).toContain(status)
    }
  })
})

test('an update changes only the label', async () => {
  const made = await client.ok('POST', '/profile/tokens', { label: 'as it was', scopes: 'domains:read_only' })
  const path = `/profile/tokens/${made.id}`
  const shown = { ...made, token: made.token.slice(0, 16) }
  expect(await client.ok('PUT', path, { scopes: '*', expiry: null, token: 'x', id: 7, created: 'x' })).toEqual(shown)
  expect(await client.ok('PUT', path, {})).toEqual(shown)
  expect(await client.problems('PUT', path, { label: '' })).toEqual(['label: Length must be 1-100 characters'])
  expect((await as(made.token).call('GET', '/profile/tokens')).status).toBe(401)
})

/** A copy of the service's database, since the service accepts SQLite exclusively. */
function openBeside() {
  const onError = () => undefined
  if (store.database) return openDatabase({ url: store.database, folder: null, onError })
  for (const name of ['service.db', 'service.db-wal']) cpSync(join(String(store.dataFolder), name), join(copy, name))
  return openDatabase({ url: null, folder: copy, onError })
}
