import type { FastifyInstance } from 'fastify'
import { scopesOf } from './admit.ts'
import type { Route } from './route.ts'
import type { Scope } from './scopes.ts'

/** What the description says of an operation beyond its schemas. */
export interface Described {
  readonly scopes: readonly Scope[]
  /** Fields that `X-Filter` can name; null where the operation is no list. */
  readonly filterable: readonly string[] | null
}

export const describeRoute = (route: Route): Described => ({
  scopes: scopesOf(route),
  filterable: route.filter ? Object.keys(route.filter) : null,
})

/** The dialect that the schemas are written in and validated by. */
const DIALECT = 'http://json-schema.org/draft-07/schema#'

const X_FILTER_HELP = 'A condition in JSON, with +and +or +gt +gte +lt +lte +neq +contains +order_by +order. Fields:'

/**
 * Describes the operations that are declared after it, from the very schemas they are validated with, and serves that as
 * `openapi.json` (OpenAPI 3.1), for which no token is needed.
 */
export async function addOpenApi(app: FastifyInstance, prefix: string, version: string): Promise<void> {
  const { default: swagger } = await import('@fastify/swagger')
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Zonewright service', version, description: 'DNS hosting; see docs/service.md of the package.' },
      servers: [{ url: prefix }],
      components: { securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'A personal access token' } } },
    },
    stripBasePath: true,
    refResolver: { buildLocalReference: () => 'Errors' },
    transform: ({ schema, url, route }) => {
      const { described } = (route.config ?? {}) as { described?: Described }
      if (described === undefined) return { schema: { ...schema, hide: true }, url }
      const { scopes, filterable } = described
      const header = filterable && {
        type: 'object',
        properties: { 'X-Filter': { type: 'string', description: `${X_FILTER_HELP} ${filterable.join(', ')}` } },
      }
      return { schema: { ...schema, security: [{ token: scopes }], ...(header ? { headers: header } : {}) }, url }
    },
    transformObject: (document) => {
      if (!('openapiObject' in document)) throw new TypeError('the description is no OpenAPI document')
      return { ...document.openapiObject, jsonSchemaDialect: DIALECT }
    },
  })
  app.get(`${prefix}/openapi.json`, async (_request, reply) => {
    reply.header('cache-control', 'public, max-age=3600')
    return app.swagger()
  })
}
