/**
 * Makes one call: a list of changes that is one version of the zone. The API cannot state what it expects to find, so a run calls only soon after it has read the
 * zone. Records are changed by the identifiers of that read, which keeps their comments; the answer has the records as Scaleway stores them.
 */
import { groupBy } from '../../base/group-by.ts'
import { type DomainName, parentOf, relativeName } from '../../dns/domain-name.ts'
import { rrsetKey } from '../../dns/record.ts'
import { type RrsetChange, type RrsetImage, rrsetImage } from '../../plan/changesets.ts'
import { refuseConflicts } from '../changed-rrsets.ts'
import { anyShape, checkZoneName, fieldsOf, listOf, ShapeError } from '../json-shape.ts'
import { type AppliedCall, type ProviderCallOptions, ProviderError, type ZoneReference } from '../provider.ts'
import { masterZone } from '../zone-lists.ts'
import { type LiveRecord, type LiveZone, liveRecord, readLive, zonePath } from './live-zone.ts'
import { recordShape, zoneShape } from './scaleway-api.ts'
import { findZones, readZones, type Scaleway } from './zones.ts'

export async function changeZone(
  scaleway: Scaleway,
  zone: ZoneReference,
  rrsets: readonly RrsetChange[],
  options?: ProviderCallOptions,
): Promise<AppliedCall> {
  await refuseMissing(scaleway, zone.name, options)
  const live = scaleway.live.get(zone.name) ?? (await readLive(scaleway.api, zone.name, options))
  scaleway.live.set(zone.name, live)
  refuseConflicts(scaleway.name, rrsets, (rrset) => imageOf(live, rrset))
  return changeRecords(scaleway, zone, rrsets, live, options)
}

/** Throws unless a zone has exactly this name: without one, Scaleway may change the zone above it. */
async function refuseMissing(scaleway: Scaleway, name: DomainName, options?: ProviderCallOptions): Promise<void> {
  if ((await findZones(scaleway, [name], options)).has(name)) return
  throw new ProviderError('provider-not-found', `${scaleway.name}: there is no zone ${name} any more`, { notSent: true })
}

async function changeRecords(
  { api, live: known }: Scaleway,
  zone: ZoneReference,
  rrsets: readonly RrsetChange[],
  live: LiveZone,
  options?: ProviderCallOptions,
): Promise<AppliedCall> {
  const body = changesOf(zone.name, rrsets, live)
  if (body.changes.length === 0) return {}
  const request = {
    method: 'PATCH',
    path: `${zonePath(zone.name)}/records`,
    body,
    what: `changing records of ${zone.name}`,
    ...options,
  } as const
  const sent = await api
    .request(request, (response) => {
      const returned = listOf(fieldsOf(response, 'the response')['records'], 'records').map((one) =>
        liveRecord(recordShape(one), zone.name),
      )
      const { length } = body.changes.flatMap(writtenBy)
      if (returned.length !== length) throw new ShapeError(`there are ${returned.length} records instead of ${length}`)
      const own = new Set(rrsets.map(rrsetKey))
      const other = returned.find(({ record }) => !own.has(rrsetKey(record)))
      if (other !== undefined) throw new ShapeError(`${other.record.name} ${other.record.type} was returned, which was not sent`)
      return returned
    })
    .catch((error: unknown) => {
      // It is not known what the zone holds.
      known.delete(zone.name)
      throw error
    })
  const written = groupBy(sent, ({ record }) => rrsetKey(record))
  const gone = new Set(body.changes.flatMap((change) => ('add' in change ? [] : ['set' in change ? change.set.id : change.delete.id])))
  for (const key of rrsets.map(rrsetKey)) {
    const kept = (live.rrsets.get(key) ?? []).filter(({ api: { id } }) => !gone.has(id))
    live.rrsets.set(key, [...kept, ...(written.get(key) ?? [])])
  }
  return { storedRecords: rrsets.flatMap((rrset) => (live.rrsets.get(rrsetKey(rrset)) ?? []).map(({ record }) => record)) }
}

