import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextRound, setTimeout as wait } from 'node:timers/promises'

/** A received request; the path with the query string. */
export type ReceivedRequest = { method: string; path: string; headers: IncomingMessage['headers']; body: string }

export type Reply = { readonly status?: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string | Buffer }

/** Handles a request: a reply, 'cut' to close the connection, 'silence' for no response, or null to forward it. */
export type Script = (request: ReceivedRequest) => Reply | 'cut' | 'silence' | null | Promise<Reply | 'cut' | 'silence' | null>

export interface RecordingProxy {
  readonly origin: string
  readonly requests: readonly ReceivedRequest[]
  /** The requests that are not GET. */
  mutations(): readonly ReceivedRequest[]
  /** Waits until the last requests of an ended process are received and handled. */
  idle(): Promise<void>
  close(): Promise<void>
}

/** An HTTP proxy that records every request, replies to some as scripted and forwards the rest to `upstream`. */
export async function startRecordingProxy(script: Script, upstream: string | null): Promise<RecordingProxy> {
  const requests: ReceivedRequest[] = []
  let underWay = 0
  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const body = await textOf(incoming)
    if (body === null) return
    const one: ReceivedRequest = { method: incoming.method ?? '', path: incoming.url ?? '', headers: incoming.headers, body }
    requests.push(one)
    const reply = await script(one)
    if (reply === 'cut') incoming.socket.destroy()
    else if (reply !== null && reply !== 'silence') answer(outgoing, reply)
    else if (reply === null) await passOn(one, upstream as string, outgoing)
  }
  const server = createServer((incoming, outgoing) => {
    underWay += 1
    void handle(incoming, outgoing).finally(() => {
      underWay -= 1
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    mutations: () => requests.filter(({ method }) => method !== 'GET'),
    idle: async () => {
      for (let before = -1; before !== requests.length || underWay > 0; ) {
        before = requests.length
        await wait(100)
        // On a busy machine the wait may end before the sockets are read.
        for (let round = 0; round < 10; round += 1) await nextRound()
      }
    },
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function answer(outgoing: ServerResponse, { status = 200, headers = { 'content-type': 'application/json' }, body = '{}' }: Reply): void {
  outgoing.writeHead(status, headers)
  outgoing.end(body)
}

async function passOn({ method, path, headers, body }: ReceivedRequest, upstream: string, outgoing: ServerResponse): Promise<void> {
  const onward = request(new URL(path, upstream), { method, headers: { ...headers, host: new URL(upstream).host } })
  onward.end(body)
  // If the service has stopped, the proxy closes the connection.
  const answered = await once(onward, 'response').catch(() => null)
  if (answered === null) return void outgoing.destroy()
  const [response] = answered as [IncomingMessage]
  outgoing.writeHead(response.statusCode ?? 0, response.headers)
  response.pipe(outgoing)
}

/** Null if the client closed the connection early. */
async function textOf(message: IncomingMessage): Promise<string | null> {
  let text = ''
  try {
    for await (const piece of message.setEncoding('utf8')) text += piece
  } catch {
    return null
  }
  return text
}
