/** The octets that a plan reckons for an UPDATE message are never too few, and seldom far too many: judged by encoded messages. */
import { expect, test } from 'vitest'
import type { DomainName } from '../../src/dns/domain-name.ts'
import type { Ttl } from '../../src/dns/ttl.ts'
import { encodeMessage } from '../../src/dns/wire/encode-message.ts'
import { createUpdate } from '../../src/dns/wire/message.ts'
import { octetsOf } from '../../src/plan/carry-changes.ts'
import type { RrsetChange, RrsetImage } from '../../src/plan/changesets.ts'
import { RFC2136_CAPABILITIES } from '../../src/providers/rfc2136/capabilities.ts'
import { updateContent } from '../../src/providers/rfc2136/rfc2136-provider.ts'
import { type Random, rounds, seededRandom } from '../support/random.ts'

const ZONE = 'example.com.' as DomainName

/** Header, zone section and rounding. */
const FRAME = 64

const DATA: Readonly<Record<string, (random: Random) => string>> = {
  A: (random) => `192.0.2.${random.below(250)}`,
  AAAA: (random) => `2001:db8::${random.below(9999)}`,
  CNAME: (random) => `host${random.below(99)}.example.com.`,
  MX: (random) => `${random.below(99)} mail${random.below(9)}.example.net.`,
  NS: (random) => `ns${random.below(99)}.example.net.`,
  TXT: (random) => `"${'x'.repeat(random.below(200))}"`,
  LOC: () => '52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000.00m 10.00m',
  CAA: () => '0 issue "ca.example.net"',
  TYPE65280: () => '\\# 3 010203',
}

function image(random: Random, type: string): RrsetImage | null {
  if (random.chance(0.25)) return null
  const count = type === 'CNAME' ? 1 : 1 + random.below(4)
  const data = [...new Set(Array.from({ length: count }, () => (DATA[type] as (random: Random) => string)(random)))].sort()
  return { ttl: random.pick([300, 3600]) as Ttl, hasOtherTtls: false, data }
}

function rrsetChange(random: Random, index: number): RrsetChange {
  const type = random.pick(Object.keys(DATA))
  const label = random.pick(['h', '_sip._tcp.', 'a\\.b', 'deep.er.'])
  const name = (index === 0 ? ZONE : `${label}${index}.${ZONE}`) as DomainName
  return { name, type, existing: image(random, type), desired: image(random, type) }
}

const reckoned = (changes: readonly RrsetChange[]): number =>
  changes.reduce((sum, change) => sum + octetsOf(change, RFC2136_CAPABILITIES.calls, ZONE), 0)

const encoded = (changes: readonly RrsetChange[]): number => encodeMessage(createUpdate(0, ZONE, updateContent(changes, ZONE))).length

test('a message of random changes is no larger', () => {
  const random = seededRandom(1)
  for (let round = rounds(300); round > 0; round -= 1) {
    const changes = Array.from({ length: 1 + random.below(60) }, (_, index) => rrsetChange(random, index))
    expect(encoded(changes)).toBeLessThanOrEqual(reckoned(changes) + FRAME)
  }
})

test('1,000 record sets with another address fit into one message', () => {
  const changes = Array.from({ length: 1000 }, (_, index): RrsetChange => {
    const one = (address: string): RrsetImage => ({ ttl: 300 as Ttl, hasOtherTtls: false, data: [address] })
    return { name: `h${index}.${ZONE}` as DomainName, type: 'A', existing: one('192.0.2.1'), desired: one('192.0.2.2') }
  })
  expect(reckoned(changes)).toBeLessThanOrEqual(RFC2136_CAPABILITIES.calls.maxOctets as number)
  expect(reckoned(changes)).toBeLessThan(1.3 * encoded(changes))
})
