/** The folder of a journal: closed to other users, and kept out of git. */
import { chmodSync, lstatSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The names in the folder of a journal. */
const FOLDERS = ['runs', 'leases', 'quarantine', 'stages', 'cutovers', 'locks'] as const
const isJournalName = (name: string): boolean =>
  (FOLDERS as readonly string[]).includes(name) || name === '.gitignore' || /^fences\.[0-9]+$/.test(name)

/** Permissions of the group and of other users. */
const OTHERS = 0o077

/**
 * Closes a journal to other users: folders get mode 0700, files 0600. Returns the paths that were open. The folder of the journal itself, which the config
 * names, is changed only if it contains nothing else. Throws the system's error.
 */
export function tightenJournal(journal: string): readonly string[] {
  if (process.platform === 'win32' || !isFolder(journal)) return []
  const names = readdirSync(journal)
  const parts = names
    .filter((name) => isJournalName(name) && name !== '.gitignore')
    .sort()
    .map((name) => join(journal, name))
  const isAlone = parts.length > 0 && names.every(isJournalName)
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
    // Another run removed the file, or it belongs to another user.
    if (!['ENOENT', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    return []
  }
  return [path]
}

const isFolder = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true

const isOpen = (path: string): boolean => ((lstatSync(path, { throwIfNoEntry: false })?.mode ?? 0) & OTHERS) !== 0

export function keepOutOfGit(journal: string): void {
  try {
    writeFileSync(join(journal, '.gitignore'), '*\n', { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
