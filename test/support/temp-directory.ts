import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEveryFile } from './after-file.ts'

const made: string[] = []

afterEveryFile(() => {
  for (const path of made.splice(0)) rmSync(path, { recursive: true, force: true, maxRetries: 3 })
})

/** Creates an empty directory, which is removed at the end of the test file. Its path is short enough for a UNIX socket in it. */
export function temporaryDirectory(): string {
  const path = mkdtempSync(join(realpathSync(tmpdir()), 'zonewright-'))
  made.push(path)
  return path
}
