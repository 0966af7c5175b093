/**
 * octoDNS zones from several files or sources, or that its configuration reads differently from a definition. The import has the records
 * that octoDNS loads. Zones that no single file represents are printed again with their comments.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { addFiles, folderWith } from '../definition/files.ts'
import { type CliResult, cli, expectEnd } from '../support/cli.ts'
import { describeWithOctodns, linesOfLoaded, loadSourcesWithOctodns, recordsIn } from './octodns-judge.ts'

type Files = Readonly<Record<string, string>>
const YAML = 'octodns.provider.yaml.YamlProvider'

const configOf = (providers: Readonly<Record<string, string>>, zones: string): string =>
  `providers:\n${Object.entries(providers)
    .map(([name, settings]) => `  ${name}: {class: ${YAML}, enforce_order: false, ${settings}}\n`)
    .join('')}zones:\n${zones}`

const A = (address: string): string => `{type: A, ttl: 60, value: ${address}}`

interface Scene {
  readonly name: string
  readonly files: Files
  readonly warnings?: readonly unknown[]
  /** The zones as records, sorted. */
  readonly records: readonly string[]
  /** Files that are copied unchanged. */
  readonly plain?: readonly string[]
}

const BOTH = '  example.com.: {sources: [one, two], targets: []}\n'
const ONE = '  example.com.: {sources: [one], targets: []}\n'

