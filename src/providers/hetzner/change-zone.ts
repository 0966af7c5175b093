/**
 * Makes one call: one RRset, or the zone itself. The API creates an RRset only if there is none, and otherwise cannot state what it expects to find, so the RRset
 * is read immediately before a change or a deletion: one that differs from the plan is another client's work. Labels stay; comments stay with their record. Each
 * request begins an action, whose end is awaited.
 */
import type { Diagnostic } from '../../base/diagnostic.ts'
import type { ZoneSettings } from '../../dns/zone.ts'
import { type RrsetChange, type RrsetImage, rrsetImage, sameImage } from '../../plan/changesets.ts'
import type { Change, DomainChange } from '../../plan/plan.ts'
import { sleep } from '../../transport/retry.ts'
import { nullIfMissing } from '../api-errors.ts'
import { relativeTo } from '../api-records.ts'
import { isOfNewZone, refuseConflicts } from '../changed-rrsets.ts'
import { checkZoneName, fieldsOf, ShapeError } from '../json-shape.ts'
import { type AppliedCall, type ProviderCall, type ProviderCallOptions, ProviderError, type ZoneReference } from '../provider.ts'
import { type ApiRequest, reading } from '../send-request.ts'
import { HETZNER_NAMESERVERS } from './capabilities.ts'
import { type ApiZone, actionOf, type HetznerApi, rrsetShape, zoneOf } from './hetzner-api.ts'
import { checkRrset, type LiveRrset, readRrset, referenceTo, rrsetPath } from './live-zone.ts'
import type { ZoneActions } from './zone-actions.ts'

export interface Hetzner {
  readonly api: HetznerApi
  readonly actions: ZoneActions
  /** The provider's name in the config. */
  readonly name: string
}

/** Attempts of a change that another change at the same moment made fail, and milliseconds between two. */
const ATTEMPTS = 3
const PAUSE = 200

export async function applyCall(
  hetzner: Hetzner,
  zone: ZoneReference,
  call: ProviderCall,
  options?: ProviderCallOptions,
): Promise<AppliedCall> {
  const [rrset] = call.rrsets
  if (rrset === undefined) return {}
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await changeRrset(hetzner, zone, rrset, call.changes, attempt === 1, options)
    } catch (error) {
      // The API asks to repeat a change that met another one.
      const mayRepeat =
        error instanceof ProviderError && error.status === '409' && !error.ambiguous && attempt < ATTEMPTS && !options?.stop?.aborted
      if (!mayRepeat) throw error
      await sleep(PAUSE * attempt, options?.stop).catch(() => undefined)
    }
  }
}

