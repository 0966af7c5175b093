import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { printZoneFile } from '../../../src/dns/zone-file/print-zone-file.ts'
import { describeWithTools } from '../../support/skip.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'
import { runTool } from '../../support/tools.ts'
import { lines, ORIGIN, parse } from './zone-text.ts'

const sorted = (records: Parameters<typeof lines>[0]): string[] => [...new Set(lines(records))].sort()

const saved = (text: string): string => {
  const file = join(temporaryDirectory(), 'zone')
  writeFileSync(file, text)
  return file
}

const STYLES = ['canonical', 'pretty'] as const

/** Records that some reader misreads unless they are printed with care: most TTLs are 0, signatures state another, names end in a backslash. */
const EASILY_MISREAD = parse(`
@ 300 SOA ns1 h 1 2h 15m 2w 5m
@ 0 NS ns1
ns1 0 A 192.0.2.53
a 0 IPSECKEY 10 3 2 www.\\\\.example.com. AQID
b 0 A 192.0.2.1
c 7200 RRSIG A 8 2 300 20380101000000 20240101000000 5 @ AQID
c 7200 A 192.0.2.2
c 7200 SIG A 8 2 300 20380101000000 20240101000000 5 @ AQID
d 7200 MX 10 x.\\\\.example.com.
d 7200 TXT "a"
e 7200 NS \\@.e
e 7200 MX 10 \\064.e
f 7200 CERT 0 1 8 AQID
f 7200 CSYNC 66 3
f 7200 KEY 49152 3 8
f 7200 HTTPS 1 . ohttp
f 7200 HTTPS 2 . alpn=h2 tls-supported-groups=29,23
f 7200 SVCB 1 . docpath=a
f 7200 SVCB 2 . key11="ohttp=x ohttp"
`)

describeWithTools(['nsd-checkzone'], 'nsd-checkzone reads printed zones', () => {
  test.each(STYLES)('records that are easily misread, %s', async (style) => {
    // It replaces a missing key with its own.
    const records = EASILY_MISREAD.records.filter(({ type }) => type !== 'KEY')
    const { stdout } = await runTool('nsd-checkzone', ['-p', 'example.com', saved(printZoneFile(records, { origin: ORIGIN, style }))])
    expect(sorted(parse(stdout).records)).toEqual(sorted(records))
  })
})

describeWithTools(['ldns-read-zone'], 'ldns-read-zone reads printed zones', () => {
  test.each(STYLES)('records that are easily misread, %s', async (style) => {
    const file = saved(printZoneFile(EASILY_MISREAD.records, { origin: ORIGIN, style }))
    const { stdout } = await runTool('ldns-read-zone', [file])
    expect(sorted(parse(stdout).records)).toEqual(sorted(EASILY_MISREAD.records))
  })
})
