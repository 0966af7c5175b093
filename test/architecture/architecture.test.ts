import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { type Survey, sourceFiles, survey } from './cruise.ts'
import { LAYERS, RULES } from './rules.ts'
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
    expect(found.imports.get('src/plan/plan.ts')).toEqual(expect.arrayContaining(['src/dns/diagnostic.ts', 'src/dns/zone.ts']))
  })

  test('keeps every rule', () => expect(found.findings.map(({ rule, from, to }) => `${rule}: ${from} -> ${to}`)).toEqual([]))

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

/** For each rule, a small source tree that breaks it. */
const BROKEN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'one-way-dns': { 'dns/a.ts': `import type { P } from '../plan/p.ts'`, 'plan/p.ts': 'export type P = 1' },
  'one-way-plan': { 'plan/a.ts': `import { f } from '../definition/f.ts'`, 'definition/f.ts': 'export const f = 1' },
  'one-way-conformance': { 'conformance/a.ts': `import { c } from '../cli/c.ts'`, 'cli/c.ts': 'export const c = 1' },
  'one-way-ci': { 'ci/a.ts': `import { c } from '../cli/c.ts'`, 'cli/c.ts': 'export const c = 1' },
  'one-way-convert': { 'convert/a.ts': `export { r } from '../report/r.ts'`, 'report/r.ts': 'export const r = 1' },
  'one-way-report': { 'report/a.ts': `import { f } from '../definition/f.ts'`, 'definition/f.ts': 'export const f = 1' },
  'one-way-definition': { 'definition/a.ts': `import { t } from '../transport/t.ts'`, 'transport/t.ts': 'export const t = 1' },
  'one-way-programs': { 'programs/a.ts': `import { f } from '../apply/f.ts'`, 'apply/f.ts': 'export const f = 1' },
  'one-way-transport': { 'transport/a.ts': `import { d } from '../definition/d.ts'`, 'definition/d.ts': 'export const d = 1' },
  'one-way-providers': { 'providers/x/a.ts': `import { s } from '../../apply/s.ts'`, 'apply/s.ts': 'export const s = 1' },
  'one-way-apply': { 'apply/a.ts': `const c = await import('../cli/c.ts')`, 'cli/c.ts': 'export const c = 1' },
  'one-way-service': { 'service/a.ts': `import { t } from '../transport/t.ts'`, 'transport/t.ts': 'export const t = 1' },
  'one-way-cli': { 'cli/a.ts': `import { u } from '../odd/u.ts'`, 'odd/u.ts': 'export const u = 1' },
  'known-folders': { 'odd/a.ts': `import { m } from '../dns/m.ts'`, 'dns/m.ts': 'export const m = 1' },
  'not-outside-src': { 'apply/a.ts': `import { t } from '../../test/t.ts'`, '../test/t.ts': 'export const t = 1' },
  'pure-core-modules': { 'report/a.ts': `import { readFileSync } from 'node:fs'` },
  'pure-packages': { 'definition/parse/a.ts': `import limit from 'p-limit'` },
  sockets: { 'providers/x/a.ts': `import { request } from 'node:https'` },
  'sockets-http-client': { 'providers/x/a.ts': `import { request } from 'undici'` },
  'service-packages': { 'apply/a.ts': `import type { Pool } from 'pg'` },
  'terminal-packages': { 'apply/a.ts': `import { Command } from 'commander'` },
  'policy-packages': { 'definition/a.ts': `import { RE2JS } from 're2js'` },
  'lazy-policies': {
    'apply/a.ts': `import { c } from '../definition/policies/compile-schema.ts'`,
    'definition/policies/compile-schema.ts': 'export const c = 1',
  },
  'island-providers': { 'providers/x/a.ts': `import type { y } from '../y/y.ts'`, 'providers/y/y.ts': 'export const y = 1' },
  'provider-door': { 'apply/a.ts': `import { y } from '../providers/y/y.ts'`, 'providers/y/y.ts': 'export const y = 1' },
  'lazy-providers': { 'providers/x/x-config.ts': `import { x } from './x-provider.ts'`, 'providers/x/x-provider.ts': 'export const x = 1' },
  'config-door': {
    'cli/a.ts': `import { l } from '../definition/config/load-config.ts'`,
    'definition/config/load-config.ts': 'export const l = 1',
  },
  'thin-commands': { 'cli/commands/a.ts': `import { p } from '../../plan/p.ts'`, 'plan/p.ts': 'export const p = 1' },
  'service-door': { 'cli/a.ts': `import { s } from '../service/store/s.ts'`, 'service/store/s.ts': 'export const s = 1' },
  'no-cycles': {
    'dns/a.ts': `import type { B } from './b.ts'\nexport type A = B`,
    'dns/b.ts': `import type { A } from './a.ts'\nexport type B = A`,
  },
  resolvable: { 'dns/a.ts': `import { x } from './nowhere.ts'` },
  'no-development-packages': { 'apply/a.ts': `import { test } from 'vitest'` },
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
        'apply/a.ts': `import { r } from '../providers/registry.ts'\nexport const d = r`,
        'cli/a.ts': `import { s } from '../service/index.ts'\nimport { d } from '../apply/a.ts'\nexport const c = [s, d]`,
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
  ['format-only-in-views', 'src/apply/a.ts', `if (options.format !== 'text') return`],
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

test('every dependency is imported by src', () => {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { dependencies: Record<string, string> }
  const text = sourceFiles(root)
    .map((file) => readFileSync(join(root, file), 'utf8'))
    .join('\n')
  const isImported = (name: string): boolean =>
    [`from '${name}'`, `from '${name}/`, `import('${name}')`].some((part) => text.includes(part))
  expect(Object.keys(dependencies).filter((name) => !isImported(name))).toEqual([])
})

test('every folder of src is a layer', () => {
  const folders = new Set(sourceFiles(root).map((file) => file.split('/')[1]))
  expect([...folders].filter((folder) => folder === undefined || !(folder in LAYERS))).toEqual([])
})

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
