/**
 * The child process that runs a provider class of octoDNS, or a service of dns-lexicon (`python_bridge.py`). One line of JSON per message: requests on its standard input, responses on its
 * standard output. Secrets are in requests only, never among its arguments or in its environment. It ends with its input.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { oneLine } from '../base/diagnostic.ts'
import { excerpt } from '../base/text.ts'
import { embeddedText } from '../files/embedded-text.ts'
import { killGroup } from './run-code.ts'

const PROGRAM = 'python_bridge.py'

/** What the interpreter runs: a file beside this one, or the text in the single executable. */
function programArguments(): string[] {
  const text = embeddedText(PROGRAM)
  return text === null ? [fileURLToPath(new URL(PROGRAM, import.meta.url))] : ['-c', text]
}

/** Maximum octets of a line, and of all lines of one response. */
const MAX_LINE = 16 * 1024 * 1024
const MAX_RESPONSE = 512 * 1024 * 1024
/** Characters of the standard error that are kept, from its end, and of its last line in a message. */
const MAX_ERROR_OUTPUT = 16_384
const SHOWN_ERROR_OUTPUT = 300
/** Milliseconds within which the process ends after its input ended. */
const END_TIMEOUT = 2_000
/** Milliseconds for the rest of its output after it ended, and until it is killed if it does not end itself. */
const PIPE_TIMEOUT = 200

/** One message of the child, by its keys. */
export type Message = Readonly<Record<string, unknown>>

/** `ended`: the process ended, or could not be started. `silent`: it did not respond in time. `garbled`: its output is no response. */
export type ProcessProblem = 'ended' | 'silent' | 'garbled' | 'stopped'

/** The child did not respond. Words that follow the name of the class. */
export class ProcessError extends Error {
  readonly problem: ProcessProblem
  constructor(problem: ProcessProblem, message: string) {
    super(message)
    this.name = 'ProcessError'
    this.problem = problem
  }
}

export interface ProcessOptions {
  /** The interpreter: a path, or a name that is searched for in the PATH of `env`. */
  readonly python: string
  /** The working directory, absolute. */
  readonly folder: string
  /** The whole environment of the process. */
  readonly env: Readonly<Record<string, string>>
  /** Removes secrets from a text. Errors and log messages pass through it before anything shortens them, which could leave a part of a secret. */
  readonly redact: (text: string) => string
}

export interface RequestOptions {
  /** Milliseconds until the process is killed. */
  readonly timeout: number
  /** Kills the process. */
  readonly signal?: AbortSignal | undefined
  /** Called for each message before the last one. */
  readonly onPart?: (part: Message) => void
}

export interface BridgeProcess {
  /** Whether the process runs, so that a request can be sent. */
  isRunning(): boolean
  /** Sends a request and returns its last message, which has `ok` or `error`. Throws `ProcessError`. One at a time. */
  request(request: Message, options: RequestOptions): Promise<Message>
  /** Ends the process. */
  close(): Promise<void>
}

interface Pending {
  readonly id: number
  readonly onPart: ((part: Message) => void) | undefined
  readonly resolve: (message: Message) => void
  readonly reject: (error: ProcessError) => void
}