/** `isFirst`: whether a new RRset may be created without a read, because the API refuses to create one that exists. */
async function changeRrset(
  hetzner: Hetzner,
  zone: ZoneReference,
  rrset: RrsetChange,
  changes: readonly Change[],
  isFirst: boolean,
  options?: ProviderCallOptions,
): Promise<AppliedCall> {
  const { api, name: provider } = hetzner
  const { name, type, existing, desired } = rrset
  const mayBeNew = isFirst && existing === null && !(type === 'NS' && name === zone.name)
  const live = mayBeNew ? null : await readRrset(api, zone, rrset, options)
  const now = imageOf(live)
  if (!isOfNewZone(rrset, zone.name, now, HETZNER_NAMESERVERS)) refuseConflicts(provider, [rrset], () => now)
  if (sameImage(now, desired)) return {}
  if (live?.isProtected)
    throw new ProviderError('provider-rejected', `${provider}: ${name} ${type} is protected against changes at Hetzner`, {
      hint: 'remove the protection in the Hetzner Console, or list the record set under "unmanaged"',
    })
  const path = rrsetPath(zone, name, type)
  const problems: Diagnostic[] = []
  const what = `changing ${name} ${type}`
  const send = async (
    request: Pick<ApiRequest, 'method' | 'path' | 'body'>,
    isLast: boolean,
    more?: ProviderCallOptions,
  ): Promise<void> => {
    const failure = await sendChange(hetzner, { ...request, what, ...more }, (body) => {
      const created = fieldsOf(body, 'the response')['rrset']
      if (created !== undefined) checkRrset(rrsetShape(created), zone, rrset)
    })
    if (failure === null) return
    if (!isLast || !sameImage(imageOf(await readRrset(api, zone, rrset, more)), desired)) throw incomplete(provider, what, failure)
    problems.push(unpublished(what, failure))
  }
  if (desired === null) {
    const isGone = async (): Promise<boolean> => (await readRrset(api, zone, rrset, options)) === null
    const failure = await sendDeletion(hetzner, { method: 'DELETE', path, what, ...options }, isGone)
    if (failure === null) return {}
    if (!(await isGone())) throw incomplete(provider, what, failure)
    return { problems: [unpublished(what, failure)] }
  }
  const records = desired.data.map((data) => ({ value: data, ...commentOf(data, live, changes) }))
  if (now === null) {
    const body = { name: relativeTo(name, zone.name), type, ttl: desired.ttl, records }
    await send({ method: 'POST', path: `/zones/${zone.id}/rrsets`, body }, true, options)
    return { problems }
  }
  const steps = [
    ...(now.ttl === desired.ttl ? [] : [{ method: 'POST', path: `${path}/actions/change_ttl`, body: { ttl: desired.ttl } } as const]),
    ...(sameData(now, desired) ? [] : [{ method: 'POST', path: `${path}/actions/set_records`, body: { records } } as const]),
  ]
  // Answers with another TTL than both record sets have are avoided: a TTL falls before the data changes, and rises after.
  if ((desired.ttl ?? Number.POSITIVE_INFINITY) > (now.ttl ?? Number.POSITIVE_INFINITY)) steps.reverse()
  for (const [index, step] of steps.entries()) {
    // A call that has begun is completed, unless the run is aborted.
    const more = index === 0 ? options : { signal: options?.signal }
    await send(step, index === steps.length - 1, more).catch((error: unknown) => {
      // The first request was carried out.
      if (index === 0 || !(error instanceof ProviderError)) throw error
      throw error.with({ message: `${error.message}; of TTL and data only one was changed`, ambiguous: true })
    })
  }
  return { problems }
}

const imageOf = (live: LiveRrset | null): RrsetImage | null => rrsetImage(live?.records ?? [])

const sameData = (a: RrsetImage, b: RrsetImage): boolean => sameImage({ ...a, ttl: b.ttl }, b)

/** The comment of a record that stays, or of the one that it replaces. */
function commentOf(data: string, live: LiveRrset | null, changes: readonly Change[]): { readonly comment?: string } {
  const own = live?.comments.get(data)
  if (own !== undefined) return { comment: own }
  const replaced = changes.find((change) => change.subject === 'record' && change.desired?.data === data)?.existing
  const former = replaced != null && 'data' in replaced ? live?.comments.get(replaced.data) : undefined
  return former === undefined ? {} : { comment: former }
}

const incomplete = (provider: string, what: string, failure: string): ProviderError =>
  new ProviderError('provider-failed', `${provider}: ${what}: Hetzner could not complete it: ${failure}`, { ambiguous: true })

const unpublished = (what: string, failure: string): Diagnostic => ({
  severity: 'warning',
  code: 'apply-incomplete',
  message: `${what}: Hetzner has stored the change, but could not complete it: ${failure}`,
  hint: 'look at the status of the zone in the Hetzner Console',
})

/** Sends a change and waits for its action. Returns why the action failed; null if it succeeded. */
async function sendChange({ api, actions }: Hetzner, request: ApiRequest, check?: (body: unknown) => void): Promise<string | null> {
  const action = await api.request(request, (body) => {
    check?.(body)
    return actionOf(body)
  })
  return actions.wait(action, request.what, request)
}

/**
 * Sends a deletion and waits for its action. A response without an action, as that of a repeated request, is believed if `isGone` finds that nothing is left.
 * Returns why the action failed; null if it succeeded.
 */
