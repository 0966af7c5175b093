import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

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
