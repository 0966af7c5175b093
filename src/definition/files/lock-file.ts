/**
 * A lock is a folder with one file in it that says who holds it. The file's name is its holder's alone.
 *
 * Taken: the folder is made elsewhere, with its file, and renamed to its place. A rename replaces an empty folder and fails on one that is not empty
 * (POSIX rename), so that one of many wins and nobody sees a lock without its holder.
 *
 * Taken over: the file of a dead holder is removed by its name, which leaves an empty folder that the next rename replaces. Whoever does so late
 * removes nothing, since the file of a living holder has another name. So there are never two winners, and no lock on the lock is needed.
 *
 * Released: the own file is removed, then the folder if it is empty.
 */
import { createHash, randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmdirSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type ProcessIdentity, processStatus } from './process-identity.ts'

/** What a lock says of its holder. */
export interface LockHolder extends ProcessIdentity {
  /** ISO 8601, UTC. */
  readonly since: string
  /** What runs: `apply` or `rollback`. */
  readonly command: string
  readonly run: string
}

export type TakenLock =
  | { readonly state: 'taken'; readonly release: () => void }
  /** `holder` is null where what the lock says of it cannot be read. */
  | { readonly state: 'held'; readonly holder: LockHolder | null; readonly path: string }

/** Times a lock is looked at anew because it changed hands just then. */
const ATTEMPTS = 50

/** Octets that are read of what another process wrote. */
const MAX_HOLDER_OCTETS = 4096

/** The path of the lock of a zone at a target: a name that can be read, and that no other zone and target has on any file system. */
export function lockPath(folder: string, zone: string, target: string): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([zone, target]))
    .digest('hex')
    .slice(0, 16)
  const readable = `${zone.replace(/\.$/, '')}@${target}`.replace(/[^a-z0-9.@_-]/g, '_').slice(0, 100)
  return join(folder, `${readable}-${hash}.lock`)
}

/**
 * Takes a lock, or says who holds it. One of a holder that nothing can be known of is left behind after `longest` milliseconds, for what never lasts so
 * long. Throws the system's error where the folder cannot be written.
 */
export function takeLock(path: string, holder: LockHolder, longest = Number.POSITIVE_INFINITY): TakenLock {
  const name = `${holder.pid}-${randomBytes(8).toString('hex')}`
  const made = join(path, '..', `.${name}`)
  mkdirSync(made, { mode: 0o700 })
  try {
    writeFileSync(join(made, name), `${JSON.stringify(holder)}\n`, { mode: 0o600 })
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      if (isMoved(made, path)) return { state: 'taken', release: () => releaseLock(path, name) }
      const other = readHolder(path)
      if (other === null) continue
      const owner = other.holder === null ? 'elsewhere' : processStatus(other.holder, holder)
      const isLeft = owner === 'elsewhere' && lstatSync(join(made, name)).mtimeMs - other.written > longest
      if (owner !== 'dead' && !isLeft) return { state: 'held', holder: other.holder, path }
      removeIfThere(() => unlinkSync(join(path, other.file)))
    }
    return { state: 'held', holder: null, path }
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}

/** Whether the folder could take its place. */
function isMoved(from: string, to: string): boolean {
  try {
    // Where a rename replaces no folder at all, an empty one is removed first; one that is not empty stays.
    if (process.platform === 'win32') removeIfThere(() => rmdirSync(to))
    renameSync(from, to)
    return true
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === 'ENOTEMPTY' || code === 'EEXIST' || (code === 'EPERM' && process.platform === 'win32')) return false
    throw error
  }
}

function releaseLock(path: string, name: string): void {
  removeIfThere(() => unlinkSync(join(path, name)))
  removeIfThere(() => rmdirSync(path))
}

/** Removes what may be gone, or in another's hands, already. */
function removeIfThere(remove: () => void): void {
  try {
    remove()
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST', 'EPERM', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}

/** The holder's file and what it says, null where that is not to be understood; null where nobody holds the lock any more. */
function readHolder(path: string): { readonly file: string; readonly holder: LockHolder | null; readonly written: number } | null {
  try {
    const file = readdirSync(path)[0]
    if (file === undefined) return null
    const { mtimeMs: written } = lstatSync(join(path, file))
    return { file, holder: parseHolder(beginningOf(join(path, file))), written }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** The first octets of a file, as text; empty for what is no file. Opening a named pipe does not wait for somebody to write into it. */
function beginningOf(path: string): string {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    if (!fstatSync(file).isFile()) return ''
    const octets = Buffer.alloc(MAX_HOLDER_OCTETS)
    return octets.toString('utf8', 0, readSync(file, octets, 0, MAX_HOLDER_OCTETS, 0))
  } finally {
    closeSync(file)
  }
}

function parseHolder(text: string): LockHolder | null {
  try {
    const value = JSON.parse(text) as Readonly<Record<string, unknown>>
    const isText = (key: string): boolean => typeof value[key] === 'string'
    const isTextOrNull = (key: string): boolean => value[key] === null || isText(key)
    const isComplete =
      Number.isSafeInteger(value['pid']) &&
      (value['pid'] as number) > 0 &&
      ['host', 'since', 'command', 'run'].every(isText) &&
      ['started', 'machine', 'boot', 'namespace'].every(isTextOrNull)
    return isComplete ? (value as unknown as LockHolder) : null
  } catch {
    return null
  }
}
