/** A scripted Hetzner Cloud: zones and RRsets in memory behind its API v1, with tokens, pages, actions, protection and rate limits. */
import type { ScriptedRequest, ScriptedResponse, ScriptedService } from '../scripted-server.ts'
import { type ActionOptions, actionBody, createActions } from './actions.ts'
import { fieldsOf, found, page, type Result } from './lists.ts'
import {
  checkIdentity,
  checkTtl,
  type Fields,
  type HetznerRecord,
  type HetznerRrset,
  invalidInput,
  Refusal,
  refuseClash,
  storedRecords,
} from './rrsets.ts'
import { completeZone, defaultRrsets, type HetznerZone } from './zones.ts'

export interface HetznerOptions extends ActionOptions {
  /** A token that may only read ends with `-readonly`. */
  readonly token: string
  readonly zones: readonly HetznerZone[]
  readonly rrsets?: readonly HetznerRrset[]
  /** Requests that are answered before each refusal with status 429; by default none is refused. */
  readonly requestsPerPause?: number
  /** Changes that are refused with status 423 because another action is running. */
  readonly locked?: number
}

export interface ScriptedHetzner {
  readonly service: ScriptedService
  /** The RRsets of a zone, for people who look at it without the API. */
  rrsets(zone: number): readonly HetznerRrset[]
  zones(): readonly HetznerZone[]
}

const SERIAL = /^(\S+ \S+ )(\d+)/

