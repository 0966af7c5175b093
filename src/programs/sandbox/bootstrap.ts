/** The code that runs first in the sandbox. */
import type { SandboxHost } from './sandbox.ts'

/** The functions of the child that it calls. `stack` is that of the call; `from` is empty for the file of the call. */
export interface SandboxNatives {
  /** JSON, or `!` and why it is refused. */
  readonly read: (path: string, from: string, stack: string) => string
  readonly list: (glob: string, from: string, stack: string) => string
  readonly evaluate: (file: string, text: string) => unknown
  readonly hash: (algorithm: string, text: string) => string
  readonly message: (text: string, stack: string) => void
}

export interface Bootstrap {
  readonly host: SandboxHost
  /** Runs the timer that is due next; false if there is none. Throws the error of a promise that nothing handles when all timers have run. */
  readonly runTimer: () => boolean
  /** The stacks of all places, as JSON. */
  readonly stacks: () => string
  /** What a function returns, as JSON. */
  readonly json: (finish: () => unknown) => string
  /** The names that the prelude exports, with commas. */
  readonly names: () => string
  /** The name, message and stack of what a program threw, with U+0001 between them. */
  readonly describe: (thrown: unknown) => string
}

/**
 * Fixes what would make two runs differ, and makes the host of the prelude. Its source is evaluated in the sandbox, so it uses nothing outside itself. A program
 * may replace the functions of the realm, but harms only its own result.
 */
export function bootstrap(natives: SandboxNatives, variables: string, day: string, maxPlaces: number): Bootstrap {
  const global = globalThis as unknown as Record<string, unknown>
  const { parse, stringify } = JSON
  const { defineProperty, freeze } = Object
  const { apply, construct } = Reflect
  const Failure = Error

  defineProperty(Failure, 'prepareStackTrace', { value: undefined, writable: false, configurable: false })
  // Its setter has an effect, a property does not.
  Failure.stackTraceLimit = 24
  defineProperty(Failure, 'stackTraceLimit', { value: 24, writable: false, configurable: false })
  const { captureStackTrace } = Failure
  const stackOf = (): string => `${new Failure().stack}`

  const RealDate = Date
  const fixed = RealDate.parse(day)
  RealDate.now = () => fixed
  const FixedDate = new Proxy(RealDate, {
    construct: (target, values, newTarget) => construct(target, values.length === 0 ? [fixed] : values, newTarget),
    apply: () => `${new RealDate(fixed)}`,
  })
  defineProperty(RealDate.prototype, 'constructor', { value: FixedDate, writable: true, configurable: true })
  global['Date'] = FixedDate
  delete global['performance']
  Math.random = () => {
    throw new Failure('Math.random is not available: the same files must make the same zones')
  }

  interface Timer {
    readonly at: number
    readonly run: () => void
    readonly every: number | null
  }
  const timers = new Map<number, Timer>()
  let [time, lastTimer] = [0, 0]
  const start = (run: unknown, delay: unknown, values: unknown[], repeats: boolean): number => {
    if (typeof run !== 'function') throw new TypeError('the first argument of a timer must be a function')
    const wait = Number(delay) > 0 ? Number(delay) : 0
    lastTimer += 1
    timers.set(lastTimer, { at: time + wait, run: () => run(...values), every: repeats ? wait : null })
    return lastTimer
  }
  const runTimer = (): boolean => {
    let [next, due]: [number, Timer | null] = [0, null]
    for (const [id, timer] of timers) if (due === null || timer.at < due.at) [next, due] = [id, timer]
    if (due === null) return hasPromises()
    time = due.at
    timers.delete(next)
    if (due.every !== null) timers.set(next, { ...due, at: time + due.every })
    due.run()
    return true
  }
  global['setTimeout'] = (run: unknown, delay?: unknown, ...values: unknown[]) => start(run, delay, values, false)
  global['setInterval'] = (run: unknown, delay?: unknown, ...values: unknown[]) => start(run, delay, values, true)
  global['setImmediate'] = (run: unknown, ...values: unknown[]) => start(run, 0, values, false)
  for (const name of ['clearTimeout', 'clearInterval', 'clearImmediate']) global[name] = (id: number) => void timers.delete(id)

  // QuickJS does not tell which promises are rejected. A promise is handled by its `then`, which `catch` and others call.
  const unhandled = new Set<object>()
  const lost: unknown[] = []
  const opened = <T extends object>(promise: T): T => {
    unhandled.add(promise)
    return promise
  }
  const { prototype } = Promise
  const { then } = prototype
  Object.assign(prototype, {
    // biome-ignore lint/suspicious/noThenProperty: the function of the language
    then(this: object, ...handlers: unknown[]) {
      unhandled.delete(this)
      return opened(apply(then, this, handlers))
    },
  })
  global['Promise'] = new Proxy(Promise, { construct: (target, values, newTarget) => opened(construct(target, values, newTarget)) })
  /** Whether promises must settle until all that are rejected are known. */
  const hasPromises = (): boolean => {
    if (lost.length > 0) throw lost[0]
    const some = [...unhandled]
    unhandled.clear()
    for (const one of some) apply(then, one, [undefined, (error: unknown) => void lost.push(error)])
    return some.length > 0
  }

  const textOf = (value: unknown): string => {
    if (typeof value !== 'object' || value === null || value instanceof Failure) return String(value)
    return stringify(value) ?? String(value)
  }
  const log = (...values: unknown[]): void => natives.message(values.map(textOf).join(' '), stackOf())
  global['console'] = { log, info: log, warn: log, error: log, debug: log }

  /** The numbers of the places, by the function of the prelude and the stack from its caller on. */
  const known = new Map<unknown, Map<string, number>>()
  const holder = { stack: '' }
  const stacks: string[] = []
  let calls = 0
  const answer = (text: string): never => {
    if (text[0] === '!') throw new Failure(text.slice(1))
    return parse(text) as never
  }
  const host: SandboxHost = {
    variables: freeze(parse(variables)),
    exports: {},
    place(from, records = 1) {
      calls += records > 1 ? records : 1
      if (calls > maxPlaces) throw new RangeError(`a program makes at most ${maxPlaces} records`)
      const own = from ?? host.place
      captureStackTrace(holder, own)
      const { stack } = holder
      const places = known.get(own) ?? new Map<string, number>()
      const id = places.get(stack) ?? stacks.length
      if (id === stacks.length) {
        known.set(own, places.set(stack, id))
        stacks.push(`    at ${own.name} (native)\n${stack}`)
      }
      return id
    },
    read: (path, from = '') => answer(natives.read(String(path), from, stackOf())),
    list: (glob, from = '') => answer(natives.list(String(glob), from, stackOf())),
    evaluate: (file, text) => natives.evaluate(file, text),
    hash: (algorithm, text) => natives.hash(algorithm, text),
    errorAt(place, message) {
      return defineProperty(new Failure(message), 'stack', { value: stacks[place] ?? '' })
    },
  }
  const describe = (thrown: unknown): string => {
    const isError = thrown instanceof Failure
    const part = (value: unknown): string => `${value}`.slice(0, 10_000)
    return isError
      ? `${part(thrown.name)}\u0001${part(thrown.message)}\u0001${part(thrown.stack)}`
      : `\u0001the program threw ${part(textOf(thrown))}\u0001`
  }
  return {
    host,
    runTimer,
    names: () => Object.keys(host.exports).join(','),
    stacks: () => stringify(stacks),
    json: (finish) => stringify(finish()) ?? 'null',
    describe,
  }
}
