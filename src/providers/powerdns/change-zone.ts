/**
 * Makes one call. The API replaces RRsets in one transaction and cannot state what it expects to find, so a run calls only soon after it has read the zone.
 * Disabled records of that read are sent again with the others, because a replacement would delete them. A zone whose serial the server does not raise is read
 * again, so that its serial never falls.
 */
import type { Diagnostic } from '../../base/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { rrsetKey } from '../../dns/record.ts'
import type { SerialNumber } from '../../dns/serial-number.ts'
import type { ZoneSettings } from '../../dns/zone.ts'
import { type RrsetChange, rrsetImage, sameImage } from '../../plan/changesets.ts'
import type { DomainChange } from '../../plan/plan.ts'
import { refuseConflicts } from '../changed-rrsets.ts'
import { anyShape, checkZoneName } from '../json-shape.ts'
import {
  type AppliedCall,
  diagnosticOf,
  type ProviderCall,
  type ProviderCallOptions,
  ProviderError,
  type ZoneReference,
} from '../provider.ts'
import { reading } from '../send-request.ts'
import { isPrimary, type LiveZone, liveZone, referenceTo } from './live-zone.ts'
import { keysShape, type PowerDnsApi, zoneShape, zoneWithRecordsShape } from './powerdns-api.ts'
import { rdataToApi, typeToApi } from './rdata-format.ts'
import { changedSoa, newerSoa, newSoa, raisedSoa } from './soa.ts'

export interface PowerDns {
  readonly api: PowerDnsApi
  /** The provider's name in the config. */
  readonly name: string
  readonly newZones: NewZones
  /** Whether secondaries are told about changes immediately. */
  readonly notifies: boolean
  /** Zones as they were read last; none that was changed since. */
  readonly live: Map<DomainName, LiveZone>
}

/** Reads a zone with its records. */
export async function readLive({ api, live }: PowerDns, { id, name }: ZoneReference, options?: ProviderCallOptions): Promise<LiveZone> {
  const request = reading(`${api.path}/zones/${id}`, `reading ${name}`, options)
  const value = await api.request(request, (body) => liveZone(zoneWithRecordsShape(body), name))
  live.set(name, value)
  return value
}

export async function createZone(
  powerDns: PowerDns,
  { name, desired }: DomainChange,
  { changes, rrsets }: ProviderCall,
  options?: ProviderCallOptions,
): Promise<AppliedCall> {
  const { api, newZones } = powerDns
  await checkKeys(powerDns, options)
  const body = creationBody(name, desired ?? {}, rrsets, newZones)
  const request = { method: 'POST', path: `${api.path}/zones?rrsets=false`, body, what: `creating ${name}`, ...options } as const
  const value = await api.request(request, (response) => {
    const zone = zoneShape(response)
    checkZoneName(name, zone.name)
    return zone
  })
  const reference = referenceTo(value, name)
  const isRaised = options?.lastSerial !== undefined && reference.settings.type !== 'slave'
  const problems = isRaised ? await raiseNewZone(powerDns, reference, options.lastSerial, options) : []
  return { changes: changes.map(({ subject }) => (subject === 'domain' ? { id: value.id } : {})), zone: reference, problems }
}

/** The server chooses the first serial of a zone. Returns a warning if it refuses a later one. */
async function raiseNewZone(
  powerDns: PowerDns,
  zone: ZoneReference,
  last: SerialNumber,
  options: ProviderCallOptions,
): Promise<readonly Diagnostic[]> {
  const { api } = powerDns
  const what = `raising the serial of ${zone.name}`
  try {
    const soa = newerSoa(await readLive(powerDns, zone, options), last)
    powerDns.live.delete(zone.name)
    if (soa !== null)
      await api.request({ method: 'PATCH', path: `${api.path}/zones/${zone.id}`, body: { rrsets: [soa] }, what, ...options }, anyShape)
    return []
  } catch (error) {
    return [
      incomplete(`the zone was created, but its serial may not be newer than ${last}`, error, 'raise it above that of the secondaries'),
    ]
  }
}

