/** Finds, lists, imports and clones the domains of an account. */
import { failure, type Result } from '../../base/result.ts'
import { type DomainName, parseDomainName, ROOT } from '../../dns/domain-name.ts'
import { parseIpv6 } from '../../dns/ip-address.ts'
import type { ZoneSettings } from '../../dns/zone.ts'
import { ShapeError } from '../json-shape.ts'
import { type CopiedZone, type ProviderCallOptions, ProviderError, type ZoneList, type ZoneReference } from '../provider.ts'
import { zoneListOf, zonesNamed } from '../zone-lists.ts'
import { type ApiDomain, domainShape } from './api-responses.ts'
import type { CloudApi } from './cloud-api.ts'

/** Maximum octets of an X-Filter. For more names the whole list is read. */
export const MAX_FILTER = 4000

export interface CloudAccount {
  readonly api: CloudApi
  readonly name: string
}

/** Finds zones by one filtered request if there are few names. Zones that this does not find are searched in the whole list, since filters may be case-sensitive. */
export async function findZones(
  account: CloudAccount,
  names: readonly DomainName[],
  call?: ProviderCallOptions,
): Promise<ReadonlyMap<DomainName, ZoneReference>> {
  const wanted = new Set(names)
  if (wanted.size === 0) return new Map()
  const find = async (query?: unknown) => zonesNamed(zoneList(await listDomains(account, query, call)), wanted)
  const alternatives = [...wanted].map((name) => ({ domain: name.slice(0, -1) }))
  const filter = alternatives.length === 1 ? alternatives[0] : { '+or': alternatives }
  const found = JSON.stringify(filter).length <= MAX_FILTER ? await find(filter) : new Map<DomainName, ZoneReference>()
  return found.size < wanted.size ? new Map([...found, ...(await find())]) : found
}

export const listZones = async (account: CloudAccount, call?: ProviderCallOptions): Promise<ZoneList> =>
  zoneList(await listDomains(account, undefined, call))

async function listDomains({ api, name }: CloudAccount, filter: unknown, call?: ProviderCallOptions): Promise<readonly ApiDomain[]> {
  const what = filter === undefined ? 'listing domains' : 'looking up domains'
  return api.list({ method: 'GET', path: '/domains', what, filter, ...call }, domainShape).catch((error: unknown) => {
    throw withAddressHint(error, name)
  })
}

/** Adds a hint to status 404: a server without a list of domains is the wrong one, or has the API at another path. */
function withAddressHint(error: unknown, provider: string): unknown {
  if (!(error instanceof ProviderError) || error.status !== '404') return error
  const hint = `check that base_url of ${provider} is the URL of the API with its version, such as https://…/v4`
  return error.with({ hint })
}

/** The zones among domains. Of several spellings of one name, the canonical one is the zone, as in a filtered request; otherwise the oldest. */
const zoneList = (domains: readonly ApiDomain[]): ZoneList =>
  zoneListOf(
    [...domains].sort((a, b) => a.id - b.id).map((domain) => ({ name: domain.domain, id: domain.id, domain })),
    ({ domain }, name) => referenceOf(domain, name),
    {
      parse: parseName,
      isPreferred: (zone, name) => `${zone.name}.` === name,
      twice: ({ id }, name) => `the domain number ${id} has the same name, ${name}`,
    },
  )

function parseName(text: string): Result<DomainName> {
  const name = parseDomainName(`${text.replace(/\.$/, '')}.`)
  return name.ok && name.value === ROOT ? failure('the root cannot be managed as a zone') : name
}

/** A domain as a zone; null if its name is no domain name. */
export function zoneReference(domain: ApiDomain): ZoneReference | null {
  const name = parseName(domain.domain)
  return name.ok ? referenceOf(domain, name.value) : null
}

const referenceOf = (domain: ApiDomain, name: DomainName): ZoneReference => ({
  name,
  id: domain.id,
  settings: settingsOf(domain),
  ...(STATUSES.has(domain.status) ? {} : { unknownSettings: [`status ${JSON.stringify(domain.status)}`] }),
  updated: timeOf(domain.updated) ?? undefined,
})

