import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { openSandbox } from '../../src/programs/sandbox/run-program.ts'
import type { ProgramLimits, ProgramResult, ProgramRun } from '../../src/programs/sandbox/sandbox.ts'

const sandbox = openSandbox()
afterAll(() => sandbox.close())

/** A language with one function: `record(value)` returns nothing and adds the value. */
const PRELUDE = `(host) => {
  const values = []
  const record = (value) => { values.push([host.place(), value]) }
  Object.assign(globalThis, { record, read: (path) => host.read(path).text, list: (glob) => host.list(glob), variables: host.variables })
  globalThis.require = (path) => { const { file, text } = host.read(path); return host.evaluate(file, text) }
  host.exports = { record }
  return () => values
}`

interface Run {
  readonly files?: Readonly<Record<string, string>>
  readonly language?: ProgramRun['language']
  readonly file?: string
  readonly limits?: Partial<ProgramLimits>
  readonly date?: string
}

function run(text: string, { files = {}, language = 'dnscontrol', file = 'zones/a.js', ...rest }: Run = {}): Promise<ProgramResult> {
  return sandbox.run({
    entry: { file, text },
    language,
    prelude: PRELUDE,
    variables: { site: 'ams' },
    ...rest,
    files: {
      read: (path, from) => {
        const name = new URL(path, `file:///${from}`).pathname.slice(1)
        const found = files[name]
        return found === undefined ? { ok: false, message: `${name} does not exist` } : { ok: true, value: { file: name, text: found } }
      },
      list: async () => ({ ok: true, value: Object.keys(files) }),
    },
  })
}

/** The values that a program made, or `CODE FILE:LINE:COLUMN message`. */
async function outcome(text: string, options?: Run): Promise<unknown> {
  const { output, diagnostics } = await run(text, options)
  const [problem] = diagnostics
  if (problem !== undefined) return `${problem.code} ${problem.at?.file}:${problem.at?.line}:${problem.at?.column} ${problem.message}`
  return ((output?.value ?? []) as [number, unknown][]).map(([, value]) => value)
}

test('records have the calls that made them', async () => {
  const text = 'function add(name) {\n  record(name)\n}\nadd("a"); add("b")\n'
  const { output, filesRead } = await run(text)
  expect(output).toMatchObject({
    value: [
      [0, 'a'],
      [1, 'b'],
    ],
  })
  const call = (line: number, column: number, inside: string | null): object => ({ at: { file: 'zones/a.js', line, column }, inside })
  expect(output?.places).toEqual([
    [call(2, 3, 'add'), call(4, 1, null)],
    [call(2, 3, 'add'), call(4, 11, null)],
  ])
  expect(filesRead).toEqual(['zones/a.js'])
})

test('of a deep call, the innermost 24 are kept, with that of the prelude', async () => {
  const text = 'const f = (n) => {\n  if (n === 0) record(n)\n  else f(n - 1)\n}\nf(18)\nf(30)'
  expect((await run(text)).output?.places.map((calls) => [calls.length, calls.at(-1)?.at.line])).toEqual([
    [20, 5],
    [23, 3],
  ])
})

test('types are stripped, and places stay those of the file', async () => {
  const text = `import { record } from 'zonewright/definition'\nimport { base, type Site } from './lib.js'\nconst add = <T,>(value: T): void => { record(value as T) }\nadd<Site>({ name: base })\n`
  const files = { 'zones/lib.ts': 'export interface Site { name: string }\nexport const base: string = "b"\n' }
  const { output, diagnostics, filesRead } = await run(text, { language: 'definition', file: 'zones/a.ts', files })
  expect(diagnostics).toEqual([])
  expect(output).toMatchObject({ value: [[0, { name: 'b' }]], places: [[{ at: { line: 3, column: 39 } }, { at: { line: 4 } }]] })
  expect(filesRead).toEqual(['zones/a.ts', 'zones/lib.ts'])
})

describe('two runs are the same', () => {
  test.each([
    [
      'record([Date.now(), new Date().getTime(), new Date(5).getTime(), typeof Date(), new Date() instanceof Date])',
      [[0, 0, 5, 'string', true]],
    ],
    ['record(new Date(2020, 0, 1).toISOString())', ['2020-01-01T00:00:00.000Z']],
    ['record(typeof performance + typeof process + typeof require("./x.js") + typeof fetch)', ['undefinedundefinednumberundefined']],
    ['setTimeout(() => record(2), 9e9); setTimeout(() => record(1)); Promise.resolve().then(() => record(0))', [0, 1, 2]],
    ['let n = 0; const id = setInterval(() => { record(n++); if (n === 3) clearInterval(id) }, 1e9)', [0, 1, 2]],
    ['record(variables.site)', ['ams']],
  ])('%s', async (text, expected) => expect(await outcome(text, { files: { 'zones/x.js': '1' } })).toEqual(expected))

  test('the day is given', async () =>
    expect(await outcome('record(new Date().toISOString())', { date: '2026-11-27' })).toEqual(['2026-11-27T00:00:00.000Z']))
})

