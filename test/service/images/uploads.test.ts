import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test, vi } from 'vitest'
import { withDeadline } from '../../../src/service/images/image-uploads.ts'
import { freshStore, startForTest } from '../harness.ts'
import { eventually, filesOf, folderOf, gzipOf, put, reasonOf, sendPart, startUpload } from './upload-client.ts'

const lines: string[] = []
const store = await freshStore()
const { service, client } = await startForTest({
  ...store,
  uploadLimits: { compressed: 3_000_000, inflated: 8_000_000, concurrent: 3 },
  log: { level: 'debug', write: (line) => lines.push(line) },
})
const DATA = gzipOf(2)
const statusOf = async (id: string): Promise<string> => (await client.ok('GET', `/images/${id}`)).status

describe('the data of an image', () => {
  test('makes it available, and is stored unchanged', async () => {
    const { id, number, url } = await startUpload(client)
    expect(url).toMatch(new RegExp(`^${new URL(service.baseUrl).origin}/uploads/[A-Za-z0-9_-]{43}$`))
    expect(await client.ok('GET', `/images/${id}`)).toMatchObject({ status: 'pending_upload', size: 0 })
    expect(await put(url, DATA)).toEqual({ status: 200, body: {} })
    expect(await client.ok('GET', `/images/${id}`)).toMatchObject({ status: 'available', size: 2, type: 'manual' })
    const [file] = filesOf(store).filter((name) => name.startsWith(`${number}-`))
    expect(file).toMatch(/^\d+-[0-9a-f]{16}\.img\.gz$/)
    expect(readFileSync(join(folderOf(store), file as string)).equals(DATA)).toBe(true)
    // The URL works once.
    expect(await put(url, DATA)).toEqual({ status: 404, body: { errors: [{ field: null, reason: 'Not found' }] } })
    await client.ok('DELETE', `/images/${id}`)
    await eventually(() => !filesOf(store).some((name) => name.startsWith(`${number}-`)))
  })

  test.each([
    [1, 1],
    [1024 * 1024, 1],
    [1024 * 1024 + 1, 2],
    [7 * 1024 * 1024, 7],
  ])('of %d octets inflated needs %d MB', async (octets, size) => {
    const { id, url } = await startUpload(client)
    expect((await put(url, gzipSync(Buffer.alloc(octets)))).status).toBe(200)
    expect((await client.ok('GET', `/images/${id}`)).size).toBe(size)
  })

  test('may arrive in chunks', async () => {
    const { id, url } = await startUpload(client)
    const pieces = Array.from({ length: 7 }, (_, index) => DATA.subarray(index * 300_000, (index + 1) * 300_000))
    expect((await put(url, pieces)).status).toBe(200)
    expect(await statusOf(id)).toBe('available')
  })
})

test('a sender may take any time in total, and pause for the allowed one', async () => {
  vi.useFakeTimers()
  try {
    async function* data(): AsyncGenerator<Buffer> {
      for (const pause of [4_999, 4_999, 4_999, 5_000]) {
        yield Buffer.from(`${pause}`)
        await vi.advanceTimersByTimeAsync(pause)
      }
    }
    const received: string[] = []
    const reading = (async () => {
      const deadline = { signal: new AbortController().signal, silence: 5_000 }
      for await (const chunk of withDeadline(data(), deadline)) received.push(String(chunk))
    })()
    await expect(reading).rejects.toMatchObject({ refusal: 'silent' })
    expect(received).toEqual(['4999', '4999', '4999', '5000'])
  } finally {
    vi.useRealTimers()
  }
})

