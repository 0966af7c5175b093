import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { compileGlobs, hasGlob, parseGlob } from '../../src/files/file-glob.ts'
import { cli } from '../support/cli.ts'
import { fc, forAll } from '../support/fast-check.ts'
import { rounds } from '../support/random.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

const CASES: readonly (readonly [glob: string, matching: readonly string[], others: readonly string[]])[] = [
  ['zones/a.yaml', ['zones/a.yaml', 'zones/a.yaml/x'], ['zones/a.yam', 'zones/a.yaml2', 'a.yaml']],
  ['zones/*', ['zones/a', 'zones/a.b'], ['zones', 'zones/', 'zones/.a', 'zones/a/b', 'x/zones/a']],
  ['zones/**', ['zones', 'zones/a', 'zones/a/b'], ['zones/.a', 'zones/.a/b', 'zones/a/.b', 'other']],
  ['zones/**/*', ['zones/a', 'zones/a/b/c'], ['zones', 'zones/.a/b', 'zones/a/.b']],
  ['**/*.yaml', ['a.yaml', 'a/b.yaml', 'a/b/c.yaml'], ['.yaml', 'a/.yaml', '.a/b.yaml', 'a.yml']],
  ['**.yaml', ['a.yaml', 'a/b.yaml'], ['a.yml']],
  ['*/**', ['a/b', 'a/b/c'], ['a']],
  ['a/**/b', ['a/b', 'a/x/b', 'a/x/y/b'], ['a/xb', 'a/.x/b', 'ab']],
  ['a/**/**/b', ['a/b', 'a/x/y/b'], ['a']],
  ['a**b', ['ab', 'axxb'], ['a/b']],
  ['db.?', ['db.a'], ['db.', 'db.ab', 'db./']],
  ['[a-c]x', ['ax', 'cx'], ['dx', 'x', '-x']],
  ['[!a-c]x', ['dx', '-x'], ['ax', '/x', '.x']],
  ['[]-]', [']', '-'], ['a']],
  ['[a', ['[a'], ['a']],
  ['[a/b]', ['[a/b]'], ['a', 'b']],
  ['{a,b/c}.yaml', ['a.yaml', 'b/c.yaml'], ['b.yaml', 'c.yaml', '{a,b/c}.yaml']],
  ['{a,{b,c}d,}x', ['ax', 'bdx', 'cdx', 'x'], ['bx', 'dx']],
  ['{*,.h}x', ['ax', '.hx'], ['.x', '.ax']],
  ['{**/a,b}.yaml', ['a.yaml', 'x/y/a.yaml', 'b.yaml'], ['x/b.yaml']],
  ['{1..3}', ['1', '3'], ['4', '1..3']],
  ['{a}', ['{a}'], ['a']],
  ['{a,b', ['{a,b'], ['a']],
  ['{[}],b}', ['}', 'b'], ['{[}],b}']],
  ['\\*\\{a,b\\}', ['*{a,b}'], ['x{a,b}', '*a']],
  ['(a|b)', ['(a|b)'], ['a', 'b']],
  ['./a/*/', ['a/b'], ['./a/b']],
  ['\u{1f30d}?', ['\u{1f30d}\u{1f30d}'], ['\u{1f30d}']],
]

describe('a glob of files', () => {
  it.each(CASES)('%s', (glob, matching, others) => {
    const { matches } = compileGlobs([glob], '/config')
    expect(matching.filter((path) => !matches(path))).toEqual([])
    expect(others.filter(matches)).toEqual([])
  })

  it('with a leading exclamation mark excludes paths', () => {
    const { matches } = compileGlobs(['zones/*', '!zones/b*', '/config/other/*'], '/config')
    expect(['zones/a', 'zones/b', 'zones/bc', 'other/b'].filter(matches)).toEqual(['zones/a', 'other/b'])
  })

  it.each([
    ['zones/a.yaml', { path: 'zones/a.yaml', literal: true, depth: Number.POSITIVE_INFINITY }],
    ['./zones/', { path: 'zones', literal: true, depth: Number.POSITIVE_INFINITY }],
    ['zones/**', { path: 'zones', literal: false, depth: Number.POSITIVE_INFINITY }],
    ['zones/**/*', { path: 'zones', literal: false, depth: Number.POSITIVE_INFINITY }],
    ['zones/*.yaml', { path: 'zones', literal: false, depth: 0 }],
    ['zones/x*/b/c', { path: 'zones', literal: false, depth: 2 }],
    ['{a,b}/c', { path: '', literal: false, depth: 1 }],
    ['\\*/a?', { path: '*', literal: false, depth: 0 }],
  ])('the search for %s starts in %j', (glob, start) => {
    expect(parseGlob(glob).start).toEqual(start)
    expect(hasGlob(glob)).toBe(!start.literal)
  })
})

/** The number of steps of a match. */
function stepsOf(glob: string, path: string): number {
  let steps = 0
  const { matches } = parseGlob(glob, () => {
    steps += 1
  })
  matches(path)
  return steps
}

const ATTACKS: readonly (readonly [name: string, glob: (size: number) => string])[] = [
  ['stars', (size) => `${'a*'.repeat(size)}b`],
  ['stars and folders', (size) => `${'**/a*/'.repeat(size)}b`],
  ['alternatives', (size) => `${'{a,a}'.repeat(size)}b`],
  ['nested alternatives', (size) => `${'{a,'.repeat(size)}b${'}'.repeat(size)}`],
  ['empty alternatives', (size) => `${'{,a}'.repeat(size)}b`],
  ['alternatives of stars', (size) => `${'{*,**}'.repeat(size)}b`],
  ['question marks', (size) => `*${'?'.repeat(size)}b`],
  ['sets', (size) => `${'[ab]*'.repeat(size)}c`],
  ['open brackets', (size) => `${'[*'.repeat(size)}b`],
]

describe('matching takes linear time in glob and path', () => {
  it.each(ATTACKS)('%s', (_, glob) => {
    for (const path of ['a'.repeat(200), 'a/'.repeat(100)])
      for (const size of [1, 15, 60, 240])
        expect(stepsOf(glob(size), path)).toBeLessThanOrEqual(2 * (glob(size).length + 1) * (path.length + 1))
  })

  it('for any glob', () => {
    const text = fc.array(fc.constantFrom('a', 'b', '*', '**', '/', '?', '[', ']', '{', '}', ',', '\\', '!', '.'), { maxLength: 40 })
    const path = fc.array(fc.constantFrom('a', 'b', '/', '.'), { maxLength: 60 })
    forAll(rounds(1000), text, path, (glob, names) => {
      expect(stepsOf(glob.join(''), names.join(''))).toBeLessThanOrEqual(2 * (glob.join('').length + 3) * (names.length + 1))
    })
  })

  test('validate ends with 60 wildcards and a name with 200 letters', async () => {
    const folder = temporaryDirectory()
    mkdirSync(join(folder, 'zones'))
    const zone = 'domain: example.com\nsoa_email: hostmaster@example.com\nrecords: {www: {type: A, value: 192.0.2.1}}\n'
    for (const name of ['a'.repeat(200), 'example.com']) writeFileSync(join(folder, 'zones', `${name}.yaml`), zone)
    const config = `providers: {cloud: {type: cloud, preset: linode, token: env:TOKEN}}\nzones: [{files: ["zones/${'a*'.repeat(60)}b", zones/e*]}]\n`
    writeFileSync(join(folder, 'zonewright.yaml'), config)
    expect(await cli(['validate'], { cwd: folder })).toMatchObject({ status: 0 })
  })
})
