import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { validate } from '../../generated/plan-schema.js'
import { documentIn, expectEnd } from '../support/cli.ts'
import type { Reply, Script } from './recording-proxy.ts'
import { expectNothingDone, openScene, TOKEN, ZONE, zoneFiles } from './scene.ts'
import { callService, openServiceScene, type ServiceScene } from './service-scene.ts'

type Machine = { readonly id: number; readonly ipv4: readonly string[]; readonly ipv6: string }
const INSTANCE = { region: 'us-east', type: 'g6-nanode-1', tags: ['Web'], private_ip: true }

const makeInstance = (scene: ServiceScene, label: string, more: object = {}): Promise<Machine> =>
  callService(scene, 'POST', '/compute/instances', { ...INSTANCE, label, ...more })

/** A zone whose pool has its addresses from the given inventory. */
const zoneWith = (...records: string[]): string => `${ZONE}  pool: [${records.join(', ')}]\n`
const POOL = zoneWith('{type: A, ttl: 300, from: {instances: {tag: web}}}', '{type: AAAA, ttl: 300, from: {instances: {tag: web}}}')

/** The records of the service at the name `pool`, as `TYPE TARGET`, sorted. */
async function held(scene: ServiceScene, token = TOKEN): Promise<string[]> {
  const read = <T>(path: string): Promise<T> => callService<T>(scene, 'GET', path, undefined, token)
  const { data } = await read<{ data: { id: number }[] }>('/domains')
  const records = await read<{ data: { name: string; type: string; target: string }[] }>(`/domains/${data[0]?.id}/records`)
  return records.data.flatMap(({ name, type, target }) => (name === 'pool' ? [`${type} ${target}`] : [])).sort()
}

/** A reply of the inventory. */
const listing = (instances: readonly object[], more: object = {}) => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ data: instances, page: 1, pages: 1, results: instances.length, ...more }),
})

const WEB = { id: 1, label: 'web-1', tags: ['web'], ipv4: ['192.0.2.9'], ipv6: null, region: 'us-east', status: 'running' }

/** Replies to requests for instances while the function says so. */
const inventory =
  (reply: () => Reply | null): Script =>
  ({ path }) =>
    path.startsWith('/v4/compute/instances') ? reply() : null

const SEED = `accounts:
  - users: [{username: keeper, email: keeper@example.com, tokens: [{token: ${TOKEN}-k}]}]
    load_balancers:
      - {label: edge, region: us-east, ipv4: 203.0.113.10, ipv6: '2001:db8::10', tags: [front]}
      - {label: side, region: us-west, ipv4: 203.0.113.11, ipv6: null, tags: [front]}
`

