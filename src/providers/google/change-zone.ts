/**
 * Makes one call: one change of Cloud DNS, which is carried out as a whole. It deletes each RRset with its exact content and adds only RRsets that do not exist,
 * so the service itself refuses it if another client was faster.
 */
import { createHash } from 'node:crypto'
import type { Diagnostic } from '../../base/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { type ExistingRecord, isApexNs, rrsetKey } from '../../dns/record.ts'
import type { UnplannedRecord } from '../../dns/zone.ts'
import { type RrsetChange, rrsetImage, sameImage } from '../../plan/changesets.ts'
import { sleep } from '../../transport/retry.ts'
import { apiRecord } from '../api-records.ts'
import { anyShape, checkZoneName, ShapeError } from '../json-shape.ts'
import { type AppliedCall, type ProviderCallOptions, ProviderError, type ZoneReference } from '../provider.ts'
import { reading } from '../send-request.ts'
import { masterZone } from '../zone-lists.ts'
import { MAX_RRSETS } from './capabilities.ts'
import { type ApiChange, type ApiRrset, changeShape, type GoogleApi, rrsetShape, type SentRrset, zoneShape } from './google-api.ts'

export interface Google {
  readonly api: GoogleApi
  /** The provider's name in the config. */
  readonly name: string
  /** What was read last of each zone, by its identifier. */
  readonly texts: Map<ZoneReference['id'], ZoneTexts>
  /** Milliseconds to wait for the name servers of Google after a change. */
  readonly patience: number
}

/** Reads a zone, and remembers what changes need. */
export async function readZone({ api, texts }: Google, zone: ZoneReference, options?: ProviderCallOptions): Promise<LiveZone> {
  const live = await readLive(api, zone, options)
  texts.set(zone.id, live.texts)
  return live
}

export async function changeRrsets(
  google: Google,
  zone: ZoneReference,
  rrsets: readonly RrsetChange[],
  options?: ProviderCallOptions,
): Promise<AppliedCall> {
  const { name } = google
  const apexNs = rrsets.find((rrset) => rrset.existing === null && isApexNs({ ...rrset, ttl: null, data: '' }, zone.name))
  const live = google.texts.has(zone.id) && apexNs === undefined ? null : await readZone(google, zone, options)
  const texts = google.texts.get(zone.id) as ZoneTexts
  const routed = rrsets.find((rrset) => texts.routed.has(rrsetKey(rrset)))
  if (routed !== undefined)
    throw new ProviderError('provider-conflict', `${name}: ${routed.name} ${routed.type} has a routing policy, which would be lost`, {
      hint: 'list the name under "unmanaged" in the definition, or remove the policy at Google',
    })
  // Google has given a new zone NS records of its own.
  const own = live?.records.filter((record) => isApexNs(record, zone.name)) ?? []
  const expected = rrsets.map((rrset) => (rrset === apexNs ? { ...rrset, existing: rrsetImage(own) } : rrset))
  const pending = expected.filter(({ existing, desired }) => !sameImage(existing, desired))
  if (pending.length === 0) return {}
  const change = await sendChange(
    google,
    zone,
    pending.flatMap((rrset) => deletionOf(rrset, texts)),
    pending.flatMap(additionOf),
    options,
  )
  rememberAdded(texts, pending, change.additions)
  // The change is the service's record of what it has replaced, as a whole.
  const storedRecords = pending.length === rrsets.length ? change.additions.flatMap(recordsOf) : undefined
  return { storedRecords, problems: await waitUntilServed(google, zone, change, options) }
}

const sendChange = (
  { api }: Google,
  { id, name }: ZoneReference,
  deletions: readonly SentRrset[],
  additions: readonly SentRrset[],
  options?: ProviderCallOptions,
): Promise<ApiChange> => {
  const path = `/managedZones/${id}/changes`
  const what = `changing records of ${name}`
  return api.request({ method: 'POST', path, body: { additions, deletions }, what, ...options }, (body) => {
    const change = changeShape(body)
    const [sent, returned] = [additions, change.additions].map((rrsets) => rrsets.map(rrsetKey).sort().join(', '))
    if (sent !== returned) throw new ShapeError('it adds other record sets than were sent')
    return change
  })
}

/** Milliseconds before the second look at a change; the pauses double. */
const FIRST_PAUSE = 250
const LONGEST_PAUSE = 4000

/** Waits until all name servers of Google serve a change. It is made already, so a failure is a warning. */
async function waitUntilServed(
  { api, patience }: Google,
  zone: ZoneReference,
  { id, status }: ApiChange,
  options?: ProviderCallOptions,
): Promise<readonly Diagnostic[]> {
  const request = reading(`/managedZones/${zone.id}/changes/${id}`, `reading the change ${id} of ${zone.name}`, options)
  try {
    let pause = FIRST_PAUSE
    let waited = 0
    for (let now = status; now !== 'done'; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
      now = (await api.request(request, changeShape)).status
      if (now === 'done') break
      if (waited >= patience) return [notServed(zone, 'the change is still pending')]
      await sleep(pause, options?.stop ?? options?.signal)
      waited += pause
    }
    return []
  } catch (error) {
    if (!(error instanceof ProviderError) && !options?.stop?.aborted && !options?.signal?.aborted) throw error
    return [notServed(zone, error instanceof ProviderError ? error.message : 'the run was stopped')]
  }
}

