/** Calls at targets that store a zone as one file: what has changed since the plan, and the records after the call. */
import { groupRrsets, type ResourceRecord, rrsetKey } from '../dns/record.ts'
import { type RrsetChange, type RrsetImage, rrsetImage } from '../plan/changesets.ts'
import type { ProviderCall } from './provider.ts'

/**
 * Says which RRset of the call is not as it was read for the plan, in words that follow the name of the zone; null if all are. The deletion of a zone
 * expects that it has no other RRset.
 */
export function changedSincePlan({ changes, rrsets }: ProviderCall, records: readonly ResourceRecord[]): string | null {
  const present = groupRrsets(records)
  const different = rrsets.find((rrset) => !sameImage(rrsetImage(present.get(rrsetKey(rrset)) ?? []), rrset.existing))
  if (different !== undefined) return `has another record set ${different.name} ${different.type} than the one read for the plan`
  if (!changes.some(({ subject, action }) => subject === 'domain' && action === 'delete')) return null
  const known = new Set(rrsets.map(rrsetKey))
  const added = records.find((record) => !known.has(rrsetKey(record)))
  return added === undefined ? null : `has a record set that was not read for the plan, ${added.name} ${added.type}`
}

const sameImage = (a: RrsetImage | null, b: RrsetImage | null): boolean =>
  a === null || b === null
    ? a === b
    : a.ttl === b.ttl && a.hasOtherTtls === b.hasOtherTtls && JSON.stringify(a.data) === JSON.stringify(b.data)

/** The records with the RRsets replaced. */
export function replaceRrsets(records: readonly ResourceRecord[], rrsets: readonly RrsetChange[]): ResourceRecord[] {
  const touched = new Set(rrsets.map(rrsetKey))
  const added = rrsets.flatMap(({ name, type, desired }) =>
    (desired?.data ?? []).map((data) => ({ name, type, ttl: desired?.ttl ?? null, data })),
  )
  return [...records.filter((record) => !touched.has(rrsetKey(record))), ...added]
}
