import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { readSeed, startService } from '../../../src/service/index.ts'
import { applySeed, type Client, connect, during, freshStore, LOOPBACK, openStore, type Store, seedFrom, startForTest } from '../harness.ts'

/** Lines, columns and messages; paths without the leading `accounts.`. */
const problemsOf = (text: string): string[] =>
  readSeed(text, 'seed.yaml').diagnostics.map(({ code, message, at }) => {
    expect(code).toMatch(/^(seed-invalid|yaml-.*)$/)
    return `${at?.line}:${at?.column} ${message.replace(/^accounts\./, '')}`
  })

const SEED = `
accounts:
  - users:
      - username: alice
        email: alice@example.com
        tokens:
          - token: alice-token
          - { token: alice-reader, label: reads, scopes: 'domains:read_only account:read_only', expiry: 2999-01-01T00:00:00Z }
      - username: bob
        email: bob@example.com
        restricted: true
        tokens: [{ token: bob-token }]
        grants:
          global: { add_domains: true, account_access: read_only, add_images: false }
          domain: [{ domain: One.Example., permissions: read_only }]
    domains:
      - { domain: one.example, type: master, soa_email: hostmaster@one.example, tags: [first] }
      - { domain: two.example, type: slave, master_ips: [192.0.2.1] }
  - users:
      - username: carol
        email: carol@example.com
        tokens: [{ token: carol-token }]
`

const user = (name: string, rest = ''): string => `{ username: ${name}, email: u@example.com${rest} }`

/** A seed whose user has a grant on a domain. */
const granting = (domain: string): string => {
  const grants = `{ domain: [{ domain: ${domain}, permissions: read_only }] }`
  return `accounts: [{ users: [${user('mallory', `, restricted: true, grants: ${grants}`)}] }]`
}

describe('a seed file', () => {
  test('is read', () => {
    const { seed, diagnostics } = readSeed(SEED, 'seed.yaml')
    expect(diagnostics).toEqual([])
    expect(
      seed?.accounts.map(({ users, domains }) => [users.map(({ username }) => username), domains.map(({ domain }) => domain)]),
    ).toEqual([
      [
        ['alice', 'bob'],
        ['one.example', 'two.example'],
      ],
      [['carol'], []],
    ])
    expect(seed?.accounts[0]?.users[0]?.tokens).toEqual([
      { token: 'alice-token', label: 'seed', scopes: '*', expiry: null },
      { token: 'alice-reader', label: 'reads', scopes: 'domains:read_only account:read_only', expiry: '2999-01-01T00:00:00' },
    ])
    expect(seed?.accounts[0]?.users[1]).toMatchObject({
      restricted: true,
      accountAccess: 'read_only',
      globalGrants: ['add_domains'],
      grants: [{ kind: 'domain', label: 'one.example', permissions: 'read_only' }],
    })
  })

  const file = (rest: string): string => `accounts:\n  - users:\n      - ${user('u', rest)}\n`

  test.each<[string, string, string[]]>([
    ['nothing', '', ['1:1 a seed must be a mapping with the key accounts']],
    ['no accounts', 'users: []\n', ['1:1 accounts is required', '1:8 users: Unknown field']],
    ['an account without users', 'accounts: [{ users: [] }]\n', ['1:21 users is not valid']],
    ['a user without a name', 'accounts:\n  - users:\n      - { email: a@example.com }\n', ['3:9 users.username is required']],
    ['a name with a space', file('').replace('username: u', 'username: a b'), ['3:21 users.username is not valid']],
    ['a number as a token', file(', tokens: [{ token: 42 }]'), ['3:64 users.tokens.token is not valid']],
    ['an invalid address', file('').replace('u@example.com', 'u'), ['3:31 users.email: not an email address']],
    ['unknown scopes', file(', tokens: [{ token: t, scopes: everything }]'), ['3:75 users.tokens.scopes: not a list of scopes']],
    ['invalid end', file(', tokens: [{ token: t, expiry: never }]'), ['3:75 users.tokens.expiry: not a time such as 2030-01-31T09:00:00']],
    ['grants of an unrestricted user', file(', grants: { domain: [] }'), ['3:54 users.grants: an unrestricted user needs no grants']],
    ['grant', file(', restricted: true, grants: { global: { add_zones: true } }'), ['3:95 users.grants.global.add_zones: Unknown field']],
    [
      'an invalid domain',
      `${file('')}    domains:\n      - { domain: a..b, type: master }\n`,
      ['5:19 domains.domain: domain is not valid', '5:9 domains.soa_email: soa_email required when type=master'],
    ],
    [
      'duplicates',
      `accounts:\n  - users:\n${`      - ${user('u', ', tokens: [{ token: t }]')}\n`.repeat(2)}`,
      ['4:21 users.username: this username is already in the file', '4:64 users.tokens.token: this token is already in the file'],
    ],
  ])('with %s', (_name, text, problems) => {
    expect(problemsOf(text)).toEqual(problems)
    expect(readSeed(text, 'seed.yaml').seed).toBeNull()
  })

  test.each(['docs/service/running.md', 'examples/service/seed.yaml'])('accepts the example of %s', (file) => {
    const text = readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8')
    const [, example = text] = /## Create accounts and users from a file\n.*?```yaml\n(.*?)```/s.exec(text) ?? []
    expect(problemsOf(example.replaceAll('…', 'x'))).toEqual([])
  })

  test('that is not YAML', () => expect(problemsOf('accounts: [')).toHaveLength(1))

  test('does not show tokens in its diagnostics', () => {
    const said = JSON.stringify(
      readSeed(file(', tokens: [{ token: "secret secret" }, { token: secret-2 }, { token: secret-2 }]'), 'seed.yaml'),
    )
    expect(said).not.toContain('secret')
  })
})

