/** A scripted Hetzner Cloud: zones and RRsets in memory behind its API v1, with tokens, pages, actions, protection and rate limits. */
import type { Fields, Result, Throttling } from '../base.ts'
import { checkToken, compare, fieldsOf, isAsked, isDomainName, pageOf, scriptedService } from '../base.ts'
import type { ScriptedRequest, ScriptedService } from '../scripted-server.ts'
import { type ActionOptions, actionBody, createActions } from './actions.ts'
import type { HetznerRecord, HetznerRrset } from './rrsets.ts'
import { checkIdentity, checkTtl, invalidInput, refusal, refuseClash, storedRecords } from './rrsets.ts'
import { completeZone, defaultRrsets, type HetznerZone } from './zones.ts'

export interface HetznerOptions extends ActionOptions, Throttling {
  /** A token that may only read ends with `-readonly`. */
  readonly token: string
  readonly zones: readonly HetznerZone[]
  readonly rrsets?: readonly HetznerRrset[]
  /** Changes that are refused with status 423 because another action is running. */
  readonly locked?: number
}

export interface ScriptedHetzner {
  readonly service: ScriptedService
  /** The RRsets of a zone, for people who look at it without the API. */
  rrsets(zone: number): readonly HetznerRrset[]
  zones(): readonly HetznerZone[]
}

const NO_RRSET = refusal(404, 'not_found', 'RRSet not found')
const NO_PATH = refusal(404, 'not_found', 'Not found')
const WRONG_MODE = refusal(422, 'incorrect_zone_mode', "This operation is not supported for this Zone's mode")
const PROTECTED = refusal(423, 'protected', 'RRSet is change protected')
const SERIAL = /^(\S+ \S+ )(\d+)/

