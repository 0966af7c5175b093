/** The results of writing files, and the replacement that all writes end with. */
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { type ReplacedFile, replaceFiles } from './replace-files.ts'
import type { WriteTarget } from './write-target.ts'

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
