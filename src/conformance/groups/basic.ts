/** Everyday records: create, change, delete, several at once, TTLs, changes of type. */
import { type ConformanceGroup, type ConformanceStep, group, step } from '../step.ts'

const LABEL_1 = ['www A 192.0.2.1', 'www A 192.0.2.2', 'www A 192.0.2.3']

export const BASIC_GROUPS: readonly ConformanceGroup[] = [
  group(1, 'A', [step('Create A', 'testa A 192.0.2.1'), step('Change A target', 'testa A 192.0.2.2')]),
  group(2, 'Apex', [step('Create A', '@ A 192.0.2.1'), step('Change A target', '@ A 192.0.2.2')]),
  group(3, 'Protocol-Wildcard', [step('Create wildcard', '* A 192.0.2.3', 'www A 192.0.2.1'), step('Delete wildcard', 'www A 192.0.2.1')]),
  group(4, 'AAAA', [step('Create AAAA', 'testaaaa AAAA 2001:db8::1'), step('Change AAAA target', 'testaaaa AAAA 2001:db8::ffff')]),
  group(5, 'CNAME', [
    step('Create a CNAME', 'testcname CNAME www.example.net.'),
    step('Change CNAME target', 'testcname CNAME www.example.org.'),
  ]),
  group(6, 'CNAME-short', [step('Create a CNAME', 'foo CNAME testcname', 'testcname A 192.0.2.1')]),
  group(7, 'MX', [
    step('Create MX apex', '@ MX 5 foo.example.net.'),
    step('Change MX apex', '@ MX 5 bar.example.net.'),
    step('Create MX', 'testmx MX 5 foo.example.net.'),
    step('Change MX target', 'testmx MX 5 bar.example.net.'),
    step('Change MX p', 'testmx MX 100 bar.example.net.'),
  ]),
  group(10, 'TXT', [step('Create TXT', 'testtxt TXT "simple"'), step('Change TXT target', 'testtxt TXT "changed"')]),
  group(11, 'ManyAtOnce', [
    step('CreateManyAtLabel', ...LABEL_1),
    step('Create an A record', 'www A 192.0.2.1'),
    step('Add at label1', 'www A 192.0.2.1', 'www A 198.51.100.4'),
    step('Add at label2', 'www A 192.0.2.1', 'www A 198.51.100.4', 'www A 198.51.100.5'),
  ]),
  group(12, 'manyTypesAtOnce', [
    step('CreateManyTypesAtLabel', 'www A 192.0.2.1', 'testmx MX 5 foo.example.net.', 'testmx MX 100 bar.example.net.'),
    step('Create an A record', 'www A 192.0.2.1'),
    step('Add Type At Label', 'www A 192.0.2.1', 'testmx MX 5 foo.example.net.'),
    step('Add Type At Label', 'www A 192.0.2.1', 'testmx MX 5 foo.example.net.', 'testmx MX 100 bar.example.net.'),
  ]),
  group(13, 'Attl', [step('Create Arc', 'testa 333 A 192.0.2.1'), step('Change TTL', 'testa 999 A 192.0.2.1')]),
  group(14, 'TTL', [
    step('Start', '@ 666 A 192.0.2.1', 'www 666 A 192.0.2.1', 'www 666 A 198.51.100.5'),
    step('Change a ttl', '@ 1000 A 192.0.2.1', 'www 666 A 192.0.2.1', 'www 666 A 198.51.100.5'),
    step('Change single target from set', '@ 1000 A 192.0.2.1', 'www 666 A 198.51.100.2', 'www 666 A 198.51.100.5'),
    step('Change all ttls', '@ 500 A 192.0.2.1', 'www 400 A 198.51.100.2', 'www 400 A 198.51.100.5'),
  ]),
  group(15, 'add to label and change orig ttl', [
    step('Setup', 'www 400 A 192.0.2.5'),
    step('Add at same label, new ttl', 'www 700 A 192.0.2.5', 'www 700 A 192.0.2.6'),
  ]),
  group(16, 'TypeChange', [
    step('Create A', 'foo A 192.0.2.1'),
    step('Change to MX', 'foo MX 5 mx.example.net.'),
    step('Change back to A', 'foo A 192.0.2.4'),
  ]),
  group(17, 'TypeChangeHard', [
    step('Create a CNAME', 'foo CNAME www.example.net.'),
    step('Change to A record', 'foo A 192.0.2.1'),
    step('Change back to CNAME', 'foo CNAME www.example.org.'),
  ]),
  group(21, 'CNAME', [step('Record pointing to @', 'foo CNAME @', '@ A 192.0.2.4')]),
  group(22, 'ApexMX', [step('Record pointing to @', 'foo MX 8 @', '@ A 192.0.2.4')]),
  group(23, 'NullMX', nullMxSteps('nmx')),
  group(24, 'NullMXApex', nullMxSteps('@')),
  group(25, 'NS', [
    step('NS for subdomain', 'xyz NS ns2.example.net.'),
    step('Dual NS for subdomain', 'xyz NS ns2.example.net.', 'xyz NS ns1.example.net.'),
    step('NS Record pointing to @', 'foo NS @', '@ A 192.0.2.4'),
  ]),
  group(
    26,
    'NS only APEX',
    [step('Single NS at apex', '@ NS ns1.example.org.'), step('Dual NS at apex', '@ NS ns2.example.org.', '@ NS ns1.example.org.')],
    { managesApexNs: true },
  ),
  group(30, 'testByLabel', editSteps()),
  group(31, 'testByRecordSet', editSteps()),
  group(109, 'final', [step('final', 'final TXT "a group was emptied before this one"')]),
  group(110, 'final', [step('final', 'final TXT "TestDNSProviders was successful"')]),
  group(
    null,
    'TTL of the zone',
    [
      { ...step('a record without a TTL', 'foo A 192.0.2.1'), hasZoneTtl: true },
      step('the record gets a TTL', 'foo 3600 A 192.0.2.1'),
      { ...step('the record loses its TTL', 'foo A 192.0.2.1'), hasZoneTtl: true },
    ],
    { needs: { what: 'records without a TTL', isMet: ({ ttlDefault }) => ttlDefault } },
  ),
  group(null, 'swaps', [
    step('two names', 'a CNAME one.example.net.', 'b A 192.0.2.1', 'b TXT "kept"'),
    step('they swap their types', 'a A 192.0.2.1', 'a TXT "kept"', 'b CNAME one.example.net.'),
    step('and back', 'a CNAME one.example.net.', 'b A 192.0.2.1', 'b TXT "kept"'),
  ]),
]