/** A record set that has become a dynamic one differs from any plan. */
const imageOf = ({ rrsets, unplanned }: LiveZone, rrset: RrsetChange): RrsetImage | null => {
  const plain = (rrsets.get(rrsetKey(rrset)) ?? []).map(({ record }) => record)
  if (plain.length > 0) return rrsetImage(plain)
  return rrsetImage(unplanned.flatMap((one) => (rrsetKey(one) === rrsetKey(rrset) ? [{ ...one, ttl: null }] : [])))
}

interface SentRecord {
  readonly name: string
  readonly type: string
  readonly ttl: number
  readonly data: string
  readonly comment?: string
}

type SentChange =
  | { readonly delete: { readonly id: string } }
  | { readonly set: { readonly id: string; readonly records: readonly SentRecord[] } }
  | { readonly add: { readonly records: readonly SentRecord[] } }

const writtenBy = (change: SentChange): readonly SentRecord[] =>
  'add' in change ? change.add.records : 'set' in change ? change.set.records : []

/** Deletions come first, so that a CNAME never is beside other records. */
function changesOf(
  zone: DomainName,
  rrsets: readonly RrsetChange[],
  live: LiveZone,
): { readonly changes: readonly SentChange[]; readonly return_all_records: false; readonly disallow_new_zone_creation: true } {
  const deleted: SentChange[] = []
  const set: SentChange[] = []
  const added: SentRecord[] = []
  for (const rrset of rrsets) {
    const { name, type, desired } = rrset
    const sent = (data: string, comment: string | null): SentRecord => ({
      name: relativeName(name, zone),
      type,
      ttl: desired?.ttl ?? 0,
      data,
      ...(comment !== null && { comment }),
    })
    const missing = new Set(desired?.data ?? [])
    const surplus: LiveRecord[] = []
    for (const one of live.rrsets.get(rrsetKey(rrset)) ?? []) {
      if (!missing.delete(one.record.data)) surplus.push(one)
      else if (one.record.ttl !== desired?.ttl) set.push({ set: { id: one.api.id, records: [sent(one.record.data, one.api.comment)] } })
    }
    for (const data of missing) {
      // A new value takes the place of one that goes, with its comment.
      const replaced = surplus.shift()
      if (replaced === undefined) added.push(sent(data, null))
      else set.push({ set: { id: replaced.api.id, records: [sent(data, replaced.api.comment)] } })
    }
    deleted.push(...surplus.map(({ api: { id } }) => ({ delete: { id } })))
  }
  const changes = [...deleted, ...set, ...(added.length === 0 ? [] : [{ add: { records: added } }])]
  return { changes, return_all_records: false, disallow_new_zone_creation: true }
}

/** Zones are created below the domains of the account: the nearest one holds the new zone. */
export async function createZone(scaleway: Scaleway, name: DomainName, options?: ProviderCallOptions): Promise<AppliedCall> {
  const { api } = scaleway
  const above: DomainName[] = []
  for (let parent = name; parent !== '.'; parent = parentOf(parent)) above.push(parent)
  const zones = await readZones(scaleway, above, options)
  const holder = zones.find(({ domain }) => above.some((one) => one === `${domain}.`))
  if (holder === undefined)
    throw new ProviderError('provider-rejected', `${scaleway.name}: no domain of the account holds ${name}`, {
      hint: 'register the domain at Scaleway, or add it as an external domain in its console',
    })
  const subdomain = relativeName(name, `${holder.domain}.` as DomainName)
  const body = { domain: holder.domain, subdomain, project_id: scaleway.project ?? holder.project }
  const request = { method: 'POST', path: '/dns-zones', body, what: `creating ${name}`, ...options } as const
  await api.request(request, (response) => checkZoneName(name, zoneShape(response).name))
  const zone = masterZone(name)
  return { changes: [{ id: zone.id }], zone }
}

export async function deleteZone(scaleway: Scaleway, { name }: ZoneReference, options?: ProviderCallOptions): Promise<AppliedCall> {
  await refuseMissing(scaleway, name, options)
  const [zone] = await readZones(scaleway, [name], options)
  const query = zone === undefined ? {} : { project_id: zone.project }
  await scaleway.api.request({ method: 'DELETE', path: zonePath(name), query, what: `deleting ${name}`, ...options }, anyShape)
  return {}
}
