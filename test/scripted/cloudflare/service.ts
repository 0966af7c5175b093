/** A scripted Cloudflare: zones and records in memory behind API v4, with tokens, pages, batches, quotas and rate limits. */
import { randomBytes } from 'node:crypto'
import { checkToken, compare, type Fields, fieldsOf, isAsked, pageOf, risingClock, scriptedService, type Throttling } from '../base.ts'
import type { ScriptedRequest, ScriptedService } from '../scripted-server.ts'
import { type CloudflareRecord, type Plan, refusal, refuseClash, storedForm } from './records.ts'

export type CloudflareZone = { readonly id: string; readonly name: string; readonly [field: string]: unknown }

export interface CloudflareOptions extends Throttling {
  readonly token: string
  readonly zones: readonly CloudflareZone[]
  /** The account in which the token may create zones; by default in none. */
  readonly account?: string
  /** By the identifier of their zone. */
  readonly records?: ReadonlyMap<string, readonly CloudflareRecord[]>
  /** Default: pro. */
  readonly plan?: Plan
  /** Records per zone; by default 3500. */
  readonly maxRecords?: number
}

export interface ScriptedCloudflare {
  readonly service: ScriptedService
  /** The records of a zone, for people who look at it without the API. */
  records(zone: string): readonly CloudflareRecord[]
  /** The zones, the latest last. */
  zones(): readonly CloudflareZone[]
}

/** Records in one batch, by plan. */
const MAX_BATCH: Readonly<Record<Plan, number>> = { free: 200, pro: 3500, business: 3500, enterprise: 3500 }
type Result = { readonly result: unknown; readonly info?: Fields }

