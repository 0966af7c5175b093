import { sql } from 'kysely'
import type { DomainName } from '../dns/domain-name.ts'
import { startHttpServer } from './api/http-server.ts'
import { createLoginRecorder } from './api/login-recorder.ts'
import { createRateLimiter, DEFAULT_RATE_LIMITS } from './api/rate-limit.ts'
import { ROUTES } from './api/routes.ts'
import { regionsWith } from './catalogue/read-region-resolvers.ts'
import { createImageUploads } from './images/image-uploads.ts'
import { JOB_HANDLERS } from './jobs/handlers.ts'
import { createJobRunner } from './jobs/job-runner.ts'
import { scheduleSweep } from './jobs/sweep-profiles.ts'
import { type NameServer, startNameServer } from './nameserver/name-server.ts'
import type { NotifyOutcome } from './nameserver/notifier.ts'
import type { Log } from './observability/log.ts'
import type { Metrics } from './observability/metrics.ts'
import { startObservability } from './observability/observability.ts'
import {
  DEFAULT_LIMITS,
  DEFAULT_NS_NAMES,
  imageDirectoryOf,
  parseNsNames,
  parsePublicUrl,
  type RunningService,
  type ServiceOptions,
} from './options.ts'
import { DEFAULT_QUOTAS } from './quotas.ts'
import { NO_SECRETS, prepareSecrets } from './secrets/prepare-secrets.ts'
import { createUsers, usersToCreate } from './seed/apply-seed.ts'
import { createSmsSink } from './sms/sms-sink.ts'
import { openDatabase } from './store/open-database.ts'
import { createTimers } from './timers.ts'
import { formatTimestamp } from './timestamp.ts'
import { checkPeerRules } from './transfers/peer.ts'
import { createTransferKeys } from './transfers/transfer-keys.ts'
import { createTransfers, type Transfers } from './transfers/transfers.ts'
import { checkZoneNames } from './zone/check-zone-names.ts'
import { createZoneRenderer } from './zone/zone-renderer.ts'

export type { Certificate } from './api/http-app.ts'
export { requestsPerMinute, UNLIMITED_RATES } from './api/rate-limit.ts'
export { backUpService, type DatabaseLocation, restoreService } from './backup.ts'
export { type RegionResolvers, readRegionResolvers } from './catalogue/read-region-resolvers.ts'
export type { LogLevel } from './observability/log.ts'
export { type Address, DEFAULT_LIMITS, DEFAULT_NS_NAMES, type RunningService, type ServiceOptions, UNLIMITED } from './options.ts'
export { parseQuotas } from './quotas.ts'
export { type RotatedKey, rotateKey } from './secrets/rotate-key.ts'
export { readSeed } from './seed/read-seed.ts'
export type { Seed } from './seed/seed.ts'
export { parseSmsDestination, type SmsDestination } from './sms/sms-sink.ts'
export { readTransferKeys } from './transfers/read-transfer-keys.ts'
export type { TransferKey } from './transfers/transfer-keys.ts'