describe('addresses from instances', () => {
  test('are those of the instances with the tag, requested once per run, and change with them', async () => {
    const scene = await openServiceScene({ files: zoneFiles(['example.com', 'example.net'], POOL) })
    const one = await makeInstance(scene, 'web-1')
    const two = await makeInstance(scene, 'web-2', { region: 'us-west' })
    await makeInstance(scene, 'db-1', { tags: ['database'] })
    const { stdout } = expectEnd(await scene.run('plan'), 0, { err: '' })
    expect(scene.proxy.requests.filter(({ path }) => path.includes('/compute/instances'))).toHaveLength(1)
    rmSync(join(scene.folder, 'zones/example.net.yaml'))
    expect(one.ipv4).toHaveLength(2)
    for (const { id, ipv4 } of [one, two]) {
      const address = ipv4[0]?.replaceAll('.', '\\.')
      expect(stdout).toMatch(new RegExp(`\\+ pool +300 +A +${address}\\n.*from instance web-[12] \\(${id}\\)\\n`))
    }
    expectEnd(await scene.run('apply', '--yes'), 0)
    const addresses = (machines: readonly Machine[]) =>
      machines.flatMap(({ ipv4, ipv6 }) => [`A ${ipv4[0]}`, `AAAA ${ipv6.replace('/128', '')}`]).sort()
    expect(await held(scene)).toEqual(addresses([one, two]))
    expectEnd(await scene.run('plan', '--detailed-exitcode'), 0)
    expectEnd(await scene.run('verify'), 0)

    const three = await makeInstance(scene, 'web-3')
    expect((await scene.run('plan')).stdout).toContain('from instance web-3')
    await callService(scene, 'DELETE', `/compute/instances/${two.id}`)
    expectEnd(await scene.run('apply', '--yes'), 0)
    expect(await held(scene)).toEqual(addresses([one, three]))
  })

  test('by region and label, or by a tag that a header must encode; not requested for an ignored record', async () => {
    const scene = await openServiceScene({ files: {} })
    const define = (...records: string[]): void => scene.write({ 'zones/example.com.yaml': zoneWith(...records) })
    define('{type: A, octodns: {excluded: [cloud]}, from: {instances: {tag: none}}}')
    expectEnd(await scene.run('plan'), 0, { err: '' })
    expect(scene.proxy.requests.some(({ path }) => path.includes('/compute/instances'))).toBe(false)
    const one = await makeInstance(scene, 'web-1', { tags: ['日本語'] })
    await makeInstance(scene, 'web-10', { tags: ['中文字'] })
    const three = await makeInstance(scene, 'other', { region: 'us-west', tags: [] })
    define('{type: A, from: {instances: {tag: 日本語}}}')
    expect(expectEnd(await scene.run('plan'), 0, { out: `from instance web-1 (${one.id})` }).stdout).not.toContain('web-10')
    expect(scene.proxy.requests.map(({ headers }) => headers['x-filter'])).toContain('{"tags":"\\u65e5\\u672c\\u8a9e"}')
    define('{type: A, from: {instances: {region: us-west}}}', '{type: A, from: {instances: {label: web-1}}}')
    await scene.run('apply', '--yes')
    expect(await held(scene)).toEqual([`A ${one.ipv4[0]}`, `A ${three.ipv4[0]}`].sort())
  })

  test('are in the JSON plan with their source, and a saved plan applies them', async () => {
    const scene = await openServiceScene({ files: { 'zones/example.com.yaml': POOL } })
    const { id, ipv4 } = await makeInstance(scene, 'web-1')
    const document = documentIn(await scene.run('plan', '--format', 'json', '--out', 'it.plan'), validate)
    const sources = document.zones[0].changes.flatMap(({ desired }: { desired: { source?: string } }) => desired.source ?? [])
    expect(sources).toEqual(Array(2).fill(`instance web-1 (${id})`))
    await makeInstance(scene, 'web-2')
    expectEnd(await scene.run('apply', 'it.plan', '--yes'), 0)
    expect((await held(scene))[0]).toBe(`A ${ipv4[0]}`)
    expect(await held(scene)).toHaveLength(2)
  })
})

/** Replies of an inventory that keep the addresses. */
const FAILURES: readonly (readonly [name: string, code: string, reply: Reply])[] = [
  ['fails', 'inventory-unreadable', { status: 500, body: '{"errors":[{"reason":"Internal server error"}]}' }],
  ['refuses the token', 'inventory-unreadable', { status: 401, body: '{"errors":[{"reason":"Not authorized."}]}' }],
  ['is invalid', 'inventory-unreadable', listing([{ id: 1, ipv4: 'none' }])],
  ['announces more than it lists', 'inventory-unreadable', listing([WEB], { results: 8 })],
  ['ignores the filter and has no match', 'quarantined', listing([{ id: 1, label: 'db', tags: ['db'], ipv4: ['192.0.2.9'] }])],
]

