/**
 * Lets clients of the hosting service call this API unchanged. A request to one of their paths is routed to the path of this API; its fields, image
 * ids and filter are translated before validation, and the response and its errors back.
 *
 * The names that clients of the hosting service behind this API use for paths, fields and values: the only table of them. Each row maps a client's
 * name to the name in this API.
 */
import type { IncomingMessage } from 'node:http'
import type { Condition, Filter } from '../filter/filter.ts'
import { RequestError, type RequestProblem } from './request-error.ts'

/** The version segment of clients that also use beta operations. Its operations are those of `/v4`. */
const ALIAS_VERSION = 'v4beta'

/** Paths after the version segment, with everything below them. */
const ALIAS_PATHS = {
  '/linode/instances': '/compute/instances',
  '/linode/kernels': '/compute/kernels',
  '/linode/stackscripts': '/compute/scripts',
  '/linode/types': '/compute/types',
} as const

/** Top-level fields of requests under these paths. */
const ALIAS_FIELDS = { linode_id: 'instance_id', stackscript_id: 'script_id', stackscript_data: 'script_data' } as const

/** The start of the ids of public images, in requests and responses. */
const ALIAS_IMAGES = { 'linode/': 'public/' } as const

/** Families of scopes. */
export const ALIAS_SCOPES = { linodes: 'instances', stackscripts: 'scripts' } as const

/** Fields that list objects in the creation of a tag, which has the same path under both names: both are accepted. */
export const ALIAS_TAG_FIELDS = { linodes: 'instances', nodebalancers: 'loadbalancers' } as const

/** Fields of grants, in the list and in its `global` object. The list has the same path under both names, so responses have both. */
export const ALIAS_GRANTS = {
  add_linodes: 'add_instances',
  add_longview: 'add_monitors',
  add_nodebalancers: 'add_loadbalancers',
  add_stackscripts: 'add_scripts',
  linode: 'instance',
  longview: 'monitor',
  longview_subscription: 'monitor_subscription',
  nodebalancer: 'loadbalancer',
  stackscript: 'script',
} as const

/** Fields of the profile. Updates accept both; if only one is a change, it counts, and otherwise the name of this API. Responses have both. */
export const ALIAS_PROFILE_FIELDS = { lish_auth_method: 'shell_auth_method' } as const

/** Fields of a volume in the list of the objects with a tag, which has both names. */
export const ALIAS_VOLUME_FIELDS = { linode_id: 'instance_id', linode_label: 'instance_label' } as const

/** A table from a client's name to the name in this API. */
type AliasTable = Readonly<Record<string, string>>

/** Returns the object with each field that the table names also under the client's name. */
export const withAliases = <T extends object>(object: T, table: AliasTable): T => ({
  ...object,
  ...Object.fromEntries(
    Object.entries(table).flatMap(([alias, name]) => (Object.hasOwn(object, name) ? [[alias, object[name as keyof T]]] : [])),
  ),
})

const listOf = (table: AliasTable): string =>
  Object.entries(table)
    .map(([alias, name]) => `\`${alias}\` for \`${name}\``)
    .join(', ')

/** The table as a paragraph of Markdown. */
export const ALIASES_IN_WORDS = `Clients of the hosting service behind this API can use their own paths (${listOf(ALIAS_PATHS)}). The scopes, request
fields and ids of public images have other names there: ${listOf({ ...ALIAS_SCOPES, ...ALIAS_FIELDS, ...ALIAS_IMAGES })}. All operations also answer under
\`/${ALIAS_VERSION}\`, with these names.`

/** The path that clients of the hosting service use for a path of this API; null if it is the same. */
export function aliasPathOf(path: string): string | null {
  for (const [alias, name] of Object.entries(ALIAS_PATHS)) {
    if (path === name || path.startsWith(`${name}/`)) return alias + path.slice(name.length)
  }
  return null
}

/** Requests with the clients' names. */
const translated = new WeakSet<IncomingMessage>()