describe('errors have the line that ran', () => {
  test.each([
    ['\nlet x = ;', /^program-failed zones\/a\.js:2:\d+ SyntaxError/],
    ['function f() {\n  null.x\n}\nf()', /^program-failed zones\/a\.js:2:\d+ TypeError/],
    ['\nthrow "no"', /^program-failed zones\/a\.js:1:1 the program threw no/],
    ['\n Math.random()', /^program-failed zones\/a\.js:2:\d+ Math\.random/],
    ['\n read("../secret")', /^program-failed zones\/a\.js:2:\d+ secret does not exist/],
    ['\n require("./b.js")', /^program-failed zones\/b\.js:3:\d+ ReferenceError/],
    ['\nPromise.resolve().then(() => { throw new Error("late") })\nrecord(1)', /^program-failed zones\/a\.js:2:\d+ late/],
    ['Promise.reject("no").finally(() => 1); record(1)', /^program-failed zones\/a\.js:1:1 the program threw no/],
    ['\nconst f = async () => 1', /^program-failed zones\/a\.js:2:11 async cannot be used/],
  ])('%j', async (text, expected) => expect(await outcome(text, { files: { 'zones/b.js': '\n\nfoo()' } })).toMatch(expected))

  test('a rejection that is handled is none', async () => {
    const text = 'const p = Promise.reject(new Error("x")); setTimeout(() => p.then(() => 1).catch((e) => record(e.message)))'
    expect(await outcome(text)).toEqual(['x'])
  })

  test.each([
    ['\nimport "./no.ts"', /^program-failed zones\/a\.ts:2:8 "\.\/no\.ts" cannot be imported: zones\/no\.ts does not exist/],
    ['\nimport "node:fs"', /^program-failed zones\/a\.ts:2:8 "node:fs" cannot be imported/],
    ['import "./b.ts"', /^program-failed zones\/b\.ts:1:8 "\.\/a\.ts" imports this file/],
    ['import "./c.ts"', /^program-failed zones\/c\.ts:2:\d+ SyntaxError/],
    ['import "./d.ts"', /^program-failed zones\/d\.ts:1:\d+ in d/],
    ['await 1\nthrow new Error("late")', /^program-failed zones\/a\.ts:2:\d+ late/],
    ['\nlet x: = 1', /^program-failed zones\/a\.ts:2:\d+ SyntaxError/],
    ['\nconst f = async () => { throw 1 }', /^program-failed zones\/a\.ts:2:11 async cannot be used/],
    ['\n  new Promise(() => {})', /^program-failed zones\/a\.ts:2:7 Promise cannot be used/],
    ['\n  import("./d.ts").then(() => 1)', /^program-failed zones\/a\.ts:2:3 import cannot be used/],
    ['\nconst o = { async *g() {} }', /^program-failed zones\/a\.ts:2:13 async cannot be used/],
    ['await { then() {} }', /^program-failed zones\/a\.ts:1:1 the program waits for a promise that never settles/],
  ])('%j in a module', async (text, expected) => {
    const files = {
      'zones/a.ts': text,
      'zones/b.ts': 'import "./a.ts"',
      'zones/c.ts': '\nlet = ;',
      'zones/d.ts': 'throw new Error("in d")',
    }
    expect(await outcome(text, { language: 'definition', file: 'zones/a.ts', files })).toMatch(expected)
  })
})

