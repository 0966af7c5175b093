import { sql } from 'kysely'
import { JOB_HANDLERS } from './jobs/handlers.ts'
import { createJobRunner } from './jobs/job-runner.ts'
import { scheduleSweep } from './jobs/sweep-profiles.ts'
import type { RunningService, ServiceOptions } from './options.ts'
import { createUsers } from './seed/apply-seed.ts'
import { createShutdown, openContext, type Shutdown } from './service-context.ts'
import { startApi } from './start-api.ts'
import { startDns } from './start-dns.ts'

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
 * Starts the service. Resolves when all zones are served. Rejects if the data directory is in use, an address is not available, or an option is
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
  const jobs = createJobRunner({ database, timers, handlers: JOB_HANDLERS, log, onError })
  shutdown.add(jobs.close)
  const http = await startApi(context, dns, jobs, shutdown)

  // Prepare users last: a generated token is shown only once, so a start that fails must not create one.
  const { seed = null, bootstrapToken = null, transferKeys = [] } = options
  const prepared = http && (await createUsers(database, bootstrapToken, seed, now(), secrets))
  if (prepared && transferKeys.length > 0) await dns.keys.use(transferKeys, database)
  for (const domain of prepared?.domains ?? []) dns.renderer.changed(domain)

  await dns.transfers.start()
  if (http) await scheduleSweep(database, clock())
  jobs.start()
  observability.started({ database: () => database.read((connection) => sql`select 1`.execute(connection)) })
  shutdown.add(observability.stopping)
  const dnsAddress = dns.nameServer?.address ?? null
  log.info({ http: http?.baseUrl ?? null, dns: dnsAddress, operations: observability.origin }, 'started')
  return {
    baseUrl: http?.baseUrl ?? '',
    dnsAddress,
    observabilityUrl: observability.origin,
    token: prepared?.token ?? null,
    flush: dns.renderer.flush,
    catchUp: jobs.catchUp,
    useCertificate: (certificate) => {
      if (http === null) throw new RangeError('the service does not serve HTTP')
      http.useCertificate(certificate)
    },
    useTransferKeys: (keys) => dns.keys.use(keys, database),
    stop: shutdown.run,
  }
}
