/** The operations on the user's personal access tokens. */
import EMPTY from '../../../../schemas/service/empty.json' with { type: 'json' }
import TOKEN from '../../../../schemas/service/token.json' with { type: 'json' }
import TOKEN_CREATE from '../../../../schemas/service/token-create.json' with { type: 'json' }
import TOKEN_UPDATE from '../../../../schemas/service/token-update.json' with { type: 'json' }
import {
  deleteToken,
  findToken,
  insertToken,
  listTokens,
  renameToken,
  type StoredToken,
  TOKEN_FILTER_FIELDS,
} from '../../store/token-store.ts'
import { parseTimestamp } from '../../timestamp.ts'
import { makeToken } from '../authenticate.ts'
import { checkQuota } from '../check-quota.ts'
import { pageOf, pageSchema } from '../paging.ts'
import { badRequest, notFound, orNotFound, type RequestProblem } from '../request-error.ts'
import { defineRoute } from '../route.ts'
import { scopesOfNewToken } from '../scopes.ts'

/** Characters of a token in its default label: fewer than lists show. */
const LABEL_PREFIX = 8

/** The body of a create request that its schema has accepted. */
interface TokenBody {
  readonly label?: string
  readonly scopes?: string
  readonly expiry?: string | null
}

/**
 * Returns the settings of a new token, created with a token that has the `acting` scopes. Its default label contains the beginning of `token`. Throws
 * 400 with every error.
 */
function tokenToCreate(
  { label, scopes: requested, expiry: until = null }: TokenBody,
  token: string,
  acting: string,
  now: string,
): { readonly label: string; readonly scopes: string; readonly expiry: string | null } {
  const scopes = scopesOfNewToken(requested, acting)
  const expiry = until === null ? null : parseTimestamp(until)
  const problems: RequestProblem[] = []
  if (scopes === null) problems.push({ field: 'scopes', reason: 'scopes is not valid' })
  if (scopes === 'exceeded') problems.push({ field: 'scopes', reason: 'A token cannot have more scopes than the one it is created with.' })
  if (until !== null && expiry === null) problems.push({ field: 'expiry', reason: 'expiry is not valid' })
  if (expiry !== null && expiry <= now) problems.push({ field: 'expiry', reason: 'expiry must be in the future' })
  if (problems.length > 0) throw badRequest(...problems)
  return { label: label ?? `token-${token.slice(0, LABEL_PREFIX)}`, scopes: scopes as string, expiry }
}

/** The expiry in responses of a token that never expires. */
const NEVER = '2999-12-12T05:00:00'

const list = defineRoute({
  method: 'GET',
  path: '/profile/tokens',
  summary: "List the user's personal access tokens",
  scope: 'account:read_only',
  grants: null,
  filter: TOKEN_FILTER_FIELDS,
  response: pageSchema(TOKEN),
  handle: async ({ actor, query }, { database }) => {
    const { items, total } = await database.read((connection) => listTokens(connection, actor.userId, query))
    return pageOf(query, { total, items: items.map((token) => responseOf(token)) })
  },
})

const create = defineRoute<TokenBody>({
  method: 'POST',
  path: '/profile/tokens',
  summary: 'Create a personal access token',
  scope: 'account:read_write',
  grants: null,
  body: TOKEN_CREATE,
  response: TOKEN,
  handle: async ({ actor, body }, { database, quotas, now }) => {
    const token = makeToken()
    const settings = tokenToCreate(body, token, actor.scopes, now())
    const stored = await database.write(async (connection) => {
      await checkQuota(connection, actor, 'tokens', quotas)
      return insertToken(connection, { ...settings, userId: actor.userId, token }, now())
    })
    if (stored === null) throw new Error('two random tokens are the same')
    return responseOf(stored, token)
  },
})

const get = defineRoute({
  method: 'GET',
  path: '/profile/tokens/{tokenId}',
  summary: 'Read a personal access token',
  scope: 'account:read_only',
  grants: null,
  response: TOKEN,
  handle: async ({ actor, ids }, { database }) =>
    responseOf(orNotFound(await database.read((connection) => findToken(connection, actor.userId, ids['tokenId'] as number)))),
})

const update = defineRoute<{ readonly label?: string }>({
  method: 'PUT',
  path: '/profile/tokens/{tokenId}',
  summary: 'Change the label of a personal access token',
  scope: 'account:read_write',
  grants: null,
  body: TOKEN_UPDATE,
  response: TOKEN,
  handle: async ({ actor, ids, body: { label } }, { database }) => {
    const id = ids['tokenId'] as number
    const token = await database.write((connection) =>
      label === undefined ? findToken(connection, actor.userId, id) : renameToken(connection, actor.userId, id, label),
    )
    return responseOf(orNotFound(token))
  },
})

const revoke = defineRoute({
  method: 'DELETE',
  path: '/profile/tokens/{tokenId}',
  summary: 'Revoke a personal access token',
  scope: 'account:read_write',
  grants: null,
  response: EMPTY,
  handle: async ({ actor, ids }, { database }) => {
    if (!(await database.write((connection) => deleteToken(connection, actor.userId, ids['tokenId'] as number)))) throw notFound()
    return {}
  },
})

export const TOKEN_ROUTES = [list, create, get, update, revoke] as const

/** A token in a response, shortened to its prefix unless `token` is given. */
function responseOf({ prefix, expiry, ...rest }: StoredToken, token = prefix): object {
  return { ...rest, expiry: expiry ?? NEVER, token }
}
