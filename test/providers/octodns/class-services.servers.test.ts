/** Provider classes of octoDNS at the services that they are for: PowerDNS, a scripted Cloudflare, and Route 53 as moto plays it. */
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createCloudflare } from '../../scripted/cloudflare/service.ts'
import { startScriptedServer } from '../../scripted/scripted-server.ts'
import { afterThisFile } from '../../support/after-file.ts'
import { selfSigned } from '../../support/certificate.ts'
import { cli, expectEnd } from '../../support/cli.ts'
import { startBind, startPowerDns, TEST_KEY } from '../../support/dns-servers.ts'
import { NONE, startFaultProxy } from '../../support/fault-proxy.ts'
import { findForeignClient } from '../../support/foreign-clients.ts'
import { freePort } from '../../support/free-port.ts'
import { OCTODNS_PYTHON } from '../../support/octodns-python.ts'
import { describeWithTools } from '../../support/skip.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'
import { dig } from '../../support/tools.ts'

const python = findForeignClient('cloud-clients')

/** A folder with this entry of the config as provider `live`. */
function workspace(entry: string, env: Readonly<Record<string, string>>) {
  const folder = temporaryDirectory()
  mkdirSync(join(folder, 'zones'))
  writeFileSync(join(folder, 'zonewright.yaml'), `providers:\n  live: ${entry}\n`)
  const define = (records: string): void =>
    writeFileSync(join(folder, 'zones/example.com.yaml'), `domain: example.com\nrecords:\n${records}`)
  const run = (...args: string[]) => cli([...args, '--no-color'], { cwd: folder, env: { PATH: process.env['PATH'] ?? '', ...env } })
  /** Applies, and returns the zone of the report. */
  const apply = async (...args: string[]) => {
    const { stdout, stderr } = await run('apply', '--yes', '--format', 'json', ...args)
    const [zone] = (JSON.parse(stdout || '{"zones":[]}') as { zones: Record<string, unknown>[] }).zones
    return zone ?? { stderr }
  }
  return { folder, define, run, apply }
}

const RECORDS = [
  '  www: {type: A, ttl: 300, values: [192.0.2.1, 192.0.2.2]}\n',
  "  txt: {type: TXT, ttl: 300, value: 'v=DKIM1; p=abc'}\n",
  '  mail: {type: MX, ttl: 300, value: {preference: 10, exchange: www}}\n',
].join('')

