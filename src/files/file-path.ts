/** File paths: for messages, containment and links. */
import { realpathSync } from 'node:fs'
import { isAbsolute, relative, resolve, sep } from 'node:path'

/** Like `relative` of Node.js, but faster for most paths below the folder. Both must be absolute. */
export function relativePath(folder: string, path: string): string {
  const isBelow = path[folder.length] === sep && path.startsWith(folder) && !folder.endsWith(sep) && !UNUSUAL.test(path)
  return isBelow ? path.slice(folder.length + 1) : relative(folder, path)
}

/** A path with such parts may not be normalized, or be hidden. */
const UNUSUAL = /[\\/](?:[.\\/]|$)/

/** A path for messages: relative to `cwd`, or absolute if the path is outside `cwd` and that is shorter. Always with `/`. */
export function displayPath(path: string, cwd: string): string {
  const fromCwd = relativePath(cwd, path)
  const shown = fromCwd.startsWith(`..${sep}`) && path.length < fromCwd.length ? path : fromCwd
  return withSlashes(shown === '' ? '.' : shown)
}

/** A relative path with `/` between its parts. */
export const withSlashes = (path: string): string => (sep === '/' ? path : path.split(sep).join('/'))

/** The absolute path for a result of `displayPath`. */
export const fromDisplayPath = (file: string, cwd: string): string => resolve(cwd, file)

/** Whether a path is the folder or inside it. Both must be absolute; symbolic links are not resolved. */
export function isInside(path: string, folder: string): boolean {
  const inside = relativePath(folder, path)
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
