/** Messages for files that could not be written. */
import type { Diagnostic } from '../base/diagnostic.ts'
import type { FileErrorCode } from './file-error.ts'
import type { WriteFailure, WriteOutcome } from './replace-files.ts'

const REASONS: Readonly<Partial<Record<string, string>>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'your disk quota is used up',
  ELOOP: 'its symbolic links form a cycle',
  ENAMETOOLONG: 'its name is too long',
  EFBIG: 'it is too large for the file system',
  EMFILE: 'too many files are open',
  EIO: 'the disk reports an error',
  ENOENT: 'its folder does not exist',
  ...({
    ENOTDIR: 'a file has the name of a folder in its path',
    EISDIR: 'it is a folder',
    EEXIST: 'another process has created it',
    ENOFOLDER: 'nothing can be created in that place',
    ENOTFILE: 'it is a device, a pipe or a socket, not a regular file',
    EDANGLING: 'a symbolic link points to nothing',
    EOUTSIDE: 'a symbolic link points outside the folder; name the destination itself',
    ESAMEFILE: 'a symbolic link makes it the same file as another one to be written',
    ECHANGED: 'another process has changed it; run the command again',
  } satisfies Record<FileErrorCode, string>),
}

/** The diagnostic for a file that could not be written. Its message names the file. Throws errors that are not the system's. */
export function writeProblem(error: unknown, file: string): Diagnostic {
  const message = `${file} cannot be written: ${writeProblemText(error)}`
  return { severity: 'error', code: 'file-unwritable', message }
}

/** Why a file could not be written, in words. Throws errors that are not the system's. */
export function writeProblemText(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException
  if (code === undefined) throw error
  return REASONS[code] ?? code
}

/** The diagnostics for files that could not be written. `shown` returns the path of a file for messages. */
export function writeProblems(outcome: WriteOutcome, shown: (path: string) => string): Diagnostic[] {
  switch (outcome.state) {
    case 'written':
      return []
    case 'locked':
      return [outcome.diagnostic]
    case 'exists': {
      const hint = '--force replaces existing files'
      return outcome.paths.map((path) => ({ severity: 'error', code: 'file-exists', message: `${shown(path)} already exists`, hint }))
    }
    case 'failed':
      return [failureDiagnostic(outcome, shown)]
  }
}

/** Whether an error left some files written and others not. */
export const isPartlyWritten = (outcome: WriteOutcome): boolean => outcome.state === 'failed' && outcome.written.length > 0

function failureDiagnostic({ path, error, written, notWritten }: WriteFailure, shown: (path: string) => string): Diagnostic {
  const problem = writeProblem(error, shown(path))
  const isTaken = (error as NodeJS.ErrnoException).code === 'EEXIST'
  const diagnostic: Diagnostic = isTaken ? { severity: 'error', code: 'file-exists', message: problem.message } : problem
  if (written.length === 0) return diagnostic
  const list = (paths: readonly string[]): string => paths.map(shown).join(', ')
  return {
    ...diagnostic,
    message: `${diagnostic.message}; written: ${list(written)}; not written: ${list(notWritten)}`,
    hint: '"git status" shows what was written, and git can undo it; or solve the problem and run the command again',
  }
}
