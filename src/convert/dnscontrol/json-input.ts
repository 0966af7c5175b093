import type { ImportedRecord } from '../../definition/imported-zone.ts'
import type { Diagnostic, SourcePosition } from '../../dns/diagnostic.ts'
import type { Ttl } from '../../dns/ttl.ts'

export type JsonObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)

/** What the readers of a configuration share. */
export interface Run {
  readonly at: SourcePosition
  readonly diagnostics: Diagnostic[]
  readonly fail: (code: Diagnostic['code'], message: string) => void
}

/** A record whose name and type are known, and whose data or TTL no definition can have. */
export interface UnsupportedRecord {
  /** Its data as they stand; what is not printable ASCII of them is `*`. */
  readonly record: ImportedRecord
  /** Why, in words that follow its data. */
  readonly why: string
}

/** Data as they stand, for a message and for a selector of them. */
export const plainData = (text: string): string => text.slice(0, 1000).replace(/[^ -~]+/g, '*')

/** A key from outside as part of a message: short and on one line. */
export const shownKey = (key: string): string => (/^[\w.-]{1,255}$/.test(key) ? key : JSON.stringify(key.slice(0, 60)))

/** What DNSControl gives records without a TTL (its models/record.go). */
export const DEFAULT_TTL = 300 as Ttl
