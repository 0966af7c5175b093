/** The operations on the user's personal access tokens. */
import TOKEN_SCHEMA from '../../../../schemas/service/token.json' with { type: 'json' }
import TOKEN_CREATE from '../../../../schemas/service/token-create.json' with { type: 'json' }
import TOKEN_UPDATE from '../../../../schemas/service/token-update.json' with { type: 'json' }
import { insertToken, type StoredToken, TOKEN_FILTER_FIELDS, TOKENS } from '../../store/token-store.ts'
import { parseTimestamp } from '../../time.ts'
import { makeToken } from '../authenticate.ts'
import { checkQuota } from '../check-quota.ts'
import { badRequest, type RequestProblem } from '../request-error.ts'
import { resource } from '../resource.ts'
import type { Route } from '../route.ts'
import { wasNull } from '../schema-validation.ts'
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
  body: TokenBody,
  token: string,
  acting: string,
  now: string,
): { readonly label: string; readonly scopes: string; readonly expiry: string | null } {
  const { label, scopes: requested, expiry: until = null } = body
  // Without scopes, a token gets all of the acting one: null might mean none.
  const scopes = wasNull(body, 'scopes') ? null : scopesOfNewToken(requested, acting)
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

const TOKEN = resource({
  path: '/profile/tokens',
  parameter: 'tokenId',
  family: 'account',
  schema: TOKEN_SCHEMA,
  filter: TOKEN_FILTER_FIELDS,
  view: ({ prefix, expiry, ...rest }: StoredToken) => ({ ...rest, expiry: expiry ?? NEVER, token: prefix }),
})

export const TOKEN_ROUTES: readonly Route[] = [
  TOKEN.list("List the user's personal access tokens", (connection, { actor, query }) => TOKENS.list(connection, query, actor.userId)),
  TOKEN.create<TokenBody>('Create a personal access token', TOKEN_CREATE, async ({ actor, body }, { database, quotas, now }) => {
    const token = makeToken()
    const settings = tokenToCreate(body, token, actor.scopes, now())
    const stored = await database.write(async (connection) => {
      await checkQuota(connection, actor, 'tokens', quotas)
      return insertToken(connection, { ...settings, userId: actor.userId, token }, now())
    })
    if (stored === null) throw new Error('two random tokens are the same')
    // Only this response has the whole token.
    return { ...stored, prefix: token }
  }),
  TOKEN.get('Read a personal access token', (connection, { actor, ids }) => TOKENS.find(connection, ids.tokenId, actor.userId)),
  TOKEN.update<{ readonly label?: string }>(
    'Change the label of a personal access token',
    TOKEN_UPDATE,
    ({ actor, ids, body }, { database }) =>
      database.write((connection) => TOKENS.relabel(connection, ids.tokenId, body.label, actor.userId)),
  ),
  TOKEN.remove('Revoke a personal access token', (connection, { actor, ids }) => TOKENS.remove(connection, ids.tokenId, actor.userId)),
]
