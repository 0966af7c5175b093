/** A plan as data: the changes to each zone, their order, and what speaks against them. */
import { createHash } from 'node:crypto'
import type { Diagnostic, SourcePosition } from '../base/diagnostic.ts'
import type { DomainName } from '../dns/domain-name.ts'
import { conflictingSettings, type ExistingRecord, type ResourceRecord, recordKey } from '../dns/record.ts'
import type { SerialNumber } from '../dns/serial-number.ts'
import type { ExistingZone, RefusalName, UnmanagedSelector, ZoneSettings } from '../dns/zone.ts'
import type { QuarantineRule } from '../dns/zone-source.ts'

/** The plans of all zones of a run, and the diagnostics that belong to no zone. */
export interface Plan {
  /** ISO 8601, UTC. */
  readonly created: string
  /** The program and version that made the plan. */
  readonly tool: string
  readonly zones: readonly ZonePlan[]
  readonly diagnostics: readonly Diagnostic[]
  /** The snapshot that the plan was made from; absent if it was made from the live zones. */
  readonly snapshot?: PlanSnapshot | undefined
  /** The revision whose plan was subtracted; absent if none was. Such a plan is a report and cannot be applied. */
  readonly base?: PlanBase | undefined
  /** Whether errors and refusals concern only some zones and the others can be applied; absent if they keep all of the plan from being applied. */
  readonly keepsGoing?: true | undefined
}

export interface PlanBase {
  /** As the user named it. */
  readonly revision: string
  readonly commit: string
  /** The number of changes of its plan. */
  readonly leftOut: number
}

export interface PlanSnapshot {
  /** ISO 8601, UTC. */
  readonly created: string
  readonly checksum: string
  /** Whether its signature was checked. */
  readonly verified: boolean
}

/** The changes that make one zone at one target as its definition says. */
export interface ZonePlan {
  readonly zone: DomainName
  /** The provider's name in the config. */
  readonly target: string
  /** Who is responsible for the zone; null if its rule names nobody, absent if it has no definition. */
  readonly owner?: string | null | undefined
  /** Whether the zone exists already. */
  readonly exists: boolean
  /** `sha256:…` of the live state that the plan is based on, without unmanaged records. */
  readonly fingerprint: string
  /** Selectors of the records that may change between plan and apply; absent if there are none. */
  readonly unmanaged?: readonly UnmanagedSelector[] | undefined
  readonly records: {
    readonly existing: number
    readonly desired: number
    readonly unchanged: number
    readonly unmanaged: number
    /** Maximum number of records of a zone at the target; null without a limit. */
    readonly limit: number | null
  }
  /** The zone's default TTL in seconds before and after the plan, for changed records that follow it; absent if there are none. */
  readonly defaultTtl?: DefaultTtl | undefined
  /** The serial of its definition, which a new zone begins above; absent if there is none or the target does not set serials. */
  readonly serial?: SerialNumber | undefined
  /** How long caches may keep old answers; absent if the plan changes the data of no existing RRset. */
  readonly cachedAnswers?: CachedAnswers | undefined
  /** What a reader must know first; absent if there is nothing. */
  readonly impact?: Impact | undefined
  readonly changes: readonly Change[]
  readonly calls: CallCount
  readonly refusals: readonly Refusal[]
  /** How often the record sets that it deletes are queried; absent if it deletes none, or if no source is configured. */
  readonly usage?: DeletionUsage | undefined
  /** Values that are kept although their source no longer has them; absent if there are none. */
  readonly quarantine?: readonly QuarantinedRrset[] | undefined
  readonly rendered: RenderedState
  readonly diagnostics: readonly Diagnostic[]
  /** What the journal said about the zone before it was read; null if it could not be read, absent if it was not asked. */
  readonly fence?: PlanFence | null | undefined
  /** Why a run did not apply the zone; absent if it could. */
  readonly refused?: ZoneRefusal | undefined
}

/** The number of a zone in the journal, which every run that changes the zone increases. */
export interface PlanFence {
  /** The identity of the journal; null if no run has changed anything yet. */
  readonly store: string | null
  readonly number: number
}

