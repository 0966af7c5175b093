/** A master with a script per zone, which notes its queries, and what services answer for its zones. */
import type { DomainName } from '../../../src/dns/domain-name.ts'
import type { RunningService } from '../../../src/service/index.ts'
import { queryDns } from '../../../src/transport/dns-client.ts'
import { type Client, LOOPBACK } from '../harness.ts'
import { record, type Script, scriptedMaster, serving, soa } from './scripted-master.ts'

export const scripts = new Map<string, Script>()

/** The queries that the master has received, and their times in milliseconds. */
const asked: { readonly question: string; readonly at: number }[] = []

export const master = await scriptedMaster(
  (query, ...rest) => {
    const [question] = query.questions
    asked.push({ question: `${question?.name} ${question?.type}`, at: performance.now() })
    scripts.get(question?.name ?? '')?.(query, ...rest)
  },
  { keep: 'worker' },
)

export const momentsAsked = (zone: string, type = 'SOA'): number[] =>
  asked.filter(({ question }) => question === `${zone}. ${type}`).map(({ at }) => at)

export const timesAsked = (zone: string, type = 'SOA'): number => momentsAsked(zone, type).length

/** The options of a service that transfers from the master. */
export const OPTIONS = { dns: LOOPBACK, peerPort: master, transferLimits: { connect: 1_500, idle: 1_500, total: 5_000 } }
export const portOf = ({ dnsAddress }: RunningService): number => dnsAddress?.port ?? 0

/** The response code and the data of the answers. */
export async function askService(of: RunningService, name: string, type = 'A'): Promise<(string | null)[]> {
  const { rcode, answers } = await queryDns({ host: '127.0.0.1', port: portOf(of) }, { name: `${name}.` as DomainName, type })
  return [rcode, ...answers.map(({ data }) => data)]
}

/** Sets the zone of the master: an A record that contains the serial, and other records. */
export function serve(zone: string, serial: number, { times = '3600 600 604800 300', host = serial & 255 } = {}): void {
  const apex = soa(serial, times, `${zone}.`)
  scripts.set(`${zone}.`, serving([apex, record(`${zone}.`, 'NS', 'ns1.example.net.'), record(`www.${zone}.`, 'A', `192.0.2.${host}`)]))
}

export const createSlave = (of: Client, domain: string, settings: object = {}) =>
  of.ok('POST', '/domains', { domain, type: 'slave', master_ips: ['127.0.0.1'], ...settings })
