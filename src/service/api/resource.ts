/** Declares the operations on one kind of object: their paths, scopes, grants and lists follow from one statement about the kind. */
import EMPTY from '../../../schemas/service/empty.json' with { type: 'json' }
import type { Filter, FilterFields, ListQuery, ListSlice } from '../filter/filter.ts'
import type { Connection } from '../store/database.ts'
import type { GlobalGrant } from '../store/grant-store.ts'
import type { Actor } from './authenticate.ts'
import type { GrantedObject } from './grants.ts'
import { notFound, orNotFound, type RequestProblem } from './request-error.ts'
import { type Call, defineRoute, type Route, type Service } from './route.ts'
import type { Family } from './scopes.ts'

/** The parameters of a path. */
type ParametersOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | ParametersOf<Rest> : never

/** What the operations on a kind of object share. */
interface Kind<Path extends string, Parameter extends string, Text extends string, Stored> {
  /** The path of the list, or of a single object without one. */
  readonly path: Path
  /** The parameter of the path of one object, which follows the path of the list. */
  readonly parameter?: Parameter
  /** The parameters that are texts. */
  readonly texts?: readonly Text[]
  /** The last parameter may contain slashes. */
  readonly wildcard?: true
  /** The family of the scopes: reading needs `read_only`, changing `read_write`. */
  readonly family: Family
  /** The object on which a restricted user needs a grant, for paths that name it. */
  readonly object?: GrantedObject
  /** The JSON Schema of one object in a response. */
  readonly schema: object
  /** The fields that filters accept; none by default. */
  readonly filter?: FilterFields
  /** The form of an object in a response, if it is not the stored one. */
  readonly view?: (stored: Stored) => unknown
}

/** The properties of an operation that do not follow from its kind. */
interface Options<OperationCall>
  extends Partial<Pick<Route, 'errors' | 'name' | 'noContent' | 'open' | 'rate' | 'scope' | 'body' | 'filter'>> {
  readonly response?: object
  /** A grant that applies to no single object. */
  readonly global?: GlobalGrant
  /** Only unrestricted users may use the operation. */
  readonly unrestricted?: true
  /** See `Route`. */
  readonly valueProblems?: (call: OperationCall, service: Service) => Promise<readonly RequestProblem[]>
}

/** What an operation does in a transaction, which is read-only unless it deletes. */
type Query<OperationCall, Result> = (connection: Connection, call: OperationCall, service: Service) => Promise<Result>

/** Returns functions that declare the operations on a kind of object. A null or false result becomes 404. */
export function resource<
  const Path extends string,
  const Parameter extends string = never,
  const Text extends string = never,
  Stored = unknown,
