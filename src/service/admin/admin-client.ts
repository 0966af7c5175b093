/** Sends requests to the administrative API of a running service, or, if none runs, makes the changes in its database. */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { join } from 'node:path'
import type { DatabaseLocation } from '../backup.ts'
import { NO_SECRETS } from '../secrets/prepare-secrets.ts'
import { openStore } from '../secrets/rotate-key.ts'
import type { Database } from '../store/database.ts'
import { DATABASE_FILE } from '../store/private-files.ts'
import { formatTimestamp } from '../time.ts'
import { type AdminAnswer, createAdmin } from './admin.ts'
import { adminSocketIn, isListening, isLoopback } from './admin-server.ts'

/** The URL or socket of a running service, with its token; or the place of its data. */
type AdminTarget = { readonly admin: string; readonly token: string | null } | DatabaseLocation

export interface AdminClient {
  /** Returns the body of a successful answer. Rejects with the reason of another one. */
  // biome-ignore lint/suspicious/noExplicitAny: the body depends on the request
  request(method: string, target: string, body?: object): Promise<any>
  close(): Promise<void>
}

/** Connects to the service, or opens its database, which a start must have created. With SQLite, the service must not run without its socket. */
export async function openAdmin(target: AdminTarget, token: string | null = null): Promise<AdminClient> {
  if ('admin' in target) return remoteClient(target.admin, target.token)
  const socket = 'dataFolder' in target ? adminSocketIn(target.dataFolder) : null
  if (socket !== null && (await isListening(socket))) return remoteClient(socket, token)
  const problems: unknown[] = []
  const database = 'database' in target ? await openStore(target) : await openLocked(target.dataFolder)
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

/** Opens the database of a folder whose service does not run. */
async function openLocked(folder: string): Promise<Database> {
  if (!existsSync(join(folder, DATABASE_FILE)))
    throw new RangeError(`there is no database in ${folder}: name the folder of the service with --data, or start the service first`)
  return (await import('../store/sqlite/open-sqlite.ts')).openSqlite(folder)
}

function bodyOf({ status, body }: AdminAnswer): unknown {
  if (status === 200) return body
  const errors = (body as { readonly errors?: readonly { readonly reason: string }[] } | null)?.errors ?? []
  throw new RangeError(errors.map(({ reason }) => reason).join('; ') || `the service answers with status ${status}`)
}

function remoteClient(address: string, token: string | null): AdminClient {
  const isSocket = !/^https?:/.test(address)
  const host = isSocket ? '' : new URL(address).hostname.replace(/^\[|\]$/g, '')
  if (address.startsWith('http:') && host !== 'localhost' && !isLoopback(host))
    throw new RangeError(`${address} would send the token in clear text: use https://`)
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
