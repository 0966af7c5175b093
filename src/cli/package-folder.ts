/** Finds the files of the installed package. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { embeddedText } from '../files/embedded-text.ts'

/** Returns the package's root: the nearest folder above this file with `package.json` and `schemas`. It also has `zones` and `docs`. */
export function packageFolder(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json')) && existsSync(join(folder, 'schemas'))) return folder
    if (dirname(folder) === folder)
      throw new Error(`no folder above ${fileURLToPath(import.meta.url)} has package.json and schemas: reinstall zonewright`)
  }
}

/** The text of a file of the package. */
export const packageText = (path: string): string => embeddedText(path) ?? readFileSync(join(packageFolder(), path), 'utf8')
