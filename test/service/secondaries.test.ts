import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { type Client, during, freshStore, MASTER, startForTest } from './harness.ts'
import { eventually } from './transfers/eventually.ts'
import { sendNotify } from './transfers/notify.ts'
import { answerOf, record, type Script, serving, soa } from './transfers/scripted-master.ts'
import { askService, createSlave, momentsAsked, OPTIONS, portOf, scripts, serve, timesAsked } from './transfers/zone-master.ts'

const { service, client } = await startForTest(OPTIONS)
const ask = (name: string, type = 'A', of = service) => askService(of, name, type)
const create = (domain: string, settings: object = {}, of: Client = client) => createSlave(of, domain, settings)

/** Creates a slave of a zone of the master; resolves after the service answers for it. */
async function createServed(zone: string, settings: object = {}): Promise<{ id: number }> {
  serve(zone, 1)
  const domain = await create(zone, settings)
  await eventually(async () => expect(await ask(`www.${zone}`)).toEqual(['NOERROR', '192.0.2.1']))
  return domain
}

const errorsOf = async (id: number, of: Client = client): Promise<string> => (await of.ok('GET', `/domains/${id}`)).errors

describe('a slave', () => {
  test('is transferred on creation, and served with all its records', async () => {
    scripts.set(
      'types.test.',
      serving([
        soa(7, '3600 600 604800 300', 'types.test.'),
        record('types.test.', 'NS', 'ns1.types.test.'),
        record('odd.types.test.', 'TYPE65280', '\\# 3 010203'),
        record('types.test.', 'HINFO', '"a" "b"'),
        record('\\@.types.test.', 'TXT', '"at"'),
        record('a\\.b.types.test.', 'A', '192.0.2.9', 60),
      ]),
    )
    const { id } = await create('types.test')
    await eventually(async () => expect(await ask('a\\.b.types.test')).toEqual(['NOERROR', '192.0.2.9']))
    expect(await ask('odd.types.test', 'TYPE65280')).toEqual(['NOERROR', '\\# 3 010203'])
    expect(await ask('types.test', 'HINFO')).toEqual(['NOERROR', '"a" "b"'])
    expect(await ask('\\@.types.test', 'TXT')).toEqual(['NOERROR', '"at"'])
    expect(await ask('types.test', 'SOA')).toEqual(['NOERROR', expect.stringContaining(' 7 3600 600 604800 300')])
    expect((await client.ok('GET', `/domains/${id}/zone-file`)).zone_file).toEqual([
      `; types.test [${id}]`,
      '$TTL 300',
      '@\tIN\tSOA\tns1.example.test. hostmaster.example.test. 7 3600 600 604800 300',
      '@\t300\tNS\tns1.types.test.',
      'odd\t300\tTYPE65280\t\\# 3 010203',
      '@\t300\tHINFO\t"a" "b"',
      '\\@\t300\tTXT\t"at"',
      'a\\.b\t60\tA\t192.0.2.9',
    ])
    expect(await client.ok('GET', `/domains/${id}/records`)).toMatchObject({ data: [], results: 0 })
    expect(await client.problems('POST', `/domains/${id}/records`, { type: 'A', target: '192.0.2.1' })).toEqual([
      'Records of a slave domain come from its master servers and cannot be changed here.',
    ])
    expect(await errorsOf(id)).toBe('')
  })

  test('follows NOTIFY immediately, only from its masters', async () => {
    await createServed('notify.test', { master_ips: ['127.0.0.1', '2001:db8::1'] })
    serve('notify.test', 2)
    const before = timesAsked('notify.test')
    expect(await sendNotify(portOf(service), 'notify.test', { from: '127.0.0.2' })).toBe('REFUSED')
    expect(await sendNotify(portOf(service), 'unknown.test')).toBe('NOTAUTH')
    await sleep(200)
    expect(timesAsked('notify.test')).toBe(before)
    expect(await sendNotify(portOf(service), 'NOTIFY.test')).toBe('NOERROR')
    await eventually(async () => expect(await ask('www.notify.test')).toEqual(['NOERROR', '192.0.2.2']))
  })

  test('combines many NOTIFY messages', async () => {
    await createServed('flood.test')
    const before = timesAsked('flood.test')
    const started = performance.now()
    await Promise.all(Array.from({ length: 50 }, (_, id) => sendNotify(portOf(service), 'flood.test', { id })))
    serve('flood.test', 2)
    await sendNotify(portOf(service), 'flood.test')
    await eventually(async () => expect(await ask('www.flood.test')).toEqual(['NOERROR', '192.0.2.2']))
    // At most one per 0.4 s, besides the first and those in progress.
    expect(timesAsked('flood.test') - before).toBeLessThanOrEqual(4 + (performance.now() - started) / 400)
  })

  test('uses serial number arithmetic', async () => {
    const { id } = await createServed('serial.test')
    const offer = async (serial: number, host: number): Promise<void> => {
      serve('serial.test', serial, { host })
      const before = timesAsked('serial.test')
      await sendNotify(portOf(service), 'serial.test')
      await eventually(async () => expect(timesAsked('serial.test')).toBeGreaterThan(before))
    }
    const taken = async (serial: number, host: number): Promise<void> => {
      await offer(serial, host)
      await eventually(async () => expect(await ask('www.serial.test')).toEqual(['NOERROR', `192.0.2.${host}`]))
    }
    await taken(2147483648, 10)
    await offer(2147483648, 11)
    await taken(4294967295, 12)
    await taken(5, 13)
    await offer(4, 14)
    await eventually(async () =>
      expect(await errorsOf(id)).toBe('transfer from 127.0.0.1: its serial 4 is older than 5, the last one transferred'),
    )
    expect(await ask('www.serial.test')).toEqual(['NOERROR', '192.0.2.13'])
    await taken(6, 15)
    expect(await errorsOf(id)).toBe('')
  })

  test.each<[string, Script, RegExp]>([
    ['refuses', (query, socket) => void socket.write(answerOf(query, [], { rcode: 5 })), /request was refused/],
    [
      'sends a part of the zone',
      (query, socket) => {
        if (query.questions[0]?.type === 'SOA') socket.write(answerOf(query, [soa(2, '1 1 1 1', 'hostile.test.')]))
        else socket.end(answerOf(query, [soa(2, '1 1 1 1', 'hostile.test.'), record('www.hostile.test.', 'A', '192.0.2.66')]))
      },
      /closed the connection/,
    ],
    ['sends no name servers', serving([soa(2, '1 1 1 1', 'hostile.test.'), record('www.hostile.test.', 'A', '192.0.2.66')]), /no NS/],
  ])('keeps its zone while its master %s, and reports it', async (_, script, problem) => {
    const [existing] = (await client.ok('GET', '/domains', undefined, { 'x-filter': '{"domain":"hostile.test"}' })).data
    const { id } = existing ?? (await createServed('hostile.test'))
    scripts.set('hostile.test.', script)
    await sendNotify(portOf(service), 'hostile.test')
    await eventually(async () => expect(await errorsOf(id)).toMatch(problem))
    expect(await ask('www.hostile.test')).toEqual(['NOERROR', '192.0.2.1'])
  })

  test('tries its masters in order, and new ones after a change', async () => {
    serve('turn.test', 1)
    const { id } = await create('turn.test', { master_ips: ['127.0.0.9', '0.0.0.0'] })
    await eventually(async () =>
      expect(await errorsOf(id)).toBe(
        'transfer from 127.0.0.9: cannot be reached over TCP (ECONNREFUSED)\ntransfer from 0.0.0.0: has an address that the service does not connect to',
      ),
    )
    await eventually(async () => expect((await ask('www.turn.test'))[0]).toBe('SERVFAIL'))
    await client.ok('PUT', `/domains/${id}`, { type: 'slave', master_ips: ['127.0.0.9', '127.0.0.1'] })
    await eventually(async () => expect(await ask('www.turn.test')).toEqual(['NOERROR', '192.0.2.1']))
    expect(await errorsOf(id)).toBe('transfer from 127.0.0.9: cannot be reached over TCP (ECONNREFUSED)')
  })

  test('with a long list of unresponsive masters fails after a time limit', { tags: ['long'] }, async () => {
    scripts.set('silent.test.', () => {})
    // One address in sixteen spellings.
    const letters = (i: number) => [8, 4, 2, 1].map((bit) => (i & bit ? 'F' : 'f')).join('')
    const { id } = await create('silent.test', { master_ips: Array.from({ length: 16 }, (_, i) => `::${letters(i)}:127.0.0.1`) })
    await eventually(async () => expect(await errorsOf(id)).toContain('ended before'))
    expect(timesAsked('silent.test')).toBeLessThan(8)
  })

  test('is neither served nor refreshed while disabled', async () => {
    const { id } = await createServed('status.test')
    await client.ok('PUT', `/domains/${id}`, { status: 'disabled' })
    await eventually(async () => expect((await ask('www.status.test'))[0]).toBe('REFUSED'))
    const before = timesAsked('status.test')
    serve('status.test', 2)
    expect(await sendNotify(portOf(service), 'status.test')).toBe('NOTAUTH')
    await sleep(200)
    expect(timesAsked('status.test')).toBe(before)
    await client.ok('PUT', `/domains/${id}`, { status: 'active' })
    await eventually(async () => expect(await ask('www.status.test')).toEqual(['NOERROR', '192.0.2.2']))
  })

  test('becomes another zone if it is renamed', async () => {
    const { id } = await createServed('former.test')
    serve('latter.test', 9)
    await client.ok('PUT', `/domains/${id}`, { domain: 'latter.test' })
    await eventually(async () => expect(await ask('www.latter.test')).toEqual(['NOERROR', '192.0.2.9']))
    expect((await ask('www.former.test'))[0]).toBe('REFUSED')
    await client.ok('DELETE', `/domains/${id}`)
    await eventually(async () => expect((await ask('www.latter.test'))[0]).toBe('REFUSED'))
  })

  test('without data gets SERVFAIL, never NXDOMAIN', async () => {
    const above = await client.ok('POST', '/domains', { ...MASTER, domain: 'above.test' })
    await eventually(async () => expect(await ask('www.below.above.test')).toEqual(['NXDOMAIN']))
    scripts.set('below.above.test.', (_, socket) => void socket.end())
    const { id } = await create('below.above.test')
    await eventually(async () => expect(await ask('www.below.above.test')).toEqual(['SERVFAIL']))
    expect(await ask('below.above.test', 'DS')).toEqual(['NXDOMAIN'])
    await client.ok('PUT', `/domains/${id}`, { status: 'disabled' })
    await eventually(async () => expect(await ask('www.below.above.test')).toEqual(['NXDOMAIN']))
    await client.ok('DELETE', `/domains/${above.id}`)
    await client.ok('PUT', `/domains/${id}`, { status: 'active' })
    await eventually(async () => expect(await ask('www.below.above.test')).toEqual(['SERVFAIL']))
    expect(await ask('www.above.test')).toEqual(['REFUSED'])
    await client.ok('DELETE', `/domains/${id}`)
    await eventually(async () => expect(await ask('www.below.above.test')).toEqual(['REFUSED']))
  })

  test('requests the new zone from its masters if it is cloned', async () => {
    const { id } = await createServed('source.test', { axfr_ips: ['192.0.2.1'] })
    serve('clone.test', 3)
    const clone = await client.ok('POST', `/domains/${id}/clone`, { domain: 'clone.test' })
    expect(clone).toMatchObject({ type: 'slave', status: 'active', master_ips: ['127.0.0.1'], axfr_ips: ['192.0.2.1'] })
    await eventually(async () => expect(await ask('www.clone.test')).toEqual(['NOERROR', '192.0.2.3']))
  })

  test('can be transferred by allowed clients, with the serial of its master', async () => {
    await createServed('chain.test', { axfr_ips: ['127.0.0.1'] })
    const second = await startForTest({ ...OPTIONS, peerPort: portOf(service) })
    await create('chain.test', {}, second.client)
    await eventually(async () => expect(await ask('www.chain.test', 'A', second.service)).toEqual(['NOERROR', '192.0.2.1']))
    serve('chain.test', 5)
    await sendNotify(portOf(service), 'chain.test')
    await eventually(async () => expect(await ask('www.chain.test')).toEqual(['NOERROR', '192.0.2.5']))
    await sendNotify(portOf(second.service), 'chain.test')
    await eventually(async () => expect(await ask('chain.test', 'SOA', second.service)).toEqual(await ask('chain.test', 'SOA')))
  })
})

