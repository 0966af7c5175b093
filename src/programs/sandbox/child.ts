/**
 * The child process with the sandbox. It reads one line of JSON per message from its standard input and writes answers to its standard output, both without an event
 * loop: a program calls functions that ask the parent and wait. Each program gets a new instance of QuickJS, with memory of its own.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
// biome-ignore lint/correctness/noUnresolvedImports: a module of Node.js since 20.12, which Biome does not know
import { getRawAsset, isSea } from 'node:sea'
import variant from '@jitl/quickjs-ng-wasmfile-release-sync'
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSSyncVariant,
} from 'quickjs-emscripten-core'
import { bootstrap } from './bootstrap.ts'
import { ask, readLine, send, writeAll } from './child-io.ts'
import { ProgramTexts } from './program-texts.ts'
import {
  type FromChild,
  PROGRAM_LIMITS,
  type ProgramCall,
  type ProgramFailure,
  type ProgramMessage,
  type ProgramOutput,
  type ToChild,
} from './sandbox.ts'
import { stripTypes } from './strip-types.ts'

/** QuickJS, beside this script or in the single executable. As text in the script it would take Node.js 20 ms to read. */
const WASM = 'emscripten-module.wasm'

/** Octets of a page of WebAssembly memory, and the pages that QuickJS starts with. */
const PAGE = 65_536
const FIRST_PAGES = 256

/** Octets beyond the limit of memory, in which the error of a program that exceeds it is made. */
const RESERVE = 2 ** 24

/** Octets of the stack of QuickJS: about a thousand calls. The parent gives Node enough of its own for them. */
const STACK = 2 ** 17

/** Files of a program, messages of `console` that are kept, and the characters of one. */
const MAX_FILES = 1000
const MAX_MESSAGES = 100
const MAX_MESSAGE = 1000

/** The module that definitions import. Names with a colon are of no file. */
const API = 'zonewright/definition'
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/

/** Seconds that the description of an error may take. */
const DESCRIBE_SECONDS = 0.5

type Run = Extract<ToChild, { readonly run: unknown }>

/** Ends a run. */
class Failure extends Error {
  readonly failure: ProgramFailure
  constructor(kind: ProgramFailure['kind'], message: string, calls: readonly ProgramCall[]) {
    super(message)
    this.failure = { kind, message, calls }
  }
}

/** Node.js has it, its types do not. */
const { compile, Memory } = (globalThis as unknown as { readonly WebAssembly: WasmApi }).WebAssembly

interface WasmApi {
  compile(octets: Uint8Array): Promise<object>
  readonly Memory: new (size: { readonly initial: number; readonly maximum: number }) => { readonly buffer: ArrayBuffer }
}

/** QuickJS with memory of its own, and the bootstrap in it. */
interface Instance {
  readonly runtime: QuickJSRuntime
  readonly vm: QuickJSContext
  readonly mebibytes: number
  /** Whether the memory is used up to the reserve. */
  readonly isFull: () => boolean
  readonly bootstrap: ReturnType<QuickJSContext['evalCode']>
}

async function newInstance(wasmModule: object, mebibytes: number): Promise<Instance> {
  const limit = mebibytes * 2 ** 20
  const maximum = Math.floor((limit + RESERVE) / PAGE)
  const wasmMemory = new Memory({ initial: Math.min(FIRST_PAGES, maximum), maximum })
  const quickjs = await newQuickJSWASMModuleFromVariant(newVariant(variant as unknown as QuickJSSyncVariant, { wasmModule, wasmMemory }))
  const { _malloc, _free } = quickjs['module']
  const isFull = (): boolean => {
    if (wasmMemory.buffer.byteLength < limit) return false
    const reserve = _malloc(RESERVE)
    _free(reserve)
    return (reserve as number) === 0
  }
  const runtime = quickjs.newRuntime({ maxStackSizeBytes: STACK })
  const vm = runtime.newContext()
  return { runtime, vm, mebibytes, isFull, bootstrap: vm.evalCode(`(${bootstrap})`, 'zonewright:bootstrap') }
}

