import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

declare const __VERSION__: string | undefined

/** The version of the package; `0.0.0-source` when the source runs without having been bundled. */
export const VERSION: string = typeof __VERSION__ === 'string' ? __VERSION__ : '0.0.0-source'

/** Program and version, as plans and journals name it. */
export const TOOL = `zonewright ${VERSION}`

/** The folder the package is installed in, with `zones`, `schemas` and `docs` beside the program. */
export function packageFolder(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json')) && existsSync(join(folder, 'schemas'))) return folder
    if (dirname(folder) === folder) throw new Error('the package folder is not where the program is')
  }
}
