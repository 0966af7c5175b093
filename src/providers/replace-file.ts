/** Replaces and removes files of a provider's folder, one process at a time, so that nobody ever reads half a file. */
import { accessSync, chownSync, constants, readFileSync, renameSync, rmSync, type Stats, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { resolveLinks } from '../files/file-path.ts'
import { acquireLock } from '../files/locks.ts'
import { ownProcess } from '../files/process-identity.ts'
import { describeReadError } from '../files/read-text.ts'
import { cleanAtExit, removeDeadTemporaries, syncFolder, temporaryName, writeTemporary } from '../files/temporary-file.ts'
import { writeProblemText } from '../files/write-problem.ts'
import { findWriteTarget } from '../files/write-target.ts'
import { ProviderError } from './provider.ts'

export interface FileReplacement {
  /** Absolute. */
  readonly path: string
  /** The path as messages show it, after the provider's name. */
  readonly shown: string
  /** The text that the file must have just before it is replaced; null for no file. */
  readonly before: string | null
  readonly text: string
  /** Inspects the temporary file, whose absolute path it gets. Throws to leave everything as it is. */
  readonly check?: ((temporary: string) => Promise<void>) | undefined
  /** Called just before the rename. */
  readonly beforeRename?: (() => void) | undefined
}

/** Throws if the folder of a provider does not exist: otherwise every zone would seem to be missing. `shown`: the folder as messages show it. */
export function assertFolder(folder: { readonly provider: string; readonly directory: string; readonly shown: string }): void {
  if (statSync(folder.directory, { throwIfNoEntry: false })?.isDirectory()) return
  throw new ProviderError('file-unreadable', `${folder.provider}: the folder ${folder.shown} does not exist`, {
    hint: 'create the folder, or correct "directory" in the config',
  })
}

/** Whether this process may create and rename files in a folder. */
export function isWritableFolder(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

/**
 * Writes the text to a temporary file beside the destination, syncs and checks it, and renames it. Owner, group and mode of an existing file stay. Throws a
 * `ProviderError`; then the file is as before.
 */
export async function replaceFile(file: FileReplacement): Promise<void> {
  const { path, shown, before, text } = file
  await withFileErrors(shown, async () => {
    const target = findWriteTarget(path, resolveLinks(dirname(path)))
    const temporary = temporaryName(target.path)
    const clean = (): void => rmSync(temporary, { force: true })
    const cancel = cleanAtExit(clean)
    try {
      await writeTemporary(temporary, text, target.facts === null ? null : target.facts.mode & 0o7777)
      if (target.facts !== null) keepOwner(temporary, target.facts, shown)
      await file.check?.(temporary)
      if (contentOf(target.path) !== before) throw changedMeanwhile(shown)
      file.beforeRename?.()
      renameSync(temporary, target.path)
    } finally {
      cancel()
      clean()
    }
    await syncFolder(dirname(target.path))
  })
}

/** Removes a file that still has the given text. Throws a `ProviderError`; then the file is as before. */
export async function removeFile({
  path,
  shown,
  before,
  beforeRename,
}: Pick<FileReplacement, 'path' | 'shown' | 'before' | 'beforeRename'>): Promise<void> {
  await withFileErrors(shown, async () => {
    if (contentOf(path) !== before) throw changedMeanwhile(shown)
    beforeRename?.()
    rmSync(path)
    await syncFolder(dirname(path))
  })
}

async function withFileErrors(shown: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (error instanceof ProviderError) throw error
    throw new ProviderError('file-unwritable', `${shown} cannot be written: ${writeProblemText(error)}`, { cause: error })
  }
}

const changedMeanwhile = (shown: string): ProviderError =>
  new ProviderError('provider-conflict', `${shown} was changed by another program while it was being replaced`, {
    hint: 'plan again to see the change',
  })

/** The octets of a file, one character each; null if there is no file. Throws the system's error. */
function contentOf(path: string): string | null {
  try {
    return readFileSync(path).toString('latin1')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** The content of a file for `before`; null if there is no file. Throws a `ProviderError`. */
export function contentBefore(path: string, shown: string): string | null {
  try {
    return contentOf(path)
  } catch (error) {
    throw new ProviderError('file-unreadable', `${shown} ${describeReadError(error)}`, { cause: error })
  }
}

const OTHERS_READ = 0o004

/** Gives a new file the owner and group of the one that it replaces. If only the group or nothing can be kept, the server must still be able to read it. */
function keepOwner(path: string, { uid, gid, mode }: Stats, shown: string): void {
  const own = statSync(path)
  if (own.uid === uid && own.gid === gid) return
  for (const owner of own.uid === uid ? [uid] : [uid, own.uid]) {
    try {
      chownSync(path, owner, gid)
      return
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error
    }
  }
  if ((mode & OTHERS_READ) === 0)
    throw new ProviderError(
      'file-unwritable',
      `${shown} belongs to user ${uid} and group ${gid}, which a new file would not, so the server may not be able to read it`,
      {
        hint: 'run as that user or as a member of that group, or make the file readable for all',
      },
    )
}

/** Ten seconds, in attempts and the milliseconds between two of them. */
const ATTEMPTS = 200
const PAUSE = 50

/** Does work while no other process of this program changes a file, and returns its result. Waits up to ten seconds, then throws a `ProviderError`. */
export type WithLock = <T>(name: string, shown: string, work: () => Promise<T>) => Promise<T>

/** The locks of a folder. The first one removes the temporary files that killed processes left there. */
export function locksOf(folder: string): WithLock {
  let isClean = false
  return async (name, shown, work) => {
    const path = join(folder, `.${name}.lock`)
    const holder = { ...ownProcess(), since: new Date().toISOString(), command: 'apply', run: null }
    for (let attempt = 1; ; attempt += 1) {
      const lock = lockOrThrow(path, shown, holder)
      if (lock.state === 'acquired') {
        const cancel = cleanAtExit(lock.release)
        try {
          if (!isClean) removeDeadTemporaries(folder)
          isClean = true
          return await work()
        } finally {
          cancel()
          lock.release()
        }
      }
      if (attempt >= ATTEMPTS)
        throw new ProviderError('provider-failed', `${shown} is being changed by another process`, {
          notSent: true,
          hint: `try again when it is done; if it has certainly ended, remove the file .${name}.lock beside it`,
        })
      await wait(PAUSE)
    }
  }
}

function lockOrThrow(path: string, shown: string, holder: Parameters<typeof acquireLock>[1]): ReturnType<typeof acquireLock> {
  try {
    return acquireLock(path, holder)
  } catch (error) {
    throw new ProviderError('file-unwritable', `${shown} cannot be written: ${writeProblemText(error)}`, { cause: error, notSent: true })
  }
}
