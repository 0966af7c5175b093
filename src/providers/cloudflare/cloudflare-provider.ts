/** A provider that reads and changes the zones of a Cloudflare account. */
import type { Diagnostic } from '../../base/diagnostic.ts'
import type { DoctorFinding } from '../../dns/doctor-finding.ts'
import { type DomainName, parseAbsoluteName } from '../../dns/domain-name.ts'
import { type ExaminedService, examineZones } from '../examine-zones.ts'
import { hostedProvider } from '../hosted-service.ts'
import type { ApiConnection } from '../json-api.ts'
import { checkZoneName, fieldsOf, idOf } from '../json-shape.ts'
import type { AppliedCall, Provider, ProviderCallOptions, ZoneReference } from '../provider.ts'
import { reading } from '../send-request.ts'
import { masterZone } from '../zone-lists.ts'
import { type CloudflarePlan, cloudflareCapabilities } from './capabilities.ts'
import { changeRecords } from './change-records.ts'
import { type ApiZone, type CloudflareApi, createCloudflareApi, ID, zoneShape } from './cloudflare-api.ts'
import { existingRecords, readRecords } from './live-zone.ts'

/** Zones per page: the maximum of the API. */
const ZONES_PER_PAGE = 50
const MISSING = 'add them in the dashboard of Cloudflare, set account_id, or include them in the token'
/** Maximum zones of which `doctor` states the state. */
const MAX_STATES = 20

/** `account`: the identifier of the account of the zones; null for the zones of all accounts, without creation. */
export function createCloudflareProvider(connection: ApiConnection, plan: CloudflarePlan, account: string | null): Provider {
  const api = createCloudflareApi(connection)
  const { provider: name } = connection
  const readZones = (filter: Readonly<Record<string, string>>, call?: ProviderCallOptions): Promise<ApiZone[]> => {
    const query = { ...filter, ...(account !== null && { 'account.id': account }) }
    return api.list(reading('/zones', 'listing zones', call, query), ZONES_PER_PAGE, zoneShape)
  }
  /** What is to say about the zones that were listed, by name. */
  const states = new Map<DomainName, readonly ZoneFinding[]>()
  const service: ExaminedService = { service: 'Cloudflare', missing: account === null ? MISSING : undefined }
  const provider: Provider = hostedProvider(connection, {
    ...service,
    type: 'cloudflare',
    capabilities: cloudflareCapabilities(plan, account !== null),
    list: (call) => readZones({}, call),
    find: (zone, call) => readZones({ name: zone.slice(0, -1) }, call),
    referenceTo(zone, own) {
      states.set(own, findingsOf(zone))
      return referenceTo(zone, own)
    },
    listing: {
      problemOf: ({ type }) => (type === 'secondary' ? 'gets its records from its primary' : null),
      twice: () => 'exists twice: name the account of one under account_id',
    },
    async read(zone, call) {
      const live = await readRecords(api, zone, call)
      const own = live.filter(({ api: { isReadOnly } }) => !isReadOnly)
      const unplanned = live.flatMap(({ api, record }) =>
        api.isReadOnly ? [{ ...record, reason: 'is managed by Cloudflare itself' }] : [],
      )
      const warnings = (states.get(zone.name) ?? []).map((one): Diagnostic => ({ severity: 'warning', code: 'zone-inactive', ...one }))
      return { records: existingRecords(own), unplanned, ownApexNs: zone.ownApexNs, warnings }
    },
    async create({ name: zone }, _, call) {
      if (account === null) throw new Error('zones are created only in a named account')
      return createZone(api, account, zone, referenceTo, call)
    },
    remove: (zone, _, __, call) => deleteZone(api, zone, call),
    change: (zone, changes, call) => changeRecords(api, name, zone, changes, call),
    close: api.close,
    features: {
      async examine(usage, _, call) {
        const findings = await examineZones(provider, usage, service, call)
        const ofZones = usage.zones.flatMap((zone) => states.get(zone) ?? []).slice(0, MAX_STATES)
        return [...findings, ...ofZones.map((finding): DoctorFinding => ({ status: 'warning', check: 'zones', ...finding }))]
      },
    },
  })
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

/** Creates a zone in an account. It is `pending`, and serves its records, until its parent delegates it. */
async function createZone(
  api: CloudflareApi,
  account: string,
  name: DomainName,
  referenceTo: (zone: ApiZone, name: DomainName) => ZoneReference,
  options?: ProviderCallOptions,
): Promise<AppliedCall> {
  const body = { name: name.slice(0, -1), account: { id: account }, type: 'full' }
  const request = { method: 'POST', path: '/zones', body, what: `creating ${name}`, ...options } as const
  const zone = await api.request(request, (result) => {
    const created = zoneShape(result)
    checkZoneName(body.name, created.name)
    return created
  })
  return { changes: [{ id: zone.id }], zone: referenceTo(zone, name) }
}

/** Deletes a zone with all that Cloudflare has of it. */
async function deleteZone(api: CloudflareApi, zone: ZoneReference, options?: ProviderCallOptions): Promise<AppliedCall> {
  await api.request({ method: 'DELETE', path: `/zones/${zone.id}`, what: `deleting ${zone.name}`, ...options }, (result) =>
    idOf(fieldsOf(result, 'the result'), 'id', 'the result', ID),
  )
  return {}
}
