import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DomainName } from '../../../src/dns/domain-name.ts'
import { createQuery } from '../../../src/dns/wire/message.ts'
import { emptyAnswer } from '../../../src/service/nameserver/answer.ts'
import { type NameServer, startNameServer } from '../../../src/service/nameserver/name-server.ts'
import {
  createQueryCounts,
  readSavedCounts,
  removeSavedCounts,
  type SavedCounts,
  saveCounts,
} from '../../../src/service/nameserver/query-counts.ts'
import type { ZoneData } from '../../../src/service/nameserver/zone-data.ts'
import { usagePage } from '../../../src/service/observability/observability.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'
import { records } from './rich-zones.ts'
import { openTcp } from './tcp-client.ts'
import { askUdp } from './udp-client.ts'

const HOUR = 3600_000
const BEGIN = Date.parse('2026-11-23T10:20:00Z')
const ZONE = 'counted.test.' as DomainName

const zone = (lines: string, accountId = 1, name = ZONE) => {
  return { name, serial: 1, accountId, records: records(`${name} 60 SOA . . 1 2 3 4 5\n${lines}`) }
}

const LINES = `www.counted.test. 60 CNAME web.counted.test.
web.counted.test. 60 A 192.0.2.1
web.counted.test. 60 TXT "text"
*.wild.counted.test. 60 A 192.0.2.2
sub.counted.test. 60 NS ns.sub.counted.test.
ns.sub.counted.test. 60 A 192.0.2.3
d.counted.test. 60 DNAME elsewhere.test.
a,b.counted.test. 60 A 192.0.2.4`

let now = BEGIN
let server: NameServer

const start = async (countedRrsets: number, cacheOctets = 1024 * 1024): Promise<NameServer> => {
  const limits = { responsesPerSecond: 0, countedRrsets, cacheOctets }
  const started = await startNameServer({ host: '127.0.0.1', port: 0, limits, peerPort: 1, clock: () => now })
  started.setZone(zone(LINES))
  return started
}

const ask = (name: string, type = 'A', of = server) => askUdp(of.address.port, createQuery(7, { name: name as DomainName, type }))

const counted = (of = server): string[] =>
  (of.countedQueries(ZONE)?.counts ?? []).map(
    ({ name, type, count, lastAsked }) => `${name} ${type} ${count} ${(lastAsked * 1000 - BEGIN) / HOUR}`,
  )

describe('the name server counts queries by the record set that gives the answer', () => {
  beforeAll(async () => {
    now = BEGIN
    server = await start(100)
  })
  afterAll(() => server.close())

  test('with and without the response cache, over UDP and TCP, for a day', async () => {
    for (let i = 0; i < 3; i += 1) await ask('web.counted.test.')
    await ask('WEB.counted.test.')
    await ask('www.counted.test.', 'AAAA')
    await ask('x.wild.counted.test.')
    await ask('y.wild.counted.test.')
    await ask('host.sub.counted.test.')
    await ask('x.d.counted.test.', 'MX')
    await ask('web.counted.test.', 'ANY')
    // No record set gives these answers.
    await ask('web.counted.test.', 'AAAA')
    await ask('nothing.counted.test.')
    await ask('wild.counted.test.')
    const first = ['d.counted.test. DNAME 1 0', 'sub.counted.test. NS 1 0', 'web.counted.test. A 4 0', 'web.counted.test. ANY 1 0']
    expect(counted()).toEqual([...first, '*.wild.counted.test. A 2 0', 'www.counted.test. CNAME 1 0'])

    now = BEGIN + 5 * HOUR
    const tcp = await openTcp(server.address.port)
    tcp.send(createQuery(8, { name: 'web.counted.test.' as DomainName, type: 'A' }))
    await tcp.message()
    tcp.socket.destroy()
    expect(counted()).toContain('web.counted.test. A 5 5')
    expect(server.countedQueries(ZONE)).toMatchObject({ from: BEGIN / 1000, to: now / 1000, incomplete: [] })

    // The first four queries were in the hour from 10:00, which ends to count at 11:00 of the next day.
    now = Date.parse('2026-11-24T10:59:59Z')
    expect(counted()).toContain('web.counted.test. A 5 5')
    now = Date.parse('2026-11-24T11:00:00Z')
    expect(counted()).toEqual(['web.counted.test. A 1 5'])
    expect(server.countedQueries(ZONE)?.from).toBe(Date.parse('2026-11-23T11:00:00Z') / 1000)
    now = BEGIN + 60 * HOUR
    expect(counted()).toEqual([])
    await ask('web.counted.test.')
    expect(counted()).toEqual(['web.counted.test. A 1 60'])
  })

  test('a change of the zone keeps the counts, another account does not get them', async () => {
    await ask('web.counted.test.', 'TXT')
    server.setZone({ ...zone('web.counted.test. 60 A 192.0.2.9'), serial: 2 })
    expect(counted()).toContain('web.counted.test. TXT 1 60')
    server.removeZone(ZONE)
    expect(server.countedQueries(ZONE)).toBeNull()
    server.setZone({ ...zone(LINES), serial: 3 })
    expect(counted()).toContain('web.counted.test. TXT 1 60')
    server.removeZone(ZONE)
    server.setZone({ ...zone(LINES, 2), serial: 4 })
    expect(counted()).toEqual([])
  })

  test('the page has a row for each zone without queries, and quotes names', async () => {
    await ask('a,b.counted.test.')
    server.setZone(zone('', 1, 'quiet.test.' as DomainName))
    const page = (query: string) => usagePage(query, server.countedQueries)
    const head = '# from 2026-11-24T22:00:00Z to 2026-11-25T22:20:00Z\nname,type,count,last_asked\n'
    const row = '"a,b.counted.test.",A,1,2026-11-25T22:20:00Z\n'
    const text = `${head}counted.test.,SOA,0,\nquiet.test.,SOA,0,\n${row}`
    expect(page('')).toEqual({ status: 200, contentType: 'text/csv; charset=utf-8', text })
    expect(page('zone=QUIET.test').text).toBe(`${head}quiet.test.,SOA,0,\n`)
    expect(page('zone=other.test')).toMatchObject({ status: 404 })
    expect(page(`zone=${'x'.repeat(70)}.test`)).toMatchObject({ status: 400 })
  })
})

