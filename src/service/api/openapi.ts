import type { FastifyInstance, onRequestAsyncHookHandler } from 'fastify'
import { describeOperation, ERRORS, HEADERS, type NamedSchemas, type Operation, tagOf } from './describe-operation.ts'
import type { Route } from './route.ts'

/** The dialect that the schemas are written in and validated by. */
const DIALECT = 'http://json-schema.org/draft-07/schema#'

const DESCRIPTION = `DNS hosting: domains and their records, tags, the acting user and personal access tokens.

Requests carry \`Authorization: Bearer TOKEN\`. A token has scopes; each operation names those it needs. Bodies are JSON. Times are UTC without
a zone suffix. A list has pages and can be filtered. What is refused is told as a list of faults, each with the field it is of.`

const SECTIONS: Readonly<Record<string, string>> = {
  Domains: 'DNS zones and their records',
  Images: 'What disks are made of: public images, and those of the account',
  Scripts: 'What runs when an instance is deployed',
  Kernels: 'What instances are booted with',
  Regions: 'Where instances can be, and what there is',
  Tags: 'Labels of objects, for organisation',
  Profile: 'The acting user: what it may do, its tokens, keys, apps, devices, logins, phone and second factor',
}

/**
 * Describes the operations that are declared after it, from the very schemas they are validated with, and serves that as
 * `openapi.json` (OpenAPI 3.1), for which no token is needed. `admit` may refuse a request for it.
 */
export async function addOpenApi(
  app: FastifyInstance,
  prefix: string,
  version: string,
  routes: readonly Route[],
  admit: onRequestAsyncHookHandler,
): Promise<void> {
  const { default: swagger } = await import('@fastify/swagger')
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Zonewright service', version, description: DESCRIPTION },
      servers: [{ url: prefix }],
    },
    stripBasePath: true,
    refResolver: { buildLocalReference: () => 'Errors' },
    transform: ({ schema, url }) => ({
      schema: schema?.summary === undefined ? { ...schema, hide: true } : schema,
      url: namedUrl(url, routes),
    }),
    transformObject: (document) => {
      if (!('openapiObject' in document)) throw new TypeError('the description is no OpenAPI document')
      return completed(document.openapiObject as unknown as OpenApi, routes) as typeof document.openapiObject
    },
  })
  let document: string | null = null
  app.get(`${prefix}/openapi.json`, { onRequest: admit }, async (_request, reply) => {
    document ??= JSON.stringify(app.swagger())
    return reply.headers({ 'cache-control': 'public, max-age=3600', 'content-type': 'application/json; charset=utf-8' }).send(document)
  })
}

/** A wildcard is the text parameter that may hold slashes. */
function namedUrl(url: string, routes: readonly Route[]): string {
  const path = url.replace(/:([A-Za-z]+)/g, '{$1}')
  const route = routes.find(({ path: declared, rest }) => rest && path.endsWith(declared.replace(`{${rest}}`, '*')))
  return route === undefined ? url : url.replace('*', `:${route.rest}`)
}

/** The document as the generator makes it of the schemas. */
interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components?: { readonly schemas?: object }
}

function completed(document: OpenApi, routes: readonly Route[]): object {
  const schemas: NamedSchemas = new Map()
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routes) {
    const method = route.method.toLowerCase()
    const operation = document.paths[route.path]?.[method]
    if (operation === undefined) throw new TypeError(`${route.method} ${route.path} is not described`)
    paths[route.path] = { ...paths[route.path], [method]: describeOperation(operation, route, schemas) }
  }
  const sections = [...new Set(routes.map(({ path }) => tagOf(path)))]
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Errors' } } }
  return {
    ...document,
    jsonSchemaDialect: DIALECT,
    tags: sections.map((name) => ({ name, description: SECTIONS[name] ?? name })),
    paths,
    components: {
      ...document.components,
      schemas: { ...document.components?.schemas, ...Object.fromEntries(schemas) },
      responses: Object.fromEntries(Object.entries(ERRORS).map(([status, description]) => [status, { description, content }])),
      headers: HEADERS,
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'A personal access token.' } },
    },
  }
}