export function createHetzner(options: HetznerOptions): ScriptedHetzner {
  const zones = new Map(options.zones.map((zone) => [zone.id, completeZone(zone)]))
  const state = new Map<number, Map<string, HetznerRrset>>(options.zones.map(({ id }) => [id, new Map()]))
  for (const rrset of options.rrsets ?? []) state.get(rrset.zone)?.set(rrset.id, rrset)
  const actions = createActions(options)
  const remaining = { others: 3600, actions: 7200 }
  let sinceRefusal = 0
  let locked = options.locked ?? 0

  const rrsetsOf = (zone: HetznerZone): Map<string, HetznerRrset> => {
    if (zone.mode === 'secondary') throw new Refusal(422, 'incorrect_zone_mode', "This operation is not supported for this Zone's mode")
    return state.get(zone.id) as Map<string, HetznerRrset>
  }
  const zoneOf = (idOrName: string): HetznerZone => {
    const zone = [...zones.values()].find(({ id, name }) => String(id) === idOrName || name === idOrName)
    if (zone === undefined) throw new Refusal(404, 'not_found', 'Zone not found')
    return zone
  }
  const zoneBody = (zone: HetznerZone): object => {
    const rrsets = [...(state.get(zone.id)?.values() ?? [])]
    return { ...zone, record_count: rrsets.reduce((sum, { records }) => sum + records.length, 0) }
  }

  /** Makes a change of a zone, and begins its action. */
  const begin = (command: string, zone: HetznerZone, change: () => void, status = 201, more: () => object = () => ({})): Result => {
    const before = new Map(state.get(zone.id))
    change()
    const rrsets = state.get(zone.id)
    const soa = rrsets?.get('@/SOA')
    const raised = soa?.records.map(({ value, ...rest }) => ({
      ...rest,
      value: value.replace(SERIAL, (_, names, serial) => names + (Number(serial) + 1)),
    }))
    if (soa !== undefined && raised !== undefined) rrsets?.set('@/SOA', { ...soa, records: raised })
    const action = actions.start(command, zone.id, () => {
      for (const id of [...(rrsets?.keys() ?? [])]) if (!before.has(id)) rrsets?.delete(id)
      for (const [id, rrset] of before) rrsets?.set(id, rrset)
    })
    return { status, body: { ...more(), action: actionBody(action) } }
  }

  const store = (zone: HetznerZone, rrset: HetznerRrset): void => {
    const rrsets = rrsetsOf(zone)
    refuseClash(rrset, rrsets.values())
    rrsets.set(rrset.id, rrset)
  }
  const newRrset = (zone: HetznerZone, { name, type, ttl, labels, records }: Fields): HetznerRrset => {
    checkIdentity(name, type, zone.name)
    return {
      id: `${name}/${type}`,
      name: String(name),
      type: String(type),
      ttl: ttl == null ? null : checkTtl(ttl),
      labels: (labels ?? {}) as Readonly<Record<string, string>>,
      protection: { change: false },
      records: storedRecords(String(type), records),
      zone: zone.id,
    }
  }

  const rrsetAction = (zone: HetznerZone, [name, type]: readonly [string, string], action: string, sent: Fields): Result => {
    const rrsets = rrsetsOf(zone)
    const id = `${name}/${type}`
    const existing = rrsets.get(id)
    const changed = (): HetznerRrset => {
      if (existing === undefined) throw new Refusal(404, 'not_found', 'RRSet not found')
      if (existing.protection.change) throw new Refusal(423, 'protected', 'RRSet is change protected')
      return existing
    }
    const set = (records: readonly HetznerRecord[]) => (): void => {
      if (records.length > 0) store(zone, { ...changed(), records })
      else rrsets.delete(id)
    }
    switch (action) {
      case 'add_records': {
        const added = newRrset(zone, { ...sent, name, type })
        if (existing === undefined) return begin('add_rrset_records', zone, () => store(zone, added))
        const records = [...changed().records, ...added.records]
        return begin('add_rrset_records', zone, set(storedRecords(type, records)))
      }
      case 'remove_records': {
        const removed = new Set(storedRecords(type, sent['records']).map(({ value }) => value))
        return begin('remove_rrset_records', zone, set(changed().records.filter(({ value }) => !removed.has(value))))
      }
      case 'set_records':
        changed()
        return begin('set_rrset_records', zone, set(storedRecords(type, sent['records'])))
      case 'change_ttl': {
        const ttl = sent['ttl'] === null ? null : checkTtl(sent['ttl'])
        return begin('change_rrset_ttl', zone, () => rrsets.set(id, { ...changed(), ttl }))
      }
      case 'change_protection': {
        if (existing === undefined) throw new Refusal(404, 'not_found', 'RRSet not found')
        const protection = { change: sent['change'] === true }
        return begin('change_rrset_protection', zone, () => rrsets.set(id, { ...existing, protection }))
      }
      default:
        throw new Refusal(404, 'not_found', 'Not found')
    }
  }

  const createZone = (sent: Fields): Result => {
    const { name, mode, ttl, labels, primary_nameservers: primaries, rrsets = [] } = sent
    if (typeof name !== 'string' || !/^(?:[a-z0-9_-]{1,63}\.)+[a-z0-9-]{1,63}$/.test(name))
      throw invalidInput('name', 'is not a domain name')
    if (mode !== 'primary' && mode !== 'secondary') throw invalidInput('mode', 'must be primary or secondary')
    if ([...zones.values()].some((zone) => zone.name === name)) throw new Refusal(409, 'uniqueness_error', 'Zone already exists')
    if (mode === 'secondary' && !(Array.isArray(primaries) && primaries.length > 0)) throw invalidInput('primary_nameservers', 'is missing')
    const id = 90_000 + zones.size
    const zone = completeZone({
      id,
      name,
      mode,
      ttl: ttl == null ? 86_400 : checkTtl(ttl),
      labels: labels ?? {},
      primary_nameservers: primaries ?? [],
    })
    const wanted = (rrsets as readonly Fields[]).map((rrset) => newRrset(zone, rrset))
    const change = (): void => {
      zones.set(id, zone)
      state.set(id, new Map())
      if (mode === 'secondary') return
      for (const rrset of [...defaultRrsets(id), ...wanted]) store(zone, rrset)
    }
    return begin('create_zone', zone, change, 201, () => ({ zone: zoneBody(zone) }))
  }

  const changeZone = (zone: HetznerZone, action: string, sent: Fields): Result => {
    const replace = (fields: Fields) => (): void => void zones.set(zone.id, { ...zone, ...fields })
    if (action === 'change_ttl') {
      rrsetsOf(zone)
      return begin('change_zone_ttl', zone, replace({ ttl: checkTtl(sent['ttl']) }))
    }
    if (action === 'change_primary_nameservers') {
      if (zone.mode !== 'secondary') throw new Refusal(422, 'incorrect_zone_mode', "This operation is not supported for this Zone's mode")
      return begin('change_zone_primary_nameservers', zone, replace({ primary_nameservers: sent['primary_nameservers'] }))
    }
    if (action === 'change_protection')
      return begin('change_zone_protection', zone, replace({ protection: { delete: sent['delete'] === true } }))
    throw new Refusal(404, 'not_found', 'Not found')
  }

  const zoneRoute = (zone: HetznerZone, request: ScriptedRequest, parts: readonly string[]): Result => {
    const { method, query, body } = request
    const [part, name, type, , action] = parts
    if (part === undefined) {
      if (method === 'GET') return { body: { zone: zoneBody(zone) } }
      if (zone.protection?.delete === true) throw new Refusal(423, 'protected', 'Zone is delete protected')
      return begin('delete_zone', zone, () => {
        zones.delete(zone.id)
        state.delete(zone.id)
      })
    }
    if (part === 'actions') return changeZone(zone, name ?? '', fieldsOf(body))
    const rrsets = rrsetsOf(zone)
    if (name === undefined) {
      if (method === 'GET') return page(request, 'rrsets', found(rrsets.values(), query))
      const rrset = newRrset(zone, fieldsOf(body))
      if (rrsets.has(rrset.id)) throw new Refusal(409, 'uniqueness_error', 'RRSet already exists')
      return begin(
        'create_rrset',
        zone,
        () => store(zone, rrset),
        201,
        () => ({ rrset }),
      )
    }
    if (action !== undefined) return rrsetAction(zone, [name, type ?? ''], action, fieldsOf(body))
    const rrset = rrsets.get(`${name}/${type}`)
    if (rrset === undefined) throw new Refusal(404, 'not_found', 'RRSet not found')
    if (method === 'GET') return { body: { rrset } }
    if (rrset.protection.change) throw new Refusal(423, 'protected', 'RRSet is change protected')
    if (method === 'DELETE' && type !== 'SOA') return begin('delete_rrset', zone, () => void rrsets.delete(rrset.id))
    throw new Refusal(405, 'method_not_allowed', 'Method not allowed')
  }

  const route = (request: ScriptedRequest): Result => {
    const { method, path, query, body } = request
    const [, root, zone, ...parts] = path.slice(1).split('/').map(decodeURIComponent)
    if (root !== 'zones') throw new Refusal(404, 'not_found', 'Not found')
    if (zone === undefined) {
      if (method === 'POST') return createZone(fieldsOf(body))
      const named = [...zones.values()].filter(({ name }) => !query.has('name') || query.get('name') === name)
      return page(request, 'zones', named.map(zoneBody))
    }
    if (zone !== 'actions') return zoneRoute(zoneOf(zone), request, parts)
    if (parts[0] === undefined)
      return page(
        request,
        'actions',
        query.getAll('id').flatMap((id) => actions.read(Number(id)) ?? []),
        actionBody,
      )
    const action = actions.read(Number(parts[0]))
    if (action === undefined) throw new Refusal(404, 'not_found', 'Action not found')
    return { body: { action: actionBody(action) } }
  }

  const service: ScriptedService = (request) => {
    // Actions have a limit of their own.
    const kind = request.path.includes('/actions') ? 'actions' : 'others'
    const limit = kind === 'others' ? 3600 : 7200
    remaining[kind] = Math.max(0, remaining[kind] - 1)
    const headers = {
      'content-type': 'application/json',
      'ratelimit-limit': String(limit),
      'ratelimit-remaining': String(remaining[kind]),
      'ratelimit-reset': String(Math.ceil(Date.now() / 1000) + Math.ceil(((limit - remaining[kind]) * 3600) / limit)),
    }
    try {
      sinceRefusal += 1
      if (options.requestsPerPause !== undefined && sinceRefusal > options.requestsPerPause) {
        sinceRefusal = 0
        throw new Refusal(429, 'rate_limit_exceeded', 'limit of 3600 requests per hour reached')
      }
      const given = request.headers['authorization']
      const isReadOnly = given === `Bearer ${options.token}-readonly`
      if (given !== `Bearer ${options.token}` && !isReadOnly) throw new Refusal(401, 'unauthorized', 'the token you provided was invalid')
      if (isReadOnly && request.method !== 'GET')
        throw new Refusal(403, 'token_readonly', 'The token is only allowed to perform GET requests')
      if (request.method !== 'GET' && locked > 0) {
        locked -= 1
        throw new Refusal(423, 'locked', 'Zone is locked')
      }
      const { status = 200, headers: more, body } = route(request)
      return { status, headers: { ...headers, ...more }, body: JSON.stringify(body) }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const { status, code, message, details } = error
      return { status, headers, body: JSON.stringify({ error: { code, message, details } }) } satisfies ScriptedResponse
    }
  }
  return { service, rrsets: (zone) => found(state.get(zone)?.values() ?? [], new URLSearchParams()), zones: () => [...zones.values()] }
}
