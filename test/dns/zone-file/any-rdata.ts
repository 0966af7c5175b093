import { octetsToTxtRdata, quoteString } from '../../../src/dns/character-string.ts'
import { formatIpv6 } from '../../../src/dns/ip-address.ts'
import { formatTimestamp } from '../../../src/dns/rdata/numbers.ts'
import { type FieldKind, RDATA_TYPES } from '../../../src/dns/rdata/rdata-types.ts'
import { fc } from '../../support/fast-check.ts'

/** Random rdata of a type in presentation format, restricted to data that every server accepts. Names are absolute. */
export function anyRdata(type: string): fc.Arbitrary<string> {
  const special = SPECIAL[type]
  if (special) return special
  const fields = RDATA_TYPES.get(type)?.fields ?? []
  return fc.tuple(...fields.map(({ kind }) => KINDS[kind])).map((texts) => texts.filter((text) => text !== '').join(' '))
}

const unsigned = (bits: number): fc.Arbitrary<string> =>
  fc.oneof(fc.nat(9), fc.integer({ min: 0, max: 2 ** bits - 1 }), fc.constant(2 ** bits - 1)).map(String)
const U8 = unsigned(8)
const U16 = unsigned(16)
const U32 = unsigned(32)

const octets = (minLength: number, maxLength = minLength): fc.Arbitrary<Buffer> =>
  fc.uint8Array({ minLength, maxLength }).map((array) => Buffer.from(array))
const hex = (minLength: number, maxLength = minLength): fc.Arbitrary<string> =>
  octets(minLength, maxLength).map((buffer) => buffer.toString('hex'))
const base64 = octets(1, 80).map((buffer) => buffer.toString('base64'))
const quoted = (minLength: number, maxLength: number): fc.Arbitrary<string> =>
  fc
    .oneof(
      octets(minLength, maxLength),
      fc.constantFrom('a b', 'x;y', '"q" \\', '(p)', '@', '$TTL', '\\#').map((text) => Buffer.from(text)),
    )
    .map(quoteString)
const digits = (minLength: number, maxLength: number): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...'0123456789'), { minLength, maxLength }).map((parts) => `"${parts.join('')}"`)
const list = (item: fc.Arbitrary<string>, minLength: number, maxLength: number, between = ' '): fc.Arbitrary<string> =>
  fc.array(item, { minLength, maxLength }).map((items) => items.join(between))
const join = (...parts: fc.Arbitrary<string>[]): fc.Arbitrary<string> => fc.tuple(...parts).map((texts) => texts.join(' '))

const label = fc.oneof(
  fc.constantFrom('a', 'www', '_tcp', 'xn--bcher-kva', '*', 'x-y', 'n'.repeat(63)),
  fc.constantFrom('a\\.b', '\\000\\255', 'x\\@', '\\;\\"', '\\$', '\\(\\)', '\\\\', '\\032'),
)
const name = fc
  .tuple(fc.array(label, { maxLength: 3 }), fc.constantFrom('example.com.', 'example.net.', 'com.'))
  .map(([labels, end]) => [...labels, end].join('.'))
const ipv4 = octets(4).map((address) => address.join('.'))
const ipv6 = fc.array(fc.oneof(fc.constant(0), fc.nat(0xffff)), { minLength: 8, maxLength: 8 }).map(formatIpv6)
const types = fc
  .uniqueArray(fc.constantFrom('A', 'NS', 'SOA', 'MX', 'TXT', 'AAAA', 'RRSIG', 'NSEC', 'CAA', 'TYPE1234', 'TYPE65280'), { minLength: 1 })
  .map((all) => all.join(' '))
/** Up to 2038: ldns miscalculates later times. */
const time = fc.nat(0x7fff_ffff).map((seconds) => formatTimestamp(seconds))
const gateway = (...head: fc.Arbitrary<string>[]): fc.Arbitrary<string> =>
  fc
    .tuple(fc.nat(3), ...head, ipv4, ipv6, name)
    .map(([kind, ...parts]) =>
      [...parts.slice(0, head.length), ['.', ...parts.slice(head.length)][kind]].join(' ').replaceAll('KIND', String(kind)),
    )

