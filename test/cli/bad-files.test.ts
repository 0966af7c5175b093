/** Invalid input: one diagnostic with a code per error, exit 1, no request, no changed file. The tests of the parser have many more cases. */
import { readdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { expectEnd } from '../support/cli.ts'
import { expectNothingDone, openScene, ZONE, zoneOf } from './scene.ts'

const record = (fields: string): string => `${ZONE}  x: ${fields}\n`

/** A tree of aliases: each line contains the previous one ten times. */
const bomb = (leaf: string): string =>
  Array.from({ length: 12 }, (_, level) => `a${level}: &a${level} ${level === 0 ? leaf : `[${`*a${level - 1}, `.repeat(10)}]`}\n`).join('')

/** Name, text, code, and place if it matters. */
const CASES: readonly (readonly [name: string, text: string, code: string, place?: string])[] = [
  ['an unclosed list', 'domain: example.com\nrecords: {www: [', 'yaml-syntax', '2:16'],
  ['binary', '\u0000\u0001\u0002', 'yaml-syntax'],
  ['an alias bomb', bomb('[x, x, x, x, x, x, x, x, x, x]'), 'yaml-too-many-aliases'],
  ['mappings nested 100,000 deep', '{a: '.repeat(100_000), 'yaml-too-deep'],
  ['lists nested 3,000 deep', Array.from({ length: 3_000 }, (_, depth) => `${' '.repeat(depth)}-\n`).join(''), 'yaml-too-deep'],
  ['an unknown key above the records', `soa_mail: a@example.com\n${ZONE}`, 'schema-unknown-key', '1:1'],
  ['a CNAME beside others', record("[{type: CNAME, value: '@'}, {type: A, value: 192.0.2.1}]"), 'cname-not-alone'],
  ['a missing include', `include: [nowhere.yaml]\n${ZONE}`, 'include-invalid'],
]

test.for(CASES)('a definition with: %s', async ([, text, code, place = '\\d+:\\d+']) => {
  const scene = openScene({ files: { 'zones/example.com.yaml': text } })
  for (const command of [['validate'], ['plan'], ['apply', '--yes'], ['verify']]) {
    const { stdout, stderr } = await expectNothingDone(scene, code, ...command)
    const line = (stdout + stderr).split('\n').find((one) => one.includes(`error[${code}]`))
    expect(line).toMatch(new RegExp(`^zones/example\\.com\\.yaml:${place}: `))
  }
  if (code.startsWith('yaml-')) for (const more of [[], ['--check']]) await expectNothingDone(scene, 'yaml-[a-z-]+', 'fmt', ...more)
  expect(scene.memory.requests).toEqual([])
})

test.each([
  ['zones/example.com.yaml', `soa_mail: a@example.com\n${ZONE}`, 'soa_email'],
  ['zonewright.yaml', 'providers: {cloud: {type: cloud, base_ulr: "http://127.0.0.1:1", token: env:X}}\n', 'base_url'],
  ['zonewright.yaml', 'providers: {cloud: {type: cloud, preset: linode, token: env:T}}\nzones: [{policy: upsert_only}]\n', 'upsert-only'],
  ['zonewright.yaml', 'providers: {cloud: {type: clod, base_url: "http://127.0.0.1:1/v4", token: env:ZONEWRIGHT_TOKEN}}\n', 'cloud'],
  ['zonewright.yaml', 'providers: {cloud: {type: cloud, preset: linode, token: env:TOKEN}}\nzones: [{targets: [cluod]}]\n', 'cloud'],
])('suggests the nearest known key or value: %s: %j', async (file, text, suggestion) => {
  const scene = openScene()
  scene.write({ [file]: text })
  expectEnd(await scene.run('plan'), 1, { err: [`Did you mean "${suggestion}"?`, new RegExp(`^${file}:\\d+:\\d+: error\\[`, 'm')] })
})

describe('files', () => {
  test.each<[name: string, prepare: (path: string) => void, code: string]>([
    ['a file that is not UTF-8', (path) => writeFileSync(path, Buffer.from('domain: \xff\xfe\n', 'latin1')), 'file-unreadable'],
    ['a link to itself', (path) => symlinkSync('example.com.yaml', path), '(?:file-unreadable|no-definitions)'],
    ['an endless file', (path) => symlinkSync('/dev/zero', path), '(?:file-unreadable|no-definitions|path-outside)'],
  ])('%s', async (_, prepare, code) => {
    const scene = openScene({ files: { 'zones/.keep': '' } })
    prepare(join(scene.folder, 'zones/example.com.yaml'))
    for (const command of [['validate'], ['plan'], ['apply', '--yes'], ['verify']]) await expectNothingDone(scene, code, ...command)
    if (code === 'file-unreadable') await expectNothingDone(scene, code, 'fmt')
  })

  test.each(['zones/example.com.yaml', 'zonewright.yaml'])('%s of 8 GB is not read', async (path) => {
    const scene = openScene()
    // A file with a hole: nothing that reads it whole gets far.
    truncateSync(join(scene.folder, path), 2 ** 33)
    for (const command of ['validate', 'plan', 'fmt', 'verify']) {
      const { stdout, stderr } = expectEnd(await scene.run(command), 1)
      expect(stdout + stderr).toMatch(/error\[file-too-large\] .*8589934592 octets/)
    }
    expect(scene.memory.requests).toEqual([])
  })

  test('a missing path', async () => {
    const scene = openScene()
    await expectNothingDone(scene, 'file-unreadable', 'validate', 'zones/nowhere.yaml')
    await expectNothingDone(scene, 'file-unreadable', 'fmt', 'zones/nowhere.yaml')
  })
})

test('reports all errors of all files at once, then their number', async () => {
  const invalid = Array.from({ length: 400 }, (_, index) => `  h${index}: {type: A, valu: 192.0.2.1, value: 192.0.2.300}\n`).join('')
  const scene = openScene({
    files: {
      'zones/example.com.yaml': `domain: example.com\nrecords:\n${invalid}`,
      'zones/example.net.yaml': 'a: [',
      'zones/example.org.yaml': zoneOf('example.org').replace('192.0.2.1', '192.0.2.256'),
    },
  })
  const { stderr } = expectEnd(await scene.run('plan', '--verbose'), 1, { out: '' })
  expect(stderr.match(/^zones\/example\.com\.yaml:\d+:\d+: error\[/gm)?.length).toBeGreaterThanOrEqual(800)
  expect(stderr).toMatch(/^zones\/example\.net\.yaml:1:\d+: error\[yaml-syntax\]/m)
  expect(stderr).toMatch(/^zones\/example\.org\.yaml:4:\d+: error\[value-invalid\]/m)
  expect(stderr).toMatch(/\n802 errors: no server was contacted, nothing was changed\.\n$/)
  expect(scene.memory.requests).toEqual([])
  expect((await scene.run('validate', '--verbose')).stdout.match(/^zones\/.* error\[/gm)).toHaveLength(802)
  const validated = await scene.run('validate')
  expect(validated.stdout.match(/^zones\/.* error\[.*\] (?:\d+ times: )?/gm)).toHaveLength(3)
  expect(validated.stderr).toMatch(/ --verbose lists all\.\n3 zones?, .*: 802 errors\.\n$|: 802 errors\.\n$/)
})

/** File names with line breaks and other control characters are reported, each on one line, and not ignored. */
const CHARACTERS: readonly (readonly [name: string, character: string, shown: string])[] = [
  ['a line break', '\n', '\\n'],
  ['CR and line break', '\r\n', '\\u000d\\n'],
  ['U+2028', '\u2028', '\\u2028'],
  ['escape', '\u001b', '\\u001b'],
]

const OTHER = 'domain: example.org\nsoa_email: hostmaster@example.org\nrecords: {www: {type: A, value: 192.0.2.1}}\n'

/** Expects that every output line is a diagnostic or a sentence of the program, not the rest of a name. */
function expectReported({ stdout, stderr }: { stdout: string; stderr: string }, shown: string): void {
  expect((stdout + stderr).split('\n').filter((line) => line.includes('error[file-name]') && line.includes(shown))).toHaveLength(1)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the output must not contain them
  expect(stdout + stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029]/)
}

/** The places of a control character in a file name; the character is `!`. */
const PLACES: readonly (readonly [name: string, path: string])[] = [
  ['within a name', 'zones/exam!ple.org.yaml'],
  ['after a name', 'zones/example.org.yaml!'],
  ['within an ending', 'zones/example.org.ya!ml'],
  ['within the name of a zone file', 'zones/exam!ple.org.zone'],
  ['before a name', 'zones/!db.example.org'],
  ['within the name of a folder', 'zones/fol!der/example.org.yaml'],
]

test.each(PLACES)('a line break %s is reported by every command', async (_, path) => {
  const [real, seen] = [path.replace('!', '\n'), path.replace('!', '\\n')]
  const scene = openScene({ files: { 'zones/example.com.yaml': ZONE, [real]: OTHER } })
  for (const command of [['validate'], ['plan'], ['apply', '--yes'], ['verify'], ['fmt', '--check'], ['export', 'zonefile']]) {
    const result = await scene.run(...command)
    expect(result.status, command.join(' ')).toBe(1)
    expectReported(result, seen)
  }
  expect(scene.memory.requests).toEqual([])
  expectReported(await scene.run('validate', join(scene.folder, real)), seen)
})

describe.each(CHARACTERS)('%s', (_, character, shown) => {
  test('in every place', async () => {
    const files = Object.fromEntries(PLACES.map(([, path]) => [path.replace('!', character), OTHER]))
    const result = await openScene({ files: { 'zones/example.com.yaml': ZONE, ...files } }).run('validate')
    expect(result.status).toBe(1)
    for (const [, path] of PLACES) expectReported(result, path.replace('!', shown))
  })

  test('with a glob for the extension, and listed in the config', async () => {
    for (const files of [['zones/*.yaml'], [`zones/exam${character}ple.org.yaml`, 'zones/example.com.yaml']]) {
      const scene = openScene({
        files: { 'zones/example.com.yaml': ZONE, [`zones/exam${character}ple.org.yaml`]: OTHER, 'zones/notes\n.txt': 'no definition' },
        config: `zones: [{files: ${JSON.stringify(files)}}]\n`,
      })
      expectReported(await scene.run('validate'), `zones/exam${shown}ple.org.yaml`)
    }
  })

  test('within a folder of split files', async () => {
    const files = { 'zones/example.org./$example.org.yaml': '{}\n', [`zones/example.org./w${character}ww.yaml`]: '{}\n' }
    expectReported(await openScene({ files }).run('validate'), `zones/example.org./w${shown}ww.yaml`)
  })

  test('in an included file', async () => {
    const scene = openScene({
      files: {
        'zones/example.com.yaml': `include: [${JSON.stringify(`../more${character}.yaml`)}]\n${ZONE}`,
        [`more${character}.yaml`]: 'records: {}\n',
      },
    })
    const { status, stdout, stderr } = await scene.run('validate')
    expect([status, stdout + stderr]).toEqual([1, expect.stringContaining(`more${shown}.yaml contains a line break or another`)])
  })

  test('in an imported file', async () => {
    const records = "---\nwww: {type: A, value: 192.0.2.1}\n'': {type: NS, values: [ns1.example.net.]}\n"
    const files = ['example.com', `exam${character}ple.org`].flatMap((zone) => [
      [`named/${zone}.zone`, '$TTL 300\n@ SOA ns1 hostmaster 1 2 3 4 5\n@ NS ns1\nns1 A 192.0.2.53\n'],
      [`octodns/${zone}.yaml`, records],
      [`split/${zone}./www.yaml`, records],
    ])
    const scene = openScene({
      files: {
        ...Object.fromEntries(files),
        [`split/example.com./m${character}ail.yaml`]: 'mail: {type: A, value: 192.0.2.2}\n',
        'production.yaml': `providers: {config: {class: octodns.provider.yaml.YamlProvider, directory: ./octodns}}
zones: {'*': {sources: [config], targets: [config]}}
`,
      },
    })
    for (const [format, source, ...seen] of [
      ['zonefile', 'named', `named/exam${shown}ple.org.zone`],
      ['octodns', 'octodns', `octodns/exam${shown}ple.org.yaml`],
      ['octodns', 'split', `split/exam${shown}ple.org.`, `split/example.com./m${shown}ail.yaml`],
      ['octodns', 'production.yaml', `octodns/exam${shown}ple.org.yaml`],
    ] as const) {
      const result = await scene.run('import', format, source, '-o', 'new')
      expect([source, result.status]).toEqual([source, 1])
      for (const one of seen) expectReported(result, one)
    }
    expect(readdirSync(scene.folder)).not.toContain('new')
  })
})
