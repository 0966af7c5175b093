/** Uploads to services in processes of their own: memory, sudden ends, several processes on one database. */

import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { connect, freshStore, ON_POSTGRES, startForTest, temporaryDirectory } from '../harness.ts'
import { serviceProcesses } from '../service-process.ts'
import { begin, eventually, filesOf, gzipOf, put, reasonOf, sendPart } from './upload-client.ts'

const start = serviceProcesses()
const DATA = gzipOf(2)
const MEBIBYTE = 1024 * 1024

/** Claims that end soon, so that nothing waits for those of a process that is gone. */
const uploadLimits = { claim: 300 }

/** The most memory that a process has had, in MB. */
const peakOf = (pid: number): number => Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

test.skipIf(process.platform !== 'linux')('memory does not grow with the data, nor with what it inflates to', async () => {
  const store = await freshStore()
  const { pid, baseUrl } = await start(store)
  const { client } = connect(baseUrl, 'bootstrap')
  await put((await begin(client)).url, DATA)
  const before = peakOf(pid)
  // Each member has a megabyte that cannot be compressed.
  const member = gzipSync(randomBytes(MEBIBYTE), { level: 0 })
  const large = await begin(client)
  expect((await put(large.url, Array<Buffer>(64).fill(member))).status).toBe(200)
  expect((await client.ok('GET', `/images/${large.id}`)).size).toBe(64)
  const zeros = await begin(client)
  expect((await put(zeros.url, gzipSync(Buffer.alloc(128 * MEBIBYTE)))).status).toBe(200)
  expect((await client.ok('GET', `/images/${zeros.id}`)).size).toBe(128)
  const grown = peakOf(pid) - before
  process.stderr.write(process.env['ZONEWRIGHT_TEST_FIGURES'] ? `upload of 64 MiB: ${grown.toFixed(1)} MB more at most\n` : '')
  expect(grown).toBeLessThan(60)
})

test('a process that is killed leaves the image awaited, and the next one no part of it', async () => {
  const store = { ...(await freshStore()), uploadLimits }
  const killed = await start(store)
  const { client } = connect(killed.baseUrl, 'bootstrap')
  const kept = await begin(client)
  expect((await put(kept.url, DATA)).status).toBe(200)
  const { id, url } = await begin(client)
  await sendPart(url, DATA.length, DATA.subarray(0, 1_000_000))
  await eventually(() => filesOf(store).some((name) => name.endsWith('.part')))
  await killed.kill()
  expect(filesOf(store)).toHaveLength(2)

  const next = await start(store)
  const { client: again } = connect(next.baseUrl, 'bootstrap')
  // A single process has taken the folder; of several, the claim must have ended first.
  if (!ON_POSTGRES) expect(filesOf(store)).toHaveLength(1)
  await eventually(() => filesOf(store).length === 1)
  expect(filesOf(store)[0]).toMatch(/\.img\.gz$/)
  expect((await again.ok('GET', `/images/${id}`)).status).toBe('pending_upload')
  expect((await again.ok('GET', `/images/${kept.id}`)).status).toBe('available')
  // The key outlives the process.
  await eventually(async () => (await put(url.replace(new URL(url).origin, new URL(next.baseUrl).origin), DATA)).status === 200)
  expect((await again.ok('GET', `/images/${id}`)).status).toBe('available')
  expect(filesOf(store)).toHaveLength(2)
})

test('data that comes for longer than the day is cut, and the image is gone', async () => {
  const store = await freshStore()
  // A day takes ten seconds.
  const { client } = await startForTest({ ...store, bootstrapToken: 'day', clockSpeed: 8_640 })
  const silent = await begin(client)
  const slow = await begin(client)
  const sent = put(
    slow.url,
    Array.from({ length: 400 }, () => gzipSync('x')),
    { pause: 50 },
  )
  await eventually(() => filesOf(store).some((name) => name.endsWith('.part')))
  expect((await client.call('GET', `/images/${slow.id}`)).status).toBe(200)
  expect((await sent.catch(() => ({ status: 404 }))).status).toBe(404)
  await eventually(() => filesOf(store).length === 0)
  for (const { id } of [silent, slow]) await eventually(async () => (await client.call('GET', `/images/${id}`)).status === 404)
  expect((await put(silent.url, DATA)).status).toBe(404)
})

