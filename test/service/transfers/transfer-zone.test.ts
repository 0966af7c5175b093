import { networkInterfaces } from 'node:os'
import { describe, expect, test } from 'vitest'
import type { DomainName } from '../../../src/dns/domain-name.ts'
import { RCODE, type WireRecord } from '../../../src/dns/wire/message.ts'
import { findPeers, type Peer, type PeerRules, peerAt } from '../../../src/service/transfers/peer.ts'
import { NO_TRANSFER_KEYS } from '../../../src/service/transfers/transfer-keys.ts'
import { querySerial, TRANSFER_LIMITS, transferZone } from '../../../src/service/transfers/transfer-zone.ts'
import { freePort } from '../../support/free-port.ts'
import { answerOf, record, type Script, scriptedMaster, serving, soa } from './scripted-master.ts'

const ZONE = 'example.test.' as DomainName
const RULES: PeerRules = { port: 53, publicOnly: false, localAddresses: [], keys: NO_TRANSFER_KEYS, clock: Date.now }
const OWNED = { name: ZONE, accountId: 1 }
const NEVER = new AbortController().signal
const at = (port: number): Peer => ({ address: '127.0.0.1', port, localAddress: null, signing: null })
const host = record('www.example.test.', 'A', '192.0.2.1')
const closing =
  (records: readonly WireRecord[]): Script =>
  (query, socket) =>
    socket.end(answerOf(query, records))
const giving =
  (records: readonly WireRecord[], changes = {}): Script =>
  (query, socket) =>
    socket.write(answerOf(query, records, changes))

const LIMITS = { ...TRANSFER_LIMITS, connect: 1_500, idle: 1_500, total: 2_500, records: 1000, octets: 200_000, characters: 300_000 }
const hasIpv6 = Object.values(networkInterfaces()).some((entries) => entries?.some(({ address }) => address === '::1'))

describe('a hostile master', () => {
  // What no zone is, whoever reads it, is in test/transport/dns-client.test.ts. Each has its own master, and some wait for a timeout.
  test.concurrent.each<[string, Script, string]>([
    ['that closes the connection', (_, socket) => void socket.end(), 'unreachable'],
    ['that resets the connection', (_, socket) => void socket.resetAndDestroy(), 'unreachable'],
    ['that does not respond', () => {}, 'timeout'],
    ['that refuses', giving([], { rcode: RCODE.REFUSED }), 'refused'],
    ['that is not authoritative for the zone', giving([], { rcode: RCODE.NOTAUTH }), 'refused'],
    ['whose zone has expired', giving([], { rcode: RCODE.SERVFAIL }), 'not-authoritative'],
    ['whose response is empty', giving([]), 'malformed'],
    ...['TYPE0', 'TYPE41', 'TYPE128', 'TYPE255'].map((type): [string, Script, string] => [
      `whose records are of ${type}`,
      giving([soa(), record('example.test.', type, '\\# 0'), soa()]),
      'malformed',
    ]),
    ['that never sends the last SOA', closing([soa(), host]), 'unreachable'],
    ['that never sends it and keeps the connection open', giving([soa(), host]), 'timeout'],
    [
      'that sends single octets slowly',
      (query, socket) => {
        const message = answerOf(query, [soa(), soa()])
        let sent = 0
        const drip = setInterval(() => {
          if (!socket.writable || sent === message.length - 1) return clearInterval(drip)
          socket.write(message.subarray(sent, sent + 1))
          sent += 1
        }, 20)
      },
      'timeout',
    ],
    [
      'that sends endless small messages',
      (query, socket) => {
        socket.write(answerOf(query, [soa()]))
        const drip = setInterval(() => (socket.writable ? socket.write(answerOf(query, [host])) : clearInterval(drip)), 50)
      },
      'timeout',
    ],
    [
      'that sends an endless zone',
      (query, socket) => {
        const more = answerOf(
          query,
          Array.from({ length: 200 }, () => host),
        )
        const pour = (): void => {
          while (socket.writable && socket.write(more)) {}
        }
        socket.write(answerOf(query, [soa()]))
        socket.on('drain', pour)
        pour()
      },
      'too-large',
    ],
    [
      'that sends an expansion bomb of compressed names',
      (query, socket) => {
        const long = `${`${'a'.repeat(60)}.`.repeat(3)}example.test.`
        const pointers = Array.from({ length: 900 }, (_, i) => record(long, 'NS', long, i))
        for (let i = 0; i < 900; i += 300) socket.write(answerOf(query, [...(i === 0 ? [soa()] : []), ...pointers.slice(i, i + 300)]))
      },
      'too-large',
    ],
  ])('%s', async (_, script, reason) => {
    const port = await scriptedMaster(script, { keep: true })
    await expect(transferZone(at(port), ZONE, LIMITS, NEVER)).rejects.toMatchObject({ code: 'TRANSFER_FAILURE', reason })
  })

  test('cannot add records outside the zone', async () => {
    const foreign = [
      record('www.example.org.', 'A', '192.0.2.66'),
      record('test.', 'NS', 'ns1.example.org.'),
      record('xexample.test.', 'A', '192.0.2.66'),
    ]
    const port = await scriptedMaster(serving([soa(), ...foreign, host]))
    const zone = await transferZone(at(port), ZONE, LIMITS, NEVER)
    expect(zone.records.map(({ name }) => name)).toEqual(['example.test.', 'www.example.test.'])
    expect(zone.outOfZone).toBe(3)
  })

  test('fails a serial query unless it gets an authoritative SOA of the zone', async () => {
    const asked = async (script: Script) => querySerial(at(await scriptedMaster(script)), ZONE, LIMITS, NEVER)
    await expect(asked(giving([soa(7)]))).resolves.toBe(7)
    await expect(asked(giving([soa(7)], { authoritative: false }))).rejects.toMatchObject({ reason: 'not-authoritative' })
    await expect(asked(giving([]))).rejects.toMatchObject({ reason: 'not-authoritative' })
    await expect(asked(giving([soa(7, '1 1 1 1', 'example.org.')]))).rejects.toMatchObject({ reason: 'not-authoritative' })
    await expect(asked(giving([], { rcode: RCODE.REFUSED }))).rejects.toMatchObject({ reason: 'refused' })
  })

  test.runIf(hasIpv6)('can be asked over IPv6', async () => {
    const port = await scriptedMaster(serving([soa(9), host]), { address: '::1' })
    const peer: Peer = { address: '::1', port, localAddress: '::1', signing: null }
    expect(await querySerial(peer, ZONE, LIMITS, NEVER)).toBe(9)
    expect((await transferZone(peer, ZONE, LIMITS, NEVER)).records.length).toBe(2)
  })

  test('its transfer is aborted if the service stops', async () => {
    const port = await scriptedMaster(() => {})
    const stopping = new AbortController()
    const transfer = transferZone(at(port), ZONE, LIMITS, stopping.signal)
    stopping.abort()
    await expect(transfer).rejects.toMatchObject({ reason: 'stopped' })
  })

  test('that does not exist', async () => {
    await expect(transferZone(at(await freePort()), ZONE, LIMITS, NEVER)).rejects.toMatchObject({ reason: 'unreachable' })
  })
})

