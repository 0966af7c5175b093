/** Acquires the lease of a run on its zones, and waits for other runs that have leases on them. */
import type { Diagnostic } from '../../../dns/diagnostic.ts'
import { durationText } from '../../../report/english.ts'
import { shortTime } from '../../../report/history.ts'
import type { RunCommand } from '../journal-format.ts'
import { type Fences, fenceOf, readFences } from './fences.ts'
import { type Heartbeat, keepLease } from './heartbeat.ts'
import { type JournalStore, StoreError } from './journal-store.ts'
import { endOfLease, type FoundLease, isLive, type Lease, type LeasedZone, type LeaseHolder, leaseName, listLeases } from './leases.ts'

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
  for (const lease of leases) {
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
