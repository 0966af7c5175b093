/** The Python in which octoDNS and its providers are installed: `octodns-sync` is on the PATH, in the folder ZONEWRIGHT_OCTODNS, or where our script installs it. */
import { execFileSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findTool } from './tools.ts'

const SCRIPT = fileURLToPath(new URL('../../scripts/install-octodns.sh', import.meta.url))

function findFolder(): string {
  const { ZONEWRIGHT_OCTODNS: named } = process.env
  if (named !== undefined) return named
  const program = findTool('octodns-sync')
  return program === null ? execFileSync('bash', [SCRIPT], { encoding: 'utf8' }).trim() : dirname(program)
}

const folder = findFolder()

/** The path of the interpreter; a name that no program has if octoDNS is not installed. */
export const OCTODNS_PYTHON: string = folder === '' ? 'python3-with-octodns' : join(folder, 'python3')