export function createCloudflare(options: CloudflareOptions): ScriptedCloudflare {
  const { plan = 'pro', maxRecords = 3500 } = options
  /** By zone, the latest first. */
  const state = new Map(options.zones.map(({ id }) => [id, [...(options.records?.get(id) ?? [])]]))
  const zones = [...options.zones]
  const clock = risingClock()
  /** Without zeros at the end of the fraction. */
  const now = (): string => clock().replace(/\.?0*Z$/, 'Z')
  const zoneOf = (id: string): CloudflareZone => {
    const zone = zones.find((one) => one.id === id)
    if (zone === undefined) throw refusal(404, 7003, `Could not route to /zones/${id}, perhaps your object identifier is invalid?`)
    return zone
  }
  const recordAt = (records: readonly CloudflareRecord[], id: unknown): number => {
    const at = records.findIndex((record) => record.id === id)
    if (at === -1) throw refusal(404, 81_044, 'Record does not exist.')
    return at
  }

  const create = (zone: CloudflareZone, records: CloudflareRecord[], sent: Fields): CloudflareRecord => {
    const stored = storedForm(sent, zone.name, plan)
    refuseClash(stored, zone.name, records)
    if (records.length >= maxRecords) throw refusal(400, 81_045, 'Record quota exceeded.')
    const time = now()
    const record = { id: randomBytes(16).toString('hex'), ...stored, created_on: time, modified_on: time }
    records.unshift(record)
    return record
  }
  const change = (zone: CloudflareZone, records: CloudflareRecord[], id: unknown, sent: Fields, keeps: boolean): CloudflareRecord => {
    const at = recordAt(records, id)
    const before = records[at] as CloudflareRecord
    const stored = storedForm(sent, zone.name, plan, keeps ? before : undefined)
    refuseClash(
      stored,
      zone.name,
      records.filter((_, index) => index !== at),
    )
    const record = { id: before.id, ...stored, created_on: before.created_on, modified_on: now() }
    records[at] = record
    return record
  }
  const remove = (records: CloudflareRecord[], id: unknown): CloudflareRecord =>
    records.splice(recordAt(records, id), 1)[0] as CloudflareRecord

  const createZone = ({ name, account, type = 'full' }: Fields): CloudflareZone => {
    const { id = options.account } = (account ?? {}) as { readonly id?: string }
    if (options.account === undefined || id !== options.account)
      throw refusal(403, 0, 'Requires permission "com.cloudflare.api.account.zone.create" to create zones for the selected account')
    if (typeof name !== 'string' || !/^(?:[a-z0-9-]+\.)+[a-z]{2,}$/.test(name)) throw refusal(400, 1001, 'Invalid Zone name')
    if (type !== 'full') throw refusal(400, 1004, 'The scripted service has only full zones.')
    if (zones.some((zone) => zone.name === name)) throw refusal(400, 1061, `${name} already exists`)
    const time = now()
    const [status, servers] = ['pending', ['blakely.ns.cloudflare.com', 'vin.ns.cloudflare.com']]
    const zone = { id: randomBytes(16).toString('hex'), name, status, paused: false, type: 'full', development_mode: 0 }
    const more = { name_servers: servers, created_on: time, modified_on: time, activated_on: null, account: { id } }
    zones.push({ ...zone, ...more, plan: { legacy_id: plan } })
    state.set(zone.id, [])
    return zones.at(-1) as CloudflareZone
  }
  const removeZone = (zone: CloudflareZone): Fields => {
    if (options.account === undefined) throw refusal(403, 9109, 'Unauthorized to access requested resource')
    zones.splice(zones.indexOf(zone), 1)
    state.delete(zone.id)
    return { id: zone.id }
  }

  /** All operations or none: deletes, patches, puts, posts. */
  const batch = (zone: CloudflareZone, sent: Fields): Result => {
    const lists = ['deletes', 'patches', 'puts', 'posts'].map((key) => (sent[key] ?? []) as readonly Fields[])
    const [deletes = [], patches = [], puts = [], posts = []] = lists
    const count = lists.flat().length
    if (count > MAX_BATCH[plan]) throw refusal(400, 9400, `A batch has at most ${MAX_BATCH[plan]} operations.`)
    const records = [...(state.get(zone.id) ?? [])]
    const result = {
      deletes: deletes.map(({ id }) => remove(records, id)),
      patches: patches.map((fields) => change(zone, records, fields['id'], fields, true)),
      puts: puts.map((fields) => change(zone, records, fields['id'], fields, false)),
      posts: posts.map((fields) => create(zone, records, fields)),
    }
    state.set(zone.id, records)
    return { result }
  }

  const route = ({ method, path, query, body }: ScriptedRequest): Result => {
    const [, zoneId, part, recordId] = /^\/client\/v4\/zones(?:\/([^/]+)(?:\/([^/]+)(?:\/([^/]+))?)?)?$/.exec(path) ?? []
    if (path === '/client/v4/user/tokens/verify') return { result: { id: '0'.repeat(32), status: 'active' } }
    if (!/^\/client\/v4\/zones(?:\/|$)/.test(path)) throw refusal(400, 7000, 'No route for that URI')
    if (zoneId === undefined && method === 'POST') return { result: createZone(sentIn(body)) }
    if (zoneId === undefined) {
      const accountOf = ({ account }: CloudflareZone): unknown => (account as Fields | undefined)?.['id']
      const asked = zones.filter((zone) => isAsked(query, { name: zone.name, 'account.id': accountOf(zone) }))
      return page(query, asked, 50, 1000)
    }
    const zone = zoneOf(zoneId)
    if (part === undefined) return { result: method === 'DELETE' ? removeZone(zone) : zone }
    if (part === 'pagerules') return { result: [] }
    if (part !== 'dns_records') throw refusal(400, 7000, 'No route for that URI')
    const records = state.get(zoneId) as CloudflareRecord[]
    const fields = method === 'GET' || method === 'DELETE' ? {} : sentIn(body)
    if (recordId === 'batch' && method === 'POST') return batch(zone, fields)
    if (recordId === undefined)
      return method === 'POST' ? { result: create(zone, records, fields) } : page(query, found(records, query), 100, 5_000_000)
    if (method === 'DELETE') return { result: { id: remove(records, recordId).id } }
    if (method === 'PUT' || method === 'PATCH') return { result: change(zone, records, recordId, fields, method === 'PATCH') }
    return { result: records[recordAt(records, recordId)] }
  }

  const service = scriptedService(options, {
    throttled: refusal(429, 971, 'Please wait and consider throttling your request speed', { 'retry-after': '1' }),
    answer(request) {
      checkToken(request, options.token, refusal(403, 10_000, 'Authentication error'))
      const { result, info } = route(request)
      return { body: { result, success: true, errors: [], messages: [], ...(info && { result_info: info }) } }
    },
  })
  return { service, records: (zone) => state.get(zone) ?? [], zones: () => zones }
}

const sentIn = (body: string): Fields => fieldsOf(body, refusal(400, 9207, 'Request body is invalid.'))

function found(records: readonly CloudflareRecord[], query: URLSearchParams): CloudflareRecord[] {
  const matches = (record: CloudflareRecord): boolean =>
    (['type', 'name', 'content'] as const).every((key) => {
      const wanted = query.get(key) ?? query.get(`${key}.exact`)
      return wanted === null || record[key] === wanted
    })
  const byTypeAndName = (a: CloudflareRecord, b: CloudflareRecord): number => compare(a.type, b.type) || compare(a.name, b.name)
  return records.filter(matches).sort(byTypeAndName)
}

function page(query: URLSearchParams, items: readonly unknown[], usual: number, most: number): Result {
  const refuse = (parameter: string) => refusal(400, 9207, `${parameter} is invalid.`)
  const { page: number, perPage, last, items: result } = pageOf(items, query, { size: 'per_page', usual, most, refusesMore: true, refuse })
  return { result, info: { page: number, per_page: perPage, count: result.length, total_count: items.length, total_pages: last } }
}
