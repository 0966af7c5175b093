import { request as httpRequest } from 'node:http'
import { connect as tlsConnect } from 'node:tls'
import { Agent, request } from 'undici'
import { describe, expect, test } from 'vitest'
import { startService } from '../../src/service/index.ts'
import { createLog } from '../../src/service/observability/log.ts'
import { checkHealth } from '../../src/service/observability/observability.ts'
import { selfSigned } from '../support/certificate.ts'
import { describeWithTools } from '../support/skip.ts'
import { dig } from '../support/tools.ts'
import { freshStore, LOOPBACK, startForTest, temporaryDirectory } from './harness.ts'

const TOKEN = 'a-token-that-no-log-may-hold'

async function text(url: string): Promise<{ status: number; body: string }> {
  const answer = await request(url)
  return { status: answer.statusCode, body: await answer.body.text() }
}

describe('the log', () => {
  test('contains every request and no secret', async () => {
    const lines: string[] = []
    const { client } = await startForTest({ bootstrapToken: TOKEN, log: { level: 'debug', write: (line) => lines.push(line) } })
    await client.ok('POST', '/domains', { domain: 'example.com', type: 'master', soa_email: 'hostmaster@example.com' })
    await client.call('GET', `/domains?page=1&token=${TOKEN}`)
    await client.call('GET', `/nothing-here?${TOKEN}`)
    await client.call('GET', '/domains', undefined, { authorization: `Bearer ${TOKEN}-wrong` })
    await client.call('POST', '/domains', `{"domain": "${TOKEN}`)
    const more = { wait: TOKEN, interfaces: [{ purpose: 'public', primary: TOKEN }, { primary: 1 }], group: null, none: null }
    await client.call('POST', '/compute/instances', more)
    expect(lines.every((line) => line.endsWith('\n') && !line.slice(0, -1).includes('\n'))).toBe(true)
    const entries = lines.map((line) => JSON.parse(line))
    expect(
      entries.filter(({ message }) => message === 'request').map(({ method, path, status, user }) => [method, path, status, user]),
    ).toEqual([
      ['POST', '/v4/domains', 200, 'admin'],
      ['GET', '/v4/domains', 200, 'admin'],
      ['GET', '/v4/nothing-here', 404, undefined],
      ['GET', '/v4/domains', 401, undefined],
      ['POST', '/v4/domains', 400, 'admin'],
      ['POST', '/v4/compute/instances', 400, 'admin'],
    ])
    expect(entries).toContainEqual(
      expect.objectContaining({ level: 'debug', message: 'unknown fields ignored', fields: ['wait', 'interfaces.primary'] }),
    )
    for (const { time } of entries) expect(time).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    expect(lines.join('')).not.toContain(TOKEN)
    expect(lines.join('').toLowerCase()).not.toContain('bearer')
  })

  test('has errors with their message and without added properties, from the configured level on', async () => {
    const lines: string[] = []
    const log = await createLog({ level: 'warn', write: (line) => lines.push(line) })
    const cause = Object.assign(new Error('reset'), { key: 'secret' })
    const error = Object.assign(new RangeError('the connection was lost', { cause }), {
      code: '57P01',
      detail: 'Key (hash)=(secret) exists',
      client: { secretKey: 'secret', connectionParameters: { password: 'secret' } },
    })
    log.error({ error }, 'fault')
    log.error({ error: 'a text' }, 'fault')
    log.info({}, 'request')
    const shown = { type: 'RangeError', message: 'the connection was lost', code: '57P01', cause: { message: 'reset' } }
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'error', message: 'fault', error: shown },
      { error: { message: 'a text' } },
    ])
    expect(lines.join('')).not.toContain('secret')
  })
})

describeWithTools(['dig'], 'the observability listener, with queries by dig', () => {
  test('counts requests by declared path, queries by response code, and zones', async () => {
    const { service, client } = await startForTest({ observability: LOOPBACK, dns: LOOPBACK })
    const { id } = await client.ok('POST', '/domains', { domain: 'example.com', type: 'master', soa_email: 'hostmaster@example.com' })
    await client.ok('GET', `/domains/${id}`)
    await client.call('GET', '/a/path/of/a/stranger')
    await service.flush()
    const { port } = service.dnsAddress as { port: number }
    for (const name of ['example.com', 'nothing.example.com', 'example.net']) await dig({ port, name, type: 'SOA' })
    await dig({ port, name: 'example.com', type: 'NS', options: ['+tcp'] })
    const { status, body } = await text(`${service.observabilityUrl}/metrics`)
    expect(status).toBe(200)
    const lines = body.split('\n')
    for (const expected of [
      'zonewright_http_request_duration_seconds_count{method="POST",route="/v4/domains",status="200"} 1',
      'zonewright_http_request_duration_seconds_count{method="GET",route="/v4/domains/:domainId",status="200"} 1',
      'zonewright_http_request_duration_seconds_count{method="GET",route="none",status="404"} 1',
      'zonewright_dns_queries_total{transport="udp",rcode="NOERROR"} 1',
      'zonewright_dns_queries_total{transport="udp",rcode="NXDOMAIN"} 1',
      'zonewright_dns_queries_total{transport="udp",rcode="REFUSED"} 1',
      'zonewright_dns_queries_total{transport="tcp",rcode="NOERROR"} 1',
      'zonewright_zones 1',
      'zonewright_faults_total 0',
    ])
      expect(lines).toContain(expected)
  })
})