describe('a server that continues the counts of an earlier one', () => {
  const NOW = Date.parse('2026-11-24T09:59:00Z') / 1000
  const DAY_HOURS = 25
  const hours = (...counts: number[]): number[] => [...counts, ...Array.from({ length: DAY_HOURS - counts.length }, () => 0)]
  const asked = { name: 'web.counted.test.' as DomainName, type: 'A', count: 1, lastAsked: NOW - 60 }
  const savedAt = (to: number): SavedCounts => {
    const counts = createQueryCounts(10, () => to * 1000, {
      from: to - 80_000,
      to,
      zones: [
        {
          zone: ZONE,
          accountId: 1,
          refusedAt: null,
          rrsets: [
            [asked.name, 'A', asked.lastAsked, Math.floor(asked.lastAsked / 3600), hours(1)],
            [asked.name, 'TXT', to - 200_000, Math.floor(to / 3600) - 60, hours(1)],
            [asked.name, 'MX', to, Math.floor(to / 3600), [1]],
          ],
        },
      ],
    })
    const saved = counts.save()
    counts.close()
    return JSON.parse(JSON.stringify(saved)) as SavedCounts
  }
  const readAt = (now: number, saved: SavedCounts, accountId = 1) => {
    const counts = createQueryCounts(10, () => now * 1000, saved)
    counts.addZone(ZONE, accountId)
    counts.close()
    const { from, incomplete, counts: rows } = counts.read([ZONE])
    return { begin: from - NOW, incomplete, rows }
  }

  test('has its window after a short pause; after a longer one, only what was queried', () => {
    const saved = savedAt(NOW)
    expect(readAt(NOW + 600, saved)).toEqual({ begin: -80_000, incomplete: [], rows: [asked] })
    expect(readAt(NOW + 601, saved)).toEqual({ begin: 601, incomplete: [], rows: [asked] })
    // A clock that was set back.
    expect(readAt(NOW - 5000, saved).begin).toBe(-5000)
    expect(readAt(NOW + 100_000, saved).rows).toEqual([])
    expect(readAt(NOW, { ...saved, zones: saved.zones.map((one) => ({ ...one, refusedAt: NOW - 5 })) }).incomplete).toEqual([ZONE])
  })

  test('does not start with a damaged file, nor after a failed write', () => {
    const folder = temporaryDirectory()
    const errors: unknown[] = []
    const read = () => readSavedCounts(folder, (error) => errors.push(error))
    expect(read()).toBeNull()
    saveCounts(folder, savedAt(NOW), (error) => errors.push(error))
    expect(read()).toEqual(savedAt(NOW))
    removeSavedCounts(folder)
    expect(read()).toBeNull()
    expect(errors).toEqual([])
    const zone = { zone: ZONE, accountId: 1, refusedAt: null, rrsets: [['a.', 'A', 1, 1, [-1]]] }
    for (const text of ['', '{"from":', 'null', '{}', JSON.stringify({ from: 1, to: 1, zones: [zone] })]) {
      writeFileSync(join(folder, 'query-counts.json'), text)
      expect(read()).toBeNull()
    }
    expect(errors).toHaveLength(5)
    saveCounts(join(folder, 'missing'), savedAt(NOW), (error) => errors.push(error))
    expect(errors).toHaveLength(6)
  })

  test('gives nothing to another account of the zone', () => expect(readAt(NOW, savedAt(NOW), 2).rows).toEqual([]))
})

