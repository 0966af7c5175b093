/**
 * Records of every type of the service, at and past every limit, for the test that compares "fit to target" with the service. Owners are
 * unique by their number, so that no records conflict.
 */
import { octetsToTxtRdata } from '../../src/dns/character-string.ts'
import { type DomainName, parseDomainName } from '../../src/dns/domain-name.ts'
import { canonicalRdata } from '../../src/dns/rdata/canonical.ts'
import type { Token } from '../../src/dns/rdata/field.ts'
import type { DefinedRecord } from '../../src/dns/record.ts'
import type { Ttl } from '../../src/dns/ttl.ts'
import { anyCharacter, fc } from '../support/fast-check.ts'

/** A record of a definition; the owner is relative to the zone, with `#` for the number of the record. */
interface BoundaryRecord {
  readonly owner: string
  readonly type: string
  readonly ttl: number | null
  /** The source of canonical data: tokens, or the octets of a text. */
  readonly data: readonly Token[] | Uint8Array
}

/** Generates `count` records of a zone, the same for the same seed. The line of each is its number. */
export function boundaryRecords(zone: DomainName, count: number, seed: number): DefinedRecord[] {
  return fc.sample(boundaryRecord, { numRuns: count, seed }).flatMap((record, number) => defined(record, zone, number) ?? [])
}

/** The record in canonical form; null if a definition cannot express it. */
function defined({ owner, type, ttl, data }: BoundaryRecord, zone: DomainName, number: number): DefinedRecord | null {
  const text = owner.replace('#', String(number)).replace('ZONE', zone.slice(0, -1))
  const name = text === '' ? { ok: true as const, value: zone } : parseDomainName(text, zone)
  if (!name.ok) return null
  const canonical =
    data instanceof Uint8Array
      ? { ok: true as const, value: octetsToTxtRdata(data) }
      : canonicalRdata(type, data, (target) => parseDomainName(target.replace('ZONE', zone.slice(0, -1)), zone))
  if (!canonical.ok) return null
  return { name: name.value, type, ttl: ttl as Ttl | null, data: canonical.value, at: { file: 'records', line: number, column: 1 } }
}

const STEPS = [300, 3600, 7200, 14400, 28800, 57600, 86400, 172800, 345600, 604800, 1209600, 2419200]

/** Every TTL at which the stored TTL changes, and its neighbours. */
const EDGES = STEPS.flatMap((step, index) => {
  const middle = Math.floor((step + (STEPS[index + 1] ?? step)) / 2)
  return [step - 1, step, step + 1, middle - 1, middle, middle + 1]
})
const ttl = fc.constantFrom<number | null>(null, null, 0, 1, 2, 2 ** 31 - 1, ...EDGES)
const long = (length: number): string => `o#.${'x'.repeat(40)}.`.padEnd(length + 1, 'y')
const owner = fc.oneof(
  { weight: 4, arbitrary: fc.constant('o#') },
  fc.constantFrom(
    'O#.UPPER.Case',
    'o#.bücher',
    'o#.例え',
    '*.o#',
    '*.*.o#',
    'o#.*',
    'o#*.x',
    '_o#',
    '_o#._tcp',
    '-o#-.-',
    'o#.ZONE',
    'o#.x.ZONE.ZONE',
    `o#.${'l'.repeat(63)}`,
    long(97),
    long(98),
    long(99),
    long(100),
    long(101),
    'o#.a.b.c.d.e.f.g.h.i.j.k',
    'o#\\.x',
    'o#\\032x',
    'o#/25',
    'o#\\@',
    'o#.x\\195\\188',
    'xn--o#',
    '0.o#',
  ),
)

const name = fc.constantFrom(
  'www.example.net.',
  'WWW.Example.NET.',
  'bücher.example.',
  'xn--bcher-kva.example.',
  'localhost.',
  'LOCAL-host.',
  'inside',
  'two.labels.inside',
  'ZONE.',
  'a.ZONE.ZONE.',
  '_under._score.example.',
  '-.example.',
  '1.2.3.4.',
  '192.0.2.1.',
  `${'t'.repeat(63)}.example.`,
  `${'t'.repeat(63)}.${'u'.repeat(63)}.${'v'.repeat(63)}.${'w'.repeat(61)}.`,
  '*.example.net.',
  '*.',
  '.',
  'with\\.dot.example.',
  'with\\032space.example.',
  'a/b.example.',
  'x\\000y.example.',
)

const word = (text: string | number): Token => ({ text: String(text), quoted: false })
const record = (type: string, data: fc.Arbitrary<readonly Token[] | Uint8Array>, owners = owner): fc.Arbitrary<BoundaryRecord> =>
  fc.record({ owner: owners, type: fc.constant(type), ttl, data })
/** Types that conflict with no other type, even at the apex. */
const ownerOrApex = fc.oneof({ weight: 9, arbitrary: owner }, fc.constant(''))
const ipv4 = fc.oneof(fc.ipV4(), fc.constantFrom('0.0.0.0', '255.255.255.255', '192.0.2.1'))
const ipv6 = fc.oneof(
  fc.ipV6(),
  fc.constantFrom('::', '::1', '2001:DB8::A', '2001:0db8:0:0:0:0:0:1', '::ffff:192.0.2.1', '64:ff9b::192.0.2.33', 'fe80::1', '1:0:0:2::3'),
)
const byteEdges = fc.constantFrom(0, 1, 10, 254, 255, 256, 1000, 65535)
const shortEdges = fc.constantFrom(0, 1, 5060, 65534, 65535)

