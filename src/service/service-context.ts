/** The shared parts of a running service (clock, database, log, secrets), and the order in which a service stops. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DomainName } from '../dns/domain-name.ts'
import type { NameServer } from './nameserver/name-server.ts'
import type { Log } from './observability/log.ts'
import { type Metrics, type Observability, startObservability } from './observability/observability.ts'
import { DEFAULT_NS_NAMES, parseNsNames, parsePublicUrl, type ServiceOptions } from './options.ts'
import { NO_SECRETS, prepareSecrets } from './secrets/prepare-secrets.ts'
import type { Secrets } from './secrets/secrets.ts'
import type { Origin } from './store/audit.ts'
import { type Connection, type Database, isDiskFull } from './store/database.ts'
import type { WarnAboutMode } from './store/private-files.ts'
import { createTimers, formatTimestamp, type Timers } from './time.ts'

/** The shared parts of a running service. */
export interface ServiceContext {
  readonly options: ServiceOptions
  /** The names of the service's name servers, primary first. */
  readonly nsNames: readonly DomainName[]
  /** The origin of the public URL; null without one. */
  readonly publicOrigin: string | null
  readonly timers: Timers
  /** Milliseconds of the service's clock. */
  readonly clock: () => number
  /** The time of the service's clock in the API's form. */
  readonly now: () => string
  /** Real time in milliseconds since 1970. */
  readonly realClock: () => number
  readonly observability: Observability
  readonly log: Log
  readonly metrics: Metrics
  readonly database: Database
  /** Ends the start. Throws if the disk was full and what the start wrote must be stored. */
  readonly started: (mustBeStored: boolean) => void
  readonly secrets: Secrets
  /** Reports an internal error. */
  readonly onError: (error: unknown) => void
  /** Sets the source of the number of served zones and of the query counts. */
  readonly setNameServer: (nameServer: CountingServer) => void
}

type CountingServer = Pick<NameServer, 'zoneCount' | 'countedQueries'>

/** Starts the shared parts: clock, observability, database and secrets. */
export async function openContext(options: ServiceOptions, shutdown: Shutdown): Promise<ServiceContext> {
  const realClock = options.clock ?? Date.now
  const timers = createTimers({ clock: realClock, speed: options.clockSpeed ?? 1 })
  const publicOrigin = parsePublicUrl(options.publicUrl ?? null)
  const nsNames = parseNsNames(options.nsNames ?? DEFAULT_NS_NAMES)
  shutdown.add(timers.close)
  let nameServer: CountingServer = { zoneCount: () => 0, countedQueries: () => null }
  const observability = await startObservability({
    address: options.observability ?? null,
    log: options.log ?? null,
    zones: () => nameServer.zoneCount(),
    usage: (zone) => nameServer.countedQueries(zone),
  })
  shutdown.add(observability.close)
  const { log, metrics } = observability
  const onError = (error: unknown): void => {
    metrics.problem()
    log.error({ error }, 'internal error')
    options.onError?.(error)
  }
  const opened = await openDatabase({ url: options.database ?? null, folder: options.dataFolder, onError, warn: log.warn })
  const { database, started } = tolerateFullDisk(opened, log)
  shutdown.add(database.close)
  shutdown.onTimeout(database.abandon)
  const secrets = await openSecrets(options, database, log)
  return {
    options,
    nsNames,
    publicOrigin,
    timers,
    clock: timers.now,
    now: () => formatTimestamp(timers.now()),
    realClock,
    observability,
    log,
    metrics,
    database,
    started,
    secrets,
    onError,
    setNameServer: (server) => {
      nameServer = server
    },
  }
}

/** Lets a service start on a full disk, so that existing data is read and served: until `started`, a write that cannot be committed counts as done. */
function tolerateFullDisk(database: Database, log: Log) {
  let isStarting = true
  let problem: unknown = null
  const write = async <T>(work: (connection: Connection) => Promise<T>, origin?: Origin): Promise<T> => {
    const done: { readonly value: T }[] = []
    try {
      return await database.write(async (connection) => {
        const value = await work(connection)
        done[0] = { value }
        return value
      }, origin)
    } catch (error) {
      const [last] = done
      if (!isStarting || last === undefined || !isDiskFull(error)) throw error
      if (problem === null) log.error({ error }, 'the disk is full: data is read and served, and changes fail until there is space')
      problem ??= error
      return last.value
    }
  }
  const started = (mustBeStored: boolean): void => {
    if (mustBeStored && problem !== null) throw problem
    isStarting = false
  }
  return { database: { ...database, write }, started }
}

/** A process that only runs a name server on PostgreSQL does not need a key, and is safer without one. */
async function openSecrets({ secretsKey = null, listen }: ServiceOptions, database: Database, log: Log): Promise<Secrets> {
  const isKeyless = secretsKey === null && listen === null && database.otherProcesses !== null
  return isKeyless ? NO_SECRETS : prepareSecrets({ database, given: secretsKey, log })
}

/** Stops the parts of a service in the reverse order of their start. */
export interface Shutdown {
  add(stop: () => unknown): void
  /** Called if stopping takes too long. */
  onTimeout(action: () => void): void
  run(): Promise<void>
}

/** Milliseconds until a shutdown no longer waits for the database. Committed but unrendered changes are rendered at the next start. */
const STOP_TIMEOUT = 15_000

export function createShutdown(): Shutdown {
  const stops: (() => unknown)[] = []
  let timeoutAction = (): void => undefined
  return {
    add: (stop) => void stops.push(stop),
    onTimeout: (action) => {
      timeoutAction = action
    },
    run: async () => {
      const timer = setTimeout(() => timeoutAction(), STOP_TIMEOUT)
      while (stops.length > 0) await stops.pop()?.()
      clearTimeout(timer)
    },
  }
}

interface DatabasePlace {
  /** The URL of a PostgreSQL database; null for SQLite. */
  readonly url: string | null
  /** The folder of the SQLite database; null for a temporary one. */
  readonly folder: string | null
  /** Called with background errors, from which the database recovers on its own. */
  readonly onError: (error: unknown) => void
  /** Called for each file and folder that other users could read. */
  readonly warn?: WarnAboutMode
}

/** Opens the database and creates it if necessary. Loads only the driver that is used. */
export async function openDatabase({ url, folder, onError, warn }: DatabasePlace): Promise<Database> {
  if (url !== null) {
    const { openPostgres } = await import('./store/postgres/open-postgres.ts')
    return openPostgres({ url, onError })
  }
  const { openSqlite } = await import('./store/sqlite/open-sqlite.ts')
  if (folder !== null) return openSqlite(folder, warn)
  const temporary = await mkdtemp(join(tmpdir(), 'zonewright-'))
  const remove = () => rm(temporary, { recursive: true, force: true })
  try {
    const database = await openSqlite(temporary, warn)
    return { ...database, close: () => database.close().finally(remove) }
  } catch (error) {
    await remove()
    throw error
  }
}
