import type { WrittenFiles } from '../definitions/write-new-files.ts'
import type { ExchangedFile } from '../model/exchange.ts'
import type { Console } from './console.ts'
import { writeFault } from './write-fault.ts'

/** Names what was written on standard output, and what was not and why. Says whether all of it was. */
export function reportWritten(
  console: Console,
  { written, inTheWay, failed }: WrittenFiles,
  files: readonly ExchangedFile[],
  shown: (path: string) => string,
): boolean {
  console.print(written.map((path) => `${shown(path)}\n`).join(''))
  console.diagnostics(
    inTheWay.map((path) => ({
      severity: 'error',
      code: 'file-exists',
      message: `${shown(path)} is there already`,
      hint: '--force replaces files that are there',
    })),
  )
  if (inTheWay.length > 0) {
    console.say('Nothing was written.')
    return false
  }
  if (failed === null) return true
  const isThere = (failed.error as NodeJS.ErrnoException).code === 'EEXIST'
  const path = shown(failed.path)
  console.diagnostics([
    isThere ? { severity: 'error', code: 'file-exists', message: `${path} has come into being meanwhile` } : writeFault(failed.error, path),
  ])
  const done = new Set(written)
  const left = files.filter((file) => !done.has(file.path)).map((file) => shown(file.path))
  console.say(written.length === 0 ? 'Nothing was written.' : `Not written: ${left.join(', ')}.`)
  return false
}
