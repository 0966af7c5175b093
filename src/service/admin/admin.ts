/** The operations of the administrative API: accounts, users, tokens, quotas, suspension and the audit log. */
import { makeToken } from '../api/authenticate.ts'
import { badRequest, errorBody, notFound, orNotFound, RequestError } from '../api/request-error.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { addUser, applySeed } from '../seed/apply-seed.ts'
import { readSeed } from '../seed/read-seed.ts'
import type { SeedAccount } from '../seed/seed.ts'
import {
  type AccountSummary,
  deleteAccount,
  findAdministrator,
  findUser,
  findUserByName,
  listAccounts,
  lockAdministration,
  setQuotas,
  setSuspended,
} from '../store/account-store.ts'
import { AUDITED_OBJECTS, listAudit, type Origin, setOrigin } from '../store/audit.ts'
import type { Connection, Database } from '../store/database.ts'
import { insertToken } from '../store/token-store.ts'

export interface AdminRequest {
  readonly method: string
  /** The path and query. */
  readonly target: string
  readonly body: unknown
  /** The client's address; absent for a local socket or the command itself. */
  readonly address?: string | undefined
  readonly id: string
}

export interface AdminAnswer {
  readonly status: number
  readonly body: unknown
}

export type Admin = (request: AdminRequest) => Promise<AdminAnswer>

export interface AdminService {
  readonly database: Database
  readonly now: () => string
  readonly secrets: Secrets
  /** Called after every committed change of what a domain serves. */
  readonly zoneChanged: (domainId: number) => void
  readonly onError: (error: unknown) => void
}

interface AdminCall {
  readonly connection: Connection
  /** The name of a user or the number of an account in the path, and what follows it. */
  readonly account: string
  readonly token: number
  readonly query: URLSearchParams
  readonly body: Readonly<Record<string, unknown>>
  readonly now: string
  readonly secrets: Secrets
  readonly origin: Origin
  /** Domains whose zones have to be rendered after the commit. */
  readonly changed: number[]
}

type Handler = (call: AdminCall) => Promise<unknown>

const PAGE = 1000

const refused = (reason: string): RequestError => badRequest({ field: null, reason })

/** An account in the form of a seed. Throws 400 with the first problem. */
function parseAccount(account: unknown): SeedAccount {
  const { seed, diagnostics } = readSeed(JSON.stringify({ accounts: [account] }), 'request')
  const [parsed] = seed?.accounts ?? []
  if (parsed === undefined) throw refused(diagnostics[0]?.message.replace(/^accounts\.?/, '') ?? 'Invalid account')
  return parsed
}

async function refuseTakenNames(connection: Connection, users: SeedAccount['users']): Promise<void> {
  for (const { username } of users)
    if ((await findUserByName(connection, username)) !== null) throw refused(`The user ${username} already exists.`)
}

const isNumber = (text: string): boolean => /^[1-9][0-9]{0,14}$/.test(text)

/** The account's id, by the name of one of its users or by its number. Throws 404, and 400 for a name that is the number of another account. */
async function idOf({ connection, account }: AdminCall): Promise<number> {
  const user = await findUserByName(connection, account)
  const [numbered] = isNumber(account) ? await listAccounts(connection, 0, 1, Number(account)) : []
  if (user && numbered && user.account_id !== numbered.id) throw refused(`${account} is both a user and the number of another account.`)
  return user?.account_id ?? orNotFound(numbered ?? null).id
}

async function find({ connection }: AdminCall, id: number): Promise<AccountSummary> {
  return orNotFound((await listAccounts(connection, 0, 1, id))[0] ?? null)
}

/** Throws 400 for the account of the administrator, which the service needs. */
async function idOfCustomer(call: AdminCall): Promise<number> {
  const id = await idOf(call)
  const administrator = await findAdministrator(call.connection)
  if (administrator !== null && (await findUser(call.connection, administrator)).account_id === id)
    throw refused('The account of the administrator can be neither suspended nor removed.')
  return id
}

/** A new token of a user, in plain text. Only its hash is stored. */
async function issueToken(call: AdminCall, username: string): Promise<object> {
  const { connection, body, now } = call
  const user = orNotFound(await findUserByName(connection, username))
  const token = makeToken()
  const { label = 'operator', scopes = '*', expiry } = body
  // The rules of a seed apply: label, scopes and expiry.
  const entry = { token, label, scopes, ...(expiry === undefined ? {} : { expiry }) }
  const [checked] = parseAccount({ users: [{ username, email: user.email, tokens: [entry] }] }).users
  const [parsed] = checked?.tokens ?? []
  if (parsed === undefined) throw refused('Invalid token')
  const stored = await insertToken(connection, { userId: user.id, ...parsed }, now)
  return { id: stored?.id, user: username, ...parsed }
}

const setSuspension =
  (suspends: boolean): Handler =>
  async (call) => {
    const id = await idOfCustomer(call)
    const { suspended } = await find(call, id)
    if ((suspended !== null) !== suspends) call.changed.push(...(await setSuspended(call.connection, id, suspends ? call.now : null)))
    return find(call, id)
  }

const wholeNumber = (query: URLSearchParams, name: string): number | undefined => {
  const text = query.get(name)
  if (text === null) return undefined
  if (!/^[0-9]{1,15}$/.test(text)) throw badRequest({ field: name, reason: `${name} is not a number` })
  return Number(text)
}

