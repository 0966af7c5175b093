/** Finds the file to write for a path. */
import { lstatSync, realpathSync, type Stats, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileError } from './file-error.ts'
import { isInside } from './file-path.ts'

/** The destination of a text. */
export interface WriteTarget {
  /** Absolute, without a symbolic link at its end. */
  readonly path: string
  /** Of the existing file; null if there is none. */
  readonly facts: Stats | null
}

/**
 * Finds the file to write for an absolute path. A symbolic link is followed; if `folder` (absolute, without links) is given, the file must be inside it.
 * Throws the system's error, or `EISDIR`, `ENOTFILE`, `EDANGLING`, `EOUTSIDE`: no folder, device or pipe is ever replaced.
 */
export function writeTarget(path: string, folder: string | null = null): WriteTarget {
  const own = lstatSync(path, { throwIfNoEntry: false })
  if (own === undefined) return { path: checkInside(join(realFolder(dirname(path)), basename(path)), folder), facts: null }
  const facts = statSync(path, { throwIfNoEntry: false })
  if (facts === undefined) throw fileError('EDANGLING')
  if (facts.isDirectory()) throw fileError('EISDIR')
  if (!facts.isFile()) throw fileError('ENOTFILE')
  return { path: checkInside(realpathSync(path), folder), facts }
}

/** Resolves the links in the part of the path that exists. Throws the system's error. */
export function realFolder(path: string): string {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return realpathSync(path)
  const parent = dirname(path)
  return parent === path ? path : join(realFolder(parent), basename(path))
}

function checkInside(path: string, folder: string | null): string {
  if (folder !== null && !isInside(path, folder)) throw fileError('EOUTSIDE')
  return path
}
