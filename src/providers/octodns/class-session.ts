/** Requests to a provider class, one at a time, in a child process that is started again after it ended. */
import { excerpt } from '../../base/text.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { relativeName } from '../../dns/domain-name.ts'
import { type ProviderCallOptions, ProviderError } from '../provider.ts'
import { type BridgeProcess, type Message, ProcessError, type ProcessOptions, startBridgeProcess } from './bridge-process.ts'
import { errorOfProcess, errorOfResponse } from './class-errors.ts'
import { type ClassZone, readClassRecords, UnreadableRecord } from './read-records.ts'

export interface SessionOptions {
  /** The provider's name in the config. */
  readonly provider: string
  readonly className: string
  readonly process: ProcessOptions
  /** Milliseconds for one request. */
  readonly timeout: number
  /** The options of the class, with their secrets. */
  readonly options: unknown
}

/** One RRset to store, as the class takes it; `data` is null for one to delete. */
export interface ClassChange {
  readonly name: DomainName
  readonly type: string
  readonly data: object | null
}

/** A message that the class logged. */
export interface LoggedMessage {
  readonly level: string
  readonly message: string
}

/** What a request returned. */
interface Answer {
  readonly ok: Message
  readonly logs: readonly LoggedMessage[]
}

/** The requests of one turn. Throw `ProviderError`. */
export interface ClassTurn {
  list(): Promise<readonly string[]>
  read(zone: DomainName, rules: { readonly servesApexNs: boolean }): Promise<ClassZone & { readonly logs: readonly LoggedMessage[] }>
  /** Changes a zone that was read in the same turn. */
  apply(zone: DomainName, changes: readonly ClassChange[]): Promise<readonly LoggedMessage[]>
}

export interface ClassSession {
  /** Starts the process, and creates the class. Returns the response, whose `error` is a problem of the settings. Throws `ProcessError`. */
  start(): Promise<Message>
  /** Runs requests that no other request comes between. */
  inTurn<T>(work: (turn: ClassTurn) => Promise<T>, call?: ProviderCallOptions): Promise<T>
  close(): Promise<void>
}

/** Maximum names and records that are read. */
const MAX_ITEMS = 2_000_000

export function createClassSession(session: SessionOptions): ClassSession {
  const { provider, className, timeout } = session
  let running: BridgeProcess | null = null
  let last: Promise<unknown> = Promise.resolve()

  async function start(signal?: AbortSignal): Promise<Message> {
    running = startBridgeProcess(session.process)
    return running.request({ op: 'start', class: className, name: provider, options: session.options }, { timeout, signal })
  }

  async function started(signal: AbortSignal | undefined): Promise<BridgeProcess> {
    if (running?.isRunning()) return running
    const { error } = await start(signal)
    if (error !== undefined) throw errorOfResponse(`${provider}: starting ${className}`, error as Message, [])
    return running as unknown as BridgeProcess
  }

  /** Sends a request to the process, which is started again if it has ended. */
  async function ask(
    what: string,
    request: Message,
    { signal }: ProviderCallOptions,
    onPart: (part: Message) => void = () => undefined,
  ): Promise<Answer> {
    const logs: LoggedMessage[] = []
    const changes = request['op'] === 'apply'
    let isSent = false
    try {
      const process = await started(signal)
      isSent = changes
      const response = await process.request(request, {
        timeout,
        signal,
        onPart: (part) => ('log' in part ? logs.push(loggedMessage(part['log'])) : onPart(part)),
      })
      if (!('error' in response)) return { ok: (response['ok'] ?? {}) as Message, logs }
      const errors = logs.filter(({ level }) => level === 'ERROR' || level === 'CRITICAL').map(({ message }) => excerpt(message, 300))
      throw errorOfResponse(`${provider}: ${what}`, (response['error'] ?? {}) as Message, errors)
    } catch (error) {
      throw error instanceof ProcessError ? errorOfProcess(`${provider}: ${what}`, className, error, isSent) : error
    }
  }

  function turnOf(call: ProviderCallOptions): ClassTurn {
    const many = async (what: string, request: Message, key: string): Promise<Answer & { readonly items: readonly unknown[] }> => {
      const items: unknown[] = []
      const answer = await ask(what, request, call, (part) => {
        const more = part[key]
        if (Array.isArray(more) && items.length < MAX_ITEMS) for (const item of more) items.push(item)
      })
      return { ...answer, items }
    }
    return {
      list: async () => (await many('listing zones', { op: 'list' }, 'zones')).items.map(String),
      async read(zone, rules) {
        const { ok, items, logs } = await many(`reading ${zone}`, { op: 'read', zone }, 'records')
        try {
          return { exists: ok['exists'] === true, ...readClassRecords(items, zone, { ...rules, redact: session.process.redact }), logs }
        } catch (error) {
          if (!(error instanceof UnreadableRecord)) throw error
          throw new ProviderError('provider-garbled', `${provider}: reading ${zone}: ${className} returned ${error.message}`)
        }
      },
      async apply(zone, changes) {
        const named = changes.map(({ name, type, data }) => ({ name: relativeName(name, zone), type, data }))
        return (await ask(`updating ${zone}`, { op: 'apply', zone, changes: named }, call)).logs
      },
    }
  }

  return {
    start: () => start(),
    inTurn(work, call = {}) {
      const turn = last.then(() => {
        if (call.stop?.aborted || call.signal?.aborted)
          throw new ProviderError('provider-stopped', `${provider}: the run was stopped before the request`, { notSent: true })
        return work(turnOf(call))
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
