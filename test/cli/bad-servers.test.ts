/** Servers that are not there, lie, or refuse: a clear diagnostic with its code, exit 1, nothing half-done, in bounded time. */
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { describe, expect, type TestContext, test } from 'vitest'
import { freePort } from '../support/free-port.ts'
import type { Heard, Reply, Script } from './front.ts'
import { expectNothingDone, openScene, TOKEN, ZONE } from './scene.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

const json = (body: unknown, status = 200, headers = {}): Reply => ({
  status,
  headers: { ...JSON_TYPE, ...headers },
  body: JSON.stringify(body),
})

const errors = (status: number, reason: string, headers = {}): Reply => json({ errors: [{ reason }] }, status, headers)

const page = (data: unknown, more = {}): Reply => json({ data, page: 1, pages: 1, results: Array.isArray(data) ? data.length : 1, ...more })

const HTML = '<!doctype html><title>Sign in</title><p>Please sign in to the proxy.'

/** What the server says to every request, and the diagnostic it comes to. */
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
  ['a list for a page', json([]), 'provider-garbled', /does not match the API/],
  ['a page of text', page(['x']), 'provider-garbled', /does not match the API/],
  ['a page whose data is a number', page(5), 'provider-garbled', /does not match the API/],
  ['a domain without an id', page([{ domain: 'example.com', type: 'master' }]), 'provider-garbled', /does not match the API/],
  ['a million pages', json({ data: [], page: 1, pages: 1e6, results: 5e8 }), 'provider-garbled', /./],
  ['pages without end', json({ data: [], page: 1, pages: 1e308, results: 0 }), 'provider-garbled', /./],
  ['a negative number of pages', json({ data: [], page: 1, pages: -1, results: -1 }), 'provider-garbled', /./],
  ['a count that is not that of the items', page([], { results: 3 }), 'provider-garbled', /the list changed during each of \d reads/],
  ['JSON nested 100,000 deep', { headers: JSON_TYPE, body: `{"data":${'['.repeat(1e5)}${']'.repeat(1e5)}}` }, 'provider-garbled', /./],
  [
    'a redirect',
    { status: 302, headers: { ...JSON_TYPE, location: 'http://192.0.2.1/v4/domains' }, body: '{}' },
    'provider-garbled',
    /a redirect \(302\), which is not followed/,
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
    '401 for lack of a scope',
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
  [
    '429 that asks for a short wait',
    errors(429, 'Too many requests', { 'retry-after': '0' }),
    'provider-rate-limited',
    /429 Too many requests/,
  ],
  ['500', errors(500, 'Internal Server Error'), 'provider-failed', /500 Internal Server Error/],
  [
    '502 of a proxy',
    { status: 502, headers: { 'content-type': 'text/html' }, body: HTML },
    'provider-failed',
    /502 the response is not from the API/,
  ],
  ['maintenance', errors(503, 'In maintenance', { 'x-maintenance-mode': 'Emergency' }), 'provider-failed', /503 In maintenance/],
  ['a connection that is cut', 'cut', 'provider-failed', /the connection to 127\.0\.0\.1:\d+ broke/],
]

describe('a server that answers', () => {
  test.concurrent.for(ANSWERS)('%s', async ([, reply, code, message], context) => {
    const { expect } = context
    const scene = await openScene({ script: () => reply }, context)
    for (const command of [['plan'], ['apply', '--yes']]) {
      const { stderr, stdout } = await expectNothingDone(scene, code, ...command)
      expect(stderr).toMatch(new RegExp(`^error\\[${code}\\] cloud: looking up domains: .*${message.source}`, 'm'))
      expect(stdout).not.toMatch(/^No changes\. /m)
    }
    expect(scene.front.heard.length).toBeLessThan(60)
  })

  test('verify fails too', async () => {
    const scene = await openScene({ script: () => errors(401, 'Invalid Token') })
    const { stdout } = await expectNothingDone(scene, 'provider-unauthorized', 'verify')
    expect(stdout).toMatch(/^Verified: 0 of 0 zones as defined, .*could not be read\.\n$/)
  })

  test('a failure that passes is tried again', async () => {
    let count = 0
    const scene = await openScene({
      script: () => {
        count += 1
        return count <= 2 ? errors(503, 'Try again') : null
      },
    })
    expect((await scene.run('plan')).status).toBe(0)
    expect(count).toBeGreaterThan(3)
  })
})

/** A server that is right about the domains, and wrong about one other thing. */
const RENDERED = json({ zone_file: [] })

const wrongAbout =
  (part: string, reply: Reply | 'cut'): Script =>
  ({ method, path }: Heard) => {
    if (path.includes(part)) return reply
    if (path.endsWith('/zone-file')) return RENDERED
    return method === 'GET' && path.startsWith('/v4/domains?')
      ? page([{ id: 7, domain: 'example.com', type: 'master', soa_email: 'hostmaster@example.com', status: 'active' }])
      : null
  }

