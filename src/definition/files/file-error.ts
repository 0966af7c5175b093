/**
 * What can be wrong with a place for a file beside what the system says of it: no folder can be made there; it is no ordinary file; a link leads
 * nowhere, or out of the folder, or to a file that is written too; the file is no longer what it was.
 */
export type FileErrorCode =
  | 'ENOTDIR'
  | 'EISDIR'
  | 'EEXIST'
  | 'ENOFOLDER'
  | 'ENOTFILE'
  | 'EDANGLING'
  | 'ELEADSOUT'
  | 'ESAMEFILE'
  | 'ECHANGED'

/** An error like those of the system. */
export const fileError = (code: FileErrorCode, cause?: unknown): NodeJS.ErrnoException =>
  Object.assign(new Error(code, { cause }), { code })
