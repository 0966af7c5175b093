/** Writes several files, all of them or as few as possible after an error. */
import { readFileSync } from 'node:fs'
import { dirname, isAbsolute, join, sep } from 'node:path'
import { assertNoSecret, type LoadedSecrets } from '../base/secret-guard.ts'
import { fileError } from './file-error.ts'
import { resolveLinks } from './file-path.ts'
import { hasLock, lockFolders, type Writer } from './locks.ts'
import { makeFolder, removeFolders } from './make-folder.ts'
import { type FileChange, modeOf, type WriteOutcome, writeChanges, writeFailure } from './replace-files.ts'
import { cleanAtExit, removeDeadTemporaries } from './temporary-file.ts'
import { findWriteTarget, type WriteTarget } from './write-target.ts'

/** A file of definitions. `path` is relative to the folder it is written to, with `/`. */
export interface OutputFile {
  readonly path: string
  readonly text: string
  /** The text of an existing file that may be replaced. */
  readonly replaces?: string | undefined
}

export interface WriteFilesOptions extends Writer {
  /** Whether existing files are replaced. */
  readonly overwrite: boolean
  /** The secrets of the run, which must not be written. */
  readonly secrets: LoadedSecrets
}

/** Writes files below a folder, which is created if needed. Throws `SecretExposed` instead of writing a secret. */
export async function writeFiles(destination: string, files: readonly OutputFile[], options: WriteFilesOptions): Promise<WriteOutcome> {
  for (const { path, text } of files) {
    assertInFolder(path)
    assertNoSecret(options.secrets, `${path}\n${text}`, path)
  }
  const created: string[] = []
  const removeCreated = (): void => removeFolders(created)
  const cancel = cleanAtExit(removeCreated)
  let current = files[0]?.path ?? ''
  try {
    created.push(...makeFolder(destination))
    const folder = resolveLinks(destination)
    const unlocked = inspectAll(folder, files, options.overwrite)
    const wasLocked = hasLock(folder)
    // After a killed process, continue even if there is nothing to write: its lock and temporary files are removed below.
    if ('state' in unlocked && (unlocked.state !== 'written' || !wasLocked)) return unlocked
    const locks = await lockFolders([folder], options)
    if ('diagnostic' in locks) return { state: 'locked', diagnostic: locks.diagnostic }
    try {
      if (wasLocked) for (const used of new Set(files.map(({ path }) => dirname(join(folder, path))))) removeDeadTemporaries(used)
      // Another process may have written while this one waited.
      const inspected = inspectAll(folder, files, options.overwrite)
      if ('state' in inspected) return inspected
      const { changes, unchanged } = inspected
      for (const { name, path } of changes) {
        current = name
        created.push(...makeFolder(dirname(path)))
      }
      return await writeChanges(changes, unchanged)
    } finally {
      locks.release()
    }
  } catch (error) {
    return writeFailure(
      current,
      error,
      files.map(({ path }) => path),
    )
  } finally {
    cancel()
    // Created folders that contain a file stay.
    removeCreated()
  }
}

/** On POSIX a backslash is an ordinary character; octoDNS has folders with a `\\@.yaml`. */
const SEPARATOR = sep === '/' ? '/' : /[/\\]/

function assertInFolder(path: string): void {
  if (isAbsolute(path) || path.split(SEPARATOR).some((part) => part === '..' || part === ''))
    throw new Error(`not a path in a folder: ${path}`)
}

/** Compares all files with their destinations. Returns an outcome if there is nothing to write. */
function inspectAll(
  folder: string,
  files: readonly OutputFile[],
  overwrite: boolean,
): { readonly changes: readonly FileChange[]; readonly unchanged: readonly string[] } | WriteOutcome {
  const changes = new Map<string, FileChange>()
  const unchanged: string[] = []
  const existing: string[] = []
  for (const file of files) {
    try {
      const change = inspect(folder, file, overwrite)
      if (change === 'unchanged') unchanged.push(file.path)
      else if (change === 'exists') existing.push(file.path)
      else if (changes.has(change.path)) throw fileError('ESAMEFILE')
      else changes.set(change.path, change)
    } catch (error) {
      return writeFailure(
        file.path,
        error,
        files.map(({ path }) => path),
      )
    }
  }
  if (existing.length > 0) return { state: 'exists', paths: existing }
  return changes.size === 0 ? { state: 'written', written: [], unchanged } : { changes: [...changes.values()], unchanged }
}

/** Compares a file with its destination. `folder` is absolute and without links. */
function inspect(folder: string, { path: name, text, replaces }: OutputFile, overwrite: boolean): FileChange | 'unchanged' | 'exists' {
  let target: WriteTarget
  try {
    target = findWriteTarget(join(folder, name), folder)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (!overwrite && (code === 'EDANGLING' || code === 'EOUTSIDE')) return 'exists'
    throw error
  }
  if (target.facts !== null && hasText(target.path, text)) return 'unchanged'
  const common = { name, path: target.path, text, mode: modeOf(target) }
  if (target.facts === null) return { ...common, before: 'none' }
  // A file that has changed since it was read is not replaced.
  if (replaces !== undefined && hasText(target.path, replaces)) return { ...common, before: { text: replaces } }
  return overwrite ? { ...common, before: 'any' } : 'exists'
}

/** False for a file that may be replaced but not read. */
function hasText(path: string, text: string): boolean {
  try {
    return readFileSync(path).equals(Buffer.from(text))
  } catch {
    return false
  }
}

// Writes edited files unless another process has changed them since they were read.

/** An edit of a file. */
interface TextChange {
  /** Absolute. */
  readonly path: string
  /** The text that was read; empty if there was no file. */
  readonly before: string
  /** Null to remove the file. */
  readonly after: string | null
}

/**
 * Replaces files if none has changed since it was read (`ECHANGED` otherwise). Their folders are locked during the comparison and the
 * replacement, so no edit of another process is overwritten.
 */
export async function writeEdits(edits: readonly TextChange[], writer: Writer): Promise<WriteOutcome> {
  const paths = edits.map(({ path }) => path)
  let current = paths[0] ?? ''
  const created: string[] = []
  try {
    for (const { path, before } of edits) if (before === '') created.push(...makeFolder(dirname(path)))
    const targets = edits.map(({ path }) => {
      current = path
      return findWriteTarget(path)
    })
    const locks = await lockFolders(
      targets.map(({ path }) => dirname(path)),
      writer,
    )
    if ('diagnostic' in locks) return { state: 'locked', diagnostic: locks.diagnostic }
    try {
      const changes = edits.map(({ path, before, after }, index): FileChange => {
        const target = targets[index] as WriteTarget
        return { name: path, path: target.path, text: after, mode: modeOf(target), before: { text: before } }
      })
      return await writeChanges(changes, [])
    } finally {
      locks.release()
    }
  } catch (error) {
    return writeFailure(current, error, paths)
  } finally {
    // Created folders that contain a file stay.
    removeFolders(created)
  }
}
