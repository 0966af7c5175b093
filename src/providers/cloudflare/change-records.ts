/**
 * Makes one call: a batch, which Cloudflare carries out as a whole. The API cannot state what it expects to find, so the records are read immediately before a
 * batch that changes or deletes some: a record that differs from the plan is another client's work. Updates are patches, which keep `proxied`, comments and tags
 * that the definition does not state, and all other settings.
 */
import { excerpt } from '../../base/text.ts'
import { type ExistingRecord, sameRecord } from '../../dns/record.ts'
import type { RecordChange } from '../../plan/plan.ts'
import { checkReturned } from '../api-records.ts'
import { conflict } from '../changed-rrsets.ts'
import { fieldsOf, listOf, ShapeError } from '../json-shape.ts'
import type { AppliedCall, AppliedChange, ProviderCall, ProviderCallOptions, ZoneReference } from '../provider.ts'
import { type CloudflareApi, recordShape } from './cloudflare-api.ts'
import { apiTtl, apiType, type LiveRecord, liveRecord, proxiedNames, readRecords } from './live-zone.ts'
import { rdataToApi } from './rdata-format.ts'

type Operation = Readonly<Record<string, unknown>>

/** Operations with the indexes of their changes. */
interface Batch {
  readonly deletes: (readonly [index: number, operation: Operation])[]
  readonly patches: (readonly [index: number, operation: Operation])[]
  readonly posts: (readonly [index: number, operation: Operation])[]
}

export async function changeRecords(
  api: CloudflareApi,
  provider: string,
  zone: ZoneReference,
  { changes }: ProviderCall,
  options?: ProviderCallOptions,
): Promise<AppliedCall> {
  const wanted = changes.map((change) => {
    if (change.subject === 'domain') throw new Error('Cloudflare zones are not created, changed or deleted')
    return change
  })
  const live = new Map((await readRecords(api, zone, options)).map((one) => [one.record.id, one]))
  refuseConflicts(provider, wanted, live)
  const batch = batchOf(wanted, live)
  const body = Object.fromEntries(
    Object.entries(batch).flatMap(([key, list]) =>
      list.length === 0 ? [] : [[key, (list as Batch['posts']).map(([, operation]) => operation)]],
    ),
  )
  const results: AppliedChange[] = changes.map(({ id }) => (id === null ? {} : { id }))
  if (Object.keys(body).length === 0) return { changes: results }
  const request = {
    method: 'POST',
    path: `/zones/${zone.id}/dns_records/batch`,
    body,
    what: `changing records of ${zone.name}`,
    ...options,
  } as const
  await api.request(request, (result) => {
    for (const key of ['patches', 'posts'] as const) {
      const returned = batch[key].length === 0 ? [] : listOf(fieldsOf(result, 'the result')[key], key)
      if (returned.length !== batch[key].length) throw new ShapeError(`there are ${returned.length} ${key} instead of ${batch[key].length}`)
      batch[key].forEach(([index], position) => {
        const desired = (wanted[index] as RecordChange).desired as ExistingRecord
        const { record } = liveRecord(recordShape(returned[position]), zone.name)
        checkReturned(desired, record)
        results[index] = sameRecord(record, desired) ? { id: record.id } : { id: record.id, stored: record }
      })
    }
  })
  return { changes: results }
}

/** Throws unless every record that is changed or deleted is as expected, or already as desired. */
function refuseConflicts(provider: string, changes: readonly RecordChange[], live: ReadonlyMap<unknown, LiveRecord>): void {
  for (const { action, id, existing, desired, name, type } of changes) {
    if (action === 'create') continue
    const now = live.get(id)?.record
    if (now === undefined && action === 'delete') continue
    if (now !== undefined && [existing, desired].some((one) => one !== null && sameRecord(now, one))) continue
    const state = now === undefined ? 'was deleted' : `is ${excerpt(now.data, 200)} (TTL ${now.ttl ?? 'automatic'})`
    throw conflict(provider, `${name} ${type} ${state}`)
  }
}

/** Cloudflare carries out deletes first, then patches and posts, each list in its order. */
function batchOf(changes: readonly RecordChange[], live: ReadonlyMap<unknown, LiveRecord>): Batch {
  const batch: Batch = { deletes: [], patches: [], posts: [] }
  const isProxied = proxiedNames(live.values())
  changes.forEach((change, index) => {
    const { action, id, desired } = change
    const now = live.get(id)
    if (action === 'delete') {
      if (now !== undefined) batch.deletes.push([index, { id }])
    } else if (desired !== null && now === undefined) {
      // A record beside proxied ones is proxied with them.
      batch.posts.push([index, { ...(isProxied(desired) && { proxied: true }), ...fieldsOfRecord(desired) }])
    } else if (desired !== null && now !== undefined && !sameRecord(now.record, desired)) {
      batch.patches.push([index, { id, ...fieldsOfRecord(desired) }])
    }
  })
  return batch
}

const fieldsOfRecord = ({ name, type, ttl, data, settings }: NonNullable<RecordChange['desired']>): Operation => ({
  ...settings,
  name: name.slice(0, -1),
  type: apiType(type),
  ttl: apiTtl(ttl),
  ...rdataToApi(type, data),
})
