/** Finds the packages of this program. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of a package in the nearest `node_modules` at or above this program, where Node.js finds it; null if there is none. Runs nothing of it. */
export function installedPackage(name: string): string | null {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const found = join(folder, 'node_modules', name)
    if (existsSync(found)) return found
    if (dirname(folder) === folder) return null
  }
}
