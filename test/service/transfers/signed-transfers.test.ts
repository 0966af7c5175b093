/** Transfers with keys: access by key, for any address. */
import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import type { DomainName } from '../../../src/dns/domain-name.ts'
import { decodeMessage } from '../../../src/dns/wire/decode-message.ts'
import { encodeMessage } from '../../../src/dns/wire/encode-message.ts'
import { createQuery, OPCODE, rcodeName } from '../../../src/dns/wire/message.ts'
import { appendSignature, splitSignature, type TsigKey } from '../../../src/dns/wire/tsig.ts'
import { createTsigVerifier, signMessage } from '../../../src/dns/wire/tsig-client.ts'
import { describeWithTools } from '../../support/skip.ts'
import { dig, kdig } from '../../support/tools.ts'
import { framed, openTcp } from '../nameserver/tcp-client.ts'
import { askOctets } from '../nameserver/udp-client.ts'
import { eventually } from './eventually.ts'
import { type KeyEntry, type Keyed, readKeys, signedQuery, startKeyed, toolKey, wireKey } from './keyed-service.ts'
import { answerOf, record, scriptedMaster, soa } from './scripted-master.ts'

const ALICE: KeyEntry = { name: 'alice-1.example', account: 'alice' }
const ALICE_OTHER: KeyEntry = { name: 'alice-2.example', account: 'alice', algorithm: 'hmac-sha512', zones: ['listed.example'] }
const BOB: KeyEntry = { name: 'bob-1.example', account: 'bob', algorithm: 'hmac-sha384', zones: ['bob.example', 'alice.example'] }
const UNKNOWN: KeyEntry = { name: 'nobody.example', account: 'nobody' }
let keyed: Keyed
beforeAll(async () => {
  keyed = await startKeyed([ALICE, ALICE_OTHER, BOB])
  const create = (client: Keyed['alice'], domain: string, axfr_ips = ['127.0.0.1']) =>
    client.ok('POST', '/domains', { domain, type: 'master', soa_email: 'hostmaster@example.com', axfr_ips })
  await create(keyed.alice, 'alice.example')
  await create(keyed.alice, 'closed.example', ['192.0.2.1'])
  await create(keyed.alice, 'listed.example')
  await create(keyed.bob, 'bob.example')
  await create(keyed.bob, 'open.example')
  await keyed.service.flush()
})

interface Outcome {
  readonly rcode: string
  readonly error: number | null
  /** Whether the response has a digest. */
  readonly hasMac: boolean
  readonly verified: boolean | null
  readonly records: number
}

/** Sends the octets over TCP; returns the response. */
async function sendTcp(octets: Uint8Array, key?: TsigKey, mac?: Uint8Array): Promise<Outcome> {
  const client = await openTcp(keyed.port)
  client.socket.write(framed(octets))
  const answer = (await client.next()) as Buffer
  client.socket.destroy()
  return outcomeOf(answer, key, mac)
}

function outcomeOf(answer: Buffer, key?: TsigKey, mac?: Uint8Array): Outcome {
  const message = decodeMessage(answer)
  const found = splitSignature(answer)
  if (!message.ok || !found.ok) throw new Error('no answer')
  const { signature } = found.value
  const verdict = key && mac && createTsigVerifier(key, mac).accept(answer, Math.floor(Date.now() / 1000))
  return {
    rcode: rcodeName(message.value.rcode),
    error: signature === null ? null : signature.error,
    hasMac: (signature?.mac.length ?? 0) > 0,
    verified: verdict ? verdict.ok : null,
    records: message.value.answers.length,
  }
}

async function transferSigned(zone: string, entry: KeyEntry, ahead = 0): Promise<Outcome> {
  const { octets, mac } = signedQuery(zone, 'AXFR', wireKey(entry), {}, ahead)
  return sendTcp(octets, wireKey(entry), mac)
}

const unsigned = (zone: string) => encodeMessage({ ...createQuery(1, { name: `${zone}.` as DomainName, type: 'AXFR' }), edns: null })
const GIVEN = { rcode: 'NOERROR', error: 0, verified: true }

