import { createHash } from 'node:crypto'
import type { Diagnostic } from '../dns/diagnostic.ts'
import type { DomainName } from '../dns/domain-name.ts'
import { type ExistingRecord, type ResourceRecord, recordKey } from '../dns/record.ts'
import type { ExistingZone, RefusalName, UnmanagedSelector, ZoneSettings } from '../dns/zone.ts'

/** A safety limit that stands against a plan, by the name that lifts it. */
export interface Refusal {
  readonly name: RefusalName
  readonly message: string
  /** Lifted, by `--allow` or in the config: the plan may be applied all the same. */
  readonly allowed: boolean
}

/** How the provider's last rendered zone file compares with its records: it lags behind them, says something else, or cannot be had. */
export type RenderedState = 'match' | 'stale' | 'differs' | 'unavailable'

/** What one target needs to hold one zone as its definition wants it. */
export interface ZonePlan {
  readonly zone: DomainName
  /** The provider's name in the config. */
  readonly target: string
  /** Whether the zone is there already. */
  readonly exists: boolean
  /** `sha256:…` over the live state the plan was made from, but for records that are left to others. */
  readonly fingerprint: string
  /** Which records are left to others: they may come and go between plan and apply. Absent where none are. */
  readonly unmanaged?: readonly UnmanagedSelector[] | undefined
  readonly records: {
    readonly existing: number
    readonly desired: number
    readonly unchanged: number
    readonly unmanaged: number
    /** Records the target holds in one zone; null without a limit. */
    readonly limit: number | null
  }
  readonly changes: readonly Change[]
  readonly calls: CallCount
  readonly refusals: readonly Refusal[]
  readonly rendered: RenderedState
  readonly diagnostics: readonly Diagnostic[]
}

export interface CallCount {
  /** Changes by what they do. */
  readonly create: number
  readonly update: number
  readonly delete: number
  /** Calls the target needs for them, fewer where one call carries several. */
  readonly total: number
}

/** Plans of all zones of a run, and the diagnostics that are of no single zone. */
export interface Plan {
  /** ISO 8601, UTC. */
  readonly created: string
  /** Program and version that made it. */
  readonly tool: string
  readonly zones: readonly ZonePlan[]
  readonly diagnostics: readonly Diagnostic[]
}

/** What became of one change. */
export type Outcome =
  | { readonly state: 'applied'; readonly id?: number | string | undefined }
  | { readonly state: 'failed'; readonly error: string }
  | { readonly state: 'skipped'; readonly because: string }
  /** The call went out and no answer came: it may have been done. */
  | { readonly state: 'unknown'; readonly error: string }

/** A zone's plan after it was applied: one outcome a change, in the same order. */
export interface ZoneOutcome {
  readonly plan: ZonePlan
  readonly outcomes: readonly Outcome[]
  /** What was found when the records were read again: equal to the plan, different, or not read because nothing was applied. */
  readonly readBack: 'equal' | 'different' | 'not-read'
  readonly diagnostics: readonly Diagnostic[]
}

export type Action = 'create' | 'update' | 'delete'

interface ChangeBase {
  readonly action: Action
  /** The provider's identifier of what is updated or deleted; null where there is none. */
  readonly id: number | string | null
  /** Indexes, in the same zone's changes, of the changes that must be done before this one. */
  readonly after: readonly number[]
}

/** One call that creates, updates or deletes one record. An update may change anything but the type. */
export interface RecordChange extends ChangeBase {
  readonly subject: 'record'
  /** Owner after the change (before it, for a delete). */
  readonly name: DomainName
  readonly type: string
  readonly existing: ResourceRecord | null
  readonly desired: ResourceRecord | null
  /** What an update changes. */
  readonly fields: readonly ('name' | 'ttl' | 'data')[]
  /** Why this is a delete and a create where one update would do, in words; absent where no update was split. */
  readonly split?: string | undefined
}

/** One call that creates, updates or deletes the zone itself. */
export interface DomainChange extends ChangeBase {
  readonly subject: 'domain'
  readonly name: DomainName
  readonly type: null
  readonly existing: ZoneSettings | null
  readonly desired: ZoneSettings | null
  readonly fields: readonly (keyof ZoneSettings)[]
}

export type Change = RecordChange | DomainChange

/** The records a zone has once all changes are made. Existing records are told apart by identifier, without one by their content. */
export function finalRecords(existing: readonly ExistingRecord[], changes: readonly Change[]): ResourceRecord[] {
  const gone = new Map<string, number>()
  const come: ResourceRecord[] = []
  for (const change of changes) {
    if (change.subject !== 'record') continue
    if (change.existing) {
      const key = identity({ ...change.existing, id: change.id ?? undefined })
      gone.set(key, (gone.get(key) ?? 0) + 1)
    }
    if (change.desired) come.push(change.desired)
  }
  const stay = existing.filter((record) => {
    const key = identity(record)
    const count = gone.get(key) ?? 0
    if (count === 0) return true
    gone.set(key, count - 1)
    return false
  })
  return [...stay, ...come]
}

const identity = (record: ExistingRecord): string => (record.id === undefined ? `${recordKey(record)} ${record.ttl}` : `#${record.id}`)

/** `sha256:…` over a zone's live state: its settings and every record that is managed, with its identifier, whatever their order. */
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
