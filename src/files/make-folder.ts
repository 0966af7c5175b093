/** Creates folders with their parents. */
import { lstatSync, mkdirSync, rmdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileError } from './file-error.ts'

/**
 * Creates a folder (absolute) with its missing parents and returns the folders it created, outermost first. Throws the system's error, `ENOTDIR` if
 * something else has the name, `EDANGLING`, or `ENOFOLDER` if nothing can be created there, as in /proc, where Node's recursive `mkdir` never returns.
 */
export function makeFolder(folder: string, mode = 0o777): string[] {
  const missing: string[] = []
  for (let path = folder; !isFolder(path); path = dirname(path)) missing.unshift(path)
  const created: string[] = []
  try {
    for (const path of missing) if (createOne(path, mode)) created.push(path)
  } catch (error) {
    removeFolders(created)
    throw error
  }
  return created
}

/** Removes the folders that are empty. They come outermost first. */
export function removeFolders(folders: readonly string[]): void {
  for (const path of folders.toReversed()) {
    try {
      rmdirSync(path)
    } catch {
      // It is not empty.
    }
  }
}

function isFolder(path: string): boolean {
  const facts = statSync(path, { throwIfNoEntry: false })
  if (facts?.isDirectory()) return true
  if (facts !== undefined || dirname(path) === path) throw fileError('ENOTDIR')
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) throw fileError('EDANGLING')
  return false
}

/** False if another process has just created it. */
function createOne(path: string, mode: number): boolean {
  try {
    mkdirSync(path, { mode })
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && isFolder(path)) return false
    throw code === 'ENOENT' ? fileError('ENOFOLDER', error) : error
  }
}
