import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextRound, setTimeout as wait } from 'node:timers/promises'

/** A request as it came over the socket. */
export interface Heard {
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export interface Reply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** What a front does with a request: an answer of its own, the connection cut, no answer ever, or null to pass it on. */
export type Script = (heard: Heard) => Reply | 'cut' | 'silence' | null | Promise<Reply | 'cut' | 'silence' | null>

export interface Front {
  readonly origin: string
  readonly heard: readonly Heard[]
  /** Requests that would change something. */
  mutations(): readonly Heard[]
  /** Comes back when what a process left on the wire that has ended is heard, and done or not. */
  settled(): Promise<void>
  close(): Promise<void>
}

/** An HTTP server of its own that hears every request, answers some as scripted and passes the rest on to `upstream`. */
export async function startFront(script: Script, upstream: string | null): Promise<Front> {
  const heard: Heard[] = []
  let underWay = 0
  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const body = await textOf(incoming)
    if (body === null) return
    const one: Heard = { method: incoming.method ?? '', path: incoming.url ?? '', headers: incoming.headers, body }
    heard.push(one)
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
    heard,
    mutations: () => heard.filter(({ method }) => method !== 'GET'),
    settled: async () => {
      for (let before = -1; before !== heard.length || underWay > 0; ) {
        before = heard.length
        await wait(100)
        // On a busy machine the wait may be over before the sockets are looked at.
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

async function passOn({ method, path, headers, body }: Heard, upstream: string, outgoing: ServerResponse): Promise<void> {
  const onward = request(new URL(path, upstream), { method, headers: { ...headers, host: new URL(upstream).host } })
  onward.end(body)
  // A service that has stopped meanwhile says nothing; nor does the front.
  const answered = await once(onward, 'response').catch(() => null)
  if (answered === null) return void outgoing.destroy()
  const [response] = answered as [IncomingMessage]
  outgoing.writeHead(response.statusCode ?? 0, response.headers)
  response.pipe(outgoing)
}

/** Null where who sent it was gone before its end. */
async function textOf(message: IncomingMessage): Promise<string | null> {
  let text = ''
  try {
    for await (const piece of message.setEncoding('utf8')) text += piece
  } catch {
    return null
  }
  return text
}
