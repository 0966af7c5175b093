/** A folder of octoDNS's zone files as a target, judged by octoDNS itself. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { describeWithOctodns, linesOfLoaded, loadWithOctodns } from '../../interop/octodns-judge.ts'
import { cli, expectEnd } from '../../support/cli.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'

const FILE = 'mirror/example.com.yaml'

const RECORDS = [
  "  '': [{type: A, ttl: 300, value: 192.0.2.1}, {type: MX, value: {preference: 10, exchange: mail}}, {type: NS, values: [ns1.example.net., ns2.example.net.]}]",
  '  mail: {type: A, values: [192.0.2.2, 192.0.2.3]}',
  '  txt: {type: TXT, value: \'v=spf1; "x" é\'}',
  "  '*.w': {type: CNAME, value: mail}",
  '  _sip._tcp: {type: SRV, value: {priority: 1, weight: 2, port: 3, target: mail}}',
  '  caa: {type: CAA, value: {flags: 0, tag: issue, value: ca.example.net}}',
  '',
].join('\n')

function workspace(records: string | null) {
  const folder = temporaryDirectory()
  for (const name of ['zones', 'mirror']) mkdirSync(join(folder, name))
  writeFileSync(join(folder, 'zonewright.yaml'), 'providers: {copy: {type: octodns, directory: mirror}}\n')
  const define = (text: string | null): void =>
    writeFileSync(join(folder, 'zones/example.com.yaml'), `domain: example.com\n${text === null ? 'absent: true\n' : `records:\n${text}`}`)
  define(records)
  return {
    folder,
    define,
    read: () => readFileSync(join(folder, FILE), 'utf8'),
    write: (text: string) => writeFileSync(join(folder, FILE), text),
    run: (...args: string[]) => cli([...args, '--no-color'], { cwd: folder, env: {} }),
  }
}

describe('a folder of octoDNS', () => {
  test('gets a file per zone, whose second plan is empty, and loses it with the zone', async () => {
    const { run, read, define, folder } = workspace(RECORDS)
    const applied = await run('apply', '--yes', '--format', 'json')
    expect(JSON.parse(applied.stdout).zones[0]).toMatchObject({ readBack: 'equal', calls: { total: 1 } })
    expect(read()).toContain('mail:\n  ttl: 3600\n  type: A\n  values:\n  - 192.0.2.2\n  - 192.0.2.3\n')
    expect((await run('plan', '--detailed-exitcode')).status).toBe(0)
    define(RECORDS.replace('192.0.2.3', '192.0.2.4'))
    expect((await run('apply', '--yes')).status).toBe(0)
    expect(read()).toContain('- 192.0.2.4\n')
    define(null)
    expect((await run('apply', '--yes', '--allow', 'delete-zone')).status).toBe(0)
    expect(readdirSync(join(folder, 'mirror'))).toEqual([])
  })

  test('keeps the keys of octoDNS', async () => {
    const { run, read, write } = workspace('  a: {type: A, ttl: 60, value: 192.0.2.1}\n  b: {type: A, ttl: 60, value: 192.0.2.3}\n')
    write(
      'a:\n  octodns:\n    excluded: [other]\n    lenient: true\n  ttl: 60\n  type: A\n  value: 192.0.2.1\nb: {type: A, ttl: 60, value: 192.0.2.2}\n',
    )
    expect((await run('apply', '--yes')).status).toBe(0)
    expect(read()).toBe(
      '---\na:\n  octodns:\n    excluded:\n    - other\n    lenient: true\n  ttl: 60\n  type: A\n  value: 192.0.2.1\nb:\n  ttl: 60\n  type: A\n  value: 192.0.2.3\n',
    )
  })

  test.each([
    ['a comment', '# about\na: {type: A, ttl: 60, value: 192.0.2.1}\n', 'zone-read-only.*the comment'],
    ['geo', 'a: {type: A, ttl: 60, value: 192.0.2.1, geo: {NA: [192.0.2.2]}}\n', 'zone-read-only.*the key geo at a\\.example\\.com\\. A'],
    ['a type of another provider', 'a: {type: Route53Provider/ALIAS, ttl: 60, value: x}\n', 'zone-read-only.*Route53Provider/ALIAS'],
    [
      'an alias of Route 53',
      'a: {type: Route53Provider/ALIAS, value: {type: A, name: b}}\n',
      'zone-read-only.*settings of one type of provider at a\\.example\\.com\\. ALIAS',
    ],
    [
      'settings of Cloudflare',
      'a: {type: A, ttl: 60, value: 192.0.2.1, octodns: {cloudflare: {proxied: true}}}\n',
      'zone-read-only.*settings of one type of provider at a\\.example\\.com\\. A',
    ],
    ['a definition of Zonewright', 'domain: example.com\nrecords: {}\n', 'is not a zone file of octoDNS'],
    ['a syntax error', 'a: [\n', 'mirror/example\\.com\\.yaml:'],
  ])('leaves a file with %s as it is', async (_, text, expected) => {
    const { run, read, write } = workspace('  b: {type: A, ttl: 60, value: 192.0.2.2}\n')
    write(text)
    expectEnd(await run('apply', '--yes', '--allow', 'deletes', '--allow', 'empty-zone'), 1, { err: new RegExp(expected) })
    expect(read()).toBe(text)
  })

  test.each([
    ['a type that octoDNS lacks', '  b: {type: HINFO, value: {cpu: a, os: b}}\n', 'does not support HINFO'],
    ['octets that are no text', '  b: {type: TXT, value: {rdata: \'"\\255"\'}}\n', 'octoDNS cannot express octets that are not UTF-8 text'],
  ])('refuses %s', async (_, records, expected) => void expectEnd(await workspace(records).run('plan'), 1, { err: new RegExp(expected) }))

  test('that does not exist is an error', async () => {
    const { run, folder } = workspace(RECORDS)
    writeFileSync(join(folder, 'zonewright.yaml'), 'providers: {copy: {type: octodns, directory: nowhere}}\n')
    expect((await run('plan')).stderr).toContain('the folder nowhere does not exist')
  })

  test('is imported', async () => {
    const { run, read, write, folder } = workspace(RECORDS)
    write('a: {type: A, ttl: 60, value: 192.0.2.1}\n')
    expect((await run('import', '--from', 'copy', '-o', 'zones', '--force')).status).toBe(0)
    expect(readFileSync(join(folder, 'zones/example.com.yaml'), 'utf8')).toContain('a: {type: A, ttl: 60, value: 192.0.2.1}')
    expect([(await run('plan', '--detailed-exitcode')).status, read().startsWith('a:')]).toEqual([0, true])
  })
})

describeWithOctodns('octoDNS', () => {
  test('loads the same records, with its checks', async () => {
    const { run, folder } = workspace(RECORDS)
    expect((await run('apply', '--yes')).status).toBe(0)
    const loaded = await loadWithOctodns(join(folder, 'mirror'), ['example.com.'])
    expect(loaded.flatMap(linesOfLoaded).sort()).toEqual([
      '*.w.example.com. 3600 CNAME mail.example.com.',
      '_sip._tcp.example.com. 3600 SRV 1 2 3 mail.example.com.',
      'caa.example.com. 3600 CAA 0 issue "ca.example.net"',
      'example.com. 300 A 192.0.2.1',
      'example.com. 3600 MX 10 mail.example.com.',
      'example.com. 3600 NS ns1.example.net.',
      'example.com. 3600 NS ns2.example.net.',
      'mail.example.com. 3600 A 192.0.2.2',
      'mail.example.com. 3600 A 192.0.2.3',
      expect.stringMatching(/^txt\.example\.com\. 3600 TXT "v=spf1; \\"x\\" /),
    ])
  })
})
