import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A journal belongs to one checkout and contains zone data, so it is kept out of the repository. */
export function keepOutOfGit(journal: string): void {
  try {
    writeFileSync(join(journal, '.gitignore'), '*\n', { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
