import { randomBytes } from 'node:crypto'
import { readFileSync, renameSync } from 'node:fs'
import { open, realpath, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/**
 * Replaces a file so that readers find it whole, before or after, whatever happens in between: the text goes to a temporary
 * file in the same folder, to the disk, and takes the name. The mode is kept, and a symbolic link stays one. Throws the system's error,
 * or one with the code `ECHANGED` where the file is no longer as `expected`, empty for none.
 */
export async function writeFileAtomically(path: string, text: string | Uint8Array, expected?: string): Promise<void> {
  const target = await realpath(path).catch(() => path)
  const mode = await stat(target).then(
    (facts) => facts.mode & 0o7777,
    () => null,
  )
  const temporary = join(dirname(target), `.${basename(target).slice(0, 100)}.${randomBytes(6).toString('hex')}.tmp`)
  try {
    const handle = await open(temporary, 'wx')
    try {
      // The mode given to open is cut by the umask.
      if (mode !== null) await handle.chmod(mode)
      await handle.writeFile(text)
      await handle.sync()
    } finally {
      await handle.close()
    }
    // With nothing in between, so that of several changes at once none is lost.
    if (expected !== undefined && !octetsOf(target).equals(Buffer.from(expected)))
      throw Object.assign(new Error('the file was changed'), { code: 'ECHANGED' })
    renameSync(temporary, target)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await syncFolder(dirname(target))
}

function octetsOf(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0)
    throw error
  }
}

/** The new name is on the disk only when the folder is. Not every file system lets a folder be opened. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder).catch(() => null)
  await handle?.sync().catch(() => undefined)
  await handle?.close()
}