async function main(): Promise<void> {
  process.env['TZ'] = 'UTC'
  const wasmModule = await compile(isSea() ? new Uint8Array(getRawAsset(WASM) as ArrayBuffer) : readFileSync(join(__dirname, WASM)))
  // The first instance is made while the parent reads the program.
  let made: Instance | null = await newInstance(wasmModule, PROGRAM_LIMITS.mebibytes)
  for (let line = readLine(); line !== null; line = readLine()) {
    const message = JSON.parse(line) as Run
    const { mebibytes } = message.limits
    try {
      const instance: Instance = made?.mebibytes === mebibytes ? made : await newInstance(wasmModule, mebibytes)
      made = null
      const program = new Program(instance, message)
      const { json, messages, ...result } = program.result()
      send({ result, messages })
      writeAll(`${json}\n`)
    } catch (error) {
      const failure = error instanceof Failure ? error.failure : failureOfSandbox(error as Error)
      send({ failure })
    }
  }
}

/** Some functions of QuickJS do not measure their stack, so that Node's own ends first. The instance is not used again. */
function failureOfSandbox(error: Error): ProgramFailure {
  const isTooDeep = error instanceof RangeError && /call stack/.test(error.message)
  const message = isTooDeep ? 'the program, or a value in it, is nested too deep' : `the sandbox failed: ${error.message}`
  return { kind: 'limit', message, calls: [] }
}

class Program {
  readonly #instance: Instance
  readonly #vm: QuickJSContext
  readonly #run: Run['run']
  readonly #limits: Run['limits']
  readonly #texts = new ProgramTexts()
  readonly #imports = new Map<string, Set<string>>()
  readonly #messages: ProgramMessage[] = []
  #exports: readonly string[] = []
  /** The processor time at which the run ends, and whether it has. */
  #end: number
  #isOver = false
  /** Whether the end of the memory ended the run. */
  #wasFull = false
  #boot: QuickJSHandle | null = null
  /** The last import that was refused; the error that QuickJS makes of it has no place. */
  #refused: Failure | null = null

