/** Locks folders while a command writes into them. */
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fstatSync,
  linkSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Diagnostic } from '../base/diagnostic.ts'
import { fileError, lacksHardLinks } from './file-error.ts'
import { ownProcess, type ProcessIdentity, processStatus } from './process-identity.ts'
import { cleanAtExit, removeDeadTemporaries, temporaryName } from './temporary-file.ts'

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

// A lock is a file that names its holder.
//
// Acquire: the text is written under a temporary name and linked to the lock's name. A link fails if the name exists, so one of many processes succeeds,
// and no process ever sees a lock without its holder.
//
// Take over: the lock of a dead process is replaced by a rename. Only the holder of a second lock, NAME.takeover, may do so, after it has read the
// first lock again: otherwise a slow process would replace the lock of a faster one. If the holder of the second lock dies, the same rule applies to it.

/** The content of a lock. */
interface LockHolder extends ProcessIdentity {
  /** ISO 8601, UTC. */
  readonly since: string
  readonly command: string
  /** The id of the journalled run; null for commands that only write files. */
  readonly run: string | null
}

type LockResult =
  | { readonly state: 'acquired'; readonly release: () => void }
  /** `holder` is null if the file cannot be read or parsed. */
  | { readonly state: 'busy'; readonly holder: LockHolder | null; readonly path: string }

/** Attempts if the lock changes while it is being acquired. */
const FILE_ATTEMPTS = 50

/** Octets read of a lock; more is not a lock of ours. */
const MAX_LOCK_OCTETS = 4096

/** Acquires the lock, or returns its holder. Throws the system's error if the folder cannot be written. */
export function acquireLock(path: string, holder: LockHolder): LockResult {
  const text = `${JSON.stringify(holder)}\n`
  const acquired: LockResult = { state: 'acquired', release: () => releaseLock(path, text) }
  let busy: LockResult = { state: 'busy', holder: null, path }
  const temporary = temporaryName(path)
  writeFileSync(temporary, text, { flag: 'wx', mode: 0o600 })
  try {
    for (let attempt = 0; attempt < FILE_ATTEMPTS; attempt += 1) {
      if (tryToLink(temporary, path)) return acquired
      const other = readLock(path)
      if (other === null) continue
      busy = { state: 'busy', holder: other.holder, path }
      if (other.holder === null || processStatus(other.holder, holder) !== 'dead') return busy
      const takeover = acquireLock(`${path}.takeover`, holder)
      if (takeover.state === 'busy') {
        busy = takeover
        continue
      }
      try {
        if (readLock(path)?.text !== other.text) continue
        renameSync(temporary, path)
        return acquired
      } finally {
        takeover.release()
      }
    }
    return busy
  } finally {
    rmSync(temporary, { force: true })
  }
}

/** False if `to` exists. */
function tryToLink(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    if (!lacksHardLinks(error)) throw error
  }
  try {
    copyFileSync(from, to, constants.COPYFILE_EXCL)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Leaves the lock alone if it is another process's by now, because someone removed the file by hand. */
function releaseLock(path: string, text: string): void {
  if (readLock(path)?.text === text) rmSync(path, { force: true })
}

/** Null if there is no lock. */
function readLock(path: string): { readonly text: string; readonly holder: LockHolder | null } | null {
  try {
    const text = readStart(path)
    return { text, holder: parseHolder(text) }
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? null : { text: '', holder: null }
  }
}

/** The first octets of a file as text; empty for anything that is not a file. O_NONBLOCK keeps a named pipe from blocking. */
function readStart(path: string): string {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    if (!fstatSync(file).isFile()) return ''
    const octets = Buffer.alloc(MAX_LOCK_OCTETS)
    return octets.toString('utf8', 0, readSync(file, octets, 0, MAX_LOCK_OCTETS, 0))
  } finally {
    closeSync(file)
  }
}

function parseHolder(text: string): LockHolder | null {
  try {
    const { pid, started, host, since, command, run } = JSON.parse(text) as Readonly<Record<string, unknown>>
    const isText = (value: unknown): boolean => typeof value === 'string'
    const isValid =
      Number.isSafeInteger(pid) &&
      (pid as number) > 0 &&
      [host, since, command].every(isText) &&
      [started, run].every((value) => value === null || isText(value))
    return isValid ? ({ pid, started, host, since, command, run } as LockHolder) : null
  } catch {
    return null
  }
}
