import { randomBytes } from 'node:crypto'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect as connectSocket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { Pool } from 'undici'
import { expect, inject } from 'vitest'
import type { DatabaseLocation } from '../../src/service/backup.ts'
import { type RunningService, readSeed, type Seed, type ServiceOptions, startService, UNLIMITED } from '../../src/service/index.ts'
import { NO_SECRETS } from '../../src/service/secrets/prepare-secrets.ts'
import { createUsers } from '../../src/service/seed/apply-seed.ts'
import { openDatabase } from '../../src/service/service-context.ts'
import type { Database } from '../../src/service/store/database.ts'
import { DATABASE_FILE } from '../../src/service/store/private-files.ts'
import { afterThisFile } from '../support/after-file.ts'
import type {} from '../support/postgres-setup.ts'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  // biome-ignore lint/suspicious/noExplicitAny: the body of a response has any shape that a test expects
  readonly body: any
}

export interface Client {
  /** Sends a request over a real socket. A string is sent unchanged, anything else as JSON. */
  call(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>
  /** Like `call`, and expects 200; returns the body. */
  // biome-ignore lint/suspicious/noExplicitAny: see Answer
  ok(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<any>
  /** Like `call`, and expects 400; returns the errors as `[field, reason]`. */
  refused(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<[string | null, string][]>
  /** Like `refused`; returns the errors as `field: reason`, or the reason alone if the error has no field. */
  problems(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<string[]>
}

/** A folder that is deleted after the tests of the file. */
export function temporaryDirectory(): string {
  const folder = mkdtempSync(join(tmpdir(), 'zonewright-test-'))
  afterThisFile(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Whether these tests run on PostgreSQL. */
export const ON_POSTGRES = process.env['ZONEWRIGHT_TEST_DATABASE'] === 'postgres'

/** The key of the secrets, which PostgreSQL requires. */
export const TEST_KEY = 'the key of the secrets for tests only'

/** The location of a service's data. */
export type Store = Pick<ServiceOptions, 'dataFolder' | 'database' | 'imageFolder' | 'secretsKey'>

/** An empty store for any number of starts: PostgreSQL in its project, SQLite otherwise. */
export async function freshStore(): Promise<Store> {
  if (ON_POSTGRES) return { dataFolder: null, database: await freshDatabase(), imageFolder: temporaryDirectory(), secretsKey: TEST_KEY }
  const dataFolder = temporaryDirectory()
  emptyDatabase ??= makeEmptyDatabase()
  writeFileSync(join(dataFolder, DATABASE_FILE), await emptyDatabase, { mode: 0o600 })
  return { dataFolder }
}

/** Gives stores filled alike: copies of the first one, except on PostgreSQL. */
export function filledStores(fill: () => Promise<Store>): () => Promise<Store> {
  let first: Promise<Store> | undefined
  return async () => {
    if (ON_POSTGRES) return fill()
    first ??= fill()
    const dataFolder = temporaryDirectory()
    cpSync((await first).dataFolder as string, dataFolder, { recursive: true })
    return { dataFolder }
  }
}

/** A SQLite database with all tables, like the template on PostgreSQL: the migrations take a third of the time of a first start. */
let emptyDatabase: Promise<Buffer> | undefined

async function makeEmptyDatabase(): Promise<Buffer> {
  const folder = temporaryDirectory()
  await (await openStore({ dataFolder: folder })).close()
  return readFileSync(join(folder, DATABASE_FILE))
}

/** The database of a store, for a backup. */
export const placeOf = ({ database, dataFolder }: Store): DatabaseLocation =>
  database ? { database } : { dataFolder: dataFolder as string }

/** The database of a store, without a service. */
export const openStore = ({ database, dataFolder }: Store): Promise<Database> =>
  openDatabase({ url: database ?? null, folder: dataFolder, onError: () => undefined })

/** The URL of an empty PostgreSQL database of the service, or one without tables. Only in the project `postgres`. */
export async function freshDatabase({ tables = true } = {}): Promise<string> {
  const template = inject('postgresTemplate')
  const name = `test_${randomBytes(8).toString('hex')}`
  const maintenance = new pg.Client({ connectionString: withDatabase(template, 'postgres') })
  await maintenance.connect()
  try {
    await maintenance.query(
      `create database ${name}${tables ? ` template ${new URL(template.replace('@/', '@_/')).pathname.slice(1)}` : ''}`,
    )
  } finally {
    await maintenance.end()
  }
  return withDatabase(template, name)
}

const withDatabase = (url: string, name: string): string => url.replace(/\/[^/?]*\?/, `/${name}?`)
export const LOOPBACK = { host: '127.0.0.1', port: 0 } as const

/** The required fields of a new domain, besides its name. */
export const MASTER = { type: 'master', soa_email: 'hostmaster@example.com' }

/** A seed from YAML text or an object. */
export function seedFrom(document: string | object): Seed {
  const { seed, diagnostics } = readSeed(typeof document === 'string' ? document : JSON.stringify(document), 'seed.yaml')
  if (seed === null) throw new Error(JSON.stringify(diagnostics.map(({ message }) => message)))
  return seed
}

/** Creates the users and objects of a seed in a database, as a start of the service does. */
export const applySeed = (database: Database, seed: string | object) =>
  createUsers(database, null, seedFrom(seed), '2026-01-31T09:00:00', NO_SECRETS)

/** Runs a service on an empty store, or a given one, during `work`. The token of its administrator is `bootstrap`, unless the options have another. */
export async function during<T>(options: Partial<ServiceOptions>, work: (client: Client, service: RunningService) => Promise<T>) {
  const store = await storeFor(options)
  const service = await startService({ dataFolder: null, listen: LOOPBACK, dns: null, bootstrapToken: 'bootstrap', ...store, ...options })
  const { client, close } = connect(service.baseUrl, service.token ?? options.bootstrapToken ?? 'bootstrap')
  try {
    return await work(client, service)
  } finally {
    await close()
    await service.stop()
  }
}

const storeFor = async ({ dataFolder, database }: Partial<ServiceOptions>): Promise<Partial<Store>> =>
  dataFolder === undefined && database === undefined ? freshStore() : {}

/** A service without rate limits that is stopped after the tests of the file; an internal error fails them. */
export async function startForTest(options: Partial<ServiceOptions> = {}): Promise<{ service: RunningService; client: Client }> {
  const errors: unknown[] = []
  const store = await storeFor(options)
  const service = await startService({
    ...UNLIMITED,
    dataFolder: null,
    ...(options.database ? { secretsKey: TEST_KEY } : {}),
    ...store,
    listen: LOOPBACK,
    dns: null,
    onError: (error) => errors.push(error),
    ...options,
  })
  const { client, close } = connect(service.baseUrl, service.token ?? options.bootstrapToken ?? '')
  afterThisFile(async () => {
    await close()
    await service.stop()
    expect(errors).toEqual([])
  })
  return { service, client }
}

export function connect(baseUrl: string, token: string): { client: Client; close: () => Promise<void> } {
  const base = new URL(baseUrl)
  const pool = new Pool(base.origin, { connections: 32 })
  const call: Client['call'] = async (method, path, body, headers) => {
    const answer = await pool.request({
      method: method as 'GET',
      path: base.pathname + path,
      headers: {
        ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : typeof body === 'string' || body instanceof Buffer ? body : JSON.stringify(body),
    })
    const text = await answer.body.text()
    // Clients compare it literally.
    if (text !== '' && answer.headers['content-type'] !== 'application/json')
      throw new Error(`${method} ${path}: the type of the response is ${answer.headers['content-type']}`)
    return { status: answer.statusCode, headers: answer.headers, body: text === '' ? null : JSON.parse(text) }
  }
  const client: Client = {
    call,
    ok: async (...request) => {
      const answer = await call(...request)
      if (answer.status !== 200) throw new Error(`${request[0]} ${request[1]}: ${answer.status} ${JSON.stringify(answer.body)}`)
      return answer.body
    },
    refused: async (...request) => {
      const { status, body } = await call(...request)
      if (status !== 400) throw new Error(`${request[0]} ${request[1]}: ${status} ${JSON.stringify(body)}`)
      return body.errors.map(({ field, reason }: { field: string | null; reason: string }) => [field, reason])
    },
    problems: async (...request) =>
      (await client.refused(...request)).map(([field, reason]) => (field === null ? reason : `${field}: ${reason}`)),
  }
  return { client, close: () => pool.close() }
}

/** Errors, and bodies that get them. */
export type Refusals = readonly (readonly [problems: string | readonly string[], ...bodies: readonly object[]])[]

/** Titles, bodies and their errors; long titles are cut. */
export const refusalsOf = (table: Refusals) =>
  table.flatMap(([problems, ...bodies]) => bodies.map((body) => [titleOf(body), body, [problems].flat()] as const))

export const titleOf = (body: object): string => JSON.stringify(body).slice(0, 120)

/** A body with each of the values as one of its fields. */
export const withValues = (body: object, field: string, ...values: readonly unknown[]): object[] =>
  values.map((value) => ({ ...body, [field]: value }))

/** The error of a field without more to say. */
export const invalid = (field: string): string => `${field}: ${field} is not valid`

/** Sends text on its own connection. Resolves with all received text when the connection is closed, or after the end of an error. */
export function exchange(baseUrl: string, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectSocket(Number(new URL(baseUrl).port), '127.0.0.1', () => socket.write(text))
    let received = ''
    socket.setEncoding('utf8').on('data', (chunk) => {
      received += chunk
      if (received.endsWith(']}')) socket.end()
    })
    socket.on('close', () => resolve(received))
    // The server may close the connection while it is sent more.
    socket.on('error', (error) => (received === '' ? reject(error) : resolve(received)))
  })
}

/** Runs the work several times with limited concurrency, and returns the results in order. */
export async function inParallel<T>(times: number, atATime: number, work: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = []
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < times) {
      const index = next
      next += 1
      results[index] = await work(index)
    }
  }
  await Promise.all(Array.from({ length: atATime }, worker))
  return results
}