/** Whether a request uses the clients' names, so that its response must use them, too. */
export const usesAliases = (request: IncomingMessage): boolean => translated.has(request)

/** The path and the query. */
const PATH_AND_QUERY = /^([^?#]*)(.*)$/s

/** The version segment and the rest of the path. */
const VERSIONED_PATH = /^\/(v4|v4beta)(\/.*)$/s

/** Decodes the octets of a path that need no encoding (RFC 3986 section 6.2.2.2), as the router does. */
const decodeUnreserved = (path: string): string =>
  path.replace(/%(?:2[de]|3\d|[46][1-9a-f]|[57][0-9a]|5f|7e)/gi, (octet) => String.fromCharCode(Number.parseInt(octet.slice(1), 16)))

/** Returns the path and query of this API for those of a request, and remembers whether they differ. */
export function routedUrl(request: IncomingMessage, url: string): string {
  const [, encoded = '', query = ''] = PATH_AND_QUERY.exec(url) ?? []
  const [, version, path = ''] = VERSIONED_PATH.exec(decodeUnreserved(encoded)) ?? []
  if (version === undefined) return url
  const ownPath = ownPathOf(path)
  if (ownPath === null && version !== ALIAS_VERSION) return url
  // The alias version has no path of this API that has an alias: a client of the hosting service does not know it.
  if (ownPath === null && Object.values(ALIAS_PATHS).some((name) => startsWithPath(path, name))) return url
  translated.add(request)
  return `/v4${ownPath ?? path}${query}`
}

function ownPathOf(path: string): string | null {
  for (const [alias, name] of Object.entries(ALIAS_PATHS)) if (startsWithPath(path, alias)) return name + path.slice(alias.length)
  return null
}

const startsWithPath = (path: string, start: string): boolean => path === start || path.startsWith(`${start}/`)

/** The clients' name of each field. */
const ALIASES_OF_FIELDS: AliasTable = Object.fromEntries(Object.entries(ALIAS_FIELDS).map(([alias, name]) => [name, alias]))

const exchange = (table: AliasTable, name: string): string => (Object.hasOwn(table, name) ? (table[name] as string) : name)

const [[ALIAS_IMAGE, OWN_IMAGE]] = Object.entries(ALIAS_IMAGES) as [[string, string]]

/** Returns the id of this API for an image id in a request. Ids of this API are accepted, too: lists of images have them. */
const ownImageId = (id: string): string => (id.startsWith(ALIAS_IMAGE) ? OWN_IMAGE + id.slice(ALIAS_IMAGE.length) : id)

const aliasImageId = (id: string): string => (id.startsWith(OWN_IMAGE) ? ALIAS_IMAGE + id.slice(OWN_IMAGE.length) : id)

/** The parameters of a path with the image id of this API. A client's image id makes the request use the clients' names. */
export function ownParameters(request: IncomingMessage, parameters: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const { imageId } = parameters
  if (imageId === undefined || !imageId.startsWith(ALIAS_IMAGE)) return parameters
  translated.add(request)
  return { ...parameters, imageId: ownImageId(imageId) }
}

/** Whether the body of a request to a path of this API has fields with aliases. */
const hasAliasFields = (path: string): boolean => Object.values(ALIAS_PATHS).some((name) => startsWithPath(path, name))

/**
 * Returns the body of a request with the names of this API. Both paths accept both names of a field: as an unknown field, one of them would be
 * ignored, and the request would do something else. If a body has both, the name of this API counts, unless it is null.
 */
export function ownBody(request: IncomingMessage, { path }: { readonly path: string }, body: unknown): unknown {
  if (!hasAliasFields(path) || typeof body !== 'object' || body === null || Array.isArray(body)) return body
  const entries = Object.entries(body).map(([field, value]): [string, unknown] => {
    const name = exchange(ALIAS_FIELDS, field)
    const isImage = usesAliases(request) && (field === 'image' || field === 'images')
    const isGiven = Object.hasOwn(body, name) && (body as Record<string, unknown>)[name] !== null
    return [isGiven ? field : name, isImage ? mapTexts(value, ownImageId) : value]
  })
  // Of two entries with one name, the later one counts.
  return Object.fromEntries(entries.sort(([, a], [, b]) => Number(b === null) - Number(a === null)))
}

/** The text that an id of this API contains if the client's id contains the given one; `also` if ids that begin otherwise may contain that, too. */
function ownPartOfId(text: string): string | { readonly also: string } {
  if (text.startsWith(ALIAS_IMAGE)) return ownImageId(text)
  if (ALIAS_IMAGE.includes(text)) return { also: OWN_IMAGE }
  const start = text.slice(0, text.indexOf('/') + 1)
  return start !== '' && ALIAS_IMAGE.endsWith(start) ? { also: OWN_IMAGE + text.slice(start.length) } : text
}

/** Returns a filter with the image ids of this API. */
export function ownFilter(filter: Filter): Filter {
  const own = (condition: Condition): Condition => {
    if ('all' in condition) return { all: condition.all.map(own) }
    if ('any' in condition) return { any: condition.any.map(own) }
    const { field, value } = condition
    if (field !== 'image' || typeof value !== 'string') return condition
    const text = condition.comparison === 'contains' ? ownPartOfId(value) : ownImageId(value)
    return typeof text === 'string' ? { ...condition, value: text } : { any: [condition, { ...condition, value: text.also }] }
  }
  return { ...filter, condition: own(filter.condition) }
}

/** Sections whose responses contain ids of images. */
const WITH_IMAGES = ['/compute/instances', '/compute/scripts', '/images', '/tags']

/** Returns the body of a response with the clients' image ids. */
export const aliasBody = (path: string, body: unknown): unknown =>
  WITH_IMAGES.some((section) => startsWithPath(path, section)) ? withAliasImages(body) : body

function withAliasImages(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withAliasImages)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([field, inner]) => {
      if (field === 'id' || field === 'images') return [field, mapTexts(inner, aliasImageId)]
      if (field === 'image') return [field, typeof inner === 'string' ? aliasImageId(inner) : withAliasImages(inner)]
      return [field, field === 'data' ? withAliasImages(inner) : inner]
    }),
  )
}

