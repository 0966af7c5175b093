import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { claimUpload, hashUploadKey } from '../../../src/service/store/image-store.ts'
import { connect, freshStore, ON_POSTGRES, openStore, startForTest, temporaryDirectory } from '../harness.ts'
import { serviceProcesses } from '../service-process.ts'
import { eventually, filesOf, folderOf, gzipOf, put, reasonOf, sendPart, startUpload } from './upload-client.ts'

const start = serviceProcesses()
const DATA = gzipOf(2)
const LONG = { tags: ['long'] }

test('data of an interrupted upload is removed at the next start, and can be sent again', async () => {
  const store = await freshStore()
  const { client, service } = await startForTest({ ...store, bootstrapToken: 'interrupted' })
  const kept = await startUpload(client)
  expect((await put(kept.url, DATA)).status).toBe(200)
  const { number, url } = await startUpload(client)
  await service.stop()
  // What a killed process leaves: a claim that lasts, and a part of the data.
  const database = await openStore(store)
  const receiver = '0123456789abcdef'
  const span = { now: Date.now(), until: Date.now() + (ON_POSTGRES ? 0 : 3_600_000) }
  const key = url.split('/').pop() as string
  expect(hashUploadKey(key)).toBe(createHash('sha256').update(key).digest('hex'))
  expect(await database.write((connection) => claimUpload(connection, hashUploadKey(key), receiver, span))).not.toBeNull()
  await database.close()
  writeFileSync(join(folderOf(store), `${number}-${receiver}.part`), DATA.subarray(0, 1_000_000))
  const next = await startForTest({ ...store, bootstrapToken: 'interrupted' })
  expect(filesOf(store)).toEqual([expect.stringMatching(new RegExp(`^${kept.number}-.*\\.img\\.gz$`))])
  const again = url.replace(new URL(url).origin, new URL(next.service.baseUrl).origin)
  expect((await put(again, DATA)).status).toBe(200)
  expect(filesOf(store)).toHaveLength(2)
})

test('data that has not arrived after a day is cut off, and its image is deleted', { tags: ['long'] }, async () => {
  const store = await freshStore()
  let now = Date.now()
  const { client, service } = await startForTest({ ...store, bootstrapToken: 'day', clock: () => now })
  const [silent, slow] = [await startUpload(client), await startUpload(client)]
  const socket = await sendPart(slow.url, DATA.length, DATA.subarray(0, 1_000_000))
  await eventually(() => filesOf(store).length === 1)
  const answer = new Promise<string>((resolve) => socket.once('data', (octets) => resolve(String(octets))))
  now += 25 * 3_600_000
  await service.catchUp()
  for (const { id } of [silent, slow]) expect((await client.call('GET', `/images/${id}`)).status).toBe(404)
  await eventually(() => filesOf(store).length === 0)
  expect(await answer).toMatch(/^HTTP\/1\.1 404 /)
  socket.destroy()
  expect((await put(silent.url, DATA)).status).toBe(404)
})

test('a killed process leaves no data, and its reservation ends with its claim', LONG, async () => {
  const store = { ...(await freshStore()), quotas: { image_octets: DATA.length + 1000 }, uploadLimits: { claim: 1000 } }
  const killed = await start(store)
  const started = await startUpload(connect(killed.baseUrl, 'bootstrap').client)
  await sendPart(started.url, DATA.length, DATA.subarray(0, 10))
  await eventually(() => filesOf(store).length === 1)
  const other = ON_POSTGRES ? await start(store) : null
  if (other) {
    const { url } = await startUpload(connect(other.baseUrl, 'bootstrap').client)
    expect((await put(url, DATA)).status).toBe(400)
  }
  await killed.kill()
  const next = other ?? (await start(store))
  const { url } = await startUpload(connect(next.baseUrl, 'bootstrap').client)
  await eventually(async () => (await put(url, DATA)).status === 200)
  // The next sweep removes what the killed process left.
  await eventually(() => filesOf(store).every((file) => file.endsWith('.img.gz')))
  expect(filesOf(store)).toHaveLength(1)
  await next.kill()
})

test('a service on another database does not touch the image data', async () => {
  const imageFolder = temporaryDirectory()
  const files = ['7-0123456789abcdef.img.gz', '1-0123456789abcdef.part', 'README']
  for (const file of files) writeFileSync(join(imageFolder, file), DATA)
  const store = { ...(await freshStore()), imageFolder }
  const { client } = await startForTest({ ...store, bootstrapToken: 'other' })
  const { number, url } = await startUpload(client)
  expect((await put(url, DATA)).status).toBe(200)
  await client.ok('DELETE', `/images/private/${number}`)
  // Files with ids that belong to no image are not deleted.
  await eventually(() => filesOf(store).length === 2)
  expect(filesOf(store)).toEqual([files[0], files[2]])
})

test('a service that stops does not wait for data', async () => {
  const store = await freshStore()
  const { service, client } = await startForTest({ ...store, bootstrapToken: 'stopped' })
  const { url } = await startUpload(client)
  const socket = await sendPart(url, DATA.length, DATA.subarray(0, 1_000_000))
  await eventually(() => filesOf(store).some((name) => name.endsWith('.part')))
  // The data would have a minute to arrive.
  await service.stop()
  expect(filesOf(store)).toEqual([])
  socket.destroy()
})

test.runIf(ON_POSTGRES)('an image that another process deletes in a shared folder accepts no more data', async () => {
  const store = await freshStore()
  const [one, two] = await Promise.all([start(store), start(store)])
  const { client } = connect(one.baseUrl, 'bootstrap')
  const { client: second } = connect(two.baseUrl, 'bootstrap')
  const { id, url } = await startUpload(client)
  const socket = await sendPart(url, DATA.length, DATA.subarray(0, 1_000_000))
  await eventually(() => filesOf(store).length === 1)
  const answer = new Promise<string>((resolve) => socket.once('data', (octets) => resolve(String(octets))))
  await second.ok('DELETE', `/images/${id}`)
  await eventually(() => filesOf(store).length === 0)
  // Before the renewal of the claim, which would notice the deletion.
  socket.write(DATA.subarray(1_000_000))
  expect(await answer).toMatch(/^HTTP\/1\.1 404 /)
  socket.destroy()
})

test.runIf(ON_POSTGRES)('several processes: each stores the data that it receives, and no image is received twice', async () => {
  const store = { ...(await freshStore()), uploadLimits: { claim: 2_000 } }
  const other = { ...store, imageFolder: temporaryDirectory() }
  const [one, two] = await Promise.all([start(store), start(other)])
  const { client } = connect(one.baseUrl, 'bootstrap')
  const { client: second } = connect(two.baseUrl, 'bootstrap')
  const { id, url } = await startUpload(client)
  const there = url.replace(new URL(url).origin, new URL(two.baseUrl).origin)
  const socket = await sendPart(url, DATA.length, DATA.subarray(0, 1_000_000))
  await eventually(() => filesOf(store).length === 1)
  // Longer than a claim lasts without renewal.
  await sleep(4_500)
  expect(reasonOf(await put(there, DATA))).toEqual([409, 'The data of this image is already being received'])
  socket.destroy()
  await eventually(async () => (await put(there, DATA)).status === 200)
  expect(filesOf(other)).toHaveLength(1)
  expect(filesOf(store)).toEqual([])
  expect((await client.ok('GET', `/images/${id}`)).status).toBe('available')
  // Deleted through one process, removed by the other.
  await client.ok('DELETE', `/images/${id}`)
  await eventually(() => filesOf(other).length === 0)
  expect((await second.call('GET', `/images/${id}`)).status).toBe(404)
})
