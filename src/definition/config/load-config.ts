import { stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { displayPath } from '../files/file-path.ts'
import { readText } from '../files/read-text.ts'
import { CONFIG_FILE } from './config.ts'
import { type ConfigResult, readConfig } from './read-config.ts'
import type { LoadedSecrets } from './secret-guard.ts'

export interface LoadConfigOptions {
  /** The folder, absolute, where the search begins and that file names in messages are relative to. */
  readonly cwd: string
  /** The file to load instead of searching, relative to `cwd`. */
  readonly file?: string | undefined
  /** The secrets of the run. */
  readonly secrets?: LoadedSecrets | undefined
}

/** Finds and reads the config. If there is none, the config is null and the diagnostic is `config-missing`. */
export async function loadConfig({ cwd, file, secrets }: LoadConfigOptions): Promise<ConfigResult> {
  const path = file === undefined ? await findUpward(cwd, CONFIG_FILE) : resolve(cwd, file)
  if (path === null) {
    const other = await findUpward(cwd, OTHER_NAME)
    const message = `there is no ${CONFIG_FILE} in this folder or any folder above it`
    return failed(other === null ? missing(message) : missing(message, `rename ${displayPath(other, cwd)}, or name it with -c`))
  }
  const shown = displayPath(path, cwd)
  const text = await readText(path, shown, null)
  if (text.ok) return readConfig(text.text, { file: shown, folder: dirname(path), cwd, secrets })
  return failed(
    text.problem.message.endsWith('does not exist')
      ? missing(text.problem.message)
      : { severity: 'error', ...text.problem, at: { file: shown, line: 1, column: 1 } },
  )
}

/** A common mistake, for the hint. */
const OTHER_NAME = 'zonewright.yml'

const missing = (message: string, hint = 'create one with "zonewright init", or name another file with -c'): Diagnostic => ({
  severity: 'error',
  code: 'config-missing',
  message,
  hint,
})

const failed = (diagnostic: Diagnostic): ConfigResult => ({ config: null, diagnostics: [diagnostic] })

/** The file of that name in the folder or the nearest folder above it; null if there is none. */
async function findUpward(folder: string, name: string): Promise<string | null> {
  for (let at = folder; ; at = dirname(at)) {
    const path = resolve(at, name)
    if (await isFile(path)) return path
    if (dirname(at) === at) return null
  }
}

const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (stats) => stats.isFile(),
    () => false,
  )
