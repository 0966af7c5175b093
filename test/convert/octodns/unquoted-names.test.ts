/** Unquoted names are read as octoDNS reads them: as `str(yaml.safe_load(name)).lower()` of PyYAML 6. */
import { expect, test } from 'vitest'
import { octodnsName } from '../../../src/convert/octodns/zone-file-differences.ts'

const IGNORED_RRSET = `
1.10 1.1|10.20 10.2|010 8|00 0|0.10 0.1|1. 1.0|1.0e+5 100000.0|1.5e+300 1.5e+300|+1 1|-010 -8|-0 0|0x1f 31|0b11 3|1_000 1000|0_7 7
1:30 90|1:30.5 90.5|1.1234567890123456789 1.1234567890123457|0.00001 1e-05|12345678901234567.0 1.2345678901234568e+16
yes true|On true|No false|off false|null none|~ none
`

test.each(IGNORED_RRSET.trim().split(/[|\n]/))('%s', (line) => {
  const [text = '', name] = line.split(' ')
  expect(octodnsName(text)).toBe(name)
})

test.each('1 0 -1 10.2 1.1.10 1e2 08 1e-7 12345678901234567890 0.0001 y N true www _dmarc * 2024-01-01 0b_ 0x _1 1:60'.split(' '))(
  '%s is read as text',
  (text) => expect(octodnsName(text)).toBe(text),
)
