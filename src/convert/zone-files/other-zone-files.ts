import { open } from 'node:fs/promises'
import type { Diagnostic } from '../../dns/diagnostic.ts'

/** Files that are looked at, octets of the start of each, and those that are told by name. */
const MAX_FILES = 1000
const HEAD_OCTETS = 16_384
const TOLD = 20

/** The start of an SOA record: two names, and a parenthesis or the serial. */
const SOA = /(?:^|[ \t])SOA[ \t]+\S+[ \t]+\S+[ \t]+(?:\(|[0-9])/im

/** A word for each file that has an SOA record, and a name that does not say it is a zone file. `shown` names a path in messages. */
export async function otherZoneFiles(paths: readonly string[], shown: (path: string) => string): Promise<Diagnostic[]> {
  const found: string[] = []
  for (const path of paths.slice(0, MAX_FILES)) if (SOA.test(await headOf(path))) found.push(path)
  const diagnostics = found
    .slice(0, TOLD)
    .map((path) => leftOut(`${shown(path)} looks like a zone file and was left out, since its name does not say so`))
  if (found.length > TOLD) diagnostics.push(leftOut(`${found.length - TOLD} more files look like zone files and were left out`))
  return diagnostics
}

const leftOut = (message: string): Diagnostic => ({
  severity: 'warning',
  code: 'file-format',
  message,
  hint: 'name the file itself as the source to import it, or end its name in .zone',
})

/** The start of a file; nothing where it cannot be read, for nobody asked for it. */
async function headOf(path: string): Promise<string> {
  try {
    const file = await open(path)
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_OCTETS), 0, HEAD_OCTETS, 0)
      return buffer.toString('latin1', 0, bytesRead)
    } finally {
      await file.close()
    }
  } catch {
    return ''
  }
}