describeWithTools([OCTODNS_PYTHON, 'pdns_server', 'pdnsutil', 'named', 'dig'], 'classes of octoDNS at name servers', () => {
  test('octodns-powerdns creates a zone, and leaves LUA records alone', async () => {
    const server = await startPowerDns({ zones: [] })
    const { hostname, port } = new URL(server.api.url)
    const options = `{host: ${hostname}, port: ${port}, api_key: env:PDNS_KEY, enable_dynamic: false}`
    const { define, run, apply } = workspace(
      `{type: octodns, class: octodns_powerdns.PowerDnsProvider, python: '${OCTODNS_PYTHON}', options: ${options}}`,
      { PDNS_KEY: server.api.key },
    )
    define(`${RECORDS}  '': {type: NS, ttl: 300, values: [ns1.example.net., ns2.example.net.]}\n`)
    expect(await apply()).toMatchObject({ readBack: 'equal', calls: { total: 1 } })
    expect(await dig({ port: server.port, name: 'www.example.com', type: 'A' })).toHaveLength(2)
    const records = [{ content: 'A "ifportup(443, {\'192.0.2.1\'})"' }]
    const lua = { name: 'lua.example.com.', type: 'LUA', ttl: 60, changetype: 'REPLACE', records }
    const response = await fetch(`${server.api.url}/servers/localhost/zones/example.com.`, {
      method: 'PATCH',
      headers: { 'X-API-Key': server.api.key },
      body: JSON.stringify({ rrsets: [lua] }),
    })
    expect(response.status).toBe(204)
    define(RECORDS.replace('192.0.2.2', '192.0.2.3'))
    const plan = await run('plan')
    expect(plan.stderr).toMatch(/lua\.example\.com\. PowerDnsProvider\/LUA .* has a type that only octoDNS has at live, and stays as it is/)
    expect(await apply()).toMatchObject({ readBack: 'equal' })
    const zone = (await (
      await fetch(`${server.api.url}/servers/localhost/zones/example.com.`, { headers: { 'X-API-Key': server.api.key } })
    ).json()) as { rrsets: { type: string }[] }
    expect(zone.rrsets.map(({ type }) => type)).toContain('LUA')
    expect((await run('zones')).stdout).toContain('example.com')
    const wrong = workspace(`{type: octodns, class: octodns_powerdns.PowerDnsProvider, python: '${OCTODNS_PYTHON}', options: ${options}}`, {
      PDNS_KEY: 'a-wrong-key-0123456789',
    })
    wrong.define(RECORDS)
    expectEnd(await wrong.run('plan'), 1, { said: /PowerDNS unauthorized host=127\.0\.0\.1/ })
  })

  test('a read that a gateway refuses for a moment is repeated once', async () => {
    const server = await startPowerDns({ zones: [{ name: 'example.com', text: '$TTL 300\n@ SOA a. b. 1 1 1 1 1\n@ NS a.\n' }] })
    const proxy = await startFaultProxy(new URL(server.api.url).origin)
    const { hostname, port } = new URL(proxy.origin)
    const options = `{host: ${hostname}, port: ${port}, api_key: env:PDNS_KEY, enable_dynamic: false}`
    const { define, run } = workspace(
      `{type: octodns, class: octodns_powerdns.PowerDnsProvider, python: '${OCTODNS_PYTHON}', options: ${options}}`,
      { PDNS_KEY: server.api.key },
    )
    define(RECORDS)
    let left = 1
    proxy.use(() => (left-- > 0 ? { kind: 'answer', when: 'before', status: 503, html: true } : NONE))
    expect((await run('plan', '--detailed-exitcode')).status).toBe(2)
    proxy.use(() => ({ kind: 'answer', when: 'before', status: 503, html: true }))
    expectEnd(await run('plan'), 1, { said: /requests\.exceptions\.HTTPError: 503 Server Error/ })
    await proxy.close()
  })

  test('octodns-bind: a zone that is transferred is planned, applied and verified', async () => {
    const text = '$TTL 300\n@ SOA ns1.example.net. h.example.com. 1 1 1 1 1\n@ NS ns1.example.net.\n'
    const server = await startBind({ zones: [{ name: 'example.com', text }], key: TEST_KEY })
    const options = `{host: 127.0.0.1, port: ${server.port}, key_name: ${TEST_KEY.name}, key_secret: env:LAB_KEY, key_algorithm: ${TEST_KEY.algorithm}}`
    const { define, run, apply } = workspace(
      `{type: octodns, class: octodns_bind.Rfc2136Provider, python: '${OCTODNS_PYTHON}', options: ${options}}`,
      { LAB_KEY: TEST_KEY.secret },
    )
    const many = Array.from({ length: 500 }, (_, index) => `  h${index}: {type: A, ttl: 300, value: 192.0.2.1}\n`).join('')
    define(RECORDS + many)
    expect(await apply()).toMatchObject({ readBack: 'equal', calls: { total: 1 } })
    expect(await run('verify', '--nameserver', `127.0.0.1:${server.port}`)).toMatchObject({ status: 0, stdout: expect.any(String) })
    define(RECORDS)
    expect(await apply('--allow', 'deletes')).toMatchObject({ readBack: 'equal' })
    expect((await run('plan', '--detailed-exitcode')).status).toBe(0)
  })

  test('octodns-bind: a server that cannot be reached, and one that refuses', async () => {
    const options = (port: number): string => `{host: 127.0.0.1, port: ${port}, timeout: 2}`
    const planAt = async (port: number): Promise<string> => {
      const { define, run } = workspace(
        `{type: octodns, class: octodns_bind.Rfc2136Provider, python: '${OCTODNS_PYTHON}', options: ${options(port)}}`,
        {},
      )
      define(RECORDS)
      const { stdout, stderr } = expectEnd(await run('plan'), 1)
      return stdout + stderr
    }
    expect(await planAt(await freePort())).toMatch(/provider-unreachable.*ConnectionRefusedError/)
    const server = await startBind({ zones: [] })
    expect(await planAt(server.port)).toMatch(/AxfrSourceZoneTransferFailed: Unable to Perform Zone Transfer/)
  })
})

