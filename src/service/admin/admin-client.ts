/** Sends requests to the administrative API of a running service, or, if none runs, makes the changes in its database. */
import { randomUUID } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { DatabaseLocation } from '../backup.ts'
import { NO_SECRETS } from '../secrets/prepare-secrets.ts'
import { openDatabase } from '../service-context.ts'
import { formatTimestamp } from '../time.ts'
import { type AdminAnswer, createAdmin } from './admin.ts'
import { adminSocketIn, isListening } from './admin-server.ts'

/** The URL or socket of a running service, with its token; or the place of its data. */
type AdminTarget = { readonly admin: string; readonly token: string | null } | DatabaseLocation

export interface AdminClient {
  /** Returns the body of a successful answer. Rejects with the reason of another one. */
  // biome-ignore lint/suspicious/noExplicitAny: the body depends on the request
  request(method: string, target: string, body?: object): Promise<any>
  close(): Promise<void>
}

/** Connects to the service, or opens its database. With SQLite, the service must not run without its socket. */
export async function openAdmin(target: AdminTarget, token: string | null = null): Promise<AdminClient> {
  if ('admin' in target) return remoteClient(target.admin, target.token)
  const socket = 'dataFolder' in target ? adminSocketIn(target.dataFolder) : null
  if (socket !== null && (await isListening(socket))) return remoteClient(socket, token)
  const problems: unknown[] = []
  const database = await openDatabase({
    url: 'database' in target ? target.database : null,
    folder: 'dataFolder' in target ? target.dataFolder : null,
    onError: (error) => problems.push(error),
  })
  const now = (): string => formatTimestamp(Date.now())
  // Running processes of a PostgreSQL database find the changed zones on their own.
  const admin = createAdmin({ database, now, secrets: NO_SECRETS, zoneChanged: () => undefined, onError: (error) => problems.push(error) })
  return {
    request: async (method, path, body = {}) => {
      const answer = await admin({ method, target: path, body, id: randomUUID() })
      if (answer.status === 500) throw problems.at(-1)
      return bodyOf(answer)
    },
    close: database.close,
  }
}

function bodyOf({ status, body }: AdminAnswer): unknown {
  if (status === 200) return body
  const errors = (body as { readonly errors?: readonly { readonly reason: string }[] } | null)?.errors ?? []
  throw new RangeError(errors.map(({ reason }) => reason).join('; ') || `the service answers with status ${status}`)
}

function remoteClient(address: string, token: string | null): AdminClient {
  const isSocket = !/^https?:/.test(address)
  const send = address.startsWith('https:') ? httpsRequest : httpRequest
  const options = isSocket ? { socketPath: address, host: 'localhost' } : {}
  const headers = { 'content-type': 'application/json', ...(token === null ? {} : { authorization: `Bearer ${token}` }) }
  const request = (method: string, target: string, body: object = {}): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const url = new URL(target, isSocket ? 'http://localhost' : address)
      const payload = method === 'GET' ? '' : JSON.stringify(body)
      const sized = { ...headers, 'content-length': Buffer.byteLength(payload) }
      const sent = send(url, { ...options, method, headers: sized, timeout: 60_000 }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk
        })
        response.on('error', reject)
        response.on('end', () => {
          try {
            resolve(bodyOf({ status: response.statusCode ?? 0, body: JSON.parse(text) }))
          } catch (error) {
            reject(error instanceof SyntaxError ? new RangeError(`${address} is not an administrative API`) : error)
          }
        })
      })
      sent.on('timeout', () => sent.destroy(new Error('the service does not answer')))
      sent.on('error', (error) => reject(new Error(`${address} cannot be reached: ${error.message}`)))
      sent.end(payload)
    })
  return { request, close: async () => undefined }
}
