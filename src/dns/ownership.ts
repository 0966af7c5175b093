/** Who is responsible for a record or zone, and when it expires. */
import { failure, ok, type Result } from '../base/result.ts'
import { quoted } from '../base/text.ts'

/** A day in UTC as an RFC 3339 full-date: `2026-12-31`. Texts of this form sort by time. */
export type FullDate = string & { readonly [dateBrand]: true }

declare const dateBrand: unique symbol

/** What a definition says about a record or zone besides its data. */
export interface Ownership {
  /** The team or person that is responsible. */
  readonly owner?: string | undefined
  /** It has expired from the begin of this day. */
  readonly expires?: FullDate | undefined
}

const MAX_OWNER = 100

/** Parses an RFC 3339 full-date. */
export function parseFullDate(text: string): Result<FullDate> {
  const isDate = /^\d{4}-\d\d-\d\d$/.test(text)
  const time = isDate ? new Date(`${text}T00:00:00Z`) : null
  if (time !== null && !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text)) return ok(text as FullDate)
  return failure(`${quoted(text)} is not a date such as 2026-12-31`)
}

/** The day of a time in UTC. */
export const fullDateOf = (time: Date): FullDate => time.toISOString().slice(0, 10) as FullDate

/** Parses an owner, which appears in reports: at most 100 printable characters. */
export function parseOwner(text: string): Result<string> {
  if (text === '' || text.length > MAX_OWNER) return failure(`${quoted(text)} must have 1 to ${MAX_OWNER} characters`)
  if (text.trim() === text && !/[\p{C}\p{Zl}\p{Zp}]/u.test(text)) return ok(text)
  return failure(`${quoted(text)} contains a character that cannot be printed, or begins or ends with a space`)
}

/** The owner and date that are set, for a copy of a record. */
export const ownershipOf = ({ owner, expires }: Ownership): { readonly owner?: string; readonly expires?: FullDate } => ({
  ...(owner !== undefined && { owner }),
  ...(expires !== undefined && { expires }),
})
