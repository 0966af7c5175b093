/** Follows a path to the file that a write would create or replace. */
import { lstatSync, realpathSync, type Stats, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileError } from './file-error.ts'
import { isInside } from './file-path.ts'

/** The file that a write creates or replaces. */
export interface WriteTarget {
  /** The absolute path of the file, which is no symbolic link. */
  readonly path: string
  /** The facts of the existing file; null if there is none. */
  readonly facts: Stats | null
}

/**
 * Finds the file to write for an absolute path, and follows symbolic links. If `folder` (absolute, without links) is given, the file must be inside it.
 * Throws the system's error; `EISDIR` or `ENOTFILE` for a folder, device or pipe, `EDANGLING` for a link to nothing, or `EOUTSIDE`.
 */
export function findWriteTarget(path: string, folder: string | null = null): WriteTarget {
  const own = lstatSync(path, { throwIfNoEntry: false })
  if (own === undefined) return { path: checkInside(join(realFolder(dirname(path)), basename(path)), folder), facts: null }
  const facts = statSync(path, { throwIfNoEntry: false })
  if (facts === undefined) throw fileError('EDANGLING')
  if (facts.isDirectory()) throw fileError('EISDIR')
  if (!facts.isFile()) throw fileError('ENOTFILE')
  return { path: checkInside(realpathSync(path), folder), facts }
}

/** The path with the links in its existing part resolved. Throws the system's error. */
export function realFolder(path: string): string {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return realpathSync(path)
  const parent = dirname(path)
  return parent === path ? path : join(realFolder(parent), basename(path))
}

function checkInside(path: string, folder: string | null): string {
  if (folder !== null && !isInside(path, folder)) throw fileError('EOUTSIDE')
  return path
}