describe('peers', () => {
  test.each([
    ['127.0.0.1', true, false],
    ['::1', true, false],
    ['10.0.0.1', true, false],
    ['169.254.169.254', true, false],
    ['::ffff:10.0.0.1', true, false],
    ['fd00::1', true, false],
    ['64:ff9b::a00:1', true, false],
    ['0.0.0.0', false, false],
    ['::', false, false],
    ['224.0.0.1', false, false],
    // Ordinary addresses besides those for documentation; nothing is sent to them.
    ['192.0.3.1', true, true],
    ['2001:db7::1', true, true],
  ])('%s', (address, anywhere, inPublic) => {
    const allowed = (publicOnly: boolean): boolean => {
      try {
        return peerAt(address, OWNED, { ...RULES, publicOnly }).address === address
      } catch (error) {
        expect(error).toMatchObject({ reason: 'forbidden' })
        return false
      }
    }
    expect([allowed(false), allowed(true)]).toEqual([anywhere, inPublic])
  })

  test('by name', async () => {
    const peers = await findPeers('localhost', OWNED, { ...RULES, port: 5353 })
    expect(peers).toContainEqual({ address: '127.0.0.1', port: 5353, localAddress: null, signing: null })
    await expect(findPeers('localhost', OWNED, { ...RULES, publicOnly: true })).rejects.toMatchObject({ reason: 'forbidden' })
    await expect(findPeers('nowhere.invalid', OWNED, RULES)).rejects.toMatchObject({ reason: expect.stringMatching(/unresolved|timeout/) })
  })

  test('are connected from a configured address of this machine', () => {
    const localAddresses = ['192.0.2.1', '127.0.0.1', '2001:db8::1']
    expect(peerAt('127.0.0.2', OWNED, { ...RULES, localAddresses }).localAddress).toBe('127.0.0.1')
    expect(peerAt('2001:db8::2', OWNED, { ...RULES, localAddresses }).localAddress).toBeNull()
  })
})