test('a service on another database leaves the data of images alone', async () => {
  const imageDirectory = temporaryDirectory()
  const files = ['7-0123456789abcdef.img.gz', '1-0123456789abcdef.part', 'README']
  for (const file of files) writeFileSync(join(imageDirectory, file), DATA)
  const store = { ...(await freshStore()), imageDirectory }
  const { client } = await startForTest({ ...store, bootstrapToken: 'other' })
  const { number, url } = await begin(client)
  expect((await put(url, DATA)).status).toBe(200)
  await client.ok('DELETE', `/images/private/${number}`)
  // What has a number of its own that is not an image's is its own.
  await eventually(() => filesOf(store).length === 2)
  expect(filesOf(store)).toEqual([files[0], files[2]])
})

test('a service that stops does not wait for data', async () => {
  const store = await freshStore()
  const { service, client } = await startForTest({ ...store, bootstrapToken: 'stopped' })
  const { url } = await begin(client)
  const socket = await sendPart(url, DATA.length, DATA.subarray(0, 1_000_000))
  await eventually(() => filesOf(store).some((name) => name.endsWith('.part')))
  const before = Date.now()
  await service.stop()
  expect(Date.now() - before).toBeLessThan(20_000)
  expect(filesOf(store)).toEqual([])
  socket.destroy()
})

test.runIf(ON_POSTGRES)('an image that another process deletes, where both share a folder, takes no more data', async () => {
  const store = await freshStore()
  const [one, two] = await Promise.all([start(store), start(store)])
  const { client } = connect(one.baseUrl, 'bootstrap')
  const { client: second } = connect(two.baseUrl, 'bootstrap')
  const { id, url } = await begin(client)
  const socket = await sendPart(url, DATA.length, DATA.subarray(0, 1_000_000))
  await eventually(() => filesOf(store).length === 1)
  const answer = new Promise<string>((resolve) => socket.once('data', (octets) => resolve(String(octets))))
  await second.ok('DELETE', `/images/${id}`)
  await eventually(() => filesOf(store).length === 0)
  // Before the claim is renewed, which would tell.
  socket.write(DATA.subarray(1_000_000))
  expect(await answer).toMatch(/^HTTP\/1\.1 404 /)
  socket.destroy()
})

test.runIf(ON_POSTGRES)('several processes: each has its data where it received it, and none receives what another does', async () => {
  const store = { ...(await freshStore()), uploadLimits: { claim: 2_000 } }
  const other = { ...store, imageDirectory: temporaryDirectory() }
  const [one, two] = await Promise.all([start(store), start(other)])
  const { client } = connect(one.baseUrl, 'bootstrap')
  const { client: second } = connect(two.baseUrl, 'bootstrap')
  const { id, url } = await begin(client)
  const there = url.replace(new URL(url).origin, new URL(two.baseUrl).origin)
  const socket = await sendPart(url, DATA.length, DATA.subarray(0, 1_000_000))
  await eventually(() => filesOf(store).length === 1)
  // Longer than a claim lasts by itself.
  await sleep(4_500)
  expect(reasonOf(await put(there, DATA))).toEqual([409, 'The data of this image is already being received'])
  socket.destroy()
  await eventually(async () => (await put(there, DATA)).status === 200)
  expect(filesOf(other)).toHaveLength(1)
  expect(filesOf(store)).toEqual([])
  expect((await client.ok('GET', `/images/${id}`)).status).toBe('available')
  // Deleted at one, removed at the other.
  await client.ok('DELETE', `/images/${id}`)
  await eventually(() => filesOf(other).length === 0)
  expect((await second.call('GET', `/images/${id}`)).status).toBe(404)
})
