/** Locks the zones of a run against other runs. */
import { join } from 'node:path'
import { acquireLock, type LockHolder, lockPath } from '../definition/files/lock-file.ts'
import { makeFolder } from '../definition/files/make-folder.ts'
import { type ProcessIdentity, processStatus } from '../definition/files/process-identity.ts'
import { removeDeadTemporaries } from '../definition/files/temporary-file.ts'
import type { Diagnostic } from '../dns/diagnostic.ts'

export interface LockRequest {
  /** The journal's folder. */
  readonly journal: string
  readonly zones: readonly { readonly zone: string; readonly target: string }[]
  readonly owner: ProcessIdentity
  readonly command: string
  readonly run: string
  readonly now: () => Date
  /** Maximum milliseconds to wait for locks of other runs. */
  readonly wait: number
  /** Ends the waiting. */
  readonly signal?: AbortSignal | undefined
  /** Called once, before waiting begins. */
  readonly onWait?: ((problem: Diagnostic) => void) | undefined
}

export type Locks =
  | { readonly state: 'acquired'; readonly release: () => void }
  | { readonly state: 'busy'; readonly diagnostic: Diagnostic }

/** Milliseconds between two attempts. */
const PAUSE = 100

/**
 * Locks zones for one run: all of them or none. All runs lock in the same order. If a lock is not free in time, the diagnostic names its holder. Throws the
 * system's error if the folder of the journal cannot be written.
 */
export async function lockZones(request: LockRequest): Promise<Locks> {
  const { now, wait, signal } = request
  if (request.zones.length === 0) return { state: 'acquired', release: () => undefined }
  const folder = join(request.journal, 'locks')
  makeFolder(folder, 0o700)
  removeDeadTemporaries(folder)
  const wanted = request.zones.map(({ zone, target }) => ({ zone, target, path: lockPath(folder, zone, target) }))
  wanted.sort((a, b) => (a.path < b.path ? -1 : 1))
  const deadline = performance.now() + wait
  for (let isFirst = true; ; isFirst = false) {
    const holder = { ...request.owner, since: now().toISOString(), command: request.command, run: request.run }
    const locks = acquireAll(wanted, holder)
    if (locks.state === 'acquired' || performance.now() >= deadline || signal?.aborted) return locks
    if (isFirst) request.onWait?.(locks.diagnostic)
    await pause(Math.min(PAUSE, Math.max(1, deadline - performance.now())), signal)
  }
}

function acquireAll(
  wanted: readonly { readonly zone: string; readonly target: string; readonly path: string }[],
  holder: LockHolder,
): Locks {
  const releases: (() => void)[] = []
  const release = (): void => {
    for (const one of releases.splice(0)) one()
  }
  try {
    for (const { zone, target, path } of wanted) {
      const lock = acquireLock(path, holder)
      if (lock.state === 'busy') {
        release()
        return { state: 'busy', diagnostic: lockedDiagnostic(zone, target, lock.holder, lock.path, holder) }
      }
      releases.push(lock.release)
    }
    return { state: 'acquired', release }
  } catch (error) {
    release()
    throw error
  }
}

function lockedDiagnostic(zone: string, target: string, other: LockHolder | null, path: string, own: LockHolder): Diagnostic {
  const common = { severity: 'error', code: 'zone-locked' } as const
  const remedy = `if that run has certainly ended, remove the file ${path}`
  if (other === null) return { ...common, message: `${zone} at ${target} is locked, but the lock does not name its holder`, hint: remedy }
  const { command, run, pid, host, since } = other
  const message = `${zone} at ${target} is locked by ${command}, run ${run}, process ${pid} on ${host}, since ${since}`
  const isHere = processStatus(other, own) === 'running'
  return { ...common, message, hint: isHere ? 'try again when it has ended, or wait for it with --wait SECONDS' : `wait for it; ${remedy}` }
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
