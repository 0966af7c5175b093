/** Names that may become zones: two accounts and a restricted user, with every operation that creates or renames a zone. */
import { CompiledQuery } from 'kysely'
import { describe, expect, test } from 'vitest'
import { ROUTES } from '../../src/service/api/routes.ts'
import { findNameConflict } from '../../src/service/store/domain-store.ts'
import { rounds } from '../support/random.ts'
import { applySeed, type Client, connect, freshStore, MASTER, ON_POSTGRES, openStore, seedFrom, startForTest } from './harness.ts'
import { scriptedMaster, serving, soa } from './transfers/scripted-master.ts'

const OVERLAP = { errors: [{ field: 'domain', reason: 'A DNS zone above or below this name exists, and you may not change it.' }] }
const TAKEN = { errors: [{ field: 'domain', reason: 'DNS zone already exists.' }] }
const SUFFIX = { errors: [{ field: 'domain', reason: 'domain is a public suffix' }] }
const SLAVE = { type: 'slave', master_ips: ['192.0.2.53'] }

const user = (username: string, rest: object = {}) => {
  return { username, email: `${username}@example.com`, tokens: [{ token: username }], ...rest }
}

const restricted = (permissions: Readonly<Record<string, string>>) => ({
  restricted: true,
  grants: {
    global: { add_domains: true },
    domain: Object.entries(permissions).map(([domain, permission]) => ({ domain, permissions: permission })),
  },
})

/** Zones by the user who may change them: `alice` and the restricted `rita` are in the first account, `bob` is in the second. */
const ZONES = {
  alice: ['closed.example', 'www.closed-below.example', 'seen.example', 'www.seen-below.example', 'open.example', 'www.open-below.example'],
  bob: ['other.example', 'www.other-below.example'],
}

const accounts = (zones: { readonly alice: readonly string[]; readonly bob: readonly string[] }, permissions = {}) => {
  const domains = (names: readonly string[]) => names.map((domain) => ({ ...MASTER, domain }))
  return {
    accounts: [
      { users: [user('alice'), user('rita', restricted(permissions))], domains: domains(zones.alice) },
      { users: [user('bob')], domains: domains(zones.bob) },
    ],
  }
}

/** A master with every requested zone. */
const peerPort = await scriptedMaster(
  (query, ...rest) => serving([soa(1, '3600 600 604800 300', query.questions[0]?.name)])(query, ...rest),
  { keep: true },
)

const READABLE = { 'seen.example': 'read_only', 'www.seen-below.example': 'read_only' }
const { service } = await startForTest({
  peerPort,
  bootstrapToken: 'administrator',
  seed: seedFrom(accounts(ZONES, { ...READABLE, 'open.example': 'read_write', 'www.open-below.example': 'read_write' })),
})
const as = (token: string): Client => connect(service.baseUrl, token).client
const [alice, rita, bob] = [as('alice'), as('rita'), as('bob')]
const CLIENTS: Readonly<Record<string, Client>> = { alice, rita, bob }
const create = (client: Client, domain: string) => client.call('POST', '/domains', { ...MASTER, domain })
let spare = 0
const spareZone = async (client: Client): Promise<number> => {
  spare += 1
  return (await client.ok('POST', '/domains', { ...MASTER, domain: `spare-${spare}.example.net` })).id
}

/** Every operation that creates or renames a zone: requests a name, and returns the response. */
const OPERATIONS: Readonly<
  Record<string, { readonly route: string; readonly ask: (client: Client, domain: string) => ReturnType<Client['call']> }>
> = {
  'create a master': { route: 'POST /domains', ask: create },
  'create a slave': { route: 'POST /domains', ask: (client, domain) => client.call('POST', '/domains', { ...SLAVE, domain }) },
  import: {
    route: 'POST /domains/import',
    ask: (client, domain) => client.call('POST', '/domains/import', { domain, remote_nameserver: '127.0.0.1' }),
  },
  clone: {
    route: 'POST /domains/{domainId}/clone',
    ask: async (client, domain) => client.call('POST', `/domains/${await spareZone(client)}/clone`, { domain }),
  },
  rename: {
    route: 'PUT /domains/{domainId}',
    ask: async (client, domain) => client.call('PUT', `/domains/${await spareZone(client)}`, { domain }),
  },
}

test('the list contains all operations that create or rename a zone', () => {
  const naming = ROUTES.filter(({ body }) => 'domain' in ((body as { properties?: object } | undefined)?.properties ?? {}))
  const routes = naming.map(({ method, path }) => `${method} ${path}`)
  expect(routes.sort()).toEqual([...new Set(Object.values(OPERATIONS).map(({ route }) => route))].sort())
})

