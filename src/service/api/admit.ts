import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Actor, authenticate } from './authenticate.ts'
import { addressCaller, type Caller, RateLimited, rateHeaders } from './rate-limit.ts'
import { RequestError } from './request-error.ts'
import type { Route, Service } from './route.ts'
import { allowsScopes, type Scope } from './scopes.ts'

/**
 * Who a request acts for; null for nobody, where the operation is open and the request has no token. Throws 401 without a valid
 * token that has the scopes, 429 where the caller has made too many requests. Tells about both in the answer's headers.
 */
export async function admit(request: FastifyRequest, reply: FastifyReply, route: Route, service: Service): Promise<Actor | null> {
  const scopes = scopesOf(route)
  reply.headers({ 'x-oauth-scopes': 'unknown', 'x-accepted-oauth-scopes': scopes.join(',') || '*' })
  const actor = await identify(request, reply, route, service)
  if (actor === null) return null
  reply.header('x-oauth-scopes', actor.scopes)
  count(reply, actor.tokenId, route, service)
  if (!allowsScopes(actor.scopes, scopes)) throw lacksScope()
  return actor
}

/** A request without a valid token counts as one of its address. */
async function identify(request: FastifyRequest, reply: FastifyReply, route: Route, service: Service): Promise<Actor | null> {
  const { authorization } = request.headers
  try {
    if (!route.open || authorization !== undefined) return await authenticate(service, authorization, request.ip)
  } catch (error) {
    if (error instanceof RequestError && !(error instanceof RateLimited)) count(reply, addressCaller(request.ip), route, service)
    throw error
  }
  count(reply, addressCaller(request.ip), route, service)
  return null
}

function count(reply: FastifyReply, caller: Caller, route: Route, { limiter }: Service): void {
  reply.headers(rateHeaders(limiter.take(caller, `${route.method} ${route.path}`, route.rate)))
}

/** The scopes that an operation needs, all of them. */
export const scopesOf = ({ scope }: Pick<Route, 'scope'>): readonly Scope[] =>
  scope === null ? [] : typeof scope === 'string' ? [scope] : scope

const lacksScope = (): RequestError =>
  new RequestError(401, [{ field: null, reason: 'Your OAuth token is not authorized to use this endpoint.' }])
