/** A proxy between client and server, on real sockets, that injects the faults of bad networks and gateways. */
import { createServer, type IncomingMessage, request as sendRequest } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

/** The fault injected into one request. */
export type Fault =
  /** No fault. */
  | { readonly kind: 'none' }
  | { readonly kind: 'delay'; readonly before: number; readonly after: number }
  /** The response is delayed until another one has overtaken it. */
  | { readonly kind: 'reorder' }
  /** The response arrives octet by octet. */
  | { readonly kind: 'drip' }
  /** The server receives the request twice, like from a gateway that retries wrongly. */
  | { readonly kind: 'duplicate-request' }
  /** The client gets the response twice. */
  | { readonly kind: 'duplicate-reply' }
  /** The connection is reset, ended or left silent: before the server receives the request, while it handles it, or after its response. */
  | { readonly kind: 'reset' | 'half-close' | 'silence'; readonly when: 'before' | 'during' | 'after' }
  /** The response is truncated, and the connection ends or hangs. */
  | { readonly kind: 'truncate'; readonly hang: boolean }
  /** The client gets no response; the server receives the request much later. */
  | { readonly kind: 'late'; readonly by: number }
  /** The gateway sends its own response, before or after the server has handled the request. */
  | {
      readonly kind: 'answer'
      readonly when: 'before' | 'after'
      readonly status: number
      readonly retryAfter?: 'seconds' | 'date'
      readonly html: boolean
    }

export interface ProxiedRequest {
  readonly method: string
  readonly path: string
  /** From 1. */
  readonly number: number
}

export interface FaultProxy {
  readonly origin: string
  /** Requests seen so far. */
  count(): number
  /** Mutating requests seen so far. */
  calls(): number
  /** The maximum number of concurrent requests so far. */
  mostUnderWay(): number
  /** Requests in progress between proxy and server. */
  underWay(): number
  /** Resolves when no request is on its way to or at the server. */
  untilIdle(): Promise<void>
  /** Sets the fault of each later request. */
  use(choose: (request: ProxiedRequest) => Fault): void
  close(): Promise<void>
}

export const NONE: Fault = { kind: 'none' }

