/**
 * What is stable (docs/decisions/0025-what-is-stable.md). Each `*.txt` is a copy of a format. `vitest run test/frozen -u` adds what is new to it. A line that
 * goes or changes fails in any case: if that is decided, remove it from the copy by hand.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { EXIT } from '../../src/run/context/exit-status.ts'
import { cli } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { breaks, linesOfCommands, linesOfSchema, linesOfTypes } from './lists.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** The schemas of what is read and written. The program reads the two in `generated`; those of `schemas` say more, for editors. */
const SCHEMAS = readdirSync(join(ROOT, 'schemas'))
  .filter((name) => name.endsWith('.schema.json'))
  .map((name) => name.replace('.schema.json', ''))
const schemaFile = (name: string): string => `${['config', 'zone'].includes(name) ? 'generated' : 'schemas'}/${name}.schema.json`

/** Formats that this version also reads, perhaps as an earlier one wrote them. */
const READ = ['config', 'journal', 'plan', 'policies', 'snapshot', 'zone']

async function isStable(name: string, now: readonly string[]): Promise<void> {
  const copy = `${name}.txt`
  expect(new Set(now).size).toBeGreaterThan(3)
  const known = readdirSync(import.meta.dirname).includes(copy) ? read(`test/frozen/${copy}`).trim().split('\n') : []
  expect(breaks(known, now, READ.includes(name)), 'users depend on these: see docs/decisions/0025-what-is-stable.md').toEqual([])
  await expect(`${now.join('\n')}\n`).toMatchFileSnapshot(join(import.meta.dirname, copy))
}

describe('nothing that users depend on goes or changes', () => {
  test.each(SCHEMAS)('the format of %s', (name) => isStable(name, linesOfSchema(JSON.parse(read(schemaFile(name))))))

  // A test compares the page with the types of the package.
  test('the library and the provider interface', () =>
    isStable(
      'library',
      linesOfTypes([...read('docs/library/reference.md').matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code).join('\n')),
    ))

  test('the functions of programs', () => isStable('programs', linesOfTypes(read('generated/definition.d.ts'))))

  test('the commands and their options', async () => {
    const { stdout } = await cli(['__manual'], { cwd: temporaryDirectory() })
    await isStable('commands', linesOfCommands(JSON.parse(stdout)))
  })

  test('the exit statuses', () =>
    isStable(
      'exit-statuses',
      Object.entries(EXIT).map(([name, status]) => `${status} ${name}`),
    ))
})

describe('a change of a schema', () => {
  const lines = (properties: object, required: readonly string[] = [], rest: object = {}): readonly string[] =>
    linesOfSchema({ type: 'object', required, properties: { part: { type: 'object', properties, required } }, ...rest })
  const copy = lines({ a: { type: 'string' } })

  test.each<[string, readonly string[], readonly string[]]>([
    ['a new key', lines({ a: { type: 'string' }, b: { type: 'integer' } }), []],
    ['a new key with keys of its own', lines({ a: { type: 'string' }, b: { type: 'object', properties: { c: {} }, required: ['c'] } }), []],
    ['a description', lines({ a: { type: 'string', description: 'A' } }), []],
    ['a key that goes', lines({}), ['.part.a: string']],
    ['a type that changes', lines({ a: { type: 'integer' } }), ['.part.a: string']],
    ['a key that becomes required', lines({ a: { type: 'string' } }, ['a']), ['.part.a: string', '.part.a!: string']],
    ['a new key that is required', lines({ a: { type: 'string' }, b: { type: 'integer' } }, ['b']), ['.part.b!: integer']],
    [
      'a key at the top that is required',
      lines({ a: { type: 'string' } }, [], { required: ['x'], properties: { x: {} } }),
      [...copy.slice(1), '.x!: any'],
    ],
    ['a limit', lines({ a: { type: 'string', maxLength: 3 } }), ['.part.a: string']],
  ])('%s', (_, now, expected) => expect(breaks(copy, now, true)).toEqual(expected))

  test('of a format that is only written, a new key may always be there', () =>
    expect(breaks(copy, lines({ a: { type: 'string' }, b: { type: 'integer' } }, ['b']), false)).toEqual([]))
})
