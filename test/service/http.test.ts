import { METHODS } from 'node:http'
import { connect as connectSocket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { ROUTES } from '../../src/service/api/routes.ts'
import { hashToken } from '../../src/service/store/token-store.ts'
import { connect, exchange, startForTest } from './harness.ts'

const errors = (reason: string, field: string | null = null) => ({ errors: [{ field, reason }] })

describe('requests outside the API', async () => {
  const { service, client } = await startForTest()
  const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
  const LARGE = 'x'.repeat(1024 * 1024 + 1)

  test.each<[string, string, string, unknown, Record<string, string>, number, object]>([
    ['unknown path', 'GET', '/nothing', undefined, {}, 404, errors('Not found')],
    ['unknown path below a known one', 'GET', '/domains/1/nothing', undefined, {}, 404, errors('Not found')],
    ['path that is not encoded', 'GET', '/domains/%zz', undefined, {}, 404, errors('Not found')],
    ['an invalid id', 'GET', '/domains/abc', undefined, {}, 404, errors('Not found')],
    ['a number in another form', 'GET', '/domains/1e0', undefined, {}, 404, errors('Not found')],
    ['an id above the limit', 'GET', '/domains/99999999999999999999', undefined, {}, 404, errors('Not found')],
    ['label with NUL', 'GET', '/tags/a%00b', undefined, {}, 404, errors('Not found')],
    ['label that is not UTF-8', 'GET', '/tags/%ED%A0%80', undefined, {}, 404, errors('Not found')],
    ['a missing domain', 'GET', '/domains/4711', undefined, {}, 404, errors('Not found')],
    ['an unsupported method', 'PATCH', '/domains/1', {}, {}, 405, errors('Method Not Allowed')],
    ['JSON that does not parse', 'POST', '/domains', '{"domain":', {}, 400, errors('Invalid JSON')],
    ['JSON that is not UTF-8', 'POST', '/domains', Buffer.from('{"domain":"\xff"}', 'latin1'), {}, 400, errors('Invalid JSON')],
    ['body that is a list', 'POST', '/domains', [], {}, 400, errors('The request body must be a JSON object')],
    ['body that is null', 'POST', '/domains', 'null', {}, 400, errors('The request body must be a JSON object')],
    ['body of another type', 'POST', '/domains', 'domain=x', FORM, 415, errors('The request body must be application/json')],
    ['body that is too large', 'POST', '/domains', LARGE, {}, 413, errors('The request body is larger than 1048576 octets')],
  ])('%s', async (_name, method, path, body, headers, status, expected) => {
    const answer = await client.call(method, path, body, headers)
    expect([answer.status, answer.body]).toEqual([status, expected])
    expect(answer.headers['content-type']).toBe('application/json')
  })

  test('every operation refuses other methods, types and sizes of the body', async () => {
    for (const { method, path: declared, body } of ROUTES) {
      const path = declared.replace(/\{\w+\}/g, '1')
      const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter(
        (other) => !ROUTES.some((one) => one.method === other && one.path === declared),
      )
      for (const other of others) expect([other, path, (await client.call(other, path)).status]).toEqual([other, path, 405])
      if (body === undefined) continue
      const statuses = await Promise.all([
        client.call(method, path, '{'),
        client.call(method, path, 'x', { 'content-type': 'text/html' }),
        client.call(method, path, LARGE),
      ])
      expect([path, ...statuses.map(({ status }) => status)]).toEqual([path, 400, 415, 413])
    }
  })

  test.each([
    ['/domains/1', 'GET, HEAD, PUT, DELETE, OPTIONS'],
    ['/domains', 'GET, HEAD, POST, OPTIONS'],
    ['/domains/1/clone', 'POST, OPTIONS'],
    ['/openapi.json', 'GET, HEAD, OPTIONS'],
  ])('405 and OPTIONS list the methods of %s', async (path, allow) => {
    for (const method of METHODS.filter((method) => !allow.includes(method) && method !== 'CONNECT')) {
      const { status, headers, body } = await client.call(method, path)
      const shown = method === 'HEAD' ? null : errors('Method Not Allowed')
      expect([method, status, headers['allow'], body]).toEqual([method, 405, allow, shown])
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

  test.each<[string, string, string[], string?]>([
    ['unclosed brackets', '['.repeat(300_000), ['Invalid JSON']],
    [
      'depth',
      `{"domain":${'['.repeat(100_000)}${']'.repeat(100_000)},"type":"slave"}`,
      ['domain: domain is not valid', 'master_ips: You need at least one master DNS server IP address for this zone.'],
    ],
    ['a huge number', '{"domain":"a.example","type":"master","soa_email":"a@b.c","ttl_sec":1e400}', ['ttl_sec: ttl_sec is not valid']],
    [
      'more errors than the limit',
      JSON.stringify(Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`x${n}`, n]))),
      Array.from({ length: 50 }, (_, n) => `x${n}: Unknown field`),
      '/profile/tokens',
    ],
  ])('a body with %s', async (_name, body, problems, path = '/domains') =>
    expect(await client.problems('POST', path, body)).toEqual(problems),
  )

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
    const expected = ['domain: domain is required', 'type: type is required']
    expect(await client.problems('POST', '/domains')).toEqual(expected)
    expect(await client.problems('POST', '/domains', '')).toEqual(expected)
    // The declared media type does not matter.
    expect(await client.problems('POST', '/domains', '', { 'content-type': 'application/x-www-form-urlencoded' })).toEqual(expected)
  })

  test('a key __proto__ is an unknown field', async () => {
    const body = '{"domain":"proto.example","type":"master","soa_email":"a@b.example","__proto__":{"status":"disabled"}}'
    expect(await client.ok('POST', '/domains', body)).toMatchObject({ status: 'active' })
    expect(await client.problems('POST', '/profile/tokens', '{"__proto__":{"scopes":"*"}}')).toEqual(['__proto__: Unknown field'])
  })

  test.each([
    ['no HTTP at all', 'HELLO\r\n\r\n', 400, 'Bad request'],
    ['long headers', `GET / HTTP/1.1\r\nX-Filter: ${'x'.repeat(40_000)}\r\n\r\n`, 431, 'The request headers are larger than 32768 octets'],
  ])('%s', async (_name, text, status, reason) => {
    const reply = await exchange(service.baseUrl, text)
    expect(reply).toMatch(new RegExp(`^HTTP/1.1 ${status} [^]*content-type: application/json\r`, 'i'))
    expect(JSON.parse(reply.slice(reply.indexOf('\r\n\r\n')))).toEqual(errors(reason))
  })
})

describe('authentication', async () => {
  const { service, client } = await startForTest({ bootstrapToken: 'administrator' })
  const nobody = connect(service.baseUrl, '').client

  test.each([
    ['another scheme', 'Basic YTpi'],
    ['nothing after the scheme', 'Bearer '],
    ['a token with trailing text', 'Bearer administrator x'],
    ['the hash instead of the token', `Bearer ${hashToken('administrator')}`],
  ])('%s is 401', async (_name, authorization) => {
    const answer = await nobody.call('GET', '/domains', undefined, { authorization })
    expect([answer.status, answer.body, answer.headers['x-oauth-scopes']]).toEqual([401, errors('Invalid Token'), 'unknown'])
  })

  test('the scheme is accepted in any case', async () => {
    expect((await nobody.call('GET', '/domains', undefined, { authorization: 'bEARER administrator' })).status).toBe(200)
  })

  test('401 takes precedence over errors of the body', async () => expect((await nobody.call('POST', '/domains', '{')).status).toBe(401))

  test('headers describe the scopes and the API, and prevent caching', async () => {
    expect((await client.call('GET', '/domains')).headers).toMatchObject({
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
