/** Locks folders while a command writes into them. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { cleanAtExit } from './clean-at-exit.ts'
import { fileError } from './file-error.ts'
import { acquireLock, type LockHolder, type LockResult } from './lock-file.ts'
import { ownProcess, processStatus } from './process-identity.ts'
import { removeDeadTemporaries } from './temporary-file.ts'

/** The command that writes, for the messages of other processes. */
export interface Writer {
  readonly command: string
  readonly now: () => Date
}

export type FolderLocks = { readonly release: () => void } | { readonly diagnostic: Diagnostic }

/** The lock of a folder. The leading dot keeps it out of every glob. */
const LOCK_FILE = '.zonewright.lock'

/** Whether a folder is locked, perhaps by a process that was killed. */
export const hasLock = (folder: string): boolean => existsSync(join(folder, LOCK_FILE))

/** Ten seconds, in attempts and the milliseconds between two of them. */
const ATTEMPTS = 200
const PAUSE = 50

/**
 * Keeps other commands of this program from writing into folders (absolute): locks all of them or none, and waits up to ten seconds for other
 * processes. Removes temporary files of killed processes. Throws the system's error.
 */
export async function lockFolders(folders: Iterable<string>, { command, now }: Writer): Promise<FolderLocks> {
  const sorted = [...new Set(folders)].sort()
  const holder: LockHolder = { ...ownProcess(), since: now().toISOString(), command, run: null }
  for (let attempt = 1; ; attempt += 1) {
    const locks = acquireAll(sorted, holder)
    if (!('diagnostic' in locks) || attempt >= ATTEMPTS) return locks
    await wait(PAUSE)
  }
}

function acquireAll(folders: readonly string[], holder: LockHolder): FolderLocks {
  const releases: (() => void)[] = []
  const releaseAll = (): void => {
    for (const release of releases.splice(0)) release()
  }
  const cancel = cleanAtExit(releaseAll)
  const release = (): void => {
    cancel()
    releaseAll()
  }
  try {
    for (const folder of folders) {
      const lock = acquireOne(folder, holder)
      if (lock.state === 'busy') {
        release()
        return { diagnostic: busyDiagnostic(folder, lock, holder) }
      }
      releases.push(lock.release)
      removeDeadTemporaries(folder)
    }
    return { release }
  } catch (error) {
    release()
    throw error
  }
}

function acquireOne(folder: string, holder: LockHolder): LockResult {
  try {
    return acquireLock(join(folder, LOCK_FILE), holder)
  } catch (error) {
    // /proc is a folder that takes no files.
    throw (error as NodeJS.ErrnoException).code === 'ENOENT' && existsSync(folder) ? fileError('ENOFOLDER', error) : error
  }
}

function busyDiagnostic(folder: string, { holder, path }: LockResult & { readonly state: 'busy' }, own: LockHolder): Diagnostic {
  const isRunning = holder !== null && processStatus(holder, own) === 'running'
  const who = holder === null ? 'another process' : `${holder.command}, process ${holder.pid} on ${holder.host}, since ${holder.since},`
  return {
    severity: 'error',
    code: 'write-unfinished',
    message: `${who} is writing into ${folder}`,
    hint: isRunning ? 'try again when it is done' : `if that process has certainly ended, remove the file ${path}`,
  }
}