/** Settings by the status of a domain. Domains with errors are active. Definitions cannot have any other status. */
const STATUSES: ReadonlyMap<string, ZoneSettings['status']> = new Map([
  ['active', 'active'],
  ['has_errors', 'active'],
  ['disabled', 'disabled'],
])

function settingsOf(domain: ApiDomain): ZoneSettings {
  const { type, description, group, tags, soa_email, master_ips, axfr_ips, expire_sec, refresh_sec, retry_sec, ttl_sec } = domain
  const status = STATUSES.get(domain.status)
  const addresses = { master_ips: master_ips.map(canonicalAddress), axfr_ips: axfr_ips.map(canonicalAddress) }
  return { type, status, description, group, tags, soa_email, ...addresses, expire_sec, refresh_sec, retry_sec, ttl_sec }
}

/** The canonical form of an IPv6 address, as in definitions; any other text unchanged. */
function canonicalAddress(text: string): string {
  const address = parseIpv6(text)
  return address.ok ? address.value : text
}

/** Milliseconds since 1970 of a time of the API, which is UTC without a suffix; null if it is not a time. */
export function timeOf(text: string | null): number | null {
  const time = text === null ? Number.NaN : Date.parse(/[Zz]|[+-][0-9]{2}:?[0-9]{2}$/.test(text) ? text : `${text}Z`)
  return Number.isNaN(time) ? null : time
}

/** Creates a domain that the service transfers from a name server. `addresses` are the known sources of its transfers. */
export async function importCloudZone(
  api: CloudApi,
  name: DomainName,
  nameserver: string,
  { addresses, toZone }: { readonly addresses: readonly string[]; readonly toZone: ToZone },
  call?: ProviderCallOptions,
): Promise<CopiedZone> {
  const body = { domain: name.slice(0, -1), remote_nameserver: nameserver }
  const what = `importing ${name} from ${nameserver}`
  try {
    return await api.request({ method: 'POST', path: '/domains/import', body, what, ...call }, (response) => copied(response, name, toZone))
  } catch (error) {
    throw withAddresses(error, what, addresses)
  }
}

/** Creates a domain with the settings and records of another one. */
export async function cloneCloudZone(
  api: CloudApi,
  source: ZoneReference,
  name: DomainName,
  toZone: ToZone,
  call?: ProviderCallOptions,
): Promise<CopiedZone> {
  const what = `cloning ${source.name} as ${name}`
  const request = { method: 'POST', path: `/domains/${source.id}/clone`, body: { domain: name.slice(0, -1) }, what, ...call } as const
  return api.request(request, (response) => copied(response, name, toZone))
}

/** Converts a domain to a zone; null if its name is no domain name. */
type ToZone = (domain: ReturnType<typeof domainShape>) => ZoneReference | null

function copied(body: unknown, name: DomainName, toZone: ToZone): CopiedZone {
  const domain = domainShape(body)
  const zone = toZone(domain)
  if (zone?.name !== name) throw new ShapeError(`the domain ${name} was returned as ${JSON.stringify(domain.domain)}, number ${domain.id}`)
  return { zone, remarks: remarksOf(body) }
}

/** Maximum lines of remarks. */
const MAX_REMARKS = 100

/** The parts that the service could not copy, one line each. Some instances report them in the domain's `errors`. */
function remarksOf(body: unknown): string[] {
  const { errors } = body as { readonly errors?: unknown }
  if (typeof errors !== 'string') return []
  return errors
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(0, MAX_REMARKS)
    .map((line) => line.slice(0, 2000))
}

/** Adds a hint with the addresses that a name server must allow, if it refused the transfer. */
function withAddresses(error: unknown, what: string, addresses: readonly string[]): unknown {
  if (
    !(error instanceof ProviderError) ||
    error.code !== 'provider-rejected' ||
    // Names of zones and servers may contain these words.
    !/remote_nameserver|transfer|axfr|was refused/i.test(error.message.replace(what, ''))
  )
    return error
  const known =
    addresses.length === 0 ? 'the addresses that the service transfers from (its documentation names them)' : addresses.join(', ')
  const hint = /must allow transfers/.test(error.message) ? undefined : `the name server must allow zone transfers (AXFR) to ${known}`
  return error.with({ hint })
}
