/** Requests without a host, with several, or with two different ones (RFC 9112 section 3.2). */
import { describe, expect, test } from 'vitest'
import { exchange, LOOPBACK, startForTest } from './harness.ts'

const { service, client } = await startForTest({ bootstrapToken: 'bootstrap', observability: LOOPBACK })
const { host } = new URL(service.baseUrl)
const SEVERAL = 'The request has more than one Host header'
const INVALID = 'The Host header is not valid'
const OTHER = 'The Host header does not match the request target'
const MISSING = 'The request has no Host header'

/** Request heads with the reason for their refusal; null for accepted ones. */
const HEADS: readonly (readonly [name: string, head: readonly string[], reason: string | null])[] = [
  ['one host', ['GET PATH HTTP/1.1', `Host: ${host}`], null],
  ['a host in capitals', ['GET PATH HTTP/1.1', 'HOST: DNS.EXAMPLE.NET'], null],
  ['an IPv6 address', ['GET PATH HTTP/1.1', 'Host: [2001:db8::1]:8080'], null],
  ['an empty host', ['GET PATH HTTP/1.1', 'Host:'], null],
  ['two different hosts', ['GET PATH HTTP/1.1', 'Host: one.example', 'Host: two.example'], SEVERAL],
  ['a duplicate host', ['GET PATH HTTP/1.1', `Host: ${host}`, `Host: ${host}`], SEVERAL],
  ['two hosts in other spellings', ['GET PATH HTTP/1.1', 'hOST: one.example', 'Accept: */*', 'host:two.example'], SEVERAL],
  ['an empty host and another', ['GET PATH HTTP/1.1', 'Host:', 'Host: one.example'], SEVERAL],
  ['two hosts in HTTP/1.0', ['GET PATH HTTP/1.0', 'Host: one.example', 'Host: two.example'], SEVERAL],
  ['two hosts in one field', ['GET PATH HTTP/1.1', 'Host: one.example, two.example'], INVALID],
  ['a user before the host', ['GET PATH HTTP/1.1', 'Host: user@one.example'], INVALID],
  ['a path after the host', ['GET PATH HTTP/1.1', 'Host: one.example/x'], INVALID],
  ['two ports', ['GET PATH HTTP/1.1', 'Host: one.example:80:90'], INVALID],
  ['a quotation mark', ['GET PATH HTTP/1.1', 'Host: a"b'], INVALID],
  ['no host', ['GET PATH HTTP/1.1'], MISSING],
  ['no host in HTTP/1.0', ['GET PATH HTTP/1.0'], null],
  ['absolute form with the same host', ['GET http://one.examplePATH HTTP/1.1', 'Host: One.Example'], null],
  ['absolute form with another host', ['GET http://two.examplePATH HTTP/1.1', 'Host: one.example'], OTHER],
  ['absolute form with another port', ['GET http://one.example:81PATH HTTP/1.1', 'Host: one.example'], OTHER],
  ['absolute form with a user', ['GET http://user@one.examplePATH HTTP/1.1', 'Host: one.example'], OTHER],
  ['absolute form and two hosts', ['GET http://one.examplePATH HTTP/1.1', 'Host: one.example', 'Host: two.example'], SEVERAL],
]

describe.each([
  ['an operation', service.baseUrl, '/v4/domains', 200],
  ['an open operation', service.baseUrl, '/v4/regions?page=1', 200],
  ['the description', service.baseUrl, '/v4/openapi.json', 200],
  ['an unknown path', service.baseUrl, '/nothing', 404],
  ['a path that is not encoded', service.baseUrl, '/v4/domains/%zz', 404],
  ['an upload', service.baseUrl, '/uploads/key', 405],
  ['the health page', service.observabilityUrl as string, '/healthz', 200],
])('%s', (_kind, baseUrl, path, status) => {
  test.each(HEADS)('%s', async (_name, head, reason) => {
    const { status: answered, body } = await send(baseUrl, head.join('\r\n').replace('PATH', path))
    expect(answered).toBe(reason === null ? status : 400)
    if (reason !== null) expect(body).toContain(path === '/healthz' ? `${reason}\n` : `{"errors":[{"field":null,"reason":"${reason}"}]}`)
  })
})

test('a request with two hosts has no effect', async () => {
  const body = JSON.stringify({ domain: 'two-hosts.example', type: 'master', soa_email: 'hostmaster@example.com' })
  const hosts = [`Host: ${host}`, 'Host: two.example']
  const head = ['POST /v4/domains HTTP/1.1', ...hosts, 'Content-Type: application/json', `Content-Length: ${body.length}`]
  expect((await send(service.baseUrl, head.join('\r\n'), body)).status).toBe(400)
  expect((await client.ok('GET', '/domains')).results).toBe(0)
})

/** Sends a request on its own connection; returns the status and the body. */
async function send(baseUrl: string, head: string, body = ''): Promise<{ status: number; body: string }> {
  const received = await exchange(baseUrl, `${head}\r\nAuthorization: Bearer bootstrap\r\nConnection: close\r\n\r\n${body}`)
  return { status: Number(received.slice(9, 12)), body: received.slice(received.indexOf('\r\n\r\n') + 4) }
}
