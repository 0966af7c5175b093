import { chmodSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** What is in the folder of a journal. */
const OWN_NAMES: ReadonlySet<string> = new Set(['runs', 'locks', '.gitignore'])

const OTHERS = 0o077

/**
 * Closes a journal to other users, whatever modes it had: folders get 0700, files 0600. Gives the paths of those that were open. The folder of the journal
 * itself may be any that the config names: it changes only if it holds nothing else. Throws the system's error.
 */
export function tightenJournal(journal: string): readonly string[] {
  if (process.platform === 'win32' || !isFolder(journal)) return []
  const parts = ['locks', 'runs'].map((name) => join(journal, name)).filter(isFolder)
  const isAlone = parts.length > 0 && readdirSync(journal).every((name) => OWN_NAMES.has(name))
  return [...(isAlone ? tightenOne(journal) : []), ...parts.flatMap((part) => (isOpen(part) ? tightenAll(part) : []))]
}

function tightenAll(path: string): string[] {
  const changed = tightenOne(path)
  if (isFolder(path)) for (const name of readdirSync(path).sort()) changed.push(...tightenAll(join(path, name)))
  return changed
}

function tightenOne(path: string): string[] {
  const facts = lstatSync(path, { throwIfNoEntry: false })
  if (facts === undefined || (facts.mode & OTHERS) === 0 || !(facts.isFile() || facts.isDirectory())) return []
  try {
    chmodSync(path, facts.isDirectory() ? 0o700 : 0o600)
  } catch (error) {
    // Another run has ended, or the file belongs to another user.
    if (!['ENOENT', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    return []
  }
  return [path]
}

const isFolder = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true

const isOpen = (path: string): boolean => ((lstatSync(path, { throwIfNoEntry: false })?.mode ?? 0) & OTHERS) !== 0
