/** Starts the service: the shared parts first, then DNS, then the API, the users, transfers and jobs. */
import { isIP } from 'node:net'
import { sql } from 'kysely'
import { type DomainName, parseAbsoluteName } from '../dns/domain-name.ts'
import { createAdmin } from './admin/admin.ts'
import { type AdminPlace, type AdminServer, adminSocketIn, isSocketPath, startAdminServer } from './admin/admin-server.ts'
import { createLoginRecorder } from './api/authenticate.ts'
import { type HttpServer, startHttpServer } from './api/http-server.ts'
import { createRateLimiter, DEFAULT_RATE_LIMITS } from './api/rate-limit.ts'
import { ROUTES } from './api/routes.ts'
import { regionsWith } from './catalogue/regions.ts'
import { createImageUploads } from './images/image-uploads.ts'
import { createJobRunner, type JobRunner } from './jobs/job-runner.ts'
import { jobHandlers, scheduleDeletion } from './jobs/jobs.ts'
import { createCatalog } from './nameserver/catalog.ts'
import { type NameServer, startNameServer } from './nameserver/name-server.ts'
import type { NotifyOutcome } from './nameserver/notifier.ts'
import { readSavedCounts, removeSavedCounts, saveCounts } from './nameserver/query-counts.ts'
import type { Log } from './observability/log.ts'
import { AUDIT_DAYS, DEFAULT_LIMITS, imageFolderOf, type RunningService, type ServiceOptions } from './options.ts'
import { DEFAULT_QUOTAS } from './quotas.ts'
import { createUsers, usersToCreate } from './seed/apply-seed.ts'
import { createShutdown, openContext, type ServiceContext, type Shutdown } from './service-context.ts'
import { createSmsSink } from './sms/sms-sink.ts'
import { sharedImages } from './store/image-store.ts'
import { checkPeerRules } from './transfers/peer.ts'
import { type ConfiguredKeys, createTransferKeys } from './transfers/transfer-keys.ts'
import { createTransfers, type Transfers } from './transfers/transfers.ts'
import { createZoneRenderer, type ZoneRenderer } from './zone/zone-renderer.ts'

/**
 * Starts the service. Resolves when all zones are served. Rejects if the data folder is in use, an address is not available, or an option is
 * invalid.
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const shutdown = createShutdown()
  try {
    return await startParts(options, shutdown)
  } catch (error) {
    await shutdown.run()
    throw error
  }
}

async function startParts(options: ServiceOptions, shutdown: Shutdown): Promise<RunningService> {
  const context = await openContext(options, shutdown)
  const { database, timers, clock, now, secrets, observability, log, onError } = context
  const dns = await startDns(context, shutdown)
  const jobs = createJobRunner({ database, timers, handlers: jobHandlers(options.auditDays ?? AUDIT_DAYS), log, onError })
  shutdown.add(jobs.close)
  const http = await startApi(context, dns, jobs, shutdown)
  const admin = await startAdmin(context, dns, shutdown)

  // Only after every step that often fails: a generated token is shown only once, so a failed start must not create one.
  const { seed = null, bootstrapToken = null, transferKeys = [] } = options
  const created = http && (await createUsers(database, bootstrapToken, seed, now(), secrets))
  if (created && transferKeys.length > 0) await dns.keys.use(transferKeys, database)
  for (const domain of created?.domains ?? []) dns.renderer.changed(domain)

  await dns.transfers.start()
  if (http) await scheduleDeletion(database, clock())
  // A generated token is shown only if it is stored.
  context.started(created !== null && created.token !== bootstrapToken)
  jobs.start()
  observability.started({ database: () => database.read((connection) => sql`select 1`.execute(connection)) })
  shutdown.add(observability.stopping)
  const dnsAddress = dns.nameServer?.address ?? null
  log.info({ http: http?.baseUrl ?? null, dns: dnsAddress, operations: observability.origin }, 'started')
  return {
    baseUrl: http?.baseUrl ?? '',
    dnsAddress,
    observabilityUrl: observability.origin,
    adminAddress: admin?.address ?? null,
    token: created?.token ?? null,
    flush: dns.renderer.flush,
    catchUp: jobs.catchUp,
    useCertificate: (certificate) => {
      if (http === null && admin === null) throw new RangeError('the service does not serve HTTP')
      http?.useCertificate(certificate)
      admin?.useCertificate(certificate)
    },
    useTransferKeys: (keys) => dns.keys.use(keys, database),
    stop: shutdown.run,
  }
}

/** The parts of the service that serve and transfer zones. */
interface DnsParts {
  readonly keys: ConfiguredKeys
  /** Null if this process serves no DNS. */
  readonly nameServer: NameServer | null
  readonly renderer: ZoneRenderer
  /** Created, but not started yet. */
  readonly transfers: Transfers
}

