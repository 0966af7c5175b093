/** IXFR out: the stored history of zones, and the differences sent from it. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DomainName } from '../../../src/dns/domain-name.ts'
import { CLASS, createQuery, type WireRecord } from '../../../src/dns/wire/message.ts'
import { startService } from '../../../src/service/index.ts'
import { createZoneHistory, fullZoneRecords, HISTORY_LIMITS, type ZoneDifference } from '../../../src/service/nameserver/answer-transfer.ts'
import { type NameServer, startNameServer } from '../../../src/service/nameserver/name-server.ts'
import { buildZoneData, type ServedRecord, type ZoneData } from '../../../src/service/nameserver/zone-data.ts'
import { formatTransferredZone } from '../../../src/service/zone/render-zone.ts'
import { fc } from '../../support/fast-check.ts'
import { rounds } from '../../support/random.ts'
import { connect, freshStore, LOOPBACK } from '../harness.ts'
import { records } from './rich-zones.ts'
import { openTcp } from './tcp-client.ts'
import { askUdp } from './udp-client.ts'

const ZONE = 'example.test.' as DomainName
const soaLine = (serial: number): string => `example.test. 60 SOA ns.example.test. h.example.test. ${serial} 1 1 1 1`
const recordsOf = (serial: number, lines: readonly string[]): ServedRecord[] =>
  records([soaLine(serial), 'example.test. 60 NS ns.example.test.', ...lines].join('\n'))
const zone = (serial: number, lines: readonly string[]): ZoneData => buildZoneData(ZONE, serial, recordsOf(serial, lines))
const hosts = (count: number, prefix = 'h'): string[] =>
  Array.from({ length: count }, (_, i) => `${prefix}${i}.example.test. 60 A 192.0.2.${i % 256}`)

/** The records of a transferred zone without its SOA. */
const linesOf = (data: ZoneData): string[] =>
  [...fullZoneRecords(data)].slice(1, -1).map(([name, rrset, i]) => `${name} ${rrset.ttl} ${rrset.type} ${rrset.data[i]}`)

/** A secondary that applies a difference strictly. */
function apply(data: ZoneData, { removed, added }: ZoneDifference): string[] {
  const held = new Set(linesOf(data))
  for (const [list, change] of [
    [removed, 'delete'],
    [added, 'add'],
  ] as const) {
    for (const { name, rrset } of list) {
      for (const text of rrset.data) {
        const line = `${name} ${rrset.ttl} ${rrset.type} ${text}`
        expect({ change, line, held: held.has(line) }).toEqual({ change, line, held: change === 'delete' })
        held[change](line)
      }
    }
  }
  return [...held].sort()
}

