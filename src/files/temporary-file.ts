/** Temporary files beside their destinations. */
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileError } from './file-error.ts'
import { hostId, isRunning } from './process-identity.ts'

/** Octets of the target's name that a temporary name repeats; file names have at most 255. */
const MAX_NAME_OCTETS = 180

/**
 * A free name in the folder of `target`: `.NAME.PID-HOST-RANDOM.tmp`. The leading dot keeps it out of every glob; pid and host tell when it may be
 * removed.
 */
export const temporaryName = (target: string): string =>
  join(dirname(target), `.${truncate(basename(target))}.${process.pid}-${hostTag()}-${randomBytes(4).toString('hex')}.tmp`)

const TEMPORARY_NAME = /^\..+\.(\d{1,10})-([0-9a-f]{8})-[0-9a-f]{8}\.tmp$/

const hostTag = (): string => createHash('sha256').update(hostId()).digest('hex').slice(0, 8)

function truncate(name: string): string {
  let text = ''
  for (const character of name) {
    if (Buffer.byteLength(text + character) > MAX_NAME_OCTETS) break
    text += character
  }
  return text
}

/** Writes a text to a new file and syncs it to the disk. `mode`, unless null, ignores the umask. No file is left if this fails. */
export async function writeTemporary(path: string, text: string | Uint8Array, mode: number | null): Promise<void> {
  const handle = await open(path, 'wx').catch((error: NodeJS.ErrnoException) => {
    // /proc is a folder that takes no files.
    throw error.code === 'ENOENT' && existsSync(dirname(path)) ? fileError('ENOFOLDER', error) : error
  })
  try {
    if (mode !== null) await handle.chmod(mode)
    await handle.writeFile(text)
    await handle.sync()
    await handle.close()
  } catch (error) {
    await handle.close().catch(() => undefined)
    rmSync(path, { force: true })
    throw error
  }
}

/** Removes temporary files that processes of this host left in a folder when they were killed. */
export function removeDeadTemporaries(folder: string): void {
  try {
    const host = hostTag()
    for (const name of readdirSync(folder)) {
      const [, pid, ofHost] = TEMPORARY_NAME.exec(name) ?? []
      if (ofHost === host && !isRunning(Number(pid))) rmSync(join(folder, name), { force: true })
    }
  } catch {
    // They do no harm.
  }
}

/** Syncs a folder, without which a new file name may not survive a power failure. Not every file system supports it. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder).catch(() => null)
  await handle?.sync().catch(() => undefined)
  await handle?.close()
}

/** Cleans up if the program exits early. */
const pending = new Set<() => void>()

/** Later work builds on earlier work, so it is cleaned up first. */
const cleanAll = (): void => {
  for (const clean of [...pending].reverse()) clean()
}

/** Calls `clean`, which must not throw, if the program exits early, for example on a signal. Returns a function that cancels this. */
export function cleanAtExit(clean: () => void): () => void {
  if (pending.size === 0) process.on('exit', cleanAll)
  pending.add(clean)
  return () => {
    pending.delete(clean)
    if (pending.size === 0) process.off('exit', cleanAll)
  }
}