export function startBridgeProcess({ python, folder, env, redact }: ProcessOptions): BridgeProcess {
  // In a process group of its own it does not get the Ctrl-C of the terminal, and can be killed with its children.
  const child = spawn(python, programArguments(), { cwd: folder, env, stdio: ['pipe', 'pipe', 'pipe'], detached: true })
  let pending: Pending | null = null
  let sent = 0
  let failure: ProcessError | null = null
  let killer: NodeJS.Timeout | undefined
  let errorOutput = ''

  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null
  const fail = (error: ProcessError): void => {
    failure ??= error
    pending?.reject(failure)
    pending = null
    if (hasEnded()) return
    // The end of its input makes the process kill itself and all processes below it, also those that left its group.
    child.stdin.destroy()
    killer ??= setTimeout(() => killGroup(child), PIPE_TIMEOUT)
  }
  const lines = lineReader((line) => {
    const message = parseMessage(line)
    if (message === null || pending === null || message['id'] !== pending.id)
      return fail(new ProcessError('garbled', 'wrote something else than a response'))
    if (!('ok' in message) && !('error' in message)) return pending.onPart?.(withoutSecrets(message, 'log', redact))
    pending.resolve(withoutSecrets(message, 'error', redact))
    pending = null
  })
  child.stdout.on('data', (octets: Buffer) => {
    if (failure === null && !lines.add(octets)) fail(new ProcessError('garbled', 'wrote a response that is too large'))
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errorOutput = (errorOutput + text).slice(-MAX_ERROR_OUTPUT)
  })
  // A process that ended does not read its input.
  child.stdin.on('error', () => undefined)
  const ended = new Promise<void>((resolve) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      fail(new ProcessError('ended', `cannot be started (${error.code ?? error.message})`))
      resolve()
    })
    child.once('exit', (status, signal) => {
      clearTimeout(killer)
      killGroup(child)
      const finish = (): void => {
        clearTimeout(timer)
        const how = signal === null ? `ended with status ${status}` : `was ended by ${signal}`
        fail(new ProcessError('ended', `${how}${lastLine(redact(errorOutput))}`))
        for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
        resolve()
      }
      // Its last lines may still be in the pipes, which a process that left its group may keep open.
      const timer = setTimeout(finish, PIPE_TIMEOUT)
      child.once('close', finish)
    })
  })
  setWaiting(child, false)

  return {
    isRunning: () => failure === null,
    async request(request, { timeout, signal, onPart }) {
      if (failure !== null) throw failure
      if (signal?.aborted) throw new ProcessError('stopped', 'was not asked, because the run was stopped')
      const id = ++sent
      setWaiting(child, true)
      lines.reset()
      const timer = setTimeout(() => fail(new ProcessError('silent', `did not respond within ${timeout / 1000} s`)), timeout)
      const onAbort = (): void => fail(new ProcessError('stopped', 'was stopped with the run'))
      signal?.addEventListener('abort', onAbort, { once: true })
      try {
        return await new Promise<Message>((resolve, reject) => {
          pending = { id, onPart, resolve, reject }
          child.stdin.write(`${JSON.stringify({ ...request, id })}\n`)
        })
      } finally {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
        setWaiting(child, false)
      }
    },
    async close() {
      if (hasEnded()) return
      setWaiting(child, true)
      child.stdin.end()
      const timer = setTimeout(() => killGroup(child), END_TIMEOUT)
      await ended
      clearTimeout(timer)
    },
  }
}

/** What a process and its pipes have in common. */
interface Handle {
  ref(): unknown
  unref(): unknown
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>

/** Whether this program stays alive for the child: only during a request. */
function setWaiting(child: Child, isWaiting: boolean): void {
  for (const one of [child, child.stdin, child.stdout, child.stderr] as unknown as readonly Handle[]) {
    if (isWaiting) one.ref()
    else one.unref()
  }
}

/** Splits octets into lines. `add` returns false if a line or the response is too large. */
function lineReader(onLine: (line: string) => void): { add(octets: Buffer): boolean; reset(): void } {
  let parts: Buffer[] = []
  let length = 0
  let total = 0
  return {
    add(octets) {
      total += octets.length
      let rest = octets
      for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
        if (length + end > MAX_LINE) return false
        const line = Buffer.concat([...parts, rest.subarray(0, end)])
        parts = []
        length = 0
        rest = rest.subarray(end + 1)
        onLine(line.toString('utf8'))
      }
      parts.push(rest)
      length += rest.length
      return length <= MAX_LINE && total <= MAX_RESPONSE
    },
    reset() {
      total = 0
    },
  }
}

function parseMessage(line: string): Message | null {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Message) : null
  } catch {
    return null
  }
}

/** The message with the texts of one of its values redacted. */
function withoutSecrets(message: Message, key: 'error' | 'log', redact: (text: string) => string): Message {
  const value = message[key]
  if (typeof value !== 'object' || value === null) return message
  const clean = (one: unknown): unknown => (typeof one === 'string' ? redact(one) : Array.isArray(one) ? one.map(clean) : one)
  return { ...message, [key]: Object.fromEntries(Object.entries(value).map(([name, one]) => [name, clean(one)])) }
}

function lastLine(output: string): string {
  const line = output.trim().split('\n').at(-1) ?? ''
  return line === '' ? '' : `: ${excerpt(oneLine(line), SHOWN_ERROR_OUTPUT)}`
}