>(kind: Kind<Path, Parameter, Text, Stored>) {
  type Numbers = Readonly<Record<Exclude<ParametersOf<Path> | Parameter, Text>, number>>
  type Texts = Readonly<Record<Text, string>>
  type KindCall<Body> = Omit<Call<Body>, 'ids' | 'texts'> & { readonly ids: Numbers; readonly texts: Texts }
  type BodyOptions<Body> = Options<KindCall<Partial<Body>>>
  type Handle<Body> = (call: KindCall<Body>, service: Service) => Promise<unknown>
  const { view = (stored: Stored): unknown => stored } = kind
  const objectPath = `${kind.path}/{${kind.parameter}}`

  const declare = (
    method: Route['method'],
    path: string,
    summary: string,
    // biome-ignore lint/suspicious/noExplicitAny: the type of the body is checked where the operation is declared
    { global, unrestricted, ...options }: Options<any>,
    // biome-ignore lint/suspicious/noExplicitAny: as above
    handle: (call: any, service: Service) => Promise<unknown>,
  ): Route => {
    const level = method === 'GET' ? 'read_only' : 'read_write'
    const { object, texts = [], wildcard } = kind
    const grants = {
      ...(object && path.includes(`{${object.parameter}}`) ? { object: { ...object, permissions: level } as const } : {}),
      ...(global ? { global } : {}),
      ...(unrestricted ? { unrestricted } : {}),
    }
    const named = texts.filter((name) => path.includes(`{${name}}`))
    const [last] = named
    return defineRoute({
      method,
      path,
      summary,
      scope: `${kind.family}:${level}`,
      grants: Object.keys(grants).length === 0 ? null : grants,
      response: kind.schema,
      ...(named.length === 0 ? {} : { textParameters: named }),
      ...(wildcard && last ? { wildcard: last } : {}),
      ...options,
      handle,
    })
  }

  const list = (
    summary: string,
    select: Query<KindCall<undefined>, ListSlice<Stored> | null>,
    options: { readonly open?: true; readonly page?: typeof pageOf } = {},
  ): Route => {
    const { page = pageOf, ...rest } = options
    const declared = { filter: kind.filter ?? {}, response: pageSchema(kind.schema), ...rest }
    return declare('GET', kind.path, summary, declared, async (call, service) => {
      const { items, total } = orNotFound(await service.database.read((connection) => select(connection, call, service)))
      return page(call.query, { total, items: items.map(view) })
    })
  }

  /** The response of an operation that returns one object. */
  const viewed =
    // biome-ignore lint/suspicious/noExplicitAny: as above
      (handle: (call: any, service: Service) => Promise<Stored | null>) =>
      async (call: unknown, service: Service): Promise<unknown> =>
        view(orNotFound(await handle(call, service)))

  return {
    list,
    /** Without a token, the list has the objects that everybody may see. */
    openList: (
      summary: string,
      select: Query<Omit<KindCall<undefined>, 'actor'> & { readonly actor: Actor | null }, ListSlice<Stored>>,
      options: { readonly page?: typeof pageOf } = {},
    ): Route => list(summary, select, { ...options, open: true }),
    get: (summary: string, find: Query<KindCall<undefined>, Stored | null>): Route =>
      declare(
        'GET',
        objectPath,
        summary,
        {},
        viewed((call, service) => service.database.read((connection) => find(connection, call, service))),
      ),
    /** Without a token, it reads what everybody may see. */
    openGet: (
      summary: string,
      handle: (call: Omit<KindCall<undefined>, 'actor'> & { readonly actor: Actor | null }, service: Service) => Promise<Stored | null>,
    ): Route => declare('GET', objectPath, summary, { open: true }, viewed(handle)),
    create: <Body>(
      summary: string,
      body: object,
      handle: (call: KindCall<Body>, service: Service) => Promise<Stored>,
      options: BodyOptions<Body> = {},
    ): Route => declare('POST', kind.path, summary, { body, ...options }, viewed(handle)),
    update: <Body>(
      summary: string,
      body: object,
      handle: (call: KindCall<Body>, service: Service) => Promise<Stored | null>,
      options: BodyOptions<Body> = {},
    ): Route => declare('PUT', objectPath, summary, { body, ...options }, viewed(handle)),
    /** `after` runs when the deletion is committed. */
    remove: (
      summary: string,
      remove: Query<KindCall<undefined>, boolean>,
      { after, ...options }: BodyOptions<undefined> & { readonly after?: (call: KindCall<undefined>, service: Service) => void } = {},
    ): Route =>
      declare('DELETE', objectPath, summary, { response: EMPTY, ...options }, async (call, service) => {
        if (!(await service.database.write((connection) => remove(connection, call, service)))) throw notFound()
        after?.(call, service)
        return {}
      }),
    /** Any other operation. Its response is an empty object unless stated. */
    action: <Body = undefined>(
      method: Route['method'],
      path: `${Path}${string}`,
      summary: string,
      handle: Handle<Body>,
      options: BodyOptions<Body> = {},
    ): Route =>
      declare(method, path, summary, { response: EMPTY, ...options }, async (call, service) => {
        const result = await handle(call, service)
        return result === undefined && options.noContent === undefined ? {} : result
      }),
  }
}

/** A page of a list in a response. */
interface Page<T> {
  readonly data: readonly T[]
  readonly page: number
  readonly pages: number
  readonly results: number
}

const DEFAULT_PAGE_SIZE = 100

export const PAGE_QUERY_SCHEMA = {
  type: 'object',
  properties: {
    page: { type: 'integer', minimum: 1, default: 1 },
    page_size: { type: 'integer', minimum: 25, maximum: 500, default: DEFAULT_PAGE_SIZE },
  },
} as const

/** The schema of a page of items. */
export const pageSchema = (item: object): object => ({
  type: 'object',
  required: ['data', 'page', 'pages', 'results'],
  properties: {
    data: { type: 'array', items: item },
    page: { type: 'integer' },
    pages: { type: 'integer' },
    results: { type: 'integer' },
  },
})

/** The part of a list that a query string and a filter request. */
export function listQueryOf(
  { page = 1, page_size: limit = DEFAULT_PAGE_SIZE }: { readonly page?: number; readonly page_size?: number },
  filter: Filter | null,
): ListQuery {
  // Limits the page number, so that the offset is a safe integer. Such a page is empty in any case.
  const index = Math.min(page, Math.floor(2 ** 52 / limit)) - 1
  return { filter, offset: index * limit, limit }
}

/** The response with one page of a list. An empty list has one empty page. */
export const pageOf = <T>({ offset, limit }: ListQuery, { items, total }: ListSlice<T>): Page<T> => ({
  data: items,
  page: offset / limit + 1,
  pages: Math.max(1, Math.ceil(total / limit)),
  results: total,
})
