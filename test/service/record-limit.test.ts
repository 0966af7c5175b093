import { describe, expect, test } from 'vitest'
import { DEFAULT_LIMITS } from '../../src/service/index.ts'
import { inParallel, MASTER, startForTest } from './harness.ts'

describe('the limit of records', async () => {
  const { client } = await startForTest({ limits: { recordsPerDomain: 50 } })
  const REACHED = { errors: [{ field: null, reason: 'A domain can have at most 50 records.' }] }

  test('is exact for a hundred concurrent creations, and a deletion allows one more', async () => {
    const { id } = await client.ok('POST', '/domains', { ...MASTER, domain: 'limit.example' })
    const path = `/domains/${id}/records`
    const create = (index: number) => client.call('POST', path, { type: 'A', name: `h${index}`, target: '192.0.2.1' })
    const answers = await inParallel(100, 100, create)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(50)
    const refused = answers.filter(({ status }) => status !== 200)
    expect(new Set(refused.map(({ status, body }) => JSON.stringify([status, body])))).toEqual(new Set([JSON.stringify([400, REACHED])]))
    const page = await client.ok('GET', `${path}?page_size=500`)
    expect([page.results, page.data.length]).toEqual([50, 50])

    await client.ok('DELETE', `${path}/${page.data[7].id}`)
    expect((await inParallel(10, 10, create)).filter(({ status }) => status === 200)).toHaveLength(1)

    const clone = await client.ok('POST', `/domains/${id}/clone`, { domain: 'clone.example' })
    expect((await client.call('POST', `/domains/${clone.id}/records`, { type: 'A', target: '192.0.2.1' })).body).toEqual(REACHED)
    expect((await client.ok('GET', `/domains/${clone.id}/records`)).results).toBe(50)
  })

  test('is 12,000 by default', () => expect(DEFAULT_LIMITS.recordsPerDomain).toBe(12_000))

  test('a refused or failed creation uses none of it', async () => {
    const { id } = await client.ok('POST', '/domains', { ...MASTER, domain: 'room.example' })
    const path = `/domains/${id}/records`
    await inParallel(60, 20, () => client.call('POST', path, { type: 'A', target: 'none' }))
    await inParallel(60, 20, () => client.call('DELETE', `${path}/999999`))
    const answers = await inParallel(60, 20, () => client.call('POST', path, { type: 'A', target: '192.0.2.1' }))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(50)
  })

  test('one of many concurrent creations of a CNAME succeeds', async () => {
    const { id } = await client.ok('POST', '/domains', { ...MASTER, domain: 'cname.example' })
    const path = `/domains/${id}/records`
    const answers = await inParallel(40, 40, (index) =>
      client.call('POST', path, index % 2 ? { type: 'CNAME', name: 'x', target: 'a.example.net' } : { type: 'MX', name: 'x', target: '' }),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect((await client.ok('GET', path)).results).toBe(1)
  })
})
