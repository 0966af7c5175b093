/** Finds and reads the config file. */
import { existsSync, lstatSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Diagnostic } from '../base/diagnostic.ts'
import type { Environment } from '../base/environment.ts'
import type { LoadedSecrets } from '../base/secret-guard.ts'
import { displayPath } from '../files/file-path.ts'
import { readText } from '../files/read-text.ts'
import { linkPolicy } from '../files/source-policy.ts'
import { CONFIG_FILE } from './config.ts'
import { type ConfigLocation, type ConfigResult, readConfig } from './read-config.ts'

export interface LoadConfigOptions {
  /** The folder, absolute, where the search begins and that file names in messages are relative to. */
  readonly cwd: string
  /** The variables of the process; none if absent. */
  readonly env?: Environment | undefined
  /** The file to load instead of searching, relative to `cwd`. */
  readonly file?: string | undefined
  /** The secrets of the run. */
  readonly secrets?: LoadedSecrets | undefined
  /** Whether others wrote the file: then it may not be a link. */
  readonly isForeign?: boolean | undefined
  /** The file as messages show it, and the folder that paths are relative to, if the file is a copy of another. */
  readonly place?: Pick<ConfigLocation, 'file' | 'folder'>
}

/** Finds and reads the config. If there is none, the config is null and the diagnostic is `config-missing`. */
export async function loadConfig({ cwd, env = {}, file, secrets, isForeign = false, place }: LoadConfigOptions): Promise<ConfigResult> {
  const path = file === undefined ? findUpward(cwd, CONFIG_FILE) : resolve(cwd, file)
  if (path === null) {
    const other = findUpward(cwd, MISSPELLED_CONFIG_FILE)
    const message = `there is no ${CONFIG_FILE} in ${cwd} or any folder above it`
    return failed(other === null ? configMissing(message) : configMissing(message, `rename ${displayPath(other, cwd)}, or name it with -c`))
  }
  const shown = displayPath(path, cwd)
  if (isForeign && lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
    return failed({ severity: 'error', code: 'file-unreadable', message: `${shown} is a symbolic link` })
  const text = await readText(path, shown, linkPolicy({ folder: dirname(path), env }))
  if (text.ok) return readConfig(text.text, { file: shown, folder: dirname(path), ...place, cwd, secrets })
  return failed(
    text.isMissing ? configMissing(text.problem.message) : { severity: 'error', ...text.problem, at: { file: shown, line: 1, column: 1 } },
  )
}

/** A misspelled name that the hint points out. */
const MISSPELLED_CONFIG_FILE = 'zonewright.yml'

const configMissing = (message: string, hint = 'create one with "zonewright init", or name another file with -c'): Diagnostic => ({
  severity: 'error',
  code: 'config-missing',
  message,
  hint,
})

const failed = (diagnostic: Diagnostic): ConfigResult => ({ config: null, diagnostics: [diagnostic] })

/** The file of that name in the folder or the nearest folder above it; null if there is none. */
function findUpward(folder: string, name: string): string | null {
  for (let current = folder; ; current = dirname(current)) {
    const path = resolve(current, name)
    if (existsSync(path)) return path
    if (dirname(current) === current) return null
  }
}