describe('limits', () => {
  const limits = { seconds: 0.5, mebibytes: 32, records: 100 }
  test.each([
    ['\nfor (;;);', /program-limit zones\/a\.js:1:\d+ the program used more than 0.5 s/],
    ['\nfor (;;) try { for (;;); } catch {}', /program-limit zones\/a\.js:1:\d+ the program used more than 0.5 s/],
    ['\n/(a+)+$/.test("a".repeat(40) + "b")', /program-limit zones\/a\.js:2:\d+ the program used more than 0.5 s/],
    ['\nsetInterval(() => {})', /program-limit zones\/a\.js:\d+:\d+ the program used more than 0.5 s/],
    ['const f = () => Promise.resolve().then(f); f()', /program-limit zones\/a\.js:1:\d+ the program used more than 0.5 s/],
    ['\nconst a = []; for (;;) a.push("x".repeat(1e5) + a.length)', /program-limit zones\/a\.js:2:\d+ the program used more than 32 MiB/],
    ['\nnew ArrayBuffer(1e9)', /program-limit zones\/a\.js:2:\d+ the program used more than 32 MiB/],
    ['let f = () => 1; for (;;) f = f.bind(null)', /program-limit zones\/a\.js:1:\d+ the program used more than 32 MiB/],
    ['\nfunction f() { return f() + 1 } f()', /program-limit zones\/a\.js:2:\d+ the calls of the program are nested too deep/],
    ['\nJSON.parse("[".repeat(1e6))', /program-limit zones\/a\.js:2:\d+ the calls of the program are nested too deep/],
    ['\neval("(".repeat(1e5))', /program-limit zones\/a\.js:2:\d+ the calls of the program are nested too deep/],
    [
      'let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {});\np.x',
      /program-limit zones\/a\.js:2:\d+ the calls of the program are nested too deep/,
    ],
    ['\nfor (;;) record(1)', /program-failed zones\/a\.js:2:\d+ RangeError: a program makes at most 100 records/],
  ])('%j', async (text, expected) => expect(await outcome(text, { limits })).toMatch(expected))

  // The call before each loop is in its line: QuickJS may place what ends a loop at the call before it.
  test.each([
    '\nconst a = [].concat(); for (;;) a.push({ a: 1, b: [] })',
    '\nconst a = [].concat(); for (;;) try { a.push([{}]) } catch {}',
  ])('no memory is left for an error: %j', async (text) => {
    expect(await outcome(text, { limits: { mebibytes: 16 } })).toMatch(/program-limit zones\/a\.js:2:\d+ the program used more than 16 MiB/)
  })

  test('a function that never asks whether to go on is killed', { tags: ['long'] }, async () => {
    const text = 'Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 5)'
    expect(await outcome(text, { limits: { seconds: 0.2 } })).toMatch(/program-limit .* the program used more than 0.2 s of processor time/)
    expect(await outcome('record(1)')).toEqual([1])
  })
})

describe('nothing of Node can be reached', () => {
  test.each([
    'Function("return typeof process + typeof globalThis.require + typeof module")()',
    '(() => {}).constructor.constructor("return typeof process + typeof process + typeof process")()',
    'typeof record.constructor("return this")().process + typeof process + typeof Buffer',
    '[typeof Worker, typeof WebAssembly, typeof importScripts].join("")',
  ])('%s', async (code) => expect(await outcome(`delete globalThis.require; record(${code})`)).toEqual(['undefinedundefinedundefined']))

  test.runIf(process.platform === 'linux')('the child has no environment', async () => {
    await outcome('record(1)')
    const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'latin1').split(' ').filter(Boolean)
    const own = children.filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('sandbox-child'))
    expect(own.map((pid) => readFileSync(`/proc/${pid}/environ`, 'latin1'))).toEqual(own.map(() => ''))
    expect(own).not.toEqual([])
  })

  test('the error of a host function leads nowhere', async () => {
    const text = 'try { read("x") } catch (e) { record(e.constructor === Error && e.constructor.constructor === Function) }'
    expect(await outcome(text)).toEqual([true])
  })

  test('a dynamic import follows the rules of an import', async () => {
    const text = 'await import("node:fs").catch((e) => record(String(e)))'
    expect(await outcome(text, { language: 'definition' })).toEqual([expect.stringContaining('"node:fs" cannot be imported')])
  })

  test.each([
    'Object.prototype.toJSON = () => { throw new Error("poison") }; record({})',
    'Array.prototype.push = () => { throw new Error("poison") }; record({})',
    'record({ get a() { throw new Error("poison") } })',
    'record(new Proxy({}, { ownKeys() { throw new Error("poison") } }))',
    'JSON.stringify = 1; Map.prototype.get = () => { throw new Error("poison") }; record(1)',
  ])('%s ends as an error of the program', async (text) =>
    expect(await outcome(text)).toMatch(/^program-failed zones\/a\.js:1:\d+ .*poison/),
  )

  test('a forged stack names no other file', async () => {
    const text = 'const f = { "x (zonewright.yaml:1:1)\\n    at y"() { record(1) } }; f["x (zonewright.yaml:1:1)\\n    at y"]()'
    expect((await run(text)).output?.places.flat().map(({ at }) => at.file)).not.toContain('zonewright.yaml')
  })
})
