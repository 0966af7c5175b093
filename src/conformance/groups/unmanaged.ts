/** Records that another system manages: they stay, whatever the definition says. */
import type { UnmanagedSelector } from '../../dns/zone.ts'
import type { ConformanceGroup, ConformanceStep } from '../step.ts'
import { group, step } from '../step.ts'

/** A step that leaves some records unmanaged and omits them, and a step that finds all of them unchanged. */
function ignoring(all: readonly string[]) {
  return (name: string, omitted: readonly number[], ...unmanaged: readonly UnmanagedSelector[]): ConformanceStep[] => [
    {
      ...step(name, ...all.filter((_, index) => !omitted.includes(index))),
      unmanaged,
      stays: all.filter((_, index) => omitted.includes(index)).join('\n'),
      unchanged: true,
    },
    { ...step('VERIFY PREVIOUS', ...all), unchanged: true },
  ]
}

const MAIN = ['foo A 192.0.2.1', 'foo A 192.0.2.2', 'foo TXT "simple"', 'bar A 198.51.100.5', 'mail CNAME ghs.example.net.']
const main = ignoring(MAIN)

const APEX = ['@ A 192.0.2.1', '@ A 192.0.2.2', '@ TXT "simple"', 'bar A 198.51.100.5', 'mail CNAME ghs.example.net.']
const apex = ignoring(APEX)

const WILD = [
  'foo.bat A 192.0.2.1',
  'foo.bat A 192.0.2.2',
  'foo.bat TXT "simple"',
  'bar.bat A 198.51.100.5',
  'mail.bat CNAME mail.example.net.',
]
const wild = ignoring(WILD)

/** Changes beside an unmanaged record of the same name and type. */
function modified(
  name: string,
  from: readonly string[],
  to: readonly string[],
  ...unmanaged: readonly UnmanagedSelector[]
): ConformanceStep[] {
  const stays = 'zoo A 198.51.100.50'
  return [
    { ...step(name, ...to), unmanaged, stays },
    { ...step('VERIFY PREVIOUS', ...to, stays), unchanged: true },
    // Back to the first state, for the next step.
    { ...step('(back)', ...from, stays) },
  ]
}

const MODIFIED = ['foo A 192.0.2.1', 'foo A 192.0.2.2', 'foo TXT "simple"', 'bar A 198.51.100.5', 'mail CNAME ghs.example.net.']
const modify = (name: string, to: readonly string[]): ConformanceStep[] => modified(name, MODIFIED, to, { name: 'zoo', type: 'A' })

