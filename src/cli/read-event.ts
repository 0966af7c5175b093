/** Reads the file in which GitHub describes the event of a job. */
import { readFileSync, statSync } from 'node:fs'
import { failure, ok, type Result } from '../base/result.ts'

/** Maximum octets of the file. GitHub sends at most 25 MB. */
const MAX_EVENT = 32 * 1024 * 1024

export function readEvent(path: string): Result<string> {
  try {
    const { size } = statSync(path)
    return size > MAX_EVENT ? failure(`has ${size} octets`) : ok(readFileSync(path, 'utf8'))
  } catch (error) {
    return failure(`cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`)
  }
}
