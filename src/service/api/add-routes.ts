/** Adds the declared operations to the HTTP application: authentication, rate limits, grants and validation come before each handler. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { FastifySchema } from 'fastify/types/schema.js'
import { parseFilter } from '../filter/filter.ts'
import { aliasBody, aliasError, aliasScope, ownBody, ownFilter, ownParameters, usesAliases } from './alias-names.ts'
import { type Actor, authenticate, originOf } from './authenticate.ts'
import { checkGrants } from './grants.ts'
import { addressCaller, type Caller, RateLimited, rateHeaders } from './rate-limit.ts'
import { notFound, RequestError, type RequestProblem } from './request-error.ts'
import { listQueryOf, PAGE_QUERY_SCHEMA } from './resource.ts'
import { type Call, type Route, type Service, scopesOf } from './route.ts'
import { schemaProblems } from './schema-validation.ts'
import { allowsScopes } from './scopes.ts'

/** The user of each request, from its authentication to its handling. */
const actors = new WeakMap<FastifyRequest, Actor | null>()

/** The user that a request acts for; undefined without a valid token. */
export const actorOf = (request: FastifyRequest): Actor | undefined => actors.get(request) ?? undefined

/** Adds the operations to the application, and 405 for all other methods of their paths. */
export function addRoutes(app: FastifyInstance, routes: readonly Route[], service: Service): void {
  for (const route of routes) addRoute(app, route, service)
  for (const [url, methods] of methodsByUrl(routes)) addOtherMethods(app, url, methods)
}

/** Responds to OPTIONS, which browsers send before a cross-origin request, with the methods of a path, and to all other methods with 405. */
export function addOtherMethods(app: FastifyInstance, url: string, methods: ReadonlySet<string>): void {
  const allow = [...methods, 'OPTIONS'].join(', ')
  app.route({
    method: app.supportedMethods.filter((method) => !methods.has(method)),
    url,
    // Before the body is read.
    onRequest: async (request, reply) => {
      reply.header('allow', allow)
      if (request.method !== 'OPTIONS') throw new RequestError(405, [{ field: null, reason: 'Method Not Allowed' }])
      return reply.code(204).send()
    },
    handler: async () => undefined,
  })
}

function addRoute(app: FastifyInstance, route: Route, service: Service): void {
  app.route({
    method: route.method,
    url: urlOf(route),
    schema: schemaOf(route),
    attachValidation: true,
    onRequest: async (request, reply) => {
      actors.set(request, await authorize(request, reply, route, service))
    },
    // A request without a body is validated like an empty object.
    preValidation: async (request) => {
      if (route.wildcard) request.params = { ...(request.params as object), [route.wildcard]: parameter(request, '*') }
      request.params = ownParameters(request.raw, request.params as Record<string, string>)
      if (route.body && request.body === undefined) request.body = {}
      request.body = ownBody(request.raw, route, request.body)
    },
    handler: async (request, reply) => {
      try {
        return await respond(request, reply, route, service)
      } catch (error) {
        // A valid token got so far without its scope, because a part of the operation is open.
        const isScope = error instanceof RequestError && error.status === 401 && request.headers.authorization !== undefined
        throw isScope ? missingScope() : usesAliases(request.raw) ? aliasError(route.path, error) : error
      }
    },
    preSerialization: async (request, _reply, payload) => (usesAliases(request.raw) ? aliasBody(route.path, payload) : payload),
  })
}

/** Checks grants and the request, and returns the response. Throws a `RequestError` if the request is refused. */
async function respond(request: FastifyRequest, reply: FastifyReply, route: Route, service: Service): Promise<unknown> {
  const { validationError } = request
  if (validationError?.validationContext === 'params') throw notFound()
  const actor = actors.get(request)
  // Grants come first: without them the user learns nothing about the object or the body.
  if (actor && route.grants) await checkGrants(service.database, actor, route.grants, idsOf(request, route))
  if (validationError) throw new RequestError(400, await requestProblems(request, route, service))
  const result = await route.handle(callOf(request, route), route.method === 'GET' ? service : actingFor(request, service))
  return result === undefined ? reply.code(204).send() : result
}

/** The header with which a client names its run, so that the audit log and the client's own journal can be joined. */
const RUN_HEADER = 'x-zonewright-run'

/** The service with a database that records the request as the origin of its changes. */
function actingFor(request: FastifyRequest, service: Service): Service {
  const { database } = service
  const run = request.headers[RUN_HEADER]
  const origin = { ...originOf(request, actorOf(request)), run: /^[\w.:-]{1,64}$/.test(String(run ?? '')) ? String(run) : undefined }
  return { ...service, database: { ...database, write: (work) => database.write(work, origin) } }
}

/**
 * Returns the user that a request acts for, or null if the operation is open and the request has no token with the required scopes. Sets the
 * headers about scopes and rate limits. Throws 401 without a valid token that has the required scopes, unless the operation is open without a
 * token; 429 if the caller has made too many requests.
 */
