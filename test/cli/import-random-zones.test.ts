/** Random zones of the service are imported without unsupported features, and the next plan has no calls. */
import { expect, it } from 'vitest'
import { expectEnd } from '../support/cli.ts'
import { startBind } from '../support/dns-servers.ts'
import { type Random, rounds, seededRandom } from '../support/random.ts'
import { describeWithTools } from '../support/skip.ts'
import { callService, openServiceScene, type ServiceScene } from './service-scene.ts'

const EMPTY = { files: { 'zones/.keep': '' } }

/** POST to the service; null if it refuses the body. */
const post = (scene: ServiceScene, path: string, body: object): Promise<{ id: number } | null> =>
  callService<{ id: number }>(scene, 'POST', path, body).catch((error: Error) => {
    if (error.message.includes(': 400 ')) return null
    throw error
  })

const LONG = 'n'.repeat(63)

const OWNERS = [
  ...['', '', 'www', 'WWW', '*', '*.Sub', '_dmarc', '_acme-challenge', '_acme-challenge.www', 'b\u00fccher', 'xn--bcher-kva', 'a-b.c_d'],
  ...['1.10', '010', 'true', `${LONG}.${'m'.repeat(36)}`],
]

const PIECES = [...'aZ0 "\\;$#\'.=%{\t\n\u00e9\u20ac\u{1f600}\u0085\u2028\ufeff~', ...['  ', '\\;', '\\"', ': ', '- ', 'v=spf1 -all']]

function anyText(random: Random): string {
  const length = random.pick([1, 1, 5, 40, 254, 255, 256, 510, 511, 1000, 4000])
  let text = ''
  while (text.length < length) text += random.pick(PIECES)
  const cut = text.slice(0, length)
  return /[\ud800-\udbff]$/.test(cut) ? `${cut.slice(0, -1)}x` : cut
}

const CAA = [
  { tag: 'issue', target: ';' },
  { tag: 'issuewild', target: 'CA.example.net' },
  { tag: 'iodef', target: 'mailto:ca@example.net' },
]

const TTLS = [0, 0, 0, 1, 300, 301, 3600, 86_400, 604_800, 2_419_200, 2_147_483_647]

function anyRecord(random: Random, zone: string): object {
  const common = { name: random.pick(OWNERS), ttl_sec: random.pick(TTLS) }
  const odd = ['_x.example.net', 'xn--bcher-kva.example', `${LONG}.${LONG}.${LONG}.example`]
  const target = random.pick(['host', 'Host.Example.NET', 'a.example.net.', zone, `www.${zone}`, ...odd])
  const edge = (most: number): number => random.pick([0, 1, Math.floor(most / 2), most])
  switch (random.pick(['A', 'AAAA', 'CNAME', 'MX', 'NS', 'TXT', 'TXT', 'TXT', 'SRV', 'CAA', 'PTR'])) {
    case 'A':
      return { type: 'A', ...common, target: `192.0.2.${random.below(256)}` }
    case 'AAAA':
      return { type: 'AAAA', ...common, target: random.pick(['2001:DB8:0::1', '::', '::ffff:192.0.2.1', 'fe80::1:0:0:1']) }
    case 'MX':
      return { type: 'MX', ...common, target: random.pick([target, target, '']), priority: edge(255) }
    case 'TXT':
      return { type: 'TXT', ...common, target: anyText(random) }
    case 'SRV': {
      const [service, protocol] = [random.pick(['sip', '_sip', 'my-svc']), random.pick(['tcp', '_udp', 'tcp.sub', 'tcp.deep.sub'])]
      const numbers = { priority: edge(255), weight: edge(65_535), port: edge(65_535) }
      return { type: 'SRV', service, protocol, target, ...numbers, ttl_sec: common.ttl_sec }
    }
    case 'CAA':
      return { type: 'CAA', ...common, ...random.pick(CAA) }
    default:
      return { type: random.pick(['CNAME', 'NS', 'PTR']), ...common, target }
  }
}

