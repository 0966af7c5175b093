/** The quota of image data: stored and arriving. */
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { RESERVED_AHEAD } from '../../../src/service/images/image-uploads.ts'
import { readSeed } from '../../../src/service/index.ts'
import { quotaReason } from '../../../src/service/quotas.ts'
import { type Client, connect, freshStore, inParallel, type Store, startForTest } from '../harness.ts'
import { IMAGE, startClocked } from '../instances/fixture.ts'
import { eventually, filesOf, gzipOf, put, reasonOf, sendPart, startUpload } from './upload-client.ts'

const DATA = gzipSync(Buffer.alloc(100_000, 'disk'), { level: 0 })
const SIZE = DATA.length
/** Zeros after the end of a gzip file are no error. */
const LONGER = Buffer.concat([DATA, Buffer.alloc(1)])
const piecesOf = (data: Buffer): Buffer[] => [data.subarray(0, 50_000), data.subarray(50_000, 90_000), data.subarray(90_000)]
const overOf = (limit: number) => [400, quotaReason('image_octets', limit)]

/** Accounts, each for one test, with two users. */
const ACCOUNTS = ['whole', 'pieces', 'many-whole', 'many-pieces', 'slow', 'unknown', 'other']
const { seed } = readSeed(
  JSON.stringify({
    accounts: ACCOUNTS.map((account) => ({
      users: [account, `${account}-2`].map((username) => ({ username, email: 'a@example.com', tokens: [{ token: username }] })),
    })),
  }),
  'seed.json',
)

/** A service with a quota of octets per account, and clients of its users. */
async function startWith(octets: number, store: Store) {
  const { service } = await startForTest({ ...store, seed, quotas: { image_octets: octets } })
  return { service, as: (user: string): Client => connect(service.baseUrl, user).client }
}

const LIMIT = 2 * SIZE
const store = await freshStore()
const { as } = await startWith(LIMIT, store)

describe.each<[string, string, (data: Buffer) => Buffer | readonly Buffer[]]>([
  ['of announced length', 'whole', (data) => data],
  ['in pieces', 'pieces', piecesOf],
])('data %s', (_name, account, sent) => {
  test('is accepted up to the quota, and not one octet more', async () => {
    const [owner, colleague] = [as(account), as(`${account}-2`)]
    const kept = await startUpload(owner)
    expect((await put(kept.url, sent(DATA))).status).toBe(200)
    const files = filesOf(store)
    const { id, url } = await startUpload(colleague)
    expect(reasonOf(await put(url, sent(LONGER)))).toEqual(overOf(LIMIT))
    expect(await owner.ok('GET', `/images/${id}`)).toMatchObject({ status: 'pending_upload', size: 0 })
    expect(filesOf(store)).toEqual(files)
    // Another account has its own quota.
    const other = await startUpload(as('other'))
    expect((await put(other.url, sent(LONGER))).status).toBe(200)
    await as('other').ok('DELETE', `/images/${other.id}`)
    // The same URL can be used. It fills the quota, and then no upload starts.
    expect((await put(url, sent(DATA))).status).toBe(200)
    const body = { label: 'x', region: 'us-east' }
    expect(await owner.problems('POST', '/images/upload', body)).toEqual([quotaReason('image_octets', LIMIT)])
    // Deleted data frees the quota.
    await owner.ok('DELETE', `/images/${kept.id}`)
    expect((await put((await startUpload(owner)).url, sent(DATA))).status).toBe(200)
  })

  test('of concurrent uploads does not exceed the quota together', async () => {
    const [owner, colleague] = [as(`many-${account}`), as(`many-${account}-2`)]
    const started = await inParallel(5, 5, (index) => startUpload(index % 2 === 0 ? owner : colleague))
    const statuses = await inParallel(5, 5, async (index) => (await put(started[index]?.url as string, sent(DATA), { pause: 20 })).status)
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(2)
    expect(new Set(statuses)).toEqual(new Set([200, 400]))
    // Uploads that were refused because of reservations can be sent now.
    for (const { url } of started) await put(url, sent(DATA))
    const available = { 'x-filter': '{"is_public": false, "status": "available"}' }
    expect((await owner.ok('GET', '/images', undefined, available)).results).toBe(2)
    const numbers = started.map(({ number }) => `${number}`)
    expect(filesOf(store).filter((file) => numbers.includes(file.split('-')[0] as string))).toHaveLength(2)
  })
})

describe('arriving data', () => {
  test('reserves its announced length at the start, and releases it if the connection is cut', async () => {
    const [first, second] = [await startUpload(as('slow')), await startUpload(as('slow'))]
    const slow = await sendPart(first.url, SIZE, DATA.subarray(0, 10))
    await eventually(() => filesOf(store).some((file) => file.startsWith(`${first.number}-`)))
    expect(reasonOf(await put(second.url, LONGER))).toEqual(overOf(LIMIT))
    slow.destroy()
    await eventually(async () => (await put(second.url, LONGER)).status === 200)
  })

  test('of unknown length extends its reservation as it arrives, once others have released theirs', async () => {
    const [first, second] = [await startUpload(as('unknown')), await startUpload(as('unknown'))]
    const holding = await sendPart(first.url, SIZE, DATA.subarray(0, 10))
    await eventually(() => filesOf(store).some((file) => file.startsWith(`${first.number}-`)))
    async function* data(): AsyncGenerator<Buffer> {
      yield DATA.subarray(0, 90_000)
      await eventually(() => filesOf(store).some((file) => file.startsWith(`${second.number}-`)))
      holding.destroy()
      await eventually(() => !filesOf(store).some((file) => file.startsWith(`${first.number}-`)))
      yield* [DATA.subarray(90_000), Buffer.alloc(SIZE)]
    }
    expect((await put(second.url, data())).status).toBe(200)
    expect(reasonOf(await put(first.url, DATA.subarray(0, 10)))).toEqual(overOf(LIMIT))
  })

  test('of unknown length extends its reservation by what is reserved ahead', { tags: ['long'] }, async () => {
    const limit = RESERVED_AHEAD + 2.5 * 1024 ** 2
    const own = await startWith(limit, await freshStore())
    const send = async (data: readonly Buffer[]) => reasonOf(await put((await startUpload(own.as('whole'))).url, data))
    const large = gzipOf(RESERVED_AHEAD / 1024 ** 2 + 1)
    const pieces = Array.from({ length: Math.ceil(large.length / 4_000_000) }, (_, n) => large.subarray(n * 4_000_000, (n + 1) * 4_000_000))
    for (const data of [pieces, [gzipOf(1)]]) expect(await send(data)).toEqual([200, undefined])
    expect(await send([gzipOf(1)])).toEqual(overOf(limit))
  })
})

test('excludes images from disks, which store no data', async () => {
  const { client, made } = await startClocked({ quotas: { image_octets: 1 } })
  const { path } = await made(IMAGE)
  const [config] = (await client.ok('GET', `${path}/configs`)).data
  await client.ok('POST', '/images', { disk_id: config.devices.sda.disk_id })
  await startUpload(client)
})