/** Starts the name server and renders all zones. Resolves when every zone is served. */
async function startDns(context: ServiceContext, shutdown: Shutdown): Promise<DnsParts> {
  const { options, nsNames, database, timers, clock, realClock, log, metrics, onError } = context
  const { dns, peerPort = 53, publicPeersOnly = false, transferAddresses = [], transferKeys = [] } = options
  const { secondaries = [], catalogZone = null } = options
  const catalogName = readCatalogName(catalogZone, secondaries)
  const keys = createTransferKeys()
  // Load the keys before serving, because a zone with a key must never be transferred without it.
  await keys.use(transferKeys, database, options.listen ? usersToCreate(options.seed ?? null) : [])
  let transfers: Transfers | null = null
  // With PostgreSQL, several processes may have the same folder.
  const countsFolder = options.database ? null : options.dataFolder
  const nameServer =
    dns &&
    (await startNameServer({
      ...dns,
      limits: options.nameServerLimits ?? {},
      peerPort,
      keys,
      publicPeersOnly,
      secondaries,
      clock: realClock,
      savedCounts: countsFolder === null ? null : readSavedCounts(countsFolder, onError),
      onAnswer: metrics.query,
      onNotify: (...notify) => transfers?.notify(...notify) ?? null,
      onTransfer: (note) => log.debug(note, 'transfer requested'),
      onNotified: (outcome) => logNotified(log, outcome),
      onError,
    }))
  if (nameServer) {
    context.setNameServer(nameServer)
    if (countsFolder !== null) {
      removeSavedCounts(countsFolder)
      shutdown.add(() => saveCounts(countsFolder, nameServer.saveCounts(), onError))
    }
    shutdown.add(nameServer.close)
  }
  const catalog = nameServer && catalogName && createCatalog(catalogName, nameServer)
  if (catalog) shutdown.add(catalog.close)
  /** A customer's zone with the name of the catalog zone is not served. */
  const isCatalog = (name: DomainName): boolean => {
    if (name === catalogName) log.warn({ zone: name }, 'a zone has the name of the catalog zone, and is not served')
    return name === catalogName
  }
  const renderer = createZoneRenderer({
    database,
    nsNames,
    clock,
    onZone: (zone) => {
      metrics.rendered()
      if (isCatalog(zone.name)) return
      catalog?.add(zone.name)
      nameServer?.setZone(zone)
    },
    onUnavailable: (name) => {
      if (isCatalog(name)) return
      catalog?.add(name)
      nameServer?.setUnavailable(name)
    },
    onRemoved: (name) => {
      if (isCatalog(name)) return
      catalog?.remove(name)
      nameServer?.removeZone(name)
    },
    onPublished: (revision) => catalog?.published(revision),
    onOverridden: (others) =>
      log.warn({ nsNames: others }, others === null ? 'zones are rendered by another version' : 'a later process changed the name servers'),
    onError,
  })
  shutdown.add(renderer.close)
  await renderer.start()
  transfers = createTransfers({
    database,
    timers,
    rules: checkPeerRules({ port: peerPort, publicOnly: publicPeersOnly, localAddresses: transferAddresses, keys, clock: realClock }),
    limits: options.transferLimits ?? {},
    log,
    zoneChanged: renderer.changed,
    onError,
  })
  shutdown.add(transfers.close)
  return { keys, nameServer, renderer, transfers }
}

