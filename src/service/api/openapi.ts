/** Describes the operations as an OpenAPI document. */
import type { FastifyInstance, onRequestAsyncHookHandler } from 'fastify'
import { ALIASES_IN_WORDS, aliasPathOf } from './alias-names.ts'
import { ERROR_DESCRIPTIONS, errorStatuses, type Route, scopesOf } from './route.ts'

/** The JSON Schema dialect of the schemas. */
const DIALECT = 'http://json-schema.org/draft-07/schema#'

const DESCRIPTION = `DNS hosting: domains and their records, tags, the user's profile and personal access tokens.

Requests carry \`Authorization: Bearer TOKEN\`. A token has scopes; each operation names those it needs. Bodies are JSON. Times are UTC without
a zone suffix. A field that is null is absent if the operation does not know it, or if it is optional and its schema has no null. A list has pages
and can be filtered. The response to a refused request is a list of errors, each with the field it concerns.

${ALIASES_IN_WORDS}`

const SECTIONS: Readonly<Record<string, string>> = {
  Domains: 'DNS zones and their records',
  Images: 'Disk images: the public ones, and those of the account',
  Scripts: 'Scripts that run when an instance is deployed',
  Account: 'The account of the user, and what it can use',
  Types: 'What instances can have, with prices',
  Kernels: 'Kernels that instances can boot',
  Regions: 'Places for instances, and the services available there',
  Tags: 'Labels that organise objects',
  Profile: 'The user of the token: grants, tokens, keys, apps, devices, logins, phone and second factor',
}

/**
 * Serves `openapi.json` (OpenAPI 3.1) without a token. The document describes the operations that are added after this call, with the schemas that
 * validate their requests. `limitRate` may refuse a request for the document.
 */
export async function addOpenApi(
  app: FastifyInstance,
  prefix: string,
  version: string,
  routes: readonly Route[],
  limitRate: onRequestAsyncHookHandler,
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
      if (!('openapiObject' in document)) throw new TypeError('the generator returned no OpenAPI document')
      return completeDocument(document.openapiObject as unknown as OpenApi, routes) as typeof document.openapiObject
    },
  })
  let document: string | null = null
  app.get(`${prefix}/openapi.json`, { onRequest: limitRate }, async (_request, reply) => {
    document ??= JSON.stringify(app.swagger())
    return reply.headers({ 'cache-control': 'public, max-age=3600', 'content-type': 'application/json' }).send(document)
  })
}

/** Replaces the wildcard of a URL with the name of its parameter. */
function namedUrl(url: string, routes: readonly Route[]): string {
  const path = url.replace(/:([A-Za-z]+)/g, '{$1}')
  const route = routes.find(({ path: declared, wildcard }) => wildcard && path.endsWith(declared.replace(`{${wildcard}}`, '*')))
  return route === undefined ? url : url.replace('*', `:${route.wildcard}`)
}

/** The document that the generator creates from the schemas. */
interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components?: { readonly schemas?: object }
}

/** The generator's document with names, descriptions, errors and named schemas. */
function completeDocument(document: OpenApi, routes: readonly Route[]): object {
  const schemas: NamedSchemas = new Map()
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routes) {
    const method = route.method.toLowerCase()
    const operation = document.paths[route.path]?.[method]
    if (operation === undefined) throw new TypeError(`${route.method} ${route.path} is not described`)
    paths[route.path] = { ...paths[route.path], [method]: describeOperation(operation, route, schemas) }
  }
  const sections = [...new Set(routes.map(({ path }) => sectionOf(path)))]
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Errors' } } }
  return {
    ...document,
    jsonSchemaDialect: DIALECT,
    tags: sections.map((name) => ({ name, description: SECTIONS[name] ?? name })),
    paths,
    components: {
      ...document.components,
      schemas: { ...document.components?.schemas, ...Object.fromEntries(schemas) },
      responses: Object.fromEntries(Object.entries(ERROR_DESCRIPTIONS).map(([status, description]) => [status, { description, content }])),
      headers: HEADERS,
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'A personal access token.' } },
    },
  }
}

/** The used parts of an OpenAPI operation. */
interface Operation {
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, Response>>
}

