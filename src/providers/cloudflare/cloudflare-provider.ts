/** A provider that reads and changes the zones of a Cloudflare account. */

import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { DoctorFinding } from '../../dns/doctor-finding.ts'
import { type DomainName, parseAbsoluteName } from '../../dns/domain-name.ts'
import { examineZones } from '../examine-zones.ts'
import type { ApiConnection } from '../json-api.ts'
import type { Provider, ProviderCallOptions, ZoneList, ZoneReference } from '../provider.ts'
import { masterZone, refuseUnusable, zoneListOf, zonesNamed } from '../zone-lists.ts'
import { type CloudflarePlan, cloudflareCapabilities } from './capabilities.ts'
import { changeRecords } from './change-records.ts'
import { createZone, deleteZone } from './change-zone.ts'
import { type ApiZone, createCloudflareApi, zoneShape } from './cloudflare-api.ts'
import { existingRecords, readRecords } from './live-zone.ts'

/** Zones per page: the maximum of the API. */
const ZONES_PER_PAGE = 50
/** Zones that are looked up one by one. For more names, the whole list is read. */
const MAX_SINGLE = 3
const MISSING = 'add them in the dashboard of Cloudflare, set account_id, or include them in the token'
/** Maximum zones of which `doctor` states the state. */
const MAX_STATES = 20

/** `account`: the identifier of the account of the zones; null for the zones of all accounts, without creation. */
export function createCloudflareProvider(connection: ApiConnection, plan: CloudflarePlan, account: string | null): Provider {
  const api = createCloudflareApi(connection)
  const { provider: name } = connection
  const readZones = (filter: Readonly<Record<string, string>>, call?: ProviderCallOptions): Promise<ApiZone[]> => {
    const query = { ...filter, ...(account !== null && { 'account.id': account }) }
    return api.list({ method: 'GET', path: '/zones', query, what: 'listing zones', ...call }, ZONES_PER_PAGE, zoneShape)
  }
  /** What is to say about the zones that were looked up, by identifier. */
  const states = new Map<ZoneReference['id'], readonly ZoneFinding[]>()
  const provider: Provider = {
    name,
    type: 'cloudflare',
    address: connection.baseUrl.href.replace(/(?<!\/)\/+$/, ''),
    capabilities: cloudflareCapabilities(plan, account !== null),
    parallelism: connection.parallelism,
    async findZones(names, call) {
      const wanted = new Set(names)
      const filters = wanted.size <= MAX_SINGLE ? [...wanted].map((zone) => ({ name: zone.slice(0, -1) })) : [{}]
      const listed = (await Promise.all(filters.map((filter) => readZones(filter, call)))).flat()
      const found = zoneList(listed)
      refuseUnusable(name, wanted, found)
      const zones = zonesNamed(found, wanted)
      const known = new Set([...zones.values()].map(({ id }) => id))
      for (const zone of listed) if (known.has(zone.id)) states.set(zone.id, findingsOf(zone))
      return zones
    },
    listZones: async (call) => zoneList(await readZones({}, call)),
    async readZone(zone, call) {
      const live = await readRecords(api, zone, call)
      const { name, id, ownApexNs, settings } = zone
      const own = live.filter(({ api: { isReadOnly } }) => !isReadOnly)
      const unplanned = live.flatMap(({ api, record }) =>
        api.isReadOnly ? [{ ...record, reason: 'is managed by Cloudflare itself' }] : [],
      )
      const warnings = (states.get(id) ?? []).map((finding): Diagnostic => ({ severity: 'warning', code: 'zone-inactive', ...finding }))
      return { name, id, ownApexNs, settings, records: existingRecords(own), unplanned, millisecondsSinceLastChange: null, warnings }
    },
    readRendered: async () => null,
    async examine(usage, _, call) {
      const missing = account === null ? MISSING : undefined
      const findings = await examineZones(provider, usage, { service: 'Cloudflare', missing }, call)
      const ofZones = [...states.values()].flat().slice(0, MAX_STATES)
      return [...findings, ...ofZones.map((finding): DoctorFinding => ({ status: 'warning', check: 'zones', ...finding }))]
    },
    async apply(zone, call, options) {
      const [first] = call.changes
      if (first?.subject === 'domain' && first.action === 'create') {
        if (account === null) throw new Error('zones are created only in a named account')
        return createZone(api, account, first.name, referenceTo, options)
      }
      if (zone === null) throw new Error('no zone to change')
      if (first?.subject === 'domain' && first.action === 'delete') return deleteZone(api, name, zone, call.rrsets, options)
      return changeRecords(api, name, zone, call, options)
    },
    close: () => api.close(),
  }
  return provider
}

/** The names of its servers, if it names any, and no other text. */
function apexNsOf(names: readonly string[]): Pick<ZoneReference, 'ownApexNs'> {
  const parsed = names.map((name) => parseAbsoluteName(name))
  const valid = parsed.flatMap((name) => (name.ok ? [name.value] : []))
  return valid.length === 0 || valid.length < names.length ? {} : { ownApexNs: valid.sort() }
}

const referenceTo = ({ id, nameServers }: ApiZone, name: DomainName): ZoneReference => ({
  ...masterZone(name, id),
  ...apexNsOf(nameServers),
})

const zoneList = (zones: readonly ApiZone[]): ZoneList =>
  zoneListOf(zones, referenceTo, {
    problemOf: ({ type }) => (type === 'secondary' ? 'gets its records from its primary' : null),
    twice: 'exists twice: name the account of one under account_id',
  })

type ZoneFinding = Pick<Diagnostic, 'message' | 'hint'>

/** What the state of a zone means for its answers (developers.cloudflare.com/dns/zone-setups/reference/domain-status). */
function findingsOf({ name, type, status, isPaused, nameServers }: ApiZone): ZoneFinding[] {
  const seeDashboard = 'see the dashboard of Cloudflare'
  const delegate =
    type === 'full' && nameServers.length > 0 ? `name these servers at its registrar: ${nameServers.join(', ')}` : seeDashboard
  const findings: ZoneFinding[] = []
  const add = (message: string, hint = seeDashboard): void => void findings.push({ message: `${name} ${message}`, hint })
  if (status === 'initializing') add('is initializing: Cloudflare does not answer for it yet', 'choose a plan for it in the dashboard')
  else if (status === 'pending') add('is pending: its parent does not delegate it to Cloudflare', delegate)
  else if (status === 'moved') add('is moved: its parent delegates it elsewhere, and Cloudflare will delete it with its records', delegate)
  else if (status !== 'active' && status !== '')
    add(`has the status ${JSON.stringify(status.slice(0, 50))}: Cloudflare may not serve or change it`)
  if (isPaused)
    add('is paused: Cloudflare proxies none of its records, and serves their addresses', 'resume it in the dashboard of Cloudflare')
  return findings
}
