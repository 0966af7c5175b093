/** Requests to a child process that runs Python code of others, one at a time. The process is started again after it ended. */
import { excerpt } from '../base/text.ts'
import { errorOfProcess } from './bridge-errors.ts'
import { type BridgeProcess, type Message, ProcessError, type ProcessOptions, startBridgeProcess } from './bridge-process.ts'
import { type ProviderCallOptions, ProviderError } from './provider.ts'

export interface SessionOptions {
  /** The provider's name in the config. */
  readonly provider: string
  /** What the process runs, for messages: a class or service. */
  readonly subject: string
  readonly process: ProcessOptions
  /** Milliseconds for one request. */
  readonly timeout: number
  /** What to do about a request that takes longer. */
  readonly timeoutHint: string
  /** The first request, with the options and their secrets. */
  readonly start: Message
  /** The error of a request that was not carried out. `logs` has what was logged as an error meanwhile. */
  readonly errorOf: (what: string, error: Message, logs: readonly string[]) => ProviderError
}

/** A message that the code logged. */
export interface LoggedMessage {
  readonly level: string
  readonly message: string
}

/** What a request returned: its result, the items of its parts, and what was logged. */
export interface Answer {
  readonly ok: Message
  readonly items: readonly unknown[]
  readonly logs: readonly LoggedMessage[]
}

/** Sends a request. `what` names it for messages, `key` its parts, and `changes` says that it changes the zone. Throws `ProviderError`. */
export type Ask = (what: string, request: Message, more?: { readonly key?: string; readonly changes?: boolean }) => Promise<Answer>

export interface BridgeSession {
  /** Starts the process and its code. Returns the response, whose `error` is a problem of the settings. Throws `ProcessError`. */
  start(): Promise<Message>
  /** Runs requests that no other request comes between. */
  inTurn<T>(work: (ask: Ask) => Promise<T>, call?: ProviderCallOptions): Promise<T>
  close(): Promise<void>
}

/** Maximum names and records that are read. */
const MAX_ITEMS = 2_000_000

export function createBridgeSession(session: SessionOptions): BridgeSession {
  const { provider, subject, timeout, errorOf } = session
  let running: BridgeProcess | null = null
  let last: Promise<unknown> = Promise.resolve()

  async function start(signal?: AbortSignal): Promise<Message> {
    running = startBridgeProcess(session.process)
    return running.request({ op: 'start', ...session.start }, { timeout, signal })
  }

  async function started(signal: AbortSignal | undefined): Promise<BridgeProcess> {
    if (running?.isRunning()) return running
    const { error } = await start(signal)
    if (error !== undefined) throw errorOf(`${provider}: starting ${subject}`, error as Message, [])
    return running as unknown as BridgeProcess
  }

  const askWith =
    ({ signal }: ProviderCallOptions): Ask =>
    async (what, request, { key = '', changes = false } = {}) => {
      const items: unknown[] = []
      const logs: LoggedMessage[] = []
      let isSent = false
      try {
        const process = await started(signal)
        isSent = changes
        const response = await process.request(request, {
          timeout,
          signal,
          onPart(part) {
            const more = part[key]
            if ('log' in part) logs.push(loggedMessage(part['log']))
            else if (Array.isArray(more) && items.length < MAX_ITEMS) for (const item of more) items.push(item)
          },
        })
        if (!('error' in response)) return { ok: (response['ok'] ?? {}) as Message, items, logs }
        const errors = logs.filter(({ level }) => level === 'ERROR' || level === 'CRITICAL').map(({ message }) => excerpt(message, 300))
        throw errorOf(`${provider}: ${what}`, (response['error'] ?? {}) as Message, errors)
      } catch (error) {
        throw error instanceof ProcessError ? errorOfProcess(`${provider}: ${what}: ${subject}`, error, isSent, session.timeoutHint) : error
      }
    }

  return {
    start: () => start(),
    inTurn(work, call = {}) {
      const turn = last.then(() => {
        if (call.stop?.aborted || call.signal?.aborted)
          throw new ProviderError('provider-stopped', `${provider}: the run was stopped before the request`, { notSent: true })
        return work(askWith(call))
      })
      last = turn.catch(() => undefined)
      return turn
    },
    async close() {
      await last
      await running?.close()
    },
  }
}

function loggedMessage(value: unknown): LoggedMessage {
  const { level, message } = (value ?? {}) as Message
  return { level: String(level), message: String(message) }
}
