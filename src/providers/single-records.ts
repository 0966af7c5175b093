/** Services that store single records, each with an identifier. */
import type { Diagnostic } from '../base/diagnostic.ts'
import type { DomainName } from '../dns/domain-name.ts'
import { type ExistingRecord, isApexNs, type ResourceRecord, sameRecord } from '../dns/record.ts'
import type { RrsetImage } from '../plan/changesets.ts'
import { checkReturned } from './api-records.ts'
import type { SendAndCheck } from './json-api.ts'
import { ShapeError } from './json-shape.ts'
import { type AppliedCall, type ProviderCall, type ProviderCallOptions, ProviderError, type ZoneReference } from './provider.ts'
import type { ApiRequest } from './send-request.ts'

type Id = number | string

/** A record with its identifier. */
export type StoredRecord = ExistingRecord & { readonly id: Id }

export interface RecordStore {
  readonly request: SendAndCheck
  /** The request that stores a record, a new one if the identifier is null, or deletes it if the record is null. */
  readonly requestFor: (zone: DomainName, id: Id | null, record: ResourceRecord | null) => Pick<ApiRequest, 'method' | 'path' | 'body'>
  /** The stored record in a response, or its identifier if the response has no more; null if it has neither. Throws a `ShapeError`. */
  readonly storedIn: (response: unknown, zone: DomainName, id: Id | null) => StoredRecord | Id | null
  /** Reads a record after a change whose response does not have it; absent if the zone is read back instead. */
  readonly readOne?: (zone: DomainName, id: Id, options?: ProviderCallOptions) => Promise<StoredRecord>
  /** Throws a `ShapeError` unless the response says that the record is deleted; `emptyShape` if absent. */
  readonly checkDeleted?: (response: unknown) => void
  /** The NS records that a new zone is given; absent if zones are not created, or get none. */
  readonly given?: {
    readonly pattern: RegExp
    readonly read: (zone: ZoneReference, options?: ProviderCallOptions) => Promise<readonly StoredRecord[]>
  }
}

/** Requests to a path of all records of a zone: POST creates one, and the path with an identifier is that of one record. */
export const collectionRequests =
  (
    pathOf: (zone: DomainName) => string,
    update: 'PUT' | 'PATCH',
    bodyOf: (record: ResourceRecord, zone: DomainName, id: Id | null) => unknown,
  ): RecordStore['requestFor'] =>
  (zone, id, record) => {
    const path = `${pathOf(zone)}${id === null ? '' : `/${id}`}`
    return record === null ? { method: 'DELETE', path } : { method: id === null ? 'POST' : update, path, body: bodyOf(record, zone, id) }
  }

/** The empty response of a service that says no more. Another one, such as that of a proxy, does not say that the request was carried out. */
export function emptyShape(body: unknown): void {
  if (body !== undefined) throw new ShapeError('it is not empty')
}

/** A record to store: a new one if the identifier is null, deleted if the data is null. */
interface Step {
  readonly id: Id | null
  readonly data: string | null
}

/**
 * The requests that make the desired RRset of the records, at a service that refuses records of one RRset with different TTLs. A record is changed rather than
 * deleted and created, and with another TTL one is left to be changed.
 */
export function stepsOf(held: readonly StoredRecord[], desired: RrsetImage | null): Step[] {
  const keepsTtl = held.every(({ ttl }) => ttl === desired?.ttl)
  const wanted = new Set(desired?.data)
  // Those that can stay are first.
  const sorted = held.toSorted((a, b) => Number(wanted.has(b.data)) - Number(wanted.has(a.data)))
  const free = keepsTtl ? sorted.filter(({ data }) => !wanted.delete(data)) : sorted
  const [first] = keepsTtl ? [] : free
  const added = [...wanted].sort((a, b) => Number(b === first?.data) - Number(a === first?.data))
  const changed = free.slice(0, keepsTtl ? added.length : Math.min(1, added.length))
  const deleted = free.slice(changed.length).map(({ id }) => ({ id, data: null }))
  const stored = added.map((data, at) => ({ id: changed[at]?.id ?? null, data }))
  return keepsTtl ? [...stored, ...deleted] : [...deleted, ...stored]
}

