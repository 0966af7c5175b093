import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { expectEnd } from '../support/cli.ts'
import { filesBelow } from './scene.ts'
import { folderOf, run, SOA } from './zone-file-folder.ts'

describe('import zonefile', () => {
  it('prints one zone on standard output', async () => {
    const cwd = folderOf({ 'db.example.com': `${SOA}www 60 A 192.0.2.1\n` })
    const result = await run(cwd, 'import', 'zonefile', 'db.example.com')
    expect(result).toEqual({
      status: 0,
      stderr:
        '1 zone with 2 records, read back and compared.\nNext:\n' +
        '  zonewright init    adds a config, CI jobs and .gitignore\n  zonewright plan    shows what would change\n',
      stdout: `domain: example.com
soa_email: hostmaster@example.com
ttl_sec: 300
refresh_sec: 7200
retry_sec: 3600
expire_sec: 1209600
soa: {primary: ns1.example.net., serial: 1, ttl: 3600}
records:
  '': {type: NS, ttl: 3600, value: ns1.example.net.}
  www: {type: A, ttl: 60, value: 192.0.2.1}
`,
    })
    expect(Object.keys(filesBelow(cwd))).toEqual(['db.example.com'])
  })

  it('imports a folder, without included files', async () => {
    const cwd = folderOf({
      'dns/example.com.zone': `${SOA}$INCLUDE shared/web.db\n`,
      'dns/shared/web.db': 'www 60 A 192.0.2.1\n',
      'dns/deep/db.example.net': SOA,
      'dns/0_25.db': `$ORIGIN 0/25.2.0.192.in-addr.arpa.\n${SOA}1 60 PTR www.example.com.\n`,
      'dns/README': 'no zone',
    })
    const result = await run(cwd, 'import', 'zonefile', 'dns', '-o', 'zones')
    expect(result).toMatchObject({ stdout: 'zones/0_25.2.0.192.in-addr.arpa.yaml\nzones/example.net.yaml\nzones/example.com.yaml\n' })
    expect(filesBelow(cwd)['zones/example.com.yaml']).toContain('  www: {type: A, ttl: 60, value: 192.0.2.1}\n')
    expect(await run(cwd, 'validate', 'zones')).toMatchObject({ status: 0 })
    expectEnd(await run(cwd, 'import', 'zonefile', 'dns', 'example.net'), 0, { out: /^domain: example\.net\n/ })
    expectEnd(await run(cwd, 'import', 'zonefile', 'dns'), 1, { err: 'error[usage] standard output takes one file, not 3 files', out: '' })
    const list = '0_25.2.0.192.in-addr.arpa.yaml\nexample.net.yaml\nexample.com.yaml\n'
    const { stdout, stderr } = expectEnd(await run(cwd, 'import', 'zonefile', 'dns', '--dry-run'), 0)
    expect([stdout, stderr]).toEqual([list, expect.stringContaining('3 zones with 5 records in 3 files; nothing was written.')])
  })

  it('reports a zone that is too large for a definition, without an internal error', async () => {
    const text = `"${'x'.repeat(250)}" `.repeat(250)
    const cwd = folderOf({ 'example.com.zone': `${SOA}${Array.from({ length: 200 }, (_, i) => `t${i} 60 TXT ${text}\n`).join('')}` })
    const { status, stderr } = await run(cwd, 'import', 'zonefile', 'example.com.zone', '-o', 'zones')
    expect(status).toBe(1)
    expect(stderr).toContain('error[file-too-large]')
    expect(stderr).not.toContain('import-mismatch')
    expect(Object.keys(filesBelow(cwd))).toEqual(['example.com.zone'])
  })

  it('uses the zone of the command line if the file does not name it', async () => {
    const cwd = folderOf({ dump: SOA, 'dump.txt': SOA })
    for (const file of ['dump', 'dump.txt'])
      expectEnd(await run(cwd, 'import', 'zonefile', file, 'example.org'), 0, { out: /^domain: example\.org\n/ })
  })

  it('keeps SOA times of 0 and above the largest TTL, and their comments', async () => {
    const soa = '@ 300 SOA ns1 hostmaster (\n 1\n 2147483647\n 4294967295 ; again\n 2147483648\n 0 )\n'
    const cwd = folderOf({ 'example.com.zone': `$ORIGIN example.com.\n${soa}@ 300 NS ns1\nns1 300 A 192.0.2.1\n` })
    const { status, stdout } = await run(cwd, 'import', 'zonefile', 'example.com.zone')
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining('refresh_sec: 2147483647\n') })
    expect(stdout).toContain('soa: {primary: ns1, serial: 1, retry: 4294967295, expire: 2147483648, minimum: 0, ttl: 300}\n')
    expect(stdout).not.toMatch(/retry_sec:|expire_sec:|ttl_sec:/)
    expect(stdout).toContain('# again')
  })

  it.each([
    ['no file', { 'x.zone': SOA }, ['y.zone'], 'error[file-unreadable] y.zone does not exist'],
    ['an error in one file', { 'z/a.zone': SOA, 'z/b.example.zone': `${SOA}www A 1.2.3\n` }, ['z', '-o', 'out'], 'z/b.example.zone:3:'],
    ['$INCLUDE from outside', { 'z/a.example.zone': `${SOA}$INCLUDE ../b\n`, b: 'www 60 A 192.0.2.1\n' }, ['z'], 'error[zonefile-include]'],
    ['a zone in two files', { 'z/a.example.zone': SOA, 'z/a.example.db': SOA }, ['z', '-o', 'out'], 'error[zone-duplicate] a.example.'],
    ['a missing zone', { 'z/a.example.zone': SOA }, ['z', 'b.example'], 'error[zone-unknown] z has no zone b.example.'],
    ['a folder without zone files', { 'z/README': '' }, ['z'], 'error[no-definitions] z has no zone files'],
    ['no name', { zone: 'www 60 A 192.0.2.1\n' }, ['zone'], 'error[z'],
    ['only digits', { 'db.192.0.2': SOA }, ['db.192.0.2'], 'name the zone: zonewright import zonefile db.192.0.2 2.0.192.in-addr.arpa)'],
    ['a digit', { '10.zone': SOA }, ['10.zone'], 'zonewright import zonefile 10.zone 10.in-addr.arpa)'],
    ['a large number', { 'db.2001': SOA }, ['db.2001'], 'zonewright import zonefile db.2001 ZONE)'],
    [
      'a folder of such',
      { 'z/192.0.2.db': SOA },
      ['z'],
      'so it was skipped (name the zone: zonewright import zonefile z/192.0.2.db 2.0.192.',
    ],
    ['an invalid zone name', { 'a.example.zone': SOA }, ['a.example.zone', 'a..b'], 'error[zone-name]'],
    ['no source', {}, [], 'error[usage] import needs a format and a source'],
  ] as [string, Record<string, string>, string[], string][])('refuses %s and writes nothing', async (_, files, args, message) => {
    const cwd = folderOf(files)
    expectEnd(await run(cwd, 'import', 'zonefile', ...args), 1, { err: message, out: '' })
    expect(filesBelow(cwd)).toEqual(files)
  })

  it.each([
    ['octet by octet', 'www 60 A 192.0.2.1', 'www 60 A 192.0.2.1', ''],
    ['except for letter case', 'www 60 CNAME mail.example.net.', 'WWW 60 CNAME Mail.Example.NET.', ''],
    ['with another spelling', 'www 60 TXT "a"', 'www 60 TXT \\097', ''],
    ['except for the TTL', 'www 60 A 192.0.2.1', 'www 90 A 192.0.2.1', ', with TTL 60 instead of 90'],
  ])('imports records that are equal %s once, and reports both positions', async (_, first, second, ttls) => {
    const cwd = folderOf({ 'example.com.zone': `${SOA}${first}\n${second}\n` })
    for (const args of [
      ['import', 'zonefile', '.', '-o', 'out'],
      ['validate', 'example.com.zone'],
    ]) {
      const { stdout, stderr } = expectEnd(await run(cwd, ...args), 0)
      expect(stdout + stderr).toMatch(/^example\.com\.zone:4:1: warning\[record-duplicate\] www\.example\.com\. [A-Z]+: the value /m)
      expect(stdout + stderr).toContain(`the first one is used${ttls} (the same record: example.com.zone:3:1; remove one of them)`)
    }
    expect(filesBelow(cwd)['out/example.com.yaml']?.match(/^ {2}www: \{type: [A-Z]+, ttl: 60, value: .*\}$/gm)).toHaveLength(1)
  })

  it('reports duplicates at the same positions once', async () => {
    const cwd = folderOf({ 'example.com.zone': `${SOA}${'$INCLUDE a\n'.repeat(9)}`, a: 'www 60 A 192.0.2.1\n' })
    const { stderr } = expectEnd(await run(cwd, 'import', 'zonefile', 'example.com.zone'), 0)
    expect(stderr.match(/record-duplicate/g)).toHaveLength(2)
    expect(stderr).toContain('a:1:1: warning[record-duplicate] 7 more records are given twice, the last one here')
  })

  it('accepts one SOA record, at the apex', async () => {
    const soa = SOA.slice(0, SOA.indexOf('\n') + 1)
    const twice = folderOf({ 'example.com.zone': SOA + soa.replace('3600', '60').replace('ns1', 'NS1') })
    expectEnd(await run(twice, 'import', 'zonefile', 'example.com.zone'), 0, { err: '1 zone with 1 record,' })
    const differing = folderOf({ 'example.com.zone': SOA + soa.replace(' 1 ', ' 2 ') })
    const below = folderOf({ 'example.com.zone': SOA + soa.replace('@', 'sub') })
    for (const [cwd, message] of [
      [differing, 'example.com.zone:3:1: error[singleton-multiple] example.com. has two different SOA records (the SOA record of the zone'],
      [below, 'example.com.zone:3:1: error[soa-in-definition] sub.example.com. SOA: the zone is example.com.'],
    ] as const) {
      for (const command of [['import', 'zonefile'], ['validate']]) {
        const { stdout, stderr } = expectEnd(await run(cwd, ...command, 'example.com.zone'), 1)
        expect((stdout + stderr).match(/error\[/g)).toHaveLength(1)
        expect(stdout + stderr).toContain(message)
      }
    }
  })

  it('leaves the records of other clients out, with one line', async () => {
    const cwd = folderOf({
      'example.com.zone': `${SOA}app 60 A 192.0.2.1\na-app 60 TXT "heritage=external-dns,external-dns/owner=x" ; note\n_acme-challenge.x 60 CNAME x.example.net.\n`,
    })
    expectEnd(await run(cwd, 'import', 'zonefile', 'example.com.zone'), 0, {
      err: 'notice[import-aside] example.com.: {owner: external-dns} under "unmanaged" leaves 2 record sets to other clients',
      out: [
        "unmanaged: [{owner: external-dns}]\nrecords:\n  '': {type: NS, ttl: 3600, value: ns1.example.net.}\n  _acme-challenge.x:",
        '\n# note\n',
      ],
    })
  })

  it('reports dropped comments', async () => {
    const cwd = folderOf({ 'example.com.zone': `${SOA};${'x'.repeat(5_000_000)}\n` })
    const strict = await run(cwd, 'import', 'zonefile', 'example.com.zone')
    expect(strict).toMatchObject({ status: 1, stdout: '' })
    expect(strict.stderr).toContain('error[import-lossy] example.com.: a definition cannot express 1 line of comments above the limit')
    expect(await run(cwd, 'import', 'zonefile', 'example.com.zone', '--lossy')).toMatchObject({ status: 0 })
  })

  it('reports files that look like zone files but have another extension', async () => {
    const cwd = folderOf({
      'z/a.example.zone': `${SOA}$INCLUDE part\n$INCLUDE whole\n`,
      'z/part': 'www 60 A 192.0.2.1\n',
      'z/whole': `;\n${SOA.slice(0, SOA.indexOf('\n') + 1)}`,
      'z/b.example': `$TTL 60\n${SOA}`,
      'z/more/b.example.hosts': '@ IN SOA a. b. ( 1\n 2 3 4 5 )\n',
      'z/README': 'The SOA record is ours.',
      'z/c.yaml': `# ${SOA}`,
    })
    const { status, stdout, stderr } = await run(cwd, 'import', 'zonefile', 'z', '-o', 'out')
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'out/a.example.yaml\n' })
    expect(stderr.match(/skipped/g)).toHaveLength(2)
    for (const file of ['z/b.example', 'z/more/b.example.hosts'])
      expect(stderr).toContain(`warning[file-format] ${file} looks like a zone file but is not named like one`)
    expectEnd(await run(cwd, 'import', 'zonefile', 'z/more'), 1, { err: 'z/more/b.example.hosts looks like a zone file' })
  })

  it('names some of many ignored files', async () => {
    const files = Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`z/${i}`, SOA]))
    const { stderr } = await run(folderOf({ 'z/a.example.zone': SOA, ...files }), 'import', 'zonefile', 'z', '--verbose')
    expect(stderr.match(/looks like a zone file/g)).toHaveLength(20)
    expect(stderr).toContain('warning[file-format] 5 more files look like zone files and were skipped')
  })

  it('reports links out of the folder', async () => {
    const cwd = folderOf({ 'z/a.example.zone': SOA, 'elsewhere/b.example.zone': SOA })
    symlinkSync('../elsewhere/b.example.zone', join(cwd, 'z/b.example.zone'))
    symlinkSync('../elsewhere', join(cwd, 'z/more'))
    const { status, stdout, stderr } = await run(cwd, 'import', 'zonefile', 'z', '-o', 'out')
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'out/a.example.yaml\n' })
    expect(stderr).toContain('warning[path-outside] z/b.example.zone is outside the folder and was skipped')
    expect(stderr).toContain('warning[path-outside] z/more is outside the folder')
  })

  it('refuses an unknown format name', async () => {
    expectEnd(await run(folderOf({}), 'import', 'zonefle', 'x'), 1, { err: /no import format "zonefle" \(did you mean "zonefile"/i })
    for (const type of ['desec', 'cloudflare'])
      expectEnd(await run(folderOf({}), 'import', type), 1, { err: ` (for its live zones: zonewright init --from ${type})` })
  })

  it('writes nothing if one file or dangling link exists', async () => {
    const cwd = folderOf({ 'z/a.example.zone': SOA, 'z/b.example.zone': SOA })
    mkdirSync(join(cwd, 'out'))
    symlinkSync('nowhere', join(cwd, 'out/b.example.yaml'))
    expectEnd(await run(cwd, 'import', 'zonefile', 'z', '-o', 'out'), 1, { err: 'error[file-exists] out/b.example.yaml', out: '' })
    expect(filesBelow(join(cwd, 'out'))).toEqual({})
  })
})

