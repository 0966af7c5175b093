/** Writes several files, all of them or as few as possible after an error. */
import { readFileSync } from 'node:fs'
import { dirname, isAbsolute, join, sep } from 'node:path'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { assertNoSecret, type LoadedSecrets } from '../config/secret-guard.ts'
import type { OutputFile } from '../imported-zone.ts'
import { cleanAtExit } from './clean-at-exit.ts'
import { fileError } from './file-error.ts'
import { resolveLinks } from './file-path.ts'
import { hasLock, lockFolders, type Writer } from './lock-folder.ts'
import { makeFolder, removeFolders } from './make-folder.ts'
import { type ReplacedFile, replaceFiles } from './replace-files.ts'
import { removeDeadTemporaries } from './temporary-file.ts'
import { type WriteTarget, writeTarget } from './write-target.ts'

export interface WriteFilesOptions extends Writer {
  /** Whether existing files are replaced. */
  readonly overwrite: boolean
  /** The secrets of the run, which must not be written. */
  readonly secrets: LoadedSecrets
}

/** Paths are those given. Nothing has been written unless `written` says so. */
export type WriteOutcome =
  /** `unchanged` files had the text already. */
  | { readonly state: 'written'; readonly written: readonly string[]; readonly unchanged: readonly string[] }
  /** These files exist and may not be replaced. */
  | { readonly state: 'exists'; readonly paths: readonly string[] }
  /** Another process is writing. */
  | { readonly state: 'locked'; readonly diagnostic: Diagnostic }
  | WriteFailure

export interface WriteFailure {
  readonly state: 'failed'
  /** The file with the error. */
  readonly path: string
  /** The system's error, or one of `FileErrorCode`. */
  readonly error: unknown
  readonly written: readonly string[]
  readonly notWritten: readonly string[]
}

/** On POSIX a backslash is an ordinary character; octoDNS has folders with a `\\@.yaml`. */
const SEPARATOR = sep === '/' ? '/' : /[/\\]/

/** Writes files below a folder, which is created if needed. Throws `SecretExposed` instead of writing a secret. */
export async function writeFiles(given: string, files: readonly OutputFile[], options: WriteFilesOptions): Promise<WriteOutcome> {
  for (const { path } of files) {
    if (isAbsolute(path) || path.split(SEPARATOR).some((part) => part === '..' || part === ''))
      throw new Error(`not a path in a folder: ${path}`)
  }
  for (const { path, text } of files) assertNoSecret(options.secrets, `${path}\n${text}`, path)
  const created: string[] = []
  const removeCreated = (): void => removeFolders(created)
  const cancel = cleanAtExit(removeCreated)
  let current = files[0]?.path ?? ''
  try {
    created.push(...makeFolder(given))
    const folder = resolveLinks(given)
    const first = inspectAll(folder, files, options.overwrite)
    const wasLocked = hasLock(folder)
    // What a killed process left is removed even if nothing else is to be done.
    if ('state' in first && (first.state !== 'written' || !wasLocked)) return first
    const locks = await lockFolders([folder], options)
    if ('diagnostic' in locks) return { state: 'locked', diagnostic: locks.diagnostic }
    try {
      if (wasLocked) for (const one of new Set(files.map(({ path }) => dirname(join(folder, path))))) removeDeadTemporaries(one)
      // Another process may have written while this one waited.
      const inspected = inspectAll(folder, files, options.overwrite)
      if ('state' in inspected) return inspected
      const { changes, unchanged } = inspected
      for (const { name, path } of changes) {
        current = name
        created.push(...makeFolder(dirname(path)))
      }
      return await replaceAll(changes, unchanged)
    } finally {
      locks.release()
    }
  } catch (error) {
    return failureOf(
      current,
      error,
      files.map(({ path }) => path),
    )
  } finally {
    cancel()
    // Those that hold a file stay.
    removeCreated()
  }
}

/** A file with the text it was read with, empty for none, and its new text. */
export interface TextChange {
  /** Absolute. */
  readonly path: string
  readonly before: string
  readonly after: string
}

/**
 * Replaces files if none has changed since it was read (`ECHANGED` otherwise). Its folder is locked from the comparison to the replacement, so that
 * no edit of another process is overwritten.
 */
export async function writeEdits(edits: readonly TextChange[], writer: Writer): Promise<WriteOutcome> {
  const paths = edits.map(({ path }) => path)
  let current = paths[0] ?? ''
  try {
    const targets = edits.map(({ path }) => {
      current = path
      return writeTarget(path)
    })
    const locks = await lockFolders(
      targets.map(({ path }) => dirname(path)),
      writer,
    )
    if ('diagnostic' in locks) return { state: 'locked', diagnostic: locks.diagnostic }
    try {
      const changes = edits.map(({ path, before, after }, index): Change => {
        const target = targets[index] as WriteTarget
        return { name: path, path: target.path, text: after, mode: modeOf(target), before: { text: before } }
      })
      return await replaceAll(changes, [])
    } finally {
      locks.release()
    }
  } catch (error) {
    return failureOf(current, error, paths)
  }
}

/** A file to replace, with its path as given. */
interface Change extends ReplacedFile {
  readonly name: string
}

const modeOf = ({ facts }: WriteTarget): number | null => (facts === null ? null : facts.mode & 0o7777)

async function replaceAll(changes: readonly Change[], unchanged: readonly string[]): Promise<WriteOutcome> {
  const names = changes.map(({ name }) => name)
  const outcome = await replaceFiles(changes)
  if (outcome.ok) return { state: 'written', written: names, unchanged }
  const { written, failed, error } = outcome
  return { state: 'failed', path: names[failed] ?? '', error, written: names.slice(0, written), notWritten: names.slice(written) }
}

/** Errors without a code are bugs. */
function failureOf(path: string, error: unknown, notWritten: readonly string[]): WriteFailure {
  if ((error as NodeJS.ErrnoException).code === undefined) throw error
  return { state: 'failed', path, error, written: [], notWritten }
}

function inspectAll(
  folder: string,
  files: readonly OutputFile[],
  overwrite: boolean,
): { readonly changes: readonly Change[]; readonly unchanged: readonly string[] } | WriteOutcome {
  const changes = new Map<string, Change>()
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
      return failureOf(
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
function inspect(folder: string, { path: name, text, replaces }: OutputFile, overwrite: boolean): Change | 'unchanged' | 'exists' {
  let target: WriteTarget
  try {
    target = writeTarget(join(folder, name), folder)
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
