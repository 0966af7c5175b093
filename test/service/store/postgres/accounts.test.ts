/** Tokens, users and tags, with two services on one database. */
import { expect, test } from 'vitest'
import { connect, freshDatabase, inParallel, seedFrom, startForTest } from '../../harness.ts'

const database = await freshDatabase()
const { service: one, client } = await startForTest({ database, bootstrapToken: 'administrator' })
const { service: two, client: other } = await startForTest({ database, bootstrapToken: 'administrator' })

test('a token created by one process is valid in the other, and a revoked one is immediately invalid there', async () => {
  for (let round = 0; round < 20; round += 1) {
    const { token, id } = await client.ok('POST', '/profile/tokens', { label: 'round' })
    const there = connect(two.baseUrl, token).client
    expect((await there.call('GET', '/profile')).status).toBe(200)
    await client.ok('DELETE', `/profile/tokens/${id}`)
    expect((await there.call('GET', '/profile')).status).toBe(401)
  }
})

test('concurrent tag changes lose nothing', async () => {
  const ids: number[] = []
  for (const name of ['a', 'b', 'c'])
    ids.push((await client.ok('POST', '/domains', { domain: `${name}.example`, type: 'master', soa_email: 'a@example.com' })).id)
  await inParallel(90, 12, async (index): Promise<void> => {
    const by = index % 2 === 0 ? client : other
    if (index % 5 === 0) await by.call('DELETE', '/tags/shared')
    else if (index % 3 === 0) await by.ok('PUT', `/domains/${ids[index % ids.length]}`, { tags: index % 7 === 0 ? [] : ['shared'] })
    else await by.ok('POST', '/tags', { label: 'Shared', domains: ids })
  })
  await client.ok('POST', '/tags', { label: 'shared', domains: ids })
  const spelling = (await other.ok('GET', '/tags')).data
  expect(spelling).toHaveLength(1)
  expect((await other.ok('GET', '/tags/shared')).results).toBe(3)
  for (const id of ids) expect((await other.ok('GET', `/domains/${id}`)).tags).toEqual([spelling[0].label])
})

test('the last unrestricted user stays unrestricted in every process', async () => {
  const users = ['a', 'b'].map((name) => ({ username: name, email: `${name}@example.com`, tokens: [{ token: `token-${name}` }] }))
  await startForTest({ database, seed: seedFrom({ accounts: [{ users }] }) })
  const answers = await Promise.all([
    connect(one.baseUrl, 'token-a').client.call('PUT', '/profile', { restricted: true }),
    connect(two.baseUrl, 'token-b').client.call('PUT', '/profile', { restricted: true }),
  ])
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
})

test('concurrent starts create one administrator and one of each user', async () => {
  const url = await freshDatabase()
  const seed = seedFrom({ accounts: [{ users: [{ username: 'u', email: 'u@example.com', tokens: [{ token: 'token-u' }] }] }] })
  const started = await Promise.all([1, 2, 3].map(() => startForTest({ database: url, bootstrapToken: 'first', seed })))
  for (const { client: by, service } of started) {
    expect((await by.ok('GET', '/profile/tokens')).results).toBe(1)
    expect((await connect(service.baseUrl, 'token-u').client.ok('GET', '/profile/tokens')).results).toBe(1)
  }
})
