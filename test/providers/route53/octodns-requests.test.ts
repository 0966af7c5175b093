/** The requests of a run beside those of octoDNS's provider, counted at the same scripted server. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { createRoute53 } from '../../scripted/route53/service.ts'
import { startScriptedServer } from '../../scripted/scripted-server.ts'
import { selfSigned } from '../../support/certificate.ts'
import { findForeignClient } from '../../support/foreign-clients.ts'
import { describeWithTools } from '../../support/skip.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'
import { runTool } from '../../support/tools.ts'
import { APPLY, KEY, PLAN, startRoute53Scene, ZONE_ID } from './scene.ts'

const python = findForeignClient('cloud-clients')
const WALK = fileURLToPath(new URL('../../scripted/clients/octodns_walk.py', import.meta.url))

const hosts = (count: number): number[] => Array.from({ length: count }, (_, host) => host)

/** Requests of octoDNS's provider that creates these states, each with a plan afterwards. */
async function requestsOfOctodns(count: number, values: readonly string[]): Promise<number> {
  const tls = selfSigned('test', ['rsa:2048'], 'DNS:route53.amazonaws.com')
  const certificate = join(temporaryDirectory(), 'certificate.pem')
  writeFileSync(certificate, tls.cert)
  const server = await startScriptedServer(createRoute53({ key: KEY, zones: [{ id: ZONE_ID, name: 'example.com.' }] }).service, tls)
  const states = values.map((value) => Object.fromEntries(hosts(count).map((host) => [`h${host}`, [{ type: 'A', ttl: 300, value }]])))
  const options = { access_key_id: KEY.id, secret_access_key: KEY.secret }
  const args = ['-B', WALK, 'octodns_route53.Route53Provider', JSON.stringify(options), JSON.stringify(states)]
  const env = { SERVER: server.origin, HOSTS: 'route53.amazonaws.com', AWS_CA_BUNDLE: certificate }
  const { status, stderr } = await runTool(python, args, { env })
  expect(status, stderr).toBe(0)
  return server.requests.length
}

async function requestsOfOurs(count: number, values: readonly string[]): Promise<number> {
  const scene = await startRoute53Scene()
  for (const value of values) {
    scene.define(
      hosts(count)
        .map((host) => `  h${host}: {type: A, ttl: 300, value: ${value}}\n`)
        .join(''),
    )
    for (const command of [APPLY, PLAN]) expect((await scene.run(command)).status).toBe(0)
  }
  return scene.server.requests.length
}

describeWithTools([python, 'openssl'], 'requests beside octoDNS', () => {
  test.each([
    ['250 records, created and changed', 250, ['192.0.2.1', '192.0.2.2']],
    ['450 records, created', 450, ['192.0.2.1']],
  ] as const)('%s', { timeout: 60_000 }, async (name, count, values) => {
    const [ours, theirs] = [await requestsOfOurs(count, values), await requestsOfOctodns(count, values)]
    process.stderr.write(`route53: ${name}: ${ours} requests, octoDNS's provider ${theirs}\n`)
    expect(ours).toBeLessThanOrEqual(theirs)
  })
})
