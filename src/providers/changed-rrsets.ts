/** Calls at targets without preconditions: what has changed since the plan, and, at those that store a zone as one file, the records after the call. */
import { counted } from '../base/english.ts'
import { excerpt } from '../base/text.ts'
import type { DomainName } from '../dns/domain-name.ts'
import { groupRrsets, type ResourceRecord, rrsetKey } from '../dns/record.ts'
import type { ExistingZone } from '../dns/zone.ts'
import { type RrsetChange, type RrsetImage, rrsetImage, sameImage } from '../plan/changesets.ts'
import { type ProviderCall, ProviderError } from './provider.ts'

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

/** Throws `provider-conflict` unless every RRset is as expected, or already as desired. `imageOf`: the RRset as the target has it. */
export function refuseConflicts(
  provider: string,
  rrsets: readonly RrsetChange[],
  imageOf: (rrset: RrsetChange) => RrsetImage | null,
): void {
  for (const rrset of rrsets) {
    const now = imageOf(rrset)
    if (sameImage(now, rrset.existing) || sameImage(now, rrset.desired)) continue
    const state = now === null ? 'was deleted' : `is ${excerpt(now.data.join(', '), 200)} (TTL ${now.ttl})`
    throw conflict(provider, `${rrset.name} ${rrset.type} ${state}`)
  }
}

/** Whether an RRset that should not exist is the NS RRset that the target gave a new zone, and that no plan could expect. `nameservers` are sorted. */
export const isOfNewZone = (
  { name, type, existing }: RrsetChange,
  zone: DomainName,
  now: RrsetImage | null,
  nameservers: readonly DomainName[],
): boolean => type === 'NS' && name === zone && existing === null && JSON.stringify(now?.data) === JSON.stringify(nameservers)

/** Throws unless a zone that is to be deleted has the record sets of the call and no other ones. */
export function refuseChangedZone(
  provider: string,
  rrsets: readonly RrsetChange[],
  { records, unplanned = [] }: Pick<ExistingZone, 'records' | 'unplanned'>,
): void {
  const [kept] = unplanned
  if (kept) {
    const count = counted(unplanned.length, 'record')
    const message = `${provider}: the zone has ${count} that Zonewright leaves alone: ${kept.name} ${kept.type} ${kept.reason}`
    throw new ProviderError('provider-rejected', message, { hint: 'delete them at the provider first' })
  }
  const present = groupRrsets(records)
  refuseConflicts(provider, rrsets, (rrset) => rrsetImage(present.get(rrsetKey(rrset)) ?? []))
  const expected = new Set(rrsets.map(rrsetKey))
  const other = records.find((record) => !expected.has(rrsetKey(record)))
  if (other) throw conflict(provider, `${other.name} ${other.type} ${excerpt(other.data, 100)} was created`)
}

export const conflict = (provider: string, what: string): ProviderError =>
  new ProviderError('provider-conflict', `${provider}: another client changed the zone after it was read for the plan: ${what}`, {
    hint: 'plan again to see the change',
  })

/** The records with the RRsets replaced. */
export function replaceRrsets(records: readonly ResourceRecord[], rrsets: readonly RrsetChange[]): ResourceRecord[] {
  const touched = new Set(rrsets.map(rrsetKey))
  const added = rrsets.flatMap(({ name, type, desired }) =>
    (desired?.data ?? []).map((data) => ({ name, type, ttl: desired?.ttl ?? null, data })),
  )
  return [...records.filter((record) => !touched.has(rrsetKey(record))), ...added]
}