/** The keys of new zones that the server does not have. */
export async function missingKeys({ api, newZones }: PowerDns, options?: ProviderCallOptions): Promise<string[]> {
  const wanted = [...newZones.primaryKeys, ...newZones.secondaryKeys]
  if (wanted.length === 0) return []
  const known = await api.request(reading(`${api.path}/tsigkeys`, 'listing TSIG keys', options), keysShape)
  return wanted.filter((key) => !known.includes(key.toLowerCase().replace(/\.$/, '')))
}

/** The server would create the zone and then refuse it for a missing key, and so leave half of it. */
async function checkKeys(powerDns: PowerDns, options?: ProviderCallOptions): Promise<void> {
  const [missing] = await missingKeys(powerDns, options)
  if (missing === undefined) return
  const message = `${powerDns.name}: the server has no TSIG key ${JSON.stringify(missing)}, which new_zones names`
  throw new ProviderError('provider-rejected', message, { hint: 'create it with "pdnsutil import-tsig-key"' })
}

export async function deleteZone({ api, live }: PowerDns, { name, zone }: LiveZone, options?: ProviderCallOptions): Promise<AppliedCall> {
  live.delete(name)
  await api.request({ method: 'DELETE', path: `${api.path}/zones/${zone.id}`, what: `deleting ${name}`, ...options }, anyShape)
  return {}
}

/** Updates the masters of a secondary, or the SOA record of any other zone. The type never changes. */
export async function updateZone(
  powerDns: PowerDns,
  reference: ZoneReference,
  { desired }: DomainChange,
  options?: ProviderCallOptions,
): Promise<AppliedCall> {
  const { api } = powerDns
  const live = await readLive(powerDns, reference, options)
  powerDns.live.delete(reference.name)
  const { zone, name, settings } = live
  const path = `${api.path}/zones/${zone.id}`
  const { master_ips: masters, ...times } = desired ?? {}
  if (masters !== undefined) await api.request({ method: 'PUT', path, body: { masters }, what: `updating ${name}`, ...options }, anyShape)
  if (settings.type === 'slave') return { changes: [{ id: zone.id }] }
  const soa = changedSoa(live, times)
  if (soa === null) return { changes: [{ id: zone.id }] }
  // The masters were changed already.
  const failed = masters !== undefined
  await api
    .request({ method: 'PATCH', path, body: { rrsets: [soa] }, what: `updating the SOA record of ${name}`, ...options }, anyShape)
    .catch((error: unknown) => {
      throw failed && error instanceof ProviderError ? error.with({ ambiguous: true }) : error
    })
  return { changes: [{ id: zone.id }], problems: await afterwards(powerDns, live, options) }
}

export async function changeRecords(
  powerDns: PowerDns,
  zone: ZoneReference,
  rrsets: readonly RrsetChange[],
  options?: ProviderCallOptions,
): Promise<AppliedCall> {
  const { api } = powerDns
  const known = powerDns.live.get(zone.name)
  const live = known !== undefined && raisedSoa(known) === null ? known : await readLive(powerDns, zone, options)
  powerDns.live.delete(zone.name)
  refuseConflicts(powerDns.name, rrsets, (rrset) => imageOf(live, rrset))
  const pending = rrsets.filter((rrset) => !sameImage(imageOf(live, rrset), rrset.desired) || hasDuplicates(live, rrset))
  if (pending.length > 0) {
    const changes = pending.map((rrset) => rrsetToApi(rrset, live))
    // The server judges each replacement by the RRsets that those before it leave: a CNAME is refused beside records that are yet to be deleted.
    const ordered = [
      ...changes.filter(({ changetype }) => changetype === 'DELETE'),
      ...changes.filter(({ changetype }) => changetype !== 'DELETE'),
    ]
    const soa = raisedSoa(live)
    const body = { rrsets: soa === null ? ordered : [...ordered, soa] }
    const what = `updating ${live.name}`
    await api.request({ method: 'PATCH', path: `${api.path}/zones/${live.zone.id}`, body, what, ...options }, anyShape)
  }
  return { problems: await afterwards(powerDns, live, options) }
}

const imageOf = ({ rrsets }: LiveZone, rrset: RrsetChange): ReturnType<typeof rrsetImage> =>
  rrsetImage(rrsets.get(rrsetKey(rrset))?.records ?? [])

/** Whether rows of an RRset differ only in the case of their data, so that they are one record to the DNS. */
function hasDuplicates({ rrsets }: LiveZone, rrset: RrsetChange): boolean {
  const records = rrsets.get(rrsetKey(rrset))?.records ?? []
  return new Set(records.map(({ data }) => data)).size < records.length
}

