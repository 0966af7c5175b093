/**
 * The service's clock and timers, which tests can speed up, and the timestamps of the API. The timers are for refreshes, expiries and temporary states.
 * Timeouts of the network and the disk use real time.
 */

export interface Timers {
  /** Milliseconds since 1970. */
  now(): number
  /** The speed relative to real time; 1 except in tests. */
  readonly speed: number
  /** Runs the work once, after `afterMs` milliseconds of this clock, unless it is cancelled or the timers are closed first. */
  schedule(afterMs: number, work: () => void): ScheduledWork
  /** Cancels all scheduled work; work scheduled later never runs. */
  close(): void
}

export interface ScheduledWork {
  cancel(): void
}

interface TimersOptions {
  /** Real time in milliseconds since 1970. */
  readonly clock?: () => number
  /** A number above 0. */
  readonly speed?: number
}

/** The longest delay of `setTimeout`, in milliseconds; a longer one would fire at once. */
const MAX_DELAY = 2 ** 31 - 1

/** Creates timers whose clock starts now and runs at the given speed. Throws a `RangeError` if the speed is not a positive number. */
export function createTimers({ clock = Date.now, speed = 1 }: TimersOptions = {}): Timers {
  if (!(speed > 0 && Number.isFinite(speed))) throw new RangeError(`the speed of the clock must be a number above 0, not ${speed}`)
  const start = clock()
  const pending = new Set<ScheduledWork>()
  let closed = false

  const schedule = (afterMs: number, work: () => void): ScheduledWork => {
    let timer: NodeJS.Timeout | undefined
    const wait = (left: number): void => {
      const part = Math.min(left, MAX_DELAY)
      timer = setTimeout(() => {
        if (left > part) return wait(left - part)
        pending.delete(scheduled)
        work()
      }, part)
    }
    const scheduled: ScheduledWork = {
      cancel: () => {
        clearTimeout(timer)
        pending.delete(scheduled)
      },
    }
    if (!closed) {
      pending.add(scheduled)
      wait(Math.ceil(Math.max(0, afterMs) / speed))
    }
    return scheduled
  }

  return {
    now: speed === 1 ? clock : () => Math.round(start + (clock() - start) * speed),
    speed,
    schedule,
    close: () => {
      closed = true
      for (const scheduled of [...pending]) scheduled.cancel()
    },
  }
}

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
