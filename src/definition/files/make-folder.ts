import { lstatSync, mkdirSync, rmdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileError } from './file-error.ts'

/**
 * Makes a folder (absolute) and those above it that are not there; gives those it made, the outermost first. Throws the system's error, `ENOTDIR`
 * where something else has the name, `EDANGLING`, or `ENOFOLDER` where the system says that there is nothing and yet lets nothing be made, as in /proc: there
 * `mkdir` of Node with `recursive` tries for ever.
 */
export function makeFolder(folder: string, mode = 0o777): string[] {
  const missing: string[] = []
  for (let path = folder; !isFolder(path); path = dirname(path)) missing.unshift(path)
  const made: string[] = []
  try {
    for (const path of missing) if (makeOne(path, mode)) made.push(path)
  } catch (error) {
    removeFolders(made)
    throw error
  }
  return made
}

/** Removes those of the folders that are empty, the innermost first. */
export function removeFolders(folders: readonly string[]): void {
  for (const path of folders.toReversed()) {
    try {
      rmdirSync(path)
    } catch {
      // Somebody has something in it.
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

/** False where somebody else has made it meanwhile. */
function makeOne(path: string, mode: number): boolean {
  try {
    mkdirSync(path, { mode })
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && isFolder(path)) return false
    throw code === 'ENOENT' ? fileError('ENOFOLDER', error) : error
  }
}
