import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Libsql from 'libsql'

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
  const holder = new Libsql(join(directory, 'service.lock'), { timeout: 0 })
  try {
    holder.exec('begin exclusive')
  } catch (cause) {
    holder.close()
    throw new Error(`the data directory ${directory} is in use${holderName(pidFile)}`, { cause })
  }
  writeFileSync(pidFile, `${process.pid}\n`)
  return {
    release: () => {
      rmSync(pidFile, { force: true })
      holder.close()
    },
  }
}

function holderName(pidFile: string): string {
  try {
    return ` by process ${Number.parseInt(readFileSync(pidFile, 'utf8'), 10)}`
  } catch {
    return ''
  }
}
