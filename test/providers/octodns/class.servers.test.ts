/** Zones through a provider class of octoDNS: what plans see, what a call changes, and what it refuses. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cli, expectEnd } from '../../support/cli.ts'
import { OCTODNS_PYTHON } from '../../support/octodns-python.ts'
import { describeWithTools } from '../../support/skip.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'
import { awkwardWorkspace, KEPT } from './awkward.ts'

const A = (name: string, value: string, more: object = {}) => ({ name, type: 'A', ttl: 300, value, ...more })
const KEEP = A('keep', '192.0.2.1')
const POOLS = { dynamic: { pools: { one: { values: [{ value: '192.0.2.7' }] } }, rules: [{ pool: 'one' }] } }

/** Records that octoDNS alone can describe. */
const HELD = [
  A('dyn', '192.0.2.7', POOLS),
  A('geo', '192.0.2.8', { geo: { EU: ['192.0.2.9'] } }),
  A('set', '192.0.2.10', { octodns: { cloudflare: { proxied: true } } }),
]

describeWithTools([OCTODNS_PYTHON], 'a provider class', () => {
  test('a plan reads the zone once, and so does a call; the second plan is empty', async () => {
    const { run, define, store, stored, reads } = awkwardWorkspace()
    // The class does not manage the apex NS records that it reads.
    const ns = { name: '', type: 'NS', ttl: 300, values: ['ns1.example.net.', 'ns2.example.net.'] }
    store([KEEP, ns])
    define(`${KEPT}  www: [{type: A, ttl: 60, values: [192.0.2.2, 192.0.2.3]}, {type: TXT, ttl: 60, value: 'v=spf1; -all'}]\n`)
    expect((await run('plan', '--detailed-exitcode')).status).toBe(2)
    expect(reads()).toBe(1)
    const { status, stdout } = await run('apply', '--yes', '--format', 'json')
    expect([status, JSON.parse(stdout).zones[0]]).toMatchObject([0, { readBack: 'equal', calls: { total: 1 } }])
    // To plan, before the call, and to compare the result.
    expect(reads()).toBe(4)
    expect(stored()).toContainEqual(ns)
    expect(stored()).toContainEqual({ name: 'www', type: 'TXT', ttl: 60, value: 'v=spf1\\; -all' })
    expect((await run('plan', '--detailed-exitcode')).status).toBe(0)
  })

  test('one instance of the class reads several zones, as in octoDNS, and none reads a zone twice', async () => {
    const { run, define, folder, reads, made } = awkwardWorkspace()
    define(KEPT)
    for (const zone of ['b', 'c']) {
      writeFileSync(join(folder, `zones/${zone}.example.yaml`), `domain: ${zone}.example\nrecords:\n${KEPT}`)
      writeFileSync(join(folder, `stored/${zone}.example.json`), JSON.stringify([KEEP]))
    }
    expect((await run('plan', '--detailed-exitcode')).status).toBe(0)
    expect([reads(), made()]).toEqual([3, 1])
    define(`${KEPT}  www: {type: A, ttl: 300, value: 192.0.2.2}\n`)
    expect((await run('apply', '--yes')).status).toBe(0)
    expect([reads(), made()]).toEqual([3 + 5, 1 + 3])
  })

  test('records that octoDNS alone can describe are shown and left alone, and lenient is kept', async () => {
    const { run, define, store, stored } = awkwardWorkspace()
    store([KEEP, A('len', '192.0.2.4', { octodns: { lenient: true } }), ...HELD])
    define(`${KEPT}  len: {type: A, ttl: 300, value: 192.0.2.5}\n  dyn: {type: A, ttl: 300, value: 192.0.2.77}\n`)
    const [zone] = JSON.parse((await run('plan', '--format', 'json')).stdout).zones
    expect(zone.changes.map(({ action, name }: { action: string; name: string }) => `${action} ${name}`)).toEqual([
      'update len.example.com.',
    ])
    const messages = zone.diagnostics.map(({ severity, message }: { severity: string; message: string }) => `${severity}: ${message}`)
    expect(messages).toEqual(
      expect.arrayContaining([
        'notice: dyn.example.com. A 192.0.2.7 answers differently by place or health (dynamic or geo of octoDNS) at odd, and stays as it is',
        'notice: set.example.com. A 192.0.2.10 has settings of octoDNS (cloudflare.proxied) at odd, and stays as it is',
        expect.stringMatching(/^warning: dyn\.example\.com\. A of the definition is ignored: the one at odd answers differently/),
      ]),
    )
    expect((await run('apply', '--yes')).status).toBe(0)
    const after = new Map(stored().map((record) => [record.name, record]))
    expect(after.get('len')).toEqual(A('len', '192.0.2.5', { octodns: { lenient: true } }))
    for (const held of HELD) expect(after.get(held.name)).toEqual(held)
    define(KEPT)
    expect((await run('apply', '--yes', '--allow', 'deletes')).status).toBe(0)
    expect(
      stored()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['dyn', 'geo', 'keep', 'set'])
  })

  test('a record set that becomes dynamic after the plan is a conflict', async () => {
    const { run, define, store, stored } = awkwardWorkspace()
    define(`${KEPT}  www: {type: A, ttl: 300, value: 192.0.2.2}\n`)
    expect((await run('plan', '--out', 'saved.json')).status).toBe(0)
    const theirs = [KEEP, A('www', '203.0.113.1', POOLS)]
    store(theirs)
    expectEnd(await run('apply', 'saved.json', '--yes'), 1, { said: 'has a record set www.example.com. A that answers differently' })
    expect(stored()).toEqual(theirs)
  })

  test.each<[mode: string, words: RegExp]>([
    ['extra', /octoDNS plans something else than was asked: it also changes keep A/],
    ['filter', /it does not change www A/],
    ['meta', /it also changes settings of the zone/],
  ])('a plan of octoDNS that differs from the call is refused: %s', async (mode, words) => {
    const { run, define, behave, stored } = awkwardWorkspace()
    define(`${KEPT}  www: {type: A, ttl: 300, value: 192.0.2.2}\n`)
    behave(mode)
    expectEnd(await run('apply', '--yes'), 1, { said: words })
    expect(stored()).toEqual([KEEP])
  })

  test("octoDNS's own thresholds apply if the options set them, and not otherwise", async () => {
    const many = Array.from({ length: 12 }, (_, index) => A(`h${index}`, '192.0.2.1'))
    const define = many.map(({ name }) => `  ${name}: {type: A, ttl: 300, value: 192.0.2.2}\n`).join('')
    const run = async (options: string) => {
      const workspace = awkwardWorkspace({ options })
      workspace.store(many)
      workspace.define(define)
      const { status, stdout, stderr } = await workspace.run('apply', '--yes', '--allow', 'updates')
      return { status, text: stdout + stderr }
    }
    expect(await run('')).toMatchObject({ status: 0 })
    expect(await run(', update_pcent_threshold: 0.5')).toMatchObject({
      status: 1,
      text: expect.stringMatching(/octoDNS refuses the plan: .*Too many updates, 100\.00% is over 50\.00%/),
    })
  })

  test('apply_disabled makes the zones read-only', async () => {
    const { run, define } = awkwardWorkspace({ options: ', apply_disabled: true' })
    define(`${KEPT}  www: {type: A, ttl: 300, value: 192.0.2.2}\n`)
    expectEnd(await run('plan'), 1, { said: /zone-read-only/ })
  })

  test('changes_per_call divides a large change', async () => {
    const { run, define, stored } = awkwardWorkspace({ settings: ', changes_per_call: 2' })
    define(`${KEPT}${[1, 2, 3, 4, 5].map((n) => `  h${n}: {type: A, ttl: 300, value: 192.0.2.${n}}\n`).join('')}`)
    const { stdout } = await run('apply', '--yes', '--format', 'json')
    expect(JSON.parse(stdout).zones[0]).toMatchObject({ readBack: 'equal', calls: { total: 3 } })
    expect(stored()).toHaveLength(6)
  })

  test('what a class does not support is an error of the plan', async () => {
    const { run, define } = awkwardWorkspace()
    define(`${KEPT}  mx: {type: SRV, value: {priority: 1, weight: 1, port: 1, target: keep}}\n  p: {type: PTR, values: [a.example.net., b.example.net.]}\n  t: {type: TXT, value: 'a\\b'}\n`)
    const { stderr } = expectEnd(await run('plan'), 1)
    for (const words of [
      'odd does not support SRV records',
      'odd does not support a second PTR record at p.',
      'octoDNS may change this text',
    ])
      expect(stderr).toContain(words)
  })

  test('a saved plan is applied to the same class with the same options only', async () => {
    const { run, define, stored, folder } = awkwardWorkspace()
    define(`${KEPT}  www: {type: A, ttl: 300, value: 192.0.2.2}\n`)
    expect((await run('plan', '--out', 'plan.json')).status).toBe(0)
    expect(readFileSync(join(folder, 'plan.json'), 'utf8')).toMatch(/octodns:awkward\.AwkwardProvider#[0-9a-f]{8}/)
    const config = join(folder, 'zonewright.yaml')
    const text = readFileSync(config, 'utf8')
    writeFileSync(config, text.replace('folder: stored', 'folder: ./stored'))
    expect([(await run('apply', 'plan.json', '--yes')).status === 0, stored()]).toEqual([false, [KEEP]])
    writeFileSync(config, text)
    expect((await run('apply', 'plan.json', '--yes')).status).toBe(0)
    expect(stored()).toHaveLength(2)
  })

  test('a zone without definition is imported, with a list of zones or by name; zones are copied', async () => {
    const { run, store, stored, folder, env } = awkwardWorkspace()
    store([KEEP, A('www', '192.0.2.2'), ...HELD])
    mkdirSync(join(folder, 'copied'))
    const config = join(folder, 'zonewright.yaml')
    writeFileSync(
      config,
      `${readFileSync(config, 'utf8')}  files: {type: octodns, directory: copied}\nzones: [{files: ['zones/**/*'], targets: [odd]}]\n`,
    )
    const imported = await run('import', '--from', 'odd', '-o', 'zones')
    expect([imported.status, readdirSync(join(folder, 'zones'))]).toEqual([expect.any(Number), ['example.com.yaml']])
    expect(imported.stdout + imported.stderr).toContain('dyn.example.com. A')
    expect(readFileSync(join(folder, 'zones/example.com.yaml'), 'utf8')).toContain('www')
    expect((await run('plan', '--detailed-exitcode')).status).toBe(0)
    expect((await run('zones')).stdout).toContain('odd')
    expect((await run('providers', 'odd')).stdout).toContain('octodns')
    const copied = await cli(['copy', '--from', 'odd', '--to', 'files', '--lossy', 'example.com', '--yes', '--no-color'], {
      cwd: folder,
      env,
    })
    expect([copied.status, copied.stderr]).toEqual([0, expect.any(String)])
    expect(readFileSync(join(folder, 'copied/example.com.yaml'), 'utf8')).toContain('www')
    store([])
    expect((await run('copy', '--from', 'files', '--to', 'odd', 'example.com', '--yes')).status).toBe(0)
    expect(
      stored()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['keep', 'www'])
  })

  test('a class without a list of its zones says so', async () => {
    const folder = temporaryDirectory()
    const options = '{host: 127.0.0.1, port: 1, timeout: 1}'
    writeFileSync(
      join(folder, 'zonewright.yaml'),
      `providers: {lab: {type: octodns, class: octodns_bind.Rfc2136Provider, python: '${OCTODNS_PYTHON}', options: ${options}}}\n`,
    )
    const { status, stdout, stderr } = await cli(['import', '--from', 'lab', '-o', 'zones'], { cwd: folder })
    expect([status, stdout + stderr]).toEqual([1, expect.stringContaining('octodns_bind.Rfc2136Provider has no list of its zones')])
  })
})

describeWithTools([OCTODNS_PYTHON], "octoDNS's YamlProvider", () => {
  test('creates the file of a new zone, keeps settings, and never deletes a zone', async () => {
    const folder = temporaryDirectory()
    for (const name of ['zones', 'config']) mkdirSync(join(folder, name))
    writeFileSync(
      join(folder, 'zonewright.yaml'),
      `providers: {yaml: {type: octodns, class: octodns.provider.yaml.YamlProvider, python: '${OCTODNS_PYTHON}', options: {directory: ./config, escaped_semicolons: false}}}\n`,
    )
    const define = (text: string): void => writeFileSync(join(folder, 'zones/example.com.yaml'), `domain: example.com\n${text}`)
    const run = (...args: string[]) => cli([...args, '--no-color'], { cwd: folder })
    const file = (): string => readFileSync(join(folder, 'config/example.com.yaml'), 'utf8')
    define("records:\n  www: {type: A, ttl: 60, value: 192.0.2.1}\n  txt: {type: TXT, value: 'a; b'}\n  '': {type: NS, values: [ns1.example.net., ns2.example.net.]}\n")
    const created = await run('apply', '--yes', '--format', 'json')
    expect(JSON.parse(created.stdout).zones[0]).toMatchObject({ readBack: 'equal', calls: { total: 1 } })
    expect(file()).toBe(
      "---\n? ''\n: type: NS\n  values:\n  - ns1.example.net.\n  - ns2.example.net.\ntxt:\n  type: TXT\n  value: a; b\nwww:\n  ttl: 60\n  type: A\n  value: 192.0.2.1\n",
    )
    writeFileSync(
      join(folder, 'config/example.com.yaml'),
      `${file()}x:\n  octodns:\n    cloudflare:\n      proxied: true\n  type: A\n  value: 192.0.2.9\n`,
    )
    define("records:\n  www: {type: A, ttl: 60, value: 192.0.2.2}\n  txt: {type: TXT, value: 'a; b'}\n  '': {type: NS, values: [ns1.example.net., ns2.example.net.]}\n")
    expect((await run('apply', '--yes')).status).toBe(0)
    expect(file()).toContain('value: 192.0.2.2\nx:\n  octodns:\n    cloudflare:\n      proxied: true\n  type: A\n')
    define('absent: true\n')
    expectEnd(await run('plan'), 1, { said: 'zone-fixed' })
  })
})