describe('an inventory without addresses', () => {
  test('or one that fails keeps the RRset, and the rest of the zone is applied', async () => {
    let reply: Reply | null = null
    const files = { 'zones/example.com.yaml': POOL }
    const scene = await openServiceScene({ files, script: inventory(() => reply), provider: 'timeout: 1' })
    const { id } = await makeInstance(scene, 'web-1')
    await scene.run('apply', '--yes')
    const before = await held(scene)
    expect(before).toHaveLength(2)
    for (const [name, code, failure] of FAILURES) {
      reply = failure
      const { stderr } = expectEnd(await scene.run('apply', '--yes'), 0)
      expect(stderr, name).toMatch(new RegExp(`warning\\[${code}\\] .*the instances with tag "web" at cloud`))
      expect(await held(scene), name).toEqual(before)
    }
    reply = null
    await callService(scene, 'DELETE', `/compute/instances/${id}`)
    scene.write({ 'zones/example.com.yaml': `${POOL}  more: {type: A, value: 192.0.2.44}\n` })
    const quarantined =
      /^zones\/\S+:7:\d+: warning\[quarantined\] pool\.\S+ A and pool\.\S+ AAAA: no longer in the instances with tag "web" at cloud, since/
    for (const command of [['plan'], ['apply', '--yes']]) expectEnd(await scene.run(...command), 0, { err: quarantined, out: '192.0.2.44' })
    expect(await held(scene)).toEqual(before)
    // Nobody waits for what is removed on purpose.
    expectEnd(await scene.run('apply', '--yes', '--allow', 'quarantined'), 0)
    expect(await held(scene)).toEqual([])
    expect((await scene.run('plan')).stderr).toContain('inventory-empty')
  })

  test('an unknown provider is an error in the definition', async () => {
    const scene = openScene({ files: { 'zones/example.com.yaml': zoneWith('{type: A, from: {provider: clod, instances: {tag: web}}}') } })
    const { stderr } = await expectNothingDone(scene, 'provider-unknown', 'apply', '--yes')
    expect(stderr).toContain('zones/example.com.yaml:7:26: error[provider-unknown] the config has no provider "clod"')
  })

  test('ignores private addresses, and reports an instance without an address of the family', async () => {
    const ipv4 = ['10.0.0.1', '100.64.0.1', '127.0.0.1', '169.254.0.1', '172.31.0.1', '192.168.0.1', '0.0.0.0', '192.0.2.300']
    let data: object[] = ['fe80::1/64', '::1/128', 'FD00::1/128', '::/128'].map((ipv6, at) => ({ ...WEB, id: at + 1, ipv4, ipv6 }))
    const scene = await openServiceScene({ files: { 'zones/example.com.yaml': POOL }, script: inventory(() => listing(data)) })
    const missing = (type: string, family: number) =>
      `pool.example.com. ${type} is not created: none of the 4 instances with tag "web" at cloud has a public IPv${family}`
    expectEnd(await scene.run('plan'), 0, { err: [missing('A', 4), missing('AAAA', 6)] })
    const both = { ...WEB, ipv4: ['192.0.2.7', '192.168.1.7'], ipv6: '2001:DB8::7/128' }
    data = [both, { ...both, id: 2, label: 'web-2', ipv6: null }]
    expectEnd(await scene.run('apply', '--yes'), 0, { err: 'warning[inventory-partial] pool.example.com. AAAA: without instance web-2' })
    expect(await held(scene)).toEqual(['A 192.0.2.7', 'AAAA 2001:db8::7'])
  })
})

test('addresses from load balancers by label, tag, or tag and region', async () => {
  const scene = await openServiceScene({ seed: SEED })
  const as = { ZONEWRIGHT_TOKEN: `${TOKEN}-k` }
  const from = (type: string, selector: string): string => `{type: ${type}, from: {loadbalancers: {${selector}}}}`
  for (const [expected, ...records] of [
    [['A 203.0.113.11'], from('A', 'tag: front, region: us-west')],
    [['A 203.0.113.10', 'A 203.0.113.11'], from('A', 'tag: FRONT')],
    [['A 203.0.113.10', 'AAAA 2001:db8::10'], from('A', 'label: edge'), from('AAAA', 'label: edge')],
  ] as const) {
    scene.write({ 'zones/example.com.yaml': zoneWith(...records) })
    expectEnd(await scene.runWith(as, 'plan'), 0, { out: /from load balancer (?:edge|side) \(\d+\)/ })
    expectEnd(await scene.runWith(as, 'apply', '--yes', '--allow', 'quarantined', '--allow', 'deletes', '--allow', 'updates'), 0)
    expectEnd(await scene.runWith(as, 'plan', '--detailed-exitcode'), 0)
    expect(await held(scene, `${TOKEN}-k`)).toEqual(expected)
  }
})
