import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { type Survey, sourceFiles, survey } from './cruise.ts'
import { EXEMPTIONS, ONE_WAY_INSIDE, ROOMS, RULES } from './rules.ts'
import { machinePaths, TEXT_RULES, textFindings } from './source-text.ts'

const root = resolve(import.meta.dirname, '../..')

describe('the source', () => {
  let found: Survey
  beforeAll(async () => {
    found = await survey(root)
  })

  test('is read completely', () => {
    expect(found.modules.length).toBeGreaterThan(30)
    expect(found.modules).toEqual(sourceFiles(root))
  })

  test('is read with its type imports', () => {
    expect(found.imports.get('src/plan/plan.ts')).toEqual(expect.arrayContaining(['src/base/diagnostic.ts', 'src/dns/zone.ts']))
  })

  test('keeps every rule', () => expect(found.findings.map(({ rule, from, to }) => `${rule}: ${from} -> ${to}`)).toEqual([]))

  test('has the imports between rooms that the table states, and no others', () => {
    const exempt = (from: string, to: string): boolean => EXEMPTIONS.some(([a, b]) => new RegExp(a).test(from) && new RegExp(b).test(to))
    const made = importsOf(found).filter(([from, to]) => roomOf(from) !== roomOf(to) && !exempt(from, to))
    for (const [room, stated] of Object.entries(ROOMS)) {
      const targets = made.filter(([from]) => roomOf(from) === room).map(([, to]) => to)
      const covers = (entry: string, to: string): boolean => to.startsWith(`src/${entry}/`)
      expect(
        targets.filter((to) => !stated.some((entry) => covers(entry, to))),
        `${room} imports more`,
      ).toEqual([])
      expect(
        stated.filter((entry) => !targets.some((to) => covers(entry, to))),
        `${room} imports less`,
      ).toEqual([])
    }
  })

  test('has folders that import each other only where a file lists what is below it', () => {
    const folders = new Set(importsOf(found).map(([from, to]) => `${dirname(from)} ${dirname(to)}`))
    const mutual = [...folders].filter((pair) => {
      const [from = '', to = ''] = pair.split(' ')
      return from < to && folders.has(`${to} ${from}`)
    })
    expect(mutual.filter((pair) => (ONE_WAY_INSIDE as readonly string[]).includes(roomOf(pair)))).toEqual([])
  })

  test('has no forbidden text', () => {
    expect(sourceFiles(root).flatMap((file) => textFindings(file, readFileSync(join(root, file), 'utf8')))).toEqual([])
  })
})

