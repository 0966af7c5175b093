import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import type { DomainName } from '../../../src/dns/domain-name.ts'
import { decodeMessage } from '../../../src/dns/wire/decode-message.ts'
import { encodeMessage } from '../../../src/dns/wire/encode-message.ts'
import { createQuery, type Message, rcodeName } from '../../../src/dns/wire/message.ts'
import { type NameServer, type NameServerOptions, startNameServer } from '../../../src/service/nameserver/name-server.ts'
import type { NotifyOutcome } from '../../../src/service/nameserver/notifier.ts'
import type { OnNotify } from '../../../src/service/nameserver/respond.ts'
import { freePort } from '../../support/free-port.ts'
import { records } from './rich-zones.ts'
import { openTcp } from './tcp-client.ts'
import { askUdp, handledAll } from './udp-client.ts'

const ZONE = 'example.test.' as DomainName

const zone = (serial: number, axfrIps: readonly string[] = ['127.0.0.1'], name = ZONE) => ({
  name,
  serial,
  axfrIps,
  records: records(`${name} 60 SOA ns.example.test. h.example.test. ${serial} 1 1 1 1\n${name} 60 NS ns.example.test.`),
})

type Received = { readonly message: Message; readonly peer: RemoteInfo; readonly at: number }
type Secondary = { readonly port: number; readonly received: Received[]; readonly socket: Socket }
const closers: (() => unknown)[] = []

afterEach(async () => {
  while (closers.length > 0) await closers.pop()?.()
})

/** A fake secondary; `answer` returns its response. */
async function startSecondary(answer: (of: Received) => Message[] = () => [], address = '127.0.0.1', port = 0): Promise<Secondary> {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4')
  const received: Received[] = []
  socket.on('message', (octets, peer) => {
    const message = decodeMessage(octets)
    if (!message.ok) throw new Error(message.message)
    const one = { message: message.value, peer, at: performance.now() }
    received.push(one)
    for (const reply of answer(one)) socket.send(encodeMessage(reply), peer.port, peer.address)
  })
  socket.bind(port, address)
  await once(socket, 'listening')
  closers.push(() => socket.close())
  return { port: socket.address().port, received, socket }
}

/** Milliseconds to wait for a response: enough for a real one, short for a missing one. */
const PATIENT = [20_000, 20_000, 20_000]
const HASTY = [10, 10, 10]

async function startPrimary(peerPort: number, options: Partial<NameServerOptions> = {}) {
  const outcomes: NotifyOutcome[] = []
  const onNotified = (outcome: NotifyOutcome): unknown => outcomes.push(outcome)
  const settings = { host: '127.0.0.1', port: 0, peerPort, notifyWaits: PATIENT, ...options }
  const server: NameServer = await startNameServer({ onNotified, ...settings })
  closers.push(server.close)
  return { server, outcomes }
}

/** A fake secondary and the primary that notifies it. */
async function startBoth(answer?: Parameters<typeof startSecondary>[0], options: Partial<NameServerOptions> = {}) {
  const secondary = await startSecondary(answer)
  return { secondary, ...(await startPrimary(secondary.port, options)) }
}

const accept = ({ message }: Received): Message[] => [{ ...message, response: true, answers: [] }]

async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 50_000
  while (!condition()) {
    if (performance.now() > deadline) throw new Error('it did not come to that')
    await sleep(5)
  }
}

