/** Record sets of the API in the terms of plans. */
import { type DomainName, parseAbsoluteName } from '../../dns/domain-name.ts'
import { type ExistingRecord, rrsetKey } from '../../dns/record.ts'
import { MAX_TTL, type Ttl } from '../../dns/ttl.ts'
import type { UnplannedRecord } from '../../dns/zone.ts'
import { ShapeError } from '../json-shape.ts'
import type { ProviderCallOptions, ZoneReference } from '../provider.ts'
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
  const request = { method: 'GET', path, what: `reading the records of ${name}`, ...options } as const
  const found = await api.list(request, (item) => liveSet(setShape(item), name, visibility))
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
  const name = parseAbsoluteName(api.name === '@' ? zone : `${api.name}.${zone}`)
  if (!name.ok) throw new ShapeError(`a record set is named ${JSON.stringify(api.name.slice(0, 300))}: ${name.message}`)
  const owner = name.value
  const { type } = api
  const isKnown = typesOf(visibility).has(type)
  const reason = type === 'SOA' ? null : isKnown ? api.managedBy : 'has a type that Zonewright does not manage here'
  const ttl = Math.min(api.ttl, MAX_TTL) as Ttl
  const data = reason === null && isKnown ? recordsFromApi(type, api.properties, visibility) : []
  return { set: { api, owner, records: data.map((text) => ({ name: owner, type, ttl, data: text })) }, reason }
}

/** The name of a record set in paths and bodies. */
export const relativeName = (name: DomainName, zone: DomainName): string => (name === zone ? '@' : name.slice(0, -zone.length - 1))