/** A time in UTC, or a beginning of one, in the form of entries. */
const time = (query: URLSearchParams, name: string): string | undefined => {
  const text = query.get(name)?.replace(/Z$/, '')
  if (text === undefined || /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)?$/.test(text)) return text
  throw badRequest({ field: name, reason: `${name} is not a time in UTC such as 2026-01-31 or 2026-01-31T09:00:00Z` })
}

/** Part of a list in the order of ids: `next` is the value of `after` for the following part, null after the last one. */
const partOf = (rows: readonly { readonly id: number }[], limit: number) => ({
  data: rows,
  next: rows.length === limit ? (rows.at(-1)?.id ?? null) : null,
})

const READS: Readonly<Record<string, Handler>> = {
  '/accounts': async ({ connection, query }) => partOf(await listAccounts(connection, wholeNumber(query, 'after') ?? 0, PAGE), PAGE),
  '/accounts/NAME': async (call) => find(call, await idOf(call)),
  '/audit': async ({ connection, query }) => {
    const limit = Math.min(wholeNumber(query, 'limit') || PAGE, PAGE)
    const object = query.get('object') ?? undefined
    if (object !== undefined && !AUDITED_OBJECTS.includes(object)) throw refused(`object is none of ${AUDITED_OBJECTS.join(', ')}`)
    const [since, until] = [time(query, 'since'), time(query, 'until')]
    const [after = 0, account] = [wholeNumber(query, 'after'), wholeNumber(query, 'account')]
    return partOf(await listAudit(connection, { after, limit, account, object, since, until }), limit)
  },
}

const CHANGES: Readonly<Record<string, Handler>> = {
  'POST /accounts': async (call) => {
    const { connection, body, now, secrets } = call
    const account = parseAccount(body)
    // The first user of a database is the administrator.
    if ((await findAdministrator(connection)) === null) throw refused('There is no administrator yet: start a process with --listen first.')
    await refuseTakenNames(connection, account.users)
    try {
      call.changed.push(...(await applySeed(connection, { accounts: [account] }, now, secrets)))
    } catch (error) {
      throw error instanceof RangeError ? refused(error.message) : error
    }
    const { account_id } = (await findUserByName(connection, account.users[0]?.username ?? '')) as { account_id: number }
    return find(call, account_id)
  },
  'DELETE /accounts/NAME': async (call) => {
    const id = await idOfCustomer(call)
    if ((await find(call, id)).suspended === null) throw refused('Suspend the account before you remove it.')
    // Deleted rows whose owner is deleted already belong to it, too.
    await setOrigin(call.connection, { ...call.origin, account: id })
    await deleteAccount(call.connection, id)
    return {}
  },
  'POST /accounts/NAME/suspend': setSuspension(true),
  'POST /accounts/NAME/resume': setSuspension(false),
  'PUT /accounts/NAME/quotas': async (call) => {
    const id = await idOf(call)
    const { quotas } = parseAccount({ users: [{ username: 'x', email: 'x@example.com' }], quotas: call.body })
    await setQuotas(call.connection, id, quotas ?? {})
    return find(call, id)
  },
  'POST /accounts/NAME/users': async (call) => {
    const id = await idOf(call)
    const { users } = parseAccount({ users: [call.body] })
    await refuseTakenNames(call.connection, users)
    for (const user of users) await addUser(call.connection, id, user, call.now, call.secrets)
    return find(call, id)
  },
  'POST /accounts/NAME/tokens': (call) => issueToken(call, call.account),
  'DELETE /accounts/NAME/tokens/ID': async (call) => {
    const user = orNotFound(await findUserByName(call.connection, call.account))
    const deletion = call.connection.deleteFrom('tokens').where('id', '=', call.token).where('user_id', '=', user.id)
    if ((await deletion.executeTakeFirstOrThrow()).numDeletedRows === 0n) throw notFound()
    return {}
  },
}

/** Returns the function that answers requests. Every change is one transaction, with the operator as its origin in the audit log. */
export function createAdmin({ database, now, secrets, zoneChanged, onError }: AdminService): Admin {
  return async ({ method, target, body, address, id }) => {
    try {
      const [pathname = '', search] = target.split('?', 2)
      const query = new URLSearchParams(search)
      const [, account = '', rest = '', token = '0'] = /^\/accounts\/([^/]+)((?:\/[a-z]+)?)(?:\/([1-9][0-9]{0,14}))?$/.exec(pathname) ?? []
      const path = account === '' ? pathname : `/accounts/NAME${rest}${token === '0' ? '' : '/ID'}`
      const handler = method === 'GET' ? READS[path] : CHANGES[`${method} ${path}`]
      if (handler === undefined) throw notFound()
      if (typeof body !== 'object' || body === null || Array.isArray(body)) throw refused('The request body must be a JSON object')
      const origin: Origin = { actor: 'operator', address, request: id }
      const work = async (connection: Connection) => {
        if (method !== 'GET') await lockAdministration(connection)
        const changed: number[] = []
        const call = { connection, account: decodeURIComponent(account), token: Number(token), query, now: now(), secrets, origin, changed }
        return { answer: await handler({ ...call, body: body as AdminCall['body'] }), changed }
      }
      const { answer, changed } = method === 'GET' ? await database.read(work) : await database.write(work, origin)
      for (const domain of changed) zoneChanged(domain)
      return { status: 200, body: answer }
    } catch (error) {
      if (error instanceof RequestError) return { status: error.status, body: errorBody(error.problems) }
      if (error instanceof URIError) return { status: 404, body: errorBody(notFound().problems) }
      onError(error)
      return { status: 500, body: errorBody([{ field: null, reason: 'Internal server error' }]) }
    }
  }
}
