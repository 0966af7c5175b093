/** A scripted Azure DNS: public and private zones with their record sets in memory behind Azure Resource Manager, with ETags, pages, limits, throttling and a sign-in. */
import { randomUUID } from 'node:crypto'
import { type Fields, fieldsOf, isWholeNumber, type Result, scriptedService, type Throttling } from '../base.ts'
import type { ScriptedRequest, ScriptedService } from '../scripted-server.ts'
import { badRequest, compareSets, fieldOf, propertyOf, type RecordSet, refusal, refuseBesideCname, sentSet } from './record-sets.ts'
import { type Application, createSignIn } from './sign-in.ts'

export interface AzureZone {
  readonly name: string
  readonly isPrivate?: boolean
  readonly etag?: string
  /** Those of a new zone if absent. */
  readonly sets?: readonly RecordSet[]
  readonly nameServers?: readonly string[]
}

export interface AzureOptions extends Throttling {
  readonly subscription: string
  readonly resourceGroup: string
  /** A token that is accepted without signing in. */
  readonly token: string
  /** The application that may sign in. */
  readonly application?: Application
  readonly zones: readonly AzureZone[]
  /** Maximum items of a page, whatever a request asks for; by default 500. */
  readonly pageSize?: number
}

export interface ScriptedAzure {
  readonly service: ScriptedService
  /** The record sets of a zone, for people who look at it without the API. */
  sets(zone: string): readonly RecordSet[]
  zones(): readonly string[]
}

const DEFAULT_PAGE = 100
/** Seconds of `Retry-After`. */
const PAUSE = '1'
const NAME_SERVERS = ['ns1-05.azure-dns.com.', 'ns2-05.azure-dns.net.', 'ns3-05.azure-dns.org.', 'ns4-05.azure-dns.info.']

interface ZoneState {
  readonly name: string
  readonly isPrivate: boolean
  readonly etag: string
  readonly nameServers: readonly string[]
  readonly sets: Map<string, RecordSet>
  /** How often its deletion is still reported as running. */
  deleting: number | null
}

const keyOf = (type: string, name: string): string => `${type} ${name}`

/** The record sets of a new zone. */
export function newSets(isPrivate: boolean, nameServers: readonly string[] = NAME_SERVERS): RecordSet[] {
  const base = { name: '@', metadata: undefined, targetResource: {} }
  const soa = {
    email: isPrivate ? 'azureprivatedns-host.microsoft.com' : 'azuredns-hostmaster.microsoft.com',
    expireTime: 2_419_200,
    host: isPrivate ? 'azureprivatedns.net' : nameServers[0],
    minimumTTL: 300,
    refreshTime: 3600,
    retryTime: 300,
    serialNumber: 1,
  }
  const ns = { ...base, type: 'NS', etag: randomUUID(), ttl: 172_800, records: nameServers.map((nsdname) => ({ nsdname })) }
  return [...(isPrivate ? [] : [ns]), { ...base, type: 'SOA', etag: randomUUID(), ttl: 3600, records: [soa] }]
}

