import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { createCloudProvider } from '../../../src/providers/cloud/cloud-provider.ts'
import type { ZoneReference } from '../../../src/providers/provider.ts'
import { name } from '../../support/records.ts'

export type SeenRequest = { method: string; path: string; query: URLSearchParams; headers: IncomingMessage['headers']; body: unknown }

export type Handler = (request: SeenRequest, response: ServerResponse, number: number) => void | Promise<void>
export type ScriptedServer = { readonly baseUrl: URL; readonly seen: SeenRequest[]; close(): Promise<void> }

/** A real HTTP server on a loopback port with scripted responses. */
export async function scriptedServer(handler: Handler): Promise<ScriptedServer> {
  const seen: SeenRequest[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString('utf8')
    const url = new URL(request.url ?? '/', 'http://localhost')
    const { method = '', headers } = request
    const body = text === '' ? undefined : JSON.parse(text)
    const one = { method, path: url.pathname, query: url.searchParams, headers, body }
    seen.push(one)
    await handler(one, response, seen.length)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: new URL(`http://127.0.0.1:${port}/v4`),
    seen,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

export const json = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

export const page = <T>(data: readonly T[], page = 1, pages = 1, results = data.length): object => ({ data, page, pages, results })
export const errors = (reason: string, field?: string): object => ({ errors: [field === undefined ? { reason } : { reason, field }] })
export const CLOUD_ZONE: ZoneReference = { name: name('example.com.'), id: 7, settings: {} }

/** The cloud provider at a server with scripted responses. Both end with the test. */
export async function openCloud(handler: Handler, more: Partial<Parameters<typeof createCloudProvider>[0]>) {
  const server = await scriptedServer(handler)
  const provider = createCloudProvider({
    provider: 'cloud',
    baseUrl: server.baseUrl,
    token: 'tok',
    parallelism: 8,
    timeout: 20_000,
    ...more,
  })
  onTestFinished(async () => {
    await server.close()
    await provider.close()
  })
  return { provider, server }
}
