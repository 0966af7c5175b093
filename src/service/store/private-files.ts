/**
 * Files and folders that only their owner can read: files have mode 0600, folders 0700, whatever the umask and whatever they had before. Files are never
 * opened for this: closing one would end the locks that SQLite holds on it in this process (POSIX fcntl).
 */
import { chmodSync, closeSync, existsSync, fchownSync, lstatSync, mkdirSync, openSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { homedir, tmpdir, userInfo } from 'node:os'
import { dirname, join, sep } from 'node:path'

/** Reports one file or folder that others could read: its path and former mode, and what was done about it. */
export type WarnAboutMode = (found: { readonly path: string; readonly mode: string }, message: string) => void

export const NO_WARNING: WarnAboutMode = () => undefined

/** Names in a data directory that the service gives. */
const SERVICE_FILE =
  /^(?:service\.(?:db|lock)(?:-(?:wal|shm|journal))?|service\.db\.part(?:-(?:wal|shm|journal))?|service\.pid|secrets\.key.*|rotation\.lock)$/

/** The name of the SQLite database in a data directory. */
export const DATABASE_FILE = 'service.db'

/** The folder of images in a data directory. */
export const IMAGE_FOLDER = 'images'

const OTHERS = 0o077
const EVERYONE_WRITES = 0o002

/**
 * Makes a folder unless it is there, and closes it to others. A folder that is not the service's alone (a system or home folder, or one of another
 * user) keeps its mode, with a warning. Throws a `RangeError` if every user may write to such a folder, and the system's error if there can be none.
 */
export function privateFolder(path: string, warn: WarnAboutMode): void {
  makeDirectory(path)
  if (process.platform === 'win32') return
  const { mode, uid } = statSync(path)
  if ((mode & OTHERS) === 0) return
  const shared = uid === process.geteuid?.() ? sharedFolderReason(realpathSync(path)) : 'it belongs to another user'
  const found = { path, mode: octal(mode) }
  if (shared === null) {
    chmodSync(path, 0o700)
    warn(found, 'folder was open to other users; its mode is 0700 now')
    return
  }
  if ((mode & EVERYONE_WRITES) !== 0)
    throw new RangeError(
      `every user may write to ${path}, and ${shared}: give the service a folder of its own, such as ${join(path, 'zonewright')}`,
    )
  warn(found, `folder is open to other users and keeps its mode: ${shared}; give the service a folder of its own`)
}

/** Makes an empty file that only its owner can read, unless there is one. Made by root, it belongs to the owner of the file `ownerOf`. */
export function createPrivateFile(path: string, ownerOf?: string): void {
  let file: number
  try {
    file = openSync(path, 'wx', 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return
  }
  try {
    if (ownerOf !== undefined) keepOwner(file, ownerOf)
  } finally {
    closeSync(file)
  }
  // A umask may have taken even the owner's rights.
  chmodSync(path, 0o600)
}

/** Gives a new file, by its descriptor, the owner of another one. Only root can; for other users the new file stays theirs. */
export function keepOwner(file: number, ownerOf: string): void {
  if (process.geteuid?.() !== 0) return
  const { uid, gid } = statSync(ownerOf)
  fchownSync(file, uid, gid)
}

/** Closes a file to others; nothing if there is none. What a symbolic link leads to may be anybody's, and keeps its mode. */
export function tightenFile(path: string, warn: WarnAboutMode): void {
  const facts = lstatSync(path, { throwIfNoEntry: false })
  if (facts === undefined || process.platform === 'win32') return
  if (!facts.isFile() || (facts.mode & OTHERS) === 0) return
  const found = { path, mode: octal(facts.mode) }
  try {
    chmodSync(path, 0o600)
    warn(found, 'file was readable or writable for other users; its mode is 0600 now')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error
    warn(found, 'file is readable or writable for other users and belongs to another user: its mode cannot be changed')
  }
}

/** Closes the service's own files in a data directory to others. Throws a `RangeError` if a database is a symbolic link: SQLite would write beside what it leads to. */
export function tightenServiceFiles(directory: string, warn: WarnAboutMode): void {
  for (const name of readdirSync(directory).sort()) {
    if (!SERVICE_FILE.test(name)) continue
    const path = join(directory, name)
    if (name.startsWith('service.') && lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
      throw new RangeError(`${path} is a symbolic link: name the folder that it leads to with --data`)
    tightenFile(path, warn)
  }
}

const octal = (mode: number): string => (mode & 0o7777).toString(8).padStart(4, '0')

/** Folders of the system (Filesystem Hierarchy Standard 3.0, macOS) that may be empty, so that their content says nothing. */
const SYSTEM_FOLDERS: ReadonlySet<string> = new Set(
  [
    'bin boot dev etc home lib lib32 lib64 libx32 media mnt opt proc root run sbin snap srv sys tmp usr var',
    'usr/bin usr/include usr/lib usr/lib64 usr/libexec usr/local usr/sbin usr/share usr/src',
    'usr/local/bin usr/local/etc usr/local/lib usr/local/sbin usr/local/share usr/local/var',
    'var/backups var/cache var/db var/empty var/lib var/local var/lock var/log var/mail var/opt var/run var/spool var/tmp',
    'run/lock run/user dev/shm etc/opt',
    'Applications Library System Users Users/Shared Volumes private private/etc private/tmp private/var',
  ]
    .flatMap((paths) => paths.split(' '))
    .map((path) => `/${path}`),
)

/** Why a folder (without symbolic links) is used by others too; null if nothing says so. */
export function sharedFolderReason(folder: string): string | null {
  if (dirname(folder) === folder || SYSTEM_FOLDERS.has(folder)) return 'it is a folder of the system'
  if (isAtOrBelow(realPath(tmpdir()), folder)) return 'it is the folder of temporary files'
  const homes = homeFolders()
  // A user that exists for the service alone often has the data directory for a home folder.
  if (homes.includes(folder)) return isOnlyServiceFiles(folder) ? null : 'it is a home folder'
  return homes.some((home) => isAtOrBelow(home, folder)) ? 'it is above a home folder' : null
}

const isOnlyServiceFiles = (folder: string): boolean =>
  readdirSync(folder).every((name) => name === IMAGE_FOLDER || SERVICE_FILE.test(name))

const isAtOrBelow = (path: string, folder: string): boolean => path === folder || path.startsWith(folder + sep)

function homeFolders(): string[] {
  const homes = [homedir()]
  try {
    homes.push(userInfo().homedir)
  } catch {
    // The user is in no list of users, as in many containers.
  }
  return homes.map(realPath)
}

function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/**
 * Makes a directory, for its owner alone, and those above it that are not there. Throws the system's error: `mkdir` of Node with `recursive` tries for
 * ever where the system says that there is nothing and yet lets nothing be made, as in /proc.
 */
export function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && statSync(path, { throwIfNoEntry: false })?.isDirectory()) return
    if (code !== 'ENOENT' || existsSync(dirname(path))) throw error
    makeDirectory(dirname(path))
    makeDirectory(path)
  }
}
