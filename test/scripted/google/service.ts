/** A scripted Cloud DNS: managed zones, RRsets and changes in memory behind API v1, with tokens, pages, quotas, rate limits and a sign-in. */
import type { ScriptedRequest, ScriptedResponse, ScriptedService } from '../scripted-server.ts'
import { changedRrsets, compareRrsets, type GoogleRrset, Refusal, type SentChange } from './rrsets.ts'
import { type Account, createSignIn } from './sign-in.ts'

export interface GoogleZone {
  readonly id: string
  /** The name of the zone at the service. */
  readonly name: string
  readonly dnsName: string
  readonly visibility?: string
  readonly [field: string]: unknown
}

export interface GoogleOptions {
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
  /** Requests that are answered before each refusal of the rate limit; by default none is refused. */
  readonly requestsPerPause?: number
  /** The status of such a refusal: 429 by default; older parts of Google's infrastructure send 403. */
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

interface Change {
  readonly answer: Readonly<Record<string, unknown>>
  readsUntilDone: number
}

interface ZoneState {
  readonly zone: GoogleZone
  rrsets: GoogleRrset[]
  readonly changes: Map<string, Change>
}

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
  const { project, pageSize = 1000, requestsPerPause, pauseStatus = 429 } = options
  const state = new Map<string, ZoneState>(
    options.zones.map((zone) => [
      zone.id,
      { zone, rrsets: [...(options.rrsets?.get(zone.id) ?? newRrsets(zone))].sort(compareRrsets), changes: new Map() },
    ]),
  )
  const signIn = createSignIn(options.token, options.account)
  let nextChange = options.firstChange ?? 1
  let sinceRefusal = 0
  let clock = 0

  /** Each time later than the last. */
  const now = (): string => {
    clock = Math.max(clock + 1, Date.now())
    return new Date(clock).toISOString()
  }

  const found = (part: string): ZoneState => {
    const zone = state.get(part) ?? [...state.values()].find((one) => one.zone.name === part)
    if (zone === undefined) throw new Refusal(404, 'notFound', `The 'parameters.managedZone' resource named '${part}' does not exist.`)
    return zone
  }

