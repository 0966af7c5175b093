import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { PUBLIC_IMAGES } from '../../../src/service/catalogue/public-images.ts'
import { connect, startForTest } from '../harness.ts'

const { service, client } = await startForTest({ clockSpeed: 1000 })
const { client: nobody } = connect(service.baseUrl, '')

const send = async (url: string, data: Buffer | string) => {
  const answer = await fetch(url, { method: 'PUT', headers: { 'content-type': 'application/octet-stream' }, body: data })
  return { status: answer.status, body: await answer.json() }
}

/** An available image of a given size in MB. */
async function uploaded(label: string, megabytes = 1, more: object = {}): Promise<Record<string, unknown>> {
  const { image, upload_to } = await client.ok('POST', '/images/upload', { label, region: 'us-east', ...more })
  expect(await send(upload_to, gzipSync(Buffer.alloc(megabytes * 1024 * 1024)))).toEqual({ status: 200, body: {} })
  return client.ok('GET', `/images/${image.id}`)
}

const filtered = async (filter: object, query = 'page_size=500') =>
  client.ok('GET', `/images?${query}`, undefined, { 'x-filter': JSON.stringify(filter) })
const labelsOf = (page: { data: { label: string }[] }) => page.data.map(({ label }) => label)

describe('public images', () => {
  test('need no token', async () => {
    const { data, results } = await nobody.ok('GET', '/images')
    expect(results).toBe(PUBLIC_IMAGES.length)
    expect(data.map(({ id }: { id: string }) => id)).toEqual(PUBLIC_IMAGES.map(({ id }) => id))
    const debian = data.find(({ id }: { id: string }) => id === 'public/debian11')
    expect(debian).toEqual({
      ...{ id: 'public/debian11', label: 'Debian 11', description: null, is_public: true, created_by: 'zonewright' },
      ...{ deprecated: false, eol: '2026-07-01T04:00:00', expiry: null, size: 1300, status: 'available', type: 'manual', vendor: 'Debian' },
      ...{ created: '2021-08-16T00:00:00', updated: '2021-08-16T00:00:00' },
    })
    for (const path of ['/images/public/debian11', '/images/public%2Fdebian11', '/images/public%2fdebian11']) {
      expect(await nobody.ok('GET', path)).toEqual(debian)
      expect(await client.ok('GET', path)).toEqual(debian)
    }
  })

  test('cannot be changed', async () => {
    expect(await client.problems('PUT', '/images/public/debian11', { label: 'mine' })).toEqual(['A public image cannot be updated.'])
    expect(await client.problems('DELETE', '/images/public/debian11')).toEqual(['A public image cannot be deleted.'])
  })

  const MISSING = 'public/none private/999999 private/0 private/01 private/x debian11 public/debian11/ private/1/2 %00'
  test.each([...MISSING.split(' '), ''])('%s does not exist', async (id) => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const { status, body } = await client.call(method, `/images/${id}`, method === 'PUT' ? {} : undefined)
      expect([status, body]).toEqual([404, { errors: [{ field: null, reason: 'Not found' }] }])
    }
  })

  test('a token without the scope gets what needs no token', async () => {
    const { token } = await client.ok('POST', '/profile/tokens', { scopes: 'domains:read_only' })
    const { client: narrow } = connect(service.baseUrl, token)
    const hidden = await uploaded('hidden', 1)
    for (const path of ['/images', '/images/public/debian11']) expect(await narrow.ok('GET', path)).toEqual(await nobody.ok('GET', path))
    const { status, body } = await narrow.call('GET', `/images/${hidden['id']}`)
    expect([status, body.errors[0].reason]).toEqual([401, 'Your OAuth token is not authorized to use this endpoint.'])
    await client.ok('DELETE', `/images/${hidden['id']}`)
  })

  test('a private one needs a token', async () => {
    expect((await nobody.call('GET', '/images/private/1')).status).toBe(401)
    expect((await nobody.call('GET', '/images/public/none')).status).toBe(404)
    expect((await nobody.call('GET', '/images/upload')).status).toBe(405)
    expect((await client.call('POST', '/images/private/1', {})).status).toBe(405)
  })
})

