/**
 * The service's time. Whatever waits for a moment of the service's own (a refresh, an expiry, a state that ends by itself) asks here,
 * so that a test can have time pass faster. What waits for the network or the disk does not: those take the time they take.
 */

export interface Timers {
  /** Milliseconds since 1970. */
  now(): number
  /** How many times as fast as real time it passes; 1 but in tests. */
  readonly speed: number
  /** Runs the work once, after so many milliseconds of this time; no earlier, and not at all once it is cancelled or all is closed. */
  schedule(afterMs: number, work: () => void): ScheduledWork
  /** Cancels all that is scheduled; what is asked for later is never run. */
  close(): void
}

export interface ScheduledWork {
  cancel(): void
}

export interface TimersOptions {
  /** Real time in milliseconds since 1970. */
  readonly clock?: () => number
  /** A number above 0. */
  readonly speed?: number
}

/** The most milliseconds a timer of the system can wait; more than that ends at once. */
const LONGEST_WAIT = 2 ** 31 - 1

/** With a speed, time starts at the moment of this call and passes that much faster. Throws a `RangeError` if the speed is none. */
export function createTimers({ clock = Date.now, speed = 1 }: TimersOptions = {}): Timers {
  if (!(speed > 0 && Number.isFinite(speed))) throw new RangeError(`the speed of the clock must be a number above 0, not ${speed}`)
  const start = clock()
  const pending = new Set<ScheduledWork>()
  let closed = false

  const schedule = (afterMs: number, work: () => void): ScheduledWork => {
    let timer: NodeJS.Timeout | undefined
    const wait = (left: number): void => {
      const part = Math.min(left, LONGEST_WAIT)
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
