/** A moment (milliseconds since 1970) as the interface writes it: UTC without a zone suffix, to the second. */
export const formatTimestamp = (milliseconds: number): string => new Date(milliseconds).toISOString().slice(0, 19)

/** One moment of the service's clock. */
export interface Moment {
  /** Milliseconds since 1970. */
  readonly now: number
  /** The same as a timestamp. */
  readonly nowText: string
}

export const momentAt = (now: number): Moment => ({ now, nowText: formatTimestamp(now) })

const TIMESTAMP = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{1,9})?(Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?$/i

/**
 * A moment from a request as the interface writes it: UTC to the second, without a zone suffix. Without a zone it is UTC; with
 * one (ISO 8601, RFC 3339) it is converted. Null where it is no moment of the calendar between the years 1970 and 9999.
 */
export function parseTimestamp(text: string): string | null {
  const [, local, zone = 'Z'] = TIMESTAMP.exec(text) ?? []
  if (local === undefined) return null
  const written = local.toUpperCase()
  const atUtc = Date.parse(`${written}Z`)
  // The thirtieth of February would be taken for the second of March.
  if (Number.isNaN(atUtc) || new Date(atUtc).toISOString().slice(0, 19) !== written) return null
  const moment = new Date(`${written}${zone.toUpperCase().replace(/^([+-]\d\d)(\d\d)$/, '$1:$2')}`)
  const year = moment.getUTCFullYear()
  return year >= 1970 && year <= 9999 ? moment.toISOString().slice(0, 19) : null
}

/** Milliseconds by which clocks of several processes may differ. */
const SLACK = 60_000

/** A moment as the interface writes it in milliseconds since 1970. */
export const millisecondsOf = (text: string): number => Date.parse(`${text}Z`)

/**
 * Whether an end that was set so many milliseconds ahead is still to come. One that is further away is of a clock that was set back
 * since: it would be no limit at all, or one that outlasts everybody.
 */
export const isPending = (end: number, length: number, now: number): boolean => end > now && end <= now + length + SLACK