describe('a service with a seed', async () => {
  const store: Store = await freshStore()
  const first = await startService({ ...store, listen: LOOPBACK, dns: null, seed: seedFrom(SEED) })
  const administrator = first.token as string
  const withService = (text: string, work: (as: (token: string) => Client) => Promise<void>) =>
    during({ ...store, bootstrapToken: null, seed: seedFrom(text) }, (_, { baseUrl }) => work((token) => connect(baseUrl, token).client))

  test('keeps its accounts separate', async () => {
    const as = (token: string): Client => connect(first.baseUrl, token).client
    const names = async (token: string) => (await as(token).ok('GET', '/domains')).data.map(({ domain }: { domain: string }) => domain)
    expect(await names('alice-token')).toEqual(['one.example', 'two.example'])
    expect(await names('bob-token')).toEqual(['one.example'])
    expect(await names('carol-token')).toEqual([])
    expect(await names(administrator)).toEqual([])
    expect((await as('alice-reader').call('POST', '/domains')).status).toBe(401)
    expect(await as('bob-token').ok('GET', '/profile/grants')).toMatchObject({
      global: { add_domains: true, account_access: 'read_only', add_images: false },
      domain: [{ label: 'one.example', permissions: 'read_only' }],
    })
    // The domains are rendered like all others.
    await first.flush()
    const [one] = (await as('alice-token').ok('GET', '/domains')).data
    expect((await as('alice-token').ok('GET', `/domains/${one.id}/zone-file`)).zone_file[0]).toBe(`; one.example [${one.id}]`)

    const [token] = (await as('alice-token').ok('GET', '/profile/tokens')).data
    expect(token).toMatchObject({ label: 'seed', token: 'alice' })
    await as('alice-token').ok('DELETE', `/profile/tokens/${token.id}`)
    await as('bob-token').ok('PUT', '/profile', { email: 'robert@example.com' })
    await first.stop()
  })

  test('changes no existing object: a revoked token stays revoked', async () => {
    await withService(SEED, async (as) => {
      expect((await as('alice-token').call('GET', '/profile')).status).toBe(401)
      expect(await as('bob-token').ok('GET', '/profile')).toMatchObject({ email: 'robert@example.com' })
      expect((await as('alice-reader').ok('GET', '/domains')).results).toBe(2)
      expect((await as(administrator).call('GET', '/profile')).status).toBe(200)
    })
  })

  test('adds new users to the account of its existing ones', async () => {
    const more = SEED.replace(
      '      - username: bob',
      '      - { username: dave, email: dave@example.com, tokens: [{ token: dave-token }] }\n      - username: bob',
    )
    await withService(more, async (as) => {
      expect((await as('dave-token').ok('GET', '/domains')).results).toBe(2)
    })
    const beside = [user('admin'), user('erin', ', tokens: [{ token: erin-token }]')]
    await withService(`accounts: [{ users: [${beside}] }]`, async (as) => {
      await as(administrator).ok('POST', '/tags', { label: 'shared' })
      expect((await as('erin-token').ok('GET', '/tags')).data).toEqual([{ label: 'shared' }])
    })
  })

  test.each<[string, string, string]>([
    ['users of one account in two', `accounts: [{ users: [${user('alice')}, ${user('carol')}] }]`, 'alice, carol'],
    [
      'a domain of another account',
      `accounts: [{ users: [${user('carol')}], domains: [{ domain: one.example, type: master, soa_email: a@example.com }] }]`,
      'one.example',
    ],
    ['a token of another user', `accounts: [{ users: [${user('mallory', ', tokens: [{ token: bob-token }]')}] }]`, 'mallory'],
    ['a grant on a missing object', granting('three.example'), 'three.example'],
    ["a grant on another account's object", granting('one.example'), 'one.example'],
  ])('is refused with %s, and nothing is stored', async (_name, text, named) => {
    const early = `{ users: [${user('early', ', tokens: [{ token: early-token }]')}] }`
    const database = await openStore(store)
    const applied = applySeed(database, text.replace('accounts: [', `accounts: [${early}, `))
    await expect(applied).rejects.toThrow(RangeError)
    await expect(applied).rejects.toThrow(named)
    await expect(applied).rejects.not.toThrow('bob-token')
    expect(
      await database.read((connection) => connection.selectFrom('users').select('id').where('username', '=', 'early').execute()),
    ).toEqual([])
    await database.close()
  })
})

test('an invalid seed stops a first start before a token is shown, and the next start creates one', async () => {
  const store = await freshStore()
  const seed = seedFrom(granting('no.example'))
  await expect(startService({ ...store, listen: LOOPBACK, dns: null, seed })).rejects.toThrow('no.example')
  const { service, client } = await startForTest(store)
  expect(service.token).toMatch(/^[0-9a-f]{64}$/)
  expect((await client.call('GET', '/profile')).status).toBe(200)
})
