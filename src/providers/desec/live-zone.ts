/** Domains as the API returns them, in the terms of plans. */
import { failure } from '../../base/result.ts'
import { type DomainName, isAtOrBelow, parseAbsoluteName } from '../../dns/domain-name.ts'
import type { ExistingRecord } from '../../dns/record.ts'
import { apiRecord, byType, ownerOf } from '../api-records.ts'
import type { ProviderCallOptions } from '../provider.ts'
import { reading } from '../send-request.ts'
import { DESEC_TYPES } from './capabilities.ts'
import { type DesecApi, rrsetShape } from './desec-api.ts'

export const domainPath = (name: DomainName): string => `/domains/${encodeURIComponent(name.slice(0, -1))}/`

/** Reads all RRsets of a domain. */
export async function readLive(api: DesecApi, zone: DomainName, options?: ProviderCallOptions) {
  const request = reading(`${domainPath(zone)}rrsets/`, `reading the records of ${zone}`, options)
  const rrsets = await api.list(request, (item) => recordsOf(rrsetShape(item), zone))
  return byType(rrsets.flat(), DESEC_TYPES)
}

export function recordsOf({ name, type, ttl, records }: ReturnType<typeof rrsetShape>, zone: DomainName): ExistingRecord[] {
  const parsed = parseAbsoluteName(name)
  const owner = ownerOf(name, parsed.ok && !isAtOrBelow(parsed.value, zone) ? failure(`is outside ${zone}`) : parsed)
  return records.map((content) => apiRecord(owner, type, ttl, content))
}