describe('with a clock', () => {
  // One second is five minutes: the smallest refresh is a fifth of a second.
  const fast = { ...OPTIONS, clockSpeed: 300 }

  test('that is set back, due refreshes are not delayed; a zone expires without its master, and recovers', async () => {
    let ahead = 30 * 86_400_000
    const { service: early, client: caller } = await startForTest({ ...OPTIONS, clock: () => Date.now() + ahead })
    const answers = (zone: string, serial: number) =>
      eventually(async () => expect(await ask(`www.${zone}`, 'A', early)).toEqual(['NOERROR', `192.0.2.${serial}`]))
    serve('back.test', 1)
    await create('back.test', {}, caller)
    await answers('back.test', 1)
    ahead = 0
    serve('back.test', 2)
    // A new zone wakes the transfers.
    serve('expired.test', 1)
    const { id } = await create('expired.test', {}, caller)
    await answers('back.test', 2)
    await answers('expired.test', 1)
    // It does not expire while its master responds. Its SOA record has 604,800 seconds.
    for (const days of [5, 10]) {
      ahead = days * 86_400_000
      await sendNotify(portOf(early), 'expired.test')
      const before = timesAsked('expired.test')
      await eventually(async () => expect(timesAsked('expired.test')).toBeGreaterThan(before))
      await answers('expired.test', 1)
    }
    scripts.set('expired.test.', (_, socket) => void socket.end())
    ahead = 18 * 86_400_000
    await create('other.test', {}, caller)
    await eventually(async () => expect((await ask('www.expired.test', 'A', early))[0]).toBe('SERVFAIL'))
    expect((await caller.ok('GET', `/domains/${id}/zone-file`)).zone_file).toEqual([])
    serve('expired.test', 1)
    await sendNotify(portOf(early), 'expired.test')
    await answers('expired.test', 1)
    await eventually(async () => expect(await errorsOf(id, caller)).toBe(''))
  })

  test('a zone that was never transferred is retried with growing waits', async () => {
    const { client: caller } = await startForTest(fast)
    scripts.set('never.test.', (_, socket) => void socket.end())
    await create('never.test', {}, caller)
    await eventually(async () => expect(timesAsked('never.test')).toBeGreaterThanOrEqual(5), 20_000)
    // 15, 30, 60, 120 seconds of the service's clock, which is 300 times as fast; each may be shorter by a tenth.
    for (const [i, least] of [45, 90, 180, 360].entries()) {
      const [from = 0, to = 0] = momentsAsked('never.test').slice(i, i + 2)
      expect(to - from).toBeGreaterThan(least - 2)
    }
  })
})

