/** The quota of image data: stored and arriving. */
import { describe, expect, test } from 'vitest'
import { RESERVED_AHEAD } from '../../../src/service/images/upload-limits.ts'
import { quotaReason } from '../../../src/service/quotas.ts'
import { seedOfPeople, tokenOf } from '../accounts/people.ts'
import { type Client, connect, freshStore, inParallel, ON_POSTGRES, openStore, type Store, startForTest } from '../harness.ts'
import { serviceProcesses } from '../service-process.ts'
import { eventually, filesOf, gzipOf, put, reasonOf, sendPart, startUpload } from './upload-client.ts'

/** Data of slightly more than a million octets. */
const DATA = gzipOf(1)
const SIZE = DATA.length
const PIECES = [DATA.subarray(0, 500_000), DATA.subarray(500_000, 900_000), DATA.subarray(900_000)]
const serve = serviceProcesses()

const overOf = (limit: number) => [400, quotaReason('image_octets', limit)]

/** A service with a quota of octets per account, and clients of two accounts. */
async function startWith(octets: number, store?: Store) {
  const chosen = store ?? (await freshStore())
  const { service } = await startForTest({ ...chosen, seed: seedOfPeople([]), quotas: { image_octets: octets } })
  const as = (user: string): Client => connect(service.baseUrl, tokenOf(user)).client
  return { service, store: chosen, owner: as('owner'), colleague: as('colleague'), stranger: as('stranger') }
}

describe.each<[string, Buffer | readonly Buffer[]]>([
  ['of announced length', DATA],
  ['in pieces', PIECES],
])('data %s', (_name, data) => {
  test('is accepted up to the quota, and not one octet more', async () => {
    const { owner, stranger, store } = await startWith(2 * SIZE - 1)
    const kept = await startUpload(owner)
    expect((await put(kept.url, data)).status).toBe(200)
    const files = filesOf(store)
    const { id, url } = await startUpload(owner)
    expect(reasonOf(await put(url, data))).toEqual(overOf(2 * SIZE - 1))
    expect(await owner.ok('GET', `/images/${id}`)).toMatchObject({ status: 'pending_upload', size: 0 })
    expect(filesOf(store)).toEqual(files)
    // Another account has its own quota.
    expect((await put((await startUpload(stranger)).url, data)).status).toBe(200)
    // Deleted data frees the quota, and the same URL can be used.
    await owner.ok('DELETE', `/images/${kept.id}`)
    expect((await put(url, data)).status).toBe(200)
  })

  test('fills the quota to the last octet, and then no upload starts', async () => {
    const { owner, colleague } = await startWith(SIZE)
    expect((await put((await startUpload(owner)).url, data)).status).toBe(200)
    const over = [null, quotaReason('image_octets', SIZE)]
    expect(await colleague.refused('POST', '/images/upload', { label: 'x', region: 'us-east' })).toEqual([over])
  })

  test('of concurrent uploads does not exceed the quota together', async () => {
    const limit = 3 * SIZE + SIZE / 2
    const { owner, colleague, store } = await startWith(Math.floor(limit))
    const started = await inParallel(7, 7, (index) => startUpload(index % 2 === 0 ? owner : colleague))
    const statuses = (
      await inParallel(7, 7, async (index) => (await put(started[index]?.url as string, data, { pause: 20 })).status)
    ).sort()
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(3)
    expect(new Set(statuses)).toEqual(new Set([200, 400]))
    // Uploads that were refused because of reservations can be sent now.
    for (const { url } of started) await put(url, data)
    const available = (await owner.ok('GET', '/images', undefined, { 'x-filter': '{"is_public": false, "status": "available"}' })).results
    expect([available, filesOf(store).length]).toEqual([3, 3])
  })
})

describe('arriving data', () => {
  test('reserves its announced length at the start, and releases it if the connection is cut', async () => {
    const { owner, store } = await startWith(SIZE + 1000)
    const first = await startUpload(owner)
    const second = await startUpload(owner)
    const slow = await sendPart(first.url, SIZE, DATA.subarray(0, 10))
    await eventually(() => filesOf(store).length === 1)
    expect(reasonOf(await put(second.url, DATA))).toEqual(overOf(SIZE + 1000))
    slow.destroy()
    await eventually(async () => (await put(second.url, DATA)).status === 200)
  })

  test('of unknown length extends its reservation as it arrives', async () => {
    const limit = RESERVED_AHEAD + 2.5 * 1024 ** 2
    const { owner } = await startWith(limit)
    const large = gzipOf(RESERVED_AHEAD / 1024 ** 2 + 1)
    const pieces = Array.from({ length: Math.ceil(large.length / 4_000_000) }, (_, n) => large.subarray(n * 4_000_000, (n + 1) * 4_000_000))
    expect((await put((await startUpload(owner)).url, pieces)).status).toBe(200)
    expect(reasonOf(await put((await startUpload(owner)).url, PIECES))).toEqual([200, undefined])
    expect(reasonOf(await put((await startUpload(owner)).url, PIECES))).toEqual(overOf(limit))
  })

  test('of a killed process reserves nothing afterwards', { timeout: 120_000 }, async () => {
    const store = { ...(await freshStore()), quotas: { image_octets: SIZE + 1000 }, uploadLimits: { claim: 1000 } }
    const killed = await serve(store)
    const started = await startUpload(connect(killed.baseUrl, 'bootstrap').client)
    await sendPart(started.url, SIZE, DATA.subarray(0, 10))
    await eventually(() => filesOf(store).length === 1)
    const other = ON_POSTGRES ? await serve(store) : null
    if (other) {
      const { url } = await startUpload(connect(other.baseUrl, 'bootstrap').client)
      expect(reasonOf(await put(url, DATA))).toEqual(overOf(SIZE + 1000))
    }
    await killed.kill()
    const next = other ?? (await serve(store))
    const { url } = await startUpload(connect(next.baseUrl, 'bootstrap').client)
    await eventually(async () => (await put(url, DATA)).status === 200)
    await next.kill()
  })
})

test('includes data that an earlier version received', async () => {
  const { service, store, owner } = await startWith(10 * SIZE)
  const { number, url } = await startUpload(owner)
  expect((await put(url, DATA)).status).toBe(200)
  await service.stop()
  const database = await openStore(store)
  await database.write((connection) => connection.updateTable('images').set({ octets: null }).where('id', '=', number).execute())
  await database.close()
  const again = await startWith(2 * SIZE - 1, store)
  expect(reasonOf(await put((await startUpload(again.owner)).url, DATA))).toEqual(overOf(2 * SIZE - 1))
})

test('excludes images from disks, which store no data', async () => {
  const { owner } = await startWith(1)
  const body = { region: 'us-east', type: 'g6-nanode-1', image: 'public/debian11', root_pass: 'correct horse' }
  const { id } = await owner.ok('POST', '/compute/instances', body)
  const [config] = (await owner.ok('GET', `/compute/instances/${id}/configs`)).data
  await eventually(async () => (await owner.call('POST', '/images', { disk_id: config.devices.sda.disk_id })).status === 200)
  await startUpload(owner)
})
