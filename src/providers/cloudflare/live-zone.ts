/** Records of the API in the terms of plans. */
import { type DomainName, parseAbsoluteName } from '../../dns/domain-name.ts'
import type { ExistingRecord } from '../../dns/record.ts'
import type { Ttl } from '../../dns/ttl.ts'
import { apiRecord, ownerOf } from '../api-records.ts'
import type { ProviderCallOptions, ZoneReference } from '../provider.ts'
import { reading } from '../send-request.ts'
import { type ApiRecord, type CloudflareApi, recordShape } from './cloudflare-api.ts'
import { rdataFromApi } from './rdata-format.ts'

export interface LiveRecord {
  readonly id: string
  readonly record: ExistingRecord & { readonly id: string }
  readonly api: ApiRecord
}

/** The TTL that means that Cloudflare chooses. */
const AUTOMATIC = 1
/** Records per page. */
const PAGE_SIZE = 5000

export const apiTtl = (ttl: Ttl | null): number => ttl ?? AUTOMATIC

/** The API's type of a record: an ALIAS is a CNAME at the apex, which Cloudflare flattens. */
export const apiType = (type: string): string => (type === 'ALIAS' ? 'CNAME' : type)

/** Reads all records of a zone. */
export async function readRecords(api: CloudflareApi, zone: ZoneReference, options?: ProviderCallOptions): Promise<LiveRecord[]> {
  const request = reading(`/zones/${zone.id}/dns_records`, `reading the records of ${zone.name}`, options)
  return api.list(request, PAGE_SIZE, (item) => liveRecord(recordShape(item), zone.name))
}

export function liveRecord(api: ApiRecord, zone: DomainName): LiveRecord {
  const { id, content, proxied, comment, tags } = api
  const name = ownerOf(api.name, parseAbsoluteName(api.name))
  const type = api.type === 'CNAME' && name === zone ? 'ALIAS' : api.type
  const record = apiRecord(name, type, api.ttl === AUTOMATIC ? null : api.ttl, content, rdataFromApi(type, api))
  return { id, record: { ...record, id, settings: { proxied, comment: comment ?? '', tags } }, api }
}

/** The types of plans that Cloudflare can proxy. */
export const PROXIABLE: readonly string[] = ['A', 'AAAA', 'ALIAS', 'CNAME']

/** The records for plans. Cloudflare sets the TTLs of proxied records, and of those that will be proxied because they come beside such records. */
export function existingRecords(live: readonly LiveRecord[]): ExistingRecord[] {
  const isProxied = proxiedNames(live)
  return live.map(({ record, api }) =>
    api.proxied ? { ...record, fixedTtlTypes: isProxied(record) ? PROXIABLE : [record.type], fixedTtlWhile: { proxied: true } } : record,
  )
}

/** Whether a record can be proxied, and all such records at its name are. */
export function proxiedNames(live: Iterable<LiveRecord>): (record: Pick<ExistingRecord, 'name' | 'type'>) => boolean {
  const proxied = new Map<string, boolean>()
  for (const { api, record } of live)
    if (PROXIABLE.includes(record.type)) proxied.set(record.name, api.proxied && proxied.get(record.name) !== false)
  return ({ name, type }) => PROXIABLE.includes(type) && proxied.get(name) === true
}
