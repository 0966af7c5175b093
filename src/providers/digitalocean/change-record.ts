/**
 * Makes one call: one record, or the domain itself. The API cannot state what it expects to find, so a run calls only soon after it has read the domain. Its
 * answers have the record as DigitalOcean stores it.
 */
import { isApexNs, sameRecord } from '../../dns/record.ts'
import type { RecordChange } from '../../plan/plan.ts'
import { nullIfMissing } from '../api-errors.ts'
import { checkZoneName, fieldsOf, ShapeError } from '../json-shape.ts'
import { type AppliedCall, type ProviderCall, type ProviderCallOptions, ProviderError, type ZoneReference } from '../provider.ts'
import type { ApiRequest } from '../send-request.ts'
import { type DigitalOceanApi, domainShape, recordShape } from './digitalocean-api.ts'
import { domainPath, findDomain, type LiveRecord, liveRecord, readRecords, recordToApi, referenceTo } from './live-zone.ts'

export interface DigitalOcean {
  readonly api: DigitalOceanApi
  /** The provider's name in the config. */
  readonly name: string
  /** The domains that this run created, each with the deletion of the NS records that DigitalOcean gave it; null before that. */
  readonly created: Map<ZoneReference['id'], Promise<void> | null>
}

/** The NS records of a new domain. */
const GIVEN_NAMESERVER = /^ns[1-3]\.digitalocean\.com\.$/

export async function applyCall(
  digitalOcean: DigitalOcean,
  zone: ZoneReference | null,
  { changes: [change] }: ProviderCall,
  options?: ProviderCallOptions,
): Promise<AppliedCall> {
  const { api, name: provider, created } = digitalOcean
  if (change === undefined) return {}
  if (change.subject === 'domain' && change.action === 'create') {
    const body = { name: change.name.slice(0, -1) }
    const request = { method: 'POST', path: '/domains', body, what: `creating ${change.name}`, ...options } as const
    // Also if the answer is lost.
    created.set(body.name, null)
    await api.request(request, (response) => {
      checkZoneName(body.name, domainShape(fieldsOf(response, 'the response')['domain']))
    })
    return { changes: [{ id: body.name }], zone: referenceTo(change.name) }
  }
  if (zone === null) throw new Error('no zone to change')
  if (change.subject === 'domain') {
    if (change.action !== 'delete') throw new Error('DigitalOcean has no settings of domains')
    const request = { method: 'DELETE', path: domainPath(zone.name), what: `deleting ${zone.name}`, ...options } as const
    await remove(api, provider, request, async () => (await findDomain(api, zone.name, options)) === null)
    return {}
  }
  return applyChange(digitalOcean, zone, change, options)
}

async function applyChange(
  digitalOcean: DigitalOcean,
  zone: ZoneReference,
  change: RecordChange,
  options?: ProviderCallOptions,
): Promise<AppliedCall> {
  const { api, name: provider } = digitalOcean
  const { action, desired, name, type } = change
  if (action === 'create' && desired !== null && isApexNs(desired, zone.name)) await removeGivenNameservers(digitalOcean, zone, options)
  const path = `${domainPath(zone.name)}/records`
  if (desired === null) {
    const request = { method: 'DELETE', path: `${path}/${change.id}`, what: `deleting ${name} ${type}`, ...options } as const
    await remove(api, provider, request, () => isGone(api, zone, change, options))
    return { changes: [{ id: change.id ?? undefined }], storedRecords: [] }
  }
  const id = action === 'create' ? null : change.id
  const target = id === null ? ({ method: 'POST', path } as const) : ({ method: 'PUT', path: `${path}/${id}` } as const)
  const what = `${id === null ? 'creating' : 'changing'} ${name} ${type}`
  const stored = await api.request({ ...target, body: recordToApi(desired, zone.name), what, ...options }, (response) => {
    const returned = recordOf(response, zone)
    if (returned.name !== desired.name || returned.type !== type || (id !== null && returned.id !== id))
      throw new ShapeError(`${desired.name} ${type} was returned as ${returned.name} ${returned.type}`)
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

/** Whether the record of a change does not exist any more. */
async function isGone(
  api: DigitalOceanApi,
  zone: ZoneReference,
  { id, name, type }: RecordChange,
  options?: ProviderCallOptions,
): Promise<boolean> {
  const request = { method: 'GET', path: `${domainPath(zone.name)}/records/${id}`, what: `reading ${name} ${type}`, ...options } as const
  return (await nullIfMissing(api.request(request, (response) => recordOf(response, zone)))) === null
}
