import { describe, expect, test } from 'vitest'
import { type Client, connect, inParallel, invalid, startForTest } from '../harness.ts'
import { seedOfPeople, tokenOf } from './people.ts'

const { service, client: admin } = await startForTest({ seed: seedOfPeople(['one.example', 'two.example']) })
const as = (user: string): Client => connect(service.baseUrl, tokenOf(user)).client
const [owner, stranger, reader] = [as('owner'), as('stranger'), as('reader')]
let made = 0
const makeDomain = (client: Client, tags: readonly string[] = []) => {
  made += 1
  return client.ok('POST', '/domains', { domain: `made-${made}.example`, type: 'master', soa_email: 'a@example.com', tags })
}
const labels = async (client: Client, query = ''): Promise<string[]> =>
  (await client.ok('GET', `/tags${query}`)).data.map(({ label }: { label: string }) => label)
const carriers = async (client: Client, label: string): Promise<number[]> => {
  const answer = await client.call('GET', `/tags/${encodeURIComponent(label)}?page_size=500`)
  if (answer.status === 404) return []
  return answer.body.data.map(({ data }: { data: { id: number } }) => data.id)
}

describe('a tag', () => {
  test('is added to many objects at once', async () => {
    const ids = [(await makeDomain(owner)).id, (await makeDomain(owner, ['kept'])).id]
    expect(await owner.ok('POST', '/tags', { label: 'Many', domains: [...ids, ids[0]], instances: [], volumes: null })).toEqual({
      label: 'Many',
    })
    expect((await owner.ok('GET', `/domains/${ids[1]}`)).tags).toEqual(['kept', 'Many'])
    const { data, ...page } = await owner.ok('GET', '/tags/Many')
    expect(page).toEqual({ page: 1, pages: 1, results: 2 })
    expect(data).toEqual([
      { type: 'domain', data: await owner.ok('GET', `/domains/${ids[0]}`) },
      { type: 'domain', data: await owner.ok('GET', `/domains/${ids[1]}`) },
    ])
  })

  test('ignores case; the first spelling is kept', async () => {
    const { id } = await makeDomain(owner)
    expect(await owner.ok('POST', '/tags', { label: 'MANY', domains: [id] })).toEqual({ label: 'Many' })
    expect(await carriers(owner, 'many')).toContain(id)
    expect((await labels(owner)).filter((label) => label.toLowerCase() === 'many')).toEqual(['Many'])
  })

  test.each(['a/b c?d#e%41', 'träger ñ 企業', '🏷'.repeat(50), '...', 'a+b&c'])('%j can be encoded in a path', async (label) => {
    const { id } = await makeDomain(owner)
    await owner.ok('POST', '/tags', { label, domains: [id] })
    expect(await carriers(owner, label)).toEqual([id])
    expect(await owner.ok('DELETE', `/tags/${encodeURIComponent(label)}`)).toEqual({})
    expect(await carriers(owner, label)).toEqual([])
  })

  test('without objects exists until it is deleted, and its list is empty', async () => {
    await owner.ok('POST', '/tags', { label: 'bare' })
    expect(await labels(owner)).toContain('bare')
    expect(await owner.ok('GET', '/tags/bare')).toEqual({ data: [], page: 1, pages: 1, results: 0 })
    expect((await reader.call('GET', '/tags/bare')).status).toBe(404)
    expect((await stranger.call('GET', '/tags/bare')).status).toBe(404)
    expect(await owner.ok('DELETE', '/tags/BARE')).toEqual({})
    expect((await owner.call('DELETE', '/tags/bare')).status).toBe(404)
    expect((await owner.call('GET', '/tags/bare')).status).toBe(404)
    expect(await labels(owner)).not.toContain('bare')
  })

  test('is removed from all objects when it is deleted', async () => {
    const { id } = await makeDomain(owner, ['doomed', 'other'])
    await owner.ok('DELETE', '/tags/doomed')
    expect((await owner.ok('GET', `/domains/${id}`)).tags).toEqual(['other'])
    expect((await owner.ok('GET', '/domains', undefined, { 'x-filter': '{"tags":"doomed"}' })).results).toBe(0)
  })

  test.each([
    [['instances'], { instances: [1] }],
    [['linodes', 'volumes'], { linodes: [1], volumes: [2] }],
    [['domains'], { domains: [999_999] }],
  ])('with missing objects is refused: %j', async (fields, objects) => {
    expect(await owner.problems('POST', '/tags', { label: 'tag', ...objects })).toEqual(fields.map(invalid))
  })

  test('is refused as the 501st tag of a domain', async () => {
    const tags = Array.from({ length: 500 }, (_, index) => `tag ${String(index).padStart(3, '0')}`)
    const { id } = await makeDomain(admin, tags)
    expect(await admin.problems('POST', '/tags', { label: 'one more', domains: [id] })).toEqual([
      'domains: A domain can have at most 500 tags.',
    ])
    await admin.ok('POST', '/tags', { label: 'tag 000', domains: [id] })
    expect((await admin.ok('GET', `/domains/${id}`)).tags).toEqual(tags)
    expect(await labels(admin, '?page=2&page_size=300')).toEqual(tags.slice(300))
    await admin.ok('DELETE', `/domains/${id}`)
  })
})

