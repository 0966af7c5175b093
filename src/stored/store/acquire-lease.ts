/** Acquires the lease of a run on its zones, waits for other runs that have leases on them, and renews it. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { durationText } from '../../base/english.ts'
import { shortTime } from '../../report/history.ts'
import type { RunCommand } from '../journal/journal-format.ts'
import { type Fences, fenceOf, readFences } from './fences.ts'
import { type JournalStore, StoreError } from './journal-store.ts'
import {
  endOfLease,
  type FoundLease,
  isLive,
  type Lease,
  type LeasedZone,
  type LeaseHolder,
  leaseName,
  listLeases,
  parseLease,
} from './leases.ts'

export interface LeaseRequest {
  readonly store: JournalStore
  readonly zones: readonly LeasedZone[]
  readonly holder: LeaseHolder
  readonly command: RunCommand
  readonly run: string
  readonly seconds: number
  /** Maximum milliseconds to wait for other runs. */
  readonly wait: number
  /** Ends the waiting. */
  readonly signal?: AbortSignal | undefined
  /** Called once, before waiting begins. */
  readonly onWait?: ((problem: Diagnostic) => void) | undefined
}

export type AcquiredLease =
  /** `fences`: as they were before any zone was read. */
  | { readonly state: 'acquired'; readonly heartbeat: Heartbeat; readonly fences: Fences }
  | { readonly state: 'busy'; readonly diagnostic: Diagnostic }

/** Milliseconds between two attempts: in a folder, and in a store that takes requests. */
const PAUSE = 100
const LONG_PAUSE = 2000

/**
 * Writes the lease first and looks for others then, so that of two runs at least one sees the other. If both do, the one that began first goes on. Clocks may
 * disagree about that: then both go on, and the fence lets one of them make its changes. A run that has taken a fence is waited for in any case, since the
 * fences are read before the leases. Throws `StoreError`.
 */
export async function acquireLease(request: LeaseRequest): Promise<AcquiredLease> {
  const { store, run, wait, signal, zones, command, holder, seconds } = request
  const lease: Lease = { run, command, holder, since: new Date().toISOString(), zones, seconds, renewals: 0 }
  const written = { monotonic: performance.now(), day: Date.now() }
  const first = await store.write(leaseName(run), JSON.stringify(lease), null)
  if (first.state === 'conflict') throw new StoreError(`the journal in ${store.address} already has a run ${run}`, { hint: 'try again' })
  const heartbeat = keepLease(store, lease, first.version, written, signal)
  const deadline = performance.now() + wait
  try {
    for (let isFirst = true; ; isFirst = false) {
      const fences = await readFences(store)
      const blocker = await findBlocker(request, lease, fences)
      if (blocker === null) return { state: 'acquired', heartbeat, fences }
      if (performance.now() >= deadline || signal?.aborted) {
        await heartbeat.end()
        return { state: 'busy', diagnostic: blocker }
      }
      if (isFirst) request.onWait?.(blocker)
      await pause(Math.min(store.requests === 0 ? PAUSE : LONG_PAUSE, Math.max(1, deadline - performance.now())), signal)
    }
  } catch (error) {
    await heartbeat.end()
    throw error
  }
}

/** The run that has to be waited for; null if there is none. Leases of dead runs on the same zones are removed. */
async function findBlocker({ store, holder }: LeaseRequest, own: Lease, fences: Fences): Promise<Diagnostic | null> {
  const { leases, now } = await listLeases(store, own.run)
  const wanted = new Set(own.zones.map(({ zone, target }) => `${zone} ${target}`))
  // The first of those that wait for each other is the one that works.
  for (const lease of leases.toSorted((one, other) => (isEarlier(one, other) ? -1 : 1))) {
    const common = lease.zones.filter(({ zone, target }) => wanted.has(`${zone} ${target}`))
    const [zone] = common
    if (zone === undefined) continue
    if (!isLive(lease, now, store, holder)) {
      // A conflict: it was renewed at the last moment.
      if ((await store.remove(leaseName(lease.run), lease.version)) === 'removed') continue
    } else if (!isEarlier(lease, own) && !common.some((one) => fenceOf(fences, one)?.run === lease.run)) continue
    return lockedDiagnostic(zone, lease, now)
  }
  return null
}

const isEarlier = (one: Lease, other: Lease): boolean => one.since < other.since || (one.since === other.since && one.run < other.run)

function lockedDiagnostic({ zone, target }: LeasedZone, lease: FoundLease, now: number): Diagnostic {
  const left = Math.max(1, Math.ceil((endOfLease(lease) - now) / 1000))
  const ends = `unless that run renews its lease, it ends in ${durationText(left)}; "zonewright unlock --run ${lease.run}" breaks it`
  return {
    severity: 'error',
    code: 'zone-locked',
    message: `${zone} at ${target} is locked by ${describeLease(lease)}`,
    hint: `wait for it with --wait SECONDS; ${ends}`,
  }
}

/** `apply, run 20261121T063000Z-4f2a, process 17 on host (user), since 2026-11-21 06:30:00Z`. */
export function describeLease({ command, run, holder, since }: Lease): string {
  const { pid, host, user, job } = holder
  const who = job ?? (user === null ? null : `user ${user}`)
  return `${command}, run ${run}, process ${pid} on ${host}${who === null ? '' : `, ${who}`}, since ${shortTime(since)}`
}

const pause = (milliseconds: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, milliseconds)
    signal?.addEventListener('abort', end)
  })

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
const RETRY_PAUSE = 500
/** Seconds by which a lease outlasts a request for which it is made longer; those of the lease itself if they are more. */
const MARGIN = 30

interface Moment {
  readonly monotonic: number
  readonly day: number
}

const moment = (): Moment => ({ monotonic: performance.now(), day: Date.now() })

const since = ({ monotonic, day }: Moment): number => Math.max(performance.now() - monotonic, Date.now() - day)

/** Begins to renew a lease that was written at `written`, as `version`. */
function keepLease(store: JournalStore, first: Lease, version: string, written: Moment, stop?: AbortSignal): Heartbeat {
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
        else await sleep(Math.min(RETRY_PAUSE, Math.max(1, remaining())))
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
