import type { Diagnostic } from '../../dns/diagnostic.ts'

const WORDS: Readonly<Record<string, string>> = {
  EACCES: 'you may not write there',
  EPERM: 'you may not write there',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'your share of the disk is full',
  ENOTDIR: 'what should be a folder is a file',
  ENOFOLDER: 'nothing can be made in that place',
  EISDIR: 'it is a folder',
  ENOTFILE: 'it is no ordinary file, but a device, a pipe or a socket',
  EDANGLING: 'a symbolic link leads nowhere',
  ELEADSOUT: 'a symbolic link leads out of the folder; name the place itself',
  ESAMEFILE: 'a symbolic link makes it the same file as another that is written',
  ELOOP: 'its symbolic links lead in a circle',
  ENAMETOOLONG: 'its name is too long',
  EFBIG: 'it would be too large for the file system',
  EMFILE: 'too many files are open',
  EIO: 'the disk fails',
  ECHANGED: 'somebody else has changed it meanwhile; give the command again',
  ENOENT: 'its folder does not exist',
}

/** The diagnostic for a file that could not be written; an error that is not the system's is thrown on. */
export function writeProblem(error: unknown, file: string): Diagnostic {
  const message = `${file} cannot be written: ${writeProblemText(error)}`
  return { severity: 'error', code: 'file-unwritable', message, at: { file, line: 1, column: 1 } }
}

/** What keeps a file from being written, in words; an error that is not the system's is thrown on. */
export function writeProblemText(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException
  if (code === undefined) throw error
  return WORDS[code] ?? code
}
