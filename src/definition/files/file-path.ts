import { realpathSync } from 'node:fs'
import { isAbsolute, relative, resolve, sep } from 'node:path'

/** A path as messages name it: from the working directory, or from the root where that is shorter, with `/`. */
export function displayPath(path: string, cwd: string): string {
  const way = relative(cwd, path)
  const shown = way.startsWith(`..${sep}`) && path.length < way.length ? path : way
  return (shown === '' ? '.' : shown).split(sep).join('/')
}

/** The absolute path of a name that `displayPath` gave. */
export const fromDisplayPath = (file: string, cwd: string): string => resolve(cwd, file)

/** Whether a path is the folder or in it. Both must be absolute; symbolic links are not looked at. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}

/** The path with symbolic links resolved; as it is where it does not exist. */
export function resolveLinks(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
