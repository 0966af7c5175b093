import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DomainName } from '../../../src/dns/domain-name.ts'
import { createQuery } from '../../../src/dns/wire/message.ts'
import { type NameServer, startNameServer } from '../../../src/service/nameserver/name-server.ts'
import { usagePage } from '../../../src/service/observability/usage-page.ts'
import { records } from './rich-zones.ts'
import { openTcp } from './tcp-client.ts'
import { askUdp } from './udp-client.ts'

const HOUR = 3600_000
const BEGIN = Date.parse('2026-11-23T10:20:00Z')

const ZONE = 'counted.test.' as DomainName

const zone = (lines: string, accountId = 1, name = ZONE) => ({
  name,
  serial: 1,
  accountId,
  records: records(`${name} 60 SOA . . 1 2 3 4 5\n${lines}`),
})

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
    expect(server.countedQueries(ZONE)).toMatchObject({ from: BEGIN / 1000, to: now / 1000, isIncomplete: false })

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
    expect(page('')).toEqual({
      status: 200,
      contentType: 'text/csv; charset=utf-8',
      text: `${head}counted.test.,SOA,0,\nquiet.test.,SOA,0,\n${row}`,
    })
    expect(page('zone=QUIET.test').text).toBe(`${head}quiet.test.,SOA,0,\n`)
    expect(page('zone=other.test')).toMatchObject({ status: 404 })
    expect(page(`zone=${'x'.repeat(70)}.test`)).toMatchObject({ status: 400 })
  })
})

describe('memory is bounded', () => {
  test('names that do not exist need no room; without room, the counts are incomplete until a day later', async () => {
    now = BEGIN
    const small = await start(2)
    try {
      await ask('web.counted.test.', 'A', small)
      for (let i = 0; i < 20; i += 1) await ask(`n${i}.counted.test.`, 'A', small)
      for (let i = 0; i < 20; i += 1) await ask(`n${i}.wild.counted.test.`, 'A', small)
      expect(small.countedQueries(ZONE)?.isIncomplete).toBe(false)
      await ask('www.counted.test.', 'A', small)
      expect(counted(small)).toEqual(['web.counted.test. A 1 0', '*.wild.counted.test. A 20 0'])
      expect(usagePage('', small.countedQueries).text).toContain('\n# incomplete\nname,')

      // Counters of the day before give way; cached responses that had them count again.
      now = BEGIN + 30 * HOUR
      await ask('www.counted.test.', 'A', small)
      await ask('web.counted.test.', 'A', small)
      await ask('web.counted.test.', 'A', small)
      expect(counted(small)).toEqual(['web.counted.test. A 2 30', 'www.counted.test. CNAME 1 30'])
      expect(small.countedQueries(ZONE)?.isIncomplete).toBe(false)
      // A cached response has kept no counter of another account.
      small.setZone({ ...zone(LINES, 2), serial: 2 })
      expect(counted(small)).toEqual([])
    } finally {
      await small.close()
    }
  })
})
