import { METHODS } from 'node:http'
import { connect as connectSocket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { NO_SECRETS } from '../../src/service/secrets/prepare-secrets.ts'
import { createUsers } from '../../src/service/seed/apply-seed.ts'
import { findAdministrator, type insertAdministrator } from '../../src/service/store/account-store.ts'
import { hashToken, insertToken } from '../../src/service/store/token-store.ts'
import { connect, freshStore, openStore, startForTest } from './harness.ts'

const MASTER = { type: 'master', soa_email: 'hostmaster@example.com' }
const errors = (reason: string, field: string | null = null) => ({ errors: [{ field, reason }] })

describe('requests outside the API', async () => {
  const { service, client } = await startForTest()

  test.each<[string, string, string, unknown, Record<string, string>, number, object]>([
    ['unknown path', 'GET', '/nothing', undefined, {}, 404, errors('Not found')],
    ['unknown path below a known one', 'GET', '/domains/1/nothing', undefined, {}, 404, errors('Not found')],
    ['path that is not encoded', 'GET', '/domains/%zz', undefined, {}, 404, errors('Not found')],
    ['an invalid id', 'GET', '/domains/abc', undefined, {}, 404, errors('Not found')],
    ['a number in another form', 'GET', '/domains/1e0', undefined, {}, 404, errors('Not found')],
    ['an id above the limit', 'GET', '/domains/99999999999999999999', undefined, {}, 404, errors('Not found')],
    ['label with NUL', 'GET', '/tags/a%00b', undefined, {}, 404, errors('Not found')],
    ['label with NUL to delete', 'DELETE', '/tags/a%00b', undefined, {}, 404, errors('Not found')],
    ['label that is not UTF-8', 'GET', '/tags/%ED%A0%80', undefined, {}, 404, errors('Not found')],
    ['a missing domain', 'GET', '/domains/4711', undefined, {}, 404, errors('Not found')],
    ['an unsupported method', 'PATCH', '/domains/1', {}, {}, 405, errors('Method Not Allowed')],
    ['method of another path', 'DELETE', '/domains', undefined, {}, 405, errors('Method Not Allowed')],
    ['JSON that does not parse', 'POST', '/domains', '{"domain":', {}, 400, errors('Invalid JSON')],
    ['JSON that is not UTF-8', 'POST', '/domains', Buffer.from('{"domain":"\xff"}', 'latin1'), {}, 400, errors('Invalid JSON')],
    ['body that is a list', 'POST', '/domains', [], {}, 400, errors('The request body must be a JSON object')],
    ['body that is null', 'POST', '/domains', 'null', {}, 400, errors('The request body must be a JSON object')],
    [
      'body of another type',
      'POST',
      '/domains',
      'domain=x',
      { 'content-type': 'application/x-www-form-urlencoded' },
      415,
      errors('The request body must be application/json'),
    ],
    [
      'body that is too large',
      'POST',
      '/domains',
      'x'.repeat(1024 * 1024 + 1),
      {},
      413,
      errors('The request body is larger than 1048576 octets'),
    ],
  ])('%s', async (_name, method, path, body, headers, status, expected) => {
    const answer = await client.call(method, path, body, headers)
    expect([answer.status, answer.body]).toEqual([status, expected])
    expect(answer.headers['content-type']).toBe('application/json')
  })

  test.each([
    ['/domains/1', 'GET, HEAD, PUT, DELETE, OPTIONS'],
    ['/domains', 'GET, HEAD, POST, OPTIONS'],
    ['/domains/1/clone', 'POST, OPTIONS'],
    ['/openapi.json', 'GET, HEAD, OPTIONS'],
  ])('405 and OPTIONS list the methods of %s', async (path, allow) => {
    for (const method of METHODS.filter((method) => !allow.includes(method) && method !== 'CONNECT')) {
      const { status, headers, body } = await client.call(method, path)
      expect([method, status, headers['allow'], body]).toEqual([
        method,
        405,
        allow,
        method === 'HEAD' ? null : errors('Method Not Allowed'),
      ])
    }
    const preflight = { origin: 'https://panel.example', 'access-control-request-method': 'POST', authorization: '' }
    const { status, headers, body } = await client.call('OPTIONS', path, undefined, preflight)
    expect([status, headers['allow'], body]).toEqual([204, allow, null])
    expect(headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'HEAD, GET, OPTIONS, POST, PUT, DELETE',
      'access-control-allow-headers': 'Authorization, Origin, X-Requested-With, Content-Type, Accept, X-Filter',
    })
  })

  test.each(['/domains/', '//domains', '/domains//1', '/domains/../domains', '/domains/1%00', '/domains/%2B1', '/domains;x', '/Domains'])(
    'a path that only looks like one: %s',
    async (path) => expect((await client.call('GET', path)).status).toBe(404),
  )

  test('HEAD responds like GET, without the body', async () => {
    const [get, head] = [await client.call('GET', '/domains'), await client.call('HEAD', '/domains')]
    expect([head.status, head.body, head.headers['content-length']]).toEqual([200, null, get.headers['content-length']])
    expect((await client.call('HEAD', '/domains/4711')).status).toBe(404)
  })

  test.each<[string, string, [string | null, string][]]>([
    ['unclosed brackets', '['.repeat(300_000), [[null, 'Invalid JSON']]],
    [
      'depth',
      `{"domain":${'['.repeat(100_000)}${']'.repeat(100_000)},"type":"slave"}`,
      [
        ['domain', 'domain is not valid'],
        ['master_ips', 'You need at least one master DNS server IP address for this zone.'],
      ],
    ],
    [
      'a number out of range',
      '{"domain":"a.example","type":"master","soa_email":"a@b.example","ttl_sec":1e400}',
      [['ttl_sec', 'ttl_sec is not valid']],
    ],
    [
      'more errors than the limit',
      JSON.stringify(Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`x${n}`, n]))),
      Array.from({ length: 50 }).map((_, n) =>
        n < 2 ? (n === 0 ? ['domain', 'domain is required'] : ['type', 'type is required']) : [`x${n - 2}`, 'Unknown field'],
      ),
    ],
  ])('a body with %s', async (_name, body, problems) => {
    expect(await client.refused('POST', '/domains', body)).toEqual(problems)
  })

  test('uses the last of two equal keys, and ignores the sign of zero', async () => {
    const body = '{"domain":"a.example","domain":"twice.example","type":"master","soa_email":"a@b.example","ttl_sec":-0}'
    expect(await client.ok('POST', '/domains', body)).toMatchObject({ domain: 'twice.example', ttl_sec: 0 })
  })

  test('accepts a chunked body, and closes the connection on an endless one', async () => {
    const head = `POST /v4/domains HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.token}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n`
    expect(await exchange(service.baseUrl, `${head}1\r\n{\r\n1\r\n}\r\n0\r\n\r\n`)).toMatch(/^HTTP\/1.1 400 (?:.|\s)*"domain is required"/)
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`
    expect(await exchange(service.baseUrl, head + chunk.repeat(17))).toMatch(/^HTTP\/1.1 413 /)
  })

  test('a client that disconnects in the middle of its body causes no internal error', async () => {
    const head = `POST /v4/domains HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.token}\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{`
    const { port } = new URL(service.baseUrl)
    const socket = connectSocket(Number(port), '127.0.0.1')
    await new Promise<void>((resolve) => socket.write(head, () => resolve()))
    // Errors in `onError` fail the tests of the file; the request is logged like any other.
    await client.ok('GET', '/domains')
    socket.destroy()
    await client.ok('GET', '/domains')
  })

  test('a missing body is an empty object', async () => {
    const expected = [
      ['domain', 'domain is required'],
      ['type', 'type is required'],
    ]
    expect(await client.refused('POST', '/domains')).toEqual(expected)
    expect(await client.refused('POST', '/domains', '')).toEqual(expected)
    // The declared media type does not matter.
    expect(await client.refused('POST', '/domains', '', { 'content-type': 'application/x-www-form-urlencoded' })).toEqual(expected)
  })

  test('a key __proto__ is an unknown field', async () => {
    const body = '{"domain":"proto.example","type":"master","soa_email":"a@b.example","__proto__":{"status":"disabled"}}'
    expect(await client.refused('POST', '/domains', body)).toEqual([['__proto__', 'Unknown field']])
  })

  test.each([
    ['no HTTP at all', 'HELLO\r\n\r\n', 400, 'Bad request'],
    [
      'endless headers',
      `GET /v4/domains HTTP/1.1\r\nX-Filter: ${'x'.repeat(40_000)}\r\n\r\n`,
      431,
      'The request headers are larger than 32768 octets',
    ],
  ])('%s', async (_name, text, status, reason) => {
    const reply = await exchange(service.baseUrl, text)
    expect(reply).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(JSON.parse(reply.slice(reply.indexOf('\r\n\r\n')))).toEqual(errors(reason))
  })
})

describe('headers of responses', async () => {
  const { client } = await startForTest()

  test('describe the scopes and the API, and prevent caching', async () => {
    const { headers } = await client.call('GET', '/domains')
    expect(headers).toMatchObject({
      'x-oauth-scopes': '*',
      'x-accepted-oauth-scopes': 'domains:read_only',
      'x-spec-version': '4.150.0',
      'cache-control': 'private, no-store',
      vary: 'Authorization, X-Filter',
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'",
    })
  })
})

describe('authentication', async () => {
  const later = '2999-12-12T05:00:00'
  const tokens: Readonly<Record<string, { scopes: string; expiry: string | null }>> = {
    reader: { scopes: 'domains:read_only', expiry: later },
    writer: { scopes: 'account:read_only domains:read_write', expiry: null },
    other: { scopes: 'images:read_write account:read_write', expiry: null },
    prefix: { scopes: 'domain:read_write domains_x:read_write', expiry: null },
    expired: { scopes: '*', expiry: '2026-01-01T00:00:00' },
  }
  const store = await freshStore()
  const database = await openStore(store)
  await createUsers(database, 'administrator', null, '2026-01-01T00:00:00', NO_SECRETS)
  await database.write(async (connection) => {
    const userId = (await findAdministrator(connection)) as number
    for (const [token, { scopes, expiry }] of Object.entries(tokens)) {
      await insertToken(connection, { userId, label: token, token, scopes, expiry }, '2026-01-01T00:00:00')
    }
    const stranger = await insertStranger(connection)
    await insertToken(connection, { userId: stranger, label: '', token: 'stranger', scopes: '*', expiry: null }, '2026-01-01T00:00:00')
  })
  await database.close()
  const { service, client } = await startForTest({ ...store, bootstrapToken: 'administrator' })
  const as = (token: string) => connect(service.baseUrl, token).client

  const INVALID = [401, errors('Invalid Token'), 'unknown']
  const LACKING = [401, errors('Your OAuth token is not authorized to use this endpoint.')]

  test.each([
    ['no header', {}],
    ['another scheme', { authorization: 'Basic YTpi' }],
    ['nothing after the scheme', { authorization: 'Bearer ' }],
    ['an unknown token', { authorization: `Bearer ${'0'.repeat(64)}` }],
    ['a token with trailing text', { authorization: 'Bearer administrator x' }],
    ['an expired token', { authorization: 'Bearer expired' }],
    ['the hash instead of the token', { authorization: `Bearer ${hashToken('administrator')}` }],
  ])('%s is 401', async (_name, headers) => {
    const answer = await as('').call('GET', '/domains', undefined, headers)
    expect([answer.status, answer.body, answer.headers['x-oauth-scopes']]).toEqual(INVALID)
  })

  test('the scheme is accepted in any case', async () => {
    expect((await as('').call('GET', '/domains', undefined, { authorization: 'bEARER administrator' })).status).toBe(200)
  })

  test('401 takes precedence over errors of the body', async () => {
    expect((await as('nobody').call('POST', '/domains', '{')).status).toBe(401)
  })

  test.each([
    ['reader', 'GET', '/domains', 200],
    ['reader', 'POST', '/domains', 401],
    ['reader', 'PUT', '/domains/1', 401],
    ['reader', 'DELETE', '/domains/1', 401],
    ['reader', 'POST', '/domains/1/clone', 401],
    ['reader', 'GET', '/domains/1/zone-file', 404],
    ['reader', 'GET', '/domains/1/records', 404],
    ['reader', 'POST', '/domains/1/records', 401],
    ['reader', 'PUT', '/domains/1/records/1', 401],
    ['reader', 'DELETE', '/domains/1/records/1', 401],
    ['writer', 'GET', '/domains', 200],
    ['writer', 'DELETE', '/domains/1', 404],
    ['other', 'GET', '/domains', 401],
    ['prefix', 'GET', '/domains', 401],
  ])('a token for "%s": %s %s is %i', async (token, method, path, status) => {
    const answer = await as(token).call(method, path)
    expect(answer.status).toBe(status)
    expect(answer.headers['x-oauth-scopes']).toBe(tokens[token]?.scopes)
    if (status === 401) expect([answer.status, answer.body]).toEqual(LACKING)
  })

  test('accounts do not see each other, and share one namespace of domains', async () => {
    const domain = await client.ok('POST', '/domains', { ...MASTER, domain: 'mine.example' })
    const record = await client.ok('POST', `/domains/${domain.id}/records`, { type: 'A', target: '192.0.2.1' })
    const stranger = as('stranger')
    expect((await stranger.ok('GET', '/domains')).results).toBe(0)
    for (const [method, path] of [
      ['GET', ''],
      ['PUT', ''],
      ['DELETE', ''],
      ['POST', '/records'],
      ['GET', '/records'],
      ['GET', '/zone-file'],
      ['GET', `/records/${record.id}`],
      ['PUT', `/records/${record.id}`],
      ['DELETE', `/records/${record.id}`],
    ] as const) {
      const body = method === 'POST' ? { type: 'A', target: '192.0.2.1' } : undefined
      expect([path, (await stranger.call(method, `/domains/${domain.id}${path}`, body)).status]).toEqual([path, 404])
    }
    expect((await stranger.call('POST', `/domains/${domain.id}/clone`, { domain: 'copy.example' })).status).toBe(404)
    expect(await stranger.refused('POST', '/domains', { ...MASTER, domain: 'mine.example' })).toEqual([
      ['domain', 'DNS zone already exists.'],
    ])
    expect((await client.ok('GET', `/domains/${domain.id}/records`)).results).toBe(1)
  })
})

/** All received text until the connection is closed. */
function exchange(baseUrl: string, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectSocket(Number(new URL(baseUrl).port), '127.0.0.1', () => socket.write(text))
    let received = ''
    socket.setEncoding('utf8')
    socket.on('data', (chunk) => {
      received += chunk
    })
    socket.on('close', () => resolve(received))
    socket.on('error', (error) => (received === '' ? reject(error) : resolve(received)))
  })
}

/** The first user of another account. */
async function insertStranger(connection: Parameters<typeof insertAdministrator>[0]): Promise<number> {
  const account = await connection
    .insertInto('accounts')
    .values({ created: '2026-01-01T00:00:00' })
    .returning('id')
    .executeTakeFirstOrThrow()
  const row = { account_id: account.id, username: 'stranger', email: 'stranger@example.com', restricted: 0, created: '2026-01-01T00:00:00' }
  return (await connection.insertInto('users').values(row).returning('id').executeTakeFirstOrThrow()).id
}
