/** The protocols and ciphers that the service negotiates over HTTPS, with real handshakes of openssl. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'undici'
import { expect, test } from 'vitest'
import { selfSigned } from '../support/certificate.ts'
import { describeWithTools } from '../support/skip.ts'
import { startForTest } from './harness.ts'

/** The protocol and cipher of a handshake; null if it fails. Client settings are those of `openssl s_client`. */
async function handshake(port: number, settings: readonly string[]): Promise<string | null> {
  const client = spawn('openssl', ['s_client', '-connect', `127.0.0.1:${port}`, '-brief', ...settings], { stdio: ['pipe', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [client.stdout, client.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
    })
  }
  client.stdin.end('Q\n')
  await once(client, 'close')
  const [, protocol, cipher] = /Protocol version: (\S+)\s+Ciphersuite: (\S+)/.exec(output) ?? []
  return protocol === undefined ? null : `${protocol} ${cipher}`
}

const TLS_1_2 = ['-tls1_2', '-cipher']
const ALL = 'ALL:COMPLEMENTOFALL:@SECLEVEL=0'

describeWithTools(['openssl'], 'ciphers', () => {
  test.each([
    ['RSA', ['rsa:2048'], 'RSA'],
    ['ECDSA', ['ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'], 'ECDSA'],
  ])('have forward secrecy with a key of %s, also after a renewal', async (_name, kind, signature) => {
    const { service } = await startForTest({ tls: selfSigned('one.example', kind), bootstrapToken: 'bootstrap' })
    const port = Number(new URL(service.baseUrl).port)
    for (const round of ['first', 'renewed']) {
      const refused = [
        [...TLS_1_2, 'AES128-GCM-SHA256'],
        [...TLS_1_2, 'AES256-GCM-SHA384:AES128-SHA256:AES256-SHA:CAMELLIA128-SHA'],
        [...TLS_1_2, 'kRSA:kPSK:kRSAPSK:aNULL:eNULL:@SECLEVEL=0'],
        [...TLS_1_2, `ECDHE-${signature}-AES128-SHA256:ECDHE-${signature}-AES256-SHA`],
        ['-tls1_1', '-cipher', ALL],
        ['-tls1', '-cipher', ALL],
      ]
      for (const settings of refused) expect([round, settings, await handshake(port, settings)]).toEqual([round, settings, null])
      for (const cipher of ['AES128-GCM-SHA256', 'AES256-GCM-SHA384', 'CHACHA20-POLY1305'].map((name) => `ECDHE-${signature}-${name}`))
        expect([round, await handshake(port, [...TLS_1_2, cipher])]).toEqual([round, `TLSv1.2 ${cipher}`])
      // The client's preference does not select a weak cipher.
      expect(await handshake(port, [...TLS_1_2, `AES128-GCM-SHA256:${ALL}`])).toMatch(/^TLSv1\.2 ECDHE-/)
      for (const cipher of ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'])
        expect([round, await handshake(port, ['-tls1_3', '-ciphersuites', cipher])]).toEqual([round, `TLSv1.3 ${cipher}`])
      service.useCertificate(selfSigned('two.example', kind))
    }
  })

  test('headers may be as large as without TLS', async () => {
    const tls = selfSigned('one.example')
    const filter = `${' '.repeat(11_900)}{"domain": "example.com"}`
    const { service, client } = await startForTest({ tls: null, bootstrapToken: 'bootstrap' })
    const plain = await client.call('GET', '/domains', undefined, { 'x-filter': filter, 'x-more': 'x'.repeat(12_000) })
    expect([service.baseUrl.startsWith('http:'), plain.status]).toEqual([true, 200])
    const secure = await startForTest({ tls, bootstrapToken: 'bootstrap' })
    const dispatcher = new Agent({ connect: { ca: tls.cert } })
    const headers = { authorization: 'Bearer bootstrap', 'x-filter': filter, 'x-more': 'x'.repeat(12_000) }
    const answer = await request(`${secure.service.baseUrl}/domains`, { dispatcher, headers })
    expect(answer.statusCode).toBe(200)
    await answer.body.dump()
    await dispatcher.close()
  })
})
