import { Server as TlsServer } from 'node:tls'
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import type { DomainName } from '../model/domain-name.ts'
import { parseDomainName } from '../model/domain-name.ts'
import { type Certificate, checkCertificate, createHttpApp, MIN_TLS } from './api/http-app.ts'
import { PARTS } from './api/parts.ts'
import { createRateLimiter, DEFAULT_RATE_LIMITS, type RateLimits } from './api/rate-limit.ts'
import type { Limits } from './api/route.ts'
import { clockText } from './clock-text.ts'
import { prepareUsers } from './first-start.ts'
import { type NameServer, type NameServerLimits, startNameServer } from './nameserver/name-server.ts'
import type { NotifyOutcome } from './nameserver/notifier.ts'
import type { Log, LogOptions } from './operations/log.ts'
import type { Metrics } from './operations/metrics.ts'
import { startOperations } from './operations/operations.ts'
import type { Seed } from './seed/seed.ts'
import { openDatabase } from './store/open-database.ts'
import { createTimers } from './timers.ts'
import { readPeerRules } from './transfers/peer.ts'
import type { TransferLimits } from './transfers/transfer-zone.ts'
import { createTransfers, type Transfers } from './transfers/transfers.ts'
import { createZoneRenderer } from './zone/zone-renderer.ts'

export interface ServiceOptions {
  /** Where the service keeps its data; null for a place that is gone when it stops. */
  readonly dataDirectory: string | null
  /** The URL of a PostgreSQL database to use instead of a directory; several processes may use one. */
  readonly database?: string | null
  /** Where HTTP is served; port 0 takes a free one; null for nowhere, as in a process that is a name server only. */
  readonly listen: Address | null
  /** Where DNS is served, over UDP and TCP; null for nowhere. */
  readonly dns: Address | null
  /** Names of the service's name servers, the primary first; one at least. */
  readonly nsNames?: readonly string[]
  /** A token of the administrator. Without it the first start makes one. */
  readonly bootstrapToken?: string | null
  /** Accounts, users and domains to make where they are not there yet; `readSeed` makes it from a file. */
  readonly seed?: Seed | null
  /** Real time in milliseconds since 1970. */
  readonly clock?: () => number
  /** How many times as fast as real time the service's time passes; for tests. */
  readonly clockSpeed?: number
  /** The port of the name servers that zones are transferred from, and that are notified; 53 unless given. */
  readonly peerPort?: number
  /** The addresses that the service transfers zones to: connections are made from those of them that the machine has. */
  readonly transferAddresses?: readonly string[]
  /** Transfers zones only from addresses of the public Internet: for users who are not trusted with the service's own network. */
  readonly publicPeersOnly?: boolean
  readonly transferLimits?: Partial<TransferLimits>
  /** What the name server bears. */
  readonly nameServerLimits?: Partial<NameServerLimits>
  readonly limits?: Partial<Limits>
  /** HTTP connections at most; what comes beyond is closed at once. */
  readonly maxConnections?: number
  /** How many requests one caller may make; unless given, only requests with invalid tokens are limited. */
  readonly rateLimits?: Partial<RateLimits>
  /** For HTTP over TLS; null for HTTP without it. */
  readonly tls?: Certificate | null
  /** Where `/metrics` and `/healthz` are served, apart from the interface; null for nowhere. */
  readonly operations?: Address | null
  /** A structured log of requests and events; null for none. */
  readonly log?: LogOptions | null
  /** Told of what goes wrong inside; a request it concerns is answered by 500. */
  readonly onError?: (error: unknown) => void
}

export type { Certificate } from './api/http-app.ts'
export { requestsPerMinute } from './api/rate-limit.ts'
export { backUpService, restoreService, type StorePlace } from './backup.ts'
export type { LogLevel } from './operations/log.ts'
export { readSeed } from './seed/read-seed.ts'
export type { Seed } from './seed/seed.ts'

export interface Address {
  readonly host: string
  readonly port: number
}

export interface RunningService {
  /** With the version segment: `http://127.0.0.1:8080/v4`; empty where HTTP is not served. */
  readonly baseUrl: string
  readonly dnsAddress: Address | null
  /** Where `/metrics` and `/healthz` are: `http://127.0.0.1:9353`; null where they are not served. */
  readonly operationsUrl: string | null
  /** The administrator's token in clear: the one given, or the one made at the first start; null at later starts. */
  readonly token: string | null
  /** Resolves when every committed change is rendered and served. */
  flush(): Promise<void>
  /** Uses another certificate for connections made from now on. Throws if it cannot be used, or if the service speaks without TLS. */
  useCertificate(certificate: Certificate): void
  /** Finishes what is under way, then stops. */
  stop(): Promise<void>
}

/** Under a name that is reserved for tests (RFC 2606): an installation has its own. */
export const DEFAULT_NS_NAMES = [1, 2, 3, 4, 5].map((number) => `ns${number}.zonewright.test`)

export const DEFAULT_LIMITS: Limits = { recordsPerDomain: 12_000 }