export function singleRecords({ request, requestFor, storedIn, readOne, checkDeleted = emptyShape, given }: RecordStore) {
  /** The zones that this run created, each with the deletion of the NS records that it was given; null before that. */
  const created = new Map<ZoneReference['id'], Promise<void> | null>()

  const remove = (zone: DomainName, id: Id, what: string, options?: ProviderCallOptions): Promise<void> =>
    request({ ...requestFor(zone, id, null), what, ...options }, checkDeleted)

  const removeGiven = async (zone: ZoneReference, options?: ProviderCallOptions): Promise<void> => {
    for (const { id, type, name, data } of (await given?.read(zone, options)) ?? [])
      if (type === 'NS' && name === zone.name && given?.pattern.test(data))
        await remove(zone.name, id, `deleting NS ${data} of the new zone ${zone.name}`, options)
  }

  const api = {
    /** Notes that this run creates the zone, also if the answer is lost. */
    creating: ({ id }: ZoneReference): void => void created.set(id, null),

    /** Changes the record of the call. */
    async change(zone: ZoneReference, { changes: [change] }: ProviderCall, options?: ProviderCallOptions): Promise<AppliedCall> {
      if (change?.subject !== 'record') return {}
      const { action, desired, name, type } = change
      const id = action === 'create' ? null : change.id
      if (desired === null) {
        await remove(zone.name, id as Id, `deleting ${name} ${type}`, options)
        return { changes: [{ id: id as Id }], storedRecords: [] }
      }
      if (id === null && isApexNs(desired, zone.name) && created.has(zone.id)) {
        // Concurrent calls wait for the same deletions.
        const removal = created.get(zone.id) ?? removeGiven(zone, options)
        created.set(zone.id, removal)
        await removal
      }
      const what = `${id === null ? 'creating' : 'changing'} ${name} ${type}`
      const answered = await request({ ...requestFor(zone.name, id, desired), what, ...options }, (response) => {
        const returned = storedIn(response, zone.name, id)
        const returnedId = typeof returned === 'object' ? returned?.id : returned
        if (id !== null && returnedId !== undefined && returnedId !== id)
          throw new ShapeError(`the record ${id} was returned as ${returnedId}`)
        if (typeof returned === 'object' && returned !== null) checkReturned(desired, returned)
        return returned
      })
      const isStated = typeof answered === 'object' && answered !== null
      const stored =
        readOne === undefined || id === null || isStated
          ? answered
          : await readOne(zone.name, id, options).catch((error: unknown) => {
              // The record is changed.
              throw error instanceof ProviderError ? error.with({ ambiguous: true }) : error
            })
      if (stored === null || typeof stored !== 'object') return { changes: [{ id: stored ?? id ?? undefined }] }
      return { changes: [sameRecord(stored, desired) ? { id: stored.id } : { id: stored.id, stored }], storedRecords: [stored] }
    },

    /**
     * Changes the records of a call of any size, deletions first, then calls `finish`, unless nothing can have changed. After a failure, what was changed is uncertain.
     */
    async changeAll(
      zone: ZoneReference,
      { changes }: ProviderCall,
      finish: () => Promise<readonly Diagnostic[]>,
      options?: ProviderCallOptions,
    ): Promise<AppliedCall> {
      const results: (AppliedCall | ProviderError)[] = []
      const attempt = async (at: number): Promise<void> => {
        results[at] = await api.change(zone, { changes: changes.slice(at, at + 1), rrsets: [] }, options).catch((error: unknown) => {
          if (error instanceof ProviderError) return error
          throw error
        })
      }
      for (const action of ['delete', 'update', 'create'])
        await Promise.all(changes.map((one, at) => (one.action === action ? attempt(at) : undefined)))
      const [applied, failures]: [AppliedCall[], ProviderError[]] = [[], []]
      for (const result of results) result instanceof ProviderError ? failures.push(result) : applied.push(result)
      const mayBeChanged = applied.length > 0 || failures.some(({ ambiguous }) => ambiguous)
      const problems = mayBeChanged ? await finish() : []
      const [failure] = failures
      if (failure !== undefined) throw mayBeChanged ? failure.with({ ambiguous: true }) : failure
      const storedRecords = applied.flatMap((one) => one.storedRecords ?? [])
      return { changes: applied.flatMap((one) => one.changes ?? []), storedRecords, problems }
    },
  }
  return api
}
