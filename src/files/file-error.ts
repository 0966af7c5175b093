/**
 * Codes for a file that cannot be written. Three are the system's. In addition: no folder can be created there (`ENOFOLDER`), it is not a regular file
 * (`ENOTFILE`), a symbolic link is dangling (`EDANGLING`) or points outside the folder (`EOUTSIDE`) or to another of the files (`ESAMEFILE`), the file
 * has changed since it was read (`ECHANGED`).
 */
export type FileErrorCode = 'ENOTDIR' | 'EISDIR' | 'EEXIST' | 'ENOFOLDER' | 'ENOTFILE' | 'EDANGLING' | 'EOUTSIDE' | 'ESAMEFILE' | 'ECHANGED'

/** An error in the form of the system's errors. */
export const fileError = (code: FileErrorCode, cause?: unknown): NodeJS.ErrnoException =>
  Object.assign(new Error(code, { cause }), { code })

/** Whether `link` failed because the file system has no hard links. */
export const lacksHardLinks = (error: unknown): boolean =>
  ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes((error as NodeJS.ErrnoException).code ?? '')

/** Describes anything but a regular file, in words that follow its name. */
export const notAFile = (facts: { isDirectory(): boolean }): string =>
  facts.isDirectory() ? 'is a folder, not a file' : 'is not a regular file'
