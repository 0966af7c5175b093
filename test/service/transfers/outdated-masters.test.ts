/** Masters that announce a newer zone than they send, like servers during a reload or behind a shared address. */
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { DomainName } from '../../../src/dns/domain-name.ts'
import type { SerialNumber } from '../../../src/dns/serial-number.ts'
import type { Message } from '../../../src/dns/wire/message.ts'
import type { ClaimedRefresh } from '../../../src/service/store/secondary-store.ts'
import type { RefreshResult } from '../../../src/service/transfers/refresh-from-masters.ts'
import { refreshOutcome } from '../../../src/service/transfers/transfers.ts'
import { queryDns } from '../../../src/transport/dns-client.ts'
import { LOOPBACK, startForTest } from '../harness.ts'
import { eventually } from './eventually.ts'
import { sendNotify } from './notify.ts'
import { answerOf, record, type Script, scriptedMaster, serving, soa } from './scripted-master.ts'

/** Seconds. Longer than any test. */
const REFRESH = 86_400

/** The serials of the master in SOA responses and in consecutive transfers; the last one repeats. */
type Offer = { readonly soa: number; readonly axfr: readonly number[] }
const offers = new Map<string, Offer>()
const sent: string[] = []

const script: Script = (query: Message, socket: Socket) => {
  const [question] = query.questions
  const zone = question?.name as string
  const offer = offers.get(zone)
  if (offer === undefined || question === undefined) return void socket.write(answerOf(query, [], { rcode: 5 }))
  const before = sent.filter((line) => line.startsWith(`${zone} `) && !line.includes(' SOA ')).length
  const serial = question.type === 'SOA' ? offer.soa : (offer.axfr[Math.min(before, offer.axfr.length - 1)] as number)
  sent.push(`${zone} ${question.type} ${serial}`)
  serving([soa(serial, `${REFRESH} 600 604800 300`, zone), record(zone, 'NS', 'ns1.example.net.')])(query, socket)
}
const master = await scriptedMaster(script, { keep: true })

// The clock is ten times as fast: the first wait is a tenth of a second, the refresh still hours.
const logged: string[] = []
const log = { level: 'warn', write: (line: string) => logged.push(line) } as const
const { service, client } = await startForTest({ dns: LOOPBACK, peerPort: master, clockSpeed: 10, log })
const port = service.dnsAddress?.port ?? 0
const WITHIN = 15_000

/** Sets the serials of the master. */
function offer(zone: string, soa: number, ...axfr: readonly number[]): void {
  for (let i = sent.length - 1; i >= 0; i -= 1) if (sent[i]?.startsWith(`${zone}. `)) sent.splice(i, 1)
  offers.set(`${zone}.`, { soa, axfr })
}

const sentOf = (zone: string): string[] => sent.filter((line) => line.startsWith(`${zone}. `)).map((line) => line.slice(zone.length + 2))

const create = async (domain: string, masters = ['127.0.0.1']): Promise<number> =>
  (await client.ok('POST', '/domains', { domain, type: 'slave', master_ips: masters })).id

const serialAt = async (zone: string, at = port): Promise<number> => {
  const { answers } = await queryDns({ host: '127.0.0.1', port: at }, { name: `${zone}.` as DomainName, type: 'SOA' })
  return Number(answers[0]?.data?.split(' ')[2])
}

const served = (zone: string, serial: number): Promise<void> => eventually(async () => expect(await serialAt(zone)).toBe(serial), WITHIN)
const errorsOf = async (id: number): Promise<string> => (await client.ok('GET', `/domains/${id}`)).errors

/** Creates a slave that has transferred the only serial of its master. */
async function createServed(zone: string, serial: number): Promise<number> {
  offer(zone, serial, serial)
  const id = await create(zone)
  await served(zone, serial)
  return id
}

// Each has its own zone, and waits for retries.
test.concurrent('repeats a transfer that is older than announced until it is current', async () => {
  const id = await createServed('behind.test', 5)
  offer('behind.test', 7, 5, 4, 5, 7)
  await sendNotify(port, 'behind.test')
  await served('behind.test', 7)
  expect(sentOf('behind.test')).toEqual(['SOA 7', 'IXFR 5', 'SOA 7', 'IXFR 4', 'SOA 7', 'IXFR 5', 'SOA 7', 'IXFR 7'])
  await eventually(async () => expect(await errorsOf(id)).toBe(''), WITHIN)
})

test.concurrent('does not replace a zone by an older one, and the domain has an error message', async () => {
  const id = await createServed('stale.test', 5)
  offer('stale.test', 7, 4)
  await sendNotify(port, 'stale.test')
  await eventually(async () => expect(sentOf('stale.test').length).toBeGreaterThanOrEqual(6), WITHIN)
  expect(await errorsOf(id)).toBe('transfer from 127.0.0.1: it announced serial 7, but sent an older zone with 4; the service will retry')
  expect(await serialAt('stale.test')).toBe(5)
  expect(logged.filter((line) => line.includes('"stale.test"')).map((line) => JSON.parse(line))).toContainEqual(
    expect.objectContaining({
      message: 'zone is older than its masters announced',
      problems: [expect.stringContaining('it announced serial 7')],
    }),
  )
  offer('stale.test', 7, 6, 7)
  await served('stale.test', 7)
  await eventually(async () => expect(await errorsOf(id)).toBe(''), WITHIN)
})

