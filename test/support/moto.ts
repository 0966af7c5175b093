/** moto in its server mode: AWS on this machine, as its users in Python test with. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createServer, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { dirname, join } from 'node:path'
import { findForeignClient } from './foreign-clients.ts'
import { freePort } from './free-port.ts'

const python = findForeignClient('cloud-clients')

/** The program; a name that no program has if it is not installed. */
export const MOTO: string = python.includes('/') ? join(dirname(python), 'moto_server') : 'moto_server'
export type Moto = { readonly origin: string; stop(): void }

/** Starts moto. Throws if it does not listen within 30 seconds. */
export async function startMoto(): Promise<Moto> {
  const port = await freePort()
  const child: ChildProcess = spawn(MOTO, ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' })
  const deadline = Date.now() + 30_000
  while (!(await accepts(port))) {
    if (Date.now() > deadline || child.exitCode !== null) throw new Error('moto does not listen')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return { origin: `http://127.0.0.1:${port}`, stop: () => child.kill('SIGTERM') }
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })

export interface StoreProxy {
  readonly origin: string
  /** The requests so far, such as `PUT /dns-journal/fences`. */
  readonly requests: string[]
  /** Whether a request is refused with status 503; set by the test. */
  isDown: (request: string) => boolean
  /** Whether the response to a request is lost; set by the test. */
  loses: (request: string) => boolean
  /** Conditions of writes that the service ignores; set by the test. */
  ignored: readonly ('if-match' | 'if-none-match')[]
  close(): Promise<void>
}

/**
 * A proxy in front of moto that lets one request pass at a time. moto checks the conditions of a write and writes in two steps, so that of two writers at once both
 * may succeed; S3 does both in one.
 */
export async function startStoreProxy(origin: string): Promise<StoreProxy> {
  const { hostname, port } = new URL(origin)
  let last: Promise<unknown> = Promise.resolve()
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const what = `${incoming.method} ${incoming.url}`
      proxy.requests.push(what)
      if (proxy.isDown(what)) return void outgoing.writeHead(503, { 'retry-after': '0' }).end()
      const pass = () =>
        new Promise<void>((resolve) => {
          const { method, url: path } = incoming
          const headers = Object.fromEntries(
            Object.entries(incoming.headers).filter(([name]) => !(proxy.ignored as string[]).includes(name)),
          )
          const onward = request({ host: hostname, port, method, path, headers }, (response) => {
            response.on('close', resolve)
            if (proxy.loses(what)) {
              response.resume()
              outgoing.destroy()
              return
            }
            outgoing.writeHead(response.statusCode ?? 502, response.headers)
            response.pipe(outgoing)
          })
          onward.on('error', () => {
            outgoing.destroy()
            resolve()
          })
          onward.end(Buffer.concat(chunks))
        })
      last = last.then(pass)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const proxy: StoreProxy = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    isDown: () => false,
    loses: () => false,
    ignored: [],
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  return proxy
}