const srvOwner = fc.constantFrom(
  '_s#._tcp',
  '_s#._udp',
  '_S#._TCP',
  '_hyphen-s#._tcp',
  '_under_s#._tcp',
  '_s#._xmpp-client',
  '_s#._tcp.sub',
  '_s#._tcp.a.b.c',
  '_s#._tcp._x',
  '_s#._tcp.ZONE',
  '_s#._tcp.sub.ZONE',
  '_s#._tcp.-x-',
  '__s#._tcp',
  '_s#.__tcp',
  '_-s#-._tcp',
  '_s#._-',
  `_s#${'p'.repeat(56)}._tcp`,
  `_s#._${'p'.repeat(62)}`,
  `_s#._tcp.${'q'.repeat(63)}.${'r'.repeat(20)}`,
  `_s#._tcp.${'q'.repeat(63)}.${'r'.repeat(40)}`,
  '_s#._tcp.*',
  '*._s#._tcp',
  '_s#._t_p',
  's#._tcp',
  '_s#.tcp',
  '_s#',
  '_s#._tcp.bücher',
  '_s#\\.x._tcp',
)

/** Text lengths in octets around the limits of strings, which have 255. */
const textOfLength = fc
  .tuple(
    fc.constantFrom(0, 1, 2, 254, 255, 256, 509, 510, 511, 764, 765, 766, 1000, 4096, 65_000),
    fc.constantFrom('a', '"', '\\', ';', ' ', 'ü', '🙂'),
  )
  .map(([length, character]) => Buffer.from(character.repeat(Math.ceil(length / Buffer.byteLength(character)))).subarray(0, length))
const text = fc.oneof(
  textOfLength,
  fc.string({ unit: anyCharacter, maxLength: 40 }).map((value) => Buffer.from(value, 'utf8')),
  fc
    .string({ unit: fc.constantFrom('"', '\\', ';', ' ', '.', 'a', '\t', '$', '@', '(', "'", '`', '0', '1'), maxLength: 12 })
    .map((value) => Buffer.from(value)),
  fc.uint8Array({ maxLength: 12 }),
  fc
    .constantFrom(
      'v=spf1 -all',
      'ends in a dot.',
      ' spaces at both ends ',
      '\\',
      '\\\\',
      '\\"',
      '\\052',
      '"quoted" "twice"',
      '@',
      '.',
      ' ',
      '\u0000',
      'a\u0000b',
      '\ufeffmark',
      'line\nbreak\r\n',
      '\u007f\u0001\u001f',
      'e\u0301 not é',
      '[remote_addr]',
    )
    .map((value) => Buffer.from(value)),
)

const caaValue = fc.constantFrom(
  'ca.example.net',
  'CA.Example.NET',
  'localhost',
  ';',
  ' ; ',
  '',
  'ca.example.net; validationmethods=dns-01',
  '*.example.net',
  'ca.example.net.',
  'a_b.example.net',
  '-a.example.net',
  'a-.example.net',
  `${'c'.repeat(63)}.example.net`,
  `${'c'.repeat(64)}.example.net`,
  'mailto:security@example.com',
  'mailto:security+caa@sub.example.com',
  'mailto:security@bücher.example',
  'mailto:security@ex_ample.com',
  'mailto:@example.com',
  'mailto:a"b@example.com',
  'http://example.com/report?a=b&c=d#e',
  'https://example.com',
  'HTTPS://example.com/',
  'https://bücher.example/ä',
  'https://example.com/"x"',
  'https://example.com/a b',
  'https://example.com/\\',
  'https://',
  'ftp://example.com/',
  'security@example.com',
)
/** Values that need escapes. */
const escapedCaaValue = fc.constantFrom('https://example.com/\\000', 'https://example.com/\\255', 'https://example.com/\\007', '\\195\\188')
const caa = fc
  .tuple(
    fc.constantFrom(0, 0, 0, 0, 1, 127, 128, 255),
    fc.constantFrom('issue', 'issuewild', 'iodef', 'ISSUE', 'issuemail', 'x'),
    fc.oneof({ weight: 4, arbitrary: caaValue.map((value) => value.replace(/["\\]/g, '\\$&')) }, escapedCaaValue),
  )
  .map(([flags, tag, value]) => [word(flags), word(tag), { text: value, quoted: true }])

const boundaryRecord: fc.Arbitrary<BoundaryRecord> = fc.oneof(
  record(
    'A',
    ipv4.map((address) => [word(address)]),
    ownerOrApex,
  ),
  record(
    'AAAA',
    ipv6.map((address) => [word(address)]),
    ownerOrApex,
  ),
  record(
    'CNAME',
    name.map((target) => [word(target)]),
  ),
  record(
    'NS',
    name.map((target) => [word(target)]),
  ),
  record(
    'PTR',
    name.map((target) => [word(target)]),
  ),
  {
    weight: 2,
    arbitrary: record(
      'MX',
      fc.tuple(byteEdges, name).map(([preference, target]) => [word(preference), word(target)]),
    ),
  },
  record('MX', fc.constantFrom([word(0), word('.')], [word(10), word('.')])),
  {
    weight: 3,
    arbitrary: record(
      'SRV',
      fc.tuple(byteEdges, shortEdges, shortEdges, name).map((fields) => fields.map(word)),
      srvOwner,
    ),
  },
  // A service that is not available (RFC 2782).
  record('SRV', fc.constant([word(0), word(0), word(0), word('.')]), srvOwner),
  { weight: 4, arbitrary: record('TXT', text, ownerOrApex) },
  { weight: 3, arbitrary: record('CAA', caa, ownerOrApex) },
)