describe('private images', () => {
  test('are created, read, updated and deleted', async () => {
    const image = await uploaded('first', 3, { description: 'of a disk' })
    expect(image).toEqual({
      ...{ id: expect.stringMatching(/^private\/\d+$/), label: 'first', description: 'of a disk', is_public: false, created_by: 'admin' },
      ...{ deprecated: false, eol: null, expiry: null, size: 3, status: 'available', type: 'manual', vendor: null },
      ...{ created: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/), updated: expect.any(String) },
    })
    const path = `/images/${image['id']}`
    expect(labelsOf(await nobody.ok('GET', '/images'))).not.toContain('first')
    expect(labelsOf(await client.ok('GET', '/images'))).toContain('first')
    // A returned image can be sent back.
    expect(await client.ok('PUT', path, image)).toMatchObject({ label: 'first', description: 'of a disk', size: 3 })
    expect(await client.ok('PUT', path, { label: 'second' })).toMatchObject({ label: 'second', description: 'of a disk' })
    expect(await client.ok('PUT', path, { description: null })).toMatchObject({ label: 'second', description: null })
    expect(await client.ok('PUT', path, { description: 'x'.repeat(65_000) })).toMatchObject({ description: 'x'.repeat(65_000) })
    expect(await client.ok('PUT', path, { description: '' })).toMatchObject({ description: null })
    expect(await client.ok('DELETE', path.replace('private/', 'private%2F'))).toEqual({})
    expect((await client.call('GET', path)).status).toBe(404)
    expect((await client.call('DELETE', path)).status).toBe(404)
  })

  test.each<[string, object, string[]]>([
    ['no such region', { label: 'a', region: 'us-north' }, ['region: region is not valid']],
    ['errors of both kinds', { region: 'us-north' }, ['label: label is required', 'region: region is not valid']],
  ])('an upload of %s is refused', async (_name, body, problems) => {
    expect(await client.problems('POST', '/images/upload', body)).toEqual(problems)
  })

  test('from a missing disk are refused', async () => {
    expect(await client.problems('POST', '/images', { disk_id: 4711 })).toEqual(['disk_id: disk_id is not valid'])
  })
})

describe('the list', async () => {
  const own = ['Zebra', 'alpha', 'Debian of mine']
  for (const [index, label] of own.entries()) await uploaded(label, index + 1)
  const awaited = (await client.ok('POST', '/images/upload', { label: 'awaited', region: 'us-east' })).image
  const mine = [...own, 'awaited']
  const shared = PUBLIC_IMAGES.map(({ label }) => label)

  test('contains public images first, and each one once on all pages', async () => {
    const all = labelsOf(await client.ok('GET', '/images?page_size=500'))
    expect(all).toEqual([...shared, ...mine])
    const pages = await Promise.all([1, 2, 3].map((page) => client.ok('GET', `/images?page_size=25&page=${page}`)))
    expect(pages.flatMap(labelsOf)).toEqual(all)
    expect(pages[0]).toMatchObject({ page: 1, pages: 2, results: all.length })
  })

  test.each<[object, string[] | null]>([
    [{ label: { '+contains': 'debian' } }, ['Debian 9', 'Debian 10', 'Debian 11', 'Debian 12', 'Debian 13', 'Debian of mine']],
    [{ vendor: 'debian', deprecated: false }, ['Debian 10', 'Debian 11', 'Debian 12', 'Debian 13']],
    [{ vendor: { '+neq': null }, size: { '+lt': 300 } }, ['Alpine 3.13', 'Alpine 3.14', 'Alpine 3.15']],
    [{ size: { '+lte': 2 } }, ['Zebra', 'alpha', 'awaited']],
    [{ status: { '+neq': 'available' } }, ['awaited']],
    [{ '+or': [{ label: 'alpha' }, { label: 'arch linux' }], '+order_by': 'size', '+order': 'desc' }, ['Arch Linux', 'alpha']],
    [
      { '+order_by': 'size', size: { '+lt': 280 } },
      ['awaited', 'Zebra', 'alpha', 'Debian of mine', 'Alpine 3.13', 'Alpine 3.14', 'Alpine 3.15'],
    ],
  ])('is filtered by %j', async (filter, expected) => expect(labelsOf(await filtered(filter))).toEqual(expected))

  test.each([[{ '+order_by': 'label', '+order': 'desc' }], [{ '+order_by': 'is_public', '+order': 'desc' }]])(
    'has every image once with the order %j',
    async (filter) => {
      const whole = labelsOf(await filtered(filter))
      expect(whole).toHaveLength(shared.length + mine.length)
      const pages = await Promise.all([1, 2, 3].map((page) => filtered(filter, `page_size=25&page=${page}`)))
      expect(pages.flatMap(labelsOf)).toEqual(whole)
      if (filter['+order_by'] !== 'label') return
      const folded = whole.map((label) => label.toLowerCase())
      expect(folded).toEqual([...folded].sort().reverse())
    },
  )

  test('cannot be ordered by status', async () => {
    const filter = { 'x-filter': '{"status": "available", "+order_by": "status"}' }
    expect(await client.problems('GET', '/images', undefined, filter)).toEqual(['X-Filter: Cannot order by status'])
  })

  test('has no page if it is empty', async () => {
    expect(await filtered({ label: 'nothing has this' })).toEqual({ data: [], page: 0, pages: 0, results: 0 })
  })

  test('an image that waits for its data can be deleted', async () => {
    await client.ok('DELETE', `/images/${awaited.id}`)
    expect(await filtered({ status: 'pending_upload' })).toMatchObject({ results: 0 })
  })
})