export function createHetzner(options: HetznerOptions): ScriptedHetzner {
  const zones = new Map(options.zones.map((zone) => [zone.id, completeZone(zone)]))
  const state = new Map<number, Map<string, HetznerRrset>>(options.zones.map(({ id }) => [id, new Map()]))
  for (const rrset of options.rrsets ?? []) state.get(rrset.zone)?.set(rrset.id, rrset)
  const actions = createActions(options)
  const remaining = { others: 3600, actions: 7200 }
  let locked = options.locked ?? 0

  const rrsetsOf = (zone: HetznerZone): Map<string, HetznerRrset> => {
    if (zone.mode === 'secondary') throw WRONG_MODE
    return state.get(zone.id) as Map<string, HetznerRrset>
  }
  const zoneOf = (idOrName: string): HetznerZone => {
    const zone = [...zones.values()].find(({ id, name }) => String(id) === idOrName || name === idOrName)
    if (zone === undefined) throw refusal(404, 'not_found', 'Zone not found')
    return zone
  }
  const zoneBody = (zone: HetznerZone): object => {
    const rrsets = [...(state.get(zone.id)?.values() ?? [])]
    return { ...zone, record_count: rrsets.reduce((sum, { records }) => sum + records.length, 0) }
  }

  /** Makes a change of a zone, and begins its action. */
  const begin = (command: string, zone: HetznerZone, change: () => void, more: () => object = () => ({})): Result => {
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
    return { status: 201, body: { ...more(), action: actionBody(action) } }
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
      if (existing === undefined) throw NO_RRSET
      if (existing.protection.change) throw PROTECTED
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
        if (existing === undefined) throw NO_RRSET
        const protection = { change: sent['change'] === true }
        return begin('change_rrset_protection', zone, () => rrsets.set(id, { ...existing, protection }))
      }
      default:
        throw NO_PATH
    }
  }

  const createZone = (sent: Fields): Result => {
    const { name, mode, ttl, labels, primary_nameservers: primaries, rrsets = [] } = sent
    if (!isDomainName(name)) throw invalidInput('name', 'is not a domain name')
    if (mode !== 'primary' && mode !== 'secondary') throw invalidInput('mode', 'must be primary or secondary')
    if ([...zones.values()].some((zone) => zone.name === name)) throw refusal(409, 'uniqueness_error', 'Zone already exists')
    if (mode === 'secondary' && !(Array.isArray(primaries) && primaries.length > 0)) throw invalidInput('primary_nameservers', 'is missing')
    const id = 90_000 + zones.size
    const zone = completeZone({ id, name, mode, ttl: checkTtl(ttl ?? 86_400), labels: labels ?? {}, primary_nameservers: primaries ?? [] })
    const wanted = (rrsets as readonly Fields[]).map((rrset) => newRrset(zone, rrset))
    const change = (): void => {
      zones.set(id, zone)
      state.set(id, new Map())
      if (mode === 'secondary') return
      for (const rrset of [...defaultRrsets(id), ...wanted]) store(zone, rrset)
    }
    return begin('create_zone', zone, change, () => ({ zone: zoneBody(zone) }))
  }

  const changeZone = (zone: HetznerZone, action: string, sent: Fields): Result => {
    const replace = (fields: Fields) => (): void => void zones.set(zone.id, { ...zone, ...fields })
    if (action === 'change_ttl') {
      rrsetsOf(zone)
      return begin('change_zone_ttl', zone, replace({ ttl: checkTtl(sent['ttl']) }))
    }
    if (action === 'change_primary_nameservers') {
      if (zone.mode !== 'secondary') throw WRONG_MODE
      return begin('change_zone_primary_nameservers', zone, replace({ primary_nameservers: sent['primary_nameservers'] }))
    }
    if (action === 'change_protection')
      return begin('change_zone_protection', zone, replace({ protection: { delete: sent['delete'] === true } }))
    throw NO_PATH
  }

  const zoneRoute = (zone: HetznerZone, request: ScriptedRequest, parts: readonly string[]): Result => {
    const { method, query, body } = request
    const [part, name, type, , action] = parts
    if (part === undefined) {
      if (method === 'GET') return { body: { zone: zoneBody(zone) } }
      if (zone.protection?.delete === true) throw refusal(423, 'protected', 'Zone is delete protected')
      return begin('delete_zone', zone, () => {
        zones.delete(zone.id)
        state.delete(zone.id)
      })
    }
    if (part === 'actions') return changeZone(zone, name ?? '', sentIn(body))
    const rrsets = rrsetsOf(zone)
    if (name === undefined) {
      if (method === 'GET') return page(request, 'rrsets', found(rrsets.values(), query))
      const rrset = newRrset(zone, sentIn(body))
      if (rrsets.has(rrset.id)) throw refusal(409, 'uniqueness_error', 'RRSet already exists')
      return begin(
        'create_rrset',
        zone,
        () => store(zone, rrset),
        () => ({ rrset }),
      )
    }
    if (action !== undefined) return rrsetAction(zone, [name, type ?? ''], action, sentIn(body))
    const rrset = rrsets.get(`${name}/${type}`)
    if (rrset === undefined) throw NO_RRSET
    if (method === 'GET') return { body: { rrset } }
    if (rrset.protection.change) throw PROTECTED
    if (method === 'DELETE' && type !== 'SOA') return begin('delete_rrset', zone, () => void rrsets.delete(rrset.id))
    throw refusal(405, 'method_not_allowed', 'Method not allowed')
  }

  const route = (request: ScriptedRequest): Result => {
    const { method, path, query, body } = request
    const [, ...all] = path.slice(1).split('/').map(decodeURIComponent)
    // Actions are found with those of all resources, too.
    const [root, zone, ...parts] = all[0] === 'actions' ? ['zones', ...all] : all
    if (root !== 'zones') throw NO_PATH
    if (zone === undefined) {
      if (method === 'POST') return createZone(sentIn(body))
      const named = [...zones.values()].filter(({ name }) => !query.has('name') || query.get('name') === name)
      return page(request, 'zones', named.map(zoneBody))
    }
    if (zone !== 'actions') return zoneRoute(zoneOf(zone), request, parts)
    if (parts[0] === undefined)
      return page(
        request,
        'actions',
        query
          .getAll('id')
          .flatMap((id) => actions.read(Number(id)) ?? [])
          .map(actionBody),
      )
    const action = actions.read(Number(parts[0]))
    if (action === undefined) throw refusal(404, 'not_found', 'Action not found')
    return { body: { action: actionBody(action) } }
  }

  const service = scriptedService(options, {
    throttled: refusal(429, 'rate_limit_exceeded', 'limit of 3600 requests per hour reached'),
    headers({ path }) {
      // Actions have a limit of their own.
      const kind = path.includes('/actions') ? 'actions' : 'others'
      const limit = kind === 'others' ? 3600 : 7200
      remaining[kind] = Math.max(0, remaining[kind] - 1)
      const reset = Math.ceil(Date.now() / 1000) + Math.ceil(((limit - remaining[kind]) * 3600) / limit)
      return { 'ratelimit-limit': String(limit), 'ratelimit-remaining': String(remaining[kind]), 'ratelimit-reset': String(reset) }
    },
    answer(request) {
      const readOnly = refusal(403, 'token_readonly', 'The token is only allowed to perform GET requests')
      checkToken(request, options.token, refusal(401, 'unauthorized', 'the token you provided was invalid'), readOnly)
      if (request.method !== 'GET' && locked > 0) {
        locked -= 1
        throw refusal(423, 'locked', 'Zone is locked')
      }
      return route(request)
    },
  })
  return { service, rrsets: (zone) => found(state.get(zone)?.values() ?? [], new URLSearchParams()), zones: () => [...zones.values()] }
}

const sentIn = (body: string): Fields => fieldsOf(body, refusal(400, 'json_error', 'Invalid JSON input in your request'))

/** Ordered by type and name. */
const found = (rrsets: Iterable<HetznerRrset>, query: URLSearchParams): HetznerRrset[] =>
  [...rrsets].filter(({ name, type }) => isAsked(query, { name, type })).sort((a, b) => compare(a.type, b.type) || compare(a.name, b.name))

/** One page of a list, with links to others. */
function page({ path, query }: ScriptedRequest, key: string, items: readonly object[]): Result {
  const refuse = (parameter: string) => invalidInput(parameter, 'must be a positive number')
  const rules = { size: 'per_page', usual: 25, most: key === 'rrsets' ? 100 : 50, refuse }
  const { page: number, perPage, last, items: shown } = pageOf(items, query, rules)
  const pagination = {
    page: number,
    per_page: perPage,
    previous_page: number > 1 ? number - 1 : null,
    next_page: number < last ? number + 1 : null,
    last_page: last,
    total_entries: items.length,
  }
  const links = Object.entries({ prev: pagination.previous_page, next: pagination.next_page, last })
    .flatMap(([rel, to]) => (to === null ? [] : [`<https://api.hetzner.cloud${path}?page=${to}&per_page=${perPage}>; rel="${rel}"`]))
    .join(', ')
  return { headers: { link: links }, body: { meta: { pagination }, [key]: shown } }
}