describe('the tags of an account', () => {
  test('belong to one account', async () => {
    await makeDomain(owner, ['common', 'ours'])
    const theirs = await makeDomain(stranger, ['COMMON'])
    expect(await labels(stranger)).toEqual(['COMMON'])
    expect(await carriers(stranger, 'common')).toEqual([theirs.id])
    expect((await stranger.call('GET', '/tags/ours')).status).toBe(404)
    expect((await stranger.call('DELETE', '/tags/ours')).status).toBe(404)
    await stranger.ok('DELETE', '/tags/common')
    expect(await labels(owner)).toContain('common')
  })

  test('are sorted and paginated', async () => {
    const many = Array.from({ length: 60 }, (_, index) => `T${String(59 - index).padStart(2, '0')}x`)
    await makeDomain(stranger, many)
    expect(await labels(stranger, '?page_size=25&page=3')).toEqual(many.toSorted().slice(50))
    expect(await stranger.ok('GET', '/tags?page_size=25')).toMatchObject({ pages: 3, results: 60 })
  })

  test('can be filtered only to all or none', async () => {
    await makeDomain(owner, ['filtered'])
    for (const path of ['/tags', '/tags/filtered']) {
      const count = async (filter: object) => (await owner.ok('GET', path, undefined, { 'x-filter': JSON.stringify(filter) })).results
      expect(await count({ '+and': [], '+order': 'asc' })).toBeGreaterThan(0)
      expect(await count({ '+or': [] })).toBe(0)
    }
  })

  test('are visible to a restricted user if an object with the tag is', async () => {
    const hidden = await makeDomain(owner, ['hidden', 'tag of one.example'])
    expect(await labels(reader)).toEqual(['tag of one.example', 'tag of two.example'])
    expect((await reader.ok('GET', '/tags')).results).toBe(2)
    expect((await reader.call('GET', '/tags/hidden')).status).toBe(404)
    expect(await carriers(reader, 'tag of one.example')).not.toContain(hidden.id)
    expect((await reader.ok('GET', '/tags/tag%20of%20one.example')).results).toBe(1)
    expect(await labels(as('guest'))).toEqual([])
  })
})

test('concurrent additions and removals lose no change', async () => {
  const domains = await inParallel(4, 4, () => makeDomain(owner))
  const ids: number[] = domains.map(({ id }) => id).sort((a, b) => a - b)
  await inParallel(120, 12, async (index): Promise<void> => {
    const label = `race ${index % 3}`
    if (index % 5 === 0) await owner.call('DELETE', `/tags/${encodeURIComponent(label)}`)
    else if (index % 2 === 0) await owner.ok('POST', '/tags', { label, domains: ids })
    else await owner.ok('PUT', `/domains/${ids[index % 4]}`, { tags: index % 3 === 0 ? [] : [label] })
  })
  for (const label of ['race 0', 'race 1', 'race 2']) {
    const carrying = await carriers(owner, label)
    for (const id of ids) {
      const { tags } = await owner.ok('GET', `/domains/${id}`)
      expect([label, id, tags.includes(label)]).toEqual([label, id, carrying.includes(id)])
    }
    // Every acknowledged change is visible.
    expect(await owner.ok('POST', '/tags', { label, domains: ids })).toEqual({ label })
    expect(await carriers(owner, label)).toEqual(ids)
  }
})