/** Values of an RRset that their source no longer has. */
export interface QuarantinedRrset {
  readonly name: DomainName
  readonly type: string
  /** The values that are kept, sorted. */
  readonly data: readonly string[]
  /** Whether the source has no value of the RRset. */
  readonly isWhole: boolean
  readonly source: string
  /** When the first of them was first missed, ISO 8601, UTC. */
  readonly since: string
  /** The least number of counted reads without them. */
  readonly reads: number
  readonly rule: QuarantineRule
  /** The first moment at which a plan can remove all of them, ISO 8601, UTC. */
  readonly until: string
}

/** `moved`: the zone has changed since the plan was made. `unread`: it could not be read before the changes. */
export type ZoneRefusal = 'moved' | 'unread'

export interface DefaultTtl {
  /** Null if it is unknown or the zone does not exist. */
  readonly existing: number | null
  readonly desired: number | null
}

/** The longest time in seconds that caches may return an answer which a plan makes wrong, and an RRset with this time. */
export interface CachedAnswers {
  readonly seconds: number
  readonly name: DomainName
  readonly type: string
}

/** What the changes of a zone mean to those who use it. Lists are in the order of names. */
export interface Impact {
  /** Existing record sets that nothing answers after the changes: no alias, wildcard, DNAME record or delegation either. Also aliases in the zone that lead to them. */
  readonly stopsAnswering: readonly LostAnswers[]
  /** Record sets of mail, and addresses of mail servers of the zone, whose data change, new ones included. */
  readonly mail: readonly NameAndType[]
  /** NS and DS record sets, and addresses of name servers of the zone, whose data change, new ones included. */
  readonly nameservers: readonly NameAndType[]
  /** Whether every managed record set changes or is deleted, in a zone with several; or the zone itself is deleted. */
  readonly changesAll: boolean
}

export interface LostAnswers {
  readonly name: DomainName
  readonly types: readonly string[]
  /** Whether the name has no records at all after the changes. */
  readonly isGone: boolean
}

export type NameAndType = Pick<RecordChange, 'name' | 'type'>

export interface CallCount {
  /** The number of changes with each action. */
  readonly create: number
  readonly update: number
  readonly delete: number
  /** Calls to the target; fewer than the changes if one call carries several. */
  readonly total: number
}

/** A safety limit that a plan exceeds. */
export interface Refusal {
  readonly name: RefusalName
  readonly message: string
  /** Whether `--allow` or the config lifts the limit, so that the plan may be applied. */
  readonly allowed: boolean
}

/** The usage of the record sets that a plan deletes. Times are ISO 8601 in UTC. */
export interface DeletionUsage {
  readonly source: string
  /** The configured time in seconds. */
  readonly inUse: number
  /** The window of the counts; null if no source could be read. */
  readonly from: string | null
  readonly to: string | null
  /** Why record sets without a count are `unknown`; absent if none is. */
  readonly problem?: string | undefined
  /** In canonical order. */
  readonly deletions: readonly RrsetUsage[]
}

export interface RrsetUsage {
  readonly name: DomainName
  readonly type: string
  /**
   * `in-use`: asked for within the configured time; `asked`: earlier; `not-asked`: never in the window; `unknown`: the counts do not say; `replaced`: in use or
   * unknown, but other records of the name answer.
   */
  readonly state: 'in-use' | 'asked' | 'not-asked' | 'unknown' | 'replaced'
  readonly count: number
  readonly lastAsked: string | null
  /** Whether the deletion was allowed although the name is in use, or may be. */
  readonly allowed: boolean
}

/** How the zone file that the provider rendered last compares with its records: equal, older, different, or not available. */
export type RenderedState = 'match' | 'stale' | 'differs' | 'unavailable'

export type Change = RecordChange | DomainChange

export type Action = 'create' | 'update' | 'delete'

interface ChangeBase {
  readonly action: Action
  /** The provider's identifier of the record or zone; null for a create, or if the provider has none. */
  readonly id: number | string | null
  /** The number of the call that carries this change, from 0. Changes with the same number are sent together. */
  readonly call: number
  /** Indexes of changes of this zone whose calls must be done before this change's call. */
  readonly after: readonly number[]
}

