/** A scripted Scaleway Domains and DNS: zones and records in memory behind API v2beta1, with tokens, projects, pages, changes and rate limits. */
import { compare, type Fields, fieldsOf, pageOf, Refusal, scriptedService, secondsOf, type Throttling } from '../base.ts'
import type { ScriptedRequest, ScriptedService } from '../scripted-server.ts'
import { invalid, refuseClash, type ScalewayRecord, storedRecord } from './records.ts'

export interface ScalewayZone {
  /** The domain of the account. */
  readonly domain: string
  /** Empty for the zone of the domain itself. */
  readonly subdomain?: string
  readonly project?: string
  /** `active` if absent. */
  readonly status?: string
  /** Those of a new zone if absent. */
  readonly records?: readonly ScalewayRecord[]
}

export interface ScalewayOptions extends Throttling {
  readonly token: string
  readonly zones: readonly ScalewayZone[]
  /** Whether the token may only read. */
  readonly readOnly?: boolean
  /** Changes of records that are refused first, because an earlier change is not published yet. */
  readonly transient?: number
}

export interface ScriptedScaleway {
  readonly service: ScriptedService
  /** The records of a zone, for people who look at it without the API; null if there is no such zone. */
  records(zone: string): readonly ScalewayRecord[] | null
}

type State = { domain: string; subdomain: string; project: string; status: string; updated: string; records: ScalewayRecord[] }

const BASE = '/domain/v2beta1/dns-zones'
const PROJECT = '11111111-2222-4333-8444-555555555555'
const NAMESERVERS = ['ns0.dom.scw.cloud', 'ns1.dom.scw.cloud']
const MAX_PAGE = 1000

const DENIED = new Refusal(403, {
  details: [{ action: 'write', resource: 'domain_dns_zone' }],
  message: 'insufficient permissions',
  type: 'permissions_denied',
})
const UNKNOWN_DOMAIN = new Refusal(403, { message: 'domain not found' })
const UNKNOWN_PATH = new Refusal(404, { message: 'not found', type: 'unknown_resource' })
const UNKNOWN_KEY = { message: 'authentication is denied', method: 'api_key', reason: 'not_found', type: 'denied_authentication' }

