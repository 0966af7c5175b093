/** Invalid input: one diagnostic with a code per error, exit 1, no request, no changed file, in bounded time. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { expectNothingDone, ZONE } from './scene.ts'
import { openServiceScene, type ServiceScene } from './service-scene.ts'

const record = (fields: string): string => `${ZONE}  x: ${fields}\n`

/** A tree of aliases: each line contains the previous one ten times. */
const BOMB = `${Array.from({ length: 12 }, (_, level) =>
  level === 0
    ? 'a0: &a0 [x, x, x, x, x, x, x, x, x, x]'
    : `a${level}: &a${level} [${Array(10)
        .fill(`*a${level - 1}`)
        .join(', ')}]`,
).join('\n')}\n`

const CASES: readonly (readonly [name: string, text: string, code: string, place: string | null])[] = [
  ['an unclosed list', 'domain: example.com\nrecords: {www: [', 'yaml-syntax', '2:16'],
  ['a tab for indentation', 'domain: example.com\nrecords:\n\twww: {type: A, value: 192.0.2.1}\n', 'yaml-syntax', null],
  ['unterminated quotes', "domain: 'example.com\n", 'yaml-syntax', '1:9'],
  ['two documents', `${ZONE}---\n${ZONE}`, 'yaml-unsupported', null],
  ['binary', '\u0000\u0001\u0002', 'yaml-syntax', null],
  ['an alias bomb', BOMB, 'yaml-too-many-aliases', null],
  [
    'a merge bomb',
    `${BOMB.replaceAll('[', '[').replace('a0: &a0 [x, x, x, x, x, x, x, x, x, x]', 'a0: &a0 {x: 1}')}`,
    'yaml-too-many-aliases',
    null,
  ],
  ['an alias without an anchor', 'domain: example.com\nrecords: *nothing\n', 'yaml-syntax', '2:10'],
  ['an alias of itself', 'a: &a [*a]\n', 'yaml-unsupported', null],
  ['brackets nested 100,000 deep', `${'['.repeat(100_000)}`, 'yaml-too-deep', null],
  ['mappings nested 100,000 deep', `${'{a: '.repeat(100_000)}`, 'yaml-too-deep', null],
  [
    'lists nested 3,000 deep by indentation',
    Array.from({ length: 3_000 }, (_, depth) => `${' '.repeat(depth)}-`).join('\n'),
    'yaml-too-deep',
    null,
  ],
  ['a duplicate key', `${ZONE}  www: {type: A, value: 192.0.2.3}\n`, 'yaml-duplicate-key', '7:3'],
  ['a list as the file', '- a\n- b\n', 'schema-type', '1:1'],
  ['a number as the file', '42\n', 'schema-type', '1:1'],
  ['a number as records', 'domain: example.com\nrecords: 5\n', 'schema-type', '2:10'],
  ['a mapping as a name', 'domain: {a: b}\nrecords: {}\n', 'schema-missing-key', '2:1'],
  ['text as a record', record('hello'), 'schema-type', '7:6'],
  ['a list as a type', record('{type: [A], value: 192.0.2.1}'), 'schema-type', '7:13'],
  ['a mapping as an address', record('{type: A, value: {a: b}}'), 'schema-type', '7:23'],
  ['text as the tags', `tags: one\n${ZONE}`, 'schema-type', null],
  ['an unknown key above the records', `soa_mail: a@example.com\n${ZONE}`, 'schema-unknown-key', '1:1'],
  ['an unknown key of a record', record('{type: A, valu: 192.0.2.1}'), 'schema-unknown-key', '7:16'],
  ['a record without a type', record('{value: 192.0.2.1}'), 'schema-missing-key', '7:6'],
  ['an unknown type', record('{type: AA, value: 192.0.2.1}'), 'type-unknown', '7:13'],
  ['a record without a value', record('{type: A}'), 'value-missing', '7:6'],
  ['an address with 400', record('{type: A, value: 192.0.2.400}'), 'value-invalid', '7:23'],
  ['a TTL that is none', record('{type: A, value: 192.0.2.1, ttl: soon}'), 'ttl-invalid', '7:39'],
  ['a name with an empty label', `${ZONE}  a..b: {type: A, value: 192.0.2.1}\n`, 'name-invalid', '7:3'],
  ['a label of 64 octets', `${ZONE}  ${'a'.repeat(64)}: {type: A, value: 192.0.2.1}\n`, 'name-invalid', '7:3'],
  ['an ambiguous target', record('{type: CNAME, value: a.b}'), 'target-ambiguous', '7:27'],
  ['a CNAME beside others', `${ZONE}  dup:\n    - {type: CNAME, value: '@'}\n    - {type: A, value: 192.0.2.1}\n`, 'cname-not-alone', null],
  ['an invalid zone name', 'domain: a..b\nrecords: {}\n', 'zone-name', '1:9'],
  ['a missing include', `include: [nowhere.yaml]\n${ZONE}`, 'include-invalid', null],
]

