/**
 * Makes one call. A bulk request replaces RRsets as a whole or not at all. The API cannot state what it expects to find, so each call asks first whether the
 * domain was written since it was read: a record set that differs from the plan is another client's work.
 */
import { relativeName } from '../../dns/domain-name.ts'
import { rrsetKey } from '../../dns/record.ts'
import { type RrsetChange, type RrsetImage, rrsetImage, sameImage } from '../../plan/changesets.ts'
import { isOfNewZone, refuseConflicts, refuseOtherRecords } from '../changed-rrsets.ts'
import { listOf, ShapeError } from '../json-shape.ts'
import { type AppliedCall, type ProviderCall, type ProviderCallOptions, ProviderError, type ZoneReference } from '../provider.ts'
import { DESEC_NAMESERVERS } from './capabilities.ts'
import { anyShape, domainShape, rrsetShape } from './desec-api.ts'
import type { Domains } from './domains.ts'
import { domainPath, type LiveZone, recordsOf } from './live-zone.ts'
import { rdataToApi } from './rdata-format.ts'

export async function applyCall(
  domains: Domains,
  zone: ZoneReference | null,
  { changes, rrsets }: ProviderCall,
  options?: ProviderCallOptions,
): Promise<AppliedCall> {
  const { api, provider } = domains
  const [first] = changes
  if (first?.subject === 'domain' && first.action === 'create') {
    const { name } = first
    const body = { name: name.slice(0, -1) }
    const request = { method: 'POST', path: '/domains/', body, what: `creating ${name}`, ...options } as const
    const { value } = await api.request(request, (response) => domains.referenceTo(domainShape(response), name))
    return { changes: [{ id: value.id }], zone: value }
  }
  if (zone === null) throw new Error('no zone to change')
  if (first?.subject === 'domain' && first.action !== 'delete') throw new Error('deSEC has no settings of domains')
  const live = await domains.readAgain(zone, options)
  if (first?.subject === 'domain') {
    refuseConflicts(provider, rrsets, (rrset) => imageOf(live, rrset))
    refuseOtherRecords(provider, rrsets, live.records)
    await api.request({ method: 'DELETE', path: domainPath(zone.name), what: `deleting ${zone.name}`, ...options }, anyShape)
    return {}
  }
  const isOwn = (rrset: RrsetChange): boolean => isOfNewZone(rrset, zone.name, imageOf(live, rrset), DESEC_NAMESERVERS)
  refuseConflicts(
    provider,
    rrsets.filter((rrset) => !isOwn(rrset)),
    (rrset) => imageOf(live, rrset),
  )
  await replaceRrsets(
    domains,
    zone,
    rrsets.filter((rrset) => !sameImage(imageOf(live, rrset), rrset.desired)),
    options,
  )
  return {}
}

const imageOf = ({ rrsets }: LiveZone, rrset: RrsetChange): RrsetImage | null => rrsetImage(rrsets.get(rrsetKey(rrset)) ?? [])

async function replaceRrsets(
  { api, forget }: Domains,
  zone: ZoneReference,
  rrsets: readonly RrsetChange[],
  options?: ProviderCallOptions,
): Promise<void> {
  if (rrsets.length === 0) return
  const body = rrsets.map(({ name, type, desired }) => ({
    subname: relativeName(name, zone.name),
    type,
    ...(desired !== null && { ttl: desired.ttl ?? 0 }),
    records: (desired?.data ?? []).map((data) => rdataToApi(type, data)),
  }))
  const what = `changing records of ${zone.name}`
  const request = { method: 'PATCH', path: `${domainPath(zone.name)}rrsets/`, body, what, ...options } as const
  forget(zone.name)
  try {
    await api.request(request, (response) => {
      const returned = new Set(
        listOf(response, 'the answer').flatMap((item) => {
          const [record] = recordsOf(rrsetShape(item), zone.name)
          return record === undefined ? [] : [rrsetKey(record)]
        }),
      )
      const missing = rrsets.find((rrset) => rrset.desired !== null && !returned.has(rrsetKey(rrset)))
      if (missing !== undefined) throw new ShapeError(`${missing.name} ${missing.type} is missing`)
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
  const { code, ambiguous, mayCompleteLater, notSent, status, hint, cause } = error
  return new ProviderError(code, message, { ambiguous, mayCompleteLater, notSent, status: status ?? undefined, hint, cause })
}
