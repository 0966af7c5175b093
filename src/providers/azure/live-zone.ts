/** Record sets of the API in the terms of plans. */
import type { DomainName } from '../../dns/domain-name.ts'
import { type ExistingRecord, rrsetKey } from '../../dns/record.ts'
import type { UnplannedRecord } from '../../dns/zone.ts'
import { apiRecord, relativeOwner } from '../api-records.ts'
import type { ProviderCallOptions, ZoneReference } from '../provider.ts'
import { reading } from '../send-request.ts'
import { type ApiSet, type AzureApi, setShape } from './azure-api.ts'
import { recordsFromApi, typesOf, type Visibility } from './record-format.ts'

/** A record set with its records; none if it is empty, which the portal of Azure can make, or another resource manages it. */
export interface LiveSet {
  readonly api: ApiSet
  readonly records: readonly ExistingRecord[]
}

export interface LiveZone {
  readonly records: readonly ExistingRecord[]
  readonly unplanned: readonly UnplannedRecord[]
  /** By `rrsetKey`. */
  readonly sets: Map<string, LiveSet>
}

/** Reads all record sets of a zone. */
export async function readLive(
  api: AzureApi,
  { id, name }: ZoneReference,
  visibility: Visibility,
  options?: ProviderCallOptions,
): Promise<LiveZone> {
  const path = `/${id}/${visibility === 'public' ? 'recordsets' : 'ALL'}`
  const found = await api.list(reading(path, `reading the records of ${name}`, options), (item) =>
    liveSet(setShape(item), name, visibility),
  )
  const unplanned = found.flatMap(({ set, reason }): UnplannedRecord[] => {
    const { type } = set.api
    return reason === null ? [] : [{ name: set.owner, type, data: '', reason, holdsRrset: true }]
  })
  const sets = new Map(found.map(({ set }) => [rrsetKey({ name: set.owner, type: set.api.type }), set]))
  return { records: found.flatMap(({ set }) => set.records), unplanned, sets }
}

interface FoundSet {
  readonly set: LiveSet & { readonly owner: DomainName }
  /** Why plans cannot contain it; null if they can. */
  readonly reason: string | null
}

/** The SOA record belongs to Azure. */
export function liveSet(api: ApiSet, zone: DomainName, visibility: Visibility): FoundSet {
  const owner = relativeOwner(api.name, zone, '@', 'a record set')
  const { type } = api
  const isKnown = typesOf(visibility).has(type)
  const reason = type === 'SOA' ? null : isKnown ? api.managedBy : 'has a type that Zonewright does not manage here'
  const data = reason === null && isKnown ? recordsFromApi(type, api.properties, visibility) : []
  return { set: { api, owner, records: data.map((text) => apiRecord(owner, type, api.ttl, text)) }, reason }
}