describe('a definition with', () => {
  test.each(CASES)('%s', async (_, text, code, place) => {
    const scene = await openServiceScene({ files: { 'zones/example.com.yaml': text } })
    for (const command of [['validate'], ['plan'], ['apply', '--yes'], ['verify']]) {
      const { stdout, stderr } = await expectNothingDone(scene, code, ...command)
      const line = (stdout + stderr).split('\n').find((one) => one.includes(`error[${code}]`))
      expect(line).toMatch(new RegExp(`^zones/example\\.com\\.yaml:${place ?? '\\d+:\\d+'}: `))
    }
    expect(scene.proxy.requests).toEqual([])
  })

  test.each(CASES.filter(([, , code]) => code.startsWith('yaml-')))('%s: fmt does not change it', async (_, text) => {
    const scene = await openServiceScene({ files: { 'zones/example.com.yaml': text } })
    await expectNothingDone(scene, 'yaml-[a-z-]+', 'fmt')
    await expectNothingDone(scene, 'yaml-[a-z-]+', 'fmt', '--check')
  })
})

describe('suggests the nearest known key or value', () => {
  test.each([
    ['zones/example.com.yaml', `soa_mail: a@example.com\n${ZONE}`, 'soa_email'],
    ['zones/example.com.yaml', `record: {}\n${ZONE}`, 'records'],
    ['zones/example.com.yaml', record('{tpye: A, value: 192.0.2.1}'), 'type'],
    ['zones/example.com.yaml', record('{type: CNMAE, value: "@"}'), 'CNAME'],
    ['zones/example.com.yaml', record('{type: MX, value: {prefrence: 1, exchange: www}}'), 'preference'],
    ['zonewright.yaml', 'provider: {}\n', 'providers'],
    ['zonewright.yaml', 'providers: {cloud: {type: cloud, base_ulr: "http://127.0.0.1:1", token: env:X}}\n', 'base_url'],
    [
      'zonewright.yaml',
      'providers: {cloud: {type: cloud, preset: linode, token: env:TOKEN}}\nzones: [{policy: upsert_only}]\n',
      'upsert-only',
    ],
    ['zonewright.yaml', 'providers: {cloud: {type: clod, base_url: "http://127.0.0.1:1/v4", token: env:ZONEWRIGHT_TOKEN}}\n', 'cloud'],
    ['zonewright.yaml', 'providers: {cloud: {type: cloud, preset: linode, token: env:TOKEN}}\nzones: [{targets: [cluod]}]\n', 'cloud'],
  ])('%s: %j', async (file, text, suggestion) => {
    const scene = await openServiceScene()
    scene.write({ [file]: text })
    const { status, stderr } = await scene.run('plan')
    expect(status).toBe(1)
    expect(stderr).toContain(`Did you mean "${suggestion}"?`)
    expect(stderr).toMatch(new RegExp(`^${file}:\\d+:\\d+: error\\[`, 'm'))
  })
})