interface Parameter {
  readonly in: string
  readonly name: string
  readonly schema: object
  readonly description?: string
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>

interface Response {
  readonly description: string
  readonly content?: Content
}

type Schema = Readonly<Record<string, unknown>> & { readonly title?: string; readonly properties?: Readonly<Record<string, Schema>> }

/** Schemas by name in the document. */
type NamedSchemas = Map<string, Schema>

const X_FILTER =
  'A condition in JSON. Its keys are fields, all of which must match; a value is compared for equality, or is an object of +neq, +gt, +gte, +lt, +lte, +contains. +and and +or take lists of conditions. +order_by names a field, +order is asc or desc.'

const PARAMETERS: Readonly<Record<string, string>> = {
  page: 'The page of the list, from 1.',
  page_size: 'The number of items per page.',
  domainId: 'The number of the domain.',
  recordId: 'The number of the record.',
  instanceId: 'The number of the instance.',
  backupId: 'The number of the backup.',
  tokenId: 'The number of the token.',
  appId: 'The number of the authorized app.',
  deviceId: 'The number of the trusted device.',
  loginId: 'The number of the login.',
  sshKeyId: 'The number of the SSH key.',
  imageId: 'The id of the image, such as private/123 or public/debian12; its slash may be written %2F.',
  scriptId: 'The number of the script.',
  regionId: 'The id of the region, such as us-east.',
  typeId: 'The id of the instance type, such as g6-nanode-1.',
  kernelId: 'The id of the kernel, such as linode/latest-64bit; its slash may be written %2F.',
  label: 'The label of the tag, in any case.',
}

/** The document shows path parameters as numbers, although they arrive as text. */
const ID = { type: 'integer', minimum: 1, maximum: 999_999_999_999_999 } as const

/** Adds the name, parameter descriptions and error statuses to an operation, and replaces its schemas with references. */
function describeOperation(operation: Operation, route: Route, schemas: NamedSchemas): object {
  const { requestBody, responses } = operation
  const { path, textParameters = [] } = route
  const aliasPath = aliasPathOf(path)
  return {
    operationId: route.name ?? operationId(route),
    tags: [sectionOf(path)],
    ...(aliasPath === null ? {} : { 'x-alias-path': aliasPath }),
    ...operation,
    parameters: [
      ...(operation.parameters ?? []).map(({ description, ...parameter }) => ({
        ...parameter,
        description: description ?? PARAMETERS[parameter.name] ?? parameter.name,
        ...(parameter.in === 'path' && !textParameters.includes(parameter.name) ? { schema: ID } : {}),
      })),
      ...(route.filter ? [filterParameter(Object.keys(route.filter))] : []),
    ],
    ...(requestBody ? { requestBody: { ...requestBody, content: extractSchemas(requestBody.content, schemas) } } : {}),
    security: [...(route.open ? [{}] : []), { token: scopesOf(route) }],
    responses: {
      ...Object.fromEntries(Object.entries(responses).map(([status, response]) => [status, describeResponse(status, response, schemas)])),
      ...Object.fromEntries(errorStatuses(route).map((status) => [status, { $ref: `#/components/responses/${status}` }])),
    },
  }
}

/** Headers of every response. */
const HEADERS = {
  'X-OAuth-Scopes': header('string', 'The scopes of the token; `unknown` without a valid one.'),
  'X-Accepted-OAuth-Scopes': header(
    'string',
    'The scopes that the operation requires, separated by commas; `*` if any valid token will do.',
  ),
  'X-Spec-Version': header('string', 'The version of the API.'),
  'X-RateLimit-Limit': header('integer', 'Maximum number of requests in the time window.'),
  'X-RateLimit-Remaining': header('integer', 'The number of requests left in the window.'),
  'X-RateLimit-Reset': header('integer', 'The end of the window, in seconds since 1970.'),
} as const

/** The section of the document that an operation belongs to. */
export const sectionOf = (path: string): string =>
  pascalCase(path.split('/').find((segment) => segment !== '' && segment !== 'compute') ?? '')

const filterParameter = (fields: readonly string[]): Parameter & { readonly required: false } => ({
  in: 'header',
  name: 'X-Filter',
  required: false,
  schema: { type: 'string' },
  description: `${X_FILTER} Fields: ${fields.join(', ') || 'none'}`,
})

function describeResponse(status: string, { content, ...response }: Response, schemas: NamedSchemas): object {
  const schema = Object.values(content ?? {})[0]?.schema
  const headers = Object.fromEntries(Object.keys(HEADERS).map((name) => [name, { $ref: `#/components/headers/${name}` }]))
  if (status === 'default') return { ...response, description: 'Any other error.', content, headers }
  const title = schema?.title ?? (schema?.properties?.['data'] ? 'A page of the list' : undefined)
  const description = response.description === DEFAULT_DESCRIPTION ? (title ?? 'Done') : response.description
  return { ...response, description, ...(content ? { content: extractSchemas(content, schemas) } : {}), headers }
}

/** The generator's placeholder for a missing description. */
const DEFAULT_DESCRIPTION = 'Default Response'

const extractSchemas = (content: Content, schemas: NamedSchemas): object =>
  Object.fromEntries(
    Object.entries(content).map(([type, { schema, ...rest }]) => [type, { ...rest, schema: extractSchema(schema, schemas) }]),
  )

/** Adds a schema with a title to `schemas`, and returns a reference to it. In a page of a list, does so with the schema of the items. */
function extractSchema(schema: Schema, schemas: NamedSchemas): object {
  const { title, properties } = schema
  if (title !== undefined) {
    const name = pascalCase(title)
    schemas.set(name, schema)
    return { $ref: `#/components/schemas/${name}` }
  }
  const data = properties?.['data']
  const items = data?.['items'] as Schema | undefined
  if (items === undefined) return schema
  return { ...schema, properties: { ...properties, data: { ...data, items: extractSchema(items, schemas) } } }
}

const VERBS = { GET: 'get', POST: 'create', PUT: 'update', DELETE: 'delete' } as const

/** The function name in generated clients: `listDomains`, `createDomainRecord`, `cloneDomain`. */
function operationId({ method, path, filter }: Pick<Route, 'method' | 'path' | 'filter'>): string {
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== 'compute')
  const last = segments.at(-1) as string
  const isAction = method === 'POST' && !last.endsWith('s')
  const nouns = segments.flatMap((segment, index) => {
    if (segment.startsWith('{') || (isAction && index === segments.length - 1)) return []
    const isOne = method === 'POST' || index < segments.length - 1
    return [pascalCase(isOne ? segment.replace(/s$/, '') : segment)]
  })
  const verb = isAction ? last : filter ? 'list' : VERBS[method]
  return `${verb}${nouns.join('')}${filter && last.startsWith('{') ? 'Objects' : ''}`
}

function pascalCase(text: string): string {
  return text
    .replace(/'s\b/g, '')
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}

function header(type: 'string' | 'integer', description: string) {
  return { description, schema: { type } }
}
