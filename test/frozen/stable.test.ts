/**
 * What is stable (docs/decisions/0025-what-is-stable.md). Each `*.txt` is a copy of a format. `vitest run test/frozen -u` adds what is new to it. A line that
 * goes or changes fails in any case: if that is decided, remove it from the copy by hand.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { RRSET_STORE } from '../../src/plan/capabilities.ts'
import { DEFAULT_THRESHOLDS } from '../../src/plan/safety-limits.ts'
import type { RunDocument } from '../../src/report/run-document.ts'
import { runMetrics } from '../../src/report/run-metrics.ts'
import { EXIT } from '../../src/run/context/exit-status.ts'
import { cli } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { breaks, breaksOfCode, linesOfCommands, linesOfSchema, linesOfTypes, type Use } from './lists.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** The schemas of what is read and written. The program reads the two in `generated`; those of `schemas` say more, for editors. */
const SCHEMAS = readdirSync(join(ROOT, 'schemas'))
  .filter((name) => name.endsWith('.schema.json'))
  .map((name) => name.replace('.schema.json', ''))
const schemaFile = (name: string): string => `${['config', 'zone'].includes(name) ? 'generated' : 'schemas'}/${name}.schema.json`

const GIVEN = ['config', 'policies', 'zone']
const KEPT = ['journal', 'plan', 'snapshot']
const useOf = (name: string): Use => (GIVEN.includes(name) ? 'given' : KEPT.includes(name) ? 'kept' : 'shown')

async function isStable(name: string, now: readonly string[], compare: typeof breaksOfCode): Promise<void> {
  const copy = `${name}.txt`
  expect(new Set(now).size).toBeGreaterThan(3)
  const known = readdirSync(import.meta.dirname).includes(copy) ? read(`test/frozen/${copy}`).trim().split('\n') : []
  expect(compare(known, now), 'users depend on these: see docs/decisions/0025-what-is-stable.md').toEqual([])
  await expect(`${now.join('\n')}\n`).toMatchFileSnapshot(join(import.meta.dirname, copy))
}

