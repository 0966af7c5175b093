/** `init --from` with a provider class of octoDNS. */
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { createCloudflare } from '../scripted/cloudflare/service.ts'
import { startScriptedServer } from '../scripted/scripted-server.ts'
import { selfSigned } from '../support/certificate.ts'
import { cli } from '../support/cli.ts'
import { findForeignClient } from '../support/foreign-clients.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { filesBelow, TOKEN } from './scene.ts'

const ZONE = '1'.repeat(32)
const python = findForeignClient('cloud-clients')

describeWithTools([python, 'openssl'], 'init --from octodns', () => {
  test('octodns takes a class and its options; the workflow allows it, and installs its packages in the versions of this machine', async () => {
    const cloudflare = createCloudflare({ token: TOKEN, zones: [{ id: ZONE, name: 'example.com', plan: { legacy_id: 'pro' } }] })
    // The class takes a zone without records for one that does not exist.
    const headers = { authorization: `Bearer ${TOKEN}` }
    const request = { method: 'POST', path: `/client/v4/zones/${ZONE}/dns_records`, query: new URLSearchParams(), headers }
    await cloudflare.service({ ...request, body: JSON.stringify({ type: 'A', name: 'www', content: '192.0.2.1', ttl: 300 }) })
    const tls = selfSigned('test', ['rsa:2048'], 'DNS:api.cloudflare.com')
    const { origin } = await startScriptedServer(cloudflare.service, tls)
    const cwd = temporaryDirectory()
    const aside = temporaryDirectory()
    writeFileSync(join(aside, 'certificate.pem'), tls.cert)
    // Python runs this file when it starts. The environment of a class has no other variables.
    const walk = fileURLToPath(new URL('../scripted/clients/direct_to.py', import.meta.url))
    const known = `import os; os.environ.update(SERVER='${origin}', HOSTS='api.cloudflare.com')\n${readFileSync(walk, 'utf8')}`
    writeFileSync(join(aside, 'sitecustomize.py'), known)
    const path = `${dirname(python)}:${process.env['PATH']}`
    const env = { CF_TOKEN: TOKEN, PATH: path, PYTHONPATH: aside, REQUESTS_CA_BUNDLE: join(aside, 'certificate.pem') }
    const from = 'octodns=octodns_cloudflare.CloudflareProvider,token=CF_TOKEN'
    expect(await cli(['init', '--from', from], { cwd, env })).toMatchObject({ status: 0 })
    const files = filesBelow(cwd)
    expect(files['zonewright.yaml']).toContain(
      "octodns: {type: octodns, class: octodns_cloudflare.CloudflareProvider, options: {token: 'env:CF_TOKEN'}}",
    )
    const { jobs, env: variables } = parse(files['.github/workflows/dns.yml'] ?? '')
    expect(variables.ZONEWRIGHT_ALLOWED_PACKAGES).toBe('octodns_cloudflare.CloudflareProvider')
    expect(variables.INSTALL_ZONEWRIGHT).toMatch(/^"\$folder\/python\/bin\/pip" install .* octodns==[0-9.]+ octodns-cloudflare==[0-9.]+ /m)
    const { env: secrets } = jobs.apply.steps.find(({ run }: { run?: string }) => run?.startsWith('zonewright ci apply'))
    expect(secrets).toMatchObject({ CF_TOKEN: `\${{ secrets.CF_TOKEN }}` })
    // The variables of the workflow let the run do its work, and nothing else.
    const { ZONEWRIGHT_ALLOWED_HOSTS, ZONEWRIGHT_ALLOWED_PACKAGES } = variables
    const ci = { ...env, ZONEWRIGHT_ALLOWED_HOSTS, ZONEWRIGHT_ALLOWED_PACKAGES }
    expect(await cli(['plan', '--detailed-exitcode'], { cwd, env: ci })).toMatchObject({ status: 0 })
    expect((await cli(['init'], { cwd, env })).stdout).toMatch(/^Nothing is missing:(?!.*CI jobs differ)/s)
    expect(await cli(['plan'], { cwd, env: { ...ci, ZONEWRIGHT_ALLOWED_PACKAGES: 'other' } })).toMatchObject({ status: 1 })
    expect(Object.values(files).join('')).not.toContain(TOKEN)
  })
})
