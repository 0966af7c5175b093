import { type HttpServer, startHttpServer } from './api/http-server.ts'
import { createLoginRecorder } from './api/login-recorder.ts'
import { createRateLimiter, DEFAULT_RATE_LIMITS } from './api/rate-limit.ts'
import { ROUTES } from './api/routes.ts'
import { regionsWith } from './catalogue/read-region-resolvers.ts'
import { createImageUploads } from './images/image-uploads.ts'
import type { JobRunner } from './jobs/job-runner.ts'
import { DEFAULT_LIMITS, imageDirectoryOf } from './options.ts'
import { DEFAULT_QUOTAS } from './quotas.ts'
import type { ServiceContext, Shutdown } from './service-context.ts'
import { createSmsSink } from './sms/sms-sink.ts'
import type { DnsParts } from './start-dns.ts'

/** Starts the API; null if this process serves no HTTP. */
export async function startApi(context: ServiceContext, dns: DnsParts, jobs: JobRunner, shutdown: Shutdown): Promise<HttpServer | null> {
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
    directory: imageDirectoryOf(options),
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
