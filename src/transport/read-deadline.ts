/**
 * The deadline of a read. A read fails when either of two times reaches the limit: the time spent on its own attempts and pauses, or the time since the
 * server's last response to any request. So a read that waits for its turn does not fail while other requests get responses. If the server falls silent, all
 * waiting reads fail together, not one after another.
 */

/** Measures the silence of a server: the time since its last response to any request. */
export interface SilenceClock {
  /** Records a response. If it asks for a pause of so many milliseconds, silence begins after the pause. */
  recordResponse(pause: number): void
  /** The start of the current silence, by `now`; in the future during a pause. */
  silentSince(): number
  readonly now: () => number
}

export function createSilenceClock(now: () => number = () => performance.now()): SilenceClock {
  let since = Number.NEGATIVE_INFINITY
  return {
    recordResponse: (pause) => {
      since = Math.max(since, now() + pause)
    },
    silentSince: () => since,
    now,
  }
}

export interface ReadDeadline {
  /** The milliseconds until the first of the two times reaches the limit; at least 0. */
  remaining(): number
  /** Adds the milliseconds of an attempt or pause. */
  spend(milliseconds: number): void
  /** A signal that is aborted when no time is left. Call `end` when it is no longer needed. */
  watch(): { readonly signal: AbortSignal; end(): void }
}

/** The deadline of a read that starts now. */
export function createReadDeadline(milliseconds: number, silence: SilenceClock): ReadDeadline {
  const startedAt = silence.now()
  let spent = 0
  const remaining = (): number => {
    const silentFor = silence.now() - Math.max(startedAt, silence.silentSince())
    return Math.max(0, milliseconds - Math.max(spent, silentFor))
  }
  return {
    remaining,
    spend(time) {
      spent += time
    },
    watch() {
      const controller = new AbortController()
      let timer: NodeJS.Timeout
      const check = (): void => {
        const left = remaining()
        if (left <= 0) controller.abort()
        // Timers may fire up to a millisecond early, and the deadline moves while other requests get responses.
        else timer = setTimeout(check, Math.ceil(left) + 1)
      }
      check()
      return { signal: controller.signal, end: () => clearTimeout(timer) }
    },
  }
}
