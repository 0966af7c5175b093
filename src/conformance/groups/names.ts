/** Names: case, internationalised names, and long names. */
import type { ConformanceGroup } from '../step.ts'
import { group, step } from '../step.ts'

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