test.concurrent('accepts a newer zone even if a still newer one was announced', async () => {
  const id = await createServed('between.test', 5)
  offer('between.test', 7, 6, 6, 6, 6, 6, 6, 6)
  await sendNotify(port, 'between.test')
  await served('between.test', 6)
  expect(await errorsOf(id)).toContain('it announced serial 7, but sent an older zone with 6;')
  offer('between.test', 7, 7)
  await served('between.test', 7)
})

test.concurrent('accepts the first transfer, and gets the missing changes soon', async () => {
  offer('first.test', 7, 6, 7)
  await create('first.test')
  await served('first.test', 7)
  expect(sentOf('first.test')).toEqual(['SOA 7', 'AXFR 6', 'SOA 7', 'IXFR 7'])
})

test.concurrent('asks another master immediately', async () => {
  offer('others.test', 5, 5)
  await create('others.test', ['127.0.0.1', '::ffff:127.0.0.1'])
  await served('others.test', 5)
  offer('others.test', 7, 5, 7)
  await sendNotify(port, 'others.test')
  await served('others.test', 7)
  expect(sentOf('others.test')).toEqual(['SOA 7', 'IXFR 5', 'SOA 7', 'IXFR 7'])
})

test.concurrent('requests a zone announced by NOTIFY until the master has it', async () => {
  const id = await createServed('news.test', 5)
  await sendNotify(port, 'news.test', { serial: 7 })
  const problem = 'transfer from 127.0.0.1: it announced serial 7 by NOTIFY, but its SOA still has 5; the service will retry'
  await eventually(async () => expect(await errorsOf(id)).toBe(problem), WITHIN)
  offer('news.test', 7, 7)
  await served('news.test', 7)
  await eventually(async () => expect(await errorsOf(id)).toBe(''), WITHIN)
})

test.concurrent('ignores NOTIFY with the current or an older serial', async () => {
  const id = await createServed('known.test', 5)
  for (const serial of [5, 4]) {
    const before = sentOf('known.test').length
    await sendNotify(port, 'known.test', { serial })
    await eventually(async () => expect(sentOf('known.test').length).toBeGreaterThan(before), WITHIN)
    expect(await errorsOf(id)).toBe('')
  }
  expect(new Set(sentOf('known.test').slice(1))).toEqual(new Set(['AXFR 5', 'SOA 5']))
})

test.concurrent('does not expect the serial that a previous master announced from new masters', async () => {
  const id = await createServed('former.test', 5)
  await sendNotify(port, 'former.test', { serial: 7 })
  await eventually(async () => expect(await errorsOf(id)).toContain('NOTIFY'), WITHIN)
  await client.ok('PUT', `/domains/${id}`, { master_ips: ['::ffff:127.0.0.1'] })
  await eventually(async () => expect(await errorsOf(id)).toBe(''), WITHIN)
  const before = sentOf('former.test').length
  await sleep(500)
  expect(sentOf('former.test')).toHaveLength(before)
})

describe('the time of the next request', () => {
  const claim = (behind: number): ClaimedRefresh => ({
    domainId: 1,
    accountId: 1,
    lease: '',
    domain: 'wait.test',
    masters: ['192.0.2.1'],
    notifiedBy: '192.0.2.1',
    notifiedSerial: 7,
    requests: 1,
    serial: 5,
    times: { refresh: 3600, retry: 600, expire: 604_800 },
    failures: 0,
    behind,
  })
  const answer: RefreshResult = { newer: null, served: true, behind: true, problems: ['late'] }
  const waits = (times: number, soa: readonly number[]): number[] => {
    const [refresh = 0, retry = 0] = soa
    return Array.from({ length: times }, (_, behind) => {
      const zone = { soa: { serial: 6 as SerialNumber, refresh, retry, expire: 604_800 }, records: [], outOfZone: 0, differences: null }
      const given = soa.length === 0 ? answer : { ...answer, newer: { master: '192.0.2.1', zone: zone as never } }
      return refreshOutcome(claim(behind), given, 0, () => 0).refreshAt / 1000
    })
  }

  test('doubles the waits from a second up to the retry time', () => {
    expect(waits(12, [])).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600])
    expect(waits(3, [1, 1])).toEqual([1, 2, 4])
    expect(waits(9, [120, 7200])).toEqual([1, 2, 4, 8, 16, 32, 64, 120, 120])
    expect(refreshOutcome(claim(5000), answer, 0, () => 0).refreshAt).toBe(600_000)
  })

  test('requests a serial announced by NOTIFY until the waits reach the retry time', () => {
    const pending = (behind: number): boolean => refreshOutcome(claim(behind), answer, 0, () => 0).notifyPending
    expect([0, 9, 10, 5000].map(pending)).toEqual([true, true, false, false])
  })

  test('a current zone resets the waits', () => {
    expect(refreshOutcome(claim(4), answer, 0, () => 0)).toMatchObject({ behind: 5, failures: 0, errors: 'late' })
    expect(refreshOutcome(claim(4), { ...answer, behind: false }, 0, () => 0)).toMatchObject({ behind: 0, refreshAt: 3_600_000 })
  })
})
