/** An HTTP server on a real socket whose answers a function makes. It notes every request and can carry out requests without answering. */
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Certificate } from '../../src/service/index.ts'
import { afterThisFile } from '../support/after-file.ts'

export interface ScriptedRequest {
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly query: URLSearchParams
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** Empty without a body. */
  readonly body: string
}

export type ScriptedResponse = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Sent instead of the body. */
  readonly octets?: Buffer
}

/** Whether a request changes no record. Porkbun is asked everything by POST, and OVHcloud publishes by one. */
export const isRead = ({ method, path }: { readonly method: string; readonly path: string }): boolean =>
  method === 'GET' || /\/(?:retrieve|listAll|getUrlForwarding|ping|refresh)(?:\/|$)/.test(path)

/** The state of a service and its rules: answers one request. */
export type ScriptedService = (request: ScriptedRequest) => ScriptedResponse

export interface ScriptedServer {
  readonly origin: string
  /** All requests so far. */
  readonly requests: readonly ScriptedRequest[]
  /** Carries out this many of the next requests that change something, and cuts their connections instead of answering. */
  loseAnswers(count: number): void
}

/** Starts a server that ends after the test file. */
export async function startScriptedServer(service: ScriptedService, tls?: Certificate): Promise<ScriptedServer> {
  const requests: ScriptedRequest[] = []
  let toLose = 0
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const { pathname: path, searchParams: query } = new URL(incoming.url ?? '/', 'http://scripted')
    const headers = Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, value?.toString()]))
    const request = { method: incoming.method ?? '', path, query, headers, body: Buffer.concat(chunks).toString() }
    requests.push(request)
    const { status, headers: sent, body, octets } = service(request)
    if (!isRead(request) && toLose > 0) {
      toLose -= 1
      incoming.socket.destroy()
      return
    }
    outgoing.writeHead(status, sent).end(octets ?? body)
  }
  const listener = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    answer(incoming, outgoing).catch(() => incoming.socket.destroy())
  }
  const server = tls ? createHttpsServer(tls, listener) : createHttpServer(listener)
  // A busy machine may keep a client waiting for longer than the usual limits.
  Object.assign(server, { keepAliveTimeout: 600_000, headersTimeout: 0, requestTimeout: 0 })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterThisFile(
    () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  )
  return {
    origin: `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    loseAnswers: (count) => {
      toLose = count
    },
  }
}
