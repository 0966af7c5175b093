/** A client of Azure DNS behind Azure Resource Manager: tokens, errors, pages and response bodies. */
import { type AccessTokens, createSignedInApi } from '../access-tokens.ts'
import { type ApiDialect, bodyDialect } from '../api-errors.ts'
import type { ApiConnection } from '../json-api.ts'
import { checkZoneName, type Fields, fieldsOf, listOf, ShapeError, textOf, wholeNumberOf } from '../json-shape.ts'
import { readLinkedPages } from '../read-pages.ts'
import type { ApiRequest } from '../send-request.ts'
import type { Visibility } from './record-format.ts'

/** Where zones are, and the version of their API. */
const KINDS: Readonly<Record<Visibility, readonly [kind: string, version: string]>> = {
  public: ['dnsZones', '2018-05-01'],
  private: ['privateDnsZones', '2020-06-01'],
}

/** Items that a request for a page asks for. The service may send fewer. */
const PAGE_SIZE = 500
const MAX_LINK = 8192

export interface AzureScope {
  readonly subscription: string
  readonly resourceGroup: string
  readonly visibility: Visibility
}

/** The path of the zones of a resource group. */
export const zonesPath = ({ subscription, resourceGroup, visibility }: AzureScope): string =>
  `/subscriptions/${subscription}/resourceGroups/${encodeURIComponent(resourceGroup)}/providers/Microsoft.Network/${KINDS[visibility][0]}`

export type AzureApi = ReturnType<typeof createAzureApi>

export function createAzureApi(connection: ApiConnection, scope: AzureScope, tokens: AccessTokens) {
  const { request, close } = createSignedInApi(connection, tokens, dialectOf(scope))
  const [, version] = KINDS[scope.visibility]
  const base = zonesPath(scope)
  /** `path` is below the zones of the resource group. */
  const send = <T>(call: ApiRequest, shape: (body: unknown) => T): Promise<T> =>
    request({ ...call, query: { 'api-version': version, ...call.query }, path: `${base}${call.path}` }, shape)
  return {
    request: send,
    /** Reads all pages of a list. */
    list: <T>(call: ApiRequest, shape: (item: unknown) => T): Promise<T[]> =>
      readLinkedPages(`${connection.provider}: ${call.what}`, (query: Page<unknown>['next']) =>
        send({ ...call, query: query ?? { $top: PAGE_SIZE } }, (body) => pageShape(body, shape)),
      ),
    close,
  }
}

interface Page<T> {
  readonly items: T[]
  /** The query of the next page; null on the last one. */
  readonly next: Readonly<Record<string, string>> | null
}

/** Of the address of the next page only the query is used, so that no answer can lead to another host or path. */
function pageShape<T>(body: unknown, shape: (item: unknown) => T): Page<T> {
  const fields = fieldsOf(body, 'the response')
  const link = fields['nextLink'] ?? ''
  if (typeof link !== 'string' || link.length > MAX_LINK) throw new ShapeError('the address of the next page is no short text')
  const items = listOf(fields['value'], 'value').map(shape)
  if (link === '') return { items, next: null }
  if (!URL.canParse(link)) throw new ShapeError('the address of the next page is no URL')
  return { items, next: Object.fromEntries(new URL(link).searchParams) }
}

/** Azure Resource Manager puts its errors in a frame, the service behind it does not. */
const dialectOf = ({ subscription, resourceGroup }: AzureScope): ApiDialect =>
  bodyDialect('Azure Resource Manager is at https://management.azure.com', (body, { status, text }) => {
    const { code, message } = ((body as Fields)['error'] ?? body) as Fields
    if (typeof code !== 'string' || typeof message !== 'string') return null
    const reason = `${message.slice(0, MAX_MESSAGE)} (${code.slice(0, 100)})`
    return {
      text: reason,
      hint: (stated) => (OWN_NS.test(text) ? OWN_NS_HINT : hintFor(stated, subscription, resourceGroup)),
      // It refuses one of two requests for the same resource, and has not acted on it.
      isBusy: status === 409 && /concurrent request|another operation/i.test(reason),
    }
  })

/** Maximum characters of a message before its code. */
const MAX_MESSAGE = 490

/** What Azure says about an NS record set at the apex without its own name servers. */
const OWN_NS = /name servers of Azure DNS cannot be removed/
const OWN_NS_HINT = 'list the name servers of Azure too ("zonewright import" shows them), in the definition or with --apex-ns of a copy'

function hintFor(code: string, subscription: string, resourceGroup: string): string | undefined {
  if (code === 'provider-unauthorized') return 'the token has expired, or is not one for https://management.azure.com'
  if (code === 'provider-forbidden')
    return `the account needs the role "DNS Zone Contributor" in the resource group ${resourceGroup}, or "Reader" to plan`
  if (code === 'provider-not-found') return `check the subscription ${subscription} and the resource group ${resourceGroup}`
  if (code === 'provider-conflict') return 'another client changed the zone; plan again to see the change'
  return undefined
}

export type ApiZone = ReturnType<typeof zoneShape>

/** The name is without the final dot. */
export const zoneShape = (value: unknown) => ({ name: textOf(fieldsOf(value, 'a zone'), 'name', 'a zone') })

/** The shape of an answer about one zone. */
export const zoneNamed =
  (name: string) =>
  (value: unknown): ApiZone => {
    const zone = zoneShape(value)
    checkZoneName(name, zone.name)
    return zone
  }

export type ApiSet = ReturnType<typeof setShape>

export function setShape(value: unknown) {
  const fields = fieldsOf(value, 'a record set')
  const properties = fieldsOf(fields['properties'], 'the properties of a record set')
  const { targetResource, trafficManagementProfile, isAutoRegistered } = properties
  const target = [targetResource, trafficManagementProfile].map((resource) => (resource as Fields | null | undefined)?.['id'])
  const followed = target.find((id) => typeof id === 'string')
  return {
    /** Relative to the zone; `@` for the apex. */
    name: textOf(fields, 'name', 'a record set').toLowerCase(),
    type: textOf(fields, 'type', 'a record set').split('/').at(-1) as string,
    etag: etagOf(fields),
    /** Seconds. */
    ttl: wholeNumberOf(properties, properties['TTL'] === undefined ? 'ttl' : 'TTL', 'a record set'),
    properties,
    /** The resource at Azure that an alias record set follows, or what else manages it, in words that follow its name; null if its records are its own. */
    managedBy:
      typeof followed === 'string'
        ? `is an alias of the resource ${followed.split('/').slice(-2).join('/').slice(0, 200)}`
        : isAutoRegistered === true
          ? 'belongs to a virtual machine'
          : null,
  }
}

/** A part of a header. */
function etagOf(fields: Fields): string {
  const etag = textOf(fields, 'etag', 'a record set')
  if (!/^[\x21-\x7e]{1,200}$/.test(etag)) throw new ShapeError('a record set has an ETag with spaces, non-ASCII characters or no end')
  return etag
}