describeWithTools([python, 'openssl'], 'classes of octoDNS at cloud services', () => {
  test('octodns-cloudflare at the scripted Cloudflare', async () => {
    const id = '1'.repeat(32)
    const cloudflare = createCloudflare({ token: 'cloudflare-token', zones: [{ id, name: 'example.com', plan: { legacy_id: 'pro' } }] })
    const host = 'api.cloudflare.com'
    const tls = selfSigned('test', ['rsa:2048'], `DNS:${host}`)
    const server = await startScriptedServer(cloudflare.service, tls)
    const folder = temporaryDirectory()
    writeFileSync(join(folder, 'certificate.pem'), tls.cert)
    // Python runs this file when it starts.
    writeFileSync(join(folder, 'sitecustomize.py'), 'import direct_to\n')
    const env = {
      CLOUDFLARE_TOKEN: 'cloudflare-token',
      SERVER: server.origin,
      HOSTS: host,
      REQUESTS_CA_BUNDLE: join(folder, 'certificate.pem'),
      PYTHONPATH: `${folder}:${join(import.meta.dirname, '../../scripted/clients')}`,
    }
    const { define, run, apply } = workspace(
      `{type: octodns, class: octodns_cloudflare.CloudflareProvider, python: '${python}', environment: [SERVER, HOSTS], options: {token: env:CLOUDFLARE_TOKEN, pagerules: false, retry_period: 0}}`,
      env,
    )
    define(RECORDS)
    expect(await apply()).toMatchObject({ readBack: 'equal', calls: { total: 1 } })
    expect(cloudflare.records(id)).toHaveLength(4)
    define(RECORDS.replace('192.0.2.2', '192.0.2.3'))
    expect(await apply()).toMatchObject({ readBack: 'equal' })
    expect((await run('plan', '--detailed-exitcode')).status).toBe(0)
    // The class keeps the zone that it reads, so each reading needs a new one.
    const reads = server.requests.filter(({ method, path }) => method === 'GET' && path.endsWith('/dns_records')).length
    expect(reads).toBe(3 + 3 + 1)
  })

  test('octodns-route53 at moto reads, and writes through a proxy that completes a list of moto', async () => {
    const moto = await startMoto()
    const env = {
      AWS_ENDPOINT_URL: moto.proxy,
      AWS_DEFAULT_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'test-key-0123456789',
      AWS_SECRET_ACCESS_KEY: 'test-secret-0123456789',
    }
    const { define, run, apply } = workspace(
      `{type: octodns, class: octodns_route53.Route53Provider, python: '${python}', environment: ['AWS_*']}`,
      env,
    )
    define(RECORDS)
    expect(await apply()).toMatchObject({ readBack: 'equal', calls: { total: 1 } })
    expect((await run('plan', '--detailed-exitcode')).status).toBe(0)
    define(RECORDS.replace('192.0.2.2', '192.0.2.3').replace(/ {2}mail.*\n/, ''))
    expect(await apply('--allow', 'deletes')).toMatchObject({ readBack: 'equal' })
    expect((await run('import', '--from', 'live', '-o', 'imported')).status).toBe(0)
    // Without the proxy moto can be read, and a change fails.
    const direct = workspace(`{type: octodns, class: octodns_route53.Route53Provider, python: '${python}', environment: ['AWS_*']}`, {
      ...env,
      AWS_ENDPOINT_URL: moto.origin,
    })
    direct.define(RECORDS)
    expect((await direct.run('plan', '--detailed-exitcode')).status).toBe(2)
    expectEnd(await direct.run('apply', '--yes'), 1, { said: /KeyError: 'IsTruncated'/ })
  })
})

/** moto as Route 53, and a proxy before it that adds `IsTruncated` to its list of health checks, which the class expects. */
async function startMoto(): Promise<{ origin: string; proxy: string }> {
  const port = await freePort()
  const child = spawn(join(dirname(python), 'moto_server'), ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' })
  afterThisFile(() => void child.kill('SIGKILL'))
  const origin = `http://127.0.0.1:${port}`
  for (let tries = 0; tries < 300; tries += 1) {
    if (
      await fetch(`${origin}/moto-api/`).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      break
    await sleep(100)
  }
  const server = createServer((incoming, outgoing) => {
    const { method, url, headers } = incoming
    const upstream = httpRequest(`${origin}${url}`, { method, headers }, async (response) => {
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk)
      const text = Buffer.concat(chunks).toString('utf8')
      const body = text.replace(/<\/ListHealthChecksResponse>/, '<IsTruncated>false</IsTruncated>$&')
      const { 'content-length': _, 'transfer-encoding': __, ...others } = response.headers
      outgoing.writeHead(response.statusCode ?? 500, others).end(body)
    })
    upstream.on('error', () => outgoing.destroy())
    incoming.pipe(upstream)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterThisFile(() => void server.close())
  return { origin, proxy: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}