/** The position of a name, and for each user whether they may claim it. */
const TABLE: readonly (readonly [place: string, name: string, ...getting: string[]])[] = [
  ['below a zone of the first account, closed to its restricted user', 'www.closed.example', 'alice'],
  ['far below it', 'a.b.c.d.closed.example', 'alice'],
  ['above such a zone', 'closed-below.example', 'alice'],
  ['below a zone that the restricted user may only read', 'www.seen.example', 'alice'],
  ['above such a zone', 'seen-below.example', 'alice'],
  ['below a zone that the restricted user may change', 'www.open.example', 'alice', 'rita'],
  ['above such a zone', 'open-below.example', 'alice', 'rita'],
  ['below a zone of the second account', 'www.other.example', 'bob'],
  ['far below it', 'a.b.c.d.other.example', 'bob'],
  ['above such a zone', 'other-below.example', 'bob'],
  ['above zones of both accounts', 'example'],
  ['unrelated to all zones', 'free.example', 'alice', 'rita', 'bob'],
  ['a suffix of a zone inside a label', 'my-closed.example', 'alice', 'rita', 'bob'],
  ['a zone extended inside its first label', 'closed.example-1.net', 'alice', 'rita', 'bob'],
]

// On PostgreSQL only the query differs; store/postgres/zone-names.test.ts has its locks.
const TRIED = Object.entries(OPERATIONS).slice(0, ON_POSTGRES ? 1 : undefined)

describe.each(TRIED.map(([operation, { ask }], index) => ({ operation, ask, index })))('$operation', ({ ask, index }) => {
  // The operations claim names by one function: the others have a quarter of the table each.
  test.each(TABLE.filter((_, place) => index === 0 || place % 4 === index - 1))('%s: %s', async (_place, name, ...getting) => {
    for (const [person, client] of Object.entries(CLIENTS)) {
      const answer = await ask(client, name)
      if (getting.includes(person)) {
        expect([person, answer.status, answer.body.domain]).toEqual([person, 200, name])
        await client.ok('DELETE', `/domains/${answer.body.id}`)
      } else {
        expect([person, answer.status, answer.body]).toEqual([person, 400, OVERLAP])
      }
    }
  })

  test('refuses a used name, also between zones of other accounts', async () => {
    for (const client of Object.values(CLIENTS)) {
      expect(await ask(client, 'closed.example')).toMatchObject({ status: 400, body: TAKEN })
      expect(await ask(client, 'other.example')).toMatchObject({ status: 400, body: TAKEN })
    }
  })

  test('refuses a public suffix', async () => expect(await ask(alice, 'foo.kawasaki.jp')).toMatchObject({ status: 400, body: SUFFIX }))
})

test.each('com CO.UK. uk za ck foo.ck kawasaki.jp foo.kawasaki.jp рф xn--p1ai 公司.cn arpa in-addr.arpa ip6.arpa onion'.split(' '))(
  'the public suffix %s',
  async (name) => expect(await create(alice, name)).toMatchObject({ status: 400, body: SUFFIX }),
)

test.each([
  ...'example.com example.co.uk www.ck city.kawasaki.jp github.io alice.github.io internal test home.arpa lan'.split(' '),
  ...'2.0.192.in-addr.arpa 10.in-addr.arpa 8.b.d.0.1.0.0.2.ip6.arpa xn--e1afmkfd.xn--p1ai _dmarc.example.com'.split(' '),
])('%s, which is no public suffix of ICANN', async (name) => {
  const answer = await create(alice, name)
  expect([answer.status, answer.body.domain]).toEqual([200, name])
  await alice.ok('DELETE', `/domains/${answer.body.id}`)
})

test('a public suffix is reported with the other errors of a request', async () => {
  expect(await alice.problems('POST', '/domains', { domain: 'com', type: 'master', ttl_sec: 'x' })).toEqual([
    'ttl_sec: ttl_sec is not valid',
    'domain: domain is a public suffix',
    'soa_email: soa_email required when type=master',
  ])
})

test('a restricted user may nest its own zones', async () => {
  for (const domain of ['rita.example', 'b.rita.example', 'a.b.rita.example', 'c.rita.example'])
    expect((await create(rita, domain)).status).toBe(200)
})

test('a zone may be renamed to a name above or below its own', async () => {
  for (const client of Object.values(CLIENTS)) {
    const { id } = await client.ok('POST', '/domains', { ...MASTER, domain: 'moving.example' })
    for (const domain of ['a.b.moving.example', 'b.moving.example', 'moving.example']) await client.ok('PUT', `/domains/${id}`, { domain })
    await client.ok('DELETE', `/domains/${id}`)
  }
})

