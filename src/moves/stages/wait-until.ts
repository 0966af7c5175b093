/** Waits for a time, and words for it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { durationText } from '../../base/english.ts'
import { shortTime } from '../../report/history.ts'
import { EXIT, type ExitStatus } from '../../run/context/exit-status.ts'
import type { ApplyEnvironment } from '../../run/context/run-context.ts'

/** Milliseconds of one sleep: the clock of the machine may be set meanwhile. */
const STEP = 10_000

/** Waits until the clock shows `time`. Returns the exit status of a signal or of the time limit that ends the wait; null when the time has come. */
export async function waitUntil({ now, listen }: ApplyEnvironment, time: Date): Promise<ExitStatus | null> {
  const interruption = listen()
  try {
    for (let left = time.getTime() - now().getTime(); left > 0; left = time.getTime() - now().getTime()) {
      await sleep(Math.min(STEP, left), undefined, { signal: interruption.signal }).catch(() => undefined)
      if (interruption.signal.aborted) return interruption.status() ?? EXIT.pending
    }
    return null
  } finally {
    interruption.release()
  }
}

/** `2026-11-23 14:05:10Z (in 42 min)`. */
export const timeText = (time: Date, now: Date): string =>
  `${shortTime(time.toISOString())} (in ${durationText(Math.max(0, Math.ceil((time.getTime() - now.getTime()) / 1000)))})`
