import type { Diagnostic } from '../model/diagnostic.ts'

const WORDS: Readonly<Record<string, string>> = {
  EACCES: 'you may not write there',
  EPERM: 'you may not write there',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'your share of the disk is full',
  ENOTDIR: 'what should be a folder is a file',
  ECHANGED: 'somebody else has changed it meanwhile; give the command again',
  ENOENT: 'its folder does not exist',
}

/** The diagnostic for a file that could not be written; an error that is not the system's is thrown on. */
export function writeFault(error: unknown, file: string): Diagnostic {
  const { code } = error as NodeJS.ErrnoException
  if (code === undefined) throw error
  const message = `${file} cannot be written: ${WORDS[code] ?? code}`
  return { severity: 'error', code: 'file-unwritable', message, at: { file, line: 1, column: 1 } }
}