async function sendDeletion({ api, actions, name }: Hetzner, request: ApiRequest, isGone: () => Promise<boolean>): Promise<string | null> {
  const action = await api.request(request, (body) => (fieldsOf(body, 'the response')['action'] === undefined ? null : actionOf(body)))
  if (action !== null) return actions.wait(action, request.what, request)
  if (await isGone()) return null
  throw new ProviderError('provider-garbled', `${name}: ${request.what}: the response has no action`, { ambiguous: true })
}

export async function createZone(
  hetzner: Hetzner,
  { name, desired, subject: _ }: DomainChange,
  options?: ProviderCallOptions,
): Promise<AppliedCall> {
  const { type, ttl_sec: ttl, master_ips: primaries = [] }: ZoneSettings = desired ?? {}
  const body = {
    name: name.slice(0, -1),
    mode: type === 'slave' ? 'secondary' : 'primary',
    ...(ttl !== undefined && { ttl }),
    ...(type === 'slave' && { primary_nameservers: primaries.map((address) => ({ address })) }),
  }
  const what = `creating ${name}`
  const { zone, action } = await hetzner.api.request({ method: 'POST', path: '/zones', body, what, ...options }, (response) => {
    const created = zoneOf(response)
    checkZoneName(name, created.name)
    return { zone: created, action: actionOf(response) }
  })
  const failure = await hetzner.actions.wait(action, what, options)
  const problems = failure === null ? [] : [unpublished(what, failure)]
  return { changes: [{ id: zone.id }], zone: referenceTo(zone, name), problems }
}

export async function deleteZone(hetzner: Hetzner, zone: ZoneReference, options?: ProviderCallOptions): Promise<AppliedCall> {
  const { api, name: provider } = hetzner
  const what = `deleting ${zone.name}`
  const live = await findZone(api, zone, options)
  if (live?.isProtected)
    throw new ProviderError('provider-rejected', `${provider}: ${zone.name} is protected against deletion at Hetzner`, {
      hint: 'remove the protection in the Hetzner Console',
    })
  const isGone = async (): Promise<boolean> => (await findZone(api, zone, options)) === null
  const failure = await sendDeletion(hetzner, { method: 'DELETE', path: `/zones/${zone.id}`, what, ...options }, isGone)
  return failure === null ? {} : { problems: [unpublished(what, failure)] }
}

/** Null if the zone does not exist. */
function findZone(api: HetznerApi, { id, name }: ZoneReference, options?: ProviderCallOptions): Promise<ApiZone | null> {
  const read = api.request(reading(`/zones/${id}`, `reading ${name}`, options), (body) => {
    const zone = zoneOf(body)
    if (zone.id !== id) throw new ShapeError(`the zone ${id} was returned as ${zone.id}`)
    return zone
  })
  return nullIfMissing(read)
}

/** Changes the TTL of the zone, or the primaries of a secondary. Ports and keys of primaries that stay are kept. */
export async function updateZone(
  hetzner: Hetzner,
  zone: ZoneReference,
  { desired }: DomainChange,
  options?: ProviderCallOptions,
): Promise<AppliedCall> {
  const { ttl_sec: ttl, master_ips: addresses } = desired ?? {}
  const path = `/zones/${zone.id}`
  const what = `updating ${zone.name}`
  const problems: Diagnostic[] = []
  const send = async (action: string, body: object): Promise<void> => {
    const failure = await sendChange(hetzner, { method: 'POST', path: `${path}/actions/${action}`, body, what, ...options })
    if (failure !== null) problems.push(unpublished(what, failure))
  }
  if (ttl !== undefined) await send('change_ttl', { ttl })
  if (addresses !== undefined && zone.settings.type === 'slave') {
    const live = await findZone(hetzner.api, zone, options)
    const known = new Map(live?.primaries.map((primary) => [primary['address'], primary]))
    await send('change_primary_nameservers', { primary_nameservers: addresses.map((address) => known.get(address) ?? { address }) })
  }
  const updated = await findZone(hetzner.api, zone, options)
  return { changes: [{ id: zone.id }], problems, ...(updated !== null && { zone: referenceTo(updated, zone.name) }) }
}