describe('a NOTIFY sent', () => {
  test('has the zone and its SOA, and ends with the response', async () => {
    const { secondary, server, outcomes } = await startBoth(accept)
    server.setZone(zone(7))
    await until(() => outcomes.length === 1)
    expect(outcomes).toEqual([{ zone: ZONE, address: '127.0.0.1', serial: 7, rcode: 'NOERROR' }])
    expect(secondary.received.map(({ message }) => message)).toMatchObject([
      {
        opcode: 4,
        response: false,
        authoritative: true,
        recursionDesired: false,
        questions: [{ name: ZONE, type: 'SOA', class: 1 }],
        answers: [{ name: ZONE, type: 'SOA', ttl: 60, data: 'ns.example.test. h.example.test. 7 1 1 1 1' }],
        edns: null,
      },
    ])
    await sleep(50)
    expect(secondary.received).toHaveLength(1)
  })

  test('is repeated with growing waits and the same identifier until the attempts are used up', async () => {
    const { secondary, server, outcomes } = await startBoth(undefined, { notifyWaits: [50, 100, 200] })
    const begun = performance.now()
    server.setZone(zone(7))
    await until(() => outcomes.length === 1)
    expect(outcomes[0]?.rcode).toBeNull()
    expect(performance.now() - begun).toBeGreaterThan(340)
    await until(() => secondary.received.length >= 3)
    const [, second = 0, third = 0, ...more] = secondary.received.map(({ at }) => at - begun)
    expect([second > 45, third > 140, more]).toEqual([true, true, []])
    expect(new Set(secondary.received.map(({ message }) => message.id)).size).toBe(1)
  })

  test('is sent only to public addresses if so configured', async () => {
    const { secondary, server, outcomes } = await startBoth(accept, { publicPeersOnly: true })
    server.setZone(zone(7, ['127.0.0.1', '10.0.0.1', 'fd00::1', '::ffff:192.168.0.1']))
    const problem = 'the address is not public'
    expect(outcomes).toEqual(
      ['127.0.0.1', '10.0.0.1', 'fd00::1', '192.168.0.1'].map((address) => ({ zone: ZONE, address, serial: 7, rcode: null, problem })),
    )
    await sleep(50)
    expect(secondary.received).toEqual([])
  })

  test('is not repeated after a refusal', async () => {
    const { secondary, server, outcomes } = await startBoth(({ message }) => [{ ...message, response: true, answers: [], rcode: 5 }])
    server.setZone(zone(7))
    await until(() => outcomes.length === 1)
    expect([outcomes[0]?.rcode, secondary.received.length]).toEqual(['REFUSED', 1])
  })

  test('ignores responses to something else, from another port or address, and invalid messages', async () => {
    const [forger, neighbour] = ['127.0.0.1', '127.0.0.9'].map((address) => createSocket('udp4').bind(0, address)) as [Socket, Socket]
    await Promise.all([forger, neighbour].map((socket) => once(socket, 'listening')))
    for (const socket of [forger, neighbour]) closers.push(() => socket.close())
    const { secondary, server, outcomes } = await startBoth(
      (received) => {
        const [answer] = accept(received) as [Message]
        for (const socket of [forger, neighbour]) socket.send(encodeMessage(answer), received.peer.port, '127.0.0.1')
        secondary.socket.send(Buffer.alloc(11), received.peer.port, '127.0.0.1')
        const changes: Partial<Message>[] = [{ id: (answer.id + 1) & 0xffff }, { response: false }, { opcode: 0 }, { questions: [] }]
        const questions = [`other.${ZONE} SOA`, `${ZONE} NS`].map((text) => text.split(' ') as [DomainName, string])
        changes.push(...questions.map(([name, type]) => ({ questions: [{ name, type, class: 1 }] })))
        return changes.map((change) => ({ ...answer, ...change }))
      },
      { notifyWaits: HASTY },
    )
    server.setZone(zone(7))
    await until(() => outcomes.length === 1 && secondary.received.length >= 3)
    expect([outcomes[0]?.rcode, secondary.received.length]).toEqual([null, 3])
  })

  test('is sent from the address of the name server, with a new port after each idle period', async () => {
    const { secondary, server, outcomes } = await startBoth(accept, { host: '127.0.0.7' })
    for (let serial = 1; serial <= 2; serial += 1) {
      server.setZone(zone(serial))
      await until(() => outcomes.length === serial)
      if (serial === 1) await sleep(600)
    }
    expect(secondary.received.map(({ peer }) => peer.address)).toEqual(['127.0.0.7', '127.0.0.7'])
    expect(new Set(secondary.received.map(({ peer }) => peer.port)).size).toBeGreaterThan(1)
  })

  test('is sent once to each address of both families, in any spelling', async () => {
    const four = await startSecondary(accept)
    const six = await startSecondary(accept, '::1', four.port)
    const { server, outcomes } = await startPrimary(four.port, { host: '::' })
    server.setZone(zone(7, ['127.0.0.1', '::ffff:127.0.0.1', '::1', '0:0:0:0:0:0:0:1']))
    await until(() => outcomes.length === 2)
    await sleep(50)
    expect([four.received.length, six.received.length]).toEqual([1, 1])
  })
})