/**
 * Starts the service. Every zone is rendered and answered for when it resolves. Rejects if the data directory is in use, an
 * address cannot be had, or an option is not valid.
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const timers = createTimers({ clock: options.clock ?? Date.now, speed: options.clockSpeed ?? 1 })
  const clock = timers.now
  const nsNames = readNsNames(options.nsNames ?? DEFAULT_NS_NAMES)
  /** What stops the parts that run, the last started first. */
  const stops: (() => Promise<unknown>)[] = [async () => timers.close()]
  let abandon = (): void => undefined
  const stop = async (): Promise<void> => {
    const late = setTimeout(() => abandon(), STOP_PATIENCE)
    while (stops.length > 0) await stops.pop()?.()
    clearTimeout(late)
  }
  try {
    let nameServer: NameServer | null = null
    const zones = (): number => nameServer?.zoneCount() ?? 0
    const operations = await startOperations({ address: options.operations ?? null, log: options.log ?? null, zones })
    stops.push(() => operations.close())
    const { log, metrics } = operations
    const onError = (error: unknown): void => {
      metrics.fault()
      log.error({ error }, 'fault inside the service')
      options.onError?.(error)
    }
    const database = await openDatabase({ url: options.database ?? null, directory: options.dataDirectory, onError })
    abandon = database.abandon
    stops.push(() => database.close())
    const now = (): string => clockText(clock())

    const { peerPort: port = 53, publicPeersOnly: publicOnly = false, transferAddresses: localAddresses = [] } = options
    let transfers: Transfers | null = null
    nameServer =
      options.dns &&
      (await startNameServer({
        ...options.dns,
        limits: options.nameServerLimits ?? {},
        peerPort: port,
        onAnswer: metrics.query,
        onNotify: (zone, address) => transfers?.notify(zone, address) ?? null,
        onNotified: (outcome) => logNotified(log, outcome),
        onError,
      }))
    if (nameServer) stops.push(nameServer.close)
    const onOverruled = (others: readonly DomainName[] | null): void =>
      log.warn({ nsNames: others }, others === null ? 'zones are rendered by another version' : 'name servers are those of a later start')
    const renderer = createZoneRenderer({ database, nsNames, clock, onOverruled, onError, ...publisherOf(nameServer, metrics) })
    stops.push(() => renderer.close())
    await renderer.start()

    const rules = readPeerRules({ port, publicOnly, localAddresses })
    transfers = createTransfers({
      database,
      timers,
      rules,
      limits: options.transferLimits ?? {},
      log,
      zoneChanged: renderer.changed,
      onError,
    })
    stops.push(() => transfers.close())

    const limits = { ...DEFAULT_LIMITS, ...options.limits }
    const limiter = createRateLimiter({ ...DEFAULT_RATE_LIMITS, ...options.rateLimits }, clock)
    const service = { database, now, limits, limiter, zoneChanged: renderer.changed, nsNames, transfers }
    const app = await createHttpApp({ service, parts: PARTS, tls: options.tls ?? null, log, metrics, onError })
    app.server.maxConnections = options.maxConnections ?? MAX_CONNECTIONS
    stops.push(() => closeApp(app))
    const baseUrl = options.listen === null ? '' : `${await app.listen(options.listen)}/v4`
    // Last, since a token made here can be told only once: a start that fails must not have made one, nor one that nobody can use it with.
    const prepared = options.listen && (await prepareUsers(database, options.bootstrapToken ?? null, options.seed ?? null, now()))
    for (const domain of prepared?.domains ?? []) renderer.changed(domain)
    await transfers.start()
    operations.started({ database: () => database.read((connection) => sql`select 1`.execute(connection)) })
    stops.push(async () => operations.stopping())
    const dnsAddress = nameServer?.address ?? null
    log.info({ http: baseUrl || null, dns: dnsAddress, operations: operations.origin }, 'started')
    return {
      baseUrl,
      dnsAddress,
      operationsUrl: operations.origin,
      token: prepared?.token ?? null,
      flush: renderer.flush,
      useCertificate: (certificate) => useCertificate(app, certificate),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Gives rendered zones to the name server, if there is one. */
const publisherOf = (nameServer: NameServer | null, metrics: Metrics) => ({
  onZone: (zone: Parameters<NameServer['setZone']>[0]) => {
    metrics.rendered()
    nameServer?.setZone(zone)
  },
  onLost: (name: DomainName) => nameServer?.loseZone(name),
  onRemoved: (name: DomainName) => nameServer?.removeZone(name),
})

function logNotified(log: Log, outcome: NotifyOutcome): void {
  if (outcome.rcode === 'NOERROR') log.debug(outcome, 'secondary notified')
  else log.warn(outcome, outcome.rcode === null ? 'secondary does not answer NOTIFY' : 'secondary refuses NOTIFY')
}

/** HTTP connections at most: they must leave memory and descriptors to the database, the name server and `/healthz`. */
const MAX_CONNECTIONS = 10_000

/** Milliseconds that requests under way have to end when the service stops. */
const GRACE = 10_000

/** Milliseconds after which a stop waits for the database no longer: what was committed and is not rendered yet is at the next start. */
const STOP_PATIENCE = 15_000

async function closeApp(app: FastifyInstance): Promise<void> {
  const late = setTimeout(() => app.server.closeAllConnections(), GRACE)
  await app.close()
  clearTimeout(late)
}

function useCertificate(app: FastifyInstance, certificate: Certificate): void {
  if (!(app.server instanceof TlsServer)) throw new RangeError('the service speaks HTTP without TLS')
  checkCertificate(certificate)
  app.server.setSecureContext({ ...certificate, minVersion: MIN_TLS })
}

function readNsNames(names: readonly string[]): readonly DomainName[] {
  if (names.length === 0) throw new RangeError('the service needs the name of one name server at least')
  return names.map((text) => {
    const name = parseDomainName(text.endsWith('.') ? text : `${text}.`)
    if (!name.ok) throw new RangeError(`${JSON.stringify(text)} is no name of a name server: ${name.message}`)
    return name.value
  })
}
