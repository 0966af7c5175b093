/**
 * A provider that reads and changes the domains of a deSEC account. A bulk request replaces RRsets as a whole or not at all, and its answer has them as deSEC
 * stores them. The API cannot state what it expects to find, so a run calls only soon after it has read the zone.
 */
import { type DomainName, relativeName } from '../../dns/domain-name.ts'
import { rdataFields } from '../../dns/rdata/canonical.ts'
import { svcParamKey } from '../../dns/rdata/svc-param-forms.ts'
import { type ExistingRecord, rrsetKey } from '../../dns/record.ts'
import type { RrsetChange } from '../../plan/changesets.ts'
import { nullIfMissing } from '../api-errors.ts'
import { absoluteOwner, apiRecord, byType } from '../api-records.ts'
import { hostedProvider, snapshotOf } from '../hosted-service.ts'
import type { ApiConnection } from '../json-api.ts'
import { anyShape, checkZoneName, listOf, ShapeError } from '../json-shape.ts'
import { type Provider, type ProviderCallOptions, ProviderError, type ZoneReference } from '../provider.ts'
import { reading } from '../send-request.ts'
import { masterZone } from '../zone-lists.ts'
import { DESEC_TYPES, desecCapabilities, MIN_TTL } from './capabilities.ts'
import { createDesecApi, type DesecApi, domainShape, rrsetShape } from './desec-api.ts'

export function createDesecProvider(connection: ApiConnection): Provider {
  const api = createDesecApi(connection)
  /** The minimum TTLs in seconds of the domains that were looked up. */
  const minimums = new Map<DomainName, number>()
  const minimumTtl = (zone: DomainName): number | null => minimums.get(zone) ?? null
  const referenceTo = ({ minimumTtl }: ReturnType<typeof domainShape>, name: DomainName): ZoneReference => {
    minimums.set(name, minimumTtl)
    return masterZone(name)
  }
  const domainNamed = (name: DomainName) => (response: unknown) => {
    const domain = domainShape(response)
    checkZoneName(name, domain.name)
    referenceTo(domain, name)
    return domain
  }
  const find = async (name: DomainName, options?: ProviderCallOptions) =>
    name === '.' ? null : nullIfMissing(api.request(reading(domainPath(name), `looking up ${name}`, options), domainNamed(name)))
  return hostedProvider(connection, {
    type: 'desec',
    service: 'deSEC',
    missing: 'the token needs perm_create_domain for that',
    capabilities: desecCapabilities(minimumTtl),
    list: (options) => api.list(reading('/domains/', 'listing domains', options), domainShape),
    find,
    referenceTo,
    read: ({ name }, options) => readLive(api, name, options),
    async create({ name }, _, options) {
      const zone = masterZone(name)
      const body = { name: zone.id }
      await api.request({ method: 'POST', path: '/domains/', body, what: `creating ${name}`, ...options }, domainNamed(name))
      return { changes: [{ id: zone.id }], zone }
    },
    async remove({ name }, _, __, options) {
      await api.request({ method: 'DELETE', path: domainPath(name), what: `deleting ${name}`, ...options }, anyShape)
      return {}
    },
    change: async (zone, { rrsets }, options) => ({ storedRecords: await replaceRrsets(api, zone, rrsets, options) }),
    close: api.close,
    features: {
      capabilityFacts: (zones) => ({ minimumTtls: Object.fromEntries(zones.map((zone) => [zone, minimumTtl(zone)])) }),
      /** Without a look-up, unless a TTL may be below the minimum of the domain. */
      async readNamedZone(name, { lowestTtl = 0, ...options } = {}) {
        if (name === '.') return null
        if (lowestTtl < MIN_TTL && !minimums.has(name) && (await find(name, options)) === null) return null
        return nullIfMissing(readLive(api, name, options).then((live) => snapshotOf(masterZone(name), live)))
      },
    },
  })
}

/** Returns the record sets as they are stored. */
async function replaceRrsets(
  api: DesecApi,
  zone: ZoneReference,
  rrsets: readonly RrsetChange[],
  options?: ProviderCallOptions,
): Promise<readonly ExistingRecord[]> {
  const body = rrsets.map(({ name, type, desired }) => ({
    subname: relativeName(name, zone.name),
    type,
    ...(desired !== null && { ttl: desired.ttl ?? 0 }),
    records: (desired?.data ?? []).map((data) => rdataToApi(type, data)),
  }))
  const what = `changing records of ${zone.name}`
  const request = { method: 'PATCH', path: `${domainPath(zone.name)}rrsets/`, body, what, ...options } as const
  try {
    return await api.request(request, (response) => {
      const stored = listOf(response, 'the answer').flatMap((item) => recordsOf(rrsetShape(item), zone.name))
      const returned = new Set(stored.map(rrsetKey))
      const missing = rrsets.find((rrset) => rrset.desired !== null && !returned.has(rrsetKey(rrset)))
      if (missing !== undefined) throw new ShapeError(`${missing.name} ${missing.type} is missing`)
      return stored
    })
  } catch (error) {
    throw error instanceof ProviderError ? withNames(error, rrsets) : error
  }
}

/** The error of a bulk request with the names of its record sets instead of their numbers. */
function withNames(error: ProviderError, rrsets: readonly RrsetChange[]): ProviderError {
  const message = error.message.replace(/\bitem (\d{1,6}):/g, (text, index) => {
    const rrset = rrsets[Number(index)]
    return rrset === undefined ? text : `${rrset.name} ${rrset.type}:`
  })
  return error.with({ message, cause: error.cause })
}

/** The last parameter of SVCB whose name every version knows: ipv6hint. */
const LAST_NAMED_KEY = 6

/** Rdata for a request. The data must be canonical. */
export function rdataToApi(type: string, data: string): string {
  if (type !== 'SVCB' && type !== 'HTTPS') return data
  const [priority, target, ...parameters] = rdataFields(data)
  const numbered = parameters.map((parameter) =>
    parameter.replace(/^[a-z0-9-]+/, (name) => {
      const key = svcParamKey(name) ?? 0
      return key > LAST_NAMED_KEY ? `key${key}` : name
    }),
  )
  return [priority, target, ...numbered].join(' ')
}

const domainPath = (name: DomainName): string => `/domains/${encodeURIComponent(name.slice(0, -1))}/`

/** Reads all RRsets of a domain. */
async function readLive(api: DesecApi, zone: DomainName, options?: ProviderCallOptions) {
  const request = reading(`${domainPath(zone)}rrsets/`, `reading the records of ${zone}`, options)
  const rrsets = await api.list(request, (item) => recordsOf(rrsetShape(item), zone))
  return byType(rrsets.flat(), DESEC_TYPES)
}

function recordsOf({ name, type, ttl, records }: ReturnType<typeof rrsetShape>, zone: DomainName): ExistingRecord[] {
  const owner = absoluteOwner(name, zone)
  return records.map((content) => apiRecord(owner, type, ttl, content))
}
