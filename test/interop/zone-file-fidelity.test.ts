/** Zone files that other programs wrote, imported and exported again. They are checked by named-checkzone (BIND), kzonecheck (Knot) and nsd-checkzone. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { filesBelow } from '../cli/scene.ts'
import { folderOf, run } from '../cli/zone-file-folder.ts'
import { expectEnd } from '../support/cli.ts'
import { describeWithTools } from '../support/skip.ts'
import { runTool } from '../support/tools.ts'

const HEAD = '$TTL 300\n@ SOA ns1.example.net. hostmaster.example.com. 7 7200 3600 1209600 300\n@ NS ns1.example.net.\n'

/** The zone as named-checkzone reads it from a file, in canonical text. */
async function bindZone(zone: string, path: string): Promise<string[]> {
  const { status, stdout, stderr } = await runTool('named-checkzone', ['-q', '-D', '-o', '-', '-i', 'local', zone, path])
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return stdout.split('\n').filter((line) => line !== '')
}

describeWithTools(['named-checkzone'], 'types without a name in BIND', () => {
  /** Types with a form of their own here, and the same records for BIND. */
  const RECORDS: readonly (readonly [string, string])[] = [
    ['IPN 1', 'TYPE264 \\# 8 0000000000000001'],
    ['CLA "a"', 'TYPE263 \\# 2 0161'],
    ['WALLET "BTC" "x"', 'TYPE262 \\# 6 034254430178'],
    ['GID 1', 'TYPE102 \\# 4 00000001'],
    ['GID \\# 3 010203', 'TYPE102 \\# 3 010203'],
    ['UID 1', 'TYPE101 \\# 4 00000001'],
    ['UINFO "a"', 'TYPE100 \\# 2 0161'],
    ['UINFO \\# 2 0561', 'TYPE100 \\# 2 0561'],
    ['AMTRELAY \\# 3 0A0401', 'AMTRELAY \\# 3 0a0401'],
    ['DSYNC CDS NOTIFY 5300 a.', 'TYPE66 \\# 8 003b0114b4016100'],
    ['HHIT AAAA', 'TYPE67 \\# 3 000000'],
    ['BRID AAAA', 'TYPE68 \\# 3 000000'],
    ['RESINFO "qnamemin"', 'TYPE261 \\# 9 08716e616d656d696e'],
  ]

  it('are exported as TYPE### with the same octets', async () => {
    const lines = (side: 0 | 1): string => RECORDS.map((record, i) => `t${i} ${record[side]}\n`).join('')
    const cwd = folderOf({ 'in/example.com.zone': HEAD + lines(0), 'same/example.com.zone': HEAD + lines(1) })
    expect(await run(cwd, 'import', 'zonefile', 'in', '-o', 'zones')).toMatchObject({ status: 0 })
    expect(await run(cwd, 'export', 'zonefile', '-o', 'out', '--serial', '7')).toMatchObject({ status: 0 })
    const exported = readFileSync(join(cwd, 'out/example.com.zone'), 'utf8')
    expect(exported).not.toMatch(/ (?:IPN|CLA|WALLET|GID|UID|UINFO|DSYNC|HHIT|BRID|RESINFO) /)
    expect(await bindZone('example.com', join(cwd, 'out/example.com.zone'))).toEqual(
      await bindZone('example.com', join(cwd, 'same/example.com.zone')),
    )
    expect(await run(cwd, 'import', 'zonefile', 'out', '-o', 'again')).toMatchObject({ status: 0 })
    expect(filesBelow(cwd)['again/example.com.yaml']).toBe(filesBelow(cwd)['zones/example.com.yaml'])
  })
})

/** A root zone with delegations, glue and the types of DNSSEC; the signatures are not real. */
const ROOT_ZONE = `; the root
.	86400	IN	SOA	a.root-servers.net. nstld.verisign-grs.com. 2024010100 1800 900 604800 86400
.	86400	IN	RRSIG	SOA 8 0 86400 20240114050000 20240101040000 30903 . AAAA
.	518400	IN	NS	a.root-servers.net.
.	518400	IN	NS	m.root-servers.net.
.	172800	IN	DNSKEY	257 3 8 AwEAAaz/tAm8yTn4Mfeh5eyI96WSVexTBAvkMgJzkKTOiW1vkIbzxeF3
.	86400	IN	NSEC	com. NS SOA RRSIG NSEC DNSKEY
com.	172800	IN	NS	a.gtld-servers.net.
com.	86400	IN	DS	19718 13 2 8acbb0cd28f41250a80a491389424d341522d946b0da0c0291f2d3d771d7805a
com.	86400	IN	RRSIG	DS 8 1 86400 20240114050000 20240101040000 30903 . AAAA
com.	86400	IN	NSEC	net. NS DS RRSIG NSEC
net.	172800	IN	NS	a.gtld-servers.net.
net.	86400	IN	NSEC	. NS RRSIG NSEC
a.gtld-servers.net.	172800	IN	A	192.5.6.30
a.gtld-servers.net.	172800	IN	AAAA	2001:503:a83e::2:30
a.root-servers.net.	518400	IN	A	198.41.0.4
m.root-servers.net.	518400	IN	A	202.12.27.33
`