describe('refused data leaves the image waiting, and no file', () => {
  test.each<[string, Buffer | readonly Buffer[], number, RegExp]>([
    ['nothing', Buffer.alloc(0), 400, /^The data is not a valid gzip file: unexpected end of file$/],
    ['no gzip', Buffer.from('a raw disk'), 400, /^The data is not a valid gzip file: incorrect header check$/],
    ['a part of gzip', DATA.subarray(0, 1_000_000), 400, /^The data is not a valid gzip file: unexpected end of file$/],
    ['damaged data', Buffer.concat([DATA.subarray(0, -6), Buffer.from('!!'), DATA.subarray(-4)]), 400, /incorrect data check$/],
    ['too much announced data', gzipOf(3), 413, /^The data is larger than 3000000 octets$/],
    ['too much chunked data', [gzipOf(1), gzipOf(1), gzipOf(1)], 413, /^The data is larger than 3000000 octets$/],
    ['data that inflates to too much', gzipSync(Buffer.alloc(20_000_000)), 413, /^The data is too large: it inflates to more than 8000000/],
    ['a megabyte of other data, with a response', [Buffer.alloc(1_000_000, 'x'), Buffer.alloc(500_000)], 400, /incorrect header check$/],
  ])('%s', async (_name, data, status, reason) => {
    const before = filesOf(store)
    const { id, url } = await startUpload(client)
    expect(reasonOf(await put(url, data))).toEqual([status, expect.stringMatching(reason)])
    expect(await statusOf(id)).toBe('pending_upload')
    expect(filesOf(store)).toEqual(before)
    // It can be sent again.
    expect((await put(url, DATA)).status).toBe(200)
    expect(await statusOf(id)).toBe('available')
  })

  test('data of a connection that is cut', async () => {
    const { id, number, url } = await startUpload(client)
    const socket = await sendPart(url, DATA.length, DATA.subarray(0, 1_000_000))
    await eventually(() => filesOf(store).some((name) => name.startsWith(`${number}-`) && name.endsWith('.part')))
    socket.destroy()
    await eventually(() => !filesOf(store).some((name) => name.startsWith(`${number}-`)))
    expect(await statusOf(id)).toBe('pending_upload')
    expect((await put(url, DATA)).status).toBe(200)
  })

  test('data of a sender that pauses', async () => {
    const own = await freshStore()
    const { client: other } = await startForTest({ ...own, uploadLimits: { silence: 200 } })
    const { id, url } = await startUpload(other)
    const socket = await sendPart(url, DATA.length, DATA.subarray(0, 1_000_000))
    const answer = await new Promise<string>((resolve) => socket.once('data', (octets) => resolve(String(octets))))
    expect(answer).toMatch(/^HTTP\/1\.1 408 [\s\S]*"The data is incomplete"/)
    socket.destroy()
    expect(filesOf(own)).toEqual([])
    expect(await other.ok('GET', `/images/${id}`)).toMatchObject({ status: 'pending_upload' })
  })

  test('data of another media type, and without a key', async () => {
    const { id, url } = await startUpload(client)
    expect(reasonOf(await put(url, DATA, { type: 'application/gzip' }))).toEqual([415, 'The data must be application/octet-stream'])
    const changed = url.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))
    for (const other of [changed, `${url}x`]) expect((await put(other, DATA)).status).toBe(404)
    expect(await statusOf(id)).toBe('pending_upload')
    for (const method of ['GET', 'POST', 'DELETE']) expect((await fetch(url, { method })).status).toBe(405)
  })

  test('a part of the data, although it is a gzip file', async () => {
    const { id, url } = await startUpload(client)
    const headers = { 'content-type': 'application/octet-stream', 'content-range': `bytes 0-${DATA.length - 1}/9999999` }
    const answer = await fetch(url, { method: 'PUT', headers, body: DATA })
    expect([answer.status, await answer.json()]).toEqual([400, { errors: [{ field: null, reason: 'The data must be sent as a whole' }] }])
    expect(await statusOf(id)).toBe('pending_upload')
  })
})

test('only one upload per image, and a limited number per process', async () => {
  const [first, ...others] = await Promise.all([0, 1, 2, 3].map(() => startUpload(client)))
  const parts = await Promise.all(
    [first, ...others.slice(0, 2)].map((each) => sendPart(each?.url as string, DATA.length, DATA.subarray(0, 50_000))),
  )
  await eventually(() => filesOf(store).filter((name) => name.endsWith('.part')).length === 3)
  expect(reasonOf(await put(others[2]?.url as string, DATA))).toEqual([503, 'Too many uploads are running. Try again later.'])
  parts[2]?.destroy()
  await eventually(() => filesOf(store).filter((name) => name.endsWith('.part')).length === 2)
  expect(reasonOf(await put(first?.url as string, DATA))).toEqual([409, 'The data of this image is already being received'])
  for (const socket of parts) socket.destroy()
  await eventually(() => !filesOf(store).some((name) => name.endsWith('.part')))
})

test('a deleted image accepts no more data', async () => {
  const { id, number, url } = await startUpload(client)
  const sent = put(
    url,
    Array.from({ length: 100 }, () => gzipSync('x')),
    { pause: 50 },
  )
  await eventually(() => filesOf(store).some((name) => name.startsWith(`${number}-`)))
  await client.ok('DELETE', `/images/${id}`)
  expect((await sent.catch(() => ({ status: 404 }))).status).toBe(404)
  await eventually(() => !filesOf(store).some((name) => name.startsWith(`${number}-`)))
})

test('upload keys are never logged', async () => {
  const { url } = await startUpload(client)
  const key = url.split('/').pop() as string
  const forms = [url, `${url}/x`, `${url}?a`, url.replace('uploads', '%75ploads'), url.replace('/uploads', '//uploads')]
  for (const target of [...forms, url.replace('uploads/', 'uploads%2f')]) {
    for (const method of ['PUT', 'GET', 'OPTIONS']) await (await fetch(target, { method })).text()
  }
  const requests = lines.filter((line) => line.includes('uploads'))
  expect(requests.length).toBeGreaterThan(10)
  expect(lines.filter((line) => line.includes(key))).toEqual([])
})

test('without a folder, no upload starts', async () => {
  const { imageFolder: _, ...rest } = await freshStore()
  const { client: other } = await startForTest({ ...rest, ...(rest.dataFolder ? { dataFolder: null } : {}) })
  const { status, body } = await other.call('POST', '/images/upload', { label: 'image', region: 'us-east' })
  expect([status, body.errors[0].reason]).toEqual([503, 'This service accepts no image data.'])
  expect((await other.ok('GET', '/images')).results).toBeGreaterThan(20)
})
