/** A zone in two versions, its reverse zone, and PTR records, in two views of a real BIND that the keys of its clients select. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from 'vitest'
import { acquireLease } from '../../src/stored/store/acquire-lease.ts'
import { folderStore } from '../../src/stored/store/folder-store.ts'
import { ownHolder } from '../../src/stored/store/leases.ts'
import { addFiles, folderWith } from '../definition/files.ts'
import { cli, expectEnd } from '../support/cli.ts'
import { type DnsServer, startBindViews } from '../support/dns-servers.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { dig, nsupdate, runTool, type TsigKey } from '../support/tools.ts'

const secretOf = (octet: number): string => Buffer.alloc(32, octet).toString('base64')
const key = (name: string, octet: number): TsigKey => ({ name: `${name}.`, algorithm: 'hmac-sha256', secret: secretOf(octet) })
const INSIDE = key('inside', 1)
const OUTSIDE = key('outside', 2)

const emptyZone = (zone: string): string =>
  `$TTL 60\n@ SOA ns.example.net. hostmaster.example.net. 1 60 60 600 60\n@ NS ns.example.net.\n; ${zone}\n`
const ZONES = ['example.com', '2.0.192.in-addr.arpa', '0/26.2.0.192.in-addr.arpa', '8.b.d.0.1.0.0.2.ip6.arpa']
const zoneFiles = Object.fromEntries(ZONES.map((zone) => [zone, emptyZone(zone)]))

const REVERSE = {
  '2.0.192.yaml': `domain: 2.0.192.in-addr.arpa
records:
  '10': {type: CNAME, ttl: 60, value: 10.0/26.2.0.192.in-addr.arpa.}
  0/26: {type: NS, ttl: 60, value: ns.example.net.}
`,
  'block.yaml': 'domain: 0/26.2.0.192.in-addr.arpa\n',
  'ip6.yaml': 'domain: 8.b.d.0.1.0.0.2.ip6.arpa\n',
}

describeWithTools(['named', 'dig', 'nsupdate'], 'split horizon', () => {
  let server: DnsServer
  let folder: string
  beforeAll(async () => {
    server = await startBindViews([
      { key: INSIDE, zones: zoneFiles },
      { key: OUTSIDE, zones: zoneFiles },
    ])
  })
  afterAll(() => server.stop())

  const below = (path: string, files: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(files).map(([name, text]) => [`${path}/${name}`, text]))

  const www = (address: string): string => `domain: example.com
auto_ptr: true
records:
  www: {type: A, ttl: 60, values: [${address}, 192.0.2.100]}
  '*': {type: A, ttl: 60, value: 192.0.2.101}
  v6: {type: AAAA, ttl: 60, value: '2001:db8::1'}
`

  const define = (files: Readonly<Record<string, string>>): void => addFiles(folder, files)

  const configOf = (inside: TsigKey, outside: TsigKey, host = '127.0.0.1'): string => {
    const entry = ({ name }: TsigKey): string =>
      `{type: rfc2136, server: '${host}:${server.port}', tsig: {name: ${name}, secret: env:${name === INSIDE.name ? 'INSIDE' : 'OUTSIDE'}}}`
    return `providers:
  inside: ${entry(inside)}
  outside: ${entry(outside)}
zones:
  - {files: zones/internal/*, targets: [inside]}
  - {files: zones/public/*, targets: [outside]}
safety: {min_existing: 1000}
`
  }

  beforeEach(() => {
    folder = temporaryDirectory()
    define({
      'zonewright.yaml': configOf(INSIDE, OUTSIDE),
      ...below('zones/internal', { 'example.com.yaml': www('192.0.2.10'), ...REVERSE }),
      ...below('zones/public', {
        'example.com.yaml': www('192.0.2.200'),
        '2.0.192.yaml': 'domain: 2.0.192.in-addr.arpa\n',
        'ip6.yaml': REVERSE['ip6.yaml'],
      }),
    })
  })

  const run = (...args: string[]) => cli([...args, '--no-color'], { cwd: folder, env: { INSIDE: INSIDE.secret, OUTSIDE: OUTSIDE.secret } })

  const applied = async (...args: string[]) => {
    const result = expectEnd(await run('apply', ...args, '--yes', '--format', 'json'), 0, { err: '' })
    return (JSON.parse(result.stdout).zones as { zone: string; target: string; changes: unknown[] }[])
      .filter(({ changes }) => changes.length > 0)
      .map(({ zone, target }) => `${zone} ${target}`)
  }

  /** The names of an address in a view, by `dig -x`. */
  const namesOf = async (address: string, { algorithm, name, secret }: TsigKey): Promise<string[]> => {
    const query = `-r @127.0.0.1 -p ${server.port} -y ${algorithm}:${name}:${secret} -x ${address} +short`
    return (await runTool('dig', query.split(' '))).stdout.split('\n').filter((line) => line !== '')
  }

  test('both versions are applied, each with its own addresses and PTR records', async () => {
    expect((await run('validate')).stdout + (await run('validate')).stderr).toContain('7 zones')
    expect(await applied()).toEqual([
      '0/26.2.0.192.in-addr.arpa. inside',
      '2.0.192.in-addr.arpa. inside',
      '2.0.192.in-addr.arpa. outside',
      '8.b.d.0.1.0.0.2.ip6.arpa. inside',
      '8.b.d.0.1.0.0.2.ip6.arpa. outside',
      'example.com. inside',
      'example.com. outside',
    ])
    // The CNAME record of RFC 2317 leads to the block; an authoritative server does not follow it into another zone.
    expect(await dig({ port: server.port, name: '10.0/26.2.0.192.in-addr.arpa', type: 'PTR', key: INSIDE })).toEqual(['www.example.com.'])
    for (const [address, view, names] of [
      ['192.0.2.10', INSIDE, ['10.0/26.2.0.192.in-addr.arpa.']],
      ['192.0.2.10', OUTSIDE, []],
      ['192.0.2.200', OUTSIDE, ['www.example.com.']],
      ['192.0.2.200', INSIDE, []],
      ['192.0.2.100', INSIDE, ['www.example.com.']],
      ['192.0.2.101', INSIDE, []],
      ['2001:db8::1', OUTSIDE, ['v6.example.com.']],
    ] as const)
      expect(await namesOf(address, view), address).toEqual(names)
    expectEnd(await run('plan', '--detailed-exitcode'), 0, { err: '' })
    expectEnd(await run('verify', '--no-dns'), 0, { out: 'Verified: 7 of 7 zones' })
  })

  test('names and --target select the versions', async () => {
    define({ 'zones/internal/example.com.yaml': www('192.0.2.11') })
    const one = expectEnd(await run('plan', 'example.com', '--target', 'inside'), 0, { out: '192.0.2.11' })
    expect(one.stdout).not.toContain('outside')
    expect(one.stderr).toContain('notice[ptr-not-selected] example.com.: this run leaves out its PTR records in 0/26.2.0.192.in-addr.arpa.')
    const verified = await run('verify', '--no-dns')
    expect(verified.stdout).toContain('example.com. at inside')
    expect(verified.stdout).not.toContain('example.com. at outside')
    const both = await run('plan', 'example.com', '--format', 'json')
    expect(JSON.parse(both.stdout).zones.map(({ target }: { target: string }) => target)).toEqual(['inside', 'outside'])
    const none = await run('plan', 'example.com', '2.0.192.in-addr.arpa', '0/26.2.0.192.in-addr.arpa', '--target', 'elsewhere')
    expect(none.stderr).toContain('provider-unknown')
    const reverse = await run('plan', '0/26.2.0.192.in-addr.arpa', '--target', 'inside')
    expect(reverse.stdout).toMatch(/\+ 11 +60 +PTR +www\.example\.com\.\n +from auto_ptr of www\.example\.com\. A/)
    expectEnd(await run('plan', '0/26.2.0.192.in-addr.arpa', '--target', 'outside'), 1, { err: 'target-missing' })
  })

  test('a saved plan and a rollback change the version that they were made for', async () => {
    define({ 'zones/internal/example.com.yaml': www('192.0.2.12'), 'zones/public/example.com.yaml': www('192.0.2.201') })
    expect((await run('plan', '--target', 'inside', '--out', 'plan.json')).status).toBe(0)
    expect(await applied('plan.json')).toEqual(['0/26.2.0.192.in-addr.arpa. inside', 'example.com. inside'])
    expect(await namesOf('192.0.2.12', INSIDE)).toEqual([])
    expect(await namesOf('192.0.2.201', OUTSIDE)).toEqual([])
    expect(expectEnd(await run('rollback', '--last', '--yes'), 0).stdout).not.toContain('outside')
    expect((await run('history')).stdout).toContain('at inside')
    // The plan is for another address.
    define({ 'zonewright.yaml': configOf(INSIDE, OUTSIDE, 'localhost') })
    expect((await run('apply', 'plan.json', '--yes')).stderr).toContain('plan-file-target')
  })

  test('a saved plan does not change the other view if the keys are swapped', async () => {
    define({ 'zones/internal/example.com.yaml': www('192.0.2.13') })
    expect((await run('plan', 'example.com', '--target', 'inside', '--out', 'plan.json')).status).toBe(0)
    expect((await nsupdate(server.port, 'zone example.com\nupdate add www.example.com 60 A 192.0.2.77', OUTSIDE)).status).toBe(0)
    define({ 'zonewright.yaml': configOf(OUTSIDE, INSIDE) })
    const swapped = await run('apply', 'plan.json', '--yes')
    expect(swapped.stderr + swapped.stdout).toMatch(/plan-stale|plan-file-target/)
    expect(swapped.status).not.toBe(0)
    await nsupdate(server.port, 'zone example.com\nupdate delete www.example.com A 192.0.2.77', OUTSIDE)
  })

  test('a lock holds one version', async () => {
    const lease = await acquireLease({
      store: folderStore(join(folder, '.zonewright'), false),
      zones: [{ zone: 'example.com.', target: 'inside' }],
      holder: ownHolder({}),
      command: 'apply',
      run: '20261121T063000Z-4f2a',
      seconds: 60,
      wait: 0,
    })
    expect((await run('apply', 'example.com', '--target', 'inside', '--yes')).stderr).toContain('zone-locked')
    expect((await run('apply', 'example.com', '--target', 'outside', '--yes')).stderr).not.toContain('zone-locked')
    if (lease.state === 'acquired') await lease.heartbeat.end()
  })
})

