/**
 * Makes one call. A bulk request replaces RRsets as a whole or not at all, and its answer has them as deSEC stores them. The API cannot state what it expects to
 * find, so a run calls only soon after it has read the zone.
 */
import { relativeName } from '../../dns/domain-name.ts'
import { type ExistingRecord, rrsetKey } from '../../dns/record.ts'
import type { RrsetChange } from '../../plan/changesets.ts'
import { listOf, ShapeError } from '../json-shape.ts'
import { type ProviderCallOptions, ProviderError, type ZoneReference } from '../provider.ts'
import { type DesecApi, rrsetShape } from './desec-api.ts'
import { domainPath, recordsOf } from './live-zone.ts'
import { rdataToApi } from './rdata-format.ts'

/** Returns the record sets as they are stored. */
export async function replaceRrsets(
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
