/** A scripted Cloud DNS: managed zones, RRsets and changes in memory behind API v1, with tokens, pages, quotas, rate limits and a sign-in. */
import { isApexFrame, isAsked, isWholeNumber, jsonOf, risingMilliseconds, scriptedService, type Throttling } from '../base.ts'
import type { ScriptedRequest, ScriptedService } from '../scripted-server.ts'
import { changedRrsets, compareRrsets, type GoogleRrset, refusal, type SentChange } from './rrsets.ts'
import { type Account, createSignIn } from './sign-in.ts'

export interface GoogleZone {
  readonly id: string
  /** The name of the zone at the service. */
  readonly name: string
  readonly dnsName: string
  readonly visibility?: string
  readonly [field: string]: unknown
}

export interface GoogleOptions extends Throttling {
  readonly project: string
  /** A token that is accepted without signing in. */
  readonly token: string
  /** An account that may sign in. */
  readonly account?: Account
  readonly zones: readonly GoogleZone[]
  /** By the identifier of their zone; by default those of a new zone. */
  readonly rrsets?: ReadonlyMap<string, readonly GoogleRrset[]>
  /** Maximum items of a page, whatever a request asks for; by default 1,000. */
  readonly pageSize?: number
  /** The status of a refusal of the rate limit: 429 by default; older parts of Google's infrastructure send 403. */
  readonly pauseStatus?: 403 | 429
  /** How often a change is reported as pending; 0 by default. */
  readonly pendingReads?: number
  /** The identifier of the first change. */
  readonly firstChange?: number
}

export interface ScriptedGoogle {
  readonly service: ScriptedService
  /** The RRsets of a zone, for people who look at it without the API. */
  rrsets(zone: string): readonly GoogleRrset[]
  zones(): readonly GoogleZone[]
}

const DEFAULT_PAGE = 100
type Change = { readonly answer: Readonly<Record<string, unknown>>; readsUntilDone: number }
type ZoneState = { readonly zone: GoogleZone; rrsets: GoogleRrset[]; readonly changes: Map<string, Change> }

/** The RRsets of a new zone. */
export function newRrsets({ dnsName }: Pick<GoogleZone, 'dnsName'>): GoogleRrset[] {
  const servers = [1, 2, 3, 4].map((number) => `ns-cloud-a${number}.googledomains.com.`)
  const soa = `${servers[0]} cloud-dns-hostmaster.google.com. 1 21600 3600 259200 300`
  return [
    { kind: 'dns#resourceRecordSet', name: dnsName, type: 'NS', ttl: 21_600, rrdatas: servers },
    { kind: 'dns#resourceRecordSet', name: dnsName, type: 'SOA', ttl: 21_600, rrdatas: [soa] },
  ]
}

