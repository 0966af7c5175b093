import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { EXEMPTIONS, ROOMS } from './rules.ts'

const root = resolve(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** Paths in code spans; those of docs/contributors/architecture.md are relative to `src/`, its planner steps to `src/plan/`. */
const pathsIn = (text: string): string[] =>
  [...text.matchAll(/`([\w./-]+(?:\.(?:ts|json|md|mjs)|\/))`/g)]
    .map(([, path = '']) => path)
    .filter((path) => !/[A-Z]{4}/.test(path.replace(/\w+\.md$/, '')))

describe.each([
  ['docs/contributors/architecture.md', ['', 'src', 'src/plan', 'src/providers']],
  ['CONTRIBUTING.md', ['', 'src']],
] as const)('%s', (document, bases) => {
  test('names files and folders that exist', () => {
    const paths = pathsIn(read(document))
    expect(paths.length).toBeGreaterThan(20)
    expect(paths.filter((path) => !bases.some((base) => existsSync(join(root, base, path))))).toEqual([])
  })
})

test('docs/contributors/architecture.md shows every folder of src', () => {
  const text = read('docs/contributors/architecture.md')
  const folders = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
  expect(folders.map(({ name }) => name).filter((name) => !text.includes(`\n  ${name}/ `))).toEqual([])
})

test('docs/contributors/architecture.md states what each room imports, in their order', () => {
  const rows = [...read('docs/contributors/architecture.md').matchAll(/^ {2}\| `(\w+)` \| (.*) \|$/gm)].map(
    ([, room = '', text = '']) => [room, [...text.matchAll(/`([\w/]+)`/g)].map(([, name]) => name)] as const,
  )
  expect(rows).toEqual(Object.entries(ROOMS))
})

test('docs/contributors/architecture.md lists every exemption', () => {
  const text = read('docs/contributors/architecture.md')
  expect(EXEMPTIONS.filter(([, , why]) => !text.includes(why))).toEqual([])
  if (EXEMPTIONS.length === 0) expect(text).toContain('No import is exempted.')
})