const notServed = ({ name }: ZoneReference, why: string): Diagnostic => ({
  severity: 'warning',
  code: 'apply-incomplete',
  message: `${name}: the records were changed, but some of Google's name servers may not serve them yet: ${why}`,
  hint: 'run "zonewright verify" later',
})

/** Creates a public zone. The name at the service is the DNS name in letters, digits and hyphens. */
export async function createZone(google: Google, name: DomainName, options?: ProviderCallOptions): Promise<AppliedCall> {
  const { api } = google
  const existing = await api.list(reading('/managedZones', `looking up ${name}`, options, { dnsName: name }), 'managedZones', zoneShape)
  if (existing.some(({ visibility }) => visibility === 'public'))
    throw new ProviderError('provider-conflict', `${google.name}: ${name} exists already`, { hint: 'plan again to see its records' })
  const body = { name: serviceNameOf(name), dnsName: name, description: '', visibility: 'public' }
  const zone = await api.request({ method: 'POST', path: '/managedZones', body, what: `creating ${name}`, ...options }, (response) => {
    const created = zoneShape(response)
    checkZoneName(name, created.name)
    return created
  })
  return { changes: [{ id: zone.id }], zone: masterZone(name, zone.id) }
}

const MAX_SERVICE_NAME = 63

function serviceNameOf(name: DomainName): string {
  const plain = name
    .slice(0, -1)
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/-$/, '')
  const text = /^[a-z]/.test(plain) ? plain : `zone-${plain.replace(/^-/, '')}`
  // Different names may have the same letters and digits, or be too long.
  if (text.length <= MAX_SERVICE_NAME && !/[_-]/.test(name)) return text
  return `${text.slice(0, MAX_SERVICE_NAME - 9)}-${createHash('sha256').update(name).digest('hex').slice(0, 8)}`
}

/** Deletes all RRsets of a zone, then the zone. */
export async function deleteZone(
  google: Google,
  zone: ZoneReference,
  rrsets: readonly RrsetChange[],
  texts: ZoneTexts,
  options?: ProviderCallOptions,
): Promise<AppliedCall> {
  const { api } = google
  const deletions = rrsets.filter(({ name, type }) => !(name === zone.name && type === 'NS')).flatMap((rrset) => deletionOf(rrset, texts))
  let isPartial = false
  try {
    for (let at = 0; at < deletions.length; at += MAX_RRSETS) {
      await sendChange(google, zone, deletions.slice(at, at + MAX_RRSETS), [], options)
      isPartial = true
    }
    await api.request({ method: 'DELETE', path: `/managedZones/${zone.id}`, what: `deleting ${zone.name}`, ...options }, anyShape)
  } catch (error) {
    if (!isPartial || !(error instanceof ProviderError)) throw error
    throw error.with({ message: `${error.message}; some of its records were deleted`, ambiguous: true })
  }
  google.texts.delete(zone.id)
  return {}
}

interface LiveZone {
  readonly records: readonly ExistingRecord[]
  readonly unplanned: readonly UnplannedRecord[]
  readonly texts: ZoneTexts
}

/** What a change must know of a zone beyond its records. By `rrsetKey`. */
interface ZoneTexts {
  /** The RRsets whose texts differ from the canonical ones, or have another order: a deletion has to repeat them. */
  readonly unusual: Map<string, ApiRrset>
  readonly routed: ReadonlySet<string>
}

/** Reads all RRsets of a zone. */
async function readLive(api: GoogleApi, { id, name }: ZoneReference, options?: ProviderCallOptions): Promise<LiveZone> {
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

const recordsOf = ({ name, type, ttl, rrdatas }: ApiRrset): ExistingRecord[] => rrdatas.map((text) => apiRecord(name, type, ttl, text))

/** Remembers the texts of the RRsets that a change added. */
function rememberAdded({ unusual }: ZoneTexts, changes: readonly RrsetChange[], added: readonly ApiRrset[]): void {
  for (const change of changes) unusual.delete(rrsetKey(change))
  for (const rrset of added) remember(unusual, rrsetKey(rrset), rrset, recordsOf(rrset))
}

/** The RRset of a deletion: exactly as the service has it, which is its precondition. */
function deletionOf({ name, type, existing }: RrsetChange, { unusual }: ZoneTexts): SentRrset[] {
  if (existing === null) return []
  const texts = unusual.get(rrsetKey({ name, type }))
  // Unless the plan was made from other texts, which the service then refuses.
  if (texts !== undefined && sameImage(rrsetImage(recordsOf(texts)), existing)) {
    const { ttl, rrdatas } = texts
    return [{ name, type, ttl, rrdatas }]
  }
  return [{ name, type, ttl: existing.ttl ?? 0, rrdatas: existing.data }]
}

const additionOf = ({ name, type, desired }: RrsetChange): SentRrset[] =>
  desired === null ? [] : [{ name, type, ttl: desired.ttl ?? 0, rrdatas: desired.data }]