/**
 * Starts the service. Every zone is rendered and answered for when it resolves. Rejects if the data directory is in use, an
 * address cannot be had, or an option is not valid.
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const timers = createTimers({ clock: options.clock ?? Date.now, speed: options.clockSpeed ?? 1 })
  const clock = timers.now
  const publicOrigin = parsePublicUrl(options.publicUrl)
  const nsNames = parseNsNames(options.nsNames ?? DEFAULT_NS_NAMES)
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
    const operations = await startObservability({ address: options.observability ?? null, log: options.log ?? null, zones })
    stops.push(() => operations.close())
    const { log, metrics } = operations
    const onError = (error: unknown): void => {
      metrics.problem()
      log.error({ error }, 'fault inside the service')
      options.onError?.(error)
    }
    const database = await openDatabase({ url: options.database ?? null, directory: options.dataDirectory, onError, warn: log.warn })
    abandon = database.abandon
    stops.push(() => database.close())
    await checkZoneNames(database, log)
    const given = options.secretsKey ?? null
    // A name server on PostgreSQL needs no key, and is better off without one.
    const isKeyless = given === null && options.listen === null && database.otherProcesses !== null
    const secrets = isKeyless ? NO_SECRETS : await prepareSecrets({ database, given, log })
    const now = (): string => formatTimestamp(clock())

    const { peerPort: port = 53, publicPeersOnly: publicOnly = false, transferAddresses: localAddresses = [] } = options
    const realClock = options.clock ?? Date.now
    const { transferKeys = [], seed = null } = options
    const keys = createTransferKeys()
    // Before any zone is served: one that has a key must never be given without it.
    await keys.use(transferKeys, database, options.listen ? usersToCreate(seed) : [])
    let transfers: Transfers | null = null
    nameServer =
      options.dns &&
      (await startNameServer({
        ...options.dns,
        limits: options.nameServerLimits ?? {},
        peerPort: port,
        keys,
        publicPeersOnly: publicOnly,
        clock: realClock,
        onAnswer: metrics.query,
        onNotify: (...notify) => transfers?.notify(...notify) ?? null,
        onTransfer: (note) => log.debug(note, 'transfer requested'),
        onNotified: (outcome) => logNotified(log, outcome),
        onError,
      }))
    if (nameServer) stops.push(nameServer.close)
    const onOverridden = (others: readonly DomainName[] | null): void =>
      log.warn({ nsNames: others }, others === null ? 'zones are rendered by another version' : 'name servers are those of a later start')
    const renderer = createZoneRenderer({ database, nsNames, clock, onOverridden, onError, ...publisherOf(nameServer, metrics) })
    stops.push(() => renderer.close())
    await renderer.start()

    const rules = checkPeerRules({ port, publicOnly, localAddresses, keys, clock: realClock })
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

    const jobs = createJobRunner({ database, timers, handlers: JOB_HANDLERS, log, onError })
    stops.push(() => jobs.close())

    const quotas = { ...DEFAULT_QUOTAS, ...options.quotas }
    const uploads = await createImageUploads({
      database,
      timers,
      quotas,
      limits: options.uploadLimits ?? {},
      onError,
      directory: imageDirectoryOf(options),
      warn: log.warn,
    })
    stops.push(() => uploads.close())
    if (options.listen) await uploads.start()

    const limits = { ...DEFAULT_LIMITS, ...options.limits }
    const limiter = createRateLimiter({ ...DEFAULT_RATE_LIMITS, ...options.rateLimits }, clock)
    const regions = regionsWith(options.regionResolvers ?? new Map())
    const logins = createLoginRecorder({ database, now, onError })
    const sms = createSmsSink(options.smsSink ?? { kind: 'log' }, log)
    const service = {
      database,
      now,
      limits,
      quotas,
      limiter,
      zoneChanged: renderer.changed,
      nsNames,
      transfers,
      uploads,
      regions,
      clock,
      jobs,
      logins,
      secrets,
      sms,
    }
    const { listen, tls = null, maxConnections } = options
    const http =
      listen && (await startHttpServer({ service, routes: ROUTES, tls, listen, maxConnections, publicOrigin, log, metrics, onError }))
    if (http) stops.push(http.close)
    if (http?.uploadOrigin() === null && uploads.canReceive) log.warn({}, 'no images can be uploaded without a public URL')
    // Data may be arriving for hours: that is given up first.
    stops.push(() => uploads.close())
    // Last, since a token made here can be told only once: a start that fails must not have made one, nor one that nobody can use it with.
    const prepared = http && (await createUsers(database, options.bootstrapToken ?? null, seed, now(), secrets))
    if (prepared && transferKeys.length > 0) await keys.use(transferKeys, database)
    for (const domain of prepared?.domains ?? []) renderer.changed(domain)
    await transfers.start()
    if (http) await scheduleSweep(database, clock())
    jobs.start()
    operations.started({ database: () => database.read((connection) => sql`select 1`.execute(connection)) })
    stops.push(async () => operations.stopping())
    const dnsAddress = nameServer?.address ?? null
    log.info({ http: http?.baseUrl ?? null, dns: dnsAddress, operations: operations.origin }, 'started')
    return {
      baseUrl: http?.baseUrl ?? '',
      dnsAddress,
      observabilityUrl: operations.origin,
      token: prepared?.token ?? null,
      flush: renderer.flush,
      catchUp: jobs.catchUp,
      useCertificate: (certificate) => {
        if (http === null) throw new RangeError('the service speaks no HTTP')
        http.useCertificate(certificate)
      },
      useTransferKeys: (others) => keys.use(others, database),
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
  onUnavailable: (name: DomainName) => nameServer?.setUnavailable(name),
  onRemoved: (name: DomainName) => nameServer?.removeZone(name),
})

function logNotified(log: Log, outcome: NotifyOutcome): void {
  if (outcome.rcode === 'NOERROR') log.debug(outcome, 'secondary notified')
  else if (outcome.problem !== undefined) log.warn(outcome, 'secondary not notified')
  else log.warn(outcome, outcome.rcode === null ? 'secondary does not answer NOTIFY' : 'secondary refuses NOTIFY')
}

/** Milliseconds after which a stop waits for the database no longer: what was committed and is not rendered yet is at the next start. */
const STOP_PATIENCE = 15_000
