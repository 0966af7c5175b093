/** `copy` between the service and a name server, judged by zone transfers of the server and records of the service. */
import { expect, test } from 'vitest'
import { apiOf, originOf, record } from '../providers/powerdns/scene.ts'
import type { CliResult } from '../support/cli.ts'
import { expectEnd } from '../support/cli.ts'
import { type DnsServer, startBind, startPowerDns, TEST_KEY } from '../support/dns-servers.ts'
import { POWERDNS_API_KEY } from '../support/server-recipes/powerdns.ts'
import { describeWithTools } from '../support/skip.ts'
import { transferZone } from '../support/tools.ts'
import { openServiceScene, type ServiceScene } from './service-scene.ts'

const SERVED = (records = ''): string =>
  `$TTL 3600\n@ SOA ns1.example.net. hostmaster.example.com. 1 14400 14400 1209600 300\n@ NS ns1.example.net.\n${records}`

const ZONE = `domain: example.com
soa_email: hostmaster@example.com
ttl_sec: 7200
records:
  '':
    - {type: A, value: 192.0.2.1}
    - {type: MX, values: [{preference: 10, exchange: mail}]}
    - {type: CAA, value: {flags: 0, tag: issue, value: ca.example.net}}
  mail: {type: A, ttl: 300, values: [192.0.2.2, 192.0.2.3]}
  www: {type: CNAME, value: '@'}
  note: {type: TXT, value: 'a "quoted" text'}
  _sip._tcp: {type: SRV, value: {priority: 1, weight: 2, port: 5060, target: mail}}
`

type Opened = { scene: ServiceScene; bind: DnsServer; copy(from: string, to: string, ...more: string[]): Promise<CliResult> }

async function openWithBind(zone: string, definition: string = ZONE): Promise<Opened> {
  const bind = await startBind({ zones: [{ name: 'example.com', text: zone }], key: TEST_KEY })
  const lab = `{type: rfc2136, server: '127.0.0.1:${bind.port}', tsig: {name: ${TEST_KEY.name}, secret: env:LAB_KEY}}`
  const scene = await openServiceScene({
    files: { 'zones/example.com.yaml': definition },
    config: 'zones: [{files: zones/*.yaml, targets: [cloud]}]\n',
  })
  const config = scene.config()
  const more = `  lab: ${lab}\n  lab2: ${lab}\n  files: {type: zonefile, directory: served}\n`
  scene.write({ 'zonewright.yaml': config.replace(/^providers:\n/, `providers:\n${more}`) })
  const copy = (from: string, to: string, ...more: string[]): Promise<CliResult> =>
    scene.runWith(env, 'copy', '--from', from, '--to', to, 'example.com', ...more)
  return { scene, bind, copy }
}

const env = { LAB_KEY: TEST_KEY.secret, PDNS_KEY: POWERDNS_API_KEY }
const records = async (bind: DnsServer): Promise<string[]> => {
  const lines = await transferZone({ port: bind.port, name: 'example.com', key: TEST_KEY })
  return [...new Set(lines.filter((line) => !/\sSOA\s/.test(line)).map((line) => line.replace(/\s+/g, ' ')))].sort()
}

