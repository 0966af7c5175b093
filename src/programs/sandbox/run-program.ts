/** Runs programs in the sandbox, a child process without an environment. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
// biome-ignore lint/correctness/noUnresolvedImports: a module of Node.js since 20.12, which Biome does not know
import { isSea } from 'node:sea'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { compareText } from '../../base/text.ts'
import type {
  FromChild,
  ProgramFailure,
  ProgramLimits,
  ProgramMessage,
  ProgramOutput,
  ProgramResult,
  ProgramRun,
  ToChild,
} from './sandbox.ts'
import { PROGRAM_LIMITS } from './sandbox.ts'

export interface Sandbox {
  /** Starts the child process, unless it runs. */
  start(): void
  /** Runs a program. Several run one after another. */
  run(program: ProgramRun): Promise<ProgramResult>
  /** Ends the child process. */
  close(): void
}

const CHILD = 'sandbox-child.cjs'

/** The word that makes the single executable run the child. `BASELINE` follows. */
const EXECUTABLE_WORD = '--zonewright-sandbox'

/**
 * KiB of Node's stack, which must exceed what QuickJS uses before it reaches its own limit, and be well below the 8 MiB of a main thread; and no threads, each of which
 * has memory. V8 takes these only when it starts.
 */
const AT_START = ['--stack-size=3900', '--single-threaded']

/**
 * Without V8's optimizing compiler for WebAssembly, which takes more time than the run of a program that ends within a second; and functions are checked when they are
 * first called.
 */
const BASELINE = ['--liftoff-only', '--wasm-lazy-validation']

/**
 * Starts a process with a limit of 15 minutes of processor time, for all programs of a run. If this process is killed, nothing else ends a child in a function of
 * QuickJS that does not ask whether to go on.
 */
const SHELL = '/bin/sh'
const WITH_LIMIT = ['-c', 'ulimit -t 900; unset PWD; exec "$0" "$@"']

/** Milliseconds between two looks at a program that runs for long, and what it may use beyond its limit until it is killed. */
const LOOK = 500
const GRACE_SECONDS = 1

/** How much slower than its processor time a program may run where the system does not say that time. */
const SLOW = 6

/** Octets of a line from the child. The value of a program is at most as large as its memory. */
const MAX_LINE = 512 * 2 ** 20

type Child = ChildProcessByStdio<Writable, Readable, null>

/** Creates a sandbox. Its child process starts with the first program at the latest. */
export function openSandbox(): Sandbox {
  let child: Child | null = null
  let last: Promise<unknown> = Promise.resolve()
  const start = (): Child => {
    if (child === null || child.stdout.readableEnded || child.stdout.destroyed) child = startChild()
    return child
  }
  return {
    start,
    run(program) {
      const result = last.then(() => runIn(start(), program))
      last = result.catch(() => undefined)
      return result
    },
    close() {
      child?.kill('SIGKILL')
      child = null
    },
  }
}

/** That of this process. */
export const SANDBOX = openSandbox()

