/** Serves the administrative API: on a Unix socket, which its mode protects, or on an address with its own token. */
import { createHash, randomUUID, timingSafeEqual } from 'node:crypto'
import { chmodSync, existsSync, lstatSync, rmSync, statSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { dirname, join } from 'node:path'
import ipaddr from 'ipaddr.js'
import { plainAddress } from '../api/authenticate.ts'
import { type Certificate, TLS_OPTIONS } from '../api/http-server.ts'
import { errorBody } from '../api/request-error.ts'
import { hostProblem } from '../host-header.ts'
import type { Admin } from './admin.ts'

/** The path of a Unix socket, or an address. */
export type AdminPlace = { readonly path: string } | { readonly host: string; readonly port: number }

export interface AdminServerOptions {
  readonly place: AdminPlace
  /** Required for an address. */
  readonly token: string | null
  /** Required for an address that other machines reach. */
  readonly tls: Certificate | null
  readonly admin: Admin
}

export interface AdminServer {
  /** Such as `http://127.0.0.1:9354`, or the path of the socket. */
  readonly address: string
  useCertificate(certificate: Certificate): void
  close(): Promise<void>
}

/** The name of the socket in a data folder. */
const ADMIN_SOCKET = 'admin.sock'

export const adminSocketIn = (dataFolder: string): string => join(dataFolder, ADMIN_SOCKET)

/** The longest path of a socket in octets. */
const MAX_PATH = 107

export const isSocketPath = (path: string): boolean => Buffer.byteLength(path) <= MAX_PATH

const MIN_TOKEN = 32

const BODY_LIMIT = 1024 * 1024

/** More are closed at once: the service needs its descriptors. */
const MAX_CONNECTIONS = 64

/** Milliseconds that running requests get to end when the service stops. */
const GRACE = 2_000

/** Rejects if the place cannot be used or lacks its protection. */
export async function startAdminServer({ place, token, tls, admin }: AdminServerOptions): Promise<AdminServer> {
  const isSocket = 'path' in place
  if (token !== null && token.length < MIN_TOKEN) throw new RangeError(`the administrative token needs at least ${MIN_TOKEN} characters`)
  if (!isSocket && token === null) throw new RangeError('an administrative API on an address needs ZONEWRIGHT_ADMIN_TOKEN')
  if (!isSocket && tls === null && !isLoopback(place.host))
    throw new RangeError('an administrative API that other machines reach needs --tls-cert and --tls-key')
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    respond(request, response, admin, token, isSocket).catch(() => response.destroy())
  }
  const options = { requestTimeout: 60_000, requireHostHeader: false }
  const secure = isSocket || tls === null ? null : createTlsServer({ ...options, ...tls, ...TLS_OPTIONS }, answer)
  const server = secure ?? createServer(options, answer)
  server.maxConnections = MAX_CONNECTIONS
  if (isSocket) await clearPath(place.path)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(isSocket ? { path: place.path } : place, () => {
      server.off('error', reject)
      resolve()
    })
  })
  if (isSocket) chmodSync(place.path, 0o600)
  return {
    address: isSocket ? place.path : originOf(server.address() as AddressInfo, secure !== null),
    useCertificate: (certificate) => secure?.setSecureContext({ ...certificate, ...TLS_OPTIONS }),
    close: () =>
      new Promise((resolve) => {
        // Node does not end a request that never becomes complete once the server is closing.
        const late = setTimeout(() => server.closeAllConnections(), GRACE)
        server.close(() => {
          clearTimeout(late)
          resolve()
        })
      }),
  }
}

export const isLoopback = (host: string): boolean => ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback'

const originOf = ({ address, port, family }: AddressInfo, isSecure: boolean): string =>
  `${isSecure ? 'https' : 'http'}://${family === 'IPv6' ? `[${address}]` : address}:${port}`

/** Removes the socket that a killed process left. Throws if another process listens at it, if it is another kind of file, or if every user could replace it. */
async function clearPath(path: string): Promise<void> {
  if (!isSocketPath(path)) throw new RangeError(`the path of the administrative socket is longer than ${MAX_PATH} octets`)
  const folder = statSync(dirname(path), { throwIfNoEntry: false })
  if (folder !== undefined && (folder.mode & 0o002) !== 0)
    throw new RangeError(`every user may write to ${dirname(path)}, and could replace the administrative socket: use a folder of its own`)
  if (!existsSync(path)) return
  if (!lstatSync(path).isSocket()) throw new RangeError(`${path} is not a socket`)
  if (await isListening(path)) throw new RangeError(`another process listens at ${path}`)
  rmSync(path, { force: true })
}

export const isListening = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => resolve(true))
    socket.once('error', () => resolve(false))
    socket.unref().once('connect', () => socket.destroy())
  })

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()

async function respond(request: IncomingMessage, response: ServerResponse, admin: Admin, token: string | null, isSocket: boolean) {
  const id = randomUUID()
  const send = (status: number, body: unknown): void => {
    response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store', 'x-request-id': id })
    response.end(`${JSON.stringify(body)}\n`)
  }
  const refuse = (status: number, reason: string): void => send(status, errorBody([{ field: null, reason }]))
  const { method = '', url: target = '', rawHeaders, httpVersion } = request
  const problem = isSocket ? null : hostProblem({ rawHeaders, httpVersion, target })
  if (problem !== null) return refuse(400, problem)
  const given = /^bearer +(.*)$/i.exec(request.headers.authorization ?? '')?.[1] ?? ''
  if (token !== null && !timingSafeEqual(sha256(given), sha256(token))) return refuse(401, 'Invalid Token')
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > BODY_LIMIT) return refuse(413, `The request body is larger than ${BODY_LIMIT} octets`)
    chunks.push(chunk)
  }
  let body: unknown
  try {
    body = length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch {
    return refuse(400, 'Invalid JSON')
  }
  const { remoteAddress } = request.socket
  const answer = await admin({ method, target, body, id, address: remoteAddress === undefined ? undefined : plainAddress(remoteAddress) })
  send(answer.status, answer.body)
}