export function createGoogle(options: GoogleOptions): ScriptedGoogle {
  const { project, pageSize = 1000, pauseStatus = 429 } = options
  const state = new Map<string, ZoneState>(
    options.zones.map((zone) => [
      zone.id,
      { zone, rrsets: [...(options.rrsets?.get(zone.id) ?? newRrsets(zone))].sort(compareRrsets), changes: new Map() },
    ]),
  )
  const signIn = createSignIn(options.token, options.account)
  let nextChange = options.firstChange ?? 1
  const now = risingMilliseconds()

  const found = (part: string): ZoneState => {
    const zone = state.get(part) ?? [...state.values()].find((one) => one.zone.name === part)
    if (zone === undefined) throw refusal(404, 'notFound', `The 'parameters.managedZone' resource named '${part}' does not exist.`)
    return zone
  }

  const createZone = (sent: Partial<GoogleZone>): GoogleZone => {
    for (const field of ['name', 'dnsName', 'description'])
      if (typeof sent[field] !== 'string')
        throw refusal(400, 'required', `The 'entity.managedZone.${field}' parameter is required but was missing.`)
    const { name = '', dnsName = '' } = sent
    if (!/^[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?$/.test(name))
      throw refusal(400, 'invalidFieldValue', `Invalid value for 'entity.managedZone.name': '${name}'`)
    if (!/^(?:[a-z0-9_-]+\.)+$/.test(dnsName)) throw refusal(400, 'invalid', `Invalid value for 'entity.managedZone.dnsName': '${dnsName}'`)
    if ([...state.values()].some((one) => one.zone.name === name))
      throw refusal(409, 'alreadyExists', `The resource 'entity.managedZone' named '${name}' already exists`)
    const id = String(699_036_609_868_000_000n + BigInt(state.size + 1))
    const rrsets = newRrsets({ dnsName })
    const made = { id, nameServers: rrsets[0]?.rrdatas, creationTime: now() }
    const zone: GoogleZone = { kind: 'dns#managedZone', visibility: 'public', ...(sent as GoogleZone), ...made }
    state.set(id, { zone, rrsets, changes: new Map() })
    return zone
  }

  const createChange = (zone: ZoneState, sent: SentChange): unknown => {
    const { rrsets, additions, deletions } = changedRrsets(zone.rrsets, sent, zone.zone.dnsName)
    zone.rrsets = rrsets
    const id = String(nextChange)
    nextChange += 1
    const answer = {
      kind: 'dns#change',
      ...(additions.length > 0 && { additions }),
      ...(deletions.length > 0 && { deletions }),
      startTime: now(),
      id,
    }
    zone.changes.set(id, { answer, readsUntilDone: options.pendingReads ?? 0 })
    return { ...answer, status: 'pending' }
  }

  const readChange = (zone: ZoneState, id: string): unknown => {
    const change = zone.changes.get(id)
    if (change === undefined) throw refusal(404, 'notFound', `The 'parameters.changeId' resource named '${id}' does not exist.`)
    change.readsUntilDone -= 1
    return { ...change.answer, status: change.readsUntilDone < 0 ? 'done' : 'pending' }
  }

  const list = (query: URLSearchParams, key: string, kind: string, items: readonly unknown[]): unknown => {
    const wanted = Number(query.get('maxResults') ?? DEFAULT_PAGE)
    if (!isWholeNumber(wanted, 1, Number.MAX_SAFE_INTEGER))
      throw refusal(400, 'invalid', `Invalid value for 'parameters.maxResults': '${query.get('maxResults')}'`)
    const start = Number(query.get('pageToken')?.replace(/^page-/, '') ?? 0)
    if (!Number.isInteger(start)) throw refusal(400, 'invalid', `Invalid value for 'parameters.pageToken': '${query.get('pageToken')}'`)
    const end = start + Math.min(wanted, pageSize)
    return { kind, [key]: items.slice(start, end), ...(end < items.length && { nextPageToken: `page-${end}` }) }
  }

  const listRrsets = ({ rrsets }: ZoneState, query: URLSearchParams): unknown => {
    if (query.has('type') && !query.has('name')) throw refusal(400, 'invalid', "Invalid value for 'parameters.name': ''")
    const matching = rrsets.filter(({ name, type }) => isAsked(query, { name, type }))
    return list(query, 'rrsets', 'dns#resourceRecordSetsListResponse', matching)
  }

  const route = ({ method, path, query, body }: ScriptedRequest): unknown => {
    const [, owner, part, zonePart, kind, id] =
      /^\/dns\/v1\/projects\/([^/]+)(?:\/(managedZones)(?:\/([^/]+)(?:\/([^/]+)(?:\/([^/]+))?)?)?)?$/.exec(path) ?? []
    if (owner === undefined) throw refusal(404, 'notFound', 'Not Found')
    if (owner !== project) throw refusal(403, 'forbidden', `The caller does not have permission on the project '${owner}'.`)
    if (part === undefined) return { kind: 'dns#project', id: project, quota: { kind: 'dns#quota', rrsetAdditionsPerChange: 1000 } }
    if (zonePart === undefined) {
      if (method === 'POST') return createZone(sentIn(body))
      const zones = [...state.values()].map(({ zone }) => zone).filter(({ dnsName }) => isAsked(query, { dnsName }))
      return list(query, 'managedZones', 'dns#managedZonesListResponse', zones)
    }
    const zone = found(decodeURIComponent(zonePart))
    if (kind === undefined && method === 'DELETE') {
      if (zone.rrsets.some((one) => !isApexFrame(one, zone.zone.dnsName)))
        throw refusal(400, 'containerNotEmpty', `The resource named '${zone.zone.name}' cannot be deleted because it is not empty`)
      state.delete(zone.zone.id)
      return undefined
    }
    if (kind === undefined) return zone.zone
    if (kind === 'rrsets') return listRrsets(zone, query)
    if (kind !== 'changes') throw refusal(404, 'notFound', 'Not Found')
    return method === 'POST' ? createChange(zone, sentIn(body)) : readChange(zone, id ?? '')
  }

  const service = scriptedService(options, {
    contentType: 'application/json; charset=UTF-8',
    throttled: refusal(pauseStatus, 'rateLimitExceeded', "Quota exceeded for quota metric 'Write requests'."),
    before: signIn.answer,
    answer(request) {
      if (!signIn.accepts(request.headers['authorization']))
        throw refusal(401, 'authError', 'Request had invalid authentication credentials.')
      const body = route(request)
      return body === undefined ? { status: 204 } : { body }
    },
  })
  return { service, rrsets: (zone) => state.get(zone)?.rrsets ?? [], zones: () => [...state.values()].map(({ zone }) => zone) }
}

const sentIn = <T>(body: string): T => jsonOf(body, refusal(400, 'parseError', 'Parse Error')) as T