async function authorize(request: FastifyRequest, reply: FastifyReply, route: Route, service: Service): Promise<Actor | null> {
  const scopes = scopesOf(route)
  const accepted = usesAliases(request.raw) ? scopes.map(aliasScope) : scopes
  reply.headers({ 'x-oauth-scopes': 'unknown', 'x-accepted-oauth-scopes': accepted.join(',') || '*' })
  const actor = await identify(request, reply, route, service)
  if (actor === null) return null
  reply.header('x-oauth-scopes', actor.scopes)
  countRequest(reply, actor.tokenId, route, service)
  if (allowsScopes(actor.scopes, scopes)) return actor
  if (route.open) return null
  throw missingScope()
}

/** A request without a valid token counts against the limit of its address. */
async function identify(request: FastifyRequest, reply: FastifyReply, route: Route, service: Service): Promise<Actor | null> {
  const { authorization } = request.headers
  try {
    if (!route.open || authorization !== undefined) return await authenticate(service, authorization, request.ip)
  } catch (error) {
    if (error instanceof RequestError && !(error instanceof RateLimited)) countRequest(reply, addressCaller(request.ip), route, service)
    throw error
  }
  countRequest(reply, addressCaller(request.ip), route, service)
  return null
}

function countRequest(reply: FastifyReply, caller: Caller, route: Route, { limiter }: Service): void {
  reply.headers(rateHeaders(limiter.take(caller, `${route.method} ${route.path}`, route.rate)))
}

const missingScope = (): RequestError =>
  new RequestError(401, [{ field: null, reason: 'Your OAuth token is not authorized to use this endpoint.' }])

/** Schema errors, then semantic errors of the fields without schema errors. */
async function requestProblems(request: FastifyRequest, route: Route, service: Service): Promise<readonly RequestProblem[]> {
  const { validation = [], validationContext } = request.validationError ?? {}
  const problems = schemaProblems(validation as Parameters<typeof schemaProblems>[0])
  const reported = new Set(problems.map(({ field }) => field?.split('.')[0] ?? null))
  if (route.valueProblems === undefined || validationContext !== 'body' || reported.has(null)) return problems
  const body = Object.fromEntries(Object.entries(request.body as object).filter(([field]) => !reported.has(field)))
  const others = await route.valueProblems({ ...callOf(request, route), body }, service)
  return [...problems, ...others.filter(({ field }) => !reported.has(field))]
}

function callOf(request: FastifyRequest, route: Route): Call<unknown> {
  const header = request.headers['x-filter']
  const parsed = route.filter && header !== undefined ? parseFilter(String(header), route.filter) : null
  const filter = parsed !== null && usesAliases(request.raw) ? ownFilter(parsed) : parsed
  return {
    actor: actors.get(request) as Actor,
    ids: idsOf(request, route),
    texts: Object.fromEntries((route.textParameters ?? []).map((name) => [name, parameter(request, name)])),
    body: request.body,
    query: listQueryOf(request.query as Record<string, number>, filter),
    remoteAddress: request.ip,
  }
}

const idsOf = (request: FastifyRequest, route: Route): Record<string, number> =>
  Object.fromEntries([...numbersOf(route).map((name) => [name, Number(parameter(request, name))]), ...namedNumber(request, route)])

/** The number of the object that a text parameter names. */
function namedNumber(request: FastifyRequest, { grants }: Route): [string, number][] {
  const { numberOf, parameter: name = '' } = grants?.object ?? {}
  const number = numberOf?.(parameter(request, name)) ?? null
  return number === null ? [] : [[name, number]]
}

const parameter = (request: FastifyRequest, name: string): string => (request.params as Record<string, string>)[name] as string

function schemaOf(route: Route): FastifySchema & Record<string, unknown> {
  const parameters = parametersOf(route.path)
  return {
    summary: route.summary,
    ...(parameters.length === 0 ? {} : { params: parametersSchema(numbersOf(route), route.textParameters ?? []) }),
    ...(route.filter ? { querystring: PAGE_QUERY_SCHEMA } : {}),
    ...(route.body ? { body: route.body } : {}),
    response: {
      200: route.response,
      ...(route.noContent ? { 204: { type: 'null', description: `No body if ${route.noContent}.` } } : {}),
      default: { $ref: 'errors#' },
    },
  }
}

/** Numbers have at most 15 digits, so that a double holds them exactly. */
const parametersSchema = (numbers: readonly string[], texts: readonly string[]): object => ({
  type: 'object',
  properties: Object.fromEntries([
    ...numbers.map((name) => [name, { type: 'string', pattern: '^[1-9][0-9]{0,14}$' }]),
    ...texts.map((name) => [name, { type: 'string', pattern: '^[^\\u0000]*$', maxLength: 200 }]),
  ]),
})

const parametersOf = (path: string): string[] => [...path.matchAll(/\{([A-Za-z]+)\}/g)].map((match) => match[1] as string)

const numbersOf = ({ path, textParameters = [] }: Route): string[] => parametersOf(path).filter((name) => !textParameters.includes(name))

const urlOf = ({ path, wildcard }: Route): string => path.replace(/\{([A-Za-z]+)\}/g, (_, name) => (name === wildcard ? '*' : `:${name}`))

function methodsByUrl(routes: readonly Route[]): Map<string, Set<string>> {
  const methods = new Map<string, Set<string>>()
  for (const route of routes) {
    const { method } = route
    const url = urlOf(route)
    const set = methods.get(url) ?? new Set()
    methods.set(url, set.add(method))
    if (method === 'GET') set.add('HEAD')
  }
  return methods
}