  constructor(instance: Instance, { run, limits }: Run) {
    const { runtime, isFull } = instance
    this.#instance = instance
    this.#run = run
    this.#limits = limits
    this.#end = processorSeconds() + limits.seconds
    runtime.setInterruptHandler(() => {
      this.#isOver ||= processorSeconds() > this.#end
      this.#wasFull ||= isFull()
      return this.#isOver || this.#wasFull
    })
    runtime.setModuleLoader(
      (name) => (name === API ? this.#api() : (this.#texts.get(name)?.code ?? { error: this.#refused ?? new Error(name) })),
      (base, name) => this.#resolve(base, name) ?? 'zonewright:refused',
    )
    this.#vm = instance.vm
  }

  result(): Omit<ProgramOutput, 'value'> & { readonly json: string; readonly messages: readonly ProgramMessage[] } {
    const vm = this.#vm
    const { entry, language, prelude, variables, date = '1970-01-01' } = this.#run
    const values = [vm.newString(JSON.stringify(variables)), vm.newString(date), vm.newNumber(this.#limits.records)]
    const boot = this.#value(vm.callFunction(this.#value(this.#instance.bootstrap), vm.undefined, this.#natives(), ...values))
    this.#boot = boot
    const host = vm.getProp(boot, 'host')
    const finish = this.#value(vm.callFunction(this.#value(vm.evalCode(`(${prelude})`, 'zonewright:prelude')), vm.undefined, host))
    vm.setProp(vm.global, ' exports', vm.getProp(host, 'exports'))
    this.#exports = this.#text(boot, 'names').split(',')
    const type = language === 'definition' ? 'module' : 'global'
    const ended = this.#value(vm.evalCode(this.#add(entry.file, entry.text), entry.file, { type }))
    const runTimer = vm.getProp(boot, 'runTimer')
    do {
      const jobs = this.#instance.runtime.executePendingJobs()
      if (jobs.error) throw this.#failure(jobs.error)
    } while (vm.dump(this.#value(vm.callFunction(runTimer, vm.undefined))) === true)
    const state = vm.getPromiseState(ended)
    if (state.type === 'rejected') throw this.#failure(state.error)
    if (state.type === 'pending') throw new Failure('exception', 'the program waits for a promise that never settles', [this.#start()])
    const json = this.#text(boot, 'json', finish)
    const stacks: unknown = JSON.parse(this.#text(boot, 'stacks'))
    const places = (Array.isArray(stacks) ? stacks : []).map((stack) => {
      const calls = this.#texts.calls(String(stack))
      return calls.length === 0 ? [this.#start()] : calls
    })
    return { json, places, messages: this.#messages }
  }

  #text(boot: QuickJSHandle, name: string, ...args: QuickJSHandle[]): string {
    return this.#vm.getString(this.#value(this.#vm.callFunction(this.#vm.getProp(boot, name), this.#vm.undefined, ...args)))
  }

  readonly #start = (): ProgramCall => ({ at: { file: this.#run.entry.file, line: 1, column: 1 }, inside: null })

  #value(result: ReturnType<QuickJSContext['evalCode']>): QuickJSHandle {
    if (result.error) throw this.#failure(result.error)
    return result.value
  }

  /** The failure that an exception of the program means. */
  #failure(thrown: QuickJSHandle): Failure {
    const isOver = this.#isOver
    const isFull = this.#wasFull || this.#instance.isFull()
    // So that the error can be described.
    this.#isOver = false
    this.#wasFull = false
    this.#end = processorSeconds() + DESCRIBE_SECONDS
    const [name, message, stack] = this.#describe(thrown)
    const [first, ...above] = this.#texts.calls(stack)
    const file = first?.at.file ?? ''
    // The place of a syntax error in a file, of which QuickJS has only the line.
    const [, line] = (name === 'SyntaxError' && stack.startsWith(`    at ${file}:`) && /:(\d+):\d+\n/.exec(stack)) || []
    const calls = first === undefined ? [] : [line === undefined ? first : this.#syntaxError(file, Number(line)), ...above]
    const over = (what: string): Failure => new Failure('limit', what, calls)
    if (isOver) return over(`the program used more than ${this.#limits.seconds} s of processor time`)
    // QuickJS throws null if it has no memory for an error.
    if (isFull || (name === 'InternalError' && message === 'out of memory'))
      return over(`the program used more than ${this.#limits.mebibytes} MiB of memory`)
    if (name === 'RangeError' && message === 'Maximum call stack size exceeded') return over('the calls of the program are nested too deep')
    if (this.#refused !== null && message === this.#refused.message) return this.#refused
    return new Failure('exception', name === '' || name === 'Error' ? message : `${name}: ${message}`, calls)
  }

  #syntaxError(file: string, line: number): ProgramCall {
    const parsed = stripTypes(file, this.#texts.get(file)?.text ?? '')
    return { at: !parsed.ok && parsed.at.line === line ? parsed.at : { file, line, column: 1 }, inside: null }
  }

  #describe(thrown: QuickJSHandle): readonly [name: string, message: string, stack: string] {
    const described = this.#boot && this.#vm.callFunction(this.#vm.getProp(this.#boot, 'describe'), this.#vm.undefined, thrown)
    const [name, message, stack] = described && !described.error ? this.#vm.getString(described.value).split('\u0001') : []
    return [name ?? '', message ?? 'the program threw an error that cannot be read', stack ?? '']
  }

  /** Keeps the text of a file, and returns it without types. */
  #add(file: string, text: string): string {
    const known = this.#texts.get(file)
    if (known !== undefined) return known.code
    if (this.#texts.size >= MAX_FILES) throw new Failure('limit', `a program has at most ${MAX_FILES} files`, [])
    const unchanged = { ok: true, value: { text, columnOf: (_line: number, column: number): number => column } } as const
    const stripped = /\.[cm]?ts$/i.test(file) ? stripTypes(file, text) : unchanged
    if (!stripped.ok) throw new Failure('exception', `SyntaxError: ${stripped.message}`, [{ at: stripped.at, inside: null }])
    const code = this.#texts.add(file, stripped.value)
    const promise = promiseIn(stripped.value.text, this.#run.language === 'dnscontrol')
    if (promise !== null) {
      const message = `${promise.word} cannot be used: an error in a promise that nothing awaits would be lost, and its records with it. All functions return at once`
      throw new Failure('exception', message, [{ at: this.#texts.placeOf(file, promise.offset), inside: null }])
    }
    return code
  }

  #natives(): QuickJSHandle {
    const vm = this.#vm
    const natives = vm.newObject()
    const define = (
      name: string,
      native: (a: string, b: string, c: string) => ReturnType<QuickJSContext['evalCode']> | QuickJSHandle,
    ): void => {
      const run = (a: QuickJSHandle, b: QuickJSHandle, c: QuickJSHandle) =>
        native(vm.getString(a), vm.getString(b), c ? vm.getString(c) : '')
      vm.setProp(natives, name, vm.newFunction(name, run))
    }
    const fileOf = (from: string, stack: string): string => from || (this.#texts.calls(stack)[0]?.at.file ?? this.#run.entry.file)
    const answer = (message: FromChild): QuickJSHandle => {
      const answered = ask(message)
      return vm.newString(
        'refused' in answered ? `!${answered.refused}` : JSON.stringify('file' in answered ? answered.file : answered.list),
      )
    }
    define('read', (path, from, stack) => answer({ read: { path, from: fileOf(from, stack) } }))
    define('list', (glob, from, stack) => answer({ list: { glob, from: fileOf(from, stack) } }))
    define('evaluate', (file, text) => vm.evalCode(this.#add(file, text), file, { type: 'global' }))
    define('hash', (algorithm, text) => vm.newString(hashes().createHash(algorithm).update(text).digest('hex')))
    define('message', (text, stack) => {
      const at = (this.#texts.calls(stack)[0] ?? this.#start()).at
      if (this.#messages.length < MAX_MESSAGES) this.#messages.push({ text: text.slice(0, MAX_MESSAGE), at })
      return vm.undefined
    })
    return natives
  }

  /** The file of an import, which is read; null if it is refused. */
  #resolve(base: string, name: string): string | null {
    if (name === API) return API
    const refuse = (message: string): null => {
      this.#refused = new Failure('exception', message, [{ at: this.#texts.importPlace(base, name), inside: null }])
      return null
    }
    if (!/^\.{1,2}\//.test(name))
      return refuse(`${JSON.stringify(name)} cannot be imported: a program imports ${API} and files by relative paths`)
    const [first, ...others] = candidates(name).map((path) => ask({ read: { path, from: base } }))
    const found = [first, ...others].find((answer) => answer !== undefined && 'file' in answer)
    if (found === undefined || !('file' in found))
      return refuse(`${JSON.stringify(name)} cannot be imported: ${first && 'refused' in first ? first.refused : ''}`)
    const { file, text } = found.file
    if (file === base || this.#reaches(file, base))
      return refuse(`${JSON.stringify(name)} imports this file, directly or through others: imports must not form a cycle`)
    this.#imports.set(base, (this.#imports.get(base) ?? new Set()).add(file))
    try {
      this.#add(file, text)
    } catch (error) {
      this.#refused = error as Failure
      return null
    }
    return file
  }

  #reaches(from: string, to: string): boolean {
    const seen = new Set([from])
    for (const file of seen) for (const next of this.#imports.get(file) ?? []) seen.add(next)
    return seen.has(to)
  }

  #api(): string {
    return `const from = globalThis[' exports'];${this.#exports
      .filter((name) => IDENTIFIER.test(name))
      .map((name) => `export const ${name} = from.${name};`)
      .join('')}`
  }
}

/** What makes promises, outside comments and quotes. DNSControl's language has those whose rejection the sandbox sees. */
function promiseIn(text: string, isAsyncOnly: boolean): { readonly word: string; readonly offset: number } | null {
  const parts =
    /\/\/.*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|(?<![.\w$])(?:async(?=\s*(?:function|[([*#]|[\w$]+\s*=>|[\w$]+\s*\())|Promise|(?<!await\s{1,9})import(?=\s*\())\b/g
  for (const { 0: word, index } of text.matchAll(parts))
    if (/^[aPi]/.test(word) && !(isAsyncOnly && word !== 'async')) return { word, offset: index }
  return null
}

/** The paths that an import may mean: as tsc resolves them, `x.js` is also `x.ts`, and a name without an ending is one of either. */
function candidates(name: string): string[] {
  if (/\.[cm]?js$/i.test(name)) return [name, name.replace(/js$/i, 'ts')]
  return /\.[cm]?ts$/i.test(name) ? [name] : [`${name}.ts`, `${name}.js`]
}

/** Loaded only for a program that asks for a digest. */
const hashes = () => process.getBuiltinModule('node:crypto')

function processorSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

void main()