describeWithTools(['named', 'dig'], 'copies between the service and BIND', () => {
  test('a zone of the service arrives at a name server with its TTLs, whose NS records stay', async () => {
    const { scene, bind, copy } = await openWithBind(SERVED('old A 192.0.2.9\n'))
    expect((await scene.runWith(env, 'apply', '--yes')).status).toBe(0)
    expectEnd(await copy('cloud', 'lab', '--dry-run'), 0, { out: '- old        3600  A' })
    expect(await records(bind)).toHaveLength(2)
    // What breaks policies is copied, with warnings.
    scene.write({
      'policies/rules.yaml': `- {name: no-deletion, each: change, require: {properties: {action: {not: {const: delete}}}}}
- {name: ttl, each: record_set, require: {properties: {ttl: {minimum: 3600}}}}
- {name: owner, each: record_set, require: {properties: {owner: {type: string}}}}
`,
    })
    const copied = expectEnd(await copy('cloud', 'lab', '--yes', '--allow', 'deletes'), 0)
    expect(copied.stderr.match(/\w+\[policy-.*?: /g)).toEqual([
      'warning[policy-no-deletion] old.example.com. A: ',
      'warning[policy-ttl] mail.example.com. A: ',
    ])
    expect(await records(bind)).toEqual([
      '_sip._tcp.example.com. 7200 IN SRV 1 2 5060 mail.example.com.',
      'example.com. 3600 IN NS ns1.example.net.',
      'example.com. 7200 IN A 192.0.2.1',
      'example.com. 7200 IN CAA 0 issue "ca.example.net"',
      'example.com. 7200 IN MX 10 mail.example.com.',
      'mail.example.com. 300 IN A 192.0.2.2',
      'mail.example.com. 300 IN A 192.0.2.3',
      'note.example.com. 7200 IN TXT "a \\"quoted\\" text"',
      'www.example.com. 7200 IN CNAME example.com.',
    ])
    expectEnd(await copy('cloud', 'lab', '--yes'), 0, { out: 'No changes' })
  })

  test('what a target does not support is a table; it stops the copy, or with --lossy is left out', async () => {
    const odd =
      'loc LOC 52 22 23 N 4 53 32 E -2m 0m 10000m 10m\nweb 100 A 192.0.2.1\napi 100 A 192.0.2.2\nuri URI 1 1 "https://example.com/"\n'
    const { scene, bind, copy } = await openWithBind(SERVED(odd))
    scene.write({ 'zonewright.yaml': `${scene.config()}defaults: {soa_email: hostmaster@example.com}\n` })
    const refused = expectEnd(await copy('lab', 'cloud', '--yes'), 1)
    expect(refused.stderr.split('\n').slice(0, 6)).toEqual([
      'cloud does not support all of example.com.:',
      '            records  which            why',
      '  changed         2  api A and web A  TTL 100 becomes 300',
      '  left out        1  loc LOC          cloud does not support LOC records',
      '  left out        1  uri URI          cloud does not support URI records',
      expect.stringContaining('notice[ttl-rounded]'),
    ])
    expect(expectEnd(await copy('lab', 'cloud', '--yes', '--lossy'), 0, { out: '3 created' }).stderr).not.toMatch(/lab:1:1/)
    const back = await copy('cloud', 'lab', '--dry-run', '--format', 'json')
    expect(JSON.parse(back.stdout).zones[0].changes.map(({ name, type }: Record<string, string>) => `${name} ${type}`)).toEqual([
      'api.example.com. A',
      'loc.example.com. LOC',
      'uri.example.com. URI',
      'web.example.com. A',
    ])
    expect(bind.log()).not.toContain('update')
  })

  test('a zone that the source does not have, and a source that is the target, change nothing', async () => {
    const { copy } = await openWithBind(SERVED())
    expectEnd(await copy('cloud', 'lab', '--yes'), 1, { err: 'cloud has no zone example.com.' })
    expectEnd(await copy('lab', 'lab', '--yes'), 1, { err: '--from and --to both name lab' })
    expectEnd(await copy('lab', 'lab2', 'EXAMPLE.com.', '--yes'), 0, { out: 'No changes. 1 zone matches' })
    const noFolder = expectEnd(await copy('lab', 'files', '--yes', '--format', 'json'), 1, {
      err: 'file-unreadable] files: the folder served does not exist',
    })
    expect(JSON.parse(noFolder.stdout).diagnostics).toMatchObject([{ code: 'file-unreadable' }])
    expectEnd(await copy('labb', 'cloud', '--yes'), 1, { err: 'labb' })
  })

  test('--apex-ns names the servers of the target, and a copy can be rolled back', async () => {
    const { scene, bind, copy } = await openWithBind(SERVED('keep A 192.0.2.9\n'))
    expect((await scene.runWith(env, 'apply', '--yes')).status).toBe(0)
    const before = await records(bind)
    const limits = ['deletes', 'updates', 'apex-ns'].flatMap((limit) => ['--allow', limit])
    const servers = ['--apex-ns', 'ns7.example.net', '--apex-ns', 'ns8.example.net.', ...limits]
    const copied = await copy('cloud', 'lab', '--yes', ...servers)
    expect([copied.status, copied.stderr]).toEqual([0, expect.any(String)])
    expect((await records(bind)).filter((line) => / NS /.test(line))).toEqual([
      'example.com. 7200 IN NS ns7.example.net.',
      'example.com. 7200 IN NS ns8.example.net.',
    ])
    expect((await scene.run('history')).stdout).toContain('copy')
    expect((await scene.runWith(env, 'rollback', '--last', '--yes', ...limits)).status).toBe(0)
    expect(await records(bind)).toEqual(before)
  })

  test('a provider that only reads by transfer can be the source, not the target', async () => {
    const { scene, bind, copy } = await openWithBind(SERVED('www 300 A 192.0.2.1\n'))
    const config = scene.config()
    const reader = `  mirror: {type: axfr, server: '127.0.0.1:${bind.port}'}\n`
    scene.write({
      'zonewright.yaml': `${config.replace(/^providers:\n/, `providers:\n${reader}`)}defaults: {soa_email: hostmaster@example.com}\n`,
    })
    expectEnd(await copy('mirror', 'cloud', '--yes'), 0, { out: '2 created' })
    expectEnd(await copy('cloud', 'mirror', '--yes', '--apex-ns', 'ns9.example.net'), 1, { err: 'zone-read-only' })
  })
})

describeWithTools(['pdns_server', 'pdnsutil', 'named', 'dig'], 'copies from PowerDNS', () => {
  const LUA = 'A "ifportup(443, {\'192.0.2.1\'})"'

  test('LUA records arrive at another PowerDNS; elsewhere they stop the copy; disabled ones are a notice', async () => {
    const [former, next] = [await startPowerDns(), await startPowerDns()]
    const { scene, bind, copy } = await openWithBind(SERVED())
    const providers = [former, next].map(
      (server, at) => `  pdns${at}: {type: powerdns, base_url: '${originOf(server)}', api_key: env:PDNS_KEY}\n`,
    )
    scene.write({
      'zonewright.yaml': (scene.files()['zonewright.yaml'] as string).replace(/^providers:\n/, `providers:\n${providers.join('')}`),
    })
    const api = apiOf(former)
    await api.create('example.com.')
    await api.replace(
      'example.com.',
      { name: 'www.example.com.', type: 'A', records: [record('192.0.2.1'), record('192.0.2.8', true)] },
      { name: 'off.example.com.', type: 'A', records: [record('192.0.2.9', true)] },
      { name: 'lua.example.com.', type: 'LUA', records: [record(LUA)] },
    )
    const refused = await copy('pdns0', 'lab', '--yes')
    expect([refused.status, refused.stderr.split('\n').slice(2, 7)]).toEqual([
      1,
      [
        '  left out        2  off A and www A  at pdns0 it is disabled',
        expect.stringContaining('lab keeps its own settings'),
        '  left out        1  lua LUA          name servers do not know this type of a provider',
        expect.stringMatching(/^notice\[record-unplanned\].*disabled/),
        expect.stringMatching(/^notice\[record-unplanned\].*disabled/),
      ],
    ])
    expect(await records(bind)).toEqual(['example.com. 3600 IN NS ns1.example.net.'])
    expectEnd(await copy('pdns0', 'lab', '--yes', '--lossy'), 0, { err: 'warning[type-unsupported] lua.example.com. LUA' })
    expect(await records(bind)).toContain('www.example.com. 300 IN A 192.0.2.1')
    expectEnd(await copy('pdns0', 'pdns1', '--yes'), 0, { err: /record-unplanned/ })
    expect(await apiOf(next).lines('example.com.')).toEqual([
      'example.com. 3600 NS ns1.example.net.',
      `lua.example.com. 300 LUA ${LUA}`,
      'www.example.com. 300 A 192.0.2.1',
    ])
    expect((await copy('pdns0', 'pdns1', '--dry-run')).stdout).toContain('No changes')
    // By transfer, the type has its number alone.
    scene.write({
      'zonewright.yaml': (scene.files()['zonewright.yaml'] as string).replace(
        /^providers:\n/,
        `providers:\n  mirror: {type: axfr, server: '127.0.0.1:${former.port}'}\n`,
      ),
    })
    expectEnd(await copy('mirror', 'lab', '--yes'), 0, { out: '1 created' })
    expect((await records(bind)).filter((line) => line.startsWith('lua.'))).toEqual([
      expect.stringMatching(/^lua\.example\.com\. 300 IN TYPE65402 \\# /),
    ])
    expect((await copy('mirror', 'lab', '--dry-run')).stdout).toContain('No changes')
  })
})
