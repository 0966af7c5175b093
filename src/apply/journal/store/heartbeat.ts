/**
 * Keeps the lease of this run. Whether a request may be sent is judged by the clocks of this machine, from before the last renewal was sent: the store had that
 * renewal later, so others find the lease valid for longer. Of the monotonic clock and that of the day the later one is believed, since the former may stand
 * still while a machine sleeps, and the latter may be set back.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type JournalStore, StoreError } from './journal-store.ts'
import { type Lease, leaseName, parseLease } from './leases.ts'

export interface Heartbeat {
  /**
   * Waits until the lease is certain to last for another `timeLimit` milliseconds. Returns why a request may not be sent; null if it may. A request may
   * take longer than the lease was made for: then it is made longer.
   */
  mayWrite(timeLimit: number): Promise<string | null>
  /** Aborted once the lease is lost, with the reason as a text. */
  readonly lost: AbortSignal
  /** Stops the renewals and removes the lease. Throws nothing. */
  end(): Promise<void>
}

/** Renewals per duration of a lease. */
const RENEWALS = 3
/** Milliseconds between two attempts of a renewal. */
const PAUSE = 500
/** Seconds by which a lease outlasts a request for which it is made longer; those of the lease itself if they are more. */
const MARGIN = 30

interface Moment {
  readonly monotonic: number
  readonly day: number
}

const moment = (): Moment => ({ monotonic: performance.now(), day: Date.now() })

const since = ({ monotonic, day }: Moment): number => Math.max(performance.now() - monotonic, Date.now() - day)

/** Begins to renew a lease that was written at `written`, as `version`. */
export function keepLease(store: JournalStore, first: Lease, version: string, written: Moment, stop?: AbortSignal): Heartbeat {
  const name = leaseName(first.run)
  const lost = new AbortController()
  let lease = first
  let current = version
  let renewedAt = written
  let problem: string | null = null
  let renewing: Promise<void> | null = null
  let ended = false

  const remaining = (): number => lease.seconds * 1000 - since(renewedAt)
  const renew = async (seconds: number): Promise<void> => {
    const at = moment()
    const next: Lease = { ...lease, seconds: Math.max(seconds, lease.seconds), renewals: lease.renewals + 1 }
    try {
      const result = await store.write(name, JSON.stringify(next), current)
      if (result.state === 'written') {
        lease = next
        current = result.version
        renewedAt = at
        problem = null
      } else if (!ended) await seeWhy()
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      problem = error.message
    }
  }
  /** After a conflict. A renewal whose response was lost may have been carried out: the lease is then still that of this run. */
  const seeWhy = async (): Promise<void> => {
    const rest = await store.read(name)
    const found = rest === null ? null : parseLease(rest.text, name)
    if (rest !== null && found !== null && found.brokenUntil === undefined && rest.version !== current) {
      lease = found
      current = rest.version
    } else
      lost.abort(
        `run ${lease.run} has lost its lease: ${rest === null ? 'it was not renewed in time and another run took its zones, or "unlock" broke it' : '"unlock" broke it'}`,
      )
  }
  const renewOnce = (seconds: number): Promise<void> => {
    renewing ??= renew(seconds).finally(() => {
      renewing = null
    })
    return renewing
  }
  // A run that waits for nothing else ends without another renewal.
  const timer = setInterval(
    () => void renewOnce(lease.seconds).catch((error: Error) => lost.abort(error.message)),
    (first.seconds * 1000) / RENEWALS,
  )
  timer.unref()

  return {
    lost: lost.signal,
    async mayWrite(timeLimit) {
      let wanted = lease.seconds
      for (;;) {
        if (lost.signal.aborted) return String(lost.signal.reason)
        if (remaining() > timeLimit) return null
        if (stop?.aborted) return 'the run was stopped'
        if (timeLimit > (wanted * 1000 * (RENEWALS - 1)) / RENEWALS)
          wanted = Math.max(wanted, Math.ceil(timeLimit / 1000) + Math.max(first.seconds, MARGIN))
        await renewOnce(wanted)
        if (problem === null || lost.signal.aborted) continue
        if (remaining() <= 0) lost.abort(`the lease of run ${first.run} could not be renewed: ${problem}`)
        else await sleep(Math.min(PAUSE, Math.max(1, remaining())))
      }
    },
    async end() {
      ended = true
      clearInterval(timer)
      await renewing?.catch(() => undefined)
      // Only this run has a lease of its name, and it sends nothing more.
      await store.remove(name, 'any').catch(() => undefined)
    },
  }
}
