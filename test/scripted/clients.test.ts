/** The scripted servers serve the clients of others, unchanged, and these do there what Zonewright does through the class of octoDNS. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { DomainName } from '../../src/dns/domain-name.ts'
import { cli } from '../support/cli.ts'
import { findForeignClient } from '../support/foreign-clients.ts'
import { response, startScriptedDns } from '../support/scripted-dns.ts'
import { describeWithTools, LONG_SERVERS } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { runTool } from '../support/tools.ts'
import { CLIENTS, LEGO_TYPES, OCTODNS_TYPES, startForClients } from './clients.ts'
import type { ScriptedService } from './scripted-server.ts'
import { CLOUD, CLOUD_TYPES, type CloudService, type CloudType } from './services.ts'

const python = findForeignClient('cloud-clients')
const lego = findForeignClient('lego')
const PROGRAMS = fileURLToPath(new URL('clients/', import.meta.url))
const LEXICON_STEPS = ['create', 'create again', 'list', 'update', 'list pages', 'delete']
const DIGEST = 'ab'.repeat(32)
const [LATITUDE, LONGITUDE] = [
  { lat_degrees: 51, lat_minutes: 30, lat_seconds: 12.748, lat_direction: 'N' },
  { long_degrees: 0, long_minutes: 7, long_seconds: 39.612, long_direction: 'W' },
]

/** A record of each type as octoDNS's files have it, with the name that it gets. */
const RECORDS: Readonly<Record<string, readonly [name: string, content: object]>> = {
  ALIAS: ['', { value: 'target.example.net.' }],
  CAA: ['', { value: { flags: 0, tag: 'issue', value: 'ca.example.net' } }],
  MX: ['', { values: [{ preference: 10, exchange: 'mail.example.com.' }] }],
  A: ['www', { values: ['192.0.2.1', '192.0.2.2'] }],
  AAAA: ['www', { value: '2001:db8::1' }],
  TXT: ['www', { values: ['one', `v=DKIM1\\; p=${'A'.repeat(300)}`] }],
  HTTPS: ['www', { value: { svcpriority: 1, targetname: '.', svcparams: { alpn: ['h2', 'h3'] } } }],
  LOC: ['www', { value: { ...LATITUDE, ...LONGITUDE, altitude: 0, size: 1, precision_horz: 10000, precision_vert: 10 } }],
  SSHFP: ['www', { value: { algorithm: 1, fingerprint_type: 1, fingerprint: 'ab'.repeat(20) } }],
  CNAME: ['alias', { value: 'www.example.com.' }],
  NS: ['delegated', { values: ['ns1.example.net.', 'ns2.example.net.'] }],
  DS: ['delegated', { value: { key_tag: 1, algorithm: 13, digest_type: 2, digest: DIGEST.toUpperCase() } }],
  PTR: ['1', { value: 'host.example.com.' }],
  NAPTR: ['naptr', { value: { order: 1, preference: 2, flags: 'S', service: 'SIP+D2U', regexp: '', replacement: '.' } }],
  SRV: ['_sip._tcp', { value: { priority: 1, weight: 2, port: 5060, target: 'sip.example.com.' } }],
  TLSA: ['_443._tcp.www', { value: { certificate_usage: 3, selector: 1, matching_type: 1, certificate_association_data: DIGEST } }],
  DNAME: ['moved', { value: 'other.example.net.' }],
  OPENPGPKEY: ['_openpgpkey', { value: 'bWc4RVh0Vkk=' }],
}

type Names = Readonly<Record<string, readonly object[]>>

/** Records of a service alone, which replace those at the name. */
const OWN: Partial<Readonly<Record<CloudType, Names>>> = {
  cloudflare: {
    alias: [{ type: 'CNAME', ttl: 300, value: 'www.example.com.', octodns: { cloudflare: { proxied: true, 'auto-ttl': true } } }],
    commented: [{ type: 'A', ttl: 300, value: '192.0.2.4', octodns: { cloudflare: { comment: 'a server' } } }],
  },
  desec: { text: [{ type: 'TXT', ttl: 300, values: ['one', 'v=DKIM1\\; p=two'] }] },
  route53: {
    '*.sub': [{ type: 'A', ttl: 60, value: '192.0.2.3' }],
    own: [{ type: 'Route53Provider/ALIAS', ttl: 300, values: [{ type: 'A', name: 'www' }] }],
  },
  scaleway: { text: [{ type: 'TXT', ttl: 300, values: ['one'] }] },
}

/** A zone with every type of a service, the same zone after a change, and one with a single record. */
function statesOf(type: CloudType): readonly Names[] {
  const names: Record<string, object[]> = {}
  for (const one of (CLIENTS[type].types ?? '').split(' ')) {
    const [name, content] = RECORDS[one] as (typeof RECORDS)[string]
    names[name] = [...(names[name] ?? []), { type: one, ttl: 300, ...content }]
  }
  const full = { ...names, ...OWN[type] }
  const changed = {
    www: [{ type: 'A', ttl: 600, values: ['192.0.2.2', '192.0.2.3', '192.0.2.4'] }],
    alias: [{ type: 'CNAME', ttl: 300, value: 'other.example.com.' }],
  }
  return [full, { ...full, ...changed }, { '': [{ type: 'TXT', ttl: 3600, value: 'last' }] }]
}

const octodnsOf = (type: CloudType) => CLIENTS[type].octodns as NonNullable<(typeof CLIENTS)[CloudType]['octodns']>

/** The services whose clients of each kind run by default. Python takes seconds to load a client. */
const USUAL: readonly CloudType[] = ['cloudflare', 'hetzner', 'route53']
const OTHERS = CLOUD_TYPES.filter((type) => !USUAL.includes(type))

