import type { AddressInfo } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import type { FastifyInstance } from 'fastify'
import ipaddr from 'ipaddr.js'
import { type Certificate, checkCertificate, createHttpApp, type HttpAppOptions, TLS_OPTIONS, VERSION_SEGMENT } from './http-app.ts'

export interface HttpServer {
  /** With the version segment: `http://127.0.0.1:8080/v4`. */
  readonly baseUrl: string
  /** As in `Service`. */
  readonly uploadOrigin: () => string | null
  /** Uses another certificate for connections made from now on. Throws if it cannot be used, or if TLS is not spoken. */
  useCertificate(certificate: Certificate): void
  /** Takes no more requests; resolves when those under way have ended, or their time is over. */
  close(): Promise<void>
}

export interface HttpServerOptions extends Omit<HttpAppOptions, 'service'> {
  readonly service: Omit<HttpAppOptions['service'], 'uploadOrigin'>
  readonly listen: { readonly host: string; readonly port: number }
  /** What clients reach the service by; null for the address it listens on. */
  readonly publicOrigin: string | null
  /** What comes beyond is closed at once. */
  readonly maxConnections: number | undefined
}

/** HTTP connections at most: they must leave memory and descriptors to the database, the name server and `/healthz`. */
const MAX_CONNECTIONS = 10_000

/** Milliseconds that requests under way have to end when the service stops. */
const GRACE = 10_000

/** Serves the interface. Rejects if the address cannot be had. */
export async function startHttpServer({ listen, maxConnections, publicOrigin, ...options }: HttpServerOptions): Promise<HttpServer> {
  const uploadOrigin = (): string | null => publicOrigin ?? listeningOrigin(app.server.address() as AddressInfo, listen.host, options.tls)
  const app: FastifyInstance = await createHttpApp({ ...options, service: { ...options.service, uploadOrigin } })
  app.server.maxConnections = maxConnections ?? MAX_CONNECTIONS
  const origin = await app.listen(listen)
  return {
    baseUrl: origin + VERSION_SEGMENT,
    uploadOrigin,
    useCertificate: (certificate) => useCertificate(app, certificate),
    close: () => closeApp(app),
  }
}

/** The origin of a server that listens on one host; null for one that listens on all addresses. */
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
  if (!(app.server instanceof TlsServer)) throw new RangeError('the service speaks HTTP without TLS')
  checkCertificate(certificate)
  app.server.setSecureContext({ ...certificate, ...TLS_OPTIONS })
}
