/** The services of dns-lexicon that have a row, each at a server: what they store, what they delete, and that they do nothing else. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LEXICON_REQUESTS } from '../../../scripts/lexicon-page/render-lexicon-page.ts'
import { LEXICON_SERVICES } from '../../../src/providers/lexicon/services.ts'
import { CLIENTS } from '../../scripted/clients.ts'
import { startScriptedServer } from '../../scripted/scripted-server.ts'
import { CLOUD_TYPES, type CloudType } from '../../scripted/services.ts'
import { startPowerDns } from '../../support/dns-servers.ts'
import { startFaultProxy } from '../../support/fault-proxy.ts'
import { describeWithTools } from '../../support/skip.ts'
import { runTool } from '../../support/tools.ts'
import { LEXICON_PYTHON, lexiconScene, pythonFolder } from './lexicon-scene.ts'

const ITSELF = join(import.meta.dirname, 'python/lexicon_requests.py')

interface Judge {
  readonly tools?: readonly string[]
  readonly start: () => Promise<{
    readonly server: string
    readonly options: Readonly<Record<string, string>>
    readonly hosts?: readonly string[]
    readonly nameserver?: string
  }>
}

const scripted = (type: CloudType): Judge => ({
  async start() {
    const { hosts, lexicon } = CLIENTS[type]
    const { token: _, retry_wait_time: __, ...options } = lexicon
    return { server: (await startScriptedServer(CLIENTS[type].start())).origin, hosts, options }
  },
})

const JUDGES: Readonly<Record<string, Judge>> = {
  ...Object.fromEntries(CLOUD_TYPES.map((type) => [type === 'google' ? 'googleclouddns' : type, scripted(type)])),
  powerdns: {
    tools: ['pdns_server', 'pdnsutil'],
    async start() {
      const { api, port } = await startPowerDns({ zones: [{ name: 'example.com', text: '$TTL 300\n@ SOA a. b. 1 1 1 1 1\n@ NS a.\n' }] })
      return { server: api.url, nameserver: `127.0.0.1:${port}`, options: { pdns_server: api.url, auth_token: api.key } }
    },
  },
}

/** A record of each type, and another one in its place. */
const DIGEST = 'ab'.repeat(32)
const RECORDS: Readonly<Record<string, readonly [owner: string, data: string, other: string]>> = {
  A: ['www', '192.0.2.1', '192.0.2.3'],
  AAAA: ['*.www', '2001:db8::1', '2001:db8::2'],
  CAA: ['@', '0 issue "ca.example.net"', '0 issue "ca.example.org"'],
  CNAME: ['alias', 'www.example.net.', 'www'],
  DS: ['delegated', `1 13 2 ${DIGEST}`, `2 13 2 ${DIGEST}`],
  MX: ['@', '10 mail.example.net.', '20 mail'],
  NAPTR: ['naptr', '1 2 "S" "SIP+D2U" "" _sip._udp', '2 2 "S" "SIP+D2U" "" _sip._udp'],
  NS: ['delegated', 'ns1.example.net.', 'ns2.delegated'],
  PTR: ['1', 'host.example.net.', 'host'],
  SRV: ['_sip._tcp', '1 2 5060 sip.example.net.', '1 3 5060 sip'],
  SSHFP: ['www', `1 1 ${'ab'.repeat(20)}`, `1 1 ${'cd'.repeat(20)}`],
  TLSA: ['_443._tcp.www', `3 1 1 ${DIGEST}`, `3 1 2 ${DIGEST}`],
  TXT: ['@', '"v=spf1 include:_spf.example.net -all"', '"v=spf1; -all"'],
}

/** Seconds that suit every service. */
const TTLS = [3600, 7200] as const

function linesOf(service: string, step: 0 | 1): string[] {
  const { types, hasLongTexts } = LEXICON_SERVICES[service] as (typeof LEXICON_SERVICES)[string]
  const lines = types.split(' ').map((type) => {
    const [owner, ...data] = RECORDS[type] as (typeof RECORDS)[string]
    return `${owner} ${TTLS[step]} ${type} ${data[step]}`
  })
  const long = `"${'k'.repeat(255)}" "${'l'.repeat(120)}"`
  return [
    ...lines,
    ...(step === 0 ? ['www 3600 A 192.0.2.2', 'gone 3600 A 192.0.2.9', ...(hasLongTexts ? [`long 3600 TXT ${long}`] : [])] : []),
  ]
}

test('every row has a server', () => {
  expect(Object.keys(JUDGES).sort()).toEqual(Object.keys(LEXICON_SERVICES).sort())
})

