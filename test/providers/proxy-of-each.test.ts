/** Each HTTP provider, and each service that gives out its credentials, is reached through the proxy of the environment. */
import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { afterThisFile } from '../support/after-file.ts'
import { startProgram } from '../support/built-program.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

const PROVIDERS: Readonly<Record<string, string>> = {
  azure: `base_url: https://azure.test, token: env:TOKEN, resource_group: dns, subscription: ${'1'.repeat(8)}-1111-1111-1111-${'1'.repeat(12)}`,
  cloud: 'base_url: https://cloud.test, token: env:TOKEN',
  cloudflare: 'base_url: https://cloudflare.test, token: env:TOKEN',
  desec: 'base_url: https://desec.test, token: env:TOKEN',
  digitalocean: 'base_url: https://digitalocean.test, token: env:TOKEN',
  gandi: 'base_url: https://gandi.test, token: env:TOKEN',
  google: 'base_url: https://google.test, token: env:TOKEN, project: lab',
  hetzner: 'base_url: https://hetzner.test, token: env:TOKEN',
  ovh: 'base_url: https://ovh.test, application_key: env:TOKEN, application_secret: env:TOKEN, consumer_key: env:TOKEN',
  porkbun: 'base_url: https://porkbun.test, api_key: env:TOKEN, secret_api_key: env:TOKEN',
  powerdns: 'base_url: https://powerdns.test, api_key: env:TOKEN',
  route53: 'endpoint: https://route53.test, access_key_id: env:TOKEN, secret_access_key: env:TOKEN',
  scaleway: 'base_url: https://scaleway.test, secret_key: env:TOKEN',
  vultr: 'base_url: https://vultr.test, api_key: env:TOKEN',
}

/** The same with credentials that another service checks first. */
const SIGN_INS: readonly (readonly [service: string, type: string, settings: string])[] = [
  [
    'azure-login',
    'azure',
    `token_url: https://azure-login.test/token, client_secret: env:TOKEN, client_id: me, tenant: us, resource_group: dns, subscription: ${'1'.repeat(8)}-1111-1111-1111-${'1'.repeat(12)}`,
  ],
  ['google-login', 'google', 'token_url: https://google-login.test/token, credentials: file:google.json, project: lab'],
  ['sts', 'route53', 'endpoint: https://route53.test, profile: lab'],
]

const ENTRIES = [...Object.entries(PROVIDERS).map(([type, settings]) => [type, type, settings] as const), ...SIGN_INS]

/** Runs a plan with a zone at each provider, with a proxy that opens no tunnel, and returns the servers that the proxy was queried. */
async function runPlan(): Promise<{ readonly tunnels: ReadonlySet<string>; readonly output: string }> {
  const tunnels = new Set<string>()
  const proxy = createServer()
  proxy.on('connect', ({ url }, client) => {
    tunnels.add(url ?? '')
    client.on('error', () => client.destroy())
    client.end('HTTP/1.1 403 Forbidden\r\n\r\n')
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  afterThisFile(async () => {
    proxy.close()
  })
  const folder = temporaryDirectory()
  mkdirSync(join(folder, 'zones'))
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const private_key = privateKey.export({ type: 'pkcs8', format: 'pem' })
  writeFileSync(join(folder, 'google.json'), JSON.stringify({ type: 'service_account', client_email: 'me@lab.test', private_key }))
  writeFileSync(join(folder, 'aws'), '[profile lab]\nrole_arn = arn:aws:iam::111111111111:role/dns\nweb_identity_token_file = web-token\n')
  writeFileSync(join(folder, 'web-token'), 'a-web-identity-token')
  const providers = ENTRIES.map(([name, type, settings]) => `  ${name}: {type: ${type}, ${settings}, timeout: 5}\n`)
  writeFileSync(join(folder, 'zonewright.yaml'), `providers:\n${providers.join('')}`)
  for (const [name] of ENTRIES) {
    const text = `domain: ${name}.example.com\ntargets: [${name}]\nrecords:\n  www: {type: A, ttl: 300, value: 192.0.2.1}\n`
    writeFileSync(join(folder, `zones/${name}.example.com.yaml`), text)
  }
  const none = { https_proxy: undefined, all_proxy: undefined, no_proxy: undefined, ALL_PROXY: undefined, NO_PROXY: undefined }
  const run = await startProgram(['plan', '--no-color'], {
    cwd: folder,
    env: {
      ...none,
      TOKEN: 'a-token-0123456789',
      HTTPS_PROXY: `http://ci:proxy-password@127.0.0.1:${(proxy.address() as AddressInfo).port}`,
      AWS_CONFIG_FILE: join(folder, 'aws'),
      AWS_SHARED_CREDENTIALS_FILE: join(folder, 'none'),
      AWS_ENDPOINT_URL_STS: 'https://sts.test',
    },
  })
  expect(await run.ended).toMatchObject({ status: 1 })
  return { tunnels, output: run.stdout() + run.stderr() }
}

test('every provider, and every service that checks its credentials, is reached through the proxy alone', async () => {
  const { tunnels, output } = await runPlan()
  expect([...tunnels].sort()).toEqual(ENTRIES.map(([name]) => `${name}.test:443`).sort())
  for (const [name] of ENTRIES) expect(output).toMatch(new RegExp(`error\\[[a-z-]+\\] ${name}: .*\\(through the proxy 127\\.0\\.0\\.1:`))
  expect(output).not.toMatch(/proxy-password|a-token-/)
})