test('a transferred zone is served after a restart without its masters', async () => {
  const options = { ...(await freshStore()), ...OPTIONS }
  serve('restart.test', 1)
  const id = await during(options, async (caller, first) => {
    const domain = await create('restart.test', {}, caller)
    await eventually(async () => expect(await ask('www.restart.test', 'A', first)).toEqual(['NOERROR', '192.0.2.1']))
    return domain.id
  })
  scripts.delete('restart.test.')
  const before = timesAsked('restart.test')
  await during(options, async (caller, second) => {
    expect(await ask('www.restart.test', 'A', second)).toEqual(['NOERROR', '192.0.2.1'])
    // Missed changes are requested immediately.
    await eventually(async () => expect(timesAsked('restart.test')).toBeGreaterThan(before))
    await eventually(async () => expect(await errorsOf(id, caller)).toMatch(/no complete message/))
  })
})

test('with public peers only, NOTIFY from a non-public master is refused', async () => {
  const { service: strict, client: caller } = await startForTest({ ...OPTIONS, publicPeersOnly: true })
  const { id } = await create('strict.test', {}, caller)
  await eventually(async () => expect(await errorsOf(id, caller)).toContain('has an address that the service does not connect to'))
  expect(await sendNotify(portOf(strict), 'strict.test')).toBe('REFUSED')
})
