/** Several processes transfer zones for one database. */
import { expect, test } from 'vitest'
import type { DomainName } from '../../../../src/dns/domain-name.ts'
import type { RunningService } from '../../../../src/service/index.ts'
import { queryDns } from '../../../../src/transport/dns-client.ts'
import { type Client, freshDatabase, LOOPBACK, startForTest } from '../../harness.ts'
import { eventually } from '../../transfers/eventually.ts'
import { sendNotify } from '../../transfers/notify.ts'
import { record, type Script, scriptedMaster, serving, soa } from '../../transfers/scripted-master.ts'

/** A master: its script per zone, and its received queries. */
const scripts = new Map<string, Script>()
const asked: string[] = []
const peerPort = await scriptedMaster(
  (query, ...rest) => {
    const [question] = query.questions
    asked.push(`${question?.name} ${question?.type}`)
    scripts.get(question?.name ?? '')?.(query, ...rest)
  },
  { keep: true },
)
const timesAsked = (zone: string, type = 'SOA'): number => asked.filter((question) => question === `${zone}. ${type}`).length

const OPTIONS = { dns: LOOPBACK, peerPort, transferLimits: { connect: 1_500, idle: 1_500, total: 5_000 } }

const portOf = ({ dnsAddress }: RunningService): number => dnsAddress?.port ?? 0

const ask = async (name: string, of: RunningService) => {
  const { rcode, answers } = await queryDns({ host: '127.0.0.1', port: portOf(of) }, { name: `${name}.` as DomainName, type: 'A' })
  return [rcode, ...answers.map(({ data }) => data)]
}

function serve(zone: string, serial: number): void {
  const apex = [soa(serial, '3600 600 604800 300', `${zone}.`), record(`${zone}.`, 'NS', 'ns1.example.net.')] as const
  scripts.set(`${zone}.`, serving([...apex, record(`www.${zone}.`, 'A', `192.0.2.${serial}`)]))
}

const create = (domain: string, of: Client) => of.ok('POST', '/domains', { domain, type: 'slave', master_ips: ['127.0.0.1'] })

test('refresh each zone once, and all serve it', async () => {
  const store = { database: await freshDatabase() }
  const options = { ...OPTIONS, ...store, bootstrapToken: 'token' }
  const first = await startForTest(options)
  const services = [first, await startForTest(options), await startForTest(options)]
  const { client: caller } = first
  const zones = Array.from({ length: 10 }, (_, i) => `shared${i}.test`)
  for (const zone of zones) serve(zone, 1)
  await Promise.all(zones.map((zone) => create(zone, caller)))
  const everywhere = async (answer: string): Promise<void> => {
    for (const { service: one } of services) for (const zone of zones) expect(await ask(`www.${zone}`, one)).toEqual(['NOERROR', answer])
  }
  await eventually(() => everywhere('192.0.2.1'))
  for (const zone of zones) expect(timesAsked(zone, 'AXFR')).toBe(1)
  for (const zone of zones) serve(zone, 2)
  await Promise.all(services.flatMap(({ service: one }) => zones.map((zone) => sendNotify(portOf(one), zone))))
  await eventually(() => everywhere('192.0.2.2'))
  for (const zone of zones) expect([timesAsked(zone, 'AXFR'), timesAsked(zone, 'IXFR')]).toEqual([1, 1])
})

test('the claims of a killed process are taken over', async () => {
  const store = { database: await freshDatabase() }
  const options = { ...OPTIONS, ...store, bootstrapToken: 'token', clockSpeed: 1 }
  const { client: caller, service: one } = await startForTest(options)
  scripts.set('taken.test.', () => {})
  await create('taken.test', caller)
  await eventually(async () => expect(timesAsked('taken.test')).toBe(1))
  await one.stop()
  serve('taken.test', 1)
  const other = await startForTest(options)
  await eventually(async () => expect(await ask('www.taken.test', other.service)).toEqual(['NOERROR', '192.0.2.1']))
})
