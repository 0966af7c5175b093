import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostProblem, originForm } from '../host-header.ts'
import type { Health } from './health.ts'
import type { MetricsPage } from './metrics.ts'

export interface ObservabilityListener {
  /** `http://127.0.0.1:9353`. */
  readonly origin: string
  close(): Promise<void>
}

export interface ObservabilityPages {
  readonly metrics: MetricsPage
  readonly health: () => Promise<Health>
}

/**
 * Serves `/metrics` and `/healthz`, apart from the interface and without authentication: for the machine itself and the network of
 * its operators. `/healthz` is 200 only where everything works and requests are taken. Rejects if the address cannot be had.
 */
export async function listenForObservability(
  address: { host: string; port: number },
  pages: ObservabilityPages,
): Promise<ObservabilityListener> {
  const server = createServer({ requestTimeout: 10_000, maxHeaderSize: 8192, requireHostHeader: false }, (request, response) => {
    answer(request, response, pages).catch(() => response.destroy())
  })
  server.maxConnections = 64
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(address.port, address.host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://${address.host.includes(':') ? `[${address.host}]` : address.host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function answer(request: IncomingMessage, response: ServerResponse, { metrics, health }: ObservabilityPages): Promise<void> {
  const { method, url: target = '' } = request
  const path = originForm(target).split('?')[0]
  const send = (status: number, contentType: string, text: string): void => {
    response.writeHead(status, { 'content-type': contentType, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
    response.end(method === 'HEAD' ? undefined : text)
  }
  const problem = hostProblem({ rawHeaders: request.rawHeaders, httpVersion: request.httpVersion, target })
  if (problem !== null) return send(400, 'text/plain', `${problem}\n`)
  if (path !== '/metrics' && path !== '/healthz') return send(404, 'text/plain', 'Not found\n')
  if (method !== 'GET' && method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD')
    return send(405, 'text/plain', 'Method not allowed\n')
  }
  if (path === '/metrics') {
    const { contentType, text } = await metrics.page()
    return send(200, contentType, text)
  }
  const state = await health()
  send(state.status === 'ok' ? 200 : 503, 'application/json', `${JSON.stringify(state)}\n`)
}
