/** A served folder changed by the commands: texts, serials, other editors, odd files, and the steps after a change. Scripts stand in for the programs of servers. */
import { chmodSync, chownSync, lstatSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { expectEnd } from '../../support/cli.ts'
import { NOW, NS, type Workspace, workspace } from './workspace.ts'

const FILE = 'served/example.com.zone'
const HEADER = '; Written by Zonewright. The next apply overwrites other changes.\n'
const WWW = '  www: {type: A, ttl: 300, value: 192.0.2.1}\n'
const serialOf = (text: string): number => Number(/([0-9]+) +; serial/.exec(text)?.[1])

/** A workspace whose zone is applied. */
async function applied(settings = '', records = NS + WWW): Promise<Workspace> {
  const space = workspace(settings)
  space.define('example.com', records)
  expect(await space.apply()).toMatchObject({ status: 0 })
  return space
}

const edit = (space: Workspace, from: string | RegExp, to: string, path = 'zonewright.yaml'): void =>
  space.write(path, space.read(path).replace(from, to))

async function expectUnchanged(space: Workspace): Promise<void> {
  expectEnd(await space.run('plan', '--detailed-exitcode'), 0, { err: '', out: 'No changes' })
}

describe('a file', () => {
  test('is created with its records, and the second plan is empty', async () => {
    const space = await applied()
    expect(space.read(FILE)).toBe(
      `${HEADER}$ORIGIN example.com.\n$TTL 3600\n${[
        '@   86400 IN SOA ns1.example.net. hostmaster (',
        '                 1          ; serial',
        '                 14400      ; refresh',
        '                 14400      ; retry',
        '                 1209600    ; expire',
        '                 86400      ; minimum',
        '                 )',
        '          IN NS  ns1.example.net.',
        '          IN NS  ns2.example.net.',
        'www   300 IN A   192.0.2.1',
        '',
      ].join('\n')}`,
    )
    expect(space.served()).toEqual(['example.com.zone'])
    await expectUnchanged(space)
  })

  test.each([
    ['increment', 1, 2],
    ['date', 2_026_112_300, 2_026_112_301],
    ['unixtime', NOW.getTime() / 1000, NOW.getTime() / 1000 + 1],
  ])('gets a newer serial only when it changes (%s)', async (rule, first, second) => {
    const space = await applied(`serial: ${rule}`)
    expect(serialOf(space.read(FILE))).toBe(first)
    expect((await space.apply()).status).toBe(0)
    expect(serialOf(space.read(FILE))).toBe(first)
    space.define('example.com', `${NS + WWW}  new: {type: A, value: 192.0.2.2}\n`)
    const changed = await space.apply('--format', 'json')
    expect(JSON.parse(changed.stdout).zones[0]).toMatchObject({ readBack: 'equal', calls: { total: 1 } })
    expect(serialOf(space.read(FILE))).toBe(second)
  })

  test('follows the settings of the zone, and keeps what no setting has', async () => {
    const space = await applied('primary: hidden.example.net')
    expect(space.read(FILE)).toContain('SOA hidden.example.net. hostmaster')
    space.define('example.com', NS + WWW, 'soa_email: First.Last@example.org\nttl_sec: 600\nrefresh_sec: 1h\ndefault_ttl: 3600\n')
    expect((await space.apply()).status).toBe(0)
    const text = space.read(FILE)
    expect(text).toContain('SOA hidden.example.net. First\\.Last.example.org. (')
    expect([text.includes('3600       ; refresh'), text.includes('600        ; minimum'), serialOf(text)]).toEqual([true, true, 2])
    await expectUnchanged(space)
  })

  test.each([
    ['apply', 2026112702],
    ['a saved plan', 2026112702],
  ])('begins above the serial of its definition (%s)', async (how, serial) => {
    const space = workspace()
    space.define('example.com', NS, 'soa: {serial: 2026112701}\n')
    if (how !== 'apply') await space.run('plan', '--out', 'p.json')
    const { status, stdout, stderr } = await space.apply(...(how === 'apply' ? [] : ['p.json']))
    expect([status, serialOf(space.read(FILE)), (stdout + stderr).includes('setting-unsupported')]).toEqual([0, serial, false])
  })

  test('is removed with its zone, and has a newer serial when it comes back', async () => {
    const space = await applied()
    space.define('example.com', null)
    expect((await space.apply()).status).toBe(3)
    expect((await space.apply('--allow', 'delete-zone')).status).toBe(0)
    expect(space.served()).toEqual([])
    const history = JSON.parse((await space.run('history', '--format', 'json')).stdout)
    const run = history.runs.find(({ applied: figures }: { applied: { delete: number } }) => figures.delete > 0)
    expect([(await space.run('rollback', run.run, '--yes')).status, serialOf(space.read(FILE))]).toEqual([0, 2])
    expect(space.read(FILE)).toContain('192.0.2.1')
    // Its definition is there again after another deletion.
    expect((await space.apply('--allow', 'delete-zone')).status).toBe(0)
    space.define('example.com', NS)
    expect([(await space.apply()).status, serialOf(space.read(FILE))]).toEqual([0, 3])
  })

  test.each([
    ['ZONEMD', `  www: {type: ZONEMD, value: {serial: 1, scheme: 1, hash_algorithm: 1, digest: ${'ab'.repeat(48)}}}\n`, /type-unsupported/],
    ['no NS records at its apex', WWW, /zone-without-ns.*have no NS records at its apex/],
    ['a refresh of 0', NS, /refresh_sec is 0/],
  ])('is not written for a definition with %s', async (name, records, expected) => {
    const space = workspace()
    space.define('example.com', records, name.includes('refresh') ? 'refresh_sec: 0\n' : '')
    expectEnd(await space.apply(), 1, { said: expected })
    expect(space.served()).toEqual([])
  })

  test('keeps its mode and owner', async () => {
    const space = await applied()
    const path = join(space.folder, FILE)
    chmodSync(path, 0o640)
    if (process.getuid?.() === 0) chownSync(path, 65_534, 65_534)
    const { mode, uid, gid } = statSync(path)
    space.define('example.com', NS)
    expect((await space.apply('--allow', 'deletes')).status).toBe(0)
    expect(statSync(path)).toMatchObject({ mode, uid, gid })
  })
})

describe('other editors', () => {
  test('a record that was added by hand is a difference, and a record set that changed after a saved plan is kept', async () => {
    const space = await applied()
    space.define('example.com', `${NS + WWW}  new: {type: A, value: 192.0.2.2}\n`)
    expect((await space.run('plan', '--out', 'plan.json')).status).toBe(0)
    space.write(FILE, `${space.read(FILE)}www 300 IN A 192.0.2.99\n`)
    expectEnd(await space.apply('plan.json'), 3, { said: '192.0.2.99' })
    expect((await space.run('plan')).stdout).toMatch(/- www +300 +A +192\.0\.2\.99/)
  })

  test('a change during the check is not overwritten', async () => {
    const space = await applied()
    const check = space.program('check', `echo 'x 300 IN A 192.0.2.7' >> "${join(space.folder, FILE)}"`)
    edit(space, 'directory: served', `directory: served\n    check: ['${check}', '{file}']`)
    space.define('example.com', `${NS + WWW}  new: {type: A, value: 192.0.2.2}\n`)
    expectEnd(await space.apply(), 1, { out: 'was changed by another program while it was being replaced' })
    expect(space.read(FILE)).toContain('192.0.2.7')
    expect(space.read(FILE)).not.toContain('192.0.2.2')
    expect(space.served()).toEqual(['example.com.zone'])
  })

  test('the file of another run is not written at the same time', async () => {
    const space = await applied()
    // Longer than one run may start before the other on a busy machine.
    const check = space.program('slow', 'sleep 2')
    edit(space, 'directory: served', `directory: served\n    check: ['${check}', '{file}']`)
    space.write('other.yaml', `${space.read('zonewright.yaml')}journal: .other\n`)
    space.define('example.com', `${NS + WWW}  new: {type: A, value: 192.0.2.2}\n`)
    const results = await Promise.all([space.apply(), space.apply('-c', 'other.yaml')])
    expect(results.map(({ status }) => status).sort()).toEqual([0, 1])
    expect(results.map(({ stdout }) => stdout).join()).toContain('has another record set new.example.com. A than the one read for the plan')
    expect(serialOf(space.read(FILE))).toBe(2)
  })
})

const SOA = '@ 3600 SOA ns1.example.net. hostmaster 7 14400 14400 1209600 86400\n@ NS ns1.example.net.\n@ NS ns2.example.net.\n'

describe('a file that people wrote', () => {
  test.each([
    ['without comments is adopted', `$TTL 3600\n${SOA}`, null],
    [
      'with the names of the SOA fields is adopted',
      `$TTL 3600\n${SOA.replace(' 14400', ' ( ; serial\n 14400 ; refresh\n').replace('86400', '86400 ) ; minimum (1 day 2 hours)')}`,
      null,
    ],
    ['a comment in parentheses', `$TTL 3600\n${SOA}old A 192.0.2.9 ; (ask Bob)\n`, 'has the comment "(ask Bob)"'],
    ['the name of a field beside another record', `$TTL 3600\n${SOA}old A 192.0.2.9 ; serial\n`, 'has the comment "serial"'],
    ['the name of a field on its own line', `$TTL 3600\n;minimum\n${SOA}`, 'has the comment "minimum"'],
    ['more than the name of a field', `$TTL 3600\n${SOA.replace('86400', '86400 ; ttl (see 2 tickets)')}`, 'has the comment "ttl (see'],
    ['an empty comment', `$TTL 3600\n;\n${SOA}`, 'has the comment ";"'],
    ['a comment', `$TTL 3600\n; the mail hosts\n${SOA}`, 'served/example.com.zone has the comment "the mail hosts", which would be lost'],
    ['with a comment beside a record stays', `$TTL 3600\n${SOA}old A 192.0.2.9 ; till May\n`, 'has the comment "till May"'],
    ['with $INCLUDE stays', `$TTL 3600\n${SOA}$INCLUDE more.inc\n`, 'has $INCLUDE on line 5'],
    ['with $GENERATE stays', `$TTL 3600\n${SOA}$GENERATE 1-2 h$ A 192.0.2.$\n`, 'has $GENERATE on line 5'],
    ['that is signed stays', `$TTL 3600\n${SOA}@ NSEC3PARAM 1 0 0 -\n`, 'has NSEC3PARAM records, which a change would invalidate'],
    ['with a record of another zone stays', `$TTL 3600\n${SOA}example.org. A 192.0.2.1\n`, 'a record outside the zone, example.org. A'],
  ])('%s', async (_, text, reason) => {
    const space = workspace()
    space.write('served/more.inc', 'inc A 192.0.2.5\n')
    space.write(FILE, text)
    space.define('example.com', NS + WWW)
    const plan = await space.run('plan')
    if (reason === null) {
      expect(plan.status).toBe(0)
      expect((await space.apply()).status).toBe(0)
      expect([space.read(FILE).startsWith(HEADER), serialOf(space.read(FILE))]).toEqual([true, 8])
      await expectUnchanged(space)
      return
    }
    expect([plan.status, plan.stderr]).toEqual([1, expect.stringContaining('error[zone-read-only]')])
    expect(plan.stderr).toContain(reason)
    expect((await space.apply('--allow', 'deletes')).status).toBe(1)
    expect(space.read(FILE)).toBe(text)
    // Comparing is always possible.
    expect((await space.run('verify', '--no-dns')).status).toBe(2)
    expect((await space.run('doctor')).stdout).toContain('cannot be changed')
  })

  test('is overwritten with "adopt"', async () => {
    const space = workspace('adopt: true')
    space.write('served/more.inc', 'inc 3600 A 192.0.2.5\n')
    space.write(FILE, `$TTL 3600\n; about\n${SOA}$INCLUDE more.inc\n`)
    space.define('example.com', `${NS + WWW}  inc: {type: A, value: 192.0.2.5}\n`)
    expect((await space.apply()).status).toBe(0)
    expect(space.read(FILE)).toMatch(/^inc +IN A +192\.0\.2\.5$/m)
    expect(space.read(FILE)).not.toContain('INCLUDE')
  })

  test.each([
    ['has a syntax error', `$TTL 1\n${SOA}x A\n`, /served\/example\.com\.zone:\d+:\d+: .*x\.example\.com\. A/],
    ['has no SOA record', 'x 300 A 192.0.2.1\n', /has no SOA record/],
    ['belongs to another zone', '$ORIGIN example.org.\n@ 300 SOA a. b. 1 2 3 4 5\n', /has the SOA record of example\.org\./],
    ['includes a file outside the folder', `$TTL 1\n${SOA}$INCLUDE ../zonewright.yaml\n`, /zonewright\.yaml is outside served/],
    ['is not text', Buffer.from([0x40, 0xff, 0x00]), /is not UTF-8 text/],
  ])('is not planned if it %s', async (_, text, expected) => {
    const space = workspace()
    writeFileSync(join(space.folder, FILE), text)
    space.define('example.com', NS)
    expectEnd(await space.run('plan'), 1, { err: expected })
  })

  test('is imported', async () => {
    const space = workspace()
    space.write(FILE, `$TTL 3600\n${SOA}www 300 A 192.0.2.1\n`)
    space.write('served/README.zone', 'no zone\n')
    space.write('served/other.zone', SOA.replace('@', 'example.net.'))
    expect((await space.run('import', '--from', 'files', '-o', 'zones', '--lossy')).stderr).toContain('must be named example.net.zone')
    expect(space.read('zones/example.com.yaml')).toContain('192.0.2.1')
    await expectUnchanged(space)
  })
})

describe('the place of a file', () => {
  test.each([
    ['0/25.2.0.192.in-addr.arpa', '{zone}.zone', '0_25.2.0.192.in-addr.arpa.zone'],
    ['example.com', 'db.{zone}', 'db.example.com'],
    ['xn--nxasmq6b.example', '{zone}', 'xn--nxasmq6b.example'],
  ])('of %s by the pattern %s is %s', async (zone, pattern, name) => {
    const space = workspace(`file_name: '${pattern}'`)
    space.define(zone.replace('/', '_'), NS)
    edit(space, /domain: .*/, `domain: '${zone}'`, `zones/${zone.replace('/', '_')}.yaml`)
    expect(await space.apply()).toMatchObject({ status: 0 })
    expect(space.served()).toEqual([name])
    await expectUnchanged(space)
  })

  test.each([
    ['', 'db.example.com', 'db.{zone}'],
    ["file_name: 'db.{zone}'", 'example.com.zone', '{zone}.zone'],
    ['', 'example.com.db', '{zone}.db'],
    ['', 'example.com', '{zone}'],
  ])('is not written beside the one that a server may read (%s, %s)', async (settings, name, pattern) => {
    const space = workspace(settings)
    space.write(`served/${name}`, '@ 60 IN SOA ns1.example.net. hostmaster 1 2 3 4 5\n')
    for (const zone of ['example.com', 'example.net']) space.define(zone, NS)
    const err = [`error[zone-exists] files: example.com. has no file `, `, but the file served/${name} (set file_name: '${pattern}' `]
    expectEnd(await space.run('plan'), 1, { err, out: 'example.net' })
    expectEnd(await space.apply('example.com'), 1, { err })
    expect(space.served()).toEqual([name])
    // It is that of another zone.
    space.write(`served/${name}`, 'example.org. 60 IN SOA ns1.example.net. hostmaster 1 2 3 4 5\n')
    expectEnd(await space.apply(), 0)
    expect(space.served()).toHaveLength(3)
  })

  test('of two zones with one name is not shared', async () => {
    const space = workspace()
    space.define('a', NS)
    space.write('zones/a.yaml', `domain: 'a/b.example'\nrecords:\n${NS}`)
    expect((await space.apply()).status).toBe(0)
    space.write('zones/b.yaml', `domain: 'a_b.example'\nrecords:\n${NS}`)
    expectEnd(await space.apply(), 1, { err: 'the file of a_b.example. has the SOA record of a/b.example.' })
  })

  test('of a name that is an option is refused', async () => {
    const space = workspace()
    space.write('zones/a.yaml', `domain: '-o.example.com'\nrecords:\n${NS}`)
    expectEnd(await space.apply(), 1, { err: 'cannot have a zone named -o.example.com.' })
  })

  test('that does not exist is an error, not an empty list of zones', async () => {
    const space = await applied()
    rmSync(join(space.folder, 'served'), { recursive: true })
    expectEnd(await space.run('plan'), 1, { err: 'the folder served does not exist' })
  })

  test('through a symbolic link in the folder is written; outside it is not', async () => {
    const space = await applied()
    mkdirSync(join(space.folder, 'served/real'))
    space.write('served/real/zone', space.read(FILE))
    rmSync(join(space.folder, FILE))
    symlinkSync('real/zone', join(space.folder, FILE))
    space.define('example.com', NS)
    expect((await space.apply('--allow', 'deletes')).status).toBe(0)
    expect(lstatSync(join(space.folder, FILE)).isSymbolicLink()).toBe(true)
    expect(serialOf(space.read('served/real/zone'))).toBe(2)
    rmSync(join(space.folder, FILE))
    space.write('outside', space.read('served/real/zone'))
    symlinkSync('../outside', join(space.folder, FILE))
    space.define('example.com', NS + WWW)
    expectEnd(await space.apply(), 1, { err: 'is a symbolic link to a place outside the folder' })
  })

  test('with an error is an error of its zone; others are planned and applied', async () => {
    const space = workspace()
    for (const zone of ['example.com', 'example.net']) space.define(zone, NS)
    expect((await space.apply()).status).toBe(0)
    space.write('served/example.com.zone', 'rubbish (\n')
    space.define('example.net', `${NS}  www: {type: A, value: 192.0.2.1}\n`)
    const planned = await space.run('plan')
    expect([planned.status, planned.stdout]).toEqual([1, expect.stringContaining('+ www')])
    expect(planned.stderr).toContain('zones/example.com.yaml:1:9: error[provider-garbled] files: served/example.com.zone:1:9')
    expect((await space.apply('example.net')).status).toBe(0)
    expect((await space.run('import', 'provider', 'files', '-o', 'imported')).stderr).toContain('example.com.zone')
  })

  test('that is a folder is an error', async () => {
    const space = workspace()
    mkdirSync(join(space.folder, FILE))
    space.define('example.com', NS)
    expect((await space.run('plan')).stderr).toContain('served/example.com.zone is a folder')
  })
})

test('a file beside a journal of BIND is not written, unless the zone is signed inline', async () => {
  const space = await applied()
  space.write(`${FILE}.jnl`, '')
  space.define('example.com', NS + WWW.replace('192.0.2.1', '192.0.2.2'))
  const before = space.read(FILE)
  const { status, stdout, stderr } = await space.apply()
  expect([status, stdout + stderr]).toEqual([
    1,
    expect.stringMatching(/error\[zone-read-only\].*example\.com\.zone\.jnl exists.*ixfr-from-differences.*rfc2136/s),
  ])
  expect(space.read(FILE)).toBe(before)
  space.write(`${FILE}.signed`, '')
  expect((await space.apply()).status).toBe(0)
  expect(space.read(FILE)).toContain('192.0.2.2')
})
