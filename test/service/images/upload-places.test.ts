/** Upload URLs as clients see them, and the time limits of uploads. */
import type { Server } from 'node:http'
import { connect as connectTcp, type Socket } from 'node:net'
import Fastify from 'fastify'
import { Agent, request } from 'undici'
import { expect, test } from 'vitest'
import { addUploadRoute, isReceiving, withoutUploadKey } from '../../../src/service/api/images/image-routes.ts'
import { type ServiceOptions, startService } from '../../../src/service/index.ts'
import { selfSigned } from '../../support/certificate.ts'
import { describeWithTools } from '../../support/skip.ts'
import { LOOPBACK, startForTest } from '../harness.ts'
import { gzipOf } from './upload-client.ts'

const DATA = gzipOf(1)
const BODY = { label: 'image', region: 'us-east' }

describeWithTools(['openssl'], 'over TLS', () => {
  test('an image is uploaded after it is created', async () => {
    const tls = selfSigned('upload.example')
    const { service } = await startForTest({ tls, bootstrapToken: 'bootstrap' })
    const dispatcher = new Agent({ connect: { ca: tls.cert } })
    const json = { authorization: 'Bearer bootstrap', 'content-type': 'application/json' }
    const started = await request(`${service.baseUrl}/images/upload`, {
      dispatcher,
      method: 'POST',
      headers: json,
      body: JSON.stringify(BODY),
    })
    const { image, upload_to } = (await started.body.json()) as { image: { id: string }; upload_to: string }
    expect(upload_to.startsWith(`${new URL(service.baseUrl).origin}/uploads/`)).toBe(true)
    const headers = { 'content-type': 'application/octet-stream' }
    const sent = await request(upload_to, { dispatcher, method: 'PUT', headers, body: DATA })
    expect([sent.statusCode, await sent.body.json()]).toEqual([200, {}])
    const read = await request(`${service.baseUrl}/images/${image.id}`, { dispatcher, headers: json })
    expect(await read.body.json()).toMatchObject({ status: 'available' })
    await dispatcher.close()
  })
})

/** Every host that a client can claim, in HTTP and in headers of proxies. */
const CLAIMS: readonly Readonly<Record<string, string>>[] = [
  {},
  { host: 'attacker.example:8443' },
  { host: '[2001:db8::1]:80' },
  { 'x-forwarded-host': 'attacker.example', 'x-forwarded-proto': 'https', 'x-forwarded-port': '1' },
  { forwarded: 'host=attacker.example;proto=https', 'x-original-host': 'attacker.example', 'x-host': 'attacker.example' },
]

test.each<[string, Partial<ServiceOptions>, (baseUrl: string) => string]>([
  ['the listening address', {}, (baseUrl) => new URL(baseUrl).origin],
  ['the listening name', { listen: { host: 'localhost', port: 0 } }, (baseUrl) => `http://localhost:${new URL(baseUrl).port}`],
  ['the public URL', { publicUrl: 'https://dns.example.net/' }, () => 'https://dns.example.net'],
  [
    'the public URL of a service on all addresses',
    { publicUrl: 'https://dns.example.net:8443', listen: { host: '0.0.0.0', port: 0 } },
    () => 'https://dns.example.net:8443',
  ],
])('the host of an upload URL is %s, regardless of the request', async (_name, options, expected) => {
  const { service, client } = await startForTest({ bootstrapToken: 'bootstrap', ...options })
  for (const claim of CLAIMS) {
    const { upload_to } = await client.ok('POST', '/images/upload', BODY, claim)
    expect([claim, new URL(upload_to).origin]).toEqual([claim, expected(service.baseUrl)])
  }
})

test.each(['0.0.0.0', '::'])('a service on all addresses (%s) starts no upload without a public URL', async (host) => {
  const lines: string[] = []
  const { client } = await startForTest({
    bootstrapToken: 'bootstrap',
    listen: { host, port: 0 },
    log: { level: 'warn', write: (line) => lines.push(line) },
  })
  const { status, body } = await client.call('POST', '/images/upload', BODY, { host: 'attacker.example' })
  expect([status, body.errors]).toEqual([503, [{ field: null, reason: 'This service has no public URL for image uploads.' }]])
  expect((await client.ok('GET', '/images', undefined, { 'x-filter': '{"is_public": false}' })).results).toBe(0)
  expect(JSON.parse(lines[0] as string)).toMatchObject({ level: 'warn', message: 'no images can be uploaded without a public URL' })
})

test('refuses to start with an invalid public URL', async () => {
  for (const publicUrl of ['dns.example.net', 'https://dns.example.net/v4', 'ftp://dns.example.net', ''])
    await expect(startService({ dataFolder: null, listen: LOOPBACK, dns: null, publicUrl })).rejects.toThrow(/is not a service URL/)
})

test.each([
  ['/uploads/abc', '/uploads/(secret)'],
  ['/uploads/abc/uploads/def', '/uploads/(secret)'],
  ['//uploads/abc', '//uploads/(secret)'],
  ['/uploads%2Fabc', '/uploads%2F(secret)'],
  ['/v4/domains', '/v4/domains'],
])('%s is logged as %s', (path, logged) => expect(withoutUploadKey(path)).toBe(logged))

test('a connection is marked as receiving until its data is complete', async () => {
  const app = Fastify()
  let arrived = 0
  const uploads = {
    canReceive: true,
    receive: async (_key: string, data: AsyncIterable<Buffer>) => {
      for await (const piece of data) arrived += piece.length
    },
    deleteData: () => undefined,
    start: async () => undefined,
    close: async () => undefined,
  }
  await app.register((scope, _options, done) => {
    addUploadRoute(scope, uploads, { take: () => null } as unknown as Parameters<typeof addUploadRoute>[2])
    done()
  })
  await app.listen(LOOPBACK)
  const server = app.server as Server
  const peer = new Promise<Socket>((resolve) => server.once('connection', resolve))
  const socket = connectTcp((server.address() as { port: number }).port, '127.0.0.1')
  socket.write('PUT /uploads/k HTTP/1.1\r\nHost: a\r\nContent-Type: application/octet-stream\r\nContent-Length: 4\r\n\r\nab')
  const connection = await peer
  await expect.poll(() => arrived).toBe(2)
  expect(isReceiving(connection)).toBe(true)
  socket.write('cd')
  expect(String(await new Promise((resolve) => socket.once('data', resolve)))).toMatch(/^HTTP\/1\.1 200/)
  expect(isReceiving(connection)).toBe(false)
  socket.destroy()
  await app.close()
})