describe('NOTIFY is sent', () => {
  test('only to added addresses if the zone did not change', async () => {
    const one = await startSecondary(accept)
    const two = await startSecondary(accept, '127.0.0.2', one.port)
    const { server, outcomes } = await startPrimary(one.port)
    server.setZone(zone(7, ['127.0.0.1']))
    server.setZone(zone(7, ['127.0.0.1']))
    await until(() => outcomes.length === 1)
    server.setZone(zone(7, ['127.0.0.1', '127.0.0.2']))
    await until(() => outcomes.length === 2)
    server.setZone(zone(7, ['127.0.0.2']))
    await sleep(550)
    expect([one.received.length, two.received.length]).toEqual([1, 1])
  })

  test('at the start and the end of a burst of changes', async () => {
    const { secondary, server } = await startBoth(accept)
    const begun = performance.now()
    for (let serial = 1; serial <= 50; serial += 1) {
      server.setZone(zone(serial))
      await sleep(2)
    }
    await until(() => secondary.received.some(({ message }) => message.answers[0]?.data?.includes(' 50 ') === true))
    // Two per second during the burst.
    expect(secondary.received.length).toBeLessThanOrEqual(3 + (performance.now() - begun) / 500)
    expect(new Set(secondary.received.map(({ message }) => message.id)).size).toBe(secondary.received.length)
  })

  test('no more after the zone or the address is removed', async () => {
    const { secondary, server, outcomes } = await startBoth(undefined, { notifyWaits: Array(20).fill(300) })
    server.setZone(zone(7))
    server.setZone(zone(7, ['127.0.0.1'], 'other.test.' as DomainName))
    await until(() => secondary.received.length >= 2)
    server.removeZone(ZONE)
    server.setZone(zone(7, [], 'other.test.' as DomainName))
    // What was sent before has arrived by then.
    await sleep(20)
    const before = secondary.received.length
    await sleep(400)
    expect([secondary.received.length, outcomes.length]).toEqual([before, 0])
  })

  test('once for each of many zones, at a limited rate', async () => {
    const { secondary, server, outcomes } = await startBoth(accept)
    for (let i = 0; i < 200; i += 1) server.setZone(zone(7, ['127.0.0.1'], `z${i}.test.` as DomainName))
    await until(() => outcomes.length === 200)
    expect(outcomes.every(({ rcode }) => rcode === 'NOERROR')).toBe(true)
    expect(secondary.received).toHaveLength(200)
  })

  test('not to addresses that no host has', async () => {
    const { server, outcomes } = await startPrimary(9, { notifyWaits: HASTY })
    server.setZone(zone(7, ['0.0.0.0', '::', '224.0.0.1', 'ff02::1', '255.255.255.255']))
    // A NOTIFY that cannot be sent would end as well.
    await sleep(100)
    expect(outcomes).toEqual([])
  })

  test.each([
    ['127.0.0.1', '127.0.0.1'],
    ['0.0.0.0', '127.0.0.1'],
    ['::', '127.0.0.1'],
    ['::', '::1'],
  ])('not to itself: listening at %s, configured as %s', async (host, address) => {
    const port = await freePort()
    const notified: string[] = []
    const onNotify = (name: string) => {
      notified.push(name)
      return 'accepted' as const
    }
    const { server } = await startPrimary(port, { host, port, onNotify })
    server.setZone(zone(7, [address]))
    await sleep(50)
    expect(notified).toEqual([])
  })
})

