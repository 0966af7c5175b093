/**
 * Makes one call: one record, or the domain itself. The API cannot state what it expects to find, so a run calls only soon after it has read the domain. Its
 * answers have the record as DigitalOcean stores it.
 */
import type { DomainName } from '../../dns/domain-name.ts'
import { isApexNs, sameRecord } from '../../dns/record.ts'
import { nullIfMissing } from '../api-errors.ts'
import { checkReturned } from '../api-records.ts'
import { checkZoneName, fieldsOf, ShapeError } from '../json-shape.ts'
import { type AppliedCall, type ProviderCall, type ProviderCallOptions, ProviderError, type ZoneReference } from '../provider.ts'
import { type ApiRequest, reading } from '../send-request.ts'
import { masterZone } from '../zone-lists.ts'
import { type DigitalOceanApi, domainShape, recordShape } from './digitalocean-api.ts'
import { domainPath, findDomain, type LiveRecord, liveRecord, readRecords, recordToApi } from './live-zone.ts'

export interface DigitalOcean {
  readonly api: DigitalOceanApi
  /** The provider's name in the config. */
  readonly name: string
  /** The domains that this run created, each with the deletion of the NS records that DigitalOcean gave it; null before that. */
  readonly created: Map<ZoneReference['id'], Promise<void> | null>
}

/** The NS records of a new domain. */
const GIVEN_NAMESERVER = /^ns[1-3]\.digitalocean\.com\.$/

export async function createDomain({ api, created }: DigitalOcean, name: DomainName, options?: ProviderCallOptions): Promise<AppliedCall> {
  const zone = masterZone(name)
  // Also if the answer is lost.
  created.set(zone.id, null)
  const body = { name: zone.id }
  await api.request({ method: 'POST', path: '/domains', body, what: `creating ${name}`, ...options }, (response) => {
    checkZoneName(zone.id, domainShape(fieldsOf(response, 'the response')['domain']).name)
  })
  return { changes: [{ id: zone.id }], zone }
}

export async function deleteDomain({ api, name: provider }: DigitalOcean, { name }: ZoneReference, options?: ProviderCallOptions) {
  const request = { method: 'DELETE', path: domainPath(name), what: `deleting ${name}`, ...options } as const
  await remove(api, provider, request, async () => (await findDomain(api, name, options)) === null)
  return {}
}

/** Changes the record of the call, which has one. */
export async function changeRecord(
  digitalOcean: DigitalOcean,
  zone: ZoneReference,
  { changes: [change] }: ProviderCall,
  options?: ProviderCallOptions,
): Promise<AppliedCall> {
  if (change?.subject !== 'record') return {}
  const { api, name: provider } = digitalOcean
  const { action, desired, name, type } = change
  if (action === 'create' && desired !== null && isApexNs(desired, zone.name)) await removeGivenNameservers(digitalOcean, zone, options)
  const path = `${domainPath(zone.name)}/records`
  if (desired === null) {
    const request = { method: 'DELETE', path: `${path}/${change.id}`, what: `deleting ${name} ${type}`, ...options } as const
    await remove(api, provider, request, async () => {
      const record = reading(request.path, `reading ${name} ${type}`, options)
      return (await nullIfMissing(api.request(record, (response) => recordOf(response, zone)))) === null
    })
    return { changes: [{ id: change.id ?? undefined }], storedRecords: [] }
  }
  const id = action === 'create' ? null : change.id
  const target = id === null ? ({ method: 'POST', path } as const) : ({ method: 'PUT', path: `${path}/${id}` } as const)
  const what = `${id === null ? 'creating' : 'changing'} ${name} ${type}`
  const stored = await api.request({ ...target, body: recordToApi(desired, zone.name), what, ...options }, (response) => {
    const returned = recordOf(response, zone)
    checkReturned(desired, returned)
    if (id !== null && returned.id !== id) throw new ShapeError(`the record ${id} was returned as ${returned.id}`)
    return returned
  })
  return { changes: [sameRecord(stored, desired) ? { id: stored.id } : { id: stored.id, stored }], storedRecords: [stored] }
}

/** Sends a deletion. A response other than that of the API, as that of a repeated request, is believed if `isGone` finds that nothing is left. */
async function remove(api: DigitalOceanApi, provider: string, request: ApiRequest, isGone: () => Promise<boolean>): Promise<void> {
  const hasNoBody = await api.request(request, (body) => body === undefined)
  if (hasNoBody || (await isGone())) return
  throw new ProviderError('provider-garbled', `${provider}: ${request.what}: the response is not from the API`, { ambiguous: true })
}

const recordOf = (response: unknown, zone: ZoneReference): LiveRecord =>
  liveRecord(recordShape(fieldsOf(response, 'the response')['domain_record']), zone.name)

/** Deletes the NS records that DigitalOcean gave a domain of this run, once, before the first one of the plan is created. */
async function removeGivenNameservers(
  { api, name: provider, created }: DigitalOcean,
  zone: ZoneReference,
  options?: ProviderCallOptions,
): Promise<void> {
  if (!created.has(zone.id)) return
  const removal =
    created.get(zone.id) ??
    (async () => {
      const { records } = await readRecords(api, zone, { name: zone.name, type: 'NS' }, options)
      for (const { id, data } of records.filter((record) => GIVEN_NAMESERVER.test(record.data))) {
        const path = `${domainPath(zone.name)}/records/${id}`
        const what = `deleting NS ${data} of the new domain ${zone.name}`
        await remove(api, provider, { method: 'DELETE', path, what, ...options }, async () => false)
      }
    })()
  // Concurrent calls wait for the same deletions.
  created.set(zone.id, removal)
  await removal
}