test('no file of the repository names a path of one machine', { tags: ['servers'] }, () => {
  const files = execFileSync('git', ['-c', 'safe.directory=*', 'ls-files', '-z'], { cwd: root, encoding: 'utf8' })
    .split('\0')
    .filter((file) => /\.(?:ts|mjs|json|ya?ml|md|sh|sql|zone)$|^\.ci\//.test(file) && !file.startsWith('test/corpora/'))
    .filter((file) => existsSync(join(root, file)))
  expect(files.length).toBeGreaterThan(30)
  expect(files.flatMap((file) => machinePaths(file, readFileSync(join(root, file), 'utf8')))).toEqual([])
})

test("no test uses fast-check without the suite's seed", { tags: ['servers'] }, () => {
  const files = execFileSync('git', ['-c', 'safe.directory=*', 'ls-files', '-z', 'test/'], { cwd: root, encoding: 'utf8' }).split('\0')
  const present = files.filter((file) => file.endsWith('.ts') && existsSync(join(root, file)))
  const taking = present.filter((file) => /^import .*'fast-check'/m.test(readFileSync(join(root, file), 'utf8')))
  expect(taking).toEqual(['test/support/fast-check.ts'])
})

const NAMES = Object.keys(ROOMS)

/** An import of the next room, in a form that differs from room to room; the last room imports a folder that is none. */
const AGAINST_THE_ORDER = NAMES.map((room, index) => {
  const next = NAMES[index + 1] ?? 'odd'
  const from = `'../${next}/b.ts'`
  const text = [
    `import type { B } from ${from}`,
    `import { b } from ${from}`,
    `export { b } from ${from}`,
    `const b = await import(${from})`,
  ]
  return [
    `one-way-${room}`,
    { [`${room}/a.ts`]: text[index % text.length] as string, [`${next}/b.ts`]: 'export type B = 1\nexport const b = 1' },
  ] as const
})

/** For each rule, a small source tree that breaks it. */
const BROKEN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ...Object.fromEntries(AGAINST_THE_ORDER),
  'known-folders': { 'odd/a.ts': `import { m } from '../dns/m.ts'`, 'dns/m.ts': 'export const m = 1' },
  'not-outside-src': { 'run/a.ts': `import { t } from '../../test/t.ts'`, '../test/t.ts': 'export const t = 1' },
  'pure-core-modules': { 'report/a.ts': `import { readFileSync } from 'node:fs'` },
  'pure-packages': { 'definition/parse/a.ts': `import limit from 'p-limit'` },
  sockets: { 'providers/x/a.ts': `import { request } from 'node:https'` },
  'sockets-http-client': { 'providers/x/a.ts': `import { request } from 'undici'` },
  'service-packages': { 'run/a.ts': `import type { Pool } from 'pg'` },
  'terminal-packages': { 'run/a.ts': `import { Command } from 'commander'` },
  'policy-packages': { 'definition/a.ts': `import { RE2JS } from 're2js'` },
  'lazy-policies': {
    'run/a.ts': `import { c } from '../checks/policies/compile-schema.ts'`,
    'checks/policies/compile-schema.ts': 'export const c = 1',
  },
  'island-providers': { 'providers/x/a.ts': `import type { y } from '../y/y.ts'`, 'providers/y/y.ts': 'export const y = 1' },
  'provider-door': { 'run/a.ts': `import { y } from '../providers/y/y.ts'`, 'providers/y/y.ts': 'export const y = 1' },
  'lazy-providers': { 'providers/x/x-config.ts': `import { x } from './x-provider.ts'`, 'providers/x/x-provider.ts': 'export const x = 1' },
  'config-door': {
    'cli/a.ts': `import { l } from '../config/load-config.ts'`,
    'config/load-config.ts': 'export const l = 1',
  },
  'thin-commands': { 'cli/commands/a.ts': `import { p } from '../../plan/p.ts'`, 'plan/p.ts': 'export const p = 1' },
  'service-door': { 'cli/a.ts': `import { s } from '../service/store/s.ts'`, 'service/store/s.ts': 'export const s = 1' },
  'no-cycles': {
    'dns/a.ts': `import type { B } from './b.ts'\nexport type A = B`,
    'dns/b.ts': `import type { A } from './a.ts'\nexport type B = A`,
  },
  resolvable: { 'dns/a.ts': `import { x } from './nowhere.ts'` },
  'no-development-packages': { 'run/a.ts': `import { test } from 'vitest'` },
}

describe('a source that breaks a rule is reported', () => {
  test('every rule has one', () => expect(Object.keys(BROKEN).sort()).toEqual(RULES.map(({ name }) => name ?? '').sort()))

  test.each(Object.entries(BROKEN))('%s', async (rule, files) => {
    const tree = plant(files)
    const found = await survey(tree)
    expect(found.modules).toEqual(sourceFiles(tree))
    expect(found.findings.map((finding) => finding.rule)).toContain(rule)
  })

  test('a source that keeps every rule is not', async () => {
    const found = await survey(
      plant({
        'dns/a.ts': `import { isIP } from 'node:net'\nexport const a = isIP`,
        'plan/a.ts': `import { a } from '../dns/a.ts'\nexport const b = a`,
        'providers/registry.ts': `import { x } from './x/x.ts'\nexport const r = x`,
        'providers/x/x.ts': `import { connect } from '../../transport/t.ts'\nexport const x = connect`,
        'transport/t.ts': `export { connect } from 'node:net'`,
        'service/index.ts': `import pg from 'pg'\nexport const s = pg`,
        'run/a.ts': `import { r } from '../providers/registry.ts'\nexport const d = r`,
        'cli/a.ts': `import { s } from '../service/index.ts'\nimport { d } from '../run/a.ts'\nexport const c = [s, d]`,
      }),
    )
    expect(found.findings).toEqual([])
    expect(found.modules).toHaveLength(8)
  })
})

