/** The HTTP server: it listens, replaces certificates and stops. `http-app.ts` handles the requests. */
import { X509Certificate } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import type { FastifyInstance } from 'fastify'
import ipaddr from 'ipaddr.js'
import { type Certificate, checkCertificate, createHttpApp, type HttpAppOptions, TLS_OPTIONS, VERSION_SEGMENT } from './http-app.ts'

export interface HttpServer {
  /** Includes the version segment: `http://127.0.0.1:8080/v4`. */
  readonly baseUrl: string
  /** See `Service`. */
  readonly uploadOrigin: () => string | null
  /** Replaces the certificate for new connections. Throws if it is unusable or the service has no TLS. */
  useCertificate(certificate: Certificate): void
  /** Stops accepting requests; resolves when the running ones have ended or timed out. */
  close(): Promise<void>
}

export interface HttpServerOptions extends Omit<HttpAppOptions, 'service'> {
  readonly service: Omit<HttpAppOptions['service'], 'uploadOrigin'>
  readonly listen: { readonly host: string; readonly port: number }
  /** The origin that clients use; null for the address the service listens on. */
  readonly publicOrigin: string | null
  /** Further connections are closed at once. */
  readonly maxConnections: number | undefined
}

/** Maximum number of HTTP connections, because the database, the name server and `/healthz` need memory and descriptors, too. */
const MAX_CONNECTIONS = 10_000

/** Milliseconds that running requests get to end when the service stops. */
const GRACE = 10_000

/** Serves the API. Rejects if the address is not available. */
export async function startHttpServer({ listen, maxConnections, publicOrigin, ...options }: HttpServerOptions): Promise<HttpServer> {
  const uploadOrigin = (): string | null => publicOrigin ?? listeningOrigin(app.server.address() as AddressInfo, listen.host, options.tls)
  const app: FastifyInstance = await createHttpApp({ ...options, service: { ...options.service, uploadOrigin } })
  app.server.maxConnections = maxConnections ?? MAX_CONNECTIONS
  const origin = await app.listen(listen)
  const warn = (tls: Certificate): void => warnOfDates(tls, options.service.clock(), options.log)
  if (options.tls !== null) warn(options.tls)
  return {
    baseUrl: origin + VERSION_SEGMENT,
    uploadOrigin,
    useCertificate: (certificate) => {
      useCertificate(app, certificate)
      warn(certificate)
    },
    close: () => closeApp(app),
  }
}

/** The origin of a server that listens on one host; null if it listens on all addresses. */
function listeningOrigin({ address, port }: AddressInfo, host: string, tls: Certificate | null): string | null {
  if (ipaddr.process(address).range() === 'unspecified') return null
  return `${tls === null ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`
}

async function closeApp(app: FastifyInstance): Promise<void> {
  const late = setTimeout(() => app.server.closeAllConnections(), GRACE)
  await app.close()
  clearTimeout(late)
}

function useCertificate(app: FastifyInstance, certificate: Certificate): void {
  if (!(app.server instanceof TlsServer)) throw new RangeError('the service has no TLS')
  checkCertificate(certificate)
  app.server.setSecureContext({ ...certificate, ...TLS_OPTIONS })
}

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** Warns of each certificate of a chain that clients refuse now. It is used all the same: some service is better than none. */
function warnOfDates({ cert }: Certificate, now: number, log: HttpAppOptions['log']): void {
  for (const pem of cert.match(PEM_CERTIFICATE) ?? []) {
    const { subject, validFrom, validTo } = new X509Certificate(pem)
    if (now > Date.parse(validTo)) log.warn({ subject, validTo }, 'certificate has expired')
    else if (now < Date.parse(validFrom)) log.warn({ subject, validFrom }, 'certificate is not valid yet')
  }
}
