import { randomBytes } from 'node:crypto'
import { open, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/**
 * Replaces a file so that readers find it whole, before or after, whatever happens in between: the text goes to a temporary
 * file in the same folder, to the disk, and takes the name. The mode is kept, and a symbolic link stays one. Throws the system's error.
 */
export async function writeFileAtomically(path: string, text: string | Uint8Array): Promise<void> {
  const target = await realpath(path).catch(() => path)
  const mode = await stat(target).then(
    (facts) => facts.mode & 0o7777,
    () => null,
  )
  const temporary = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString('hex')}.tmp`)
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
    await rename(temporary, target)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await syncFolder(dirname(target))
}

/** The new name is on the disk only when the folder is. Not every file system lets a folder be opened. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder).catch(() => null)
  await handle?.sync().catch(() => undefined)
  await handle?.close()
}