const FORBIDDEN_TEXT: readonly (readonly [rule: string, file: string, line: string])[] = [
  ['pure-clock', 'src/plan/a.ts', 'const now = Date.now()'],
  ['pure-clock', 'src/report/a.ts', 'const now = new Date( )'],
  ['pure-clock', 'src/definition/parse/a.ts', 'setTimeout(run, 1)'],
  ['pure-randomness', 'src/dns/a.ts', 'const id = Math.random()'],
  ['pure-randomness', 'src/plan/a.ts', `import { createHash, randomUUID } from 'node:crypto'`],
  ['pure-process', 'src/report/a.ts', 'const width = process.stdout.columns'],
  ['net-only-isip', 'src/dns/a.ts', `import { connect, isIP } from 'node:net'`],
  ['net-only-isip', 'src/providers/x/a.ts', `import * as net from 'node:net'`],
  ['net-only-isip', 'src/cli/a.ts', `} from 'node:net'`],
  ['pure-crypto-only-hashes-and-public-keys', 'src/plan/a.ts', `const c = await import('node:crypto')`],
  ['pure-crypto-only-hashes-and-public-keys', 'src/plan/a.ts', `import { createHash, createSign } from 'node:crypto'`],
  ['node-prefix', 'src/cli/a.ts', `import { readFile } from 'fs/promises'`],
  ['no-regexp-from-text', 'src/convert/octodns/a.ts', 'const expression = new RegExp(text)'],
  ['no-hand-made-plural', 'src/cli/a.ts', "const ending = count === 1 ? '' : 's'"],
  ['no-default-export', 'src/cli/a.ts', 'export default 1'],
  ['no-enum-or-namespace', 'src/cli/a.ts', 'export const enum A { b }'],
]

describe('text that breaks a rule is reported', () => {
  test('every rule has one', () => {
    expect(new Set(FORBIDDEN_TEXT.map(([rule]) => rule))).toEqual(new Set(TEXT_RULES.map(({ name }) => name)))
  })

  test.each(FORBIDDEN_TEXT)('%s in %s: %s', (rule, file, line) => expect(textFindings(file, `\n${line}\n`)).toContain(`${rule} ${file}:2`))

  test.each([
    ['src/dns/a.ts', `import { isIPv4, isIPv6 } from 'node:net'`],
    ['src/plan/a.ts', `import { createHash } from 'node:crypto'`],
    ['src/definition/parse/a.ts', `import { createHmac, timingSafeEqual } from 'node:crypto'`],
    ['src/plan/a.ts', 'const at = new Date(milliseconds)'],
    ['src/plan/a.ts', '// Date.now() is an argument here'],
    ['src/cli/a.ts', 'const now = Date.now()'],
  ])('%s may contain: %s', (file, line) => expect(textFindings(file, line)).toEqual([]))

  test('a home directory is a path of one machine', () => {
    const home = ['', 'home', 'somebody', 'zones'].join('/')
    expect(machinePaths('a.md', `see ${home}\nor https://example.com/home/x`)).toEqual(['a.md:1'])
  })
})

test('every dependency is imported by src, or passes an overridden version on to users', () => {
  const { dependencies, overrides } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, Record<string, string>>
  const text = sourceFiles(root)
    .map((file) => readFileSync(join(root, file), 'utf8'))
    .join('\n')
  const isImported = (name: string): boolean =>
    [`from '${name}'`, `from '${name}/`, `import('${name}')`].some((part) => text.includes(part))
  expect(Object.keys(dependencies ?? {}).filter((name) => !isImported(name) && overrides?.[name] === undefined)).toEqual([])
})

test('every folder of src is a room', () => {
  const folders = new Set(sourceFiles(root).map((file) => file.split('/')[1]))
  expect([...folders].filter((folder) => folder === undefined || !(folder in ROOMS))).toEqual([])
})

test('a room imports only rooms before it', () => {
  for (const [index, room] of NAMES.entries()) {
    const before = new Set(NAMES.slice(0, index))
    expect(
      ROOMS[room]?.filter((entry) => !before.has(entry.split('/')[0] as string)),
      room,
    ).toEqual([])
  }
})

const roomOf = (path: string): string => path.split('/')[1] as string

const importsOf = ({ imports }: Survey): (readonly [from: string, to: string])[] =>
  [...imports].flatMap(([from, targets]) => targets.filter((to) => to.startsWith('src/')).map((to) => [from, to] as const))

/** Creates a package with this source and the dependencies of the repository. */
function plant(files: Readonly<Record<string, string>>): string {
  const tree = temporaryDirectory()
  for (const [path, text] of Object.entries(files)) {
    const file = join(tree, 'src', path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `${text}\n`)
  }
  writeFileSync(join(tree, 'package.json'), readFileSync(join(root, 'package.json')))
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'))
  return tree
}