/** Starts a proxy to the server at `target` (an origin), which may stop and restart. */
export async function startFaultProxy(target: string, first: (request: ProxiedRequest) => Fault = () => NONE): Promise<FaultProxy> {
  const { hostname, port } = new URL(target)
  let chooseFault = first
  let number = 0
  let calls = 0
  let open = 0
  let most = 0
  let upstream = 0
  /** Releases a delayed response after another has overtaken it. */
  let overtaken: (() => void) | null = null

  const forward = async (incoming: IncomingMessage, body: Buffer): Promise<Answer | null> => {
    upstream += 1
    try {
      return await new Promise<Answer>((resolve, reject) => {
        const { method, url: path, headers } = incoming
        const outgoing = sendRequest({ hostname, port, method, path, headers: { ...headers, connection: 'close' } }, (answer) => {
          const chunks: Buffer[] = []
          answer.on('data', (chunk: Buffer) => chunks.push(chunk))
          answer.on('error', reject)
          answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) }))
        })
        outgoing.on('error', reject)
        outgoing.end(body)
      })
    } catch {
      return null
    } finally {
      upstream -= 1
    }
  }

  const handle = async (incoming: IncomingMessage, body: Buffer): Promise<void> => {
    const { socket } = incoming
    number += 1
    if (incoming.method !== 'GET') calls += 1
    const fault = chooseFault({ method: incoming.method ?? '', path: incoming.url ?? '', number })
    const answered = async (answer: Answer | null, write: (bytes: Buffer) => void | Promise<void>): Promise<void> => {
      if (answer === null) socket.resetAndDestroy()
      else if (!socket.destroyed) await write(bytesOf(answer))
      overtaken?.()
      overtaken = null
    }
    const whole = (bytes: Buffer): void => void socket.write(bytes)
    switch (fault.kind) {
      case 'none':
        return answered(await forward(incoming, body), whole)
      case 'delay': {
        await wait(fault.before)
        const answer = await forward(incoming, body)
        await wait(fault.after)
        return answered(answer, whole)
      }
      case 'reorder': {
        const answer = await forward(incoming, body)
        await new Promise<void>((resolve) => {
          overtaken?.()
          overtaken = resolve
          setTimeout(resolve, 30)
        })
        return answered(answer, whole)
      }
      case 'drip':
        return answered(await forward(incoming, body), async (bytes) => {
          const step = Math.max(1, Math.ceil(bytes.length / 60))
          for (let at = 0; at < bytes.length && !socket.destroyed; at += step) {
            socket.write(bytes.subarray(at, at + step))
            await wait(1)
          }
        })
      case 'duplicate-request': {
        const [answer] = await Promise.all([forward(incoming, body), forward(incoming, body)])
        return answered(answer, whole)
      }
      case 'duplicate-reply':
        return answered(await forward(incoming, body), (bytes) => whole(Buffer.concat([bytes, bytes])))
      case 'reset':
      case 'half-close':
      case 'silence': {
        const end = { reset: () => socket.resetAndDestroy(), 'half-close': () => socket.end(), silence: () => undefined }[fault.kind]
        if (fault.when === 'during') end()
        if (fault.when !== 'before') await forward(incoming, body)
        if (fault.when !== 'during') end()
        return
      }
      case 'truncate':
        return answered(await forward(incoming, body), (bytes) => {
          socket.write(bytes.subarray(0, Math.floor(bytes.length * 0.7)))
          if (!fault.hang) socket.end()
        })
      case 'late':
        upstream += 1
        await wait(fault.by)
        upstream -= 1
        await forward(incoming, body)
        return
      case 'answer':
        if (fault.when === 'after') await forward(incoming, body)
        return answered(gatewayAnswer(fault), whole)
    }
  }

  const server = createServer({ keepAliveTimeout: 0 }, (incoming) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('error', () => undefined)
    incoming.on('end', () => {
      open += 1
      most = Math.max(most, open)
      void handle(incoming, Buffer.concat(chunks)).finally(() => {
        open -= 1
      })
    })
  })
  // Responses bypass the HTTP server's connection state, which would delay the next request.
  server.on('request', (_, response) => {
    response.detachSocket(response.socket as Socket)
  })
  server.on('connection', (socket) => socket.on('error', () => undefined))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    count: () => number,
    calls: () => calls,
    mostUnderWay: () => most,
    underWay: () => upstream,
    async untilIdle() {
      for (let still = 0; still < 3; still = upstream === 0 ? still + 1 : 0) await wait(5)
    },
    use: (next) => {
      chooseFault = next
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

type Answer = { readonly status: number; readonly headers: IncomingMessage['headers']; readonly body: Buffer }

/** The octets of the response, for a connection that is kept alive. */
function bytesOf({ status, headers, body }: Answer): Buffer {
  const { connection: _, 'transfer-encoding': __, 'keep-alive': ___, 'content-length': ____, ...rest } = headers
  const lines = Object.entries(rest).map(([name, value]) => `${name}: ${String(value)}`)
  return Buffer.concat([
    Buffer.from(`HTTP/1.1 ${status} Injected\r\n${[...lines, `content-length: ${body.length}`].join('\r\n')}\r\n\r\n`),
    body,
  ])
}

function gatewayAnswer({ status, html, retryAfter }: Extract<Fault, { kind: 'answer' }>): Answer {
  const body = html
    ? '<html><head><title>Gateway</title></head><body>Something went wrong</body></html>'
    : '{"errors":[{"reason":"Something went wrong"}]}'
  // An HTTP date has whole seconds, so rounding up adds up to one second.
  const later = retryAfter === 'seconds' ? '0' : new Date(Date.now() + 999).toUTCString()
  const headers = {
    'content-type': html ? 'text/html' : 'application/json',
    date: new Date().toUTCString(),
    ...(retryAfter === undefined ? {} : { 'retry-after': later }),
  }
  return { status, headers, body: Buffer.from(body) }
}
