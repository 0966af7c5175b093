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
