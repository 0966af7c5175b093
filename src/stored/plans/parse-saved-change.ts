/** Parses a change of a saved plan. */
import { groupBy } from '../../base/group-by.ts'
import { failure, ok, type Result } from '../../base/result.ts'
import { type DomainName, isAtOrBelow, parseDomainName } from '../../dns/domain-name.ts'
import { parseRdata } from '../../dns/rdata/canonical.ts'
import { conflictingSettings, contentKey, type ExistingRecord, type ResourceRecord } from '../../dns/record.ts'
import { parseRecordType } from '../../dns/record-type.ts'
import { ttlFromSeconds } from '../../dns/ttl.ts'
import type { ExistingZone, ZoneSettings } from '../../dns/zone.ts'
import { type Action, type Change, changedFields, type DomainChange, type RecordChange } from '../../plan/plan.ts'
import type { ChangeDocument } from '../../report/plan-document.ts'

/** Maximum characters of rdata: 65,535 octets in strings, every octet written as `\DDD`. */
const MAX_DATA_LENGTH = 300_000

/** Maximum characters of an identifier that is text. */
const MAX_ID_LENGTH = 1024

/** The records of a saved state. Each can be taken once. */
export interface ExistingRecords {
  /** Takes the record with that identifier, or for a null identifier one with that content; undefined if none is left. */
  take(id: number | string | null, like: ResourceRecord): ExistingRecord | undefined
}

export function existingRecords(records: readonly ExistingRecord[]): ExistingRecords {
  const left = groupBy(records, (record) => (record.id === undefined ? contentKey(record) : identifierKey(record.id)))
  return { take: (id, like) => left.get(id === null ? contentKey(like) : identifierKey(id))?.pop() }
}

/** Differs from every `contentKey`, since no owner begins with `# `. */
const identifierKey = (id: number | string): string => `# ${JSON.stringify(id)}`

export interface ChangeContext {
  readonly zone: DomainName
  /** The zone's saved state; null if the zone did not exist. */
  readonly existing: ExistingZone | null
  readonly taken: ExistingRecords
}

/**
 * Parses a change of a document that follows the schema. The desired side, which is sent, goes through the parsers of the model and must be canonical. The
 * existing side is the record of the saved state with the identifier, so no change can affect another zone.
 */
export function parseSavedChange(document: ChangeDocument, context: ChangeContext): Result<Change> {
  const { id } = document
  if (typeof id === 'number' ? !Number.isSafeInteger(id) || id < 0 : id !== null && (id === '' || id.length > MAX_ID_LENGTH))
    return failure('.id is not an identifier')
  if (document.outcome !== undefined) return failure(' has an outcome, so the plan was applied already')
  return document.subject === 'domain' ? domainChange(document, context) : recordChange(document, context)
}

function recordChange(document: ChangeDocument, { zone, taken }: ChangeContext): Result<RecordChange> {
  const { id, call, after, owner, split } = document
  const { existing: stated, desired: wanted } = document as { existing: ResourceRecord | null; desired: ResourceRecord | null }
  const found = stated === null ? null : taken.take(id, stated)
  if (found === undefined) return failure(`.id: the saved state has no unused record ${id ?? ''}`)
  if (stated !== null && found !== null && !hasSettingsOf(found, stated)) return failure('.existing.settings do not match the saved state')
  const existing = found && { name: found.name, type: found.type, ttl: found.ttl, data: found.data, ...settingsOf(stated) }
  const desired = wanted === null ? ok(null) : parseSavedRecord(wanted, zone)
  if (!desired.ok) return failure(`.desired${desired.message}`)
  const subject = desired.value ?? existing
  if (subject === null) return failure(' changes nothing')
  if (existing === null && id !== null) return failure('.id: a record to create has no identifier')
  if (existing !== null && desired.value !== null && existing.type !== desired.value.type)
    return failure('.desired.type: a call cannot change the type')
  return ok({
    action: actionOf(existing, desired.value),
    subject: 'record',
    name: subject.name,
    type: subject.type,
    id,
    existing,
    desired: desired.value,
    fields: changedFields(existing, desired.value),
    call,
    after,
    ...(owner === undefined ? {} : { owner }),
    ...(split === undefined ? {} : { split }),
  })
}

const actionOf = (existing: unknown, desired: unknown): Action => (existing === null ? 'create' : desired === null ? 'delete' : 'update')

/** Whether a record of the saved state has the settings that a change states for it, which are those that it changes. */
const hasSettingsOf = (found: ResourceRecord, stated: ResourceRecord): boolean =>
  conflictingSettings(stated, found).length === 0 &&
  Object.keys(stated.settings ?? {}).every((key) => Object.hasOwn(found.settings ?? {}, key))

const settingsOf = (record: ResourceRecord | null): Pick<ResourceRecord, 'settings'> =>
  record?.settings === undefined ? {} : { settings: record.settings }

/** Parses a record that is sent to a provider. All of it must be canonical. */
export function parseSavedRecord(record: ResourceRecord, zone: DomainName): Result<ResourceRecord> {
  const name = parseDomainName(record.name)
  if (!name.ok || name.value !== record.name) return failure(`.name ${JSON.stringify(record.name)} is not a canonical name`)
  if (!isAtOrBelow(name.value, zone)) return failure(`.name ${name.value} is not in the zone`)
  const type = parseRecordType(record.type)
  if (!type.ok || type.value !== record.type) return failure('.type is not a record type')
  const ttl = record.ttl === null ? ok(null) : ttlFromSeconds(record.ttl)
  if (!ttl.ok) return failure(`.ttl: ${ttl.message}`)
  if (record.data.length > MAX_DATA_LENGTH) return failure('.data is longer than any record')
  const data = parseRdata(type.value, record.data, parseDomainName)
  if (!data.ok) return failure(`.data ${data.message}`)
  if (data.value !== record.data) return failure('.data is not in canonical form')
  const { source } = record
  return ok({
    name: name.value,
    type: type.value,
    ttl: ttl.value,
    data: data.value,
    ...(source !== undefined && { source }),
    ...settingsOf(record),
  })
}

function domainChange(document: ChangeDocument, { zone, existing: state }: ChangeContext): Result<DomainChange> {
  const { id, call, after } = document
  const { existing: stated, desired, fields } = document as Pick<DomainChange, 'existing' | 'desired' | 'fields'>
  if (stated === null && desired === null) return failure(' changes nothing')
  if ((stated === null) !== (state === null)) return failure('.existing does not match the saved state')
  if (id !== (state?.id ?? null)) return failure('.id is not the identifier of the zone')
  return ok({
    action: actionOf(stated, desired),
    subject: 'domain',
    name: zone,
    type: null,
    id,
    existing: state && (desired === null ? state.settings : only(state.settings, fields)),
    desired,
    fields,
    call,
    after,
  })
}

const only = (settings: ZoneSettings, fields: readonly (keyof ZoneSettings)[]): ZoneSettings =>
  Object.fromEntries(fields.flatMap((field) => (settings[field] === undefined ? [] : [[field, settings[field]]])))
