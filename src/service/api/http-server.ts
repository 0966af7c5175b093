import { Server as TlsServer } from 'node:tls'
import type { FastifyInstance } from 'fastify'
import { type Certificate, checkCertificate, createHttpApp, type HttpAppOptions, MIN_TLS, VERSION_SEGMENT } from './http-app.ts'

export interface HttpServer {
  /** With the version segment: `http://127.0.0.1:8080/v4`. */
  readonly baseUrl: string
  /** Uses another certificate for connections made from now on. Throws if it cannot be used, or if TLS is not spoken. */
  useCertificate(certificate: Certificate): void
  /** Takes no more requests; resolves when those under way have ended, or their time is over. */
  close(): Promise<void>
}

export interface HttpServerOptions extends HttpAppOptions {
  readonly listen: { readonly host: string; readonly port: number }
  /** What comes beyond is closed at once. */
  readonly maxConnections: number | undefined
}

/** HTTP connections at most: they must leave memory and descriptors to the database, the name server and `/healthz`. */
const MAX_CONNECTIONS = 10_000

/** Milliseconds that requests under way have to end when the service stops. */
const GRACE = 10_000

/** Serves the interface. Rejects if the address cannot be had. */
export async function startHttpServer({ listen, maxConnections, ...options }: HttpServerOptions): Promise<HttpServer> {
  const app = await createHttpApp(options)
  app.server.maxConnections = maxConnections ?? MAX_CONNECTIONS
  const origin = await app.listen(listen)
  return {
    baseUrl: origin + VERSION_SEGMENT,
    useCertificate: (certificate) => useCertificate(app, certificate),
    close: () => closeApp(app),
  }
}

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