describe('invalid $INCLUDE files', () => {
  const long = 'x'.repeat(5000)
  const fan = Object.fromEntries(Array.from({ length: 15 }, (_, i) => [`f${i}`, i < 14 ? `$INCLUDE f${i + 1} a\n`.repeat(10) : '']))
  const chain = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`f${i}`, `$INCLUDE f${i + 1}\n`]))

  it.each([
    ['a cycle through a link', '$INCLUDE a', { a: '\n$INCLUDE link\n' }, 'a:2:10: error[zonefile-include] a includes itself'],
    ['a long chain', '$INCLUDE f0', chain, 'f15:1:10: error[zonefile-include] files are included more than 16 deep'],
    ['ten files that include ten files each', '$INCLUDE f0', fan, 'such as more than 1000 files are included'],
    ['a device', '$INCLUDE /dev/zero', {}, '3:10: error[zonefile-include] the path is outside the config folder'],
    ['a link to a device', '$INCLUDE zero', {}, '3:10: error[zonefile-include] the path is outside the config folder'],
    ['a pipe', '$INCLUDE pipe', {}, '3:10: error[zonefile-include] pipe is not a regular file'],
    ['a folder', '$INCLUDE folder', {}, '3:10: error[zonefile-include] folder is a folder, not a file'],
    ['a file of /proc', '$INCLUDE /proc/self/environ', {}, '3:10: error[zonefile-include] the path is outside the config folder'],
    ['the parent folder', '$INCLUDE folder/../../x', { x: '' }, '3:10: error[zonefile-include] '],
    ['cyclic links', '$INCLUDE round', {}, '3:10: error[zonefile-include] round is a symbolic link in a cycle'],
    ['100 MB without a line end', '$INCLUDE huge', {}, '3:10: error[zonefile-include] huge has 100000000 octets; a definition has at most'],
    ['10 MB without a line end', '$INCLUDE a', { a: 'x'.repeat(10_000_000) }, 'a:1:1: error[name-invalid] the domain name is 10000000'],
    ['an octet 0', '$INCLUDE a\\000b', {}, '3:10: error[zonefile-include] the file name contains a NUL character'],
    ['an empty name', '$INCLUDE ""', {}, '3:10: error[zonefile-include] the file name is empty'],
    ['a directive in parentheses', 'x 60 A (\n$INCLUDE a )', { a: '192.0.2.1' }, '4:1: error[value-invalid] x.example.com. A: '],
    ['too long a name', `$INCLUDE ${long}`, {}, '3:10: error[zonefile-include] the path has 5000 characters; at most 4096 are allowed'],
    ['an open parenthesis', '$INCLUDE a\n)', { a: 'x 60 A ( 192.0.2.1\n' }, 'a:1:8: error[zonefile-syntax] the parenthesis is not'],
  ] as [string, string, Record<string, string>, string][])('%s', async (_, directive, files, message) => {
    const cwd = folderOf({ 'example.com.zone': `${SOA}${directive}\n`, ...files })
    mkdirSync(join(cwd, 'folder'))
    symlinkSync('a', join(cwd, 'link'))
    symlinkSync('/dev/zero', join(cwd, 'zero'))
    symlinkSync('round', join(cwd, 'round'))
    execFileSync('mkfifo', [join(cwd, 'pipe')])
    writeFileSync(join(cwd, 'huge'), '')
    truncateSync(join(cwd, 'huge'), 100_000_000)
    for (const command of [['import', 'zonefile'], ['validate']]) {
      const value = expectEnd(await run(cwd, ...command, 'example.com.zone'), 1)
      expect(value.stdout + value.stderr).toContain(message)
      expect((value.stdout + value.stderr).length).toBeLessThan(30_000)
    }
  })

  it('a file without read permission', async () => {
    const cwd = folderOf({ 'example.com.zone': `${SOA}$INCLUDE a\n`, a: '' })
    chmodSync(join(cwd, 'a'), 0)
    const { status, stderr } = await run(cwd, 'import', 'zonefile', 'example.com.zone')
    // Root can read every file.
    if (process.getuid?.() === 0) expect(status).toBe(0)
    else expect(stderr).toContain('3:10: error[zonefile-include] a cannot be read: permission denied')
  })

  it('recognises the same file under several paths', async () => {
    const cwd = folderOf({ 'example.com.zone': '', a: 'www 60 A 192.0.2.1\n', 'sub/b': '' })
    symlinkSync('a', join(cwd, 'link'))
    const paths = ['a', './a', 'sub/../a', join(cwd, 'a'), 'link', '"a"', '\\097']
    writeFileSync(join(cwd, 'example.com.zone'), SOA + paths.map((path) => `$INCLUDE ${path}\n`).join(''))
    const { status, stderr } = await run(cwd, 'import', 'zonefile', 'example.com.zone')
    expect(status).toBe(0)
    expect(stderr).toContain('a:1:1: warning[record-duplicate] 5 more records are given twice')
  })
})

