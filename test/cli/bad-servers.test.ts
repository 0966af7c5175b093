/** Missing, lying or refusing servers: a clear diagnostic with its code, exit 1, no partial changes, in bounded time. */
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { describe, expect, type TestContext, test } from 'vitest'
import { freePort } from '../support/free-port.ts'
import type { ReceivedRequest, Reply, Script } from './recording-proxy.ts'
import { expectNothingDone, TOKEN, ZONE } from './scene.ts'
import { openServiceScene } from './service-scene.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

const json = (body: unknown, status = 200, headers = {}): Reply => ({
  status,
  headers: { ...JSON_TYPE, ...headers },
  body: JSON.stringify(body),
})

const errors = (status: number, reason: string, headers = {}): Reply => json({ errors: [{ reason }] }, status, headers)

const page = (data: unknown, more = {}): Reply => json({ data, page: 1, pages: 1, results: Array.isArray(data) ? data.length : 1, ...more })

const HTML = '<!doctype html><title>Sign in</title><p>Please sign in to the proxy.'

/** The reply to every request, and the expected diagnostic. */
const ANSWERS: readonly (readonly [name: string, reply: Reply | 'cut', code: string, message: RegExp])[] = [
  [
    'HTML with 200',
    { headers: { 'content-type': 'text/html' }, body: HTML },
    'provider-garbled',
    /the response is not JSON \(text\/html, \d+ characters\)/,
  ],
  ['HTML as JSON', { headers: JSON_TYPE, body: HTML }, 'provider-garbled', /the response is malformed JSON/],
  [
    'truncated JSON',
    { headers: JSON_TYPE, body: '{"data": [{"id": 1, "domain": "exam' },
    'provider-garbled',
    /the response is malformed JSON/,
  ],
  [
    'JSON of another type',
    { headers: { 'content-type': 'text/plain' }, body: '{"data":[],"page":1,"pages":1,"results":0}' },
    'provider-garbled',
    /not JSON/,
  ],
  [
    'no content type',
    { headers: {}, body: '{"data":[],"page":1,"pages":1,"results":0}' },
    'provider-garbled',
    /not JSON \(no content type/,
  ],
  ['nothing', { headers: JSON_TYPE, body: '' }, 'provider-garbled', /malformed JSON/],
  ['null', json(null), 'provider-garbled', /does not match the API/],
  ['a list as a page', json([]), 'provider-garbled', /does not match the API/],
  ['text as a page', page(['x']), 'provider-garbled', /does not match the API/],
  ['a page whose data is a number', page(5), 'provider-garbled', /does not match the API/],
  ['a domain without an id', page([{ domain: 'example.com', type: 'master' }]), 'provider-garbled', /does not match the API/],
  ['a million pages', json({ data: [], page: 1, pages: 1e6, results: 5e8 }), 'provider-garbled', /./],
  ['endless pages', json({ data: [], page: 1, pages: 1e308, results: 0 }), 'provider-garbled', /./],
  ['a negative number of pages', json({ data: [], page: 1, pages: -1, results: -1 }), 'provider-garbled', /./],
  ['a wrong number of items', page([], { results: 3 }), 'provider-garbled', /has 0 items and states 3 items on 1 page/],
  ['JSON nested 100,000 deep', { headers: JSON_TYPE, body: `{"data":${'['.repeat(1e5)}${']'.repeat(1e5)}}` }, 'provider-garbled', /./],
  [
    'a redirect',
    { status: 302, headers: { ...JSON_TYPE, location: 'http://192.0.2.1/v4/domains' }, body: '{}' },
    'provider-garbled',
    /the server redirects \(302\), which is not followed/,
  ],
  ['204', { status: 204, headers: {}, body: '' }, 'provider-garbled', /not JSON/],
  ['401', errors(401, 'Invalid Token'), 'provider-unauthorized', /401 Invalid Token .*the token is wrong, revoked or expired/],
  [
    '401 in HTML',
    { status: 401, headers: { 'content-type': 'text/html' }, body: HTML },
    'provider-unauthorized',
    /401 the response is not from the API \(text\/html/,
  ],
  [
    '401 for a missing scope',
    errors(401, 'Your OAuth token is not authorized to use this endpoint.', {
      'x-oauth-scopes': 'linodes:read_only',
      'x-accepted-oauth-scopes': 'domains:read_only',
    }),
    'provider-forbidden',
    /the token lacks a scope: this needs domains:read_only, it has linodes:read_only/,
  ],
  ['403', errors(403, 'Unauthorized'), 'provider-forbidden', /403 Unauthorized .*grant/],
  [
    '404',
    errors(404, 'Not found'),
    'provider-not-found',
    /404 Not found \(check that base_url of cloud is the URL of the API with its version, such as https:\/\/…\/v4\)/,
  ],
  [
    '404 in HTML',
    { status: 404, headers: { 'content-type': 'text/html' }, body: HTML },
    'provider-not-found',
    /404 the response is not from the API/,
  ],
  ['418', errors(418, 'Teapot'), 'provider-rejected', /418 Teapot/],
  ['429 with a short wait', errors(429, 'Too many requests', { 'retry-after': '0' }), 'provider-rate-limited', /429 Too many requests/],
  ['500', errors(500, 'Internal Server Error'), 'provider-failed', /500 Internal Server Error/],
  [
    '502 from a proxy',
    { status: 502, headers: { 'content-type': 'text/html' }, body: HTML },
    'provider-failed',
    /502 the response is not from the API/,
  ],
  ['maintenance', errors(503, 'In maintenance', { 'x-maintenance-mode': 'Emergency' }), 'provider-failed', /503 In maintenance/],
  ['a closed connection', 'cut', 'provider-failed', /the connection to 127\.0\.0\.1:\d+ broke/],
]

describe('a server that replies with', () => {
  test.concurrent.for(ANSWERS)('%s', async ([, reply, code, message], context) => {
    const { expect } = context
    const scene = await openServiceScene({ script: () => reply }, context)
    for (const command of [['plan'], ['apply', '--yes']]) {
      const { stderr, stdout } = await expectNothingDone(scene, code, ...command)
      expect(stderr).toMatch(new RegExp(`^error\\[${code}\\] cloud: looking up domains: .*${message.source}`, 'm'))
      expect(stdout).not.toMatch(/^No changes\. /m)
    }
    expect(scene.proxy.requests.length).toBeLessThan(60)
  })

  test('verify fails too', async () => {
    const scene = await openServiceScene({ script: () => errors(401, 'Invalid Token') })
    const { stdout } = await expectNothingDone(scene, 'provider-unauthorized', 'verify')
    expect(stdout).toMatch(/^1 error\. Verified: 0 of 0 zones as defined, .*could not be read\.\n$/)
  })

  test('a temporary failure is retried', async () => {
    let count = 0
    const scene = await openServiceScene({
      script: () => {
        count += 1
        return count <= 2 ? errors(503, 'Try again') : null
      },
    })
    expect((await scene.run('plan')).status).toBe(0)
    expect(count).toBeGreaterThan(3)
  })
})

/** A server with correct domains and one other wrong reply. */
const RENDERED = json({ zone_file: [] })

const wrongAbout =
  (part: string, reply: Reply | 'cut'): Script =>
  ({ method, path }: ReceivedRequest) => {
    if (path.includes(part)) return reply
    if (path.endsWith('/zone-file')) return RENDERED
    return method === 'GET' && path.startsWith('/v4/domains?')
      ? page([{ id: 7, domain: 'example.com', type: 'master', soa_email: 'hostmaster@example.com', status: 'active' }])
      : null
  }

describe('a server with a correct domain whose records are', () => {
  test.each([
    ['a record without a type', page([{ id: 1, name: 'www', target: '192.0.2.1' }]), 'provider-garbled'],
    ['a target that is a number', page([{ id: 1, type: 'A', name: 'www', target: 5, ttl_sec: 0 }]), 'provider-garbled'],
    ['a duplicate ID', page([1, 1].map((id) => ({ id, type: 'A', name: `w${id}`, target: '192.0.2.1', ttl_sec: 0 }))), 'provider-garbled'],
    ['truncated JSON', { body: '{"data": [' }, 'provider-garbled'],
    ['403', errors(403, 'Unauthorized'), 'provider-forbidden'],
    ['404', errors(404, 'Not found'), 'provider-not-found'],
  ] as const)('%s', async (_, reply, code) => {
    const scene = await openServiceScene({ script: wrongAbout('/records', reply) })
    for (const command of [['plan'], ['apply', '--yes']]) await expectNothingDone(scene, code, ...command)
  })

  test('errors in the rendered zone file are only warnings', async () => {
    const scene = await openServiceScene()
    await scene.run('apply', '--yes')
    scene.write({ 'zones/example.com.yaml': ZONE.replace('192.0.2.1', '192.0.2.9') })
    const spoilt = await openServiceScene({
      files: { 'zones/example.com.yaml': scene.files()['zones/example.com.yaml'] as string },
      script: ({ path }) => (path.endsWith('/zone-file') ? errors(404, 'Not found') : null),
    })
    spoilt.write({ 'zonewright.yaml': (scene.files()['zonewright.yaml'] as string).replace(scene.proxy.origin, spoilt.proxy.origin) })
    await spoilt.run('apply', '--yes')
    const { status, stdout, stderr } = await spoilt.run('plan', '--verbose')
    expect({ status }).toEqual({ status: 0 })
    expect(stderr).toMatch(
      /^zones\/example\.com\.yaml:1:\d+: warning\[rendered-unavailable\] cloud: reading the rendered zone file of example\.com\.: 404 Not found/m,
    )
    expect(stdout).toContain('rendered zone file: not available')
  })

  test('plans the other zones and applies none if one zone cannot be read', async () => {
    const scene = await openServiceScene({
      files: { 'zones/example.com.yaml': ZONE, 'zones/example.net.yaml': ZONE.replaceAll('example.com', 'example.net') },
      script: wrongAbout('/records', errors(403, 'Unauthorized')),
    })
    const { stdout, stderr } = await expectNothingDone(scene, 'provider-forbidden', 'apply', '--yes')
    expect(stdout).toContain('example.net. at cloud (new zone')
    expect(stderr).toMatch(
      /^zones\/example\.com\.yaml:1:\d+: error\[provider-forbidden\] cloud: reading the records of example\.com\.: 403/m,
    )
    expect(stderr).toContain('Nothing was applied. 1 zone has no problem')
  })
})

describe.concurrent('an unreachable server', () => {
  test('a closed port', async (context) => {
    const { expect } = context
    const scene = await openServiceScene({}, context)
    const port = await freePort()
    const config = scene.files()['zonewright.yaml'] as string
    scene.write({ 'zonewright.yaml': config.replace(scene.proxy.origin, `http://127.0.0.1:${port}`) })
    const { stderr } = await expectNothingDone(scene, 'provider-unreachable', 'apply', '--yes')
    expect(stderr).toMatch(
      /: 127\.0\.0\.1:\d+ cannot be reached \(ECONNREFUSED\); tried 5 times in \d+(?:\.\d)? s \(start the service with/,
    )
    expect(stderr).toContain('"zonewright serve", or check base_url of cloud)')
  })

  test('a name without an address', async (context) => {
    const { expect } = context
    const scene = await openServiceScene({}, context)
    const config = scene.files()['zonewright.yaml'] as string
    scene.write({ 'zonewright.yaml': config.replace(/http:\/\/127[^/]*/, 'https://nobody.invalid') })
    const { stderr } = await expectNothingDone(scene, 'provider-unreachable', 'plan')
    expect(stderr).toMatch(/nobody\.invalid cannot be reached \(E/)
  })

  /** A raw TCP server. */
  async function speak({ onTestFinished }: Pick<TestContext, 'onTestFinished'>, behave: (socket: Socket) => void): Promise<string> {
    const sockets = new Set<Socket>()
    const server = createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => undefined)
      behave(socket)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
    return `http://127.0.0.1:${(server.address() as { port: number }).port}`
  }

  test.for([
    ['another protocol', (socket: Socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'), 'provider-garbled'],
    [
      'less than its content length',
      (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"data"'),
      'provider-failed',
    ],
    ['endless headers', (socket: Socket) => socket.end(`HTTP/1.1 200 OK\r\n${'x-a: b\r\n'.repeat(1e5)}\r\n`), 'provider-[a-z]+'],
  ] as const)('%s', async ([, behave, code], context) => {
    const scene = await openServiceScene({}, context)
    const origin = await speak(context, (socket) => socket.once('data', () => behave(socket)))
    scene.write({ 'zonewright.yaml': (scene.files()['zonewright.yaml'] as string).replace(scene.proxy.origin, origin) })
    await expectNothingDone(scene, code, 'plan')
  })

  test.for([
    ['never answers', (_: Socket): void => undefined],
    [
      'sends single octets for ever',
      (socket: Socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n')
        const timer = setInterval(() => socket.write('1\r\n \r\n'), 50)
        socket.on('close', () => clearInterval(timer))
      },
    ],
  ] as const)('times out if it %s', { timeout: 90_000 }, async ([, behave], context) => {
    const { expect } = context
    const scene = await openServiceScene({ provider: 'timeout: 0.2' }, context)
    const origin = await speak(context, (socket) => socket.once('data', () => behave(socket)))
    scene.write({ 'zonewright.yaml': (scene.files()['zonewright.yaml'] as string).replace(scene.proxy.origin, origin) })
    const { stderr } = await expectNothingDone(scene, 'provider-timeout', 'plan')
    expect(stderr).toMatch(/did not respond in time/)
  })
})

test('names the missing scope of a token', async () => {
  const scene = await openServiceScene()
  const created = await fetch(`${scene.service.baseUrl}/profile/tokens`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ label: 'reader', scopes: 'domains:read_only' }),
  })
  // The proxy replaces the tokens API, which may be missing.
  if (created.status === 200) {
    const { token } = (await created.json()) as { token: string }
    expect((await scene.runWith({ ZONEWRIGHT_TOKEN: token }, 'plan')).status).toBe(0)
    const { status, stdout } = await scene.runWith({ ZONEWRIGHT_TOKEN: token }, 'apply', '--yes')
    expect(status).toBe(1)
    expect(stdout).toContain('domains:read_write')
    return
  }
  const reading = await openServiceScene({
    script: ({ method }) =>
      method === 'GET'
        ? null
        : errors(401, 'Your OAuth token is not authorized to use this endpoint.', {
            'x-oauth-scopes': 'domains:read_only',
            'x-accepted-oauth-scopes': 'domains:read_write',
          }),
  })
  expect((await reading.run('plan')).status).toBe(0)
  const { status, stdout } = await reading.run('apply', '--yes')
  expect(status).toBe(1)
  expect(stdout).toMatch(/failed: cloud: creating example\.com\.: 401 Your OAuth token is not authorized/)
  expect(stdout).toContain('domains:read_write')
})

test('does not print the token if the server repeats it', async () => {
  const scene = await openServiceScene({ script: ({ headers }) => errors(400, `bad header ${headers.authorization} and ${TOKEN}`) })
  for (const format of ['text', 'json', 'markdown', 'html', 'github']) {
    const { status, stdout, stderr } = await scene.run('plan', '--format', format, '--verbose')
    expect(status).toBe(1)
    expect(stdout + stderr).toContain('***')
  }
})
