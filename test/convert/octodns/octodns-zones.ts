/** Generated zones of every type that octoDNS supports, with names and values that YAML, Python or a zone file could misread. */
import { type DomainName, parseDomainName } from '../../../src/dns/domain-name.ts'
import { type DefinedRecord, groupRrsets } from '../../../src/dns/record.ts'
import { parseZoneFile } from '../../../src/dns/zone-file/parse-zone-file.ts'
import { fc } from '../../support/fast-check.ts'

export type GeneratedZone = { readonly name: DomainName; readonly records: readonly DefinedRecord[] }

const label = fc.constantFrom(
  ...'@ www WWW * *.a a.b.c _dmarc _sip._tcp _443._tcp 1 010 0x1f 1e2 1_000 1.10 12:30 2001-01-01 null ~ true no on y = - -- a-b -a a- xn--bcher-kva bücher'.split(
    ' ',
  ),
  ...[...'a\\.b sp\\032ace \\035 \\064 \\" \\; !x &x %x << [x] {x} x,y | > x\\:y \\? \\200 ` $x'.split(' '), ...["it's", '\\\\']],
  `${'n'.repeat(63)}.${'m'.repeat(63)}`,
)

const target = fc.constantFrom(
  ...'host Host.Example.NET. @ _x.example.net. xn--bcher-kva.example.net. 1.2.3 a\\.b.example.net. localhost. *.x .'.split(' '),
)
const number = (max: number): fc.Arbitrary<string> => fc.oneof(fc.constantFrom(0, 1, max), fc.nat(max)).map(String)
const hex = (octets: number): fc.Arbitrary<string> =>
  fc.uint8Array({ minLength: octets, maxLength: octets }).map((bytes) => Buffer.from(bytes).toString('hex'))
const pick = (...texts: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...texts)

const PIECES = [
  ...'a Z 0 \\" ; \\\\; \\\\\\\\; . = : # % { $x \\009 \\010 \\195\\169 \\240\\159\\152\\128 \\194\\133 \\127 true 1e3 "'.split(' '),
  '\\;',
  ...[' ', '  ', '\\"\\ \\"', '\\\\', ' # ', "'"],
]
const text = fc.array(pick(...PIECES.filter((piece) => piece !== '"')), { maxLength: 12 }).map((pieces) => pieces.join(''))
const strings = fc.oneof(
  { weight: 6, arbitrary: text.map((one) => `"${one}"`) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(254, 255, 256, 510, 511, 700), pick('x', ' ', ';'))
      .map(([length, fill]) => (fill.repeat(length).match(/.{1,255}/g) ?? []).map((one) => `"${one}"`).join(' ')),
  },
  { weight: 1, arbitrary: fc.tuple(text, text).map((two) => two.map((one) => `"${one}"`).join(' ')) },
)

const address4 = pick('192.0.2.1', '0.0.0.0', '255.255.255.255', '10.10.10.10')
const address6 = pick('2001:db8::1', '::', '::ffff:192.0.2.1', 'fe80::1:0:0:1')
const params = fc
  .uniqueArray(
    pick(
      ...'alpn=h2,h3 alpn="h2" port=443 ipv4hint=192.0.2.1,192.0.2.2 ipv6hint=2001:db8::1 key77=abc key78 dohpath=/q{?dns}'.split(' '),
      'ohttp',
      ...['no-default-alpn alpn=h3', 'mandatory=port port=1'],
      'mandatory=ipv4hint ipv4hint=192.0.2.9',
    ),
    { maxLength: 3, selector: (one) => (/^(?:mandatory|no-default)/.test(one) ? one.split(' ')[1]?.split('=')[0] : one.split('=')[0]) },
  )
  .map((all) => all.join(' '))

const row = (...parts: readonly fc.Arbitrary<string>[]): fc.Arbitrary<string> => fc.tuple(...parts).map((texts) => texts.join(' '))