/** The positions of the diagnostics, with related positions in parentheses. */
const places = (stderr: string): string[] => stderr.match(/[^\s(]+\.(?:zone|yaml|json|inc):\d+:\d+/g) ?? []

it('an error of an import has the position of the source record, also in an included file', async () => {
  const cwd = folderOf({
    'dns/example.com.zone': `${SOA}x 60 A 192.0.2.1\n$INCLUDE more.inc\n`,
    'dns/more.inc': 'x 60 CNAME www.example.net.\n@ 60 CAA 0 issue "ca.example."\n@ 60 MX 0 .\n@ 60 MX 10 mail.example.net.\n',
  })
  const args = ['import', 'zonefile', 'dns', '-o', 'out']
  const { status, stderr } = await run(cwd, ...args)
  expect([status, places(stderr)]).toEqual([1, ['dns/more.inc:1:1', 'dns/more.inc:3:1']])
  expect(existsSync(join(cwd, 'out'))).toBe(false)
  expectEnd(await run(cwd, ...args, '--lossy'), 0, { err: ['warning[caa-value-invalid]', '4 records, read back and compared'] })
  expect(await run(cwd, 'validate', 'out')).toMatchObject({ status: 0 })
})

it('a warning of an import has the position in the written definition', async () => {
  const cwd = folderOf({ 'example.com.zone': `${SOA}x 60 CNAME nowhere\n` })
  const { status, stderr } = await run(cwd, 'import', 'zonefile', 'example.com.zone', '-o', 'my/zones')
  expect([status, places(stderr)]).toEqual([0, [expect.stringMatching(/^my\/zones\/example\.com\.yaml:\d+:\d+$/)]])
  expect(places((await run(cwd, 'validate', 'my/zones')).stdout)).toEqual(places(stderr))
})

it("import octodns writes a definition for octoDNS's file without content, which is an empty zone", async () => {
  const cwd = folderOf({ 'in/example.com.yaml': '---\n', 'in/example.org.yaml': 'www: {type: A, value: 192.0.2.1}\n' })
  expect(await run(cwd, 'import', 'octodns', 'in', '-o', 'zones')).toMatchObject({ status: 0 })
  const { status, stderr } = await run(cwd, 'validate', 'zones')
  expect({ status, stderr }).toEqual({ status: 0, stderr: '2 zones, 1 record in 2 files: no problems.\n' })
})
