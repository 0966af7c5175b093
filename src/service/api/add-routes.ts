import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { FastifySchema } from 'fastify/types/schema.js'
import { type Actor, authenticate, authorize } from './authenticate.ts'
import { describeRoute } from './openapi.ts'
import { PAGE_QUERY_SCHEMA, pagingOf } from './paging.ts'
import { parseFilter } from './parse-filter.ts'
import { notFound, RequestError } from './request-error.ts'
import type { Call, Route, Service } from './route.ts'
import { schemaFaults } from './schema-faults.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/** Who a request acts for, from its authentication to its handling. */
const actors = new WeakMap<FastifyRequest, Actor>()

/** Who a request acts for; undefined where it has not shown that. */
export const actorOf = (request: FastifyRequest): Actor | undefined => actors.get(request)

/** Adds the operations to the application, and 405 for the methods that a path of theirs does not have. */
export function addRoutes(app: FastifyInstance, routes: readonly Route[], service: Service): void {
  for (const route of routes) addRoute(app, route, service)
  for (const [path, methods] of methodsByPath(routes)) {
    const allow = [...methods].join(', ')
    app.route({
      method: METHODS.filter((method) => !methods.has(method)),
      url: urlOf(path),
      // Before the body is looked at.
      onRequest: async (_request, reply) => {
        reply.header('allow', allow)
        throw new RequestError(405, [{ field: null, reason: 'Method Not Allowed' }])
      },
      handler: async () => undefined,
    })
  }
}

function addRoute(app: FastifyInstance, route: Route, service: Service): void {
  app.route({
    method: route.method,
    url: urlOf(route.path),
    schema: schemaOf(route),
    config: { described: describeRoute(route) },
    attachValidation: true,
    onRequest: async (request, reply) => identify(request, reply, route, service),
    // A request without any body is checked like one with an empty object.
    preValidation: async (request) => {
      if (route.body && request.body === undefined) request.body = {}
    },
    handler: async (request) => {
      const { validationError } = request
      if (validationError?.validationContext === 'params') throw notFound()
      if (validationError) throw new RequestError(400, schemaFaults(validationError.validation as Parameters<typeof schemaFaults>[0]))
      return route.handle(callOf(request, route), service)
    },
  })
}

/** Authenticates and authorises a request, and tells about the scopes in the answer's headers. */
async function identify(request: FastifyRequest, reply: FastifyReply, route: Route, service: Service): Promise<void> {
  reply.headers({ 'x-oauth-scopes': 'unknown', 'x-accepted-oauth-scopes': route.scope ?? '*' })
  const actor = await authenticate(service.database, request.headers.authorization, service.now())
  reply.header('x-oauth-scopes', actor.scopes)
  authorize(actor, route.scope)
  actors.set(request, actor)
}

function callOf(request: FastifyRequest, route: Route): Call<unknown> {
  const header = request.headers['x-filter']
  return {
    actor: actors.get(request) as Actor,
    ids: Object.fromEntries(Object.entries(request.params as Record<string, string>).map(([name, text]) => [name, Number(text)])),
    body: request.body,
    paging: pagingOf(request.query as Record<string, number>),
    filter: route.filter && header !== undefined ? parseFilter(String(header), route.filter) : null,
    remoteAddress: request.ip,
  }
}

function schemaOf(route: Route): FastifySchema & Record<string, unknown> {
  const names = parametersOf(route.path)
  return {
    summary: route.summary,
    ...(names.length === 0 ? {} : { params: idsSchema(names) }),
    ...(route.filter ? { querystring: PAGE_QUERY_SCHEMA } : {}),
    ...(route.body ? { body: route.body } : {}),
    response: { 200: route.response, default: { $ref: 'errors#' } },
  }
}

/** Numbers of objects, small enough to be exact. */
const idsSchema = (names: readonly string[]): object => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string', pattern: '^[1-9][0-9]{0,14}$' }])),
})

const parametersOf = (path: string): string[] => [...path.matchAll(/\{([A-Za-z]+)\}/g)].map((match) => match[1] as string)

const urlOf = (path: string): string => path.replace(/\{([A-Za-z]+)\}/g, ':$1')

function methodsByPath(routes: readonly Route[]): Map<string, Set<string>> {
  const methods = new Map<string, Set<string>>()
  for (const { path, method } of routes) {
    const set = methods.get(path) ?? new Set()
    methods.set(path, set.add(method))
    if (method === 'GET') set.add('HEAD')
  }
  return methods
}
