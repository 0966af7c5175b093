/** One zone at several providers with `apex_ns: all-targets`: every target names the servers of all, and `verify` asks them. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cli, expectEnd } from '../support/cli.ts'
import { startBind, startKnot, startPowerDns, TEST_KEY } from '../support/dns-servers.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { dig, nsupdate, transferZone } from '../support/tools.ts'
import { openServiceScene } from './service-scene.ts'

const zoneFile = (server: string): string =>
  `$TTL 3600\n@ SOA ns1.example.net. hostmaster.example.com. 1 14400 14400 1209600 300\n@ NS ${server}.\n`

const apexNs = async (port: number): Promise<string[]> => (await dig({ port, name: 'example.com', type: 'NS' })).sort()
const DEFINITION = 'domain: example.com\nrecords:\n  www: {type: A, ttl: 300, value: 192.0.2.1}\n'

describeWithTools(['named', 'knotd', 'pdns_server', 'dig', 'nsupdate'], 'a zone at BIND, Knot DNS and PowerDNS', () => {
  test('each serves the name servers of all, and verify asks every server', async () => {
    const zone = (server: string) => ({ zones: [{ name: 'example.com', text: zoneFile(server) }], key: TEST_KEY })
    const [bind, knot, pdns] = await Promise.all([
      startBind(zone('ns1.bind.example')),
      startKnot(zone('ns1.knot.example')),
      startPowerDns(zone('ns1.pdns.example')),
    ])
    const folder = temporaryDirectory()
    mkdirSync(join(folder, 'zones'))
    const updates = (port: number): string =>
      `{type: rfc2136, server: '127.0.0.1:${port}', tsig: {name: ${TEST_KEY.name}, secret: env:LAB_KEY}}`
    const servers = [bind, knot, pdns].map(({ port }) => `'127.0.0.1:${port}'`)
    writeFileSync(
      join(folder, 'zonewright.yaml'),
      `providers:
  bind: ${updates(bind.port)}
  knot: ${updates(knot.port)}
  pdns: {type: powerdns, base_url: '${new URL(pdns.api.url).origin}', api_key: env:PDNS_KEY}
zones: [{files: zones/*.yaml, targets: [bind, knot, pdns], apex_ns: all-targets, nameservers: [${servers.join(', ')}]}]
`,
    )
    writeFileSync(join(folder, 'zones/example.com.yaml'), DEFINITION)
    const run = (...args: string[]) =>
      cli([...args, '--no-color'], { cwd: folder, env: { LAB_KEY: TEST_KEY.secret, PDNS_KEY: pdns.api.key } })
    const all = ['ns1.bind.example.', 'ns1.knot.example.', 'ns1.pdns.example.']
    expectEnd(await run('plan'), 3, { out: 'NS records at the apex of example.com. would change: ns1.knot.example.' })
    expectEnd(await run('apply', '--yes', '--allow', 'apex-ns'), 0, { err: '' })
    for (const { port } of [bind, knot, pdns]) expect(await apexNs(port)).toEqual(all)
    expect((await run('plan', '--detailed-exitcode')).status).toBe(0)

    const verified = JSON.parse((await run('verify', '--format', 'json')).stdout)
    const asked = verified.zones.map((one: { target: string; nameServers: { server: string }[] }) => [one.target, one.nameServers.length])
    expect(asked).toEqual([
      ['bind', 3],
      ['knot', 3],
      ['pdns', 3],
    ])
    expect((await run('verify')).status).toBe(0)
    const ns = 'zone example.com.\nupdate delete example.com. NS ns1.bind.example.\n'
    expect(await nsupdate(knot.port, ns, TEST_KEY)).toMatchObject({ status: 0 })
    expect((await run('verify')).stdout).toMatch(/1 of 2 record sets as defined\n +example\.com\. NS\n +missing 3600 ns1\.bind\.example\./)
    expect((await run('apply', '--yes', '--allow', 'apex-ns')).status).toBe(0)
    const change = 'zone example.com.\nupdate delete www.example.com. A\nupdate add www.example.com. 300 A 192.0.2.66\n'
    expect(await nsupdate(knot.port, change, TEST_KEY)).toMatchObject({ status: 0 })
    expectEnd(await run('verify'), 2, { out: `127.0.0.1:${knot.port}: 1 of 2 record sets as defined` })

    // The definition may name more, and a name that left one target is not lost at the others.
    writeFileSync(join(folder, 'zones/example.com.yaml'), `${DEFINITION}  '': {type: NS, ttl: 600, value: ns9.example.net.}\n`)
    expect((await run('apply', '--yes', '--allow', 'apex-ns', '--allow', 'updates')).status).toBe(0)
    for (const { port } of [bind, knot, pdns]) expect(await apexNs(port)).toEqual([...all, 'ns9.example.net.'])
  })
})

describeWithTools(['named', 'dig'], 'a zone at the service and at BIND', () => {
  test('a target that sets its own apex NS records adds those of the other, once its own are known', async () => {
    const bind = await startBind({ zones: [{ name: 'example.com', text: zoneFile('ns1.bind.example') }], key: TEST_KEY })
    const scene = await openServiceScene({
      files: { 'zones/example.com.yaml': `${DEFINITION.replace('records', 'soa_email: hostmaster@example.com\nrecords')}` },
      config: 'zones: [{files: zones/*.yaml, targets: [cloud, lab], apex_ns: all-targets}]\n',
    })
    const lab = `{type: rfc2136, server: '127.0.0.1:${bind.port}', tsig: {name: ${TEST_KEY.name}, secret: env:LAB_KEY}}`
    scene.write({ 'zonewright.yaml': scene.config().replace(/^providers:\n/, `providers:\n  lab: ${lab}\n`) })
    const run = (...args: string[]) => scene.runWith({ LAB_KEY: TEST_KEY.secret }, ...args, '--no-color')
    expectEnd(await run('apply', '--yes'), 0, { err: 'warning[apex-ns-kept] example.com. at cloud: its own apex NS records are not known' })
    await scene.service.flush()
    expectEnd(await run('apply', '--yes', '--allow', 'apex-ns'), 0, { out: /\+ @ .* NS +ns1\.bind\.example\.\n/ })
    const served = await apexNs(bind.port)
    expect(served).toContain('ns1.bind.example.')
    expect(served.length).toBeGreaterThan(1)
    await scene.service.flush()
    expect(await apexNs(scene.service.dnsAddress?.port as number)).toEqual(served)
    expect((await run('plan', '--detailed-exitcode')).status).toBe(0)
    const transferred = await transferZone({ port: bind.port, name: 'example.com', key: TEST_KEY })
    expect(transferred.filter((line) => /\sNS\s/.test(line))).toHaveLength(served.length)
  })
})

const MIXED = `domain: example.com
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
    const scene = await openServiceScene({ files: { 'zones/example.com.yaml': MIXED } })
    const lab = `{type: rfc2136, server: '127.0.0.1:${bind.port}', tsig: {name: ${TEST_KEY.name}, secret: env:LAB_KEY}}`
    scene.write({ 'zonewright.yaml': scene.config().replace(/^providers:\n/, `providers:\n  lab: ${lab}\n`) })
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
    scene.write({ 'zones/example.com.yaml': MIXED.replace('192.0.2.2', '192.0.2.3') })
    expectEnd(await scene.runWith(env, 'apply', '--yes', '--target', 'lab', '--allow', 'updates'), 0, { out: 'example.com. at lab' })
    expect((await scene.runWith(env, 'plan', '--detailed-exitcode')).stdout).toMatch(/example\.com\. at cloud[^\n]*\n[\s\S]*192\.0\.2\.3/)
  })
})
