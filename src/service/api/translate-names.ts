/**
 * Lets clients of the hosting service call this API unchanged. A request to one of their paths is routed to the path of this API; its fields, image
 * ids and filter are translated before validation, and the response and its errors back. `alias-names.ts` has the table.
 */
import type { IncomingMessage } from 'node:http'
import type { Condition, Filter } from '../filter/filter.ts'
import { ALIAS_FIELDS, ALIAS_IMAGES, ALIAS_PATHS, ALIAS_SCOPES, ALIAS_VERSION, type AliasTable } from './alias-names.ts'
import { RequestError, type RequestProblem } from './request-error.ts'
import type { Route } from './route.ts'
import type { Scope } from './scopes.ts'

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
export const ownImageId = (id: string): string => (id.startsWith(ALIAS_IMAGE) ? OWN_IMAGE + id.slice(ALIAS_IMAGE.length) : id)

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
export function ownBody(request: IncomingMessage, { path }: Pick<Route, 'path'>, body: unknown): unknown {
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
export function aliasScope(scope: Scope): string {
  const [family = '', level] = scope.split(':')
  return `${exchange(ALIAS_FAMILIES, family)}:${level}`
}