describeWithTools([python, 'openssl'], 'clients of the scripted services', () => {
  const run = async (program: string, args: readonly unknown[], env: Record<string, string>): Promise<unknown> => {
    const texts = args.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)))
    const { status, stdout, stderr } = await runTool(python, ['-B', join(PROGRAMS, program), ...texts], { env })
    expect(status, stderr).toBe(0)
    // A client may print lines of its own before the result.
    return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')
  }
  const start = (type: CloudType, service: ScriptedService = CLIENTS[type].start()) => startForClients(CLIENTS[type].hosts, service)

  const lexiconAt = async (type: CloudType): Promise<void> => {
    const { env } = await start(type)
    const name = type === 'google' ? 'googleclouddns' : type
    expect(await run('lexicon_walk.py', [name, 'example.com', CLIENTS[type].lexicon], env)).toEqual({ done: LEXICON_STEPS })
  }
  test.each(USUAL)('dns-lexicon creates, lists, changes and deletes at %s', lexiconAt)
  test.each(OTHERS)('dns-lexicon creates, lists, changes and deletes at %s', { tags: ['long'] }, lexiconAt)

  test.each(OCTODNS_TYPES)('octoDNS creates, changes and deletes every type at %s', async (type) => {
    const { env } = await start(type)
    const states = statesOf(type)
    const { changes } = (await run('octodns_walk.py', [...octodnsOf(type), states], env)) as { changes: number[] }
    const [first = 0, second = 0] = states.map((state) => Object.values(state).flat().length)
    expect([changes[0], changes[2]]).toEqual([first, second + 1])
  })

  test('octoDNS creates the zone at cloudflare', async () => {
    const { env } = await start('cloudflare', CLOUD.cloudflare.create({ zones: [], account: '2'.repeat(32) }).service)
    const args = [...octodnsOf('cloudflare'), statesOf('cloudflare').slice(0, 1)]
    expect(await run('octodns_walk.py', args, env)).toEqual({ changes: [expect.toSatisfy((count) => count > 0)] })
  })

  const throughClassAt = async (type: CloudType): Promise<void> => {
    const { env } = await start(type)
    const [className, options] = octodnsOf(type)
    const folder = temporaryDirectory()
    for (const name of ['zones', 'python']) mkdirSync(join(folder, name))
    // Python runs this file when it starts.
    writeFileSync(join(folder, 'python/sitecustomize.py'), 'import direct_to\n')
    const provider = { type: 'octodns', class: className, python, environment: [...Object.keys(env), 'AWS_*'], options }
    writeFileSync(join(folder, 'zonewright.yaml'), JSON.stringify({ providers: { live: provider }, unsupported: 'skip' }))
    const allowed = ['updates', 'deletes', 'empty-zone'].flatMap((limit) => ['--allow', limit])
    const variables = { ...env, PATH: process.env['PATH'], PYTHONPATH: `${folder}/python:${PROGRAMS}` }
    const zonewright = (...args: string[]) => cli([...args, '--no-color'], { cwd: folder, env: variables })
    for (const state of statesOf(type)) {
      // A state is a zone file of octoDNS, which is a definition.
      writeFileSync(join(folder, 'zones/example.com.yaml'), JSON.stringify(state))
      const { stdout, stderr } = await zonewright('apply', '--yes', ...allowed, '--format', 'json')
      const [zone] = JSON.parse(stdout || '{"zones": []}').zones as ({ readBack: string } | undefined)[]
      expect([zone?.readBack, stderr]).toEqual(['equal', expect.anything()])
      expect((await zonewright('plan', '--detailed-exitcode')).status).toBe(0)
    }
  }
  test.each(USUAL)('Zonewright writes every type through the class of octoDNS at %s', throughClassAt)
  test.each(OTHERS.filter((type) => OCTODNS_TYPES.includes(type)))(
    'Zonewright writes every type through the class of octoDNS at %s',
    { tags: ['long'] },
    throughClassAt,
  )
})

/** Answers queries for the SOA record of the zone, by which lego finds it. */
const startResolver = () =>
  startScriptedDns((query) => {
    const name = query.questions[0]?.name
    const soa = { name: 'example.com.' as DomainName, type: 'SOA', class: 1, ttl: 300, data: 'ns1.test. dns.test. 1 2 3 4 5' }
    return [response(query, name === soa.name ? [soa] : [])]
  })

describeWithTools(
  [lego, 'openssl'],
  'lego at the scripted services',
  () => {
    test.each(LEGO_TYPES)('adds the records of a certificate and removes them at %s', async (type) => {
      const { create, lines } = CLOUD[type] as unknown as CloudService
      const scripted = create()
      const proofs = (): string[] => lines(scripted).filter((line) => line.startsWith('_acme-challenge.'))
      const before = lines(scripted)
      let most: readonly string[] = []
      const { server, env } = await startForClients(CLIENTS[type].hosts, (request) => {
        if (proofs().length > most.length) most = proofs()
        return scripted.service(request)
      })
      const { host, port } = await startResolver()
      const [provider, variables] = CLIENTS[type].lego as NonNullable<(typeof CLIENTS)[CloudType]['lego']>
      const names = ['www.example.com', 'mail.example.com']
      const { status, stderr } = await runTool(lego, [provider, 'both', ...names], {
        env: { ...env, ...variables, SERVER: new URL(server.origin).host, RESOLVER: `${host}:${port}` },
      })
      expect(status, stderr).toBe(0)
      expect(most.map((line) => line.replace(/ .*TXT /, ' TXT ').slice(0, 30)).sort()).toEqual([
        expect.stringMatching(/^_acme-challenge\.mail TXT "/),
        expect.stringMatching(/^_acme-challenge\.www TXT "/),
      ])
      expect(lines(scripted)).toEqual(before)
    })
  },
  LONG_SERVERS,
)
