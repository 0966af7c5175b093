/** HTTP providers through a proxy, and with certificates of a CA that only the environment names. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Server } from 'node:net'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { createHttpClient } from '../../src/transport/http-client.ts'
import { createCloudflare } from '../scripted/cloudflare/service.ts'
import { type ScriptedServer, startScriptedServer } from '../scripted/scripted-server.ts'
import { afterThisFile } from '../support/after-file.ts'
import { startProgram } from '../support/built-program.ts'
import { selfSigned } from '../support/certificate.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

const HOST = 'dns.example'
const USER = 'ci:secret%20of%20the%20proxy'

interface Proxy {
  readonly address: string
  /** `CONNECT` requests so far: the host with its credentials. */
  readonly tunnels: readonly string[]
}

/** A proxy that takes every host for the server at `port`. Without credentials it answers with status 407. */
async function startProxy(port: number): Promise<Proxy> {
  const tunnels: string[] = []
  const expected = `Basic ${Buffer.from(decodeURIComponent(USER)).toString('base64')}`
  const proxy = createServer()
  proxy.on('connect', ({ url, headers }, client) => {
    client.on('error', () => client.destroy())
    if (headers['proxy-authorization'] !== expected) {
      client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
      return
    }
    tunnels.push(url ?? '')
    const upstream = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      upstream.pipe(client).pipe(upstream)
    })
    upstream.on('error', () => client.destroy())
    client.on('close', () => upstream.destroy())
  })
  return { address: `127.0.0.1:${await listen(proxy)}`, tunnels }
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterThisFile(async () => {
    server.close()
  })
  return (server.address() as AddressInfo).port
}

describeWithTools(['openssl'], 'HTTPS_PROXY', () => {
  let server: ScriptedServer
  let proxy: Proxy
  let folder: string
  let ca: string
  beforeAll(async () => {
    const tls = selfSigned('test', ['rsa:2048'], `DNS:${HOST}`)
    const cloudflare = createCloudflare({ token: 'test-token', zones: [{ id: '1'.repeat(32), name: 'example.com', type: 'full' }] })
    server = await startScriptedServer(cloudflare.service, tls)
    proxy = await startProxy(Number(new URL(server.origin).port))
    folder = temporaryDirectory()
    ca = join(folder, 'ca.pem')
    writeFileSync(ca, tls.cert)
    mkdirSync(join(folder, 'zones'))
    writeFileSync(
      join(folder, 'zonewright.yaml'),
      `providers: {cf: {type: cloudflare, base_url: 'https://${HOST}/client/v4', token: env:TOKEN, timeout: 20}}\n`,
    )
    writeFileSync(join(folder, 'zones/example.com.yaml'), 'domain: example.com\nrecords:\n  www: {type: A, ttl: 300, value: 192.0.2.1}\n')
  })

  const plan = async (env: Readonly<Record<string, string | undefined>>): Promise<{ status: number | null; output: string }> => {
    const none = { https_proxy: undefined, all_proxy: undefined, no_proxy: undefined, ALL_PROXY: undefined, NO_PROXY: undefined }
    const run = await startProgram(['plan'], { cwd: folder, env: { ...none, TOKEN: 'test-token', NODE_EXTRA_CA_CERTS: ca, ...env } })
    const { status } = await run.ended
    const output = run.stdout() + run.stderr()
    expect(output).not.toContain('secret')
    return { status, output }
  }

  test('a plan through the proxy reuses its tunnel', async () => {
    expect(await plan({ HTTPS_PROXY: `http://${USER}@${proxy.address}` })).toMatchObject({
      status: 0,
      output: expect.stringContaining('1 to create'),
    })
    expect(proxy.tunnels).toEqual([`${HOST}:443`])
    expect(server.requests.length).toBeGreaterThan(1)
  })

  test.each([
    ['NO_PROXY names the host', { NO_PROXY: HOST }, `${HOST} cannot be reached (`],
    ['wrong credentials', { HTTPS_PROXY: 'address' }, 'the proxy asks for another user name or password (407)'],
    ['no proxy there', { HTTPS_PROXY: 'http://ci:secret@127.0.0.1:1' }, '(through the proxy 127.0.0.1:1) cannot be reached: ECONNREFUSED'],
    ['not a proxy', { HTTPS_PROXY: 'socks5://ci:secret@127.0.0.1:1' }, 'HTTPS_PROXY is not the address of an HTTP proxy'],
    ['a certificate of an unknown CA', { NODE_EXTRA_CA_CERTS: undefined }, 'no secure connection to dns.example'],
  ])('%s', async (_, env, expected) => {
    const address = `http://${USER}@${proxy.address}`
    const wrong = { HTTPS_PROXY: `http://ci:secret@${proxy.address}` }
    const { status, output } = await plan({
      HTTPS_PROXY: address,
      ...env,
      ...('HTTPS_PROXY' in env && env.HTTPS_PROXY === 'address' && wrong),
    })
    expect(output).toContain(expected)
    expect(status).toBe(1)
  })

  test('a proxy that never answers is given up, and nothing was sent', async () => {
    const silent = createTcpServer((socket) => socket.on('error', () => undefined))
    const port = await listen(silent)
    const client = createHttpClient({
      baseUrl: new URL(`https://${HOST}`),
      headers: {},
      connections: 1,
      timeout: 1000,
      connectTimeout: 300,
      maxResponse: 1000,
      proxy: new URL(`http://127.0.0.1:${port}`),
    })
    await expect(client.request({ method: 'POST', path: '/', body: {} })).rejects.toMatchObject({
      problem: 'unreachable',
      sent: false,
      message: `${HOST} (through the proxy 127.0.0.1:${port}) cannot be reached: no connection within 0.3 s`,
    })
    await client.close()
  })
})