export function createAzure(options: AzureOptions): ScriptedAzure {
  const { subscription, resourceGroup, pageSize = 500 } = options
  const state = new Map<string, ZoneState>()
  const stateKey = (name: string, isPrivate: boolean): string => `${isPrivate} ${name.toLowerCase()}`
  const addZone = ({ name, isPrivate = false, etag = randomUUID(), nameServers = NAME_SERVERS, sets }: AzureZone): ZoneState => {
    const own = (sets ?? newSets(isPrivate, nameServers)).map((set) => [keyOf(set.type, set.name), set] as const)
    const zone = { name, isPrivate, etag, nameServers, sets: new Map(own), deleting: null }
    state.set(stateKey(name, isPrivate), zone)
    return zone
  }
  for (const zone of options.zones) addZone(zone)
  const signIn = createSignIn(options.token, options.application)

  const folderOf = (isPrivate: boolean): string =>
    `/subscriptions/${subscription}/resourceGroups/${resourceGroup}/providers/Microsoft.Network/${isPrivate ? 'privateDnsZones' : 'dnszones'}`
  const zoneAnswer = ({ name, isPrivate, etag, nameServers, sets }: ZoneState): Fields => ({
    id: `${folderOf(isPrivate)}/${name}`,
    name,
    type: isPrivate ? 'Microsoft.Network/privateDnsZones' : 'Microsoft.Network/dnszones',
    etag,
    location: 'global',
    tags: {},
    properties: {
      maxNumberOfRecordSets: 10_000,
      maxNumberOfRecordsPerRecordSet: null,
      ...(!isPrivate && { nameServers }),
      numberOfRecordSets: sets.size,
      ...(!isPrivate && { zoneType: 'Public' }),
    },
  })
  const setAnswer = (zone: ZoneState, { name, type, etag, ttl, records, metadata, targetResource }: RecordSet): Fields => {
    const [property, isSingle] = propertyOf(type, zone.isPrivate)
    return {
      id: `${folderOf(zone.isPrivate)}/${zone.name}/${type}/${name}`,
      name,
      type: `Microsoft.Network/${zone.isPrivate ? 'privateDnsZones' : 'dnszones'}/${type}`,
      etag,
      properties: {
        ...(metadata && { metadata }),
        fqdn: name === '@' ? `${zone.name}.` : `${name}.${zone.name}.`,
        [zone.isPrivate ? 'ttl' : 'TTL']: ttl,
        ...(records.length > 0 && { [property]: isSingle ? records[0] : records }),
        ...(zone.isPrivate ? { isAutoRegistered: false } : { targetResource, provisioningState: 'Succeeded' }),
      },
    }
  }

  const page = ({ path, query, headers }: ScriptedRequest, items: readonly unknown[]): Result => {
    const top = Math.min(Number(query.get('$top') ?? DEFAULT_PAGE), pageSize)
    if (!isWholeNumber(top, 1, pageSize)) throw badRequest("The value of '$top' is invalid.")
    const start = Number(query.get('$skipToken') ?? 0)
    const next = new URLSearchParams(query)
    next.set('$skipToken', String(start + top))
    const nextLink = `https://${headers['host']}${path}?${next}`
    return { body: { value: items.slice(start, start + top), ...(start + top < items.length && { nextLink }) } }
  }

  const refusePrecondition = (headers: ScriptedRequest['headers'], existing: RecordSet | undefined): void => {
    const [match, noneMatch] = [headers['if-match'], headers['if-none-match']]
    if (noneMatch === '*' && existing !== undefined)
      throw refusal(412, 'PreconditionFailed', `The Record set ${existing.name} exists already and hence cannot be created again.`)
    const expected = match?.replace(/^"(.*)"$/, '$1')
    if (expected !== undefined && expected !== '*' && expected !== existing?.etag)
      throw refusal(
        412,
        'PreconditionFailed',
        `The condition '${expected}' in the If-Match header was not satisfied. The current was '${existing?.etag ?? 'not found'}'.`,
      )
  }

  const putSet = (zone: ZoneState, type: string, name: string, body: Fields, headers: ScriptedRequest['headers']): Result => {
    const existing = zone.sets.get(keyOf(type, name))
    const sent = sentSet(type, name, body, zone.isPrivate)
    refusePrecondition(headers, existing)
    refuseBesideCname(type, name, zone.sets.values())
    if (type === 'NS' && name === '@') {
      const names = sent.records.map(({ nsdname }) => String(nsdname).toLowerCase().replace(/\.?$/, '.'))
      if (zone.nameServers.some((server) => !names.includes(server)))
        throw badRequest('The name servers of Azure DNS cannot be removed from the NS record set at the zone apex.')
    }
    if (existing === undefined && zone.sets.size >= 10_000) throw badRequest('The zone has the maximum number of record sets.')
    const set = { name, type, etag: randomUUID(), ...sent }
    zone.sets.set(keyOf(type, name), set)
    return { status: existing === undefined ? 201 : 200, body: setAnswer(zone, set), headers: { etag: set.etag } }
  }

  const patchSet = (zone: ZoneState, type: string, name: string, body: Fields, headers: ScriptedRequest['headers']): Result => {
    const existing = zone.sets.get(keyOf(type, name))
    if (existing === undefined) throw notFound(`${zone.name}/${type}/${name}`)
    const [property, isSingle] = propertyOf(type, zone.isPrivate)
    const before = { TTL: existing.ttl, metadata: existing.metadata, [property]: isSingle ? existing.records[0] : existing.records }
    return putSet(zone, type, name, { properties: { ...before, ...(fieldOf(body, 'properties') as Fields) } }, headers)
  }

  const setRoute = (request: ScriptedRequest, zone: ZoneState, type: string, name: string): Result => {
    const { method, headers, body } = request
    const existing = zone.sets.get(keyOf(type, name))
    if (method === 'PUT') return putSet(zone, type, name, sentIn(body), headers)
    if (method === 'PATCH') return patchSet(zone, type, name, sentIn(body), headers)
    if (method === 'DELETE') {
      if (existing === undefined) return { status: 204 }
      refusePrecondition(headers, existing)
      if (name === '@' && (type === 'NS' || type === 'SOA'))
        throw badRequest(`The record set of type '${type}' at the zone apex cannot be deleted.`)
      zone.sets.delete(keyOf(type, name))
      return { status: 200 }
    }
    if (existing === undefined) throw notFound(`${zone.name}/${type}/${name}`)
    return { body: setAnswer(zone, existing), headers: { etag: existing.etag } }
  }

  const zoneRoute = (request: ScriptedRequest, name: string, isPrivate: boolean): Result => {
    const key = stateKey(name, isPrivate)
    const zone = state.get(key)
    if (request.method === 'PUT') {
      if (zone !== undefined && request.headers['if-none-match'] === '*')
        throw refusal(412, 'PreconditionFailed', `The Zone ${name} exists already and hence cannot be created again.`)
      if (!/^(?:[a-z0-9_-]+\.)+[a-z0-9_-]+$/i.test(name)) throw refusal(400, 'InvalidParameter', `The zone name '${name}' is invalid.`)
      return { status: zone === undefined ? 201 : 200, body: zoneAnswer(zone ?? addZone({ name: name.toLowerCase(), isPrivate })) }
    }
    if (zone !== undefined && zone.deleting !== null) {
      zone.deleting -= 1
      if (zone.deleting < 0) state.delete(key)
    }
    if (zone === undefined || zone.deleting === -1) {
      if (request.method === 'DELETE') return { status: 204 }
      throw notFound(name)
    }
    if (request.method !== 'DELETE') return { body: zoneAnswer(zone) }
    zone.deleting ??= 1
    return { status: 202, headers: { location: `https://${request.headers['host']}${request.path}/operation`, 'retry-after': PAUSE } }
  }

  const route = (request: ScriptedRequest): Result => {
    const [, owner, group, kind, zoneName, typePart, name] =
      /^\/subscriptions\/([^/]+)\/resourceGroups\/([^/]+)\/providers\/Microsoft\.Network\/(dnszones|privateDnsZones|trafficManagerProfiles)(?:\/([^/]+)(?:\/([^/]+)(?:\/([^/]+))?)?)?$/i.exec(
        request.path,
      ) ?? []
    if (owner === undefined || !request.query.has('api-version'))
      throw refusal(404, 'InvalidResourceType', 'The resource type could not be found.')
    if (owner !== subscription) throw refusal(404, 'SubscriptionNotFound', `The subscription '${owner}' could not be found.`)
    if (group?.toLowerCase() !== resourceGroup.toLowerCase())
      throw refusal(
        403,
        'AuthorizationFailed',
        `The client does not have authorization to perform action over scope '/subscriptions/${owner}/resourceGroups/${group}'.`,
      )
    if (/traffic/i.test(kind ?? '')) return { body: { value: [] } }
    const isPrivate = /private/i.test(kind ?? '')
    if (zoneName === undefined) {
      const zones = [...state.values()].filter((zone) => zone.isPrivate === isPrivate && zone.deleting === null)
      return page(request, zones.map(zoneAnswer))
    }
    if (typePart === undefined) return zoneRoute(request, zoneName, isPrivate)
    const zone = state.get(stateKey(zoneName, isPrivate))
    if (zone === undefined || zone.deleting !== null) throw notFound(zoneName)
    if (name !== undefined) return setRoute(request, zone, typePart.toUpperCase(), decodeURIComponent(name).toLowerCase())
    const sets = [...zone.sets.values()].sort(compareSets)
    const all = /^(?:all|recordsets)$/i.test(typePart)
    return page(
      request,
      sets.filter(({ type }) => all || type === typePart.toUpperCase()).map((set) => setAnswer(zone, set)),
    )
  }

  const service = scriptedService(options, {
    contentType: 'application/json; charset=utf-8',
    throttled: refusal(429, 'TooManyRequests', 'The request is being throttled.', { 'retry-after': PAUSE }),
    before: signIn.answer,
    answer(request) {
      if (signIn.accepts(request.headers['authorization'])) return route(request)
      throw refusal(401, 'InvalidAuthenticationToken', 'The access token is invalid.')
    },
  })
  return {
    service,
    sets: (zone) => [...([...state.values()].find(({ name }) => name === zone)?.sets.values() ?? [])].sort(compareSets),
    zones: () => [...state.values()].map(({ name }) => name),
  }
}

const notFound = (what: string) => refusal(404, 'ResourceNotFound', `The Resource 'Microsoft.Network/dnszones/${what}' was not found.`)

const sentIn = (body: string): Fields =>
  fieldsOf(body, refusal(400, 'InvalidRequestContent', 'The request content was invalid and could not be deserialized.'))
