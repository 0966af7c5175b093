/** File paths: for messages, containment and links. */
import { realpathSync } from 'node:fs'
import { isAbsolute, relative, resolve, sep } from 'node:path'

/** A path for messages: relative to `cwd`, or absolute if the path is outside `cwd` and that is shorter. Always with `/`. */
export function displayPath(path: string, cwd: string): string {
  const fromCwd = relative(cwd, path)
  const shown = fromCwd.startsWith(`..${sep}`) && path.length < fromCwd.length ? path : fromCwd
  return (shown === '' ? '.' : shown).split(sep).join('/')
}

/** The absolute path for a result of `displayPath`. */
export const fromDisplayPath = (file: string, cwd: string): string => resolve(cwd, file)

/** Whether a path is the folder or inside it. Both must be absolute; symbolic links are not resolved. */
export function isInside(path: string, folder: string): boolean {
  const inside = relative(folder, path)
  // For a path on another drive of Windows, `relative` returns an absolute path.
  return inside === '' || (inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside))
}

/** The path with symbolic links resolved; unchanged if that fails, for example because it does not exist. */
export function resolveLinks(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

const CONTROL_CHARACTERS = /[\p{Cc}\u2028\u2029]/gu

/** A path without control characters and line separators. Names are classified without them, so that such files are refused, not ignored. */
export const withoutControlCharacters = (path: string): string => path.replace(CONTROL_CHARACTERS, '')