describe('a zone with a key is transferred', () => {
  const REFUSED = { rcode: 'REFUSED', error: 0, verified: true, records: 0 }

  test.each<[string, string, KeyEntry, object]>([
    ['with its key', 'alice.example', ALICE, GIVEN],
    ['with its key of another algorithm', 'bob.example', BOB, GIVEN],
    ['with a key that names it', 'listed.example', ALICE_OTHER, GIVEN],
    ['not with a key that names another zone', 'alice.example', ALICE_OTHER, REFUSED],
    ['not with its key from another address', 'closed.example', ALICE, REFUSED],
    ['not with a key of another account, even one that names it', 'alice.example', BOB, REFUSED],
    ['not with an unknown key', 'alice.example', UNKNOWN, { rcode: 'NOTAUTH', error: 17, hasMac: false, records: 0 }],
  ])('%s', async (_, name, key, outcome) => expect(await transferSigned(name, key)).toMatchObject(outcome))

  test('not without a key, even from an allowed address', async () => {
    expect(await sendTcp(unsigned('alice.example'))).toMatchObject({ rcode: 'REFUSED', error: null, records: 0 })
    const question = createQuery(1, { name: 'alice.example.' as DomainName, type: 'IXFR' })
    const ixfr = encodeMessage({ ...question, authorities: [soa(1, '1 1 1 1', 'alice.example.')] })
    expect(outcomeOf(await askOctets(keyed.port, ixfr))).toMatchObject({ rcode: 'REFUSED', records: 0 })
  })

  test('once per request: a repeated one gets BADTIME', async () => {
    const { octets, mac } = signedQuery('alice.example', 'AXFR', wireKey(ALICE), { id: 77 })
    expect(await sendTcp(octets, wireKey(ALICE), mac)).toMatchObject(GIVEN)
    expect(await sendTcp(octets)).toMatchObject({ rcode: 'NOTAUTH', error: 18, hasMac: true, records: 0 })
  })
})

test('a zone without a key is transferred only by address, not with the key of another zone', async () => {
  expect(await sendTcp(unsigned('open.example'))).toMatchObject({ rcode: 'NOERROR', error: null })
  for (const entry of [ALICE, BOB]) expect(await transferSigned('open.example', entry)).toMatchObject({ rcode: 'REFUSED', records: 0 })
})

test('any query may be signed and repeated over UDP, and its response is never cached', async () => {
  const key = wireKey(ALICE)
  const plain = encodeMessage(createQuery(5, { name: 'alice.example.' as DomainName, type: 'SOA' }))
  const { octets, mac } = signMessage(plain, key, Math.floor(Date.now() / 1000))
  for (let i = 0; i < 3; i += 1) {
    const answer = await askOctets(keyed.port, octets)
    expect(outcomeOf(answer, key, mac)).toMatchObject({ rcode: 'NOERROR', error: 0, verified: true, records: 1 })
    expect(outcomeOf(await askOctets(keyed.port, plain))).toMatchObject({ rcode: 'NOERROR', error: null, records: 1 })
  }
})

test('replaces all keys of a running service, or none', async () => {
  const { service } = keyed
  try {
    await service.useTransferKeys(await readKeys([{ ...UNKNOWN, account: 'alice' }]))
    expect(await transferSigned('alice.example', ALICE)).toMatchObject({ rcode: 'NOTAUTH', error: 17 })
    expect(await transferSigned('alice.example', UNKNOWN)).toMatchObject(GIVEN)
    expect(await sendTcp(unsigned('bob.example'))).toMatchObject({ rcode: 'NOERROR' })
    await expect(service.useTransferKeys(await readKeys([ALICE, { ...BOB, account: 'carol' }]))).rejects.toThrow(
      'the key bob-1.example. belongs to the account of the user "carol", which does not exist',
    )
    expect(await transferSigned('alice.example', UNKNOWN)).toMatchObject(GIVEN)
  } finally {
    await service.useTransferKeys(await readKeys([ALICE, ALICE_OTHER, BOB]))
  }
})

