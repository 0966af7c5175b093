import { join } from 'node:path'
import { type LockHolder, lockPath, takeLock } from '../definition/files/lock-file.ts'
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
  /** Milliseconds to go on trying while another run holds a lock. */
  readonly wait: number
  /** Ends the waiting. */
  readonly signal?: AbortSignal | undefined
  /** Called once, before waiting begins. */
  readonly onWait?: ((problem: Diagnostic) => void) | undefined
}

export type Locks = { readonly state: 'taken'; readonly release: () => void } | { readonly state: 'held'; readonly diagnostic: Diagnostic }

/** Milliseconds between two attempts. */
const PAUSE = 100

/**
 * Locks zones for one run: all of them or none, in one order for all runs. What is not there in time is given as a diagnostic that says who has it.
 * Throws the system's error where the journal's folder cannot be written.
 */
export async function lockZones(request: LockRequest): Promise<Locks> {
  const { now, wait, signal } = request
  if (request.zones.length === 0) return { state: 'taken', release: () => undefined }
  const folder = join(request.journal, 'locks')
  makeFolder(folder, 0o700)
  removeDeadTemporaries(folder)
  const wanted = request.zones.map(({ zone, target }) => ({ zone, target, path: lockPath(folder, zone, target) }))
  wanted.sort((a, b) => (a.path < b.path ? -1 : 1))
  const deadline = performance.now() + wait
  for (let isFirst = true; ; isFirst = false) {
    const holder = { ...request.owner, since: now().toISOString(), command: request.command, run: request.run }
    const locks = takeAll(wanted, holder)
    if (locks.state === 'taken' || performance.now() >= deadline || signal?.aborted) return locks
    if (isFirst) request.onWait?.(locks.diagnostic)
    await pause(Math.min(PAUSE, Math.max(1, deadline - performance.now())), signal)
  }
}

function takeAll(wanted: readonly { readonly zone: string; readonly target: string; readonly path: string }[], holder: LockHolder): Locks {
  const releases: (() => void)[] = []
  const release = (): void => {
    for (const one of releases.splice(0)) one()
  }
  try {
    for (const { zone, target, path } of wanted) {
      const lock = takeLock(path, holder)
      if (lock.state === 'held') {
        release()
        return { state: 'held', diagnostic: lockedDiagnostic(zone, target, lock.holder, lock.path, holder) }
      }
      releases.push(lock.release)
    }
    return { state: 'taken', release }
  } catch (error) {
    release()
    throw error
  }
}

function lockedDiagnostic(zone: string, target: string, other: LockHolder | null, path: string, own: LockHolder): Diagnostic {
  const subject = { severity: 'error', code: 'zone-locked' } as const
  const remedy = `if that run has certainly ended, remove the file ${path}`
  if (other === null) return { ...subject, message: `${zone} at ${target} is locked, and the lock does not say by whom`, hint: remedy }
  const { command, run, pid, host, since } = other
  const message = `${zone} at ${target} is locked by ${command}, run ${run}, process ${pid} on ${host}, since ${since}`
  const isHere = processStatus(other, own) === 'running'
  return { ...subject, message, hint: isHere ? 'try again when it is done, or wait for it with --wait SECONDS' : `wait for it; ${remedy}` }
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