describe('nothing that users depend on goes or changes', () => {
  test.each(SCHEMAS)('the format of %s', (name) =>
    isStable(name, linesOfSchema(JSON.parse(read(schemaFile(name)))), (copy, now) => breaks(copy, now, useOf(name))),
  )

  // A test compares the page with the types of the package.
  test('the library and the provider interface', () =>
    isStable(
      'library',
      linesOfTypes([...read('docs/library/reference.md').matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code).join('\n')),
      breaksOfCode,
    ))

  test('the functions of programs', () =>
    isStable('programs', linesOfTypes(read('generated/definition.d.ts')), (copy, now) => breaksOfCode(copy, now, () => true)))

  test('the commands and their options', async () => {
    const { stdout } = await cli(['__manual'], { cwd: temporaryDirectory() })
    await isStable('commands', linesOfCommands(JSON.parse(stdout)), breaksOfCode)
  })

  test('the exit statuses', () =>
    isStable(
      'exit-statuses',
      Object.entries(EXIT).map(([name, status]) => `${status} ${name}`),
      breaksOfCode,
    ))

  test('environment variables and metrics', () => {
    const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'))
    const names = sources.flatMap((path) => read(`src/${path}`).match(/\bZONEWRIGHT_[A-Z_]+|(?<=')zonewright_\w+(?=')/g) ?? [])
    const figures = {
      command: '',
      summary: { differences: 1 },
      targets: [{ target: '' }],
      zones: [{ zone: '', target: '', create: 1, differences: 1 }],
    }
    const metrics = runMetrics(figures as unknown as RunDocument).match(/(?<=^# TYPE )\w+/gm) ?? []
    return isStable('names', [...new Set([...names, ...metrics])].sort(), breaksOfCode)
  })

  test('the defaults of limits and provider packages', () =>
    isStable(
      'defaults',
      Object.entries({ ...DEFAULT_THRESHOLDS, ...RRSET_STORE })
        .filter(([, value]) => typeof value !== 'function')
        .map(([name, value]) => `${name}: ${JSON.stringify(value)}`),
      breaksOfCode,
    ))
})

const all = (line: string): Record<Use, readonly string[]> => ({ given: [line], kept: [line], shown: [line] })

describe('a change of a schema', () => {
  const lines = (properties: object, required: readonly string[] = [], rest: object = {}): readonly string[] =>
    linesOfSchema({ type: 'object', required, properties: { part: { type: 'object', properties, required } }, ...rest })
  const copy = lines({ a: { type: 'string' }, b: { enum: ['x'] }, c: {} }, ['c'])
  const but = (properties: object, required = ['c']): readonly string[] =>
    lines({ a: { type: 'string' }, b: { enum: ['x'] }, c: {}, ...properties }, required)

  // What is refused for each use.
  test.each<[string, readonly string[], Record<Use, readonly string[]>]>([
    ['a new key', but({ d: { type: 'integer' } }), { given: [], kept: [], shown: [] }],
    ['a new key with a required one', but({ d: { properties: { e: {} }, required: ['e'] } }), { given: [], kept: [], shown: [] }],
    ['a description', but({ a: { type: 'string', description: 'A' } }), { given: [], kept: [], shown: [] }],
    ['a new word', but({ b: { enum: ['w', 'x'] } }), { given: [], kept: ['.part.b: "x"; words'], shown: [] }],
    ['a key that goes', lines({ a: { type: 'string' }, c: {} }, ['c']), all('.part.b: "x"; words')],
    ['a word that goes', but({ b: { enum: ['w'] } }), all('.part.b: "x"; words')],
    ['a type that changes', but({ a: { type: 'integer' } }), all('.part.a: string')],
    [
      'another type beside it',
      but({ a: { type: ['null', 'string'] } }),
      { given: [], kept: ['.part.a: string'], shown: ['.part.a: string'] },
    ],
    ['only some values', but({ c: { type: 'string' } }), all('.part.c!: any')],
    ['only some words', but({ a: { type: 'string', enum: ['x'] } }), all('.part.a: string')],
    ['a limit', but({ a: { type: 'string', maxLength: 3 } }), all('.part.a: string')],
    ['a key that becomes required', but({}, ['a', 'c']), { given: ['.part.a: string'], kept: ['.part.a: string'], shown: [] }],
    ['a key that becomes optional', but({}, []), { given: [], kept: ['.part.c!: any'], shown: ['.part.c!: any'] }],
    ['a new key that is required', but({ d: {} }, ['c', 'd']), { given: ['.part.d!: any'], kept: ['.part.d!: any'], shown: [] }],
    ['at the top, too', [...copy, '.x!: any'], { given: ['.x!: any'], kept: ['.x!: any'], shown: [] }],
  ])('%s', (_, now, expected) => {
    for (const use of ['given', 'kept', 'shown'] as const) expect([use, breaks(copy, now, use)]).toEqual([use, expected[use]])
  })

  test('parts that depend on a word are known by it, not by their order', () => {
    const part = (word: string): object =>
      JSON.parse(`{"if": {"properties": {"t": {"const": "${word}"}}}, "then": {"$ref": "#/definitions/${word}"}}`)
    expect(linesOfSchema({ allOf: [part('b')] })).toEqual(['.: any', '(t=b): #b'])
    expect(breaks(linesOfSchema({ allOf: [part('b')] }), linesOfSchema({ allOf: [part('a'), part('b')] }), 'given')).toEqual([])
  })
})

describe('a change of types', () => {
  const copy = linesOfTypes(
    'interface PlanOptions {\n  readonly a?: string;\n}\ninterface Result {\n  readonly m: string;\n  readonly part: {\n    readonly m: string;\n  };\n}\nfunction f(a: string): void;\n',
  )
  const change = (from: string, to: string): readonly string[] =>
    breaksOfCode(copy, copy.flatMap((line) => (line === from ? to.split('\n') : [line])).filter(Boolean))

  test.each([
    ['a new result', 'Result: readonly m: string', 'Result: readonly m: string\nResult: readonly n: string', []],
    [
      'a setting that may be left out',
      'PlanOptions: readonly a?: string',
      'PlanOptions: readonly a?: string\nPlanOptions: readonly b?: string',
      [],
    ],
    ['another value of a setting', 'PlanOptions: readonly a?: string', 'PlanOptions: readonly a?: number | string', []],
    ['a parameter that may be left out', 'function f(a: string): void', 'function f(a: string, b?: number): void', []],
    ['a needed parameter', 'function f(a: string): void', 'function f(a: string, b: number): void', ['function f(a: string): void']],
    ['a parameter before', 'function f(a: string): void', 'function f(b?: number, a: string): void', ['function f(a: string): void']],
    ['a result that goes, with another of its name below', 'Result: readonly m: string', '', ['Result: readonly m: string']],
    ['another value of a result', 'Result: readonly m: string', 'Result: readonly m: string | null', ['Result: readonly m: string']],
    [
      'a needed setting',
      'PlanOptions: readonly a?: string',
      'PlanOptions: readonly a?: string\nPlanOptions: readonly b: string',
      ['PlanOptions: readonly b: string'],
    ],
  ])('%s', (_, from, to, expected) => expect(change(from, to)).toEqual(expected))
})