/** The creation, update or deletion of a record. An update may change anything but the type. */
export interface RecordChange extends ChangeBase {
  readonly subject: 'record'
  /** The owner after the change; for a delete, before it. */
  readonly name: DomainName
  readonly type: string
  readonly existing: ResourceRecord | null
  readonly desired: ResourceRecord | null
  /** The fields that an update changes. */
  readonly fields: readonly ('name' | 'ttl' | 'data' | 'settings')[]
  /** Who is responsible for the record after the change, if its definition says; absent otherwise. */
  readonly owner?: string | undefined
  /** The call of a program that made the record; absent if its definition is no program, or for a delete. */
  readonly at?: SourcePosition | undefined
  /** Why one update was split into a delete and a create, in words; absent if this is no half of an update. */
  readonly split?: string | undefined
}

/**
 * The creation, update or deletion of the zone itself. A creation shares its call with records if the target takes both together; a deletion removes all
 * records with the zone. Otherwise the call carries nothing else.
 */
export interface DomainChange extends ChangeBase {
  readonly subject: 'domain'
  readonly name: DomainName
  readonly type: null
  readonly existing: ZoneSettings | null
  readonly desired: ZoneSettings | null
  readonly fields: readonly (keyof ZoneSettings)[]
}

/** The fields in which the records of an update differ; none without both. */
export function changedFields(existing: ResourceRecord | null, desired: ResourceRecord | null): RecordChange['fields'] {
  if (existing === null || desired === null) return []
  const fields = (['name', 'ttl', 'data'] as const).filter((field) => existing[field] !== desired[field])
  return conflictingSettings(existing, desired).length === 0 ? fields : [...fields, 'settings']
}

/** The result of one change. */
export type Outcome =
  | { readonly state: 'applied'; readonly id?: number | string | undefined }
  | { readonly state: 'failed'; readonly error: string }
  | { readonly state: 'skipped'; readonly because: string }
  /** The call was sent and no answer came: it may have been carried out. */
  | { readonly state: 'unknown'; readonly error: string }

/** A zone's plan after it was applied. */
export interface ZoneOutcome {
  readonly plan: ZonePlan
  /** One per change, in the same order. */
  readonly outcomes: readonly Outcome[]
  /** Whether the records that were read after the changes equal the plan's result; `not-read` if nothing was applied. */
  readonly readBack: 'equal' | 'different' | 'not-read'
  /** See `StoredTtls`; absent if the zone was not read. */
  readonly storedTtls?: ReadonlyMap<number, number> | undefined
  readonly diagnostics: readonly Diagnostic[]
}

/** The records of a zone after all changes. Existing records are identified by identifier, or by content if they have none. */
export function finalRecords(existing: readonly ExistingRecord[], changes: readonly Change[]): ResourceRecord[] {
  const removed = new Map<string, number>()
  const added: ResourceRecord[] = []
  for (const change of changes) {
    if (change.subject !== 'record') continue
    if (change.existing) {
      const key = identity({ ...change.existing, id: change.id ?? undefined })
      removed.set(key, (removed.get(key) ?? 0) + 1)
    }
    if (change.desired) added.push(change.desired)
  }
  const kept = existing.filter((record) => {
    const key = identity(record)
    const count = removed.get(key) ?? 0
    if (count > 0) removed.set(key, count - 1)
    return count === 0
  })
  return [...kept, ...added]
}

const identity = (record: ExistingRecord): string => (record.id === undefined ? `${recordKey(record)} ${record.ttl}` : `#${record.id}`)

/** `sha256:…` of a zone's live state: its settings, and every managed record with its identifier, in any order. */
export function fingerprint(zone: ExistingZone | null, isUnmanaged: (record: ResourceRecord) => boolean = () => false): string {
  const hash = createHash('sha256')
  if (zone === null) return `sha256:${hash.update('absent').digest('hex')}`
  const settings = Object.entries(zone.settings)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  hash.update(JSON.stringify([zone.name, zone.id ?? null, settings]))
  const managed = zone.records.filter((record) => !isUnmanaged(record))
  const lines = managed.map((record) => JSON.stringify([record.id ?? null, record.name, record.type, record.ttl, record.data]))
  for (const line of lines.sort()) hash.update(`\n${line}`)
  return `sha256:${hash.digest('hex')}`
}