test('a name is free again if the zone above is deleted or renamed', async () => {
  const { id } = await alice.ok('POST', '/domains', { ...MASTER, domain: 'passing.example', status: 'disabled' })
  expect(await bob.call('POST', '/domains', { ...MASTER, domain: 'www.passing.example' })).toMatchObject({ status: 400, body: OVERLAP })
  await alice.ok('PUT', `/domains/${id}`, { domain: 'passed.example' })
  const below = await bob.ok('POST', '/domains', { ...MASTER, domain: 'www.passing.example' })
  expect(await alice.call('PUT', `/domains/${id}`, { domain: 'passing.example' })).toMatchObject({ status: 400, body: OVERLAP })
  await bob.ok('DELETE', `/domains/${below.id}`)
  await alice.ok('PUT', `/domains/${id}`, { domain: 'passing.example' })
})

describe.skipIf(ON_POSTGRES)('concurrent requests', () => {
  /** Names that are all ancestors or descendants of each other, the shortest first. */
  const lineOf = (round: number): string[] => ['', 'a.', 'b.a.', 'c.b.a.'].map((labels) => `${labels}race-${round}.example`)

  test.each(Object.entries(OPERATIONS))('%s: only one account gets overlapping names', async (operation, { ask }) => {
    const people = ['alice', 'bob']
    // In sequence: the number of concurrent imports is limited.
    for (let round = 0; round < rounds(operation === 'create a master' ? 6 : 2); round += 1) {
      const asked = lineOf(round).flatMap((name) => people.map((person) => ({ name, person })))
      const answers = await Promise.all(asked.map(({ name, person }) => ask(CLIENTS[person] as Client, name)))
      const got = asked.map((request, index) => ({ ...request, ...(answers[index] as (typeof answers)[number]) }))
      const given = got.filter(({ status }) => status === 200)
      expect([operation, new Set(given.map(({ person }) => person)).size]).toEqual([operation, 1])
      for (const { status, body } of got) if (status !== 200) expect([OVERLAP, TAKEN]).toContainEqual(body)
      for (const { person, body } of given) await (CLIENTS[person] as Client).ok('DELETE', `/domains/${body.id}`)
    }
  })
})

test.each([
  ['below', ['a.example'], ['www.a.example'], 'the domain www.a.example of the seed is above or below a domain of another account'],
  ['above', ['www.a.example'], ['a.example'], 'the domain a.example of the seed is above or below a domain of another account'],
  ['at a public suffix', [], ['co.uk'], 'the domain co.uk of the seed is a public suffix'],
])('a seed with a zone %s is refused, and nothing is stored', async (_place, alice, bob, message) => {
  const database = await openStore(await freshStore())
  await expect(applySeed(database, accounts({ alice, bob }))).rejects.toThrow(message)
  await applySeed(database, accounts({ alice: ['www.a.example', 'a.example'], bob: [] }))
  await database.close()
})

test('a zone whose name became a public suffix keeps working', async () => {
  const store = await freshStore()
  const seed = accounts({ alice: ['first.example'], bob: [] })
  const database = await openStore(store)
  await applySeed(database, seed)
  const name = { domain: 'co.uk', reversed_name: 'uk.co.' }
  await database.write((connection) => connection.updateTable('domains').set(name).where('domain', '=', 'first.example').execute())
  await database.close()
  const later = await startForTest({ ...store, bootstrapToken: 'administrator', seed: seedFrom(seed) })
  const { client } = connect(later.service.baseUrl, 'alice')
  const [{ id }] = (await client.ok('GET', '/domains')).data
  await client.ok('PUT', `/domains/${id}`, { domain: 'CO.UK.', description: 'in capitals' })
  await client.ok('POST', `/domains/${id}/records`, { type: 'A', name: 'www', target: '192.0.2.1' })
  await later.service.flush()
  expect((await client.ok('GET', `/domains/${id}/zone-file`)).zone_file[0]).toContain('co.uk')
})

test.skipIf(ON_POSTGRES)('a claim finds other zones by an index, however many there are', async () => {
  const database = await openStore(await freshStore())
  const queries: CompiledQuery[] = []
  const plans = await database.read(async (connection) => {
    const watched = connection.withPlugin({
      transformQuery: ({ node, queryId }) => {
        const query = connection.getExecutor().compileQuery(node, queryId)
        // Not the parts of the query, which are compiled first.
        if (query.sql.includes('union all')) queries.push(query)
        return node
      },
      transformResult: async ({ result }) => result,
    })
    for (const restricted of [false, true]) await findNameConflict(watched, { accountId: 1, userId: 1, restricted }, 'www.zone.example')
    const steps = queries.map(({ sql, parameters }) =>
      connection.executeQuery<{ detail: string }>(CompiledQuery.raw(`explain query plan ${sql}`, [...parameters])),
    )
    return (await Promise.all(steps)).flatMap(({ rows }) => rows.map(({ detail }) => detail))
  })
  await database.close()
  expect(plans.filter((step) => step.includes('SEARCH domains USING'))).toHaveLength(4)
  expect(plans.filter((step) => /SCAN (domains|grants)/.test(step))).toEqual([])
})
