/** Records of the API in the terms of plans. */

import type { DomainName } from '../../dns/domain-name.ts'
import { parseAbsoluteName } from '../../dns/domain-name.ts'
import type { ExistingRecord } from '../../dns/record.ts'
import { MAX_TTL, type Ttl } from '../../dns/ttl.ts'
import { ShapeError } from '../json-shape.ts'
import type { ProviderCallOptions, ZoneReference } from '../provider.ts'
import { type ApiRecord, type CloudflareApi, recordShape } from './cloudflare-api.ts'
import { rdataFromApi } from './rdata-format.ts'

export interface LiveRecord {
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
export function readRecords(api: CloudflareApi, zone: ZoneReference, options?: ProviderCallOptions): Promise<LiveRecord[]> {
  const request = { method: 'GET', path: `/zones/${zone.id}/dns_records`, what: `reading the records of ${zone.name}`, ...options } as const
  return api
    .list(request, PAGE_SIZE, (item) => {
      const record = recordShape(item)
      return { id: record.id, live: liveRecord(record, zone.name) }
    })
    .then((items) => items.map(({ live }) => live))
}

/** Malformed rdata stays as it is: text that no definition can contain. */
export function liveRecord(api: ApiRecord, zone: DomainName): LiveRecord {
  const name = parseAbsoluteName(api.name)
  if (!name.ok) throw new ShapeError(`a record is named ${JSON.stringify(api.name.slice(0, 300))}: ${name.message}`)
  const type = api.type === 'CNAME' && name.value === zone ? 'ALIAS' : api.type
  const data = rdataFromApi(type, api)
  const ttl = api.ttl === AUTOMATIC ? null : (Math.min(api.ttl, MAX_TTL) as Ttl)
  const settings = { proxied: api.proxied, comment: api.comment ?? '', tags: api.tags }
  return { record: { id: api.id, name: name.value, type, ttl, data: data.ok ? data.value : api.content, settings }, api }
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