describe('a history', () => {
  test('does not keep the text of the compared versions in memory', () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const others = Array.from({ length: 600 }, (_, i) => `t${i}.example.test. 60 TXT "${'x'.repeat(200)}"`)
    const base = recordsOf(1, others)
    const version = (serial: number): ZoneData => {
      const text = formatTransferredZone(ZONE, 1, [
        ...recordsOf(serial, [`changed.example.test. 60 TXT "the version number ${serial}"`]),
        ...base.slice(1),
      ])
      return buildZoneData(ZONE, serial, text)
    }
    const history = createZoneHistory(HISTORY_LIMITS)
    let existing = version(1)
    collect()
    const before = process.memoryUsage().heapUsed
    for (let serial = 2; serial <= 40; serial += 1) {
      const next = version(serial)
      history.record(existing, next)
      existing = next
    }
    collect()
    // The texts have a total of 5 MB.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(3_000_000)
    expect(history.since(existing, 1)?.added).toHaveLength(1)
  })

  const line = fc.tuple(
    fc.constantFrom('', 'a.', 'b.', 'c.b.', '*.'),
    fc.constantFrom(60, 300),
    fc.constantFrom('A 192.0.2.1', 'A 192.0.2.2', 'A 192.0.2.3', 'TXT "x"', 'TXT "y"', 'MX 1 m.example.net.', 'NS ns.example.net.'),
  )
  const version = fc.array(
    line.map(([owner, ttl, rest]) => `${owner}example.test. ${ttl} ${rest}`),
    { maxLength: 25 },
  )

  test('contains the difference from any version to the last one', () => {
    let given = 0
    fc.assert(
      fc.property(fc.array(version, { minLength: 2, maxLength: 6 }), (versions) => {
        const zones = versions.map((lines, i) => zone(i + 1, [...hosts(60), ...lines]))
        const history = createZoneHistory(HISTORY_LIMITS)
        for (const [i, data] of zones.entries()) if (i > 0) history.record(zones[i - 1] as ZoneData, data)
        const last = zones.at(-1) as ZoneData
        for (const data of zones.slice(0, -1)) {
          const difference = history.since(last, data.serial)
          if (difference === null) continue
          given += 1
          expect(apply(data, difference)).toEqual(linesOf(last).sort())
          expect(difference.from.data[0]).toBe(`ns.example.test. h.example.test. ${data.serial} 1 1 1 1`)
        }
      }),
      { numRuns: rounds(300) },
    )
    expect(given).toBeGreaterThan(rounds(180))
  })

  const chain = (count: number, limits: Partial<typeof HISTORY_LIMITS> = {}) => {
    const history = createZoneHistory({ ...HISTORY_LIMITS, ...limits })
    const zones = Array.from({ length: count }, (_, i) => zone(i + 1, [...hosts(40), `v.example.test. 60 TXT "${i}"`]))
    for (const [i, data] of zones.entries()) if (i > 0) history.record(zones[i - 1] as ZoneData, data)
    const last = zones.at(-1) as ZoneData
    return { history, known: zones.filter(({ serial }) => history.since(last, serial) !== null).map(({ serial }) => serial), last }
  }

  test('keeps the latest differences of a zone up to the limit', () => {
    expect(chain(10).known).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(chain(10, { differences: 3 }).known).toEqual([7, 8, 9])
    // One takes about 350 octets.
    expect(chain(10, { zoneOctets: 900 }).known).toEqual([8, 9])
    expect(chain(10, { octets: 900 }).known).toEqual([8, 9])
    expect(chain(10, { zoneOctets: 100 }).known).toEqual([])
  })

  test('is limited over all zones and drops the oldest difference first', () => {
    const history = createZoneHistory({ ...HISTORY_LIMITS, octets: 2000 })
    const named = (name: string, serial: number): ZoneData =>
      buildZoneData(
        name as DomainName,
        serial,
        records([soaLine(serial), ...hosts(40), `v.example.test. 60 TXT "${serial}"`].join('\n').replaceAll('example.test.', name)),
      )
    const names = Array.from({ length: 10 }, (_, i) => `zone${i}.test.`)
    for (const name of names) history.record(named(name, 1), named(name, 2))
    const known = names.filter((name) => history.since(named(name, 2), 1) !== null)
    expect(known).toEqual(names.slice(-known.length))
    expect(known.length).toBeGreaterThan(2)
    expect(known.length).toBeLessThan(8)
  })

  test('is cleared if a serial goes back or is reused, or the zone is removed', () => {
    for (const serial of [5, 3, 5 + 2 ** 31]) {
      const { history, last } = chain(5)
      history.record(last, zone(serial, hosts(30)))
      expect(history.since(last, 4)).toBeNull()
    }
    const { history, last } = chain(5)
    history.record(last, zone(5, [...hosts(40), 'v.example.test. 60 TXT "4"']))
    expect(history.since(last, 4)).not.toBeNull()
    history.forget(ZONE)
    expect(history.since(last, 4)).toBeNull()
  })

  test('returns no difference as large as the zone', () => {
    const history = createZoneHistory(HISTORY_LIMITS)
    const [first, second] = [zone(1, hosts(20)), zone(2, hosts(20, 'other'))]
    history.record(first, second)
    expect(history.since(second, 1)).toBeNull()
  })

  test('does not condense more records than the response or the zone can have', () => {
    const { history, last } = chain(10)
    // 9 steps that remove a record and add one.
    expect(history.since(last, 1, 18)).not.toBeNull()
    expect(history.since(last, 1, 17)).toBeNull()
    expect(history.since(last, 2, 17)).not.toBeNull()
    const versions = Array.from({ length: 30 }, (_, i) =>
      zone(
        i + 1,
        hosts(200).map((line) => line.replace(' 60 ', ` ${60 + (i % 2)} `)),
      ),
    )
    const large = createZoneHistory(HISTORY_LIMITS)
    for (const [i, data] of versions.entries()) if (i > 0) large.record(versions[i - 1] as ZoneData, data)
    // Two steps cancel out; 28 steps have 11200 records, which are not counted to find that out.
    expect(large.since(versions[29] as ZoneData, 28)?.added).toEqual([])
    expect(large.since(versions[29] as ZoneData, 2)).toBeNull()
  })
})

type Protocol = 'tcp' | 'udp'

/** The records of the response to IXFR from a serial, with all its messages. */
async function requestChanges(port: number, zone: DomainName, serial: number, protocol: Protocol): Promise<WireRecord[]> {
  const soa = { name: zone, type: 'SOA', class: CLASS.IN, ttl: 0, data: `. . ${serial} 0 0 0 0` }
  const query = { ...createQuery(8, { name: zone, type: 'IXFR' }), authorities: [soa] }
  if (protocol === 'udp') return [...(await askUdp(port, query)).answers]
  const client = await openTcp(port)
  // The response to the second query follows the last message of the first.
  client.send(query, createQuery(9, { name: zone, type: 'SOA' }))
  const records: WireRecord[] = []
  for (let message = await client.message(); message.id === 8; message = await client.message()) records.push(...message.answers)
  client.socket.destroy()
  return records
}