/** Throws a `RangeError` if the name is not valid or nobody may transfer the zone. */
function readCatalogName(catalogZone: string | null, secondaries: readonly string[]): DomainName | null {
  const invalid = secondaries.find((address) => isIP(address) === 0)
  if (invalid !== undefined) throw new RangeError(`the secondary ${JSON.stringify(invalid)} is not an address`)
  if (catalogZone === null) return null
  const name = parseAbsoluteName(catalogZone)
  if (!name.ok) throw new RangeError(`${JSON.stringify(catalogZone)} is not a valid name for a catalog zone: ${name.message}`)
  if (secondaries.length === 0) throw new RangeError('a catalog zone needs secondaries that may transfer it')
  return name.value
}

function logNotified(log: Log, outcome: NotifyOutcome): void {
  if (outcome.rcode === 'NOERROR') log.debug(outcome, 'secondary notified')
  else if (outcome.problem !== undefined) log.warn(outcome, 'secondary not notified')
  else log.warn(outcome, outcome.rcode === null ? 'secondary does not answer NOTIFY' : 'secondary refuses NOTIFY')
}

/** Starts the administrative API; null if this process has none. */
async function startAdmin(context: ServiceContext, { renderer, transfers }: DnsParts, shutdown: Shutdown): Promise<AdminServer | null> {
  const { options, database, now, secrets, log, onError } = context
  const { adminToken: token = null, tls = null } = options
  const place = options.admin === 'data-folder' ? defaultAdminPlace(options, log) : (options.admin ?? null)
  if (place === null) return null
  const zoneChanged = (domainId: number): void => {
    renderer.changed(domainId)
    transfers.wake()
  }
  const server = await startAdminServer({ place, token, tls, admin: createAdmin({ database, now, secrets, zoneChanged, onError }) })
  shutdown.add(server.close)
  return server
}

function defaultAdminPlace({ dataFolder, database }: ServiceOptions, log: Log): AdminPlace | null {
  if (dataFolder === null || database) return null
  const path = adminSocketIn(dataFolder)
  if (isSocketPath(path)) return { path }
  log.warn({ path }, 'no administrative API: the path of its socket is too long')
  return null
}

/** Starts the API; null if this process serves no HTTP. */
async function startApi(context: ServiceContext, dns: DnsParts, jobs: JobRunner, shutdown: Shutdown): Promise<HttpServer | null> {
  const { options, nsNames, publicOrigin, database, timers, clock, now, secrets, log, metrics, onError } = context
  const { listen, tls = null, maxConnections } = options
  if (listen === null) return null
  const quotas = { ...DEFAULT_QUOTAS, ...options.quotas }
  const uploads = await createImageUploads({
    database,
    timers,
    quotas,
    limits: options.uploadLimits ?? {},
    onError,
    folder: imageFolderOf(options),
    warn: log.warn,
  })
  shutdown.add(uploads.close)
  await uploads.start()
  const service = {
    database,
    clock,
    now,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    quotas,
    limiter: createRateLimiter({ ...DEFAULT_RATE_LIMITS, ...options.rateLimits }, clock),
    zoneChanged: dns.renderer.changed,
    nsNames,
    transfers: dns.transfers,
    uploads,
    images: sharedImages(options.publicImages ?? []),
    regions: regionsWith(options.regionResolvers ?? new Map()),
    jobs,
    logins: createLoginRecorder({ database, now, onError }),
    secrets,
    sms: createSmsSink(options.smsSink ?? { kind: 'log' }, log),
  }
  const http = await startHttpServer({ service, routes: ROUTES, tls, listen, maxConnections, publicOrigin, log, metrics, onError })
  shutdown.add(http.close)
  if (http.uploadOrigin() === null && uploads.canReceive) log.warn({}, 'no images can be uploaded without a public URL')
  // Close uploads before the server, because receiving their data can take hours.
  shutdown.add(uploads.close)
  return http
}