function nullMxSteps(owner: string): ConformanceStep[] {
  const filler = 'nmx A 192.0.2.3'
  return [
    step('create', filler, `${owner} MX 0 .`),
    step('unnull', filler, `${owner} MX 3 mx.example.net.`, `${owner} MX 9 mx.example.org.`),
    step('renull', filler, `${owner} MX 0 .`),
  ]
}

/** Changes of one record among several of the same name, so that a client that replaces whole sets must keep the others. */
function editSteps(): ConformanceStep[] {
  const foo = ['foo A 192.0.2.1', 'foo A 192.0.2.2']
  const rest = ['foo A 192.0.2.3', 'foo MX 10 foo.example.net.', 'foo MX 20 bar.example.net.']
  return [
    step('initial', ...foo, ...rest),
    step('changeOne', 'foo A 198.51.100.1', 'foo A 192.0.2.2', ...rest),
    step('deleteOne', 'foo A 192.0.2.2', ...rest),
    step('addOne', 'foo A 192.0.2.2', 'foo A 198.51.100.9', ...rest),
  ]
}

// Names: case, internationalised names, and long names.

export const NAME_GROUPS: readonly ConformanceGroup[] = [
  group(29, 'Case Sensitivity', [
    step('Create CAPS', 'BAR CNAME TEST.EXAMPLE.NET.', 'TEST A 192.0.2.1'),
    { ...step('Downcase label', 'bar CNAME TEST.EXAMPLE.NET.', 'TEST A 192.0.2.1'), unchanged: true },
    { ...step('Downcase target', 'bar CNAME test.example.net.', 'test A 192.0.2.1'), unchanged: true },
    { ...step('Upcase both', 'BAR CNAME TEST.EXAMPLE.NET.', 'TEST A 192.0.2.1'), unchanged: true },
  ]),
  group(32, 'IDNA', [
    // öoö, öoö, 中文
    step('Internationalized name', 'xn--o-yfaa A 192.0.2.1'),
    step('Change IDN', 'xn--o-yfaa A 192.0.2.2'),
    step('Chinese label', 'xn--fiq228c A 192.0.2.1'),
    step('Internationalized CNAME Target', 'a CNAME xn--o-yfaa.example.net.'),
  ]),
  group(33, 'IDNAs in CNAME targets', [step('IDN CNAME AND Target', 'xn--o-yfaa CNAME xn--o-7eaa.xn--fiq228c.example.')]),
  group(null, 'unusual names', [
    step('underscores and digits', '_dmarc TXT "v=DMARC1; p=none"', '1 A 192.0.2.1', 'a.b.c.d.e.f A 192.0.2.1'),
    step('a label of 63 octets', `${'l'.repeat(63)} A 192.0.2.1`),
    step('a wildcard below a name', '*.w A 192.0.2.1', 'w A 192.0.2.2'),
    step('an owner of 180 octets', `${`${'x'.repeat(59)}.`.repeat(2)}${'y'.repeat(60)} A 192.0.2.1`),
    step('escaped characters', String.raw`with\.dot A 192.0.2.1`, String.raw`with\032space A 192.0.2.1`),
  ]),
]