describe('a server that is right about the domain, and of its records says', () => {
  test.each([
    ['a record without a type', page([{ id: 1, name: 'www', target: '192.0.2.1' }]), 'provider-garbled'],
    ['a target that is a number', page([{ id: 1, type: 'A', name: 'www', target: 5, ttl_sec: 0 }]), 'provider-garbled'],
    [
      'the same identifier twice',
      page([1, 1].map((id) => ({ id, type: 'A', name: `w${id}`, target: '192.0.2.1', ttl_sec: 0 }))),
      'provider-garbled',
    ],
    ['truncated JSON', { body: '{"data": [' }, 'provider-garbled'],
    ['403', errors(403, 'Unauthorized'), 'provider-forbidden'],
    ['404', errors(404, 'Not found'), 'provider-not-found'],
  ] as const)('%s', async (_, reply, code) => {
    const scene = await openScene({ script: wrongAbout('/records', reply) })
    for (const command of [['plan'], ['apply', '--yes']]) await expectNothingDone(scene, code, ...command)
  })

  test('the rendered zone file is for reporting only: what is wrong with it is a warning', async () => {
    const scene = await openScene()
    await scene.run('apply', '--yes')
    scene.write({ 'zones/example.com.yaml': ZONE.replace('192.0.2.1', '192.0.2.9') })
    const spoilt = await openScene({
      files: { 'zones/example.com.yaml': scene.files()['zones/example.com.yaml'] as string },
      script: ({ path }) => (path.endsWith('/zone-file') ? errors(404, 'Not found') : null),
    })
    spoilt.write({ 'zonewright.yaml': (scene.files()['zonewright.yaml'] as string).replace(scene.front.origin, spoilt.front.origin) })
    await spoilt.run('apply', '--yes')
    const { status, stdout, stderr } = await spoilt.run('plan', '--verbose')
    expect({ status }).toEqual({ status: 0 })
    expect(stderr).toMatch(
      /^zones\/example\.com\.yaml:1:\d+: warning\[rendered-unavailable\] cloud: reading the rendered zone file of example\.com\.: 404 Not found/m,
    )
    expect(stdout).toContain('rendered zone file: not available')
  })

  test('one zone that cannot be read leaves the others planned, and none applied', async () => {
    const scene = await openScene({
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

describe.concurrent('a server that cannot be spoken with', () => {
  test('nobody listens', async (context) => {
    const { expect } = context
    const scene = await openScene({}, context)
    const port = await freePort()
    const config = scene.files()['zonewright.yaml'] as string
    scene.write({ 'zonewright.yaml': config.replace(scene.front.origin, `http://127.0.0.1:${port}`) })
    const { stderr } = await expectNothingDone(scene, 'provider-unreachable', 'apply', '--yes')
    expect(stderr).toMatch(
      /: 127\.0\.0\.1:\d+ cannot be reached \(ECONNREFUSED\); tried 5 times in \d+(?:\.\d)? s \(start the service with/,
    )
    expect(stderr).toContain('"zonewright serve", or check base_url of cloud)')
  })

  test('a name without an address', async (context) => {
    const { expect } = context
    const scene = await openScene({}, context)
    const config = scene.files()['zonewright.yaml'] as string
    scene.write({ 'zonewright.yaml': config.replace(/http:\/\/127[^/]*/, 'https://nobody.invalid') })
    const { stderr } = await expectNothingDone(scene, 'provider-unreachable', 'plan')
    expect(stderr).toMatch(/nobody\.invalid cannot be reached \(E/)
  })

  /** A server below HTTP. */
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
      'less than it promised',
      (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"data"'),
      'provider-failed',
    ],
    ['headers without end', (socket: Socket) => socket.end(`HTTP/1.1 200 OK\r\n${'x-a: b\r\n'.repeat(1e5)}\r\n`), 'provider-[a-z]+'],
  ] as const)('%s', async ([, behave, code], context) => {
    const scene = await openScene({}, context)
    const origin = await speak(context, (socket) => socket.once('data', () => behave(socket)))
    scene.write({ 'zonewright.yaml': (scene.files()['zonewright.yaml'] as string).replace(scene.front.origin, origin) })
    await expectNothingDone(scene, code, 'plan')
  })

  test.for([
    ['never answers', (_: Socket): void => undefined],
    [
      'answers an octet at a time for ever',
      (socket: Socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n')
        const timer = setInterval(() => socket.write('1\r\n \r\n'), 50)
        socket.on('close', () => clearInterval(timer))
      },
    ],
  ] as const)('one that %s is given up', { timeout: 90_000 }, async ([, behave], context) => {
    const { expect } = context
    const scene = await openScene({ provider: 'timeout: 0.2' }, context)
    const origin = await speak(context, (socket) => socket.once('data', () => behave(socket)))
    scene.write({ 'zonewright.yaml': (scene.files()['zonewright.yaml'] as string).replace(scene.front.origin, origin) })
    const { stderr } = await expectNothingDone(scene, 'provider-timeout', 'plan')
    expect(stderr).toMatch(/did not respond in time/)
  })
})

test('a token without scope: told which one is needed', async () => {
  const scene = await openScene()
  const created = await fetch(`${scene.service.baseUrl}/profile/tokens`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ label: 'reader', scopes: 'domains:read_only' }),
  })
  // The part of the API that makes tokens may not be there; the front stands in for what it would say.
  if (created.status === 200) {
    const { token } = (await created.json()) as { token: string }
    expect((await scene.runWith({ ZONEWRIGHT_TOKEN: token }, 'plan')).status).toBe(0)
    const { status, stdout } = await scene.runWith({ ZONEWRIGHT_TOKEN: token }, 'apply', '--yes')
    expect(status).toBe(1)
    expect(stdout).toContain('domains:read_write')
    return
  }
  const reading = await openScene({
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

test('a server that repeats the token does not get it printed', async () => {
  const scene = await openScene({ script: ({ headers }) => errors(400, `bad header ${headers.authorization} and ${TOKEN}`) })
  for (const format of ['text', 'json', 'markdown', 'html', 'github']) {
    const { status, stdout, stderr } = await scene.run('plan', '--format', format, '--verbose')
    expect(status).toBe(1)
    expect(stdout + stderr).toContain('***')
  }
})
