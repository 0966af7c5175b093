import type { Random } from '../support/random.ts'

const ADDRESSES = ['192.0.2.1', '192.0.2.2', '198.51.100.7', '203.0.113.9']
const TTLS = ['-', '300', '3600']

/** A random valid zone with records of many types, as lines `NAME TTL TYPE DATA`. The zones share owners, so changes between them have order edges. */
export function randomZone(random: Random, owners: number): string {
  const lines = ['@ - A 192.0.2.1']
  for (let number = 0; number < owners; number += 1) {
    const owner = `n${number}`
    const ttl = random.pick(TTLS)
    const rest = random.pick(RDATA)
    if (random.chance(0.15)) continue
    lines.push(...rest(random).map((rdata) => `${owner} ${ttl} ${rdata}`))
  }
  if (random.chance(0.5)) lines.push(`_sip._tcp 300 SRV 10 ${random.below(3)} 5060 n1.example.net.`)
  if (random.chance(0.5)) lines.push(`@ 300 CAA 0 issue "ca${random.below(3)}.example.net"`)
  return lines.join('\n')
}

const some = <T>(random: Random, items: readonly T[]): readonly T[] => random.shuffle(items).slice(0, 1 + random.below(3))

const RDATA: readonly ((random: Random) => string[])[] = [
  (random) => some(random, ADDRESSES).map((address) => `A ${address}`),
  (random) => some(random, ['2001:db8::1', '2001:db8::2']).map((address) => `AAAA ${address}`),
  (random) => [`CNAME t${random.below(4)}.example.net.`],
  (random) => some(random, ['one', 'two words', 'v=spf1 -all']).map((text) => `TXT "${text}"`),
  (random) => (random.chance(0.3) ? ['MX 0 .'] : some(random, ['mx1', 'mx2', 'mx3']).map((host) => `MX 10 ${host}.example.net.`)),
  (random) => [...some(random, ADDRESSES).map((address) => `A ${address}`), `TXT "beside ${random.below(3)}"`],
]
