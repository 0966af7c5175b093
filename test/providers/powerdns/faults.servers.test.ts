/** Lost and false answers between the commands and a real PowerDNS server, and another client in between. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rrsetImage } from '../../../src/plan/changesets.ts'
import { createPowerDnsProvider } from '../../../src/providers/powerdns/powerdns-provider.ts'
import { type PowerDnsServer, startPowerDns } from '../../support/dns-servers.ts'
import { type Fault, type FaultProxy, NONE, type ProxiedRequest, startFaultProxy } from '../../support/fault-proxy.ts'
import { name, records } from '../../support/records.ts'
import { describeWithTools } from '../../support/skip.ts'
import { apiOf, define, originOf, record, run, workspace } from './scene.ts'

describeWithTools(['pdns_server', 'pdnsutil'], 'PowerDNS behind a bad network', () => {
  let server: PowerDnsServer
  let proxy: FaultProxy
  let api: ReturnType<typeof apiOf>
  beforeAll(async () => {
    server = await startPowerDns()
    proxy = await startFaultProxy(originOf(server))
    api = apiOf(server)
  })
  afterAll(async () => {
    await proxy.close()
    await server.stop()
  })

  /** Uses the fault for the first request of a kind. Returns the methods of all requests that change something. */
  function failOnce(matches: (request: ProxiedRequest) => boolean, fault: Fault): string[] {
    const changes: string[] = []
    let used = false
    proxy.use((request) => {
      if (request.method !== 'GET') changes.push(request.method)
      if (used || !matches(request)) return NONE
      used = true
      return fault
    })
    return changes
  }

  const apply = async (folder: string, ...args: string[]) => {
    const { status, stdout, stderr } = await run(folder, server, 'apply', '--yes', '--format', 'json', ...args)
    return { status, stderr, zone: JSON.parse(stdout).zones[0] }
  }

  const LOST: [string, Fault, number][] = [
    ['a request that does not arrive', { kind: 'reset', when: 'before' }, 2],
    ['a connection that breaks during a request', { kind: 'reset', when: 'during' }, 1],
    ['a lost response', { kind: 'reset', when: 'after' }, 1],
    ['a truncated response', { kind: 'half-close', when: 'after' }, 1],
    ['a failure of a gateway before the server', { kind: 'answer', when: 'before', status: 502, html: true }, 2],
    ['a failure of a gateway after the server', { kind: 'answer', when: 'after', status: 502, html: true }, 1],
    ['an overloaded gateway', { kind: 'answer', when: 'before', status: 429, retryAfter: 'seconds', html: false }, 2],
  ]

  test.each(LOST)('%s: record sets are replaced once', async (what, fault, sent) => {
    const zone = `z${LOST.findIndex(([one]) => one === what)}.example`
    await api.create(`${zone}.`)
    const folder = workspace(proxy.origin)
    define(folder, zone, 'records:\n  a: {type: A, value: 192.0.2.1}\n  b: {type: A, value: 192.0.2.2}\n')
    const changes = failOnce(({ method }) => method === 'PATCH', fault)
    const applied = await apply(folder)
    expect([applied.status, applied.zone.readBack, applied.stderr]).toEqual([0, 'equal', ''])
    expect(changes).toEqual(Array(sent).fill('PATCH'))
    expect((await api.lines(`${zone}.`)).filter((line) => line.includes(' A '))).toHaveLength(2)
  })

  test.each(LOST)('%s: a zone is created once', async (what, fault) => {
    const zone = `n${LOST.findIndex(([one]) => one === what)}.example`
    const folder = workspace(proxy.origin, ', new_zones: {nameservers: [ns1.example.net.]}')
    define(folder, zone, 'records:\n  a: {type: A, value: 192.0.2.1}\n')
    failOnce(({ method }) => method === 'POST', fault)
    const applied = await apply(folder)
    expect([applied.status, applied.zone.readBack]).toEqual([0, 'equal'])
    expect((await api.lines(`${zone}.`)).filter((line) => line.includes(' A '))).toHaveLength(1)
  })

  test('an SOA record that the server could not write is written after a read', async () => {
    await api.create('locked.example.')
    const folder = workspace(proxy.origin)
    define(folder, 'locked.example', 'refresh_sec: 2h\nrecords: {}\n')
    const changes = failOnce(({ method }) => method === 'PATCH', { kind: 'answer', when: 'before', status: 500, html: false })
    expect((await apply(folder)).status).toBe(0)
    expect(changes).toEqual(['PATCH', 'PATCH'])
  })

  test.each([200, 404, 500])('an answer %d that is not from the API is one clear error, and nothing is changed', async (status) => {
    const zone = `html${status}.example`
    await api.create(`${zone}.`)
    const folder = workspace(proxy.origin)
    define(folder, zone, 'records:\n  a: {type: A, value: 192.0.2.1}\n')
    proxy.use(({ path }) => (path.includes(`/zones/${zone}`) ? { kind: 'answer', when: 'before', status, html: true } : NONE))
    const calls = proxy.calls()
    const applied = await run(folder, server, 'apply', '--yes')
    expect([applied.status, applied.stderr.match(/error\[/g)?.length, proxy.calls() - calls]).toEqual([1, 1, 0])
    expect(applied.stderr).toMatch(/error\[provider-(?:garbled|not-found|failed)\] pdns: reading html\d+\.example\.: /)
  })

  test('a step that fails after the changes is a warning with advice, and the changes are applied', async () => {
    await api.create('rectify.example.', { dnssec: true, api_rectify: false })
    const folder = workspace(proxy.origin)
    define(folder, 'rectify.example', 'records:\n  a: {type: A, value: 192.0.2.1}\n')
    proxy.use(({ path }) => (path.endsWith('/rectify') ? { kind: 'answer', when: 'before', status: 422, html: false } : NONE))
    const applied = await apply(folder)
    expect([applied.status, applied.zone.readBack]).toEqual([0, 'equal'])
    expect(applied.stderr).toMatch(/warning\[apply-incomplete\] .*rectifying rectify\.example\..*pdnsutil rectify-zone/)
  })

  test('a change by another client between the plan and the call is found right before the call', async () => {
    await api.create('between.example.')
    await api.replace('between.example.', { name: 'www.between.example.', type: 'A', records: [record('192.0.2.1')] })
    const provider = createPowerDnsProvider(
      { provider: 'pdns', baseUrl: new URL(originOf(server)), token: server.api.key, parallelism: 2, timeout: 5000 },
      {
        server: 'localhost',
        notifies: false,
        nameservers: [],
        newZones: { kind: 'Master', soaEditApi: null, account: null, primaryKeys: [], secondaryKeys: [] },
      },
    )
    const zone = name('between.example.')
    const reference = (await provider.findZones([zone])).get(zone)
    if (reference === undefined) throw new Error('the zone is missing')
    const [before, after] = ['www 300 A 192.0.2.1', 'www 300 A 192.0.2.2'].map((text) => rrsetImage(records(zone, text)))
    const change = { name: name('www.between.example.'), type: 'A', existing: before ?? null, desired: after ?? null }
    await api.replace('between.example.', { name: 'www.between.example.', type: 'A', records: [record('192.0.2.99')] })
    await expect(provider.apply(reference, { changes: [], rrsets: [change] })).rejects.toMatchObject({
      code: 'provider-conflict',
      ambiguous: false,
      message: expect.stringContaining('www.between.example. A is 192.0.2.99 (TTL 300)'),
    })
    expect(await api.lines('between.example.')).toContain('www.between.example. 300 A 192.0.2.99')
    // What is as desired already is not sent again.
    await api.replace('between.example.', { name: 'www.between.example.', type: 'A', records: [record('192.0.2.2')] })
    const { serial } = await api.zone('between.example.')
    await provider.apply(reference, { changes: [], rrsets: [change] })
    expect((await api.zone('between.example.'))['serial']).toBe(serial)
    await provider.close()
  })
})
