/** `copy` of zones that BIND's own tools signed: the records of the signer stay where they are, and are listed. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cli, expectEnd } from '../support/cli.ts'
import { startBind, TEST_KEY } from '../support/dns-servers.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { transferZone } from '../support/tools.ts'
import { SIGNING, signedZone } from './signed-zone.ts'

const SOA = '@ 3600 SOA ns1 hostmaster 1 7200 3600 1209600 300\n@ 3600 NS ns1\nns1 3600 A 192.0.2.1\n'
const ZONE = `${SOA}www 3600 A 192.0.2.2\nsub 3600 NS ns.sub\nsub 3600 DS 12345 13 2 ${'ab'.repeat(32)}\nns.sub 3600 A 192.0.2.9\n`
const KEY = '@ 3600 DNSKEY 257 3 13 mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ==\n'

/** The zone with CDS and CDNSKEY records. */
const signed = (...options: string[]): Promise<string> => signedZone(ZONE, [['-f', 'KSK', '-P', 'sync', 'now'], []], options)

async function open(text: string) {
  const folder = temporaryDirectory()
  for (const name of ['former', 'new']) mkdirSync(join(folder, name))
  writeFileSync(join(folder, 'former/example.com.zone'), text)
  const former = await startBind({ zones: [{ name: 'example.com', text }], key: TEST_KEY })
  const own = await startBind({ zones: [{ name: 'example.com', text: SOA }], key: TEST_KEY })
  const server = (port: number): string => `server: '127.0.0.1:${port}', tsig: {name: ${TEST_KEY.name}, secret: env:LAB_KEY}}`
  writeFileSync(
    join(folder, 'zonewright.yaml'),
    `providers:
  former-files: {type: zonefile, directory: former}
  former-axfr: {type: axfr, ${server(former.port)}
  former-updates: {type: rfc2136, ${server(former.port)}
  own: {type: rfc2136, ${server(own.port)}
  new-files: {type: zonefile, directory: new}
`,
  )
  return {
    folder,
    own,
    copy: (from: string, to: string, ...more: string[]) =>
      cli(['copy', 'example.com', '--from', from, '--to', to, '--no-color', ...more], { cwd: folder, env: { LAB_KEY: TEST_KEY.secret } }),
  }
}

describeWithTools(['named', 'dig', ...SIGNING], 'copies of signed zones', () => {
  test.each([
    ['a zone file, with NSEC', 'former-files', []],
    ['a transfer, with NSEC3', 'former-axfr', ['-3', 'abcd']],
    ['a server with updates', 'former-updates', []],
  ] as const)('from %s', async (_, from, options) => {
    const { own, copy } = await open(await signed(...options))
    const [title, , row = ''] = expectEnd(await copy(from, 'own', '--yes'), 0).stderr.split('\n')
    expect(title).toBe('own does not support all of example.com.:')
    expect(row).toMatch(/^ {2}left out +\d+ .*they belong to the signer \(DNSSEC\): sign the zone at own$/)
    const verbose = await copy(from, 'own', '--dry-run', '--verbose')
    for (const name of ['@ DNSKEY', '@ CDS', '@ CDNSKEY', 'www RRSIG']) expect(verbose.stderr).toContain(name)
    expect(verbose.stdout).toContain('No changes')
    const lines = (await transferZone({ port: own.port, name: 'example.com', key: TEST_KEY })).map((line) => line.replace(/\s+/g, ' '))
    expect([...new Set(lines.filter((line) => !/ SOA /.test(line)))].sort()).toEqual([
      'example.com. 3600 IN NS ns1.example.com.',
      'ns.sub.example.com. 3600 IN A 192.0.2.9',
      'ns1.example.com. 3600 IN A 192.0.2.1',
      `sub.example.com. 3600 IN DS 12345 13 2 ${'AB'.repeat(28)} ${'AB'.repeat(4)}`,
      'sub.example.com. 3600 IN NS ns.sub.example.com.',
      'www.example.com. 3600 IN A 192.0.2.2',
    ])
  })

  test('the key of the new provider stays', async () => {
    const { folder, copy } = await open(await signed())
    writeFileSync(join(folder, 'new/example.com.zone'), SOA + KEY)
    expect((await copy('former-axfr', 'new-files', '--yes')).status).toBe(0)
    const text = readFileSync(join(folder, 'new/example.com.zone'), 'utf8')
    expect(text.match(/DNSKEY/g)).toHaveLength(1)
    expect(text).toContain('mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl')
    expect(text).toContain('192.0.2.2')
  })
})
