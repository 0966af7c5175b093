/** Finds programs. In CI a pull request may have written everything in the checkout, so nothing there is run. */
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { basename, delimiter, dirname, isAbsolute, join, resolve } from 'node:path'
import { isCi } from '../base/environment.ts'
import { type PathScope, realPath } from './allowed-paths.ts'
import { isInside } from './file-path.ts'

/** Whether a program, package or folder of modules (an absolute path) must not be run because it is in the checkout that a CI job works on. */
export function isUntrusted(path: string, { folder, env }: PathScope): boolean {
  if (!isCi(env)) return false
  const checkouts = [folder, repositoryOf(folder), env['GITHUB_WORKSPACE'] ?? '', env['CI_PROJECT_DIR'] ?? ''].filter(isAbsolute)
  // The interpreter of a virtual environment is a link, and the folder with the link decides which modules it finds.
  const places = [realPath(path), join(realPath(dirname(path)), basename(path))]
  return checkouts.some((checkout) => places.some((place) => isInside(place, realPath(checkout))))
}

/**
 * The outermost folder with a repository at or above a folder, up to `top`: a pull request can add a submodule, and with it an inner one. The folder itself
 * without any.
 */
export function repositoryOf(folder: string, top?: string): string {
  let found = folder
  for (let current = folder; ; current = dirname(current)) {
    if (existsSync(join(current, '.git'))) found = current
    if (current === top || dirname(current) === current) return found
  }
}

/** The folders of Debian's name servers, which are not always on the PATH. */
const MORE_FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/sbin', '/usr/bin', '/bin']

/** The folders of a list, separated as in PATH, in which programs or modules may be looked up. Relative ones would be in the folder that the run works on. */
export const trustedFolders = (list: string, scope: PathScope): string[] =>
  list.split(delimiter).filter((folder) => isAbsolute(folder) && !isUntrusted(folder, scope))

/** The folders with programs. */
export const programFolders = (scope: PathScope): string[] => [
  ...new Set([...trustedFolders(scope.env['PATH'] ?? '', scope), ...MORE_FOLDERS]),
]

/** Why a program is not run, worded to follow its name. */
export const NO_PROGRAM = 'is not installed, cannot be executed, or is in the checkout of a CI job'

/** The absolute path of a program; null if it does not exist, cannot be executed, or is in the checkout of a CI job. A name with a slash is relative to the folder of the config. */
export function findProgram(program: string, scope: PathScope): string | null {
  const candidates = program.includes('/') ? [resolve(scope.folder, program)] : programFolders(scope).map((folder) => join(folder, program))
  return candidates.find((path) => isExecutable(path) && !isUntrusted(path, scope)) ?? null
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
