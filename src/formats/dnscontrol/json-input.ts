import type { Diagnostic, SourcePosition } from '../../model/diagnostic.ts'
import type { Ttl } from '../../model/ttl.ts'

export type JsonObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)

/** What the readers of a configuration share. */
export interface Run {
  readonly at: SourcePosition
  readonly diagnostics: Diagnostic[]
  readonly fail: (code: Diagnostic['code'], message: string) => void
}

/** A key from outside as part of a message: short and on one line. */
export const shownKey = (key: string): string => (/^[\w.-]{1,255}$/.test(key) ? key : JSON.stringify(key.slice(0, 60)))

/** What DNSControl gives records without a TTL (its models/record.go). */
export const DEFAULT_TTL = 300 as Ttl