const prefix = fc.oneof(
  fc.tuple(fc.boolean(), ipv4, fc.nat(32)).map(([not, address, bits]) => `${not ? '!' : ''}1:${address}/${bits}`),
  fc.tuple(fc.boolean(), ipv6, fc.nat(128)).map(([not, address, bits]) => `${not ? '!' : ''}2:${address}/${bits}`),
)

const locator = octets(8).map((buffer) => buffer.toString('hex').replace(/(.{4})(?=.)/g, '$1:'))

const svcParams = fc
  .subarray([
    ...'alpn=h2,h3 alpn="f\\\\\\\\oo\\\\,bar,h2" port=8443 ipv4hint=192.0.2.1,192.0.2.2 ech=AEj+DQBE'.split(' '),
    'ipv6hint=2001:db8::1,::ffff:198.51.100.1',
    'key65000="a b\\255"',
    'key65001',
    'mandatory=MANDATORY',
  ])
  .map((params) => params.filter((param, i) => !(param.startsWith('alpn') && i > 0)))
  .map((params) => {
    const keys = params.map((param) => param.replace(/=.*/s, '')).filter((key) => key !== 'mandatory')
    return params
      .filter((param) => keys.length > 0 || !param.startsWith('mandatory'))
      .map((param) => param.replace('MANDATORY', keys.join(',')))
      .join(' ')
  })

const KINDS: Readonly<Record<FieldKind, fc.Arbitrary<string>>> = {
  u8: U8,
  u16: U16,
  u32: U32,
  u64: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String),
  seconds: fc.nat(0x7fff_ffff).map(String),
  time,
  name,
  ipv4,
  ipv6,
  string: quoted(0, 255),
  'optional-string': fc.oneof(fc.constant(''), quoted(1, 20)),
  strings: list(quoted(0, 255), 1, 5),
  script: fc.string({ maxLength: 600 }).map((text) => octetsToTxtRdata(Buffer.from(text))),
  text: quoted(1, 600),
  tag: fc.constantFrom('issue', 'iodef', 'x1'),
  hex: hex(1, 70),
  base64,
  'optional-base64': fc.oneof(fc.constant(''), base64),
  'base64-or-dash': fc.oneof(fc.constant('-'), base64),
  salt: fc.oneof(fc.constant('-'), hex(1, 255)),
  hash: fc.constant('2t7b4g4vsa5smi47k61mv5bv1a22bojr'),
  eui48: octets(6).map((buffer) => buffer.toString('hex').replace(/(..)(?=.)/g, '$1-')),
  eui64: octets(8).map((buffer) => buffer.toString('hex').replace(/(..)(?=.)/g, '$1-')),
  locator64: locator,
  nsap: hex(1, 20).map((text) => `0x${text}`),
  algorithm: fc.constantFrom('5', '8', '13', 'ED25519', '253'),
  'certificate-type': fc.constantFrom('PKIX', '253', '1', '65280'),
  'dsync-scheme': fc.constantFrom('NOTIFY', '2', '255'),
  type: fc.constantFrom('A', 'MX', 'CAA', 'TYPE65280'),
  types,
  prefixes: list(prefix, 0, 4),
  'svc-params': svcParams,
  location: fc
    .tuple(
      fc.nat(90 * 3600_000),
      fc.constantFrom('N', 'S'),
      fc.nat(180 * 3600_000),
      fc.constantFrom('E', 'W'),
      fc.integer({ min: -10_000_000, max: 4_284_967_295 }),
      fc.constantFrom('', '1m', '1m 200m', '0.05m 10000m 10m', '90000000m 0m 3m'),
    )
    .map(([latitude, n, longitude, e, altitude, rest]) => {
      const angle = (part: number): string =>
        `${Math.floor(part / 3600_000)} ${Math.floor(part / 60_000) % 60} ${((part % 60_000) / 1000).toFixed(3)}`
      return `${angle(latitude)} ${n} ${angle(longitude)} ${e} ${(altitude / 100).toFixed(2)}m ${rest}`.trim()
    }),
  'ipsec-key': fc.tuple(U8, gateway(fc.constant('KIND 2')), base64).map(([precedence, host, key]) => `${precedence} ${host} ${key}`),
  'amt-relay': gateway(fc.constantFrom('10 0 KIND', '255 1 KIND')),
  'host-identity': fc
    .tuple(U8, hex(1, 20), base64, list(name, 0, 3))
    .map(([algorithm, hit, key, servers]) => `${algorithm} ${hit} ${key} ${servers}`.trim()),
}

