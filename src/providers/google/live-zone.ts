import { type ExistingRecord, rrsetKey } from '../../dns/record.ts'
import type { UnplannedRecord } from '../../dns/zone.ts'
import { type RrsetChange, rrsetImage, sameImage } from '../../plan/changesets.ts'
import { apiRecord } from '../api-records.ts'
import type { ProviderCallOptions, ZoneReference } from '../provider.ts'
import { reading } from '../send-request.ts'
import { type ApiRrset, type GoogleApi, rrsetShape, type SentRrset } from './google-api.ts'

export interface LiveZone {
  readonly records: readonly ExistingRecord[]
  readonly unplanned: readonly UnplannedRecord[]
  readonly texts: ZoneTexts
}

/** What a change must know of a zone beyond its records. By `rrsetKey`. */
export interface ZoneTexts {
  /** The RRsets whose texts differ from the canonical ones, or have another order: a deletion has to repeat them. */
  readonly unusual: Map<string, ApiRrset>
  readonly routed: ReadonlySet<string>
}

/** Reads all RRsets of a zone. */
export async function readLive(api: GoogleApi, { id, name }: ZoneReference, options?: ProviderCallOptions): Promise<LiveZone> {
  return liveZone(await api.list(reading(`/managedZones/${id}/rrsets`, `reading the records of ${name}`, options), 'rrsets', rrsetShape))
}

/** The SOA record belongs to Google. */
export function liveZone(rrsets: readonly ApiRrset[]): LiveZone {
  const records: ExistingRecord[] = []
  const unplanned: UnplannedRecord[] = []
  const unusual = new Map<string, ApiRrset>()
  const routed = new Set<string>()
  for (const rrset of rrsets) {
    if (rrset.type === 'SOA') continue
    const { name } = rrset
    const key = rrsetKey(rrset)
    if (rrset.routing !== null) {
      const reason = `has a routing policy (${rrset.routing.kind})`
      routed.add(key)
      const { rrdatas } = rrset.routing
      const texts = rrdatas.length > 0 ? rrdatas : ['']
      unplanned.push(...texts.map((data) => ({ name, type: rrset.type, data, reason, holdsRrset: true })))
      continue
    }
    const own = recordsOf(rrset)
    records.push(...own)
    remember(unusual, key, rrset, own)
  }
  return { records, unplanned, texts: { unusual, routed } }
}

function remember(unusual: ZoneTexts['unusual'], key: string, rrset: ApiRrset, own: readonly ExistingRecord[]): void {
  const canonical = rrsetImage(own)?.data ?? []
  if (JSON.stringify(canonical) === JSON.stringify(rrset.rrdatas)) unusual.delete(key)
  else unusual.set(key, rrset)
}

export const recordsOf = ({ name, type, ttl, rrdatas }: ApiRrset): ExistingRecord[] =>
  rrdatas.map((text) => apiRecord(name, type, ttl, text))

/** Remembers the texts of the RRsets that a change added. */
export function rememberAdded({ unusual }: ZoneTexts, changes: readonly RrsetChange[], added: readonly ApiRrset[]): void {
  for (const change of changes) unusual.delete(rrsetKey(change))
  for (const rrset of added) remember(unusual, rrsetKey(rrset), rrset, recordsOf(rrset))
}

/** The RRset of a deletion: exactly as the service has it, which is its precondition. */
export function deletionOf({ name, type, existing }: RrsetChange, { unusual }: ZoneTexts): SentRrset[] {
  if (existing === null) return []
  const texts = unusual.get(rrsetKey({ name, type }))
  // Unless the plan was made from other texts, which the service then refuses.
  if (texts !== undefined && sameImage(rrsetImage(recordsOf(texts)), existing)) {
    const { ttl, rrdatas } = texts
    return [{ name, type, ttl, rrdatas }]
  }
  return [{ name, type, ttl: existing.ttl ?? 0, rrdatas: existing.data }]
}

export const additionOf = ({ name, type, desired }: RrsetChange): SentRrset[] =>
  desired === null ? [] : [{ name, type, ttl: desired.ttl ?? 0, rrdatas: desired.data }]