describe('memory is bounded', () => {
  test('names that do not exist need no room; without room, the counts are incomplete until a day later', async () => {
    now = BEGIN
    const small = await start(2)
    try {
      await ask('web.counted.test.', 'A', small)
      for (let i = 0; i < 20; i += 1) await ask(`n${i}.counted.test.`, 'A', small)
      for (let i = 0; i < 20; i += 1) await ask(`n${i}.wild.counted.test.`, 'A', small)
      expect(small.countedQueries(ZONE)?.incomplete).toEqual([])
      await ask('www.counted.test.', 'A', small)
      expect(counted(small)).toEqual(['web.counted.test. A 1 0', '*.wild.counted.test. A 20 0'])
      expect(usagePage('', small.countedQueries).text).toContain('\n# incomplete counted.test.\nname,')

      // Counters of the day before give way; cached responses that had them count again.
      now = BEGIN + 30 * HOUR
      await ask('www.counted.test.', 'A', small)
      await ask('web.counted.test.', 'A', small)
      await ask('web.counted.test.', 'A', small)
      expect(counted(small)).toEqual(['web.counted.test. A 2 30', 'www.counted.test. CNAME 1 30'])
      expect(small.countedQueries(ZONE)?.incomplete).toEqual([])
      // A cached response has kept no counter of another account.
      small.setZone({ ...zone(LINES, 2), serial: 2 })
      expect(counted(small)).toEqual([])
    } finally {
      await small.close()
    }
  })
  test('a zone with very many names gives way to others, and only its own counts are incomplete', () => {
    let time = BEGIN
    const counts = createQueryCounts(6, () => time)
    const [big, small] = ['big.test.', 'small.test.'] as DomainName[] as [DomainName, DomainName]
    for (const one of [big, small]) counts.addZone(one, 1)
    const add = (of: DomainName, label: string) => {
      const rrset = { name: of, rrset: { type: 'A', code: 1, ttl: 60, data: [], octets: null } }
      const found = { ...emptyAnswer(0), source: `${label}.${of}` as DomainName, authoritative: true, answers: [rrset] }
      return counts.add({ ...found, zones: [{ name: of }] as unknown as ZoneData[] }, 1)
    }
    const names = (of: DomainName) => counts.read([of]).counts.map(({ name }) => name.split('.')[0])
    const first = add(big, 'n0')
    for (let i = 1; i < 10; i += 1) add(big, `n${i}`)
    expect(names(big)).toEqual(['n0', 'n1', 'n2', 'n3', 'n4', 'n5'])
    for (const label of ['a', 'b']) add(small, label)
    expect(names(small)).toEqual(['a', 'b'])
    expect(names(big)).toEqual(['n2', 'n3', 'n4', 'n5'])
    // A cached response that had a counter takes no room from the smaller zone.
    if (first) counts.again(first)
    time += 1000
    expect([names(big), names(small)]).toEqual([
      ['n2', 'n3', 'n4', 'n5'],
      ['a', 'b'],
    ])
    expect(counts.read([big, small]).incomplete).toEqual([big])
    // The zones have as much room as each other.
    for (const label of ['c', 'd', 'e']) add(small, label)
    expect([names(big), names(small)]).toEqual([
      ['n3', 'n4', 'n5'],
      ['a', 'b', 'c'],
    ])
    expect(counts.read([small]).incomplete).toEqual([small])
    counts.close()
  })
})
