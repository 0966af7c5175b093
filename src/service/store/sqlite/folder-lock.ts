/** Locks a data folder, so that only one process uses it. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Libsql from 'libsql'
import { isDiskFull } from '../database.ts'
import { createPrivateFile, DATABASE_FILE } from '../private-files.ts'

export interface FolderLock {
  release(): void
}

/**
 * Locks the data folder for this process. It uses an operating system lock, by an exclusive transaction on an empty database, which ends with
 * the process in any case, so it is never stale. `service.pid` only names the owner for error messages. Throws if the folder is already
 * locked, even by this process.
 */
export function lockFolder(folder: string): FolderLock {
  const pidFile = join(folder, 'service.pid')
  const lock = lockFile(join(folder, 'service.lock'), () => `the data folder ${folder} is in use${holderName(pidFile)}`)
  try {
    writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 })
  } catch (error) {
    if (!isDiskFull(error)) throw error
  }
  return {
    release: () => {
      rmSync(pidFile, { force: true })
      lock.release()
    },
  }
}

/** Locks the key rotation of a data folder. Throws if another process is rotating the key. The lock file gets the owner of the database. */
export const lockRotation = (folder: string): FolderLock =>
  lockFile(join(folder, 'rotation.lock'), () => `another process is changing the key of ${folder}`, join(folder, DATABASE_FILE))

function lockFile(path: string, message: () => string, ownerOf?: string): FolderLock {
  createPrivateFile(path, ownerOf)
  const holder = new Libsql(path, { timeout: 0 })
  try {
    // Without a journal, which would need space. Nothing is ever written.
    holder.exec('pragma journal_mode = off; begin exclusive')
  } catch (cause) {
    holder.close()
    throw new Error(message(), { cause })
  }
  return { release: () => holder.close() }
}

function holderName(pidFile: string): string {
  try {
    return ` by process ${Number.parseInt(readFileSync(pidFile, 'utf8'), 10)}`
  } catch {
    return ''
  }
}