const servers: NameServer[] = []
afterAll(() => Promise.all(servers.map((server) => server.close())))

describe('IXFR', async () => {
  const server = await startNameServer({ host: '127.0.0.1', port: 0, peerPort: 1, limits: { responsesPerSecond: 0 } })
  servers.push(server)
  const { port } = server.address
  const serve = (serial: number, lines: readonly string[]): void =>
    server.setZone({ name: ZONE, serial, records: recordsOf(serial, lines), axfrIps: ['127.0.0.1'] })
  serve(1, hosts(200))
  serve(2, hosts(199))
  serve(3, [...hosts(199), 'new.example.test. 60 A 192.0.2.99'])
  serve(4, [...hosts(199), 'new.example.test. 300 A 192.0.2.99'])

  const answer = async (serial: number, protocol: Protocol, zone = ZONE): Promise<string[]> =>
    (await requestChanges(port, zone, serial, protocol)).map(({ name, ttl, type, data }) =>
      type === 'SOA' ? `SOA ${data?.split(' ')[2]}` : `${name} ${ttl} ${data}`,
    )

  test.each(['tcp', 'udp'] as const)('sends the condensed changes since a serial over %s', async (protocol) => {
    const news = ['SOA 4', 'new.example.test. 300 192.0.2.99', 'SOA 4']
    expect(await answer(3, protocol)).toEqual(['SOA 4', 'SOA 3', 'new.example.test. 60 192.0.2.99', ...news])
    expect(await answer(1, protocol)).toEqual(['SOA 4', 'SOA 1', 'h199.example.test. 60 192.0.2.199', ...news])
    expect(await answer(4, protocol)).toEqual(['SOA 4'])
    expect(await answer(5, protocol)).toEqual(['SOA 4'])
  })

  test('sends the full zone for an unknown serial, and only the SOA over UDP', async () => {
    expect(await answer(0, 'tcp')).toHaveLength(200 + 3)
    expect(await answer(0, 'udp')).toEqual(['SOA 4'])
  })

  test("reveals nothing about another account's earlier zone with the same name", async () => {
    const served = (serial: number, accountId: number): void =>
      server.setZone({
        name: 'other.test.' as DomainName,
        serial,
        accountId,
        axfrIps: ['127.0.0.1'],
        records: records(
          [soaLine(serial), ...hosts(20), ...(accountId === 1 ? ['secret.example.test. 60 A 192.0.2.1'] : [])]
            .join('\n')
            .replaceAll('example.test.', 'other.test.'),
        ),
      })
    served(1, 1)
    served(2, 1)
    served(3, 2)
    for (const serial of [1, 2]) {
      const given = await answer(serial, 'tcp', 'other.test.' as DomainName)
      expect(given.filter((line) => line.includes('secret'))).toEqual([])
      expect(given).toHaveLength(20 + 2)
    }
  })

  describe('a large difference', () => {
    beforeAll(() => serve(5, [...hosts(199), ...hosts(100, 'more').map((line) => line.replace(/ A .*/, ` TXT "${'x'.repeat(250)}"`))]))

    test('is sent in several messages, and only the SOA over UDP', async () => {
      expect(await answer(4, 'udp')).toEqual(['SOA 5'])
      expect(await answer(4, 'tcp')).toHaveLength(4 + 1 + 100)
    })
  })
})

test('after a restart the first difference starts with the version served before', async () => {
  const store = await freshStore()
  const start = () => startService({ ...store, listen: LOOPBACK, dns: LOOPBACK, peerPort: 1, bootstrapToken: 'token' })
  const serialOf = async (port: number): Promise<number> =>
    Number((await askUdp(port, createQuery(1, { name: ZONE, type: 'SOA' }))).answers[0]?.data?.split(' ')[2])
  const first = await start()
  const session = connect(first.baseUrl, 'token')
  const settings = { domain: 'example.test', type: 'master', soa_email: 'hostmaster@example.test', axfr_ips: ['127.0.0.1'] }
  const { id } = await session.client.ok('POST', '/domains', settings)
  for (let i = 0; i < 20; i += 1)
    await session.client.ok('POST', `/domains/${id}/records`, { type: 'A', name: `h${i}`, target: '192.0.2.1' })
  await first.flush()
  const serial = await serialOf(first.dnsAddress?.port ?? 0)
  await session.close()
  await first.stop()
  const second = await start()
  try {
    const again = connect(second.baseUrl, 'token')
    await again.client.ok('POST', `/domains/${id}/records`, { type: 'A', name: 'later', target: '192.0.2.2' })
    await second.flush()
    const changes = await requestChanges(second.dnsAddress?.port ?? 0, ZONE, serial, 'tcp')
    expect(changes.filter(({ type }) => type === 'A').map(({ name }) => name)).toEqual(['later.example.test.'])
    await again.close()
  } finally {
    await second.stop()
  }
})
