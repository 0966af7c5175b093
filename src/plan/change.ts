import type { DomainName } from '../dns/domain-name.ts'
import type { ResourceRecord } from '../dns/record.ts'
import type { ZoneSettings } from '../dns/zone.ts'

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