test('only the peers of a key may use it; others are refused', async () => {
  const { service } = keyed
  try {
    await service.useTransferKeys(
      await readKeys([
        { ...ALICE, peers: ['127.0.0.2'] },
        { ...ALICE_OTHER, zones: ['alice.example'], peers: ['::ffff:127.0.0.1'] },
      ]),
    )
    expect(await transferSigned('alice.example', ALICE)).toMatchObject({ rcode: 'REFUSED', verified: true })
    expect(await transferSigned('alice.example', ALICE_OTHER)).toMatchObject(GIVEN)
    expect(await transferSigned('listed.example', ALICE)).toMatchObject({ rcode: 'REFUSED', verified: true })
    expect(await sendTcp(unsigned('listed.example'))).toMatchObject({ rcode: 'REFUSED' })
    await service.useTransferKeys(await readKeys([{ ...ALICE, transfers: 'incoming' }]))
    expect(await sendTcp(unsigned('alice.example'))).toMatchObject({ rcode: 'NOERROR' })
    expect(await transferSigned('alice.example', ALICE)).toMatchObject({ rcode: 'REFUSED' })
  } finally {
    await service.useTransferKeys(await readKeys([ALICE, ALICE_OTHER, BOB]))
  }
})

describeWithTools(['dig', 'kdig'], 'other clients', () => {
  test.each([
    ['dig', dig],
    ['kdig', kdig],
  ])('%s verifies every message of a large zone', async (_, tool) => {
    const id = (await keyed.alice.ok('GET', '/domains', undefined, { 'x-filter': '{"domain":"listed.example"}' })).data[0].id
    const path = `/domains/${id}/records`
    for (let i = 0; i < 40; i += 1)
      await keyed.alice.ok('POST', path, { type: 'TXT', name: `${_}-${i}`, target: `${i} ${'x'.repeat(2000)}` })
    await keyed.service.flush()
    const given = await tool({ port: keyed.port, name: 'listed.example', type: 'AXFR', key: toolKey(ALICE_OTHER), options: [] })
    expect(given.filter((line) => line.includes(`${_}-`) && line.includes('TXT'))).toHaveLength(40)
    expect(given.join('\n')).not.toMatch(/verif|NOTAUTH|BADSIG|BADKEY|failed|WARNING/i)
  })
})

describe('NOTIFY for a slave with a key', () => {
  let master = 0
  const asked: string[] = []
  let slave: Keyed
  beforeAll(async () => {
    master = await scriptedMaster(
      (query, socket) => {
        asked.push(query.questions[0]?.name ?? '')
        socket.write(answerOf(query, [], { rcode: 5 }))
      },
      { keep: true },
    )
    slave = await startKeyed([ALICE, BOB], { peerPort: master })
    await slave.alice.ok('POST', '/domains', { domain: 'slave.example', type: 'slave', master_ips: ['127.0.0.1'] })
    await slave.bob.ok('POST', '/domains', { domain: 'plain.example', type: 'slave', master_ips: ['127.0.0.1'] })
    await eventually(async () => expect(new Set(asked).size).toBe(2))
  })

  const plainNotify = (zone: string, id: number) => {
    const question = createQuery(id, { name: `${zone}.` as DomainName, type: 'SOA' })
    return encodeMessage({ ...question, opcode: OPCODE.NOTIFY, authoritative: true, edns: null })
  }

  const notify = async (zone: string, key: TsigKey | null, { ahead = 0, id = randomInt(0x10000) } = {}): Promise<string> => {
    const plain = plainNotify(zone, id)
    const octets = key === null ? plain : signMessage(plain, key, Math.floor(Date.now() / 1000) + ahead).octets
    const answer = decodeMessage(await askOctets(slave.port, octets))
    if (!answer.ok) throw new Error(answer.message)
    return rcodeName(answer.value.rcode)
  }

  test('is accepted only with the key', async () => {
    expect(await notify('slave.example', null)).toBe('REFUSED')
    expect(await notify('slave.example', wireKey(BOB))).toBe('REFUSED')
    expect(await notify('slave.example', wireKey(UNKNOWN))).toBe('NOTAUTH')
    expect(await notify('slave.example', wireKey(ALICE), { ahead: 500 })).toBe('NOTAUTH')
    const before = asked.length
    expect(await notify('slave.example', wireKey(ALICE))).toBe('NOERROR')
    await eventually(async () => expect(asked.length).toBeGreaterThan(before))
    expect(await notify('plain.example', wireKey(ALICE))).toBe('REFUSED')
    expect(await notify('plain.example', null)).toBe('NOERROR')
  })

  test('gets a second response without effect if it is repeated', async () => {
    const { octets } = signMessage(plainNotify('slave.example', 9), wireKey(ALICE), Math.floor(Date.now() / 1000))
    const count = () => asked.filter((name) => name === 'slave.example.').length
    const before = count()
    const first = outcomeOf(await askOctets(slave.port, octets))
    await eventually(async () => expect(count()).toBeGreaterThan(before))
    // A master that refuses gets one query per NOTIFY; a second one would come at once.
    await sleep(200)
    const after = count()
    for (let i = 0; i < 5; i += 1) expect(outcomeOf(await askOctets(slave.port, octets))).toEqual(first)
    await sleep(200)
    expect([first.rcode, count()]).toEqual(['NOERROR', after])
  })
})

