/**
 * Makes one call: it creates, replaces or deletes one record set. The request states the ETag that was read for the plan, or that the record set does not exist,
 * so the service itself refuses it if another client was faster. Metadata is sent again, because a replacement would delete it.
 */
import type { DomainName } from '../../dns/domain-name.ts'
import { type ExistingRecord, isApexNs, type ResourceRecord, rrsetKey } from '../../dns/record.ts'
import type { UnplannedRecord } from '../../dns/zone.ts'
import { type RrsetChange, type RrsetName, rrsetImage, sameImage } from '../../plan/changesets.ts'
import { sleep } from '../../transport/retry.ts'
import { nullIfMissing } from '../api-errors.ts'
import { apiRecord, relativeOwner, relativeTo } from '../api-records.ts'
import { refuseConflicts } from '../changed-rrsets.ts'
import { anyShape, ShapeError } from '../json-shape.ts'
import { type AppliedCall, type ProviderCallOptions, ProviderError, type ZoneReference } from '../provider.ts'
import { reading } from '../send-request.ts'
import { masterZone } from '../zone-lists.ts'
import { type ApiSet, type AzureApi, setShape, zoneNamed } from './azure-api.ts'
import { recordsFromApi, recordsToApi, typesOf, type Visibility } from './record-format.ts'

export interface Azure {
  readonly api: AzureApi
  /** The provider's name in the config. */
  readonly name: string
  readonly visibility: Visibility
  /** What was read last of each zone, by its identifier and then by `rrsetKey`. */
  readonly sets: Map<ZoneReference['id'], Map<string, LiveSet>>
  /** Milliseconds to wait for the deletion of a zone. */
  readonly patience: number
}

/** Reads a zone, and remembers what changes need. */
export async function readZone(azure: Azure, zone: ZoneReference, options?: ProviderCallOptions): Promise<LiveZone> {
  const live = await readLive(azure.api, zone, azure.visibility, options)
  azure.sets.set(zone.id, live.sets)
  return live
}

/** Reads the record sets with the owners and types of any of these records. */
export async function findRecords(
  azure: Azure,
  zone: ZoneReference,
  like: readonly ResourceRecord[],
  options?: ProviderCallOptions,
): Promise<readonly ExistingRecord[]> {
  const wanted = [...new Map(like.map((record) => [rrsetKey(record), record])).values()]
  const sets = await Promise.all(wanted.map((rrset) => readSet(azure, zone, rrset, options)))
  return sets.flatMap((set) => set?.records ?? [])
}

const pathOf = ({ id, name: zone }: ZoneReference, { name, type }: RrsetName): string =>
  `/${id}/${type}/${encodeURIComponent(relativeTo(name, zone))}`

/** Reads one record set, and remembers it; null if it does not exist. */
async function readSet(azure: Azure, zone: ZoneReference, rrset: RrsetName, options?: ProviderCallOptions): Promise<LiveSet | null> {
  const what = `reading ${rrset.name} ${rrset.type}`
  const known = knownSets(azure, zone)
  const request = { method: 'GET', path: pathOf(zone, rrset), what, ...options } as const
  const set = await nullIfMissing(azure.api.request(request, (body) => shaped(azure, zone, rrset, body)))
  if (set === null) known.delete(rrsetKey(rrset))
  else known.set(rrsetKey(rrset), set)
  return set
}

/** Throws a `ShapeError` unless the answer is about this record set. */
function shaped({ visibility }: Azure, zone: ZoneReference, { name, type }: RrsetName, body: unknown): LiveSet {
  const { set } = liveSet(setShape(body), zone.name, visibility)
  if (set.owner === name && set.api.type === type) return set
  throw new ShapeError(`${name} ${type} was returned as ${set.owner} ${set.api.type}`)
}

function knownSets({ sets }: Azure, { id }: ZoneReference): Map<string, LiveSet> {
  const known = sets.get(id) ?? new Map<string, LiveSet>()
  sets.set(id, known)
  return known
}

