/** Where uploads go, by what clients know of the service, and what time they have. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { connect as connectTcp, type Socket } from 'node:net'
import { join } from 'node:path'
import Fastify from 'fastify'
import { Agent, request } from 'undici'
import { expect, test } from 'vitest'
import { addUploadRoute, isReceiving, withoutUploadKey } from '../../../src/service/api/images/upload-route.ts'
import { startService } from '../../../src/service/index.ts'
import { describeWithTools } from '../../support/skip.ts'
import { LOOPBACK, startForTest, temporaryDirectory } from '../harness.ts'
import { gzipOf } from './upload-client.ts'

const DATA = gzipOf(1)
const BODY = { label: 'image', region: 'us-east' }

describeWithTools(['openssl'], 'over TLS', () => {
  const directory = temporaryDirectory()
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')]
  const subject = ['-subj', '/CN=upload.example', '-addext', 'subjectAltName=IP:127.0.0.1']
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, '-days', '2', ...subject], {
    stdio: 'ignore',
  })

  test('an image is uploaded as it is created', async () => {
    const tls = { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
    const { service } = await startForTest({ tls, bootstrapToken: 'bootstrap' })
    const dispatcher = new Agent({ connect: { ca: tls.cert } })
    const json = { authorization: 'Bearer bootstrap', 'content-type': 'application/json' }
    const begun = await request(`${service.baseUrl}/images/upload`, {
      dispatcher,
      method: 'POST',
      headers: json,
      body: JSON.stringify(BODY),
    })
    const { image, upload_to } = (await begun.body.json()) as { image: { id: string }; upload_to: string }
    expect(upload_to.startsWith(`${new URL(service.baseUrl).origin}/uploads/`)).toBe(true)
    const headers = { 'content-type': 'application/octet-stream' }
    const sent = await request(upload_to, { dispatcher, method: 'PUT', headers, body: DATA })
    expect([sent.statusCode, await sent.body.json()]).toEqual([200, {}])
    const read = await request(`${service.baseUrl}/images/${image.id}`, { dispatcher, headers: json })
    expect(await read.body.json()).toMatchObject({ status: 'available' })
    await dispatcher.close()
  })
})

test('the URL has the name that the client knows the service by', async () => {
  const { client } = await startForTest({ bootstrapToken: 'bootstrap' })
  const origin = async (host: string): Promise<string> =>
    new URL((await client.ok('POST', '/images/upload', BODY, { host })).upload_to).origin
  expect(await origin('images.example:8443')).toBe('http://images.example:8443')
  expect(await origin('[2001:db8::1]:80')).toBe('http://[2001:db8::1]')
  expect(await origin('a"b')).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  expect(await origin('user@images.example')).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
})

test('the URL has the name that the installation gives', async () => {
  const { client } = await startForTest({ bootstrapToken: 'bootstrap', publicUrl: 'https://dns.example.net/' })
  expect((await client.ok('POST', '/images/upload', BODY)).upload_to).toMatch(/^https:\/\/dns\.example\.net\/uploads\//)
  for (const publicUrl of ['dns.example.net', 'https://dns.example.net/v4', 'ftp://dns.example.net', '']) {
    await expect(startService({ dataDirectory: null, listen: LOOPBACK, dns: null, publicUrl })).rejects.toThrow(/is no URL of a service/)
  }
})

test.each([
  ['/uploads/abc', '/uploads/(secret)'],
  ['/uploads/abc/uploads/def', '/uploads/(secret)'],
  ['//uploads/abc', '//uploads/(secret)'],
  ['/uploads%2Fabc', '/uploads%2F(secret)'],
  ['/v4/domains', '/v4/domains'],
])('in a log %s is %s', (path, logged) => {
  expect(withoutUploadKey(path)).toBe(logged)
})

test('a connection on which data arrives is known, until it has', async () => {
  const app = Fastify()
  let arrived = 0
  const uploads = {
    canReceive: true,
    receive: async (_key: string, data: AsyncIterable<Buffer>) => {
      for await (const piece of data) arrived += piece.length
    },
    forget: () => undefined,
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