/** Converts a text, or the texts of a list. Leaves anything else as it is, at any depth. */
function mapTexts(value: unknown, map: (text: string) => string): unknown {
  const mapOne = (item: unknown): unknown => (typeof item === 'string' ? map(item) : item)
  return Array.isArray(value) ? value.map(mapOne) : mapOne(value)
}

/** Returns an error of a request with the clients' names; any other error unchanged. */
export function aliasError(path: string, error: unknown): unknown {
  if (!(error instanceof RequestError) || !hasAliasFields(path)) return error
  return new RequestError(error.status, error.problems.map(aliasProblem))
}

/** A reason may repeat the field, or contain the id of an image. */
function aliasProblem({ field, reason }: RequestProblem): RequestProblem {
  if (field === null) return { field, reason }
  const [first = '', ...rest] = field.split('.')
  if (first === 'image' || first === 'images') return { field, reason: reason.replaceAll(OWN_IMAGE, ALIAS_IMAGE) }
  const alias = exchange(ALIASES_OF_FIELDS, first)
  return alias === first ? { field, reason } : { field: [alias, ...rest].join('.'), reason: reason.replaceAll(first, alias) }
}

const ALIAS_FAMILIES: AliasTable = Object.fromEntries(Object.entries(ALIAS_SCOPES).map(([alias, name]) => [name, alias]))

/** A required scope with the clients' name of its family. */
export function aliasScope(scope: string): string {
  const [family = '', level] = scope.split(':')
  return `${exchange(ALIAS_FAMILIES, family)}:${level}`
}