/** Returns the records of the record set as Azure states them after the change; undefined if there was nothing to change. */
export async function changeSet(
  azure: Azure,
  zone: ZoneReference,
  rrset: RrsetChange,
  options?: ProviderCallOptions,
): Promise<readonly ExistingRecord[] | undefined> {
  const { api, name, visibility } = azure
  const { existing, desired, type } = rrset
  const known = knownSets(azure, zone)
  const key = rrsetKey(rrset)
  // Azure has given a new zone NS records of its own.
  const isGiven = existing === null && isApexNs({ ...rrset, ttl: null, data: '' }, zone.name)
  const isUnread = existing !== null && !known.has(key)
  const live = isUnread || isGiven ? await readSet(azure, zone, rrset, options) : (known.get(key) ?? null)
  if (live !== null && live.api.managedBy !== null)
    throw new ProviderError('provider-rejected', `${name}: ${rrset.name} ${type} ${live.api.managedBy}, which a record set would replace`, {
      hint: 'list the name under "unmanaged" in the definition, or remove the alias at Azure',
    })
  const now = rrsetImage(live?.records ?? [])
  if (sameImage(now, desired)) return undefined
  if (!isGiven) refuseConflicts(name, [rrset], () => now)
  const path = pathOf(zone, rrset)
  const headers: Readonly<Record<string, string>> = live === null ? { 'if-none-match': '*' } : { 'if-match': live.api.etag }
  if (desired === null) {
    const what = `deleting ${rrset.name} ${type}`
    const hasNoBody = await api.request({ method: 'DELETE', path, headers, what, ...options }, (body) => body === undefined)
    // Azure answers without a body. A response of something else is believed if nothing is left.
    if (!hasNoBody && (await readSet(azure, zone, rrset, options)) !== null)
      throw new ProviderError('provider-garbled', `${name}: ${what}: the response is not from the API`, { ambiguous: true })
    known.delete(key)
    return []
  }
  const metadata = live?.api.properties['metadata']
  const properties = {
    ...recordsToApi(type, desired.data, visibility),
    [visibility === 'public' ? 'TTL' : 'ttl']: desired.ttl,
    ...(metadata != null && { metadata }),
  }
  const request = { method: 'PUT', path, headers, body: { properties }, what: `changing ${rrset.name} ${type}`, ...options } as const
  const stored = await api.request(request, (body) => shaped(azure, zone, rrset, body))
  known.set(key, stored)
  return stored.records
}

export async function createZone({ api }: Azure, name: DomainName, options?: ProviderCallOptions): Promise<AppliedCall> {
  const id = name.slice(0, -1)
  const headers = { 'if-none-match': '*' }
  const body = { location: 'global' }
  await api.request({ method: 'PUT', path: `/${id}`, headers, body, what: `creating ${name}`, ...options }, zoneNamed(id))
  return { changes: [{ id }], zone: masterZone(name, id) }
}

/** Milliseconds between two looks at a zone that is being deleted; the pauses double. */
const FIRST_PAUSE = 250
const LONGEST_PAUSE = 4000

/** Deletes a zone with its record sets. Azure does so after its answer. */
export async function deleteZone(azure: Azure, zone: ZoneReference, options?: ProviderCallOptions): Promise<AppliedCall> {
  const { api, name, patience } = azure
  const path = `/${zone.id}`
  await api.request({ method: 'DELETE', path, what: `deleting ${zone.name}`, ...options }, anyShape)
  azure.sets.delete(zone.id)
  let waited = 0
  for (let pause = FIRST_PAUSE; waited < patience; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
    const request = reading(path, `looking whether ${zone.name} is deleted`, options)
    const isGone = await nullIfMissing(api.request(request, zoneNamed(String(zone.id))))
      .then((found) => found === null)
      .catch((error: unknown) => {
        throw error instanceof ProviderError ? error.with({ ambiguous: true, mayCompleteLater: true }) : error
      })
    if (isGone) return {}
    await sleep(pause, options?.stop ?? options?.signal).catch(() => {
      waited = patience
    })
    waited += pause
  }
  throw new ProviderError('provider-timeout', `${name}: deleting ${zone.name}: Azure has not completed it yet`, {
    ambiguous: true,
    mayCompleteLater: true,
  })
}

/** A record set with its records; none if it is empty, which the portal of Azure can make, or another resource manages it. */
interface LiveSet {
  readonly api: ApiSet
  readonly records: readonly ExistingRecord[]
}

interface LiveZone {
  readonly records: readonly ExistingRecord[]
  readonly unplanned: readonly UnplannedRecord[]
  /** By `rrsetKey`. */
  readonly sets: Map<string, LiveSet>
}

/** Reads all record sets of a zone. */
async function readLive(
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
function liveSet(api: ApiSet, zone: DomainName, visibility: Visibility): FoundSet {
  const owner = relativeOwner(api.name, zone, '@', 'a record set')
  const { type } = api
  const isKnown = typesOf(visibility).has(type)
  const reason = type === 'SOA' ? null : isKnown ? api.managedBy : 'has a type that Zonewright does not manage here'
  const data = reason === null && isKnown ? recordsFromApi(type, api.properties, visibility) : []
  return { set: { api, owner, records: data.map((text) => apiRecord(owner, type, api.ttl, text)) }, reason }
}
