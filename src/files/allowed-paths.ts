/** The files that a config may name: in CI, where a pull request may have written it, none outside its folder unless the environment allows it. */
import { delimiter, isAbsolute } from 'node:path'
import { type Environment, isCi } from '../base/environment.ts'
import { isInside } from './file-path.ts'
import { realFolder } from './write-target.ts'

/** The variable with the files and folders that a config may name besides those in its own folder: absolute paths, separated as in PATH. */
export const ALLOWED_PATHS = 'ZONEWRIGHT_ALLOWED_PATHS'

/** The folder of the config, absolute, and the variables of the process. */
export interface PathScope {
  readonly folder: string
  readonly env: Environment
}

/** Why a config must not name an absolute path, worded to follow it; null if it may, as everywhere but in CI or with the variable set. Links are resolved. */
export function refusedPath(path: string, { folder, env }: PathScope): string | null {
  const list = env[ALLOWED_PATHS]
  if (list === undefined && !isCi(env)) return null
  const allowed = [folder, ...(list ?? '').split(delimiter).filter(isAbsolute)]
  const real = realPath(path)
  return allowed.some((one) => isInside(real, realPath(one)))
    ? null
    : `is outside the config folder, links resolved, and not in ${ALLOWED_PATHS}`
}

/** A path with links resolved in the part that exists. What cannot be resolved, such as a link that leads nowhere, stands for the root, which is in no other folder. */
export function realPath(path: string): string {
  try {
    return realFolder(path)
  } catch {
    return '/'
  }
}
