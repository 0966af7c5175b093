/**
 * The file with the key of the secrets, beside a SQLite database: one key on each line, the one in use or to be used first, at most two. It is made once,
 * and never made again over another: whoever comes second reads what the first wrote.
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

/** The name of the key file in a data directory. */
export const KEY_FILE = 'secrets.key'

/** Random octets of a key: as many as AES-256 takes. */
const KEY_OCTETS = 32

export const makeKey = (): string => randomBytes(KEY_OCTETS).toString('base64')

/** The keys of a file as text, in its order; null if there is no file. */
export function readKeyFile(path: string): readonly string[] | null {
  try {
    const lines = readFileSync(path, 'utf8').split('\n')
    return lines.map((line) => line.trim()).filter((line) => line !== '')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Makes the file with a new key, unless there is one: then nothing changes. The file is whole and on the disk whenever it is there. */
export function makeKeyFile(path: string): void {
  const temporary = `${path}.${randomBytes(8).toString('hex')}.part`
  try {
    writeKeys(temporary, [makeKey()])
    takeFreeName(temporary, path)
    syncFolder(dirname(path))
  } finally {
    rmSync(temporary, { force: true })
  }
}

/** Removes what a process left that was killed while it made the file. For the one process that may make it. */
export function removeUnfinishedKeys(path: string): void {
  for (const name of readdirSync(dirname(path))) {
    if (name.startsWith(`${basename(path)}.`) && name.endsWith('.part')) rmSync(join(dirname(path), name), { force: true })
  }
}

/**
 * Replaces the keys of a file that is there: readers find those before or these. One process at a time. A symbolic link stays one, and the file keeps
 * its owner: root may change the key of a service that runs as another user.
 */
export function replaceKeyFile(path: string, keys: readonly string[]): void {
  const file = realpathSync(path)
  const temporary = `${file}.new`
  rmSync(temporary, { force: true })
  // The mode of what a link leads to is the operator's: the service may read it as a member of a group.
  const mode = lstatSync(path).isSymbolicLink() ? lstatSync(file).mode & 0o777 : 0o600
  writeKeys(temporary, keys, { mode, ownerOf: file })
  renameSync(temporary, file)
  syncFolder(dirname(file))
}

export const keyFilePath = (directory: string): string => join(directory, KEY_FILE)

interface KeyFileAccess {
  readonly mode: number
  /** The file whose owner the new one gets. */
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

/** A hard link fails if the name is taken, which a rename does not. File systems without hard links get a look before the rename. */
function takeFreeName(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(code)) throw error
    if (!existsSync(to)) renameSync(from, to)
  }
}

/** A new name is on the disk only when its folder is. Not every system lets a folder be opened. */
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
    // Some file systems have nothing to do here and say so by an error.
  } finally {
    closeSync(folder)
  }
}