// TXT records around the limits of strings and with characters that need escapes.

/** Strings of at most 255 octets (RFC 1035 section 3.3). */
function textOf(length: number, character: string): string {
  const strings: string[] = []
  for (let rest = length; rest > 0 || strings.length === 0; rest -= 255) strings.push(`"${character.repeat(Math.min(rest, 255))}"`)
  return strings.join(' ')
}

const long = (length: number, character: string) => step(`a ${length}-byte TXT`, `foo${length} TXT ${textOf(length, character)}`)

export const TEXT_GROUPS: readonly ConformanceGroup[] = [
  group(27, 'complex TXT', [
    long(0, 'a'),
    long(254, 'B'),
    long(255, 'C'),
    long(256, 'D'),
    long(509, 'C'),
    long(510, 'D'),
    long(511, 'E'),
    long(764, 'F'),
    long(765, 'G'),
    long(766, 'H'),
    step('TXT with 1 single-quote', `foosq TXT "quo'te"`),
    step('TXT with 1 backtick', 'foobt TXT "blah`blah"'),
    step('TXT with 1 dq-1interior', String.raw`foodq TXT "in\"side"`),
    step('TXT with 2 dq-2interior', String.raw`foodqs TXT "in\"ter\"ior"`),
    step('TXT with 1 dq-left', String.raw`foodqs TXT "\"left"`),
    step('TXT with 1 dq-right', String.raw`foodqs TXT "right\""`),
    step('TXT with semicolon', 'foosc TXT "semi;colon"'),
    step('TXT with semicolon ws', 'foosc TXT "wssemi ; colon"'),
    step('TXT interior ws', 'foosp TXT "with spaces"'),
    step('TXT trailing ws', 'foows1 TXT "with space at end "'),
    step('Create a TXT/SPF', 'foo TXT "v=spf1 ip4:192.0.2.99 -all"'),
  ]),
  group(28, 'TXT backslashes', [
    step('TXT with backslashs', String.raw`fooosbs1 TXT "1back\\slash"`, String.raw`fooosbs2 TXT "2back\\\\slash"`),
  ]),
  group(null, 'octets in TXT', [
    step('UTF-8', String.raw`utf8 TXT "sm\195\182rg\195\165s"`),
    step('control characters', String.raw`control TXT "tab\009 and \127"`),
    step('octets that are not UTF-8', String.raw`octets TXT "\000\255\128"`),
    step('several strings', 'several TXT "one" "two" "" "four"'),
    step('several records', 'several TXT "one"', 'several TXT "two"', 'several TXT "onetwo"'),
    step('a text that resembles escapes', String.raw`looks TXT "\\052 \\\" %20 $ORIGIN @ ( )"`),
  ]),
]

// Numbers of records around pages and messages.

const owner = (index: number): string => `rec${String(index).padStart(4, '0')}`
const lines = (count: number, rdata: string): string[] => Array.from({ length: count }, (_, index) => `${owner(index)} ${rdata}`)
const sized = (name: string, size: number, records: readonly string[]): ConformanceStep => ({ ...step(name, ...records), size })

const filled = (count: number): ConformanceStep => sized(`${count} records`, count, lines(count, 'A 192.0.2.4'))
const updated = (count: number): ConformanceStep => sized(`Update ${count} records`, count, lines(count, 'A 198.51.100.4'))

/** Records that take 250 octets each, so that 256 of them are 64,000 octets, the size of one message. */
const large = (count: number): ConformanceStep => sized(`${count} records of 250 octets`, count, lines(count, `TXT "${'x'.repeat(221)}"`))

const others = Array.from({ length: 20 }, (_, index) => `other${index} TXT "beside the records of the group"`)

export const SIZE_GROUPS: readonly ConformanceGroup[] = [
  group(34, 'pager101', [filled(99), filled(100), filled(101)]),
  group(35, 'pager601', [filled(601), updated(601)]),
  group(36, 'pager1201', [filled(1200), updated(1200)]),
  group(37, 'batchRecordswithOthers', [
    filled(1200),
    sized('Update 1200 records and Create others', 1220, [...lines(1200, 'A 198.51.100.4'), ...others]),
    sized('Update 1200 records and Create and Delete others', 1215, [
      ...lines(1200, 'A 198.51.100.7'),
      ...others.slice(10),
      ...others.slice(0, 5).map((line) => `new-${line}`),
    ]),
  ]),
  group(null, 'records around a page of 500', [filled(499), filled(500), filled(501)]),
  group(null, 'records around a message', [large(255), large(256), large(257), large(513)]),
  group(null, 'large zones', [filled(1201), filled(12_000), updated(12_000)]),
]
