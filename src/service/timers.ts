/**
 * The service's clock and timers, which tests can speed up. They are for refreshes, expiries and temporary states. Timeouts of the network and the disk
 * use real time.
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

export interface TimersOptions {
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
