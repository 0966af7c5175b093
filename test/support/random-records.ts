/** Random records of every type that the cloud target supports, at and past its limits, and of some types that it does not. */
import { octetsToTxtRdata, quoteString } from '../../src/dns/character-string.ts'
import type { DefinedRecord } from '../../src/dns/record.ts'
import { RECORD_TTLS } from '../../src/providers/cloud/capabilities.ts'
import { fc } from './fast-check.ts'
import { ORIGIN } from './plan.ts'
import { records } from './records.ts'

const owners = fc.constantFrom(
  '@',
  'www',
  'WWW',
  '*',
  '*.Sub',
  '_dmarc',
  'b\u00fccher',
  'xn--bcher-kva',
  'a-b.c_d',
  `${'n'.repeat(63)}.${'m'.repeat(36)}`,
  `${'n'.repeat(63)}.${'m'.repeat(37)}`,
)

const ttls: fc.Arbitrary<number | null> = fc.oneof(
  fc.constantFrom(null, 0, 1, 299, 2 ** 31 - 1),
  fc
    .record({ step: fc.nat({ max: RECORD_TTLS.length - 1 }), aside: fc.integer({ min: -1, max: 1 }), between: fc.boolean() })
    .map(({ step, aside, between }) => {
      const value = RECORD_TTLS[step] as number
      const next = RECORD_TTLS[step + 1] ?? value
      return (between ? Math.floor((value + next) / 2) : value) + aside
    }),
  fc.nat({ max: 2 ** 31 - 1 }),
)

export const randomRecords: fc.Arbitrary<DefinedRecord[]> = fc.array(fc.oneof(textRecords(), lineRecords()), {
  minLength: 1,
  maxLength: 12,
})

function textRecords(): fc.Arbitrary<DefinedRecord> {
  const lengths = [0, 1, 254, 255, 256, 509, 510, 511, 764, 765, 766]
  const characters = ['a', 'Z', '0', ' ', '"', '\\', ';', '\\;', '.', '=', '\t', '\u00e9', '\u20ac', '\u{1f600}']
  const text = fc
    .record({ length: fc.constantFrom(...lengths), picks: fc.array(fc.constantFrom(...characters), { minLength: 1, maxLength: 20 }) })
    .map(({ length, picks }) => {
      let octets = Buffer.from(picks.join('').repeat(length), 'utf8').subarray(0, length)
      // A character that would be split is kept or left out. Octets of other encodings are added below.
      while (octets.length > 0 && !isUtf8(octets)) octets = octets.subarray(0, -1)
      return Buffer.concat([octets, Buffer.alloc(length - octets.length, 'x')])
    })
  const octets = fc.oneof({ weight: 9, arbitrary: text }, { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map(Buffer.from) })
  return fc.record({ octets, owner: owners, ttl: ttls, cut: fc.integer({ min: 1, max: 255 }), ownCut: fc.boolean() }).map((parts) => {
    const strings =
      parts.ownCut && parts.octets.length > 0 ? chunks(parts.octets, parts.cut).map(quoteString).join(' ') : octetsToTxtRdata(parts.octets)
    return withTtl({ ...(records(ORIGIN, `${parts.owner} TXT ""`)[0] as DefinedRecord), data: strings }, parts.ttl)
  })
}

function lineRecords(): fc.Arbitrary<DefinedRecord> {
  const names = fc.constantFrom('host', 'Host.Example.COM.', 'a.example.net.', '@', 'b\u00fccher', 'xn--bcher-kva.', '_x.example.net.')
  const edge = fc.constantFrom(0, 1, 254, 255, 256, 65_535)
  const services = fc.constantFrom('_sip._tcp', '_SIP._TCP', '_my-svc._x-y', '_sip._tcp.sub', '_sip._tcp.deep.sub', 'plain', '_only')
  const line = fc.oneof(
    fc.tuple(owners, fc.constantFrom('192.0.2.1', '198.51.100.255', '0.0.0.0')).map(([owner, data]) => `${owner} A ${data}`),
    fc
      .tuple(owners, fc.constantFrom('2001:db8::1', '2001:DB8:0:0:0:0:0:1', '::ffff:192.0.2.1'))
      .map(([owner, data]) => `${owner} AAAA ${data}`),
    fc.tuple(owners, fc.constantFrom('CNAME', 'NS', 'PTR'), names).map((fields) => fields.join(' ')),
    fc.tuple(owners, edge, fc.oneof(names, fc.constant('.'))).map(([owner, preference, host]) => `${owner} MX ${preference} ${host}`),
    fc.tuple(services, edge, edge, edge, fc.oneof(names, fc.constant('.'))).map(([owner, ...data]) => `${owner} SRV ${data.join(' ')}`),
    fc
      .tuple(
        owners,
        fc.constantFrom(0, 1, 128, 255),
        fc.constantFrom('issue', 'ISSUE', 'issuewild', 'iodef', 'tbs'),
        fc.constantFrom('";"', '"ca.example.net"', '"mailto:ca@example.net"', '"ca.example.net; a=b"'),
      )
      .map(([owner, ...data]) => `${owner} CAA ${data.join(' ')}`),
    fc.constantFrom('www HINFO "a" "b"', `a SSHFP 1 1 ${'00'.repeat(20)}`),
  )
  return fc.tuple(line, ttls).map(([text, ttl]) => withTtl(records(ORIGIN, text)[0] as DefinedRecord, ttl))
}

const chunks = (octets: Uint8Array, size: number): Uint8Array[] =>
  Array.from({ length: Math.ceil(octets.length / size) }, (_, index) => octets.subarray(index * size, (index + 1) * size))

const withTtl = (record: DefinedRecord, ttl: number | null): DefinedRecord => ({ ...record, ttl: ttl as DefinedRecord['ttl'] })

function isUtf8(octets: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(octets)
    return true
  } catch {
    return false
  }
}