/** Digests of the length that their type requires: servers check it. */
const digest = (head: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(head, fc.constantFrom([1, 20], [2, 32], [4, 48]), octets(48))
    .map(([first, [kind, length], buffer]) => `${first} ${kind} ${buffer.subarray(0, length).toString('hex')}`)
const DIGEST = digest(join(U16, KINDS.algorithm))
const KEY = join(fc.constantFrom('256', '257', '0'), fc.constant('3'), fc.constantFrom('8', '13', '15'), base64)

const SIGNED = [fc.constantFrom('8', '13'), fc.constantFrom('2', '3'), fc.constant('300'), time, time, U16, fc.constant('example.com.')]
const SIGNATURE = join(KINDS.type, ...SIGNED, base64)

/** Types whose fields depend on each other or have extra rules in servers. */
const SPECIAL: Readonly<Record<string, fc.Arbitrary<string>>> = {
  NS: name.map((target) => target.replace(/example\.com\.$/, 'example.net.')),
  RRSIG: SIGNATURE,
  SIG: SIGNATURE,
  X25: digits(4, 20),
  ISDN: fc.oneof(digits(1, 20), join(digits(1, 20), digits(1, 4))),
  GPOS: fc.constantFrom('-32.6882 116.8652 10.0', '0 -180 -100.25', '90 180 8848'),
  NAPTR: join(
    U16,
    U16,
    fc.constantFrom('"u"', '"S"', '""', '"a1"'),
    quoted(0, 60),
    fc.constantFrom('""', '"!^.*$!sip:a\\\\@example.com!"', '"/a(.)b/\\\\1/i"'),
    name,
  ),
  DS: DIGEST,
  CDS: fc.oneof(DIGEST, fc.constant('0 0 0 00')),
  TA: DIGEST,
  DLV: DIGEST,
  SSHFP: fc
    .tuple(fc.nat(6), fc.constantFrom([1, 20], [2, 32]), octets(32))
    .map(([algorithm, [kind, length], buffer]) => `${algorithm} ${kind} ${buffer.subarray(0, length).toString('hex')}`),
  DNSKEY: KEY,
  CDNSKEY: KEY,
  KEY,
  RKEY: join(fc.constant('0 3'), fc.constantFrom('8', '13'), base64),
  NSEC3: join(fc.constant('1 0'), U16, KINDS.salt, KINDS.hash, types),
  NSEC3PARAM: join(fc.constant('1 0'), U16, KINDS.salt),
  ZONEMD: fc.oneof(
    join(U32, fc.constant('1 1'), hex(48)),
    join(U32, fc.constant('1 2'), hex(64)),
    join(U32, fc.constant('240 240'), hex(12, 80)),
  ),
  CSYNC: join(U32, fc.constantFrom('0', '3'), types),
  SVCB: join(fc.integer({ min: 1, max: 65535 }).map(String), name, svcParams),
  HTTPS: fc.oneof(
    join(fc.integer({ min: 1, max: 65535 }).map(String), name, svcParams),
    name.map((target) => `0 ${target}`),
  ),
  CERT: join(KINDS['certificate-type'], U16, KINDS.algorithm, base64),
  CAA: join(fc.constantFrom('0', '128'), KINDS.tag, quoted(0, 300)),
  URI: join(U16, U16, quoted(1, 300)),
}