const SCENES: readonly Scene[] = [
  {
    name: 'two sources with different RRsets',
    files: {
      'p.yaml': configOf({ one: 'directory: one', two: 'directory: two, default_ttl: 900' }, BOTH),
      'one/example.com.yaml': `a: ${A('192.0.2.1')}\n`,
      'two/example.com.yaml': 'a: {type: TXT, value: x}\nb: {type: A, value: 192.0.2.2}\n',
    },
    records: ['a.example.com. 60 A 192.0.2.1', 'a.example.com. 900 TXT "x"', 'b.example.com. 900 A 192.0.2.2'],
  },
  {
    name: 'a second source that replaces',
    files: {
      'p.yaml': configOf({ one: 'directory: one', two: 'directory: two, populate_should_replace: true' }, BOTH),
      'one/example.com.yaml': `a: {type: A, octodns: {excluded: [x]}, values: [192.0.2.1, 192.0.2.3]}\nc: ${A('192.0.2.4')}\n`,
      'two/example.com.yaml': `a: ${A('192.0.2.2')}\n`,
    },
    records: ['a.example.com. 60 A 192.0.2.2', 'c.example.com. 60 A 192.0.2.4'],
  },
  {
    name: 'a second source without the zone',
    files: {
      'p.yaml': configOf({ one: 'directory: one', two: 'directory: two, ignore_missing_zones: true' }, BOTH),
      'one/example.com.yaml': `a: ${A('192.0.2.1')}\n`,
      'two/example.org.yaml': `a: ${A('192.0.2.1')}\n`,
    },
    records: ['a.example.com. 60 A 192.0.2.1'],
    plain: ['one/example.com.yaml'],
  },
  {
    name: 'a file shared by all zones',
    files: {
      'p.yaml': configOf(
        { one: 'directory: one, shared_filename: all.yaml' },
        `${ONE}  example.org.: {sources: [one], targets: []}\n  alias.example.: {alias: example.com.}\n`,
      ),
      'one/example.com.yaml': `a: ${A('192.0.2.1')}\n`,
      'one/all.yaml': `'': {type: TXT, ttl: 60, value: 'v=spf1 -all'}\n`,
    },
    records: [
      'a.alias.example. 60 A 192.0.2.1',
      'a.example.com. 60 A 192.0.2.1',
      'alias.example. 60 TXT "v=spf1 -all"',
      'example.com. 60 TXT "v=spf1 -all"',
      'example.org. 60 TXT "v=spf1 -all"',
    ],
  },
  {
    name: 'a file and a folder of split files',
    files: {
      'p.yaml': configOf({ one: 'directory: one, split_extension: .' }, ONE),
      'one/example.com.yaml': `a: ${A('192.0.2.1')}\n`,
      'one/example.com./b.yaml': `b: ${A('192.0.2.2')}\n`,
    },
    records: ['a.example.com. 60 A 192.0.2.1', 'b.example.com. 60 A 192.0.2.2'],
  },
  {
    name: 'an RRset in two files of a folder: the later one wins',
    files: {
      'p.yaml': configOf({ one: 'directory: one, split_extension: ., populate_should_replace: true' }, ONE),
      'one/example.com./a.yaml': `a: ${A('192.0.2.1')}\n`,
      'one/example.com./b.yaml': `a: ${A('192.0.2.2')}\n`,
    },
    records: ['a.example.com. 60 A 192.0.2.2'],
  },
  {
    name: 'an alias of a folder whose files include others of it',
    files: {
      'p.yaml': configOf({ one: 'directory: one, split_extension: .' }, `${ONE}  alias.example.: {alias: example.com.}\n`),
      'one/example.com./a.yaml': 'a: {type: A, ttl: 60, values: !include parts/hosts.inc}\n',
      'one/example.com./parts/hosts.inc': '- !include ../../host.inc\n',
      'one/host.inc': '192.0.2.1\n',
    },
    records: ['a.alias.example. 60 A 192.0.2.1', 'a.example.com. 60 A 192.0.2.1'],
    plain: ['one/example.com./a.yaml', 'one/example.com./parts/hosts.inc', 'one/host.inc'],
  },
  {
    name: 'folders with different suffixes, and with one that no config has',
    files: {
      'p.yaml': configOf(
        {
          one: 'directory: one, split_extension: " x"',
          two: 'directory: two, split_extension: .',
          three: 'directory: three, split_extension: .y',
        },
        `${ONE}  example.org.: {sources: [two], targets: []}\n  sub.example.org.: {sources: [three], targets: []}\n`,
      ),
      'one/example.com x/a.yaml': `a: ${A('192.0.2.1')}\n`,
      'two/example.org./a.yaml': `a: ${A('192.0.2.2')}\n`,
      'three/sub.example.org.y/a.yaml': `a: ${A('192.0.2.3')}\n`,
    },
    records: ['a.example.com. 60 A 192.0.2.1', 'a.example.org. 60 A 192.0.2.2', 'a.sub.example.org. 60 A 192.0.2.3'],
    plain: ['two/example.org./a.yaml'],
  },
  {
    name: 'files of a folder with names that octoDNS gives them',
    files: {
      'p.yaml': configOf({ one: 'directory: one, split_extension: .' }, ONE),
      'one/example.com./\\@.yaml': `'\\@': {type: TXT, ttl: 60, value: x}\n`,
      'one/example.com./*.a.yaml': `'*.a': ${A('192.0.2.2')}\n`,
      'one/example.com./.yaml': `'': ${A('192.0.2.3')}\n`,
    },
    records: ['*.a.example.com. 60 A 192.0.2.2', '\\@.example.com. 60 TXT "x"', 'example.com. 60 A 192.0.2.3'],
    plain: ['one/example.com./\\@.yaml', 'one/example.com./*.a.yaml', 'one/example.com./.yaml'],
  },
  {
    name: 'a file that is not listed and a folder that is',
    files: {
      'p.yaml': configOf({ one: 'directory: one, split_extension: .' }, "  '*': {sources: [one], targets: []}\n"),
      'one/internal.yaml': `a: ${A('192.0.2.1')}\n`,
      'one/internal./b.yaml': `b: ${A('192.0.2.2')}\n`,
      'one/other.yaml': `a: ${A('192.0.2.3')}\n`,
    },
    records: ['a.internal. 60 A 192.0.2.1', 'b.internal. 60 A 192.0.2.2'],
  },
  {
    name: 'semicolons without escapes',
    files: {
      'p.yaml': configOf({ one: 'directory: one, escaped_semicolons: false' }, `${ONE}  example.org.: {sources: [one], targets: []}\n`),
      'one/example.com.yaml': "a: {type: TXT, ttl: 60, values: ['x; y', 'x\\; y']}\n",
      'one/example.org.yaml': "a: {type: TXT, ttl: 60, value: 'x; y'} # \\; in a comment\n",
    },
    records: ['a.example.com. 60 TXT "x; y"', 'a.example.com. 60 TXT "x\\\\; y"', 'a.example.org. 60 TXT "x; y"'],
    plain: ['one/example.org.yaml'],
  },
  {
    name: 'a source with another TTL, which applies only to records without one',
    files: {
      'p.yaml': configOf(
        { one: 'directory: one, default_ttl: 60', two: 'directory: two, default_ttl: 120' },
        `${ONE}  example.org.: {sources: [two], targets: []}\n  example.net.: {sources: [two], targets: []}\n`,
      ),
      'one/example.com.yaml': `a: ${A('192.0.2.1')}\n`,
      'two/example.org.yaml': `a: ${A('192.0.2.1')}\n`,
      'two/example.net.yaml': 'a: {type: A, value: 192.0.2.1}\n',
    },
    records: ['a.example.com. 60 A 192.0.2.1', 'a.example.net. 120 A 192.0.2.1', 'a.example.org. 60 A 192.0.2.1'],
    plain: ['one/example.com.yaml', 'two/example.org.yaml'],
  },
  {
    name: 'dynamic entries by glob and by regular expression: the first match wins',
    files: {
      'p.yaml': configOf(
        { one: 'directory: one', two: 'directory: two' },
        "  '*.a': {sources: [one], targets: [], glob: '*.[!n]*.'}\n  '*.b': {sources: [two], targets: [], regex: '^[b-z].*\\.(net|org)\\.$'}\n",
      ),
      'one/a.example.yaml': `a: ${A('192.0.2.1')}\n`,
      'one/a.nothere.yaml': `a: ${A('192.0.2.1')}\n`,
      'two/a.example.yaml': `a: ${A('192.0.2.2')}\n`,
      'two/b.net.yaml': `a: ${A('192.0.2.2')}\n`,
      'two/a.net.yaml': `a: ${A('192.0.2.2')}\n`,
    },
    records: ['a.a.example. 60 A 192.0.2.1', 'a.b.net. 60 A 192.0.2.2'],
    plain: ['one/a.example.yaml', 'two/b.net.yaml'],
    warnings: [expect.stringMatching(/import-aside.*their rule lists the files of today/)],
  },
]

