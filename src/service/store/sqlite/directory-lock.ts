import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Libsql from 'libsql'
import { createPrivateFile, DATABASE_FILE } from '../private-files.ts'

export interface DirectoryLock {
  release(): void
}

/**
 * Takes the data directory for this process. The lock is the operating system's, held through an exclusive transaction on an
 * empty database: it ends with the process however that ends, so none is ever stale and no process id is ever guessed from.
 * `service.pid` only tells a reader who holds it. Throws if another process, or this one, has the directory.
 */
export function lockDirectory(directory: string): DirectoryLock {
  const pidFile = join(directory, 'service.pid')
  const lock = lockFile(join(directory, 'service.lock'), () => `the data directory ${directory} is in use${holderName(pidFile)}`)
  writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 })
  return {
    release: () => {
      rmSync(pidFile, { force: true })
      lock.release()
    },
  }
}

/** Keeps the change of the key of a data directory to one process. Throws if another process changes it. The lock has the owner of the database. */
export const lockRotation = (directory: string): DirectoryLock =>
  lockFile(join(directory, 'rotation.lock'), () => `another process is changing the key of ${directory}`, join(directory, DATABASE_FILE))

function lockFile(path: string, message: () => string, ownerOf?: string): DirectoryLock {
  createPrivateFile(path, ownerOf)
  const holder = new Libsql(path, { timeout: 0 })
  try {
    holder.exec('begin exclusive')
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