describe('commands for one definition of a zone with two', () => {
  const setUp = () => {
    const cwd = folderWith({
      'zonewright.yaml': `providers:
  lab: {type: rfc2136, server: '127.0.0.1:1'}
  own: {type: rfc2136, server: '127.0.0.1:2'}
zones:
  - {files: zones/internal/*, targets: [lab]}
  - {files: zones/public/*, targets: [own]}
`,
      'zones/internal/example.com.yaml': 'domain: example.com\nrecords:\n  www: {type: A, ttl: 60, value: 192.0.2.1, auto_ptr: true}\n',
      'zones/internal/2.0.192.yaml': 'domain: 2.0.192.in-addr.arpa\n',
      'zones/public/example.com.yaml': 'domain: example.com\nrecords:\n  www: {type: A, ttl: 60, value: 192.0.2.2}\n',
    })
    const read = (path: string): string => readFileSync(join(cwd, path), 'utf8')
    return { run: (words: string) => cli([...words.split(' '), '--no-color'], { cwd }), read }
  }

  it('record asks for --target, or takes the file', async () => {
    const { run, read } = setUp()
    const add = (value: string) => run(`record add example.com www A 192.0.2.${value}`)
    expectEnd(await add('9'), 1, { err: 'choose one with --target lab or --target own' })
    expect((await add('9 --target cloud')).stderr).toContain('target-missing')
    expect((await add('9 --target own')).status).toBe(0)
    expect(read('zones/public/example.com.yaml')).toContain('values: [192.0.2.2, 192.0.2.9]')
    expect((await add('8 --file zones/internal/example.com.yaml')).status).toBe(0)
    expect(read('zones/internal/example.com.yaml')).toContain('values: [192.0.2.1, 192.0.2.8], auto_ptr: true}')
    expect((await run('record rename example.com www web --target lab')).status).toBe(0)
    expect(read('zones/internal/example.com.yaml')).toContain('  web: ')
    expect(read('zones/public/example.com.yaml')).toContain('  www: ')
  })

  it('record edits only what files have, not PTR records of auto_ptr', async () => {
    const { run } = setUp()
    expectEnd(await run('record remove 2.0.192.in-addr.arpa 1 PTR'), 1, { err: 'record-unknown' })
    expect((await run('record add 2.0.192.in-addr.arpa 2 PTR host.example.net. --dry-run')).status).toBe(0)
  })

  test.each(['zonefile', 'octodns', 'dnscontrol', 'csv'])('export %s asks for --target', async (format) => {
    const { run, read } = setUp()
    expectEnd(await run(`export ${format} -o out --lossy`), 1, { err: 'choose one with --target, such as --target lab or' })
    expect((await run(`export ${format} -o out --target lab --lossy --ns ns1.example.net.`)).status).toBe(0)
    if (format === 'csv') expect(read('out')).toContain('2.0.192.in-addr.arpa.,1.2.0.192.in-addr.arpa.,PTR,60,www.example.com.')
    if (format === 'octodns') expect(read('out/2.0.192.in-addr.arpa.yaml')).toContain('value: www.example.com.')
  })

  it('export json has both definitions', async () => {
    const { stdout } = await setUp().run('export json')
    expect(JSON.parse(stdout).zones.map(({ zone, targets }: { zone: string; targets?: string[] }) => [zone, targets])).toEqual([
      ['2.0.192.in-addr.arpa.', undefined],
      ['example.com.', ['lab']],
      ['example.com.', ['own']],
    ])
  })
})