/** Imports beside another config, so that the new one is with its files. */
function importing(cwd: string, ...args: string[]): Promise<CliResult> {
  addFiles(cwd, { 'zonewright.yaml': 'providers: {}\n' })
  return cli(['import', 'octodns', 'p.yaml', '-o', 'out', ...args], { cwd })
}

it.each(SCENES)('a zone from several files or sources: $name', async ({ files, records, plain = [], warnings = null }) => {
  const cwd = folderWith(files)
  const result = await importing(cwd)
  expect([result.status, result.stderr.match(/^.*(?:error|warning)\[.*$/gm)]).toEqual([0, warnings])
  expect(await recordsIn(join(cwd, 'out'))).toEqual(records)
  const same = Object.keys(files).filter((path) => {
    const out = join(cwd, 'out', path)
    return path !== 'p.yaml' && existsSync(out) && readFileSync(out, 'utf8') === files[path]
  })
  expect(same).toEqual(plain)
})

describeWithOctodns('octoDNS loads the same from several files or sources', () => {
  it.each(SCENES)('$name', async ({ files, records }) => {
    const cwd = folderWith(files)
    expect((await loadSourcesWithOctodns('p.yaml', cwd)).flatMap(linesOfLoaded).sort()).toEqual(records)
  })
})

describe('a zone that is printed again', () => {
  it('keeps its comments and the targets of its records', async () => {
    const files = {
      'p.yaml': configOf({ one: 'directory: one', two: 'directory: two' }, BOTH),
      'one/example.com.yaml': `# The first file.
---
# above a
a: # at a
  type: A
  # within a
  value: 192.0.2.1
  octodns: {excluded: [x], lenient: true}
# at the end
`,
      'two/example.com.yaml': `b: {type: TXT, value: 'no # comment'} # at b\n`,
    }
    const cwd = folderWith(files)
    expect((await importing(cwd)).status).toBe(0)
    const text = readFileSync(join(cwd, 'out/one/example.com.yaml'), 'utf8')
    for (const comment of ['The first file.', 'above a', 'at a', 'within a', 'at the end', 'at b']) expect(text).toContain(`# ${comment}\n`)
    expect(text).toContain('octodns: {excluded: [x], lenient: true}')
    expect(text.match(/#/g)).toHaveLength(7)
  })

  it('has the comments of included files', async () => {
    const files = {
      'p.yaml': configOf({ one: 'directory: one', two: 'directory: two' }, BOTH),
      'one/example.com.yaml': `# above the merge
<<: !include parts/mail.yaml
a:
  type: A
  # at a
  values: !include parts/hosts.yaml
c: !include parts/c.yaml # at c
`,
      'one/parts/mail.yaml': `# Mail, for all.

# above m
m: {type: MX, values: [{preference: 10, exchange: mx.example.net.}]} # at m
b:
  type: A
  # within b
  values: !include hosts.yaml
`,
      'one/parts/hosts.yaml': `# both hosts
- 192.0.2.1 # the first
- 192.0.2.2
`,
      'one/parts/c.yaml': 'type: A\n# within c\nvalue: 192.0.2.3\n',
      'two/example.com.yaml': `d: ${A('192.0.2.4')} # at d\n`,
    }
    const cwd = folderWith(files)
    expect((await importing(cwd)).status).toBe(0)
    const text = readFileSync(join(cwd, 'out/one/example.com.yaml'), 'utf8')
    const comments = (name: string): string[] => {
      const lines = text.split('\n')
      const at = lines.findIndex((line) => line.startsWith(`  ${name}:`))
      const from = lines.findLastIndex((line, i) => i < at && !/^ *#/.test(line)) + 1
      return lines.slice(from, at).map((line) => line.trim())
    }
    expect(text).toMatch(/^# Mail, for all\.$/m)
    expect(comments('m')).toEqual(['# above m', '# at m'])
    expect(comments('b')).toEqual(['# both hosts', '# the first', '# within b'])
    expect(comments('a')).toEqual(['# above the merge', '# at a'])
    expect(comments('c')).toEqual(['# at c', '# within c'])
    expect(comments('d')).toEqual(['# at d'])
    expect(text.match(/#/g)).toHaveLength(11)
  })

  it('is an error with both places if two sources have the same RRset, as in octoDNS', async () => {
    const files = {
      'p.yaml': configOf({ one: 'directory: one', two: 'directory: two' }, BOTH),
      'one/example.com.yaml': `a: ${A('192.0.2.1')}\n`,
      'two/example.com.yaml': `b: ${A('192.0.2.1')}\na: ${A('192.0.2.2')}\n`,
    }
    const { status, stderr } = await importing(folderWith(files), '--lossy')
    expect(status).toBe(1)
    expect(stderr).toContain(
      'two/example.com.yaml:2:30: error[rrset-split] a.example.com. A: the records come from one/example.com.yaml and from two/example.com.yaml',
    )
  })

  it.each([
    ['in two files of one', { 'one/example.com./a.yaml': `a: ${A('192.0.2.1')}\n`, 'one/example.com./b.yaml': `a: ${A('192.0.2.2')}\n` }],
    ['in a file and a folder', { 'one/example.com./a.yaml': `a: ${A('192.0.2.1')}\n`, 'one/example.com.yaml': `a: ${A('192.0.2.2')}\n` }],
  ])('nor an RRset %s', async (_, files) => {
    const config = configOf({ one: 'directory: one, split_extension: .' }, ONE)
    const cwd = folderWith({ 'p.yaml': config, ...files })
    for (const source of ['p.yaml', 'one']) {
      expectEnd(await cli(['import', 'octodns', source, '-o', 'out', '--lossy'], { cwd }), 1, {
        err: /error\[rrset-split\] a\.example\.com\. A: (?:the records come from|both) /,
      })
    }
  })

  it.each([
    ['a folder without files', { 'one/example.com./README.md': '' }, 'error[no-definitions] the folder one/example.com. of example.com.'],
    ['a shared file that is not there', { 'one/example.com.yaml': '' }, 'the file one/all.yaml of the provider one cannot be read'],
  ])('reports %s', async (_, files, message) => {
    const shared = message.includes('all.yaml') ? ', shared_filename: all.yaml' : ''
    const config = configOf({ one: `directory: one, split_extension: .${shared}` }, ONE)
    const { status, stderr } = await importing(folderWith({ 'p.yaml': config, ...files }), '--lossy')
    expect([status, stderr]).toEqual([1, expect.stringContaining(message)])
  })

  it('a source without a file for the zone is an error, as in octoDNS', async () => {
    const config = configOf({ one: 'directory: one', two: 'directory: two' }, BOTH)
    const files = { 'p.yaml': config, 'one/example.com.yaml': `a: ${A('192.0.2.1')}\n`, 'two/example.org.yaml': '' }
    const { status, stderr } = await importing(folderWith(files), '--lossy')
    expect([status, stderr]).toEqual([1, expect.stringContaining('the source two has no file of example.com.')])
  })

  it('a zone with two entries is reported; octoDNS takes the file name from the later one', async () => {
    const zones = "  bücher.example.: {sources: [one], targets: []}\n  '*': {sources: [two], targets: []}\n"
    const config = configOf({ one: 'directory: one', two: 'directory: two' }, zones)
    const files = {
      'p.yaml': config,
      'one/bücher.example.yaml': `a: ${A('192.0.2.1')}\n`,
      'two/bücher.example.yaml': `a: ${A('192.0.2.2')}\n`,
    }
    const cwd = folderWith(files)
    expect(await importing(cwd)).toMatchObject({ status: 1, stderr: expect.stringContaining('its file name is in Unicode') })
    expect((await importing(cwd, '--lossy')).status).toBe(0)
    expect(await recordsIn(join(cwd, 'out'))).toEqual(['a.xn--bcher-kva.example. 60 A 192.0.2.1'])
  })

  it('a zone without a file is a warning if octoDNS allows it', async () => {
    const config = configOf({ one: 'directory: one, ignore_missing_zones: true' }, `${ONE}  example.org.: {sources: [one], targets: []}\n`)
    const cwd = folderWith({ 'p.yaml': config, 'one/example.org.yaml': `a: ${A('192.0.2.1')}\n` })
    expectEnd(await importing(cwd), 0, { err: 'warning[import-aside] example.com.: a definition cannot express a zone without a file' })
    expect((await importing(cwd, '--lossy')).status).toBe(0)
  })
})

it('a zone of its own entry without a file keeps that entry when its file comes', async () => {
  const text = `providers:
  one: {class: ${YAML}, directory: one, ignore_missing_zones: true}
  first: {class: octodns_linode.LinodeProvider, token: env/TOKEN}
  second: {class: octodns_linode.LinodeProvider, token: env/TOKEN}
zones:
  '*': {sources: [one], targets: [first]}
  later.example.: {sources: [one], targets: [second]}
`
  const file = `a: ${A('192.0.2.1')}\n`
  const cwd = folderWith({ 'p.yaml': text, 'one/early.example.yaml': file })
  expect((await importing(cwd)).status).toBe(0)
  addFiles(cwd, { 'out/one/later.example.yaml': file, 'out/one/other.example.yaml': file })
  const validated = await cli(['validate'], { cwd: join(cwd, 'out') })
  expect(readFileSync(join(cwd, 'out/zonewright.yaml'), 'utf8')).toContain(`zones:
  - files:
      - 'one/later.example.yam[l]'
    targets: [second]
  - files:
      - 'one/*.*.yaml'
      - '!one/later.example.yaml'
    targets: [first]
`)
  expect(validated).toMatchObject({ status: 0, stderr: expect.stringContaining('3 zones, 3 records in 3 files: no problems.') })
})

describe('zones of other sources', () => {
  it('are reported and left out, and the other zones are imported', async () => {
    const config = `providers:
  one: {class: ${YAML}, directory: one}
  other: {class: octodns_other.Source}
zones:
  example.com.: {sources: [one], targets: []}
  2.0.192.in-addr.arpa.: {sources: [other], targets: []}
  '*.arpa.': {sources: [one, other], targets: []}
`
    const cwd = folderWith({ 'p.yaml': config, 'one/example.com.yaml': `a: ${A('192.0.2.1')}\n` })
    const { status, stderr } = await importing(cwd, '--lossy')
    expect(status).toBe(0)
    expect(stderr).toContain('2.0.192.in-addr.arpa.: a definition cannot express the zone, whose records all come from other')
    expect(stderr).toContain('a definition cannot express the zones that the source other lists')
    expect(await recordsIn(join(cwd, 'out'))).toEqual(['a.example.com. 60 A 192.0.2.1'])
  })

  it.each([
    ['auto_arpa: {wildcard_replacement: any}', '', 'upsert-only'],
    ['auto_arpa: {wildcard_replacement: any, populate_should_replace: true}', '', 'create-only'],
    ['max_workers: 1', ', populate_should_replace: yes', 'create-only'],
    ['max_workers: 1', ', populate_should_replace: no', 'upsert-only'],
  ])('keep their records by a policy: %s%s is %s', async (manager, settings, policy) => {
    const config = `manager: {${manager}}
providers:
  one: {class: ${YAML}, directory: one}
  ${settings === '' ? 'unused' : 'auto-arpa'}: {class: octodns_other.Source${settings}}
zones:
  2.0.192.in-addr.arpa.: {sources: [one, auto-arpa], targets: []}
`
    const cwd = folderWith({ 'p.yaml': config, 'one/2.0.192.in-addr.arpa.yaml': '1: {type: PTR, ttl: 60, value: a.example.}\n' })
    expect((await importing(cwd, '--lossy')).status).toBe(0)
    expect(readFileSync(join(cwd, 'out/zonewright.yaml'), 'utf8')).toContain(`    policy: ${policy}\n`)
  })
})

it('an alias has the processors of its zone and, as in octoDNS, those of the last zone', async () => {
  const filter = (type: string): string => `{class: octodns.processor.filter.TypeRejectlistFilter, rejectlist: [${type}]}`
  const config = `processors: {mx: ${filter('MX')}, txt: ${filter('TXT')}}
providers:
  one: {class: ${YAML}, directory: one}
zones:
  alias.example.: {alias: example.com.}
  example.com.: {sources: [one], targets: [], processors: [mx]}
  example.net.: {sources: [one], targets: [], processors: [txt]}
`
  const a = `a: ${A('192.0.2.1')}\n`
  const cwd = folderWith({ 'p.yaml': config, 'one/example.com.yaml': a, 'one/example.net.yaml': a })
  expect((await importing(cwd)).status).toBe(0)
  const rules = readFileSync(join(cwd, 'out/zonewright.yaml'), 'utf8').split('  - files:\n').slice(1)
  expect(rules.map((rule) => rule.match(/\w+(?:\.\w+)+(?=\.yaml)|(?<=\{type: )\w+/g))).toEqual([
    ['example.com', 'MX'],
    ['example.net', 'TXT'],
    ['alias.example', 'MX', 'TXT'],
  ])
})
