/** Uploads must not starve others of disk space, which they may share with the database, or of upload slots. */
import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { createImageUploads, type UploadLimits } from '../../../src/service/images/image-uploads.ts'
import { UNLIMITED_QUOTAS } from '../../../src/service/quotas.ts'
import { SERVICE } from '../../../src/service/store/audit.ts'
import type { Database } from '../../../src/service/store/database.ts'
import { createTimers } from '../../../src/service/time.ts'
import { seedOfPeople, tokenOf } from '../accounts/people.ts'
import { connect, freshStore, openStore, type Store, startForTest } from '../harness.ts'
import { eventually, filesOf, folderOf, put, reasonOf, sendPart, startUpload } from './upload-client.ts'

test('data is refused if it would leave too little space', async () => {
  const store = await freshStore()
  const { client } = await startForTest({ ...store, bootstrapToken: 'space', uploadLimits: { minFreeSpace: Number.MAX_SAFE_INTEGER } })
  const { id, url } = await startUpload(client)
  expect(reasonOf(await put(url, gzipSync('disk')))).toEqual([507, 'There is not enough space for the data'])
  expect((await client.ok('GET', `/images/${id}`)).status).toBe('pending_upload')
  expect(filesOf(store)).toEqual([])
})

/** Receives uploads on the store of a stopped service; writes to its database fail on request. */
async function receiverOf(store: Store, limits: Partial<UploadLimits>) {
  const database = await openStore(store)
  const state = { isFull: false, reads: 0, errors: new Set<string>() }
  const failing: Database = {
    ...database,
    read: (work) => {
      state.reads += 1
      return database.read(work)
    },
    write: async (work) => {
      if (state.isFull) throw new Error('the database is full')
      return database.write(work)
    },
  }
  const uploads = await createImageUploads({
    quotas: UNLIMITED_QUOTAS,
    database: failing,
    timers: createTimers({ clock: Date.now, speed: 1 }),
    folder: folderOf(store),
    limits,
    onError: (error) => state.errors.add((error as Error).message),
  })
  const close = () => uploads.close().then(() => database.close())
  return { state, uploads, close }
}

test('data is on disk before more of it is read, so that it does not stay in memory', async () => {
  const store = await freshStore()
  const { client, service } = await startForTest({ ...store, bootstrapToken: 'space' })
  const { url } = await startUpload(client)
  await service.stop()
  const { uploads, close } = await receiverOf(store, {})
  const member = gzipSync(randomBytes(100_000), { level: 0 })
  const written: number[] = []
  async function* data(): AsyncGenerator<Buffer> {
    for (let sent = 0; sent < 5; sent += 1) {
      yield member
      written.push(statSync(join(folderOf(store), filesOf(store)[0] as string)).size / member.length)
    }
  }
  await uploads.receive(url.split('/').pop() as string, data(), null, SERVICE)
  expect(written).toEqual([1, 2, 3, 4, 5])
  await close()
})

test('while the database cannot write, stored data is kept and refused data is removed', async () => {
  const store = await freshStore()
  const { client, service } = await startForTest({ ...store, bootstrapToken: 'space' })
  const { url } = await startUpload(client)
  await service.stop()
  const { state, uploads, close } = await receiverOf(store, { claim: 50 })
  await uploads.start()
  async function* data(): AsyncGenerator<Buffer> {
    yield gzipSync('disk')
    await eventually(() => filesOf(store).length === 1)
    state.isFull = true
    // The claim has expired, and there has been more than one sweep, which reads at least once.
    const until = { reads: state.reads + 5, time: Date.now() + 200 }
    await eventually(() => state.reads >= until.reads && Date.now() > until.time)
    expect(filesOf(store)).toHaveLength(1)
    yield Buffer.from('no more of it')
  }
  await expect(uploads.receive(url.split('/').pop() as string, data(), null, SERVICE)).rejects.toThrow('no-gzip')
  expect([...state.errors]).toEqual(['the database is full'])
  expect(filesOf(store)).toEqual([])
  await close()
})

test('slow uploads of one account do not block others', async () => {
  const store = await freshStore()
  const uploadLimits = { concurrent: 3, concurrentPerAccount: 1 }
  const { service } = await startForTest({ ...store, seed: seedOfPeople([]), bootstrapToken: 'turns', uploadLimits })
  const as = (user: string) => connect(service.baseUrl, tokenOf(user)).client
  const slow = await sendPart((await startUpload(as('owner'))).url, 1000, gzipSync('disk').subarray(0, 5))
  await eventually(() => filesOf(store).length === 1)
  const { url } = await startUpload(as('colleague'))
  expect(reasonOf(await put(url, gzipSync('disk')))).toEqual([503, 'Too many uploads are running. Try again later.'])
  expect((await put((await startUpload(as('stranger'))).url, gzipSync('disk'))).status).toBe(200)
  slow.destroy()
  await eventually(async () => (await put(url, gzipSync('disk'))).status === 200)
})
