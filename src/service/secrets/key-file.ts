/**
 * The key file beside a SQLite database: one key per line, the current or next one first, at most two. It is created once and never overwritten by
 * another start: the process that comes second reads it.
 */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { keepOwner } from '../store/private-files.ts'

/** The name of the key file in a data folder. */
const KEY_FILE = 'secrets.key'

/** Random octets of a key, as AES-256 requires. */
const KEY_OCTETS = 32

export const makeKey = (): string => randomBytes(KEY_OCTETS).toString('base64')

/** Returns the keys of a file as text, in order; null if there is no file. */
export function readKeyFile(path: string): readonly string[] | null {
  try {
    const lines = readFileSync(path, 'utf8').split('\n')
    return lines.map((line) => line.trim()).filter((line) => line !== '')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Creates the file with a new key; does nothing if it exists. The file appears only when it is complete and on disk. */
export function makeKeyFile(path: string): void {
  const temporary = `${path}.${randomBytes(8).toString('hex')}.part`
  try {
    writeKeys(temporary, [makeKey()])
    renameIfFree(temporary, path)
    syncFolder(dirname(path))
  } finally {
    rmSync(temporary, { force: true })
  }
}

/** Removes temporary files of a process that was killed while creating the key file. Only the process that holds the folder may call it. */
export function removeUnfinishedKeys(path: string): void {
  for (const name of readdirSync(dirname(path))) {
    if (name.startsWith(`${basename(path)}.`) && name.endsWith('.part')) rmSync(join(dirname(path), name), { force: true })
  }
}

/**
 * Replaces the keys of an existing file atomically. Only one process may call it at a time. A symbolic link is kept, and so is the owner: root may
 * rotate the key of a service that runs as another user.
 */
export function replaceKeyFile(path: string, keys: readonly string[]): void {
  const file = realpathSync(path)
  const temporary = `${file}.new`
  rmSync(temporary, { force: true })
  // The operator chose the mode of a link's target: the service may read it through its group.
  const mode = lstatSync(path).isSymbolicLink() ? lstatSync(file).mode & 0o777 : 0o600
  writeKeys(temporary, keys, { mode, ownerOf: file })
  renameSync(temporary, file)
  syncFolder(dirname(file))
}

export const keyFilePath = (folder: string): string => join(folder, KEY_FILE)

interface KeyFileAccess {
  readonly mode: number
  /** The file whose owner the new file gets. */
  readonly ownerOf: string
}

function writeKeys(path: string, keys: readonly string[], access?: KeyFileAccess): void {
  const file = openSync(path, 'wx', 0o600)
  try {
    if (access !== undefined) keepOwner(file, access.ownerOf)
    fchmodSync(file, access?.mode ?? 0o600)
    writeSync(file, keys.map((key) => `${key}\n`).join(''))
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Renames a file unless the name exists. A hard link fails then, which a rename does not. File systems without hard links get a check before the rename. */
function renameIfFree(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(code)) throw error
    if (!existsSync(to)) renameSync(from, to)
  }
}

/** Flushes a folder, so that a new name in it is on disk. Not every system can open a folder. */
function syncFolder(path: string): void {
  let folder: number
  try {
    folder = openSync(path, 'r')
  } catch {
    return
  }
  try {
    fsyncSync(folder)
  } catch {
    // Some file systems do not support this, and need not.
  } finally {
    closeSync(folder)
  }
}
