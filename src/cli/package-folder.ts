/** Finds the files of the installed package. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder the package is installed in, with `zones`, `schemas` and `docs` beside the program. */
export function packageFolder(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json')) && existsSync(join(folder, 'schemas'))) return folder
    if (dirname(folder) === folder) throw new Error('the package folder is not where the program is')
  }
}