describe('the observability listener', () => {
  test('serves no other path, is healthy while the service runs, and reports stopping while a request is running', async () => {
    const store = await freshStore()
    const service = await startService({ ...store, listen: LOOPBACK, dns: null, observability: LOOPBACK, bootstrapToken: TOKEN })
    expect((await text(`${service.observabilityUrl}/v4/domains`)).status).toBe(404)
    expect((await request(`${service.observabilityUrl}/metrics`, { method: 'POST' })).statusCode).toBe(405)
    expect((await text(service.baseUrl.replace('/v4', '/metrics'))).status).toBe(404)
    expect(await text(`${service.observabilityUrl}/readyz`)).toEqual({ status: 200, body: '{"status":"ok","checks":{"database":"ok"}}\n' })
    const { hostname, port } = new URL(service.baseUrl)
    const body = JSON.stringify({ domain: 'example.com', type: 'master', soa_email: 'hostmaster@example.com' })
    const slow = httpRequest({
      host: hostname,
      port,
      method: 'POST',
      path: '/v4/domains',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', 'content-length': body.length, connection: 'close' },
    })
    const answered = new Promise<number | undefined>((resolve, reject) => {
      slow.on('response', (response) => resolve(response.resume().statusCode))
      slow.on('error', reject)
    })
    slow.write(body.slice(0, 10))
    await new Promise((resolve) => setTimeout(resolve, 100))
    const stopped = service.stop()
    await expect.poll(async () => (await text(`${service.observabilityUrl}/readyz`)).body).toBe('{"status":"stopping","checks":{}}\n')
    slow.end(body.slice(10))
    expect(await answered).toBe(200)
    await stopped
  })

  test('reports a part as failing if it fails or hangs for two seconds', async () => {
    const checks = { good: async () => undefined, bad: () => Promise.reject(new Error('no')), mute: () => new Promise(() => undefined) }
    expect(await checkHealth(checks)).toEqual({ status: 'failing', checks: { good: 'ok', bad: 'failing', mute: 'failing' } })
  })
})

describeWithTools(['openssl'], 'TLS', () => {
  const nameShown = (port: number, options: object = {}): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = tlsConnect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options }, () => {
        resolve(String(socket.getPeerCertificate().subject.CN))
        socket.destroy()
      })
      socket.on('error', reject)
    })

  test('is used by the API, and a renewed certificate is used without a restart', async () => {
    const [first, second] = [selfSigned('first.example'), selfSigned('second.example')]
    let now = Date.now()
    const logged: string[] = []
    const log = { level: 'warn', write: (line: string) => void logged.push(line) } as const
    const { service } = await startForTest({ tls: first, bootstrapToken: TOKEN, log, clock: () => now })
    expect(logged).toEqual([])
    expect(service.baseUrl).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/v4$/)
    const dispatcher = new Agent({ connect: { ca: first.cert } })
    const answer = await request(`${service.baseUrl}/domains`, { dispatcher, headers: { authorization: `Bearer ${TOKEN}` } })
    expect(answer.statusCode).toBe(200)
    await answer.body.dump()
    await dispatcher.close()
    const port = Number(new URL(service.baseUrl).port)
    expect(await nameShown(port)).toBe('first.example')
    expect(() => service.useCertificate({ cert: 'nonsense', key: first.key })).toThrow()
    expect(() => service.useCertificate({ ...first, cert: '' })).toThrow('the certificate is empty')
    expect(await nameShown(port)).toBe('first.example')
    now += 3 * 86_400_000
    service.useCertificate(second)
    expect(logged).toEqual([expect.stringMatching(/"subject":"CN=second\.example".*"certificate has expired"/)])
    expect(await nameShown(port)).toBe('second.example')
    await expect(nameShown(port, { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'ALL:@SECLEVEL=0' })).rejects.toThrow()
  })

  test.each([
    ['no certificate', { cert: 'nonsense', key: 'nonsense' }],
    ['a key of another certificate', { cert: selfSigned('one.example').cert, key: selfSigned('other.example').key }],
  ])('refuses to start with %s, and releases everything', async (_, tls) => {
    const dataFolder = temporaryDirectory()
    const options = { dataFolder, listen: LOOPBACK, dns: null, bootstrapToken: TOKEN }
    const failure = await startService({ ...options, tls }).then(
      () => null,
      (error: Error) => error,
    )
    expect(failure).toBeInstanceOf(RangeError)
    expect(failure?.message).toMatch(/^the certificate and its key cannot be used: /)
    await (await startService(options)).stop()
  })
})