describe('files', () => {
  const expectAll = async (scene: ServiceScene, code: string): Promise<void> => {
    for (const command of [['validate'], ['plan'], ['apply', '--yes'], ['verify'], ['fmt']])
      await expectNothingDone(scene, code, ...command)
  }

  test('a file of 50 MB is not read', async () => {
    const scene = await openServiceScene({ files: {} })
    const path = join(scene.folder, 'zones/example.com.yaml')
    mkdirSync(join(path, '..'))
    writeFileSync(path, `${ZONE}#${'x'.repeat(50 * 1024 * 1024)}\n`)
    const before = process.memoryUsage().rss
    for (const command of [['validate'], ['plan'], ['fmt']]) {
      const { status, stdout, stderr } = await scene.run(...command)
      expect(status).toBe(1)
      expect(stdout + stderr).toMatch(/^zones\/example\.com\.yaml:\d+:\d+: error\[file-too-large\] .*52\d{6} octets/m)
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(30 * 1024 * 1024)
    expect(scene.proxy.requests).toEqual([])
  })

  test('a config of 50 MB is not read', async () => {
    const scene = await openServiceScene()
    writeFileSync(join(scene.folder, 'zonewright.yaml'), `#${'x'.repeat(50 * 1024 * 1024)}\n`)
    for (const command of ['validate', 'plan', 'fmt', 'verify']) {
      const { status, stdout, stderr } = await scene.run(command)
      expect(status).toBe(1)
      expect(stdout + stderr).toContain('error[file-too-large]')
    }
  })

  test('refuses or reads a definition of ten megabytes in bounded time', async () => {
    const lines = Array.from({ length: 190_000 }, (_, index) => `  h${index}: {type: A, value: 192.0.2.1, ttl: x}\n`).join('')
    const scene = await openServiceScene({ files: { 'zones/example.com.yaml': `domain: example.com\nrecords:\n${lines}` } })
    const value = await scene.run('validate')
    expect(value.status).toBe(1)
  })

  test('a file that is not UTF-8', async () => {
    const scene = await openServiceScene({ files: {} })
    mkdirSync(join(scene.folder, 'zones'))
    writeFileSync(join(scene.folder, 'zones/example.com.yaml'), Buffer.from('domain: \xff\xfe\n', 'latin1'))
    await expectAll(scene, 'file-unreadable')
  })

  test('a link to itself', async () => {
    const scene = await openServiceScene({ files: {} })
    mkdirSync(join(scene.folder, 'zones'))
    symlinkSync('example.com.yaml', join(scene.folder, 'zones/example.com.yaml'))
    const { status, stdout, stderr } = await scene.run('validate')
    expect(status).toBe(1)
    expect(stdout + stderr).toMatch(/error\[(?:file-unreadable|no-definitions)\]/)
  })

  test('an endless file', async () => {
    const scene = await openServiceScene({ files: {} })
    mkdirSync(join(scene.folder, 'zones'))
    symlinkSync('/dev/zero', join(scene.folder, 'zones/example.com.yaml'))
    const { status, stdout, stderr } = await scene.run('validate', '--verbose')
    expect(status).toBe(1)
    expect(stdout + stderr).toMatch(/error\[/)
  })

  test('files that include each other', async () => {
    const scene = await openServiceScene({
      files: {
        'zones/example.com.yaml': `include: [a.yaml]\n${ZONE}`,
        'zones/a.yaml': 'include: [b.yaml]\n',
        'zones/b.yaml': 'include: [a.yaml]\n',
      },
    })
    const { status, stdout, stderr } = await scene.run('validate')
    expect(status).toBe(1)
    expect(stdout + stderr).toMatch(/^zones\/\S+: error\[[a-z-]+\] /m)
  })

  test('a duplicate zone: both positions', async () => {
    const scene = await openServiceScene({ files: { 'zones/a/example.com.yaml': ZONE, 'zones/b/example.com.yaml': ZONE } })
    const { stderr } = await expectNothingDone(scene, 'zone-duplicate', 'plan')
    expect(stderr).toContain('zones/b/example.com.yaml:1:')
    expect(stderr).toContain('zones/a/example.com.yaml:1:')
  })

  test('no definitions at all', async () => {
    const scene = await openServiceScene({ files: {} })
    await expectNothingDone(scene, 'no-definitions', 'plan')
    await expectNothingDone(scene, 'no-definitions', 'validate')
  })

  test('a missing path', async () => {
    const scene = await openServiceScene()
    await expectNothingDone(scene, 'file-unreadable', 'validate', 'zones/nowhere.yaml')
    await expectNothingDone(scene, 'file-unreadable', 'fmt', 'zones/nowhere.yaml')
  })
})

test('reports all errors of all files at once, then their number', async () => {
  const invalid = Array.from({ length: 400 }, (_, index) => `  h${index}: {type: A, valu: 192.0.2.1, value: 192.0.2.300}\n`).join('')
  const scene = await openServiceScene({
    files: {
      'zones/example.com.yaml': `domain: example.com\nrecords:\n${invalid}`,
      'zones/example.net.yaml': 'a: [',
      'zones/example.org.yaml': ZONE.replaceAll('example.com', 'example.org').replace('192.0.2.1', '192.0.2.256'),
    },
  })
  const { status, stdout, stderr } = await scene.run('plan', '--verbose')
  expect(status).toBe(1)
  expect(stdout).toBe('')
  expect(stderr.match(/^zones\/example\.com\.yaml:\d+:\d+: error\[/gm)?.length).toBeGreaterThanOrEqual(800)
  expect(stderr).toMatch(/^zones\/example\.net\.yaml:1:\d+: error\[yaml-syntax\]/m)
  expect(stderr).toMatch(/^zones\/example\.org\.yaml:4:\d+: error\[value-invalid\]/m)
  expect(stderr).toMatch(/\n802 errors: no server was contacted, nothing was changed\.\n$/)
  expect(scene.proxy.requests).toEqual([])
  const all = await scene.run('validate', '--verbose')
  expect(all.stdout.match(/^zones\/.* error\[/gm)).toHaveLength(802)
  const validated = await scene.run('validate')
  expect(validated.stdout.match(/^zones\/.* error\[.*\] (?:\d+ times: )?/gm)).toHaveLength(3)
  expect(validated.stderr).toMatch(/ --verbose lists all\.\n3 zones?, .*: 802 errors\.\n$|: 802 errors\.\n$/)
})