for (const [service, { tools = [], start }] of Object.entries(JUDGES))
  describeWithTools([LEXICON_PYTHON, ...tools], `dns-lexicon at ${service}`, () => {
    test('does what its row says, and no plan is left', async () => {
      const judge = await start()
      const { run, define, apply } = lexiconScene({ service, ...judge })
      define(linesOf(service, 0))
      expect(await apply()).toMatchObject({ readBack: 'equal', calls: { total: linesOf(service, 0).length } })
      expect((await run('plan', '--detailed-exitcode')).status).toBe(0)
      if (judge.nameserver !== undefined) expect((await run('verify', '--nameserver', judge.nameserver)).status).toBe(0)
      define(linesOf(service, 1))
      const { onlyCreates } = LEXICON_SERVICES[service] ?? {}
      if (onlyCreates === undefined) expect(await apply('--allow', 'updates', '--allow', 'deletes')).toMatchObject({ readBack: 'equal' })
      const { status, stdout, stderr } = await run('plan', '--detailed-exitcode')
      expect([
        status,
        onlyCreates === undefined || (stdout + stderr).includes(`plans only create records, because ${onlyCreates}`),
      ]).toEqual([0, true])
    })

    test('sends no more requests than dns-lexicon itself, apart from the reads', {
      tags: service === 'digitalocean' ? [] : ['long'],
    }, async () => {
      const judge = await start()
      const proxy = await startFaultProxy(new URL(judge.server).origin)
      const through = (text: string): string => text.replace(new URL(judge.server).origin, proxy.origin)
      const options = Object.fromEntries(Object.entries(judge.options).map(([key, value]) => [key, through(value)]))
      const scene = { ...judge, service, options, server: proxy.origin }
      const { define, apply } = lexiconScene(scene)
      const counted = async <T>(work: () => Promise<T>): Promise<[number, T]> => {
        const before = proxy.count()
        const result = await work()
        return [proxy.count() - before, result]
      }
      const itself = async (step: string, content = ''): Promise<[number, string]> => {
        const { status, stdout, stderr } = await runTool(LEXICON_PYTHON, ['-B', ITSELF, service, JSON.stringify(options), step, content], {
          env: { PYTHONPATH: pythonFolder(scene) },
        })
        expect(status, stderr).toBe(0)
        return [0, stdout]
      }
      const identifier = async (): Promise<string> => {
        const [, listed] = await itself('list')
        const found = (JSON.parse(listed) as [string, string, string][]).find(
          ([, type, name]) => type === 'A' && name === 'www.example.com',
        )
        return String(found?.[0])
      }
      const isComplete = LEXICON_SERVICES[service]?.onlyCreates === undefined
      const list = async (): Promise<number> => (await counted(() => itself('list')))[0]
      const counts: (number | null)[] = [await list()]
      counts.push((await counted(() => itself('create', '192.0.2.1')))[0])
      for (const [step, content] of [
        ['update', '192.0.2.2'],
        ['delete', '192.0.2.2'],
      ] as const) {
        const id = isComplete ? await identifier() : ''
        counts.push(isComplete ? (await counted(() => itself(`${step}=${id}`, content)))[0] : null)
      }
      expect(counts).toEqual(LEXICON_REQUESTS[service])
      const changes = counts.slice(1, isComplete ? undefined : 2)
      for (const [index, lines] of [['ours 3600 A 192.0.2.3'], ['ours 3600 A 192.0.2.4'], []].slice(0, changes.length).entries()) {
        define(lines)
        const before = await list()
        const [count, zone] = await counted(() => apply('--allow', 'deletes', '--allow', 'updates', '--allow', 'empty-zone'))
        expect(zone).toMatchObject({ readBack: 'equal', calls: { total: 1 } })
        // To plan, before the call and after it. At some services a list is one request for each record.
        expect(count).toBeLessThanOrEqual(2 * before + (await list()) + (changes[index] ?? 0))
      }
      await proxy.close()
    })
  })

describeWithTools([LEXICON_PYTHON, 'pdns_server', 'pdnsutil'], 'dns-lexicon at powerdns', () => {
  test('leaves a disabled record alone, which it lists as any other', async () => {
    const { server, options } = await (JUDGES['powerdns'] as Judge).start()
    const api = `${server}/servers/localhost/zones/example.com.`
    const headers = { 'X-API-Key': String(options['auth_token']) }
    const records = [{ content: '192.0.2.9', disabled: true }]
    const rrsets = [{ name: 'off.example.com.', type: 'A', ttl: 300, changetype: 'REPLACE', records }]
    expect((await fetch(api, { method: 'PATCH', headers, body: JSON.stringify({ rrsets }) })).status).toBe(204)
    const { define, apply } = lexiconScene({ service: 'powerdns', server, options })
    define(['www 300 A 192.0.2.1'])
    expect(await apply('--allow', 'deletes')).toMatchObject({ readBack: 'equal', calls: { total: 1 } })
    const zone = (await (await fetch(api, { headers })).json()) as { rrsets: (typeof rrsets)[number][] }
    expect(zone.rrsets.find(({ name }) => name === 'off.example.com.')).toMatchObject({ records })
  })
})