  const createZone = (sent: Partial<GoogleZone>): GoogleZone => {
    for (const field of ['name', 'dnsName', 'description'])
      if (typeof sent[field] !== 'string')
        throw new Refusal(400, 'required', `The 'entity.managedZone.${field}' parameter is required but was missing.`)
    const { name = '', dnsName = '' } = sent
    if (!/^[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?$/.test(name))
      throw new Refusal(400, 'invalidFieldValue', `Invalid value for 'entity.managedZone.name': '${name}'`)
    if (!/^(?:[a-z0-9_-]+\.)+$/.test(dnsName))
      throw new Refusal(400, 'invalid', `Invalid value for 'entity.managedZone.dnsName': '${dnsName}'`)
    if ([...state.values()].some((one) => one.zone.name === name))
      throw new Refusal(409, 'alreadyExists', `The resource 'entity.managedZone' named '${name}' already exists`)
    const id = String(699_036_609_868_000_000n + BigInt(state.size + 1))
    const rrsets = newRrsets({ dnsName })
    const zone: GoogleZone = {
      kind: 'dns#managedZone',
      visibility: 'public',
      ...(sent as GoogleZone),
      id,
      nameServers: rrsets[0]?.rrdatas,
      creationTime: now(),
    }
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
    if (change === undefined) throw new Refusal(404, 'notFound', `The 'parameters.changeId' resource named '${id}' does not exist.`)
    change.readsUntilDone -= 1
    return { ...change.answer, status: change.readsUntilDone < 0 ? 'done' : 'pending' }
  }

  const list = (query: URLSearchParams, key: string, kind: string, items: readonly unknown[]): unknown => {
    const wanted = Number(query.get('maxResults') ?? DEFAULT_PAGE)
    if (!Number.isInteger(wanted) || wanted <= 0)
      throw new Refusal(400, 'invalid', `Invalid value for 'parameters.maxResults': '${query.get('maxResults')}'`)
    const start = Number(query.get('pageToken')?.replace(/^page-/, '') ?? 0)
    if (!Number.isInteger(start)) throw new Refusal(400, 'invalid', `Invalid value for 'parameters.pageToken': '${query.get('pageToken')}'`)
    const end = start + Math.min(wanted, pageSize)
    return { kind, [key]: items.slice(start, end), ...(end < items.length && { nextPageToken: `page-${end}` }) }
  }

  const listRrsets = ({ rrsets }: ZoneState, query: URLSearchParams): unknown => {
    const [name, type] = [query.get('name'), query.get('type')]
    if (name === null && type !== null) throw new Refusal(400, 'invalid', "Invalid value for 'parameters.name': ''")
    const matching = rrsets.filter((one) => (name === null || one.name === name) && (type === null || one.type === type))
    return list(query, 'rrsets', 'dns#resourceRecordSetsListResponse', matching)
  }

  const route = ({ method, path, query, body }: ScriptedRequest): unknown => {
    const [, owner, part, zonePart, kind, id] =
      /^\/dns\/v1\/projects\/([^/]+)(?:\/(managedZones)(?:\/([^/]+)(?:\/([^/]+)(?:\/([^/]+))?)?)?)?$/.exec(path) ?? []
    if (owner === undefined) throw new Refusal(404, 'notFound', 'Not Found')
    if (owner !== project) throw new Refusal(403, 'forbidden', `The caller does not have permission on the project '${owner}'.`)
    if (part === undefined) return { kind: 'dns#project', id: project, quota: { kind: 'dns#quota', rrsetAdditionsPerChange: 1000 } }
    if (zonePart === undefined) {
      if (method === 'POST') return createZone(jsonOf(body))
      const dnsName = query.get('dnsName')
      const zones = [...state.values()].map(({ zone }) => zone).filter((zone) => dnsName === null || zone.dnsName === dnsName)
      return list(query, 'managedZones', 'dns#managedZonesListResponse', zones)
    }
    const zone = found(decodeURIComponent(zonePart))
    if (kind === undefined && method === 'DELETE') {
      if (zone.rrsets.some((one) => !(one.name === zone.zone.dnsName && (one.type === 'NS' || one.type === 'SOA'))))
        throw new Refusal(400, 'containerNotEmpty', `The resource named '${zone.zone.name}' cannot be deleted because it is not empty`)
      state.delete(zone.zone.id)
      return undefined
    }
    if (kind === undefined) return zone.zone
    if (kind === 'rrsets') return listRrsets(zone, query)
    if (kind !== 'changes') throw new Refusal(404, 'notFound', 'Not Found')
    return method === 'POST' ? createChange(zone, jsonOf(body)) : readChange(zone, id ?? '')
  }

  const service: ScriptedService = (request) => {
    try {
      const issued = signIn.answer(request)
      if (issued !== null) return issued
      sinceRefusal += 1
      if (requestsPerPause !== undefined && sinceRefusal > requestsPerPause) {
        sinceRefusal = 0
        throw new Refusal(
          pauseStatus,
          'rateLimitExceeded',
          "Quota exceeded for quota metric 'Write requests' of service 'dns.googleapis.com'.",
        )
      }
      if (!signIn.accepts(request.headers['authorization']))
        throw new Refusal(401, 'authError', 'Request had invalid authentication credentials.')
      const result = route(request)
      return result === undefined ? { status: 204, headers: {}, body: '' } : respond(200, result)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const { status, reason, message } = error
      return respond(status, { error: { code: status, message, errors: [{ domain: 'global', reason, message }] } })
    }
  }
  return { service, rrsets: (zone) => state.get(zone)?.rrsets ?? [], zones: () => [...state.values()].map(({ zone }) => zone) }
}

const respond = (status: number, body: unknown): ScriptedResponse => ({
  status,
  headers: { 'content-type': 'application/json; charset=UTF-8' },
  body: JSON.stringify(body),
})

function jsonOf<T>(body: string): T {
  try {
    return JSON.parse(body) as T
  } catch {
    throw new Refusal(400, 'parseError', 'Parse Error')
  }
}
