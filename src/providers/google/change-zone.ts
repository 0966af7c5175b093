/**
 * Makes one call: one change of Cloud DNS, which is carried out as a whole. It deletes each RRset with its exact content and adds only RRsets that do not exist,
 * so the service itself refuses it if another client was faster.
 */
import { createHash } from 'node:crypto'
import type { Diagnostic } from '../../base/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { isApexNs, rrsetKey } from '../../dns/record.ts'
import { type RrsetChange, rrsetImage, sameImage } from '../../plan/changesets.ts'
import { sleep } from '../../transport/retry.ts'
import { anyShape, checkZoneName, ShapeError } from '../json-shape.ts'
import { type AppliedCall, type ProviderCallOptions, ProviderError, type ZoneReference } from '../provider.ts'
import { reading } from '../send-request.ts'
import { masterZone } from '../zone-lists.ts'
import { MAX_RRSETS } from './capabilities.ts'
import { type ApiChange, changeShape, type GoogleApi, type SentRrset, zoneShape } from './google-api.ts'
import { additionOf, deletionOf, type LiveZone, readLive, recordsOf, rememberAdded, type ZoneTexts } from './live-zone.ts'

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