describe('a NOTIFY received', () => {
  const notify = (serial: number | null): Message => ({
    ...createQuery(99, { name: ZONE, type: 'SOA' }),
    opcode: 4,
    authoritative: true,
    answers: serial === null ? [] : [{ name: ZONE, type: 'SOA', class: 1, ttl: 0, data: `. . ${serial} 0 0 0 0` }],
  })

  test.each([
    ['accepted', 'NOERROR', true],
    ['refused', 'REFUSED', false],
    ['unknown', 'NOTAUTH', false],
  ] as const)('that is %s gets %s', async (verdict, rcode, authoritative) => {
    const asked: unknown[] = []
    const { server } = await startPrimary(9, {
      onNotify: (...args) => {
        asked.push(args)
        return asked.length === 1 ? verdict : Promise.resolve(verdict)
      },
    })
    for (const serial of [4_294_967_295, null]) {
      const answer = await askUdp(server.address.port, notify(serial))
      expect(rcodeName(answer.rcode)).toBe(rcode)
      expect(answer).toMatchObject({ id: 99, opcode: 4, response: true, authoritative, answers: [] })
      expect(answer.questions).toEqual([{ name: ZONE, type: 'SOA', class: 1 }])
    }
    expect(asked).toEqual([
      [ZONE, '127.0.0.1', 4_294_967_295, null],
      [ZONE, '127.0.0.1', null, null],
    ])
  })

  test('is accepted over TCP, and from IPv4 on an IPv6 socket', async () => {
    const asked: string[] = []
    const onNotify: OnNotify = async (_, address) => {
      asked.push(address)
      return 'accepted' as const
    }
    const { server } = await startPrimary(9, { host: '::', onNotify })
    const client = await openTcp(server.address.port)
    client.send(notify(1), notify(2), createQuery(5, { name: ZONE, type: 'SOA' }))
    const answers = [await client.message(), await client.message(), await client.message()]
    client.socket.destroy()
    expect(answers.map(({ id, rcode }) => [id, rcodeName(rcode)])).toEqual([
      [99, 'NOERROR'],
      [99, 'NOERROR'],
      [5, 'REFUSED'],
    ])
    await askUdp(server.address.port, notify(1))
    expect(asked).toEqual(['127.0.0.1', '127.0.0.1', '127.0.0.1'])
  })

  test('gets SERVFAIL if its handler fails, and the error is reported', async () => {
    const errors: unknown[] = []
    const { server } = await startPrimary(9, { onNotify: () => Promise.reject(new Error('full')), onError: (error) => errors.push(error) })
    expect(rcodeName((await askUdp(server.address.port, notify(1))).rcode)).toBe('SERVFAIL')
    expect(errors).toMatchObject([{ message: 'full' }])
  })

  test('is dropped if too many are pending', async () => {
    let asked = 0
    let decide = (): void => undefined
    const decided = new Promise<'accepted'>((resolve) => {
      decide = () => resolve('accepted')
    })
    const { server } = await startPrimary(9, {
      onNotify: () => {
        asked += 1
        return decided
      },
    })
    const { port } = server.address
    const client = createSocket('udp4')
    closers.push(() => client.close())
    let answers = 0
    client.on('message', () => {
      answers += 1
    })
    for (let id = 0; id < 150; id += 1) client.send(encodeMessage({ ...notify(1), id }), port, '127.0.0.1')
    await until(() => asked >= 64)
    await handledAll(port)
    expect([asked, answers]).toEqual([64, 0])
    decide()
    await until(() => answers >= 64)
    await handledAll(port)
    expect([asked, answers]).toEqual([64, 64])
  })

  test.each<[string, Partial<Message>, string]>([
    ['about another type', { questions: [{ name: ZONE, type: 'A', class: 1 }] }, 'FORMERR'],
    ['about another class', { questions: [{ name: ZONE, type: 'SOA', class: 3 }] }, 'FORMERR'],
    ['without a question', { questions: [] }, 'FORMERR'],
    ['with another SOA', { answers: [{ name: 'o.test.' as DomainName, type: 'SOA', class: 1, ttl: 0, data: '. . 1 0 0 0 0' }] }, 'NOERROR'],
    ['with an unknown version of EDNS', { edns: { udpSize: 512, version: 3, dnssecOk: false, options: [] } }, 'BADVERS'],
  ])('%s', async (_, change, rcode) => {
    const serials: unknown[] = []
    const { server } = await startPrimary(9, {
      onNotify: (_name, _address, serial) => {
        serials.push(serial)
        return 'accepted'
      },
    })
    expect(rcodeName((await askUdp(server.address.port, { ...notify(null), ...change })).rcode)).toBe(rcode)
    expect(serials).toEqual(rcode === 'NOERROR' ? [null] : [])
  })
})