const DATA: Readonly<Record<string, fc.Arbitrary<string>>> = {
  A: address4,
  AAAA: address6,
  ALIAS: target,
  CAA: row(
    pick('0', '128', '1'),
    pick('issue', 'issuewild', 'iodef', 'tbs', 'ISSUE'),
    pick('";"', '"ca.example.net"', '"ca.example.net; a=b"', '"mailto:a@example.net"', '""', '"a\\"b"'),
  ),
  CNAME: target,
  DNAME: target,
  DS: row(number(65_535), pick('8', '13', '15'), pick('2'), hex(32)),
  HTTPS: row(pick('0', '1', '16'), target, params),
  LOC: row(
    pick('52 14 5.001', '0 0 0', '90', '1 2'),
    pick('N', 'S'),
    pick('0 8 50', '180', '7 59 59.999'),
    pick('E', 'W'),
    pick('10m', '-100.00m', '42849672.95m', '10.33m 0m', '0m 100m 10m', '1m 1m 2m 3m', '5'),
  ),
  MX: row(number(65_535), target),
  NAPTR: row(
    number(65_535),
    number(65_535),
    pick('"U"', '"S"', '""', '"s"', '"X"'),
    pick('"E2U+sip"', '""', '"SIP+D2U"'),
    pick('""', '"!^.*$!sip:x@example.com!"', '"!^(.*)$!\\\\\\\\1!"', '"a;b"'),
    target,
  ),
  NS: target,
  OPENPGPKEY: hex(40).map((text) => Buffer.from(text, 'hex').toString('base64')),
  PTR: target,
  SPF: strings,
  SRV: row(number(65_535), number(65_535), number(65_535), target),
  SSHFP: row(pick('1', '3', '4', '6'), pick('1', '2', '3'), fc.oneof(hex(20), hex(32), hex(2))),
  SVCB: row(pick('0', '1'), target, params),
  TLSA: fc.oneof(
    ...['0', '1', '2'].map((matching) => row(pick('0', '3', '255'), pick('0', '1'), pick(matching), hex(matching === '2' ? 64 : 32))),
  ),
  TXT: strings,
  URI: row(number(65_535), number(65_535), pick('"https://example.com/a?b=c#d"', '"ftp://x/%20"', '"https://Example.com/A"', '"a b"')),
  URLFWD: pick('"/" "http://www.example.com/" 301 2 0', '"/a" "https://example.net/" 302 0 1', '"/" "x" 307 9 9'),
}

/** The record types of the generated zones: all that octoDNS supports. */
export const GENERATED_TYPES: readonly string[] = Object.keys(DATA)

const line = fc
  .constantFrom(...GENERATED_TYPES)
  .chain((type) =>
    fc
      .tuple(label, number(2 ** 31 - 1), fc.array(DATA[type] as fc.Arbitrary<string>, { minLength: 1, maxLength: 3 }))
      .map(([owner, ttl, values]) => values.map((data) => `${owner} ${ttl} ${type} ${data}`)),
  )

/** Zones as lines of zone-file text, one list per RRset. */
export const zoneLines: fc.Arbitrary<string[][]> = fc.array(line, { minLength: 1, maxLength: 12 })

/** A valid zone from generated lines: without invalid lines and repeated RRsets, and with a CNAME alone at its name. */
export function zoneOf(number: number, lines: readonly (readonly string[])[]): GeneratedZone {
  const name = parseDomainName(`z${number}.example.com.`)
  if (!name.ok) throw new Error(name.message)
  const sets = new Map<string, readonly DefinedRecord[]>()
  for (const rrset of lines) {
    const { records } = parseZoneFile(`${rrset.join('\n')}\n`, { origin: name.value, file: 'a.zone' })
    for (const [key, found] of groupRrsets(records)) {
      const distinct = [...new Map(found.map((record) => [record.data, record])).values()]
      const alone = found[0]?.type === 'CNAME'
      const beside = [...sets.values()].flat().filter((other) => other.name === found[0]?.name)
      if (sets.has(key) || beside.some((other) => alone || other.type === 'CNAME')) continue
      sets.set(
        key,
        distinct.map((record) => ({ ...record, ttl: distinct[0]?.ttl ?? null })),
      )
    }
  }
  return { name: name.value, records: [...sets.values()].flat() }
}