describeWithTools(['named-checkzone', 'kzonecheck'], 'the root zone', () => {
  it.each(['root.zone', 'db.root', 'named.ca'])('is imported from %s, validated and exported', async (file) => {
    const cwd = folderOf({ [`in/${file}`]: ROOT_ZONE })
    expect(await run(cwd, 'import', 'zonefile', `in/${file}`, '-o', 'zones')).toMatchObject({ status: 0, stdout: 'zones/root.yaml\n' })
    expect(readFileSync(join(cwd, 'zones/root.yaml'), 'utf8')).toMatch(/^domain: \.$/m)
    expect(await run(cwd, 'validate')).toMatchObject({ status: 0 })
    expectEnd(await run(cwd, 'export', 'zonefile', '.', '-o', 'out', '--serial', '2024010100'), 0, { out: /^out\/root\.zone\n$/ })
    const given = join(cwd, 'in', file)
    const exported = join(cwd, 'out/root.zone')
    expect(await bindZone('.', exported)).toEqual(await bindZone('.', given))
    expect(await runTool('kzonecheck', ['-d', 'off', '-o', '.', exported])).toMatchObject({ status: 0 })
  })

  it('is a definition as a zone file, also with relative names', async () => {
    const relative = ROOT_ZONE.replaceAll(/^([a-z.-]+)\.\t/gm, '$1\t').replaceAll(/^\.\t/gm, '@\t')
    const cwd = folderOf({ 'zones/root.zone': `$ORIGIN .\n${relative}` })
    expect(await run(cwd, 'validate')).toMatchObject({ status: 0 })
    expect(await run(cwd, 'export', 'zonefile', '-o', 'out')).toMatchObject({ status: 0, stdout: 'out/root.zone\n' })
  })
})

describe('data that servers load', () => {
  it('data outside the zone is left out with --lossy, and listed', async () => {
    const cwd = folderOf({ 'in/example.com.zone': `${HEAD}; kept\nwww A 192.0.2.1\n; theirs\nwww.example.net. A 192.0.2.2 ; other\n` })
    const refused = await run(cwd, 'import', 'zonefile', 'in', '-o', 'zones')
    const line = 'www.example.net. A: a definition cannot express a record outside the zone example.com.'
    expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining(`in/example.com.zone:7:1: error[import-lossy] ${line}`) })
    const imported = await run(cwd, 'import', 'zonefile', 'in', '-o', 'zones', '--lossy')
    expect(imported).toMatchObject({ status: 0, stderr: expect.stringContaining(`in/example.com.zone:7:1: warning[import-lossy] ${line}`) })
    const text = filesBelow(cwd)['zones/example.com.yaml']
    expect(text).toContain('# kept\n  www: {type: A, ttl: 300, value: 192.0.2.1}')
    expect(text).not.toContain('192.0.2.2')
    expect(await run(cwd, 'validate', 'in')).toMatchObject({ status: 1, stdout: expect.stringContaining('error[name-outside-zone]') })
  })

  it('Latin-1 in a comment is no error, also in an included file', async () => {
    const cwd = folderOf({ 'in/example.com.zone': '', 'in/web': '' })
    const latin1 = (path: string, text: string): void => writeFileSync(join(cwd, 'in', path), Buffer.from(text, 'latin1'))
    latin1('example.com.zone', `; Z\xfcrich\n${HEAD}$INCLUDE web\n`)
    latin1('web', 'www A 192.0.2.1 ; Gen\xe8ve\n')
    expect(await run(cwd, 'import', 'zonefile', 'in', '-o', 'zones')).toMatchObject({ status: 0 })
    expect(filesBelow(cwd)['zones/example.com.yaml']).toMatch(/^# Z\u00fcrich\n.*www: .*# Gen\u00e8ve\n/s)
    expect(await run(cwd, 'validate', 'in')).toMatchObject({ status: 0 })
    latin1('web', 'w A 192.0.2.1\nx TXT "\xe8"\n')
    expectEnd(await run(cwd, 'validate', 'in'), 1, { out: 'in/web:2:8: the octet 0xe8 is not UTF-8 text' })
    latin1('example.com.zone', `${HEAD}x TXT "\xe8"\n`)
    expect((await run(cwd, 'import', 'zonefile', 'in', '-o', 'again')).stderr).toContain(
      'in/example.com.zone:4:8: error[file-unreadable] the octet 0xe8 is not UTF-8 text',
    )
  })
})

