/** Missing, lying or refusing servers: a clear diagnostic with its code, exit 1, no partial changes. The cloud provider's own tests have more replies. */
import { describe, expect, type TestContext, test } from 'vitest'
import type { MemoryFault } from '../../src/providers/memory/memory-provider.ts'
import { expectEnd } from '../support/cli.ts'
import { freePort } from '../support/free-port.ts'
import type { Reply } from './recording-proxy.ts'
import { expectNothingDone, openScene, zoneFiles } from './scene.ts'
import { openWireScene, type WireScene } from './service-scene.ts'

const JSON_TYPE = 'application/json'
const raw = (body: string | Buffer, type = JSON_TYPE, status = 200): Reply => ({
  status,
  headers: type ? { 'content-type': type } : {},
  body,
})
const errors = (status: number, reason: string): Reply => raw(JSON.stringify({ errors: [{ reason }] }), undefined, status)
const HTML = '<!doctype html><title>Sign in</title><p>Please sign in to the proxy.'

/** The reply to every request, and the expected diagnostic with a part of its message. */
const ANSWERS: readonly (readonly [name: string, reply: Reply | 'cut', code: string, message: string])[] = [
  ['HTML with 200', raw(HTML, 'text/html'), 'garbled', `the response is not JSON (text/html, ${HTML.length} characters)`],
  ['no content type', raw('{"data":[],"page":1,"pages":1,"results":0}', ''), 'garbled', 'not JSON (no content type'],
  ['JSON in Latin-1', raw(Buffer.from('{"data":[],"page":1,"pages":1,"results":0,"x":"\xe9"}', 'latin1')), 'garbled', 'is not UTF-8 text'],
  ['401', errors(401, 'Invalid Token'), 'unauthorized', 'the token is wrong, revoked or expired'],
  ['403', errors(403, 'Unauthorized'), 'forbidden', 'grant'],
  ['404', errors(404, 'Not found'), 'not-found', '404 Not found (check that base_url of cloud is the URL of the API with its version'],
]

describe('a server that replies with', () => {
  test.for(ANSWERS)('%s', async ([, reply, code, message]) => {
    const scene = await openWireScene(() => reply)
    for (const command of [['plan'], ['apply', '--yes']]) {
      const { stderr, stdout } = await expectNothingDone(scene, `provider-${code}`, ...command)
      const line = stderr.split('\n').find((one) => one.startsWith(`error[provider-${code}] cloud: looking up domains: `))
      expect(line ?? stderr).toContain(message)
      expect(stdout).not.toMatch(/^No changes\. /m)
    }
    expect(scene.proxy.requests.length).toBeLessThan(60)
  })

  test('verify fails too', async () => {
    const scene = await openWireScene(() => errors(401, 'Invalid Token'))
    const { stdout } = await expectNothingDone(scene, 'provider-unauthorized', 'verify')
    expect(stdout).toMatch(/^1 error\. Verified: 0 of 0 zones as defined, .*could not be read\.\n$/)
  })
})

const REFUSED: MemoryFault = { kind: 'refused', code: 'provider-forbidden', message: '403 Unauthorized' }

test('errors in the rendered zone file are only warnings', async () => {
  const scene = openScene({ fault: ({ kind }) => (kind === 'rendered' ? REFUSED : null) })
  expect((await scene.run('apply', '--yes')).status).toBe(0)
  expectEnd(await scene.run('plan', '--verbose'), 0, {
    err: /^zones\/example\.com\.yaml:1:\d+: warning\[rendered-unavailable\] .* rendered zone file of example\.com\.: 403/m,
    out: 'rendered zone file: not available',
  })
})

test('plans the other zones and applies none if one zone cannot be read', async () => {
  const scene = openScene({
    files: zoneFiles(['example.com', 'example.net']),
    zones: { 'example.com': 'www A 192.0.2.1' },
    fault: ({ kind }) => (kind === 'read' ? REFUSED : null),
  })
  const { stdout, stderr } = await expectNothingDone(scene, 'provider-forbidden', 'apply', '--yes')
  expect(stdout).toContain('example.net. at cloud (new zone')
  expect(stderr).toMatch(/^zones\/example\.com\.yaml:1:\d+: error\[provider-forbidden\] cloud: reading the records of example\.com\.: 403/m)
  expect(stderr).toContain('Nothing was applied. 1 zone has no problem')
})

describe.concurrent('an unreachable server', () => {
  /** A scene whose provider has another address. */
  async function openAt(origin: string, context: TestContext): Promise<WireScene> {
    const scene = await openWireScene(() => null, { provider: 'timeout: 1' }, context)
    scene.write({ 'zonewright.yaml': scene.config().replace(scene.proxy.origin, origin) })
    return scene
  }

  test('a closed port', async (context) => {
    const scene = await openAt(`http://127.0.0.1:${await freePort()}`, context)
    const { stderr } = await expectNothingDone(scene, 'provider-unreachable', 'apply', '--yes')
    context.expect(stderr).toMatch(/: 127\.0\.0\.1:\d+ cannot be reached \(ECONNREFUSED\)/)
    context.expect(stderr).toContain('(start the service with "zonewright serve", or check base_url of cloud)')
  })

  test('a name without an address', async (context) => {
    const { stderr } = await expectNothingDone(await openAt('https://nobody.invalid', context), 'provider-unreachable', 'plan')
    context.expect(stderr).toMatch(/nobody\.invalid cannot be reached \(E/)
  })
})
