/** Formats milliseconds since 1970 as a timestamp of the API: UTC to the second, without a zone suffix. */
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
 * Parses a time of a request (ISO 8601, RFC 3339; UTC without a zone) and returns it as a timestamp of the API. Null if it is not a valid
 * time between the years 1970 and 9999.
 */
export function parseTimestamp(text: string): string | null {
  const [, local, zone = 'Z'] = TIMESTAMP.exec(text) ?? []
  if (local === undefined) return null
  const localTime = local.toUpperCase()
  const atUtc = Date.parse(`${localTime}Z`)
  // Date would read 30 February as 2 March.
  if (Number.isNaN(atUtc) || new Date(atUtc).toISOString().slice(0, 19) !== localTime) return null
  const moment = new Date(`${localTime}${zone.toUpperCase().replace(/^([+-]\d\d)(\d\d)$/, '$1:$2')}`)
  const year = moment.getUTCFullYear()
  return year >= 1970 && year <= 9999 ? moment.toISOString().slice(0, 19) : null
}

/** Milliseconds by which the clocks of several processes may differ. */
const CLOCK_DIFFERENCE = 60_000

/** Converts a timestamp of the API to milliseconds since 1970. */
export const millisecondsOf = (text: string): number => Date.parse(`${text}Z`)

/**
 * Whether an end that was set at most `length` milliseconds ahead is still in the future. One that is further ahead means that the clock was set back
 * since; it is treated as over, so that no limit lasts for years.
 */
export const isPending = (end: number, length: number, now: number): boolean => end > now && end <= now + length + CLOCK_DIFFERENCE