it.each([
  ['example.com.zone', 'example.net.', true],
  ['db.example.com', 'example.net.', true],
  ['example.com.db', 'www.example.com.', true],
  ['net.zone', 'com.', true],
  ['example.com.zone', 'example.com.', false],
  ['named.zone', 'example.com.', false],
  ['db.192.0.2', '2.0.192.in-addr.arpa.', false],
  ['0_25.2.0.192.in-addr.arpa.zone', '0/25.2.0.192.in-addr.arpa.', false],
  ['EXAMPLE.com.zone', 'example.com.', false],
])('the file %s with the zone %s: warning %s', async (file, zone, warned) => {
  const cwd = folderOf({ [`in/${file}`]: `$ORIGIN ${zone}\n${HEAD}` })
  const message = `warning[zone-name] the file is named after`
  const found = [await run(cwd, 'validate', 'in'), await run(cwd, 'import', 'zonefile', 'in', '-o', 'zones')]
  expect(found.map(({ status }) => status)).toEqual([0, 0])
  expect(found.map(({ stdout, stderr }) => (stdout + stderr).includes(message))).toEqual([warned, warned])
})

describeWithTools(['named-checkzone', 'kzonecheck'], 'the SOA record', () => {
  /** The SOA data of a zone file, and the settings that a definition has for it. */
  const CASES: readonly (readonly [string, string, string])[] = [
    ['a primary', '300 SOA hidden.example.org. hostmaster.example.com. 2026010101 7200 3600 1209600 300', 'primary: hidden.example.org.'],
    ['a serial of 0', '300 SOA ns1.example.net. hostmaster.example.com. 0 7200 3600 1209600 300', 'serial: 0'],
    ['the largest serial', '300 SOA ns1.example.net. hostmaster.example.com. 4294967295 7200 3600 1209600 300', 'serial: 4294967295'],
    ['times of 0', '300 SOA ns1.example.net. hostmaster.example.com. 7 0 0 0 0', 'refresh: 0, retry: 0, expire: 0, minimum: 0, ttl: 300'],
    ['times above a TTL', '300 SOA ns1.example.net. hostmaster.example.com. 7 4294967295 2147483648 4294967295 300', 'refresh: 4294967295'],
    ['a mailbox that is no address', '300 SOA . root.localhost. 7 7200 3600 1209600 300', 'mailbox: root.localhost.'],
    ['a TTL other than the minimum', '86400 SOA ns1 First\\.Last.example.com. 7 7200 3600 1209600 60', 'ttl: 86400'],
  ]

  it.each(CASES)('%s is kept by import, fmt, export and a second import', async (_, soa, expected) => {
    const zone = `@ ${soa}\n@ 300 NS ns1.example.net.\n@ 300 NS ns1\nns1 300 A 192.0.2.1\nwww 300 A 192.0.2.2\n`
    const cwd = folderOf({ 'in/example.com.zone': zone })
    expect(await run(cwd, 'import', 'zonefile', 'in', '-o', 'zones')).toMatchObject({ status: 0 })
    const definition = readFileSync(join(cwd, 'zones/example.com.yaml'), 'utf8')
    expect(definition).toContain(expected)
    expect(await run(cwd, 'fmt', '--check')).toMatchObject({ status: 0 })
    expect(await run(cwd, 'export', 'zonefile', '-o', 'out')).toMatchObject({ status: 0, stderr: expect.not.stringContaining('warning') })
    const given = await bindZone('example.com', join(cwd, 'in/example.com.zone'))
    expect(await bindZone('example.com', join(cwd, 'out/example.com.zone'))).toEqual(given)
    expect(await runTool('kzonecheck', ['-o', 'example.com', join(cwd, 'out/example.com.zone')])).toMatchObject({ status: 0 })
    expect(await run(cwd, 'import', 'zonefile', 'out', '-o', 'again')).toMatchObject({ status: 0 })
    expect(readFileSync(join(cwd, 'again/example.com.yaml'), 'utf8')).toBe(definition)
    // The zone file itself is a definition with the same meaning.
    const direct = folderOf({ 'zones/example.com.zone': zone })
    expect(await run(direct, 'export', 'zonefile', '-o', 'out')).toMatchObject({ status: 0 })
    expect(filesBelow(direct)['out/example.com.zone']).toBe(filesBelow(cwd)['out/example.com.zone'])
  })
})
