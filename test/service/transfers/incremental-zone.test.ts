/** IXFR in: a slave applies the changes of its master, and requests the full zone if it cannot. */
import { expect, test } from 'vitest'
import type { DomainName } from '../../../src/dns/domain-name.ts'
import type { WireRecord } from '../../../src/dns/wire/message.ts'
import { queryDns } from '../../../src/transport/dns-client.ts'
import { LOOPBACK, startForTest } from '../harness.ts'
import { eventually } from './eventually.ts'
import { sendNotify } from './notify.ts'
import { answerOf, record, type Script, scriptedMaster, serving, soa } from './scripted-master.ts'

const scripts = new Map<string, Script>()
const asked: string[] = []
const master = await scriptedMaster(
  (query, socket) => {
    const [question] = query.questions
    const serial = query.authorities[0]?.data?.split(' ')[2]
    asked.push([question?.name, question?.type, ...(serial === undefined ? [] : [serial])].join(' '))
    scripts.get(question?.name ?? '')?.(query, socket)
  },
  { keep: true },
)
const lines: string[] = []
const { service, client } = await startForTest({
  dns: LOOPBACK,
  peerPort: master,
  transferLimits: { connect: 1_500, idle: 1_500, total: 5_000, records: 50 },
  log: { level: 'info', write: (line) => lines.push(line) },
})
const port = service.dnsAddress?.port ?? 0
const apex = (zone: string, serial: number): WireRecord => soa(serial, '3600 600 604800 300', zone)
const host = (zone: string, label: string, address = '192.0.2.1'): WireRecord => record(`${label}.${zone}`, 'A', address)
const answer = async (name: string) =>
  (await queryDns({ host: '127.0.0.1', port }, { name: name as DomainName, type: 'A' })).answers.map(({ data }) => data)

/** Creates a slave with serial 1 and the hosts `kept` and `gone`. */
async function createServed(zone: string): Promise<void> {
  scripts.set(zone, serving([apex(zone, 1), record(zone, 'NS', 'ns1.example.net.'), host(zone, 'kept'), host(zone, 'gone')]))
  await client.ok('POST', '/domains', { domain: zone.slice(0, -1), type: 'slave', master_ips: ['127.0.0.1'] })
  await eventually(async () => expect(await answer(`kept.${zone}`)).toEqual(['192.0.2.1']))
}

const logged = (zone: string) =>
  lines
    .map((line) => JSON.parse(line))
    .filter((line) => line.message === 'zone transferred' && `${line.zone}.` === zone)
    .map(({ method, serial, records }) => [method, serial, records])

/** Updates the master to serial 3, with this script for IXFR and its zone for AXFR. */
function change(zone: string, incremental: Script): void {
  const whole = serving([apex(zone, 3), record(zone, 'NS', 'ns1.example.net.'), host(zone, 'kept'), host(zone, 'new')])
  scripts.set(zone, (query, socket) => (query.questions[0]?.type === 'IXFR' ? incremental : whole)(query, socket))
}

const sending =
  (...records: readonly WireRecord[]): Script =>
  (query, socket) =>
    void socket.write(answerOf(query, records))

test('applies differences with several steps in any number of messages', async () => {
  for (const [i, split] of [false, true].entries()) {
    const zone = `steps${i}.test.`
    await createServed(zone)
    const [first, middle, last] = [apex(zone, 1), apex(zone, 2), apex(zone, 3)]
    const outside = host('elsewhere.test.', 'www')
    const brief = host(zone, 'brief')
    const records = [last, first, host(zone, 'gone'), middle, brief, outside, middle, brief, outside, last, host(zone, 'new'), last]
    change(zone, (query, socket) => {
      for (const part of split ? records.map((one) => [one]) : [records]) socket.write(answerOf(query, part))
    })
    await sendNotify(port, zone.slice(0, -1), { serial: 3 })
    await eventually(async () => expect(await answer(`new.${zone}`)).toEqual(['192.0.2.1']))
    expect(await answer(`kept.${zone}`)).toEqual(['192.0.2.1'])
    expect([await answer(`gone.${zone}`), await answer(`brief.${zone}`)]).toEqual([[], []])
    expect(logged(zone)).toEqual([
      ['AXFR', 1, 4],
      ['IXFR', 3, 4],
    ])
    expect(asked.filter((line) => line.startsWith(zone) && line.includes('XFR'))).toEqual([`${zone} AXFR`, `${zone} IXFR 1`])
  }
})

test('accepts a full zone in response to IXFR', async () => {
  await createServed('whole.test.')
  change(
    'whole.test.',
    sending(apex('whole.test.', 3), record('whole.test.', 'NS', 'ns1.example.net.'), host('whole.test.', 'new'), apex('whole.test.', 3)),
  )
  await sendNotify(port, 'whole.test')
  await eventually(async () => expect(await answer('new.whole.test.')).toEqual(['192.0.2.1']))
  expect(await answer('kept.whole.test.')).toEqual([])
  expect(logged('whole.test.').at(-1)).toEqual(['AXFR', 3, 3])
  expect(asked).not.toContain('whole.test. AXFR 1')
})

const BAD_RESPONSES: readonly (readonly [string, (zone: string) => Script])[] = [
  ['responds NOTIMP', () => (query, socket) => void socket.write(answerOf(query, [], { rcode: 4 }))],
  ['sends only the current SOA', (zone) => sending(apex(zone, 1))],
  ['sends only the new SOA', (zone) => sending(apex(zone, 3))],
  ['removes a missing record', (zone) => sending(apex(zone, 3), apex(zone, 1), host(zone, 'nowhere'), apex(zone, 3), apex(zone, 3))],
  [
    'removes the name servers',
    (zone) => sending(apex(zone, 3), apex(zone, 1), record(zone, 'NS', 'ns1.example.net.'), apex(zone, 3), apex(zone, 3)),
  ],
  [
    'adds more records than a zone may have',
    (zone) =>
      sending(apex(zone, 3), apex(zone, 1), apex(zone, 3), ...Array.from({ length: 60 }, (_, i) => host(zone, `h${i}`)), apex(zone, 3)),
  ],
]

// Each has its own zone, and some wait for a timeout.
test.concurrent.each(BAD_RESPONSES.map(([problem, script], i) => [problem, `bad${i}.test.`, script] as const))(
  'requests the full zone from a master that %s',
  async (_, zone, script) => {
    await createServed(zone)
    change(zone, script(zone))
    await sendNotify(port, zone.slice(0, -1))
    await eventually(async () => expect(await answer(`new.${zone}`)).toEqual(['192.0.2.1']))
    expect([await answer(`kept.${zone}`), await answer(`gone.${zone}`)]).toEqual([['192.0.2.1'], []])
    expect(logged(zone).at(-1)).toEqual(['AXFR', 3, 4])
  },
)