/** The body of one change. Comments stay if they are not sent. */
function rrsetToApi(
  rrset: RrsetChange,
  { rrsets }: LiveZone,
): { readonly changetype: 'REPLACE' | 'DELETE'; readonly [key: string]: unknown } {
  const { name, type, desired } = rrset
  const live = rrsets.get(rrsetKey(rrset))
  const enabled = (desired?.data ?? []).map((data) => ({ content: rdataToApi(type, data).content, disabled: false }))
  const disabled = (live?.disabled ?? []).filter(({ data }) => !desired?.data.includes(data))
  if (enabled.length + disabled.length === 0) return { name, type: typeToApi(type), changetype: 'DELETE' }
  const records = [...enabled, ...disabled.map(({ content }) => ({ content, disabled: true }))]
  return { name, type: typeToApi(type), ttl: desired?.ttl ?? live?.ttl ?? 0, changetype: 'REPLACE', records }
}

const incomplete = (what: string, error: unknown, hint: string): Diagnostic => ({
  severity: 'warning',
  code: 'apply-incomplete',
  message: `${what}: ${diagnosticOf(error).message}`,
  hint,
})

/** The steps after a change: NSEC records of a signed zone, and secondaries. Returns a warning for each that fails. */
async function afterwards(
  { api, notifies }: PowerDns,
  { zone, name }: LiveZone,
  options?: ProviderCallOptions,
): Promise<readonly Diagnostic[]> {
  const problems: Diagnostic[] = []
  const attempt = async (step: string, what: string, advice: string): Promise<void> => {
    try {
      await api.request({ method: 'PUT', path: `${api.path}/zones/${zone.id}/${step}`, what, ...options }, anyShape)
    } catch (error) {
      const problem = incomplete('the records were changed, but not all is done', error, advice)
      // A zone that is signed elsewhere needs no NSEC records from this server.
      if (!/pre-?signed/i.test(problem.message)) problems.push(problem)
    }
  }
  if (zone.dnssec && !zone.rectifies) await attempt('rectify', `rectifying ${name}`, `run "pdnsutil rectify-zone ${name}"`)
  if (notifies && isPrimary(zone))
    await attempt('notify', `sending NOTIFY for ${name}`, 'the secondaries transfer the zone at their next refresh')
  return problems
}

/** What zones are created with, beside what definitions say. */
export interface NewZones {
  /** The kind of zones that are no secondaries. */
  readonly kind: 'Master' | 'Native' | 'Producer'
  /** How the server raises the serial after changes by the API; null for its default. */
  readonly soaEditApi: string | null
  readonly account: string | null
  /** Names of TSIG keys that may transfer the zone. */
  readonly primaryKeys: readonly string[]
  /** Names of TSIG keys with which the server transfers a secondary zone. */
  readonly secondaryKeys: readonly string[]
}

/** `rrsets`: those of the first call. */
function creationBody(name: DomainName, settings: ZoneSettings, rrsets: readonly RrsetChange[], newZones: NewZones): object {
  const isSecondary = settings.type === 'slave'
  const nameserver = rrsets.find((rrset) => rrset.type === 'NS' && rrset.name === name)?.desired?.data[0]
  const soa = isSecondary ? null : newSoa(name, settings, nameserver)
  return {
    name,
    kind: isSecondary ? 'Slave' : newZones.kind,
    nameservers: [],
    masters: settings.master_ips ?? [],
    rrsets: [...(soa === null ? [] : [soa]), ...rrsets.map(apiRrset)],
    ...(newZones.soaEditApi !== null && { soa_edit_api: newZones.soaEditApi }),
    ...(newZones.account !== null && { account: newZones.account }),
    ...(newZones.primaryKeys.length > 0 && { master_tsig_key_ids: newZones.primaryKeys }),
    ...(newZones.secondaryKeys.length > 0 && { slave_tsig_key_ids: newZones.secondaryKeys }),
  }
}

const apiRrset = ({ name, type, desired }: RrsetChange): object => ({
  name,
  type: typeToApi(type),
  ttl: desired?.ttl ?? 0,
  records: (desired?.data ?? []).map((data) => ({ content: rdataToApi(type, data).content, disabled: false })),
})