function startChild(): Child {
  const beside = new URL(CHILD, import.meta.url)
  const file = fileURLToPath(isSea() || existsSync(beside) ? beside : new URL(`../../../generated/${CHILD}`, import.meta.url))
  const command = [process.execPath, ...(isSea() ? [EXECUTABLE_WORD, ...BASELINE] : [...AT_START, ...BASELINE, file])]
  const [program = '', ...args] = existsSync(SHELL) ? [SHELL, ...WITH_LIMIT, ...command] : command
  const child = spawn(program, args, {
    cwd: '/',
    env: {},
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  // A child that ended does not read its input.
  child.stdin.on('error', () => undefined)
  setWaiting(child, false)
  return child
}

/** Whether this process stays alive for the child: only while a program runs. */
function setWaiting(child: Child, isWaiting: boolean): void {
  for (const one of [child, child.stdin, child.stdout] as unknown as readonly Pick<Child, 'ref' | 'unref'>[]) {
    if (isWaiting) one.ref()
    else one.unref()
  }
}

async function runIn(child: Child, { files, ...run }: ProgramRun): Promise<ProgramResult> {
  const limits = { ...PROGRAM_LIMITS, ...run.limits }
  const filesRead = new Set([run.entry.file])
  const messages = linesOf(child.stdout)
  const write = (message: ToChild): void => void child.stdin.write(`${JSON.stringify(message)}\n`)
  const watch = watchTime(child, limits)
  const finished = (diagnostics: readonly Diagnostic[], output: ProgramOutput | null): ProgramResult => ({
    output,
    diagnostics,
    filesRead: [...filesRead].sort(compareText),
  })
  setWaiting(child, true)
  try {
    write({ run, limits })
    for (;;) {
      const line = await messages.next()
      if (line === null) {
        const message = watch.isOver()
          ? `the program used more than ${limits.seconds} s of processor time in one call of a function of the language`
          : 'the sandbox ended unexpectedly: the program may need more memory than the machine has'
        return finished([failed({ kind: 'limit', message, calls: [] }, run)], null)
      }
      const message = JSON.parse(line) as FromChild
      if ('read' in message) {
        const read = files.read(message.read.path, message.read.from)
        if (read.ok) filesRead.add(read.value.file)
        write(read.ok ? { file: read.value } : { refused: read.message })
      } else if ('list' in message) {
        const listed = await files.list(message.list.glob, message.list.from)
        write(listed.ok ? { list: listed.value } : { refused: listed.message })
      } else if ('failure' in message) return finished([failed(message.failure, run)], null)
      else {
        const value: unknown = JSON.parse((await messages.next()) ?? 'null')
        return finished(message.messages.map(notice), { ...message.result, value })
      }
    }
  } finally {
    watch.stop()
    messages.stop()
    setWaiting(child, false)
  }
}

/** The error of a program, at the call that failed; the calls above it are related places. */
function failed({ kind, message, calls: [first, ...above] }: ProgramFailure, { entry }: Pick<ProgramRun, 'entry'>): Diagnostic {
  return {
    severity: 'error',
    code: kind === 'limit' ? 'program-limit' : 'program-failed',
    message,
    at: first?.at ?? { file: entry.file, line: 1, column: 1 },
    ...(above.length > 0 && {
      related: above.map(({ at, inside }) => ({ message: inside === null ? 'called here' : `called in ${inside}`, at })),
    }),
  }
}

const notice = ({ text, at }: ProgramMessage): Diagnostic => ({ severity: 'notice', code: 'program-message', message: text, at })

/** Kills the child if it uses more processor time than the program may: some functions of QuickJS do not ask whether to go on. */
function watchTime(child: Child, { seconds }: ProgramLimits): { isOver(): boolean; stop(): void } {
  const began = performance.now()
  const before = processorSeconds(child.pid) ?? 0
  let isOver = false
  const timer = setInterval(() => {
    const waited = (performance.now() - began) / 1000
    if (waited < seconds) return
    const used = (processorSeconds(child.pid) ?? waited / SLOW) - before
    if (used < seconds + GRACE_SECONDS) return
    isOver = true
    child.kill('SIGKILL')
  }, LOOK)
  return { isOver: () => isOver, stop: () => clearInterval(timer) }
}

/** The processor time of a process on Linux, as /proc/PID/stat has it (proc(5), fields 14 and 15, in hundredths of a second); null elsewhere. */
function processorSeconds(pid: number | undefined): number | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ')
    return (Number(fields[11]) + Number(fields[12])) / 100
  } catch {
    return null
  }
}

/** The lines of a stream, one after another; null at its end. */
function linesOf(stream: Readable): { next(): Promise<string | null>; stop(): void } {
  const lines: string[] = []
  let parts: Buffer[] = []
  let length = 0
  let hasEnded = stream.readableEnded || stream.destroyed
  let wake = (): void => undefined
  const onData = (octets: Buffer): void => {
    let rest = octets
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      lines.push(Buffer.concat([...parts, rest.subarray(0, end)]).toString('utf8'))
      parts = []
      length = 0
      rest = rest.subarray(end + 1)
    }
    parts.push(rest)
    length += rest.length
    if (length > MAX_LINE) stream.destroy()
    wake()
  }
  const onEnd = (): void => {
    hasEnded = true
    wake()
  }
  stream.on('data', onData).once('end', onEnd).once('close', onEnd)
  return {
    async next() {
      while (lines.length === 0 && !hasEnded) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      return lines.shift() ?? null
    },
    stop: () => void stream.off('data', onData).off('end', onEnd).off('close', onEnd),
  }
}
