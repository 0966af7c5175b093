/** Imports signed zones (DNSSEC) from real servers: generated records are left out with a warning, all others are imported. */
import { expect, it } from 'vitest'
import { cli, expectEnd } from '../support/cli.ts'
import { startBind, startKnot, startNsd } from '../support/dns-servers.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { SIGNING, signedZone } from './signed-zone.ts'

const ZONE = `$ORIGIN example.com.
$TTL 3600
@ SOA ns1 hostmaster 1 7200 3600 1209600 300
@ NS ns1
ns1 A 192.0.2.1
* TXT "any"
sub NS ns.sub
sub DS 12345 13 2 ${'ab'.repeat(32)}
ns.sub A 192.0.2.9
`

const SERVERS = [
  { make: 'BIND', tool: 'named', start: startBind },
  { make: 'Knot DNS', tool: 'knotd', start: startKnot },
  { make: 'NSD', tool: 'nsd', start: startNsd },
] as const

for (const { make, tool, start } of SERVERS) {
  describeWithTools([tool, ...SIGNING], make, () => {
    it.each([
      ['NSEC', [], /^\d+ NSEC, \d+ RRSIG$/],
      ['NSEC3', ['-3', 'abcd'], /^\d+ NSEC3, 1 NSEC3PARAM, \d+ RRSIG$/],
    ])('with %s', async (_, options, left) => {
      const server = await start({ zones: [{ name: 'example.com', text: await signedZone(ZONE, [[]], ['-z', ...options]) }] })
      const cwd = temporaryDirectory()
      const result = expectEnd(await cli(['import', 'axfr', `127.0.0.1:${server.port}`, 'example.com'], { cwd, env: {} }), 0)
      const [warning = '', ...more] = result.stderr.split('\n')
      expect(more.slice(0, 2)).toEqual(['1 zone with 7 records, read back and compared.', 'Next:'])
      const [, counts = ''] =
        /^warning\[import-lossy\] example\.com\. is signed \(DNSSEC\): (.*) are left out, because signing generates them \(.*\)$/.exec(
          warning,
        ) ?? []
      expect(counts).toMatch(left)
      expect(result.stdout).toContain('type: DNSKEY')
      expect(result.stdout).toContain('type: DS')
      expect(result.stdout).not.toMatch(/RRSIG|NSEC/)
    })
  })
}
