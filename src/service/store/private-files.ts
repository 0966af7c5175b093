/**
 * Restricts files (mode 0600) and folders (mode 0700) to their owner, regardless of the umask and their previous mode. It never opens
 * existing files, because closing one would release the locks that SQLite has on it in this process (POSIX fcntl).
 */
import { chmodSync, closeSync, existsSync, fchownSync, lstatSync, mkdirSync, openSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { homedir, tmpdir, userInfo } from 'node:os'
import { dirname, join, sep } from 'node:path'

/** Reports a file or folder that other users could read: its path and previous mode, and what was done. */
export type WarnAboutMode = (found: { readonly path: string; readonly mode: string }, message: string) => void

export const NO_WARNING: WarnAboutMode = () => undefined

/** The names of the service's own files in a data folder. */
const SERVICE_FILE =
  /^(?:service\.(?:db|lock)(?:-(?:wal|shm|journal))?|service\.db\.part(?:-(?:wal|shm|journal))?|service\.pid|secrets\.key.*|rotation\.lock|query-counts\.json(?:\.new)?)$/

/** The name of the SQLite database in a data folder. */
export const DATABASE_FILE = 'service.db'

/** The name of the image folder in a data folder. */
const IMAGE_FOLDER = 'images'

const OTHERS = 0o077
const EVERYONE_WRITES = 0o002

/**
 * Creates a folder if necessary and restricts it to its owner. A shared folder (a system or home folder, or another user's) keeps its
 * mode, with a warning. Throws a `RangeError` if every user may write to it, and the system's error if it cannot be created.
 */
export function privateFolder(path: string, warn: WarnAboutMode): void {
  makeFolder(path)
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

/** Creates an empty private file if it does not exist. If root creates it, it gets the owner of the file `ownerOf`. */
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
  // The umask may have removed even the owner's permissions.
  chmodSync(path, 0o600)
}

/** Gives a new file (a descriptor) the owner of another file. Does nothing unless the process runs as root. */
export function keepOwner(file: number, ownerOf: string): void {
  if (process.geteuid?.() !== 0) return
  const { uid, gid } = statSync(ownerOf)
  fchownSync(file, uid, gid)
}

/** Restricts a file to its owner, if it exists. The target of a symbolic link keeps its mode, because it may belong to anyone. */
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

/** Restricts the service's own files in a data folder. Throws a `RangeError` if a database file is a symbolic link, because SQLite would write its other files next to the target. */
export function tightenServiceFiles(folder: string, warn: WarnAboutMode): void {
  for (const name of readdirSync(folder).sort()) {
    if (!SERVICE_FILE.test(name)) continue
    const path = join(folder, name)
    if (name.startsWith('service.') && lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
      throw new RangeError(`${path} is a symbolic link: name the folder that it leads to with --data`)
    tightenFile(path, warn)
  }
}

const octal = (mode: number): string => (mode & 0o7777).toString(8).padStart(4, '0')

/** System folders (Filesystem Hierarchy Standard 3.0, macOS). They may be empty, so they are recognized by name. */
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

/** Why a folder (without symbolic links) is shared with other uses; null if it does not seem to be. */
export function sharedFolderReason(folder: string): string | null {
  if (dirname(folder) === folder || SYSTEM_FOLDERS.has(folder)) return 'it is a folder of the system'
  if (isAtOrBelow(realPath(tmpdir()), folder)) return 'it is the folder of temporary files'
  const homes = homeFolders()
  // The home folder of a dedicated service user is often the data folder.
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
    // The user has no passwd entry, as in many containers.
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
 * Creates a folder with mode 0700, and its missing parents. Throws the system's error. Node's recursive `mkdir` is not used because it loops
 * forever where nothing exists and nothing can be created, for example in /proc.
 */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && statSync(path, { throwIfNoEntry: false })?.isDirectory()) return
    if (code !== 'ENOENT' || existsSync(dirname(path))) throw error
    makeFolder(dirname(path))
    makeFolder(path)
  }
}
