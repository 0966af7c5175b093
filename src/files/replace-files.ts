/**
 * Replaces files so that each of them is always entirely old or entirely new, whenever the program is killed.
 *
 * 1. All texts are written to temporary files next to their destinations and synced. A full disk or a folder without permission fails here, before
 *    any file has changed.
 * 2. The destinations are checked once more.
 * 3. Each temporary file is renamed, or a file removed, in the order given. If one rename fails, the earlier ones stay: the result says how many.
 */
import { linkSync, lstatSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import pLimit from 'p-limit'
import type { Diagnostic } from '../base/diagnostic.ts'
import { fileError, lacksHardLinks } from './file-error.ts'
import { cleanAtExit, removeDeadTemporaries, syncFolder, temporaryName, writeTemporary } from './temporary-file.ts'
import { findWriteTarget, type WriteTarget } from './write-target.ts'

export interface ReplacedFile {
  /** Absolute; not a symbolic link (see `findWriteTarget`). */
  readonly path: string
  /** Null to remove the file. */
  readonly text: string | Uint8Array | null
  /** Null for the default of new files, 0666 minus the umask. */
  readonly mode: number | null
  /**
   * What the path must hold just before the renames: `none` for nothing, `any` for anything, `text` for this text or, if it is empty, possibly no
   * file. Otherwise the error is `EEXIST` or `ECHANGED`.
   */
  readonly before: 'none' | 'any' | { readonly text: string }
}

/** The first `written` files have been replaced. `failed` is the index of the file with the error. */
export type ReplaceOutcome = { readonly ok: true } | ReplaceFailure
export interface ReplaceFailure {
  readonly ok: false
  readonly written: number
  readonly failed: number
  readonly error: unknown
}

/** Temporary files that are open at the same time. */
const OPEN_FILES = 16

/** Replaces or creates files in folders that exist. */
export async function replaceFiles(files: readonly ReplacedFile[]): Promise<ReplaceOutcome> {
  const folders = new Set(files.map(({ path }) => dirname(path)))
  for (const folder of folders) removeDeadTemporaries(folder)
  const temporaries = files.map(({ path }) => temporaryName(path))
  const clean = (): void => {
    for (const path of temporaries) rmSync(path, { force: true })
  }
  const cancel = cleanAtExit(clean)
  try {
    const failure = (await writeTemporaries(files, temporaries)) ?? findChange(files) ?? renameAll(files, temporaries)
    if (failure !== null) return failure
  } finally {
    cancel()
    clean()
  }
  for (const folder of folders) await syncFolder(folder)
  return { ok: true }
}

/** Replaces one file, whatever it holds, or creates it with `newMode`. The mode of an existing file and symbolic links stay. Throws the system's error. */
export async function writeFileAtomically(path: string, text: string | Uint8Array, newMode: number | null = null): Promise<void> {
  const target = findWriteTarget(path)
  const mode = target.facts === null ? newMode : target.facts.mode & 0o7777
  const outcome = await replaceFiles([{ path: target.path, text, mode, before: 'any' }])
  if (!outcome.ok) throw outcome.error
}

async function writeTemporaries(files: readonly ReplacedFile[], temporaries: readonly string[]): Promise<ReplaceFailure | null> {
  const limit = pLimit(OPEN_FILES)
  let failure: ReplaceFailure | null = null
  const write = async ({ text, mode }: ReplacedFile, index: number): Promise<void> => {
    if (failure !== null || text === null) return
    try {
      await writeTemporary(temporaries[index] as string, text, mode)
    } catch (error) {
      failure ??= { ok: false, written: 0, failed: index, error }
    }
  }
  await Promise.all(files.map((file, index) => limit(write, file, index)))
  return failure
}

/** From here to the last rename nothing is asynchronous, so that a change by another process is hardly ever overwritten. */
function findChange(files: readonly ReplacedFile[]): ReplaceFailure | null {
  for (const [failed, { path, before }] of files.entries()) {
    try {
      if (before === 'none' && lstatSync(path, { throwIfNoEntry: false }) !== undefined) throw fileError('EEXIST')
      if (typeof before === 'object' && !contentOf(path).equals(Buffer.from(before.text))) throw fileError('ECHANGED')
    } catch (error) {
      return { ok: false, written: 0, failed, error }
    }
  }
  return null
}

function renameAll(files: readonly ReplacedFile[], temporaries: readonly string[]): ReplaceFailure | null {
  for (const [index, { path, before, text }] of files.entries()) {
    try {
      if (text === null) rmSync(path)
      else if (before === 'none') renameToFreeName(temporaries[index] as string, path)
      else renameSync(temporaries[index] as string, path)
    } catch (error) {
      return { ok: false, written: index, failed: index, error }
    }
  }
  return null
}

/** `rename` would replace a file that exists; `link` does not. File systems without hard links get a check and a rename. */
function renameToFreeName(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch (error) {
    if (!lacksHardLinks(error)) throw error
    if (lstatSync(to, { throwIfNoEntry: false }) !== undefined) throw fileError('EEXIST', error)
    renameSync(from, to)
    return
  }
  rmSync(from, { force: true })
}

/** Empty if there is no file. */
function contentOf(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0)
    throw error
  }
}

// The results of writing files, and the replacement that all writes end with.

/** The result of a write, with the paths that the caller passed. Nothing has been written unless `written` says so. */
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

/** A file to replace, with its path as given. */
export interface FileChange extends ReplacedFile {
  readonly name: string
}

/** The mode that the new file gets; null for that of a new file. */
export const modeOf = ({ facts }: WriteTarget): number | null => (facts === null ? null : facts.mode & 0o7777)

/** Replaces the files in their order. Stops at the first error. */
export async function writeChanges(changes: readonly FileChange[], unchanged: readonly string[]): Promise<WriteOutcome> {
  const names = changes.map(({ name }) => name)
  const outcome = await replaceFiles(changes)
  if (outcome.ok) return { state: 'written', written: names, unchanged }
  const { written, failed, error } = outcome
  return { state: 'failed', path: names[failed] ?? '', error, written: names.slice(0, written), notWritten: names.slice(written) }
}

/** The failure of a write before any file was replaced. Rethrows errors without a code, which are bugs. */
export function writeFailure(path: string, error: unknown, notWritten: readonly string[]): WriteFailure {
  if ((error as NodeJS.ErrnoException).code === undefined) throw error
  return { state: 'failed', path, error, written: [], notWritten }
}
