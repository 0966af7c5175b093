import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { FastifySchema } from 'fastify/types/schema.js'
import { admit } from './admit.ts'
import type { Actor } from './authenticate.ts'
import { checkGrants } from './grants.ts'
import { PAGE_QUERY_SCHEMA, pagingOf } from './paging.ts'
import { parseFilter } from './parse-filter.ts'
import { notFound, RequestError, type RequestProblem } from './request-error.ts'
import type { Call, Route, Service } from './route.ts'
import { schemaProblems } from './schema-problems.ts'

/** Who a request acts for, from its authentication to its handling. */
const actors = new WeakMap<FastifyRequest, Actor | null>()

/** Who a request acts for; undefined where it has not shown that. */
export const actorOf = (request: FastifyRequest): Actor | undefined => actors.get(request) ?? undefined

/** Adds the operations to the application, and 405 for the methods that a path of theirs does not have. */
export function addRoutes(app: FastifyInstance, routes: readonly Route[], service: Service): void {
  for (const route of routes) addRoute(app, route, service)
  for (const [url, methods] of methodsByUrl(routes)) addOtherMethods(app, url, methods)
}

/** Tells of a path's methods: by OPTIONS, which browsers ask before they let a page of another origin call, and by 405 for all others. */
export function addOtherMethods(app: FastifyInstance, url: string, methods: ReadonlySet<string>): void {
  const allow = [...methods, 'OPTIONS'].join(', ')
  app.route({
    method: app.supportedMethods.filter((method) => !methods.has(method)),
    url,
    // Before the body is looked at.
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
      actors.set(request, await admit(request, reply, route, service))
    },
    // A request without any body is checked like one with an empty object.
    preValidation: async (request) => {
      if (route.rest) request.params = { ...(request.params as object), [route.rest]: parameter(request, '*') }
      if (route.body && request.body === undefined) request.body = {}
    },
    handler: async (request, reply) => {
      const { validationError } = request
      if (validationError?.validationContext === 'params') throw notFound()
      const actor = actors.get(request)
      // What a user may not do is refused before it is looked at.
      if (actor && route.needs) await checkGrants(service.database, actor, route.needs, idsOf(request, route))
      if (validationError) throw new RequestError(400, await faultsOfRequest(request, route, service))
      const result = await route.handle(callOf(request, route), service)
      return result === undefined ? reply.code(204).send() : result
    },
  })
}

/** Faults of form, then those of the values of other fields. */
async function faultsOfRequest(request: FastifyRequest, route: Route, service: Service): Promise<readonly RequestProblem[]> {
  const { validation = [], validationContext } = request.validationError ?? {}
  const problems = schemaProblems(validation as Parameters<typeof schemaProblems>[0])
  const told = new Set(problems.map(({ field }) => field?.split('.')[0] ?? null))
  if (route.valueProblems === undefined || validationContext !== 'body' || told.has(null)) return problems
  const body = Object.fromEntries(Object.entries(request.body as object).filter(([field]) => !told.has(field)))
  const others = await route.valueProblems({ ...callOf(request, route), body }, service)
  return [...problems, ...others.filter(({ field }) => !told.has(field))]
}

function callOf(request: FastifyRequest, route: Route): Call<unknown> {
  const header = request.headers['x-filter']
  return {
    actor: actors.get(request) as Actor,
    ids: idsOf(request, route),
    texts: Object.fromEntries((route.texts ?? []).map((name) => [name, parameter(request, name)])),
    body: request.body,
    paging: pagingOf(request.query as Record<string, number>),
    filter: route.filter && header !== undefined ? parseFilter(String(header), route.filter) : null,
    remoteAddress: request.ip,
  }
}

const idsOf = (request: FastifyRequest, route: Route): Record<string, number> =>
  Object.fromEntries([...numbersOf(route).map((name) => [name, Number(parameter(request, name))]), ...namedNumber(request, route)])

/** The number of the object that a text names. */
function namedNumber(request: FastifyRequest, { needs }: Route): [string, number][] {
  const { numberOf, parameter: name = '' } = needs?.object ?? {}
  const number = numberOf?.(parameter(request, name)) ?? null
  return number === null ? [] : [[name, number]]
}

const parameter = (request: FastifyRequest, name: string): string => (request.params as Record<string, string>)[name] as string

function schemaOf(route: Route): FastifySchema & Record<string, unknown> {
  const parameters = parametersOf(route.path)
  return {
    summary: route.summary,
    ...(parameters.length === 0 ? {} : { params: parametersSchema(numbersOf(route), route.texts ?? []) }),
    ...(route.filter ? { querystring: PAGE_QUERY_SCHEMA } : {}),
    ...(route.body ? { body: route.body } : {}),
    response: {
      200: route.response,
      ...(route.nothing ? { 204: { type: 'null', description: route.nothing } } : {}),
      default: { $ref: 'errors#' },
    },
  }
}

/** Numbers of objects are small enough to be exact. */
const parametersSchema = (numbers: readonly string[], texts: readonly string[]): object => ({
  type: 'object',
  properties: Object.fromEntries([
    ...numbers.map((name) => [name, { type: 'string', pattern: '^[1-9][0-9]{0,14}$' }]),
    ...texts.map((name) => [name, { type: 'string', pattern: '^[^\\u0000]*$', maxLength: 200 }]),
  ]),
})

const parametersOf = (path: string): string[] => [...path.matchAll(/\{([A-Za-z]+)\}/g)].map((match) => match[1] as string)

const numbersOf = ({ path, texts = [] }: Route): string[] => parametersOf(path).filter((name) => !texts.includes(name))

const urlOf = ({ path, rest }: Route): string => path.replace(/\{([A-Za-z]+)\}/g, (_, name) => (name === rest ? '*' : `:${name}`))

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
