/** One definition at two providers of different kinds: each is planned, applied and verified on its own capabilities. */
import { expect, test } from 'vitest'
import { expectEnd } from '../support/cli.ts'
import { startBind, TEST_KEY } from '../support/dns-servers.ts'
import { describeWithTools } from '../support/skip.ts'
import { dig, transferZone } from '../support/tools.ts'
import { openServiceScene } from './service-scene.ts'

const ZONE = `domain: example.com
soa_email: hostmaster@example.com
targets: [cloud, lab]
unsupported: skip
records:
  www: {type: A, ttl: 400, values: [192.0.2.1, 192.0.2.2]}
  place: {type: URI, ttl: 1h, value: {priority: 10, weight: 1, target: 'https://example.com/'}}
`

describeWithTools(['named', 'dig'], 'a zone at two targets', () => {
  test('the TTL is rounded and the type skipped only where the target asks for it, and one plan names both', async () => {
    const text = '$TTL 60\n@ SOA ns1.example.net. hostmaster.example.com. 1 14400 14400 1209600 300\n@ NS ns1.example.net.\n'
    const bind = await startBind({ zones: [{ name: 'example.com', text }], key: TEST_KEY })
    const scene = await openServiceScene({ files: { 'zones/example.com.yaml': ZONE } })
    const lab = `{type: rfc2136, server: '127.0.0.1:${bind.port}', tsig: {name: ${TEST_KEY.name}, secret: env:LAB_KEY}}`
    const config = scene.config()
    scene.write({ 'zonewright.yaml': config.replace(/^providers:\n/, `providers:\n  lab: ${lab}\n`) })
    const env = { LAB_KEY: TEST_KEY.secret }
    const applied = await scene.runWith(env, 'apply', '--yes', '--format', 'json')
    const { zones } = JSON.parse(applied.stdout)
    const facts = zones.map(({ target, calls, readBack }: Record<string, Record<string, unknown>>) => [target, calls?.['total'], readBack])
    // The service takes one record in a call and needs the zone first; a message of an update carries all.
    expect([applied.status, facts]).toEqual([
      0,
      [
        ['cloud', 3, 'equal'],
        ['lab', 1, 'equal'],
      ],
    ])
    expect(await dig({ port: bind.port, name: 'place.example.com', type: 'URI' })).toHaveLength(1)
    const lines = (await transferZone({ port: bind.port, name: 'example.com', key: TEST_KEY })).map((line) => line.replace(/\s+/g, ' '))
    expect(lines).toContain('www.example.com. 400 IN A 192.0.2.1')
    expectEnd(await scene.runWith(env, 'plan', '--detailed-exitcode'), 0, { out: '2 zones match' })
    scene.write({ 'zones/example.com.yaml': ZONE.replace('192.0.2.2', '192.0.2.3') })
    expectEnd(await scene.runWith(env, 'apply', '--yes', '--target', 'lab', '--allow', 'updates'), 0, { out: 'example.com. at lab' })
    expect((await scene.runWith(env, 'plan', '--detailed-exitcode')).stdout).toMatch(/example\.com\. at cloud[^\n]*\n[\s\S]*192\.0\.2\.3/)
  })
})
