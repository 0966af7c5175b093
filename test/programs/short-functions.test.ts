import { afterAll, describe, expect, test } from 'vitest'
import { openSandbox } from '../../src/programs/sandbox/run-program.ts'
import { shortFunctions } from '../../src/programs/sandbox/short-functions.ts'

const sandbox = openSandbox()
afterAll(() => sandbox.close())

const PRELUDE = `(host) => {
  const values = []
  globalThis.record = function record(value) { values.push([host.place(record), value]); return value }
  globalThis.all = (...some) => some.flat()
  return () => values
}`

const numbers = Array.from({ length: 300 }, (_, i) => i)
const calls = numbers.map((i) => `record('${i} ${'x'.repeat(20)}')`)
const list = calls.join(',\n  ')
const statements = calls.join('\n')

/** Programs that make all records, each with the function that the calls are in and the number of texts that are put in. */
const PROGRAMS: Readonly<Record<string, readonly [text: string, inside: string | null, inserts: number]>> = {
  'a list': [`const some = [\n  ${list},\n]\n`, null, 10],
  'arguments, and another argument before them': [`all('first', ${list})\n`, null, 10],
  'a list in a function that is called': [`function make() {\n  return [\n  ${list}]\n}\nmake()\n`, 'make', 10],
  'statements without semicolons': [`${statements}\n`, null, 10],
  'statements after a function': [`function other() {\n}\n${statements}\n`, null, 10],
  'statements with semicolons and comments': [`'start';\n${calls.map((call) => `${call}; // it's [one`).join('\n')}\n`, null, 10],
  'methods of what a call returns': [`all(${calls.map((call) => `${call}.trim()`).join(',\n')})`, null, 10],
  'arguments of the function around it': [
    `function outer() {\n  return all(${calls.map((call) => call.replace(')', ' + arguments[0])')).join(',\n')})\n}\nouter('')\n`,
    'outer',
    10,
  ],
  'quotes, brackets and slashes in texts': [`var t = \`[\${1 / 2}\`, r = /["'\`[(]/;\n${statements}\n`, null, 10],
  'letters outside ASCII in one line': [`all(${calls.map((call) => call.replace('x', 'ü😀')).join(', ')})\n`, null, 10],
  'the members of a value that a list seems to follow': [`let a = {}\n[${list}]\na?.[${list}]\n`, null, 0],
  'a line end that is none elsewhere': [`${statements}\n// \u2028`, null, 0],
  'braces in templates': [`const t = \`\${{ a: 1 }.a + \`,\`}\`\n${statements}\n`, null, 0],
  'templates in templates': [`const t = \`\${\`a,\`},\`;\n${calls.join(';\n')}\n`, null, 0],
  eval: [`eval('var a = 1');\n${calls.join(';\n')}\n`, null, 0],
}

function run(text: string) {
  const files = { read: () => ({ ok: false, message: 'none' }) as const, list: async () => ({ ok: true, value: [] }) as const }
  return sandbox.run({ entry: { file: 'a.js', text }, language: 'dnscontrol', prelude: PRELUDE, variables: {}, files })
}

describe('positions are those of the program', () => {
  for (const [title, [text, inside, inserts]] of Object.entries(PROGRAMS)) {
    test(title, async () => {
      expect(shortFunctions(text)).toHaveLength(inserts)
      const { output, diagnostics } = await run(text)
      expect(diagnostics).toEqual([])
      const made = (output?.value ?? []) as [place: number, value: string][]
      const places = made.map(([place]) => output?.places[place]?.slice(0, 1).map(({ at, inside: name }) => [at.line, at.column, name])[0])
      const offsets = numbers.map((i) => text.indexOf(`record('${i} `))
      expect(places).toEqual(
        offsets.map((offset) => {
          const before = text.slice(0, offset).split('\n')
          return [before.length, (before.at(-1) ?? '').length + 1, inside]
        }),
      )
      expect(new Set(output?.places.map((place) => place.length))).toEqual(new Set([inside === null ? 1 : 2]))
    })
  }
})

test('a statement that depends on the line before it stays there', async () => {
  const text = `;${statements}\nif (false)\n${statements}\n`
  expect(shortFunctions(text)).toHaveLength(10)
  expect(shortFunctions(`if (false)\n${statements}\n`)).toEqual([])
})

test('arguments of several lines are in no further call', async () => {
  const text = `all(\n  ${list.replaceAll(' x', ' \\\nx')})\n`
  expect(shortFunctions(text)).toHaveLength(10)
  const { output } = await run(text)
  expect(output?.places.filter((place) => place.length !== 1)).toEqual([])
})

test.each([
  ['nope.x', 1, 1],
  ['  nope.x', 1, 3],
  ["\nx = 'ü😀' + nope.x", 2, 13],
  [`'use strict'\n${statements.replace("'250 x", "010 + 'x")}`, 252, 1],
  [`all(${list})\n${calls.join('; ')}; x = 1\n'use strict'; (() => { 'use strict'; return 010 })()\n\n`, 302, 1],
  ["\n  JSON.parse('{')", 2, 8],
])('an error has its place: %#', async (text, line, column) => {
  const { diagnostics } = await run(text)
  expect(diagnostics.map(({ at }) => at)).toEqual([{ file: 'a.js', line, column }])
})
