import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DomainName } from '../../../src/dns/domain-name.ts'
import { encodeMessage } from '../../../src/dns/wire/encode-message.ts'
import { createQuery, type Message } from '../../../src/dns/wire/message.ts'
import { type NameServer, startNameServer } from '../../../src/service/nameserver/name-server.ts'
import { type CachedResponse, createResponseCache, responseKey } from '../../../src/service/nameserver/response-cache.ts'
import { buildZoneData } from '../../../src/service/nameserver/zone-data.ts'
import { fc } from '../../support/fast-check.ts'
import { rounds } from '../../support/random.ts'
import { namesOf, RICH_ZONES, records } from './rich-zones.ts'
import { exchangeUdp } from './udp-client.ts'

/** A server with a response cache, and one without. */
const servers: { keeping?: NameServer; plain?: NameServer } = {}

beforeAll(async () => {
  const limits = { responsesPerSecond: 0 }
  servers.keeping = await startNameServer({ host: '127.0.0.1', port: 0, limits })
  servers.plain = await startNameServer({ host: '127.0.0.1', port: 0, limits: { ...limits, cacheOctets: 0 } })
})

afterAll(() => Promise.all([servers.keeping?.close(), servers.plain?.close()]))

const both = (): NameServer[] => [servers.keeping as NameServer, servers.plain as NameServer]

const NAMES = namesOf(String.raw`
  example.test. www.example.test. web.example.test. chain1.example.test. glued.example.test.
  x.glued.example.test. hosted.example.test. www.hosted.example.test. up.hosted.example.test.
  to-main.other.test. other.test. x.wild.example.test. nothing.example.test. many.example.test.
  long.example.test. moved.example.test. x.elsewhere.example.test. with\.dot.example.test. .
`)

type Step = { readonly zone: number; readonly version: number } | { readonly octets: Buffer }

const query: fc.Arbitrary<Step> = fc
  .record({
    name: fc.constantFrom(...NAMES),
    type: fc.constantFrom('A', 'TXT', 'NS', 'MX', 'ANY', 'DS', 'AAAA', 'SOA', 'TYPE65'),
    id: fc.nat(0xffff),
    flags: fc.record({ recursionDesired: fc.boolean(), checkingDisabled: fc.boolean(), authenticData: fc.boolean() }),
    edns: fc.option(
      fc.record({
        udpSize: fc.constantFrom(0, 512, 1231, 1232, 4096, 65535),
        version: fc.constantFrom(0, 0, 0, 1),
        dnssecOk: fc.boolean(),
        options: fc.constantFrom([], [{ code: 10, data: Buffer.alloc(8) }], [{ code: 3, data: Buffer.alloc(0) }]),
      }),
    ),
    upper: fc.boolean(),
    spoilt: fc.option(fc.tuple(fc.nat(), fc.nat(255)), { freq: 6 }),
  })
  .map(({ name, type, id, flags, edns, upper, spoilt }) => {
    const message: Message = { ...createQuery(id, { name, type }), ...flags, edns }
    const octets = encodeMessage(message)
    // Only the name contains letters: lengths are below 64, and the type follows the name.
    for (let at = 12; upper && octets[at] !== 0; at += 1)
      if (at % 2 === 0 && (octets[at] as number) > 0x60) octets[at] = (octets[at] as number) - 0x20
    if (spoilt) octets[12 + (spoilt[0] % (octets.length - 12))] = spoilt[1]
    return { octets }
  })

const change: fc.Arbitrary<Step> = fc.record({ zone: fc.nat(RICH_ZONES.length - 1), version: fc.nat(3) })

/** Publishes a zone with a record that depends on the version; version 0 removes the zone. */
function apply(server: NameServer, { zone: index, version }: { zone: number; version: number }): void {
  const zone = RICH_ZONES[index] as (typeof RICH_ZONES)[number]
  if (version === 0) server.removeZone(zone.name)
  else server.setZone({ ...zone, serial: version, records: [...zone.records, ...records(`www.${zone.name} 60 TXT "version ${version}"`)] })
}

test('a server with a cache always responds like one without', async () => {
  const steps = fc.array(fc.oneof({ weight: 9, arbitrary: query }, { weight: 1, arbitrary: change }), { minLength: 30, maxLength: 60 })
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      for (const server of both()) for (let i = 0; i < RICH_ZONES.length; i += 1) apply(server, { zone: i, version: 1 })
      const octets = sequence.flatMap((step) => ('octets' in step ? [step.octets] : []))
      for (const step of [...sequence, ...octets.map((again) => ({ octets: again }))]) {
        if (!('octets' in step)) {
          for (const server of both()) apply(server, step)
          continue
        }
        const [kept, fresh] = await Promise.all(both().map((server) => exchangeUdp(server.address.port, step.octets)))
        expect(kept?.toString('hex')).toBe(fresh?.toString('hex'))
      }
    }),
    { numRuns: rounds(16) },
  )
})

describe('the cache', () => {
  const zone = buildZoneData('z.test.' as DomainName, 1, records('z.test. 60 SOA . . 1 2 3 4 5'))
  const response = (size: number): CachedResponse => ({ octets: Buffer.alloc(size), zones: [zone], limitHash: 0, counter: null })

  test('respects its limit and keeps entries in use', () => {
    const cache = createResponseCache(() => true, 200_000)
    for (let i = 0; i < 20_000; i += 1) {
      cache.add(`key ${i}`, response(100))
      if (i % 100 === 0) expect(cache.find('key 0')).toBeDefined()
    }
    const held = Array.from({ length: 20_000 }, (_, i) => cache.find(`key ${i}`)).filter((found) => found !== undefined)
    expect(held.length).toBeGreaterThan(100)
    expect(held.length * 500).toBeLessThan(200_000)
  })

  test('drops the responses of a removed zone', () => {
    let served = true
    const cache = createResponseCache(() => served, 1_000_000)
    cache.add('key', response(10))
    expect(cache.find('key')).toBeDefined()
    served = false
    expect(cache.find('key')).toBeUndefined()
    served = true
    expect(cache.find('key')).toBeUndefined()
  })

  test.each<[string, (octets: Buffer) => Buffer]>([
    ['a response', (octets) => set(octets, 2, 0x80)],
    ['another opcode', (octets) => set(octets, 2, 0x20)],
    ['two questions', (octets) => set(octets, 5, 2)],
    ['an answer', (octets) => set(octets, 7, 1)],
    ['an authority', (octets) => set(octets, 9, 1)],
    ['two additionals', (octets) => set(octets, 11, 2)],
    ['a pointer for a name', (octets) => set(octets, 12, 0xc0)],
    ['class CH', (octets) => set(octets, 23, 3)],
    ['a small size', (octets) => set(octets, 27, 2)],
    ['a version of EDNS', (octets) => set(octets, 30, 1)],
    ['a truncated option', (octets) => set(octets, 34, 3)],
    ['trailing octets', (octets) => Buffer.concat([octets, Buffer.alloc(1)])],
    ['less', (octets) => octets.subarray(0, 34)],
    ['a few octets', (octets) => octets.subarray(0, 15)],
    ['a header', (octets) => octets.subarray(0, 12)],
  ])('has no key for %s', (_, spoil) => {
    const plain = encodeMessage({ ...createQuery(1, { name: 'z.test.' as DomainName, type: 'A' }) })
    expect(responseKey(plain)).not.toBeNull()
    expect(responseKey(spoil(Buffer.from(plain)))).toBeNull()
  })
})

function set(octets: Buffer, at: number, value: number): Buffer {
  octets[at] = value
  return octets
}