export const UNMANAGED_GROUPS: readonly ConformanceGroup[] = [
  group(88, 'IGNORE main', [
    step('Create some records', ...MAIN),
    ...main('ignore label', [0, 1, 2], { name: 'foo' }),
    ...main('ignore label,type', [0, 1], { name: 'foo', type: 'A' }),
    ...main('ignore label,type,target', [0], { name: 'foo', type: 'A', target: '192.0.2.1' }),
    ...main('ignore type', [0, 1, 3], { type: 'A' }),
    ...main('ignore type,target', [0], { type: 'A', target: '192.0.2.1' }),
    ...main('ignore target', [0], { target: '192.0.2.1' }),
    ...main('ignore manytypes', [0, 1, 2, 3], { type: 'A' }, { type: 'TXT' }),
    ...main('ignore label,type,target=*', [0, 1], { name: 'foo', type: 'A', target: '*' }),
  ]),
  group(89, 'IGNORE apex', [
    step('Create some records', ...APEX),
    ...apex('apex label', [0, 1, 2], { name: '@' }),
    ...apex('apex label,type', [0, 1], { name: '@', type: 'A' }),
    ...apex('apex label,type,target', [0], { name: '@', type: 'A', target: '192.0.2.1' }),
    ...apex('apex type', [0, 1, 3], { type: 'A' }),
    ...apex('apex type,target', [0], { type: 'A', target: '192.0.2.1' }),
    ...apex('apex target', [0], { target: '192.0.2.1' }),
    ...apex('apex manytypes', [0, 1, 2, 3], { type: 'A' }, { type: 'TXT' }),
  ]),
  group(90, 'IGNORE unsafe', [
    step('Create some records', 'foo A 192.0.2.1', '@ A 192.0.2.2', 'bar TXT "kept"'),
    {
      ...step('ignore unsafe apex', 'foo A 192.0.2.1', '@ A 198.51.100.8', 'bar TXT "kept"'),
      unmanaged: [{ name: '@' }],
      refused: 'unmanaged-collision',
    },
    { ...step('VERIFY PREVIOUS', 'foo A 192.0.2.1', '@ A 192.0.2.2', 'bar TXT "kept"'), unchanged: true },
    {
      ...step('ignore unsafe label', 'foo A 198.51.100.8', '@ A 192.0.2.2', 'bar TXT "kept"'),
      unmanaged: [{ name: 'foo' }],
      refused: 'unmanaged-collision',
    },
    { ...step('VERIFY PREVIOUS', 'foo A 192.0.2.1', '@ A 192.0.2.2', 'bar TXT "kept"'), unchanged: true },
  ]),
  group(91, 'IGNORE wilds', [
    step('Create some records', ...WILD),
    ...wild('ignore label=foo.*', [0, 1, 2], { name: 'foo.*' }),
    ...wild('ignore label=foo.bat,type', [0, 1], { name: 'foo.bat', type: 'A' }),
    ...wild('ignore target=*.domain', [4], { type: 'CNAME', target: '*.example.net.' }),
  ]),
  group(92, 'IGNORE with modify', [
    step('Create some records', ...MODIFIED, 'zoo A 198.51.100.50'),
    ...modify('IGNORE change ByZone', [
      'foo A 192.0.2.1',
      'foo A 192.0.2.2',
      'foo TXT "changed"',
      'bar A 198.51.100.55',
      'mail CNAME ghs.example.net.',
    ]),
    ...modify('IGNORE change ByLabel', [
      'foo A 192.0.2.1',
      'foo A 192.0.2.22',
      'foo TXT "changed"',
      'bar A 198.51.100.5',
      'mail CNAME ghs.example.net.',
    ]),
    ...modify('IGNORE change ByRecordSet', [
      'foo A 192.0.2.11',
      'foo A 192.0.2.22',
      'foo TXT "simple"',
      'bar A 198.51.100.5',
      'mail CNAME ghs.example.net.',
    ]),
    ...modify('IGNORE change ByRecord', [
      'foo A 192.0.2.1',
      'foo A 192.0.2.22',
      'foo TXT "simple"',
      'bar A 198.51.100.5',
      'mail CNAME ghs.example.net.',
    ]),
  ]),
  group(93, 'IGNORE_TARGET b2285', [
    step('Create some records', 'foo CNAME redact1.acm-validations.example.', 'bar CNAME redact2.acm-validations.example.'),
    {
      ...step('Add a new record - ignoring test.foo.com.'),
      unmanaged: [{ type: 'CNAME', target: '*.acm-validations.example.' }],
      stays: 'foo CNAME redact1.acm-validations.example.\nbar CNAME redact2.acm-validations.example.',
      unchanged: true,
    },
    {
      ...step('VERIFY PREVIOUS', 'foo CNAME redact1.acm-validations.example.', 'bar CNAME redact2.acm-validations.example.'),
      unchanged: true,
    },
  ]),
  group(94, 'IGNORE everything b2822', [
    step('Create some records', 'dyndns-city1 A 192.0.2.1', 'dyndns-city2 A 192.0.2.2', 'dyndns-city1 AAAA 2001:db8::1'),
    {
      ...step('ignore them all'),
      unmanaged: [{ name: 'dyndns-city1', type: 'A' }, { name: 'dyndns-city1', type: 'AAAA' }, { name: 'dyndns-city2' }],
      stays: 'dyndns-city1 A 192.0.2.1\ndyndns-city2 A 192.0.2.2\ndyndns-city1 AAAA 2001:db8::1',
      unchanged: true,
    },
    {
      ...step('VERIFY PREVIOUS', 'dyndns-city1 A 192.0.2.1', 'dyndns-city2 A 192.0.2.2', 'dyndns-city1 AAAA 2001:db8::1'),
      unchanged: true,
    },
  ]),
  group(95, 'IGNORE w/change b3227', [
    step('Create some records', 'testignore A 192.0.2.1', 'testdefined A 192.0.2.9'),
    {
      ...step('ignore', 'testdefined A 192.0.2.9'),
      unmanaged: [{ name: 'testignore', type: 'A' }],
      stays: 'testignore A 192.0.2.1',
      unchanged: true,
    },
    { ...step('VERIFY PREVIOUS', 'testignore A 192.0.2.1', 'testdefined A 192.0.2.9'), unchanged: true },
    {
      ...step('Verify nothing changed', 'testdefined A 192.0.2.9'),
      unmanaged: [{ name: 'testignore', type: 'A' }],
      stays: 'testignore A 192.0.2.1',
      unchanged: true,
    },
    { ...step('VERIFY PREVIOUS', 'testignore A 192.0.2.1', 'testdefined A 192.0.2.9'), unchanged: true },
    {
      ...step('ignore with change', 'testdefined A 192.0.2.22'),
      unmanaged: [{ name: 'testignore', type: 'A' }],
      stays: 'testignore A 192.0.2.1',
    },
    { ...step('VERIFY PREVIOUS', 'testignore A 192.0.2.1', 'testdefined A 192.0.2.22'), unchanged: true },
  ]),
]