describe('a transfer from a master with a key', () => {
  const recordsOf = (zone: string) =>
    [soa(7, '3600 600 604800 300', zone), record(zone, 'NS', 'ns1.example.net.'), record(`www.${zone}`, 'A', '192.0.2.66')] as const

  const CASES: readonly (readonly [string, (answer: Buffer) => Buffer, RegExp])[] = [
    ['responds without a signature', (answer) => answer, /the answer is not signed/],
    ['does not know the key', (answer) => answerWithError(answer, 17), /BADKEY: the server does not know the key/],
    ['has another clock', (answer) => answerWithError(answer, 18), /BADTIME/],
  ]
  const zoneOf = (index: number): string => `in${index}.example`
  let alice: Keyed['alice']

  beforeAll(async () => {
    // The zone decides how the master signs.
    const master = await scriptedMaster(
      (query, socket) => {
        const [question] = query.questions
        const name = question?.name.replace('other.', '') as string
        const [, change] = CASES[Number(/^in(\d)/.exec(name)?.[1])] as (typeof CASES)[number]
        const zone = recordsOf(name)
        const answer = answerOf({ ...query, additionals: [] }, question?.type === 'SOA' ? [zone[0]] : [...zone, zone[0]]).subarray(2)
        socket.write(framed(change(answer)))
      },
      { keep: true },
    )
    alice = (await startKeyed([ALICE], { peerPort: master })).alice
  })

  test.concurrent.each(CASES.map(([name, , problem], index) => [name, zoneOf(index), problem] as const))(
    'is rejected if the master %s',
    async (_, domain, problem) => {
      const { id } = await alice.ok('POST', '/domains', { domain, type: 'slave', master_ips: ['127.0.0.1'] })
      await eventually(async () => expect((await alice.ok('GET', `/domains/${id}`)).errors).toMatch(problem))
      expect((await alice.ok('GET', `/domains/${id}/zone-file`)).zone_file).toEqual([])
      const [refused] = await alice.refused('POST', '/domains/import', { domain: `other.${domain}`, remote_nameserver: '127.0.0.1' })
      expect(refused?.[0]).toBe('remote_nameserver')
      expect(refused?.[1]).not.toContain('AAAA')
    },
  )
})

/** A refusal with an error in a TSIG record without a digest. */
function answerWithError(answer: Buffer, error: number): Buffer {
  const refused = Buffer.from(answer)
  refused[3] = ((refused[3] as number) & 0xf0) | 9
  const other = error === 18 ? Buffer.alloc(6) : Buffer.alloc(0)
  return appendSignature(refused, {
    keyName: wireKey(ALICE).name,
    algorithm: 'hmac-sha256.' as DomainName,
    time: Math.floor(Date.now() / 1000),
    fudge: 300,
    mac: Buffer.alloc(0),
    originalId: refused.readUInt16BE(0),
    error,
    other,
  })
}
