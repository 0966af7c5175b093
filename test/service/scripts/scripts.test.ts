import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { seedOfPeople, tokenOf } from '../accounts/people.ts'
import { connect, startForTest } from '../harness.ts'

const { service } = await startForTest({ seed: seedOfPeople([]), bootstrapToken: 'administrator' })
const as = (token: string) => connect(service.baseUrl, token).client
const [client, stranger, nobody] = [as(tokenOf('owner')), as(tokenOf('stranger')), as('')]
const PATH = '/compute/scripts'
const SCRIPT = '#!/bin/sh\n# <UDF name="port" label="Port" default="80" />\necho "$PORT"\n'
const BODY = { label: 'web server', images: ['public/debian11', 'any/all'], script: SCRIPT }
const labelsOf = (page: { data: { label: string }[] }) => page.data.map(({ label }) => label)

describe('a script', () => {
  test('is created, read, updated and deleted', async () => {
    const made = await client.ok('POST', PATH, { ...BODY, description: 'a web server', rev_note: 'first' })
    expect(made).toEqual({
      ...{ id: expect.any(Number), username: 'owner', label: 'web server', description: 'a web server', ordinal: 0, logo_url: '' },
      user_gravatar_id: createHash('md5').update('owner@example.com').digest('hex'),
      ...{ images: BODY.images, deployments_total: 0, deployments_active: 0, is_public: false, mine: true },
      ...{ created: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/), updated: made.created, rev_note: 'first', script: SCRIPT },
      user_defined_fields: [{ name: 'port', label: 'Port', default: '80' }],
    })
    const path = `${PATH}/${made.id}`
    expect(await client.ok('GET', path)).toEqual(made)
    await sleep(1100)
    const revised = await client.ok('PUT', path, { rev_note: 'second', script: '<UDF name="a" label="b"/>' })
    expect(revised).toMatchObject({
      ...made,
      rev_note: 'second',
      script: expect.any(String),
      updated: expect.any(String),
      user_defined_fields: [{ name: 'a', label: 'b' }],
    })
    expect(revised.updated > made.updated).toBe(true)
    // A returned script can be sent back.
    expect(await client.ok('PUT', path, revised)).toMatchObject({ ...revised, updated: expect.any(String) })
    expect(await client.ok('PUT', path, { description: '', images: ['public/arch'] })).toMatchObject({
      description: '',
      images: ['public/arch'],
    })
    expect(await client.ok('DELETE', path)).toEqual({})
    for (const method of ['GET', 'PUT', 'DELETE'])
      expect((await client.call(method, path, method === 'PUT' ? {} : undefined)).status).toBe(404)
  })

  test.each<[string, object, string[]]>([
    ['no images', { ...BODY, images: [] }, ['images: images is not valid']],
    ['images', { ...BODY, images: ['public/x', 'private/9'] }, ['images: public/x is not an image', 'images: private/9 is not an image']],
    ['a bad tag', { ...BODY, script: '<UDF name="a"/>' }, ['script: A UDF tag is not valid: the field a has no label']],
  ])('with %s is refused', async (_name, body, problems) => {
    expect((await client.problems('POST', PATH, body)).sort()).toEqual([...problems].sort())
  })

  test('keeps a deleted image, and accepts no other missing one', async () => {
    const { image } = await client.ok('POST', '/images/upload', { label: 'gone', region: 'us-east' })
    const { id } = await client.ok('POST', PATH, { ...BODY, images: [image.id, image.id] })
    await client.ok('DELETE', `/images/${image.id}`)
    expect(await client.ok('PUT', `${PATH}/${id}`, { images: [image.id, 'public/arch'] })).toMatchObject({
      images: [image.id, 'public/arch'],
    })
    await client.ok('PUT', `${PATH}/${id}`, { images: ['public/arch'] })
    expect(await client.problems('PUT', `${PATH}/${id}`, { images: [image.id] })).toEqual([`images: ${image.id} is not an image`])
  })

  test('stays public forever, readable by all and writable by its account', async () => {
    const { id } = await client.ok('POST', PATH, { ...BODY, label: 'for all' })
    const path = `${PATH}/${id}`
    expect((await stranger.call('GET', path)).status).toBe(404)
    expect((await stranger.call('PUT', path, {})).status).toBe(404)
    expect(labelsOf(await nobody.ok('GET', PATH))).not.toContain('for all')
    expect(await client.ok('PUT', path, { is_public: true })).toMatchObject({ is_public: true })
    expect(await client.problems('PUT', path, { is_public: false })).toEqual(['is_public: A public script cannot be made private again.'])
    expect(await client.problems('DELETE', path)).toEqual(['A public script cannot be deleted.'])
    expect(await client.ok('PUT', path, { is_public: true, label: 'for all 2' })).toMatchObject({ label: 'for all 2' })
    expect(await stranger.ok('GET', path)).toMatchObject({ label: 'for all 2', mine: false, username: 'owner' })
    for (const method of ['PUT', 'DELETE']) expect((await stranger.call(method, path, method === 'PUT' ? {} : undefined)).status).toBe(403)
    expect(labelsOf(await nobody.ok('GET', PATH))).toContain('for all 2')
    expect((await nobody.call('GET', path)).status).toBe(401)
    // A user without grants can read public scripts, but not change them.
    const guest = as(tokenOf('guest'))
    expect(await guest.ok('GET', path)).toMatchObject({ mine: true })
    expect((await guest.call('PUT', path, {})).status).toBe(403)
  })
})

describe('the list', async () => {
  const made: Record<string, unknown>[] = []
  for (const [index, label] of ['Alpha', 'beta', 'gamma'].entries()) {
    const body = { ...BODY, label, description: `number ${index}`, rev_note: index === 1 ? 'Beta note' : '', is_public: index === 2 }
    made.push(await stranger.ok('POST', PATH, body))
  }
  const filtered = async (filter: object) =>
    labelsOf(await stranger.ok('GET', `${PATH}?page_size=500`, undefined, { 'x-filter': JSON.stringify(filter) })).filter((label) =>
      made.some((script) => script['label'] === label),
    )

  test.each<[object, string[]]>([
    [{ description: { '+contains': 'NUMBER' }, '+order_by': 'label', '+order': 'desc' }, ['gamma', 'beta', 'Alpha']],
    [{ is_public: true }, ['gamma']],
    [{ mine: true }, ['Alpha', 'beta', 'gamma']],
    [{ rev_note: 'beta NOTE' }, ['beta']],
    [{ deployments_total: { '+gt': 0 } }, []],
    [{ mine: true, '+order_by': 'mine' }, ['Alpha', 'beta', 'gamma']],
  ])('is filtered by %j', async (filter, labels) => expect(await filtered(filter)).toEqual(labels))

  test('is complete for its account, and has public scripts for others', async () => {
    expect(labelsOf(await stranger.ok('GET', PATH))).toEqual(expect.arrayContaining(['Alpha', 'beta', 'gamma']))
    const seen = labelsOf(await client.ok('GET', PATH))
    expect(seen).toContain('gamma')
    expect(seen).not.toContain('Alpha')
    expect(labelsOf(await nobody.ok('GET', PATH, undefined, { 'x-filter': '{"mine":true}' }))).toEqual([])
    expect(await as(tokenOf('stranger', 'images-read_write')).ok('GET', PATH)).toEqual(await nobody.ok('GET', PATH))
  })
})