function anyDomain(random: Random, index: number): { domain: string } {
  const label = random.pick(['plain', 'b\u00fccher', 'xn--bcher-kva', 'a--b', '1.10', '_u', `${LONG}.${LONG}.${LONG}`, 'null'])
  const text = (most: number): string => anyText(random).slice(0, most).trim()
  const shared = { domain: `${label}.z${index}.example`, status: random.pick(['active', 'active', 'disabled']) }
  if (random.chance(0.05)) return { ...shared, type: 'slave', master_ips: ['192.0.2.53', '2001:DB8::53'] } as { domain: string }
  return {
    ...shared,
    type: 'master',
    soa_email: random.pick(['hostmaster@example.com', 'First.Last+x@sub.example.com', "o'brien@example.net"]),
    ...(random.chance(0.3) && { description: text(253) || 'd' }),
    ...(random.chance(0.3) && { group: text(50) || 'g' }),
    ...(random.chance(0.3) && { tags: ['web', 'a: b', 'yes', '#tag'].slice(random.below(4)) }),
    ...(random.chance(0.3) && { axfr_ips: ['192.0.2.1', '2001:DB8:0:0::1'] }),
    ...(random.chance(0.5) && { ttl_sec: random.pick([0, 300, 1234, 86_400]), expire_sec: 604_800, refresh_sec: 3600, retry_sec: 300 }),
  } as { domain: string }
}

/** The calls of the next plan that an import announces, per zone. */
function announced(stderr: string): Record<string, number> {
  const lines = stderr.matchAll(/^warning\[surplus-duplicate\] (\S+): the next plan has ([0-9]+) calls? to delete duplicates/gm)
  return Object.fromEntries([...lines].map(([, zone, calls]) => [zone, Number(calls)]))
}

/** Imports everything; the next plan has exactly the announced calls, which are for exact duplicates, and no refusals. */
async function expectAnnouncedPlan(scene: ServiceScene, zones: number): Promise<void> {
  const imported = await scene.run('import', '--from', 'cloud', '-o', 'zones', '--lossy', '--verbose')
  expect(imported.stderr).not.toMatch(/error\[|\[import-pending\]/)
  expect(imported.stderr).not.toContain('[import-lossy]')
  expect(imported).toMatchObject({ status: 0 })
  const { stdout } = await scene.run('plan', '--format', 'json')
  const plan: {
    zones: { zone: string; calls: { total: number; delete: number }; refusals: object[]; diagnostics: { severity: string }[] }[]
  } = JSON.parse(stdout)
  expect(plan.zones).toHaveLength(zones)
  const pending = plan.zones.filter(({ calls }) => calls.total > 0)
  expect(Object.fromEntries(pending.map(({ zone, calls }) => [zone, calls.total]))).toEqual(announced(imported.stderr))
  expect(pending.filter(({ calls }) => calls.delete < calls.total)).toEqual([])
  expect(plan.zones.flatMap((one) => [...one.refusals, ...one.diagnostics.filter(({ severity }) => severity === 'error')])).toEqual([])
}

const DEFAULTS = '{soa_email: other@example.com, ttl_sec: 1h, default_ttl: 5m, tags: [managed], group: dns, axfr_ips: [192.0.2.99]}'

it.each([
  ['no defaults', ''],
  ['defaults for everything', `defaults: ${DEFAULTS}\n`],
])('random zones, with %s', async (_, config) => {
  const scene = await openServiceScene({ ...EMPTY, config })
  const zones = rounds(60)
  let held = 0
  for (let index = 0; index < zones; index += 1) {
    const random = seededRandom(config.length * 1000 + index)
    const domain = anyDomain(random, index)
    const made = await post(scene, '/domains', domain)
    if (made === null) continue
    held += 1
    for (let left = random.below(6); left > 0; left -= 1) await post(scene, `/domains/${made.id}/records`, anyRecord(random, domain.domain))
  }
  expect(held).toBeGreaterThan(zones * 0.9)
  await expectAnnouncedPlan(scene, held)
})

describeWithTools(['named'], 'a full zone', () => {
  it('with 12,000 transferred records is imported, and the next plan has no calls', { tags: ['long'] }, async () => {
    const data = ['A 192.0.2.1', 'TXT "a; b\\\\\\195\\169"', 'MX 10 mail', 'CNAME other.example.net.']
    const lines = Array.from({ length: 11_990 }, (_, index) => `h${index} ${300 * (index % 3)} ${data[index % 4]}`)
    const head = '$TTL 3600\n@ SOA ns1.example.net. hostmaster 1 7200 3600 1209600 300\n@ NS ns1.example.net.\n'
    const server = await startBind({ zones: [{ name: 'full.example', text: `${head}${lines.join('\n')}\n` }] })
    const scene = await openServiceScene({ ...EMPTY, peerPort: server.port })
    expect(await post(scene, '/domains/import', { domain: 'full.example', remote_nameserver: '127.0.0.1' })).not.toBeNull()
    const imported = expectEnd(await scene.run('import', '--from', 'cloud', '-o', 'zones'), 0, { err: /1 zone with 1[12],[0-9]{3} r/ })
    expect(imported.stderr).not.toMatch(/import-|surplus/)
    expect(await scene.run('plan', '--detailed-exitcode')).toMatchObject({ status: 0 })
  })
})
