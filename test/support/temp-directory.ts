import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEveryFile } from './after-file.ts'

const made: string[] = []

afterEveryFile(() => {
  for (const path of made.splice(0)) rmSync(path, { recursive: true, force: true, maxRetries: 3 })
})

/** An empty directory of its own, gone when the test file is done. The path is short enough for a UNIX socket below it. */
export function temporaryDirectory(): string {
  const path = mkdtempSync(join(realpathSync(tmpdir()), 'zonewright-'))
  made.push(path)
  return path
}
