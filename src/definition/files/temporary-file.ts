import { randomBytes } from 'node:crypto'
import { existsSync, lstatSync, readdirSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileError } from './file-error.ts'

const ENDING = /^\.[0-9a-f]{12}\.tmp$/

/** Milliseconds after which a temporary file, or the lock of a write, is one that a killed program left. */
export const LEFT_BEHIND = 10 * 60_000

const prefixOf = (target: string): string => `.${cut(basename(target))}`

/** Names have at most 255 octets; the cut is between characters. */
function cut(name: string): string {
  let text = ''
  for (const character of name) {
    if (Buffer.byteLength(text + character) > 200) break
    text += character
  }
  return text
}

/** Whether a name is one of those that `temporaryName` gives. */
export const isTemporaryName = (name: string): boolean => /^\..+\.[0-9a-f]{12}\.tmp$/.test(name)

/** A free name beside a file: no glob of a config takes it for a definition. */
export const temporaryName = (target: string): string => join(dirname(target), `${prefixOf(target)}.${randomBytes(6).toString('hex')}.tmp`)

/** Writes a text to a new file, and on to the disk. The mode given is not cut by the umask. Where it fails there is no such file. */
export async function writeTemporary(path: string, text: string | Uint8Array, mode: number | null): Promise<void> {
  const handle = await open(path, 'wx').catch((error: NodeJS.ErrnoException) => {
    // In a folder that is there and takes no files, as /proc.
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

/** Removes the temporary files of a target that killed programs left: those that were long there when `own`, one of now, was written. */
export function removeLeftBehind(target: string, own: string): void {
  const folder = dirname(target)
  const prefix = prefixOf(target)
  try {
    const now = lstatSync(own).mtimeMs
    for (const name of readdirSync(folder)) {
      if (!name.startsWith(prefix) || !ENDING.test(name.slice(prefix.length))) continue
      const path = join(folder, name)
      if (lstatSync(path).mtimeMs < now - LEFT_BEHIND) rmSync(path, { force: true })
    }
  } catch {
    // They are in nobody's way.
  }
}

/** The new name of a file is on the disk only when its folder is. Not every file system lets a folder be opened. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder).catch(() => null)
  await handle?.sync().catch(() => undefined)
  await handle?.close()
}