export function createScaleway(options: ScalewayOptions): ScriptedScaleway {
  const state = new Map<string, State>()
  let transient = options.transient ?? 0
  const addZone = ({ domain, subdomain = '', project = PROJECT, status = 'active', records }: ScalewayZone): State => {
    const name = subdomain === '' ? domain : `${subdomain}.${domain}`
    const own = NAMESERVERS.map((server) => storedRecord({ name: '', type: 'NS', data: `${server}.`, ttl: 1800 }, name))
    const zone = { domain, subdomain, project, status, updated: secondsOf(), records: [...(records ?? own)] }
    state.set(name, zone)
    return zone
  }
  for (const zone of options.zones) addZone(zone)

  const described = ({ domain, subdomain, project, status, updated }: State): Fields => ({
    domain,
    subdomain,
    ns: NAMESERVERS,
    ns_default: NAMESERVERS,
    ns_master: [],
    status,
    message: null,
    updated_at: updated,
    project_id: project,
    linked_products: [],
  })
  const createZone = (sent: Fields): Fields => {
    const [domain, subdomain] = [String(sent['domain'] ?? ''), String(sent['subdomain'] ?? '')]
    const name = subdomain === '' ? domain : `${subdomain}.${domain}`
    if (![...state.values()].some((zone) => zone.domain === domain)) throw UNKNOWN_DOMAIN
    if (state.has(name)) throw new Refusal(409, { message: 'resource already exists', resource: 'dns_zone', type: 'conflict' })
    return described(addZone({ domain, subdomain, project: String(sent['project_id'] ?? PROJECT) }))
  }

  /** All changes or none, in their order. Returns the records that were added or set. */
  const change = (name: string, zone: State, sent: Fields): Fields => {
    if (transient > 0) {
      transient -= 1
      throw new Refusal(409, {
        current_state: 'pending',
        message: 'resource is in a transient state',
        resource: 'dns_zone',
        type: 'transient_state',
      })
    }
    let records = [...zone.records]
    const written: ScalewayRecord[] = []
    const put = (fields: Fields, id: string | null): void => {
      const stored = storedRecord(fields, name)
      const record = id === null ? stored : { ...stored, id }
      refuseClash(record, records)
      records.push(record)
      written.push(record)
    }
    for (const one of (sent['changes'] ?? []) as readonly Fields[]) {
      const [[action, body] = ['', {}]] = Object.entries(one) as [string, Fields][]
      const fields = (body['id_fields'] ?? body['idFields'] ?? null) as Fields | null
      const isMeant = (record: ScalewayRecord): boolean =>
        body['id'] === undefined
          ? fields !== null &&
            record.type === fields['type'] &&
            record.name === storedName(fields['name']) &&
            (fields['data'] === undefined || record.data === fields['data']) &&
            (fields['ttl'] === undefined || record.ttl === fields['ttl'])
          : record.id === body['id']
      if (action === 'clear') records = []
      else if (action === 'add') for (const record of body['records'] as Fields[]) put(record, null)
      else if (action === 'set' || action === 'delete') {
        const meant = records.filter(isMeant)
        if (meant.length === 0 && body['id'] !== undefined)
          throw new Refusal(404, { message: 'resource is not found', resource: 'record', type: 'not_found' })
        records = records.filter((record) => !meant.includes(record))
        if (action === 'set')
          for (const [index, record] of ((body['records'] ?? []) as Fields[]).entries()) put(record, meant[index]?.id ?? null)
      } else throw invalid('changes', 'unknown change')
    }
    zone.records = records
    zone.updated = secondsOf()
    return { records: sent['return_all_records'] === true ? sorted(records) : written }
  }

  const route = ({ method, path, query, body }: ScriptedRequest): Fields => {
    const [, name, part] = /^\/domain\/v2beta1\/dns-zones(?:\/([^/]+)(?:\/(records))?)?$/.exec(path) ?? []
    if (!path.startsWith(BASE)) throw UNKNOWN_PATH
    if (options.readOnly === true && method !== 'GET') throw DENIED
    if (name === undefined) {
      if (method === 'POST') return createZone(sentIn(body))
      const wanted = [...query.getAll('dns_zones'), ...query.getAll('dns_zone')]
      const zones = [...state].filter(
        ([zone, { project, domain }]) =>
          (wanted.length === 0 || wanted.includes(zone)) && isFound(query, 'project_id', project) && isFound(query, 'domain', domain),
      )
      return page(
        query,
        'dns_zones',
        zones.sort(([a], [b]) => compare(a, b)).map(([, zone]) => described(zone)),
      )
    }
    const zone = state.get(decodeURIComponent(name))
    if (zone === undefined) throw UNKNOWN_DOMAIN
    if (part === undefined) {
      if (method !== 'DELETE') throw UNKNOWN_PATH
      state.delete(decodeURIComponent(name))
      return {}
    }
    if (method === 'PATCH') return change(decodeURIComponent(name), zone, sentIn(body))
    const ofType = (type: string): boolean => query.get('type') === 'unknown' || isFound(query, 'type', type)
    const matches = zone.records.filter(({ name, type, id }) => isFound(query, 'name', name) && ofType(type) && isFound(query, 'id', id))
    return page(query, 'records', sorted(matches))
  }

  const service = scriptedService(options, {
    throttled: new Refusal(429, { message: 'too many requests', type: 'too_many_requests' }, { 'retry-after': '1' }),
    answer(request) {
      if (request.headers['x-auth-token'] !== options.token) throw new Refusal(401, UNKNOWN_KEY)
      return { body: route(request) }
    },
  })
  return { service, records: (zone) => state.get(zone)?.records ?? null }
}

const sentIn = (body: string): Fields => fieldsOf(body, new Refusal(400, { message: 'invalid JSON', type: 'invalid_request_error' }))

/** An empty parameter asks for nothing. */
const isFound = (query: URLSearchParams, key: string, value: string): boolean => !query.get(key) || query.get(key) === value
const storedName = (name: unknown): string => (name === '@' ? '' : String(name ?? ''))

/** By name; the order of records with the same name is not that of their creation. */
const sorted = (records: readonly ScalewayRecord[]): ScalewayRecord[] =>
  [...records].sort((a, b) => compare(a.name, b.name) || compare(a.id, b.id))

function page(query: URLSearchParams, key: string, items: readonly unknown[]): Fields {
  const refuse = (parameter: string) =>
    invalid(parameter, parameter === 'page' ? 'must be at least 1' : `must be between 1 and ${MAX_PAGE}`)
  const { items: shown } = pageOf(items, query, { size: 'page_size', usual: 20, most: MAX_PAGE, refusesMore: true, refuse })
  return { total_count: items.length, [key]: shown }
}
